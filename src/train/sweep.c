/* train/sweep.c - a set, batch by batch: loaded ahead on the host, made there elsewhere. */
#include "train/sweep.h"

#include "base/alloc.h"
#include "data/loader.h"
#include "train/feed.h"

cull_status cull_sweep_order(const cull_resident *r, bool sorted, uint32_t **out)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(r->set->count, sizeof **out, "a sweep", out));
    for (size_t i = 0; i < r->set->count; i++) (*out)[i] = (uint32_t)i;
    if (sorted && r->bucket) cull_data_buckets_sort(r->bucket, r->set->count, *out);
done:
    return status;
}

/* Ask for the next batch. */
static cull_status submit(cull_loader *loader, const cull_resident *r, size_t batch,
                          const uint32_t *places, size_t *at)
{
    cull_status status = CULL_OK;
    size_t      all = r->set->count;

    while (*at < all && cull_data_loader_room(loader) > 0) {
        size_t count = all - *at < batch ? all - *at : batch;

        cull_data_loader_cut(loader, cull_resident_length(r, places + *at, count));
        TRY(cull_data_loader_submit(loader, places + *at, count, 0, false));
        *at += count;
    }
done:
    return status;
}

static cull_status sweep_here(const cull_sweep *s, size_t batch, const uint32_t *places,
                              cull_status (*see)(void *, const cull_batch *), void *context)
{
    cull_status         status = CULL_OK;
    size_t              asked = 0, all = s->resident->set->count;
    cull_loader        *loader = NULL;
    cull_loader_options options = {.set = s->resident->set,
                                   .form = s->form,
                                   .batch = batch,
                                   .depth = CULL_TRAIN_DEPTH,
                                   .threads = s->workers};

    TRY(cull_data_loader_create(&options, &loader));
    for (size_t at = 0; at < all;) {
        cull_data_batch next = {0};

        TRY(submit(loader, s->resident, batch, places, &asked));
        TRY(cull_data_loader_take(loader, &next));
        TRY(see(context, &(cull_batch){.count = next.count,
                                       .length = next.length,
                                       .inputs = next.inputs.data,
                                       .target = next.target.data,
                                       .place = next.places}));
        at += next.count;
    }
done:
    cull_data_loader_destroy(loader);
    return status;
}

static cull_status sweep_there(const cull_sweep *s, size_t batch, const uint32_t *places,
                               cull_status (*see)(void *, const cull_batch *), void *context)
{
    cull_status    status = CULL_OK;
    cull_resident *r = s->resident;
    cull_rows      own = {0}, *rows = s->rows ? s->rows : &own;
    size_t         all = r->set->count, count = 0;

    TRY(cull_rows_make(r->backend, batch, cull_resident_row(r), cull_resident_target(r), rows));
    for (size_t at = 0; at < all; at += count) {
        size_t length = 0;

        count = all - at < batch ? all - at : batch;
        length = cull_resident_length(r, places + at, count);
        TRY(cull_backend_upload(r->backend, rows->place, places + at, count * sizeof *places));
        TRY(cull_resident_targets(r, rows->place, count, rows->target));
        TRY(cull_resident_make(
            r,
            &(cull_wanted){
                .place = rows->place, .count = count, .to = s->form.dtype, .length = length},
            rows->inputs));
        TRY(see(context, &(cull_batch){.count = count,
                                       .length = length,
                                       .inputs = rows->inputs,
                                       .target = rows->target,
                                       .place = rows->place}));
    }
done:
    cull_rows_clear(r->backend, &own);
    return status;
}

cull_status cull_sweep_run(const cull_sweep *s, cull_status (*see)(void *, const cull_batch *),
                           void             *context)
{
    cull_status status = CULL_OK;
    size_t      all = s->resident->set->count, batch = s->batch < all ? s->batch : all;
    uint32_t   *places = NULL;

    TRY(cull_sweep_order(s->resident, s->sorted, &places));
    TRY(cull_backend_on_host(s->resident->backend) ? sweep_here(s, batch, places, see, context)
                                                   : sweep_there(s, batch, places, see, context));
done:
    cull_base_free(places);
    return status;
}
