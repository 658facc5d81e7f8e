/* train/resident.c - data sets on their way to a backend, and examples made there. */
#include "train/resident.h"

#include "base/alloc.h"

/* A copy on the backend in place of *array; on the host the array itself. */
static cull_status place(cull_resident *r, size_t which, const void **array, size_t bytes)
{
    cull_status status = CULL_OK;

    if (!*array || cull_backend_on_host(r->backend)) return CULL_OK;
    TRY(cull_backend_allocate(r->backend, bytes, 1, "a data set", &r->block[which]));
    TRY(cull_backend_upload(r->backend, r->block[which], *array, bytes));
    *array = r->block[which];
done:
    return status;
}

static cull_status place_all(cull_resident *r)
{
    const cull_dataset *set = r->set;
    cull_status         status = CULL_OK;
    const void         *raw = cull_data_base(set), *row = set->origin;
    const void *label = set->target.data, *mean = r->desc.mean, *deviation = r->desc.deviation;

    TRY(place(r, 0, &raw, (raw ? set->rows->count : 0) * cull_data_row_bytes(set)));
    TRY(place(r, 1, &row, set->count * sizeof *set->origin));
    TRY(place(r, 2, &label, set->count * cull_data_target_bytes(set)));
    TRY(place(r, 3, &mean, set->channels * sizeof *set->mean));
    TRY(place(r, 4, &deviation, set->channels * sizeof *set->deviation));
    r->raw = raw;
    r->row = row;
    r->label = label;
    r->desc.mean = mean;
    r->desc.deviation = deviation;
done:
    return status;
}

cull_status cull_resident_open(const cull_dataset *set, const cull_data_augment *augment,
                               cull_data_form form, cull_backend *backend, cull_resident *out)
{
    cull_status status = CULL_OK;

    *out = (cull_resident){
        .set = set, .backend = backend, .desc = cull_data_describe(set, augment, form)};
    TRY(place_all(out));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_AUGMENT}, &out->augment));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_GATHER}, &out->gather));
done:
    return status;
}

void cull_resident_close(cull_resident *r)
{
    for (size_t i = 0; i < CULL_RESIDENT_BLOCKS; i++) cull_backend_release(r->backend, r->block[i]);
    if (r->packed_there != r->packed) cull_backend_release(r->backend, r->packed_there);
    cull_base_free(r->packed);
    cull_op_destroy(r->augment);
    cull_op_destroy(r->gather);
    *r = (cull_resident){0};
}

static cull_status make_room(cull_resident *r, size_t count)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row_bytes(r->set);

    if (count <= r->room) return CULL_OK;
    r->room = 0;
    if (r->packed_there != r->packed) cull_backend_release(r->backend, r->packed_there);
    r->packed_there = NULL;
    TRY(cull_base_grow(count, row, "examples", &r->packed));
    if (cull_backend_on_host(r->backend))
        r->packed_there = r->packed;
    else
        TRY(cull_backend_allocate(r->backend, count, row, "examples", &r->packed_there));
    r->room = count;
done:
    return status;
}

/* Read the rows here and bring them there. */
static cull_status pack(cull_resident *r, const uint32_t *place_there, size_t count)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row_bytes(r->set);
    uint32_t   *place = NULL;
    const void *raw = NULL;

    TRY(make_room(r, count));
    TRY(cull_base_alloc(count, sizeof *place, "examples", &place));
    TRY(cull_backend_download(r->backend, place, place_there, count * sizeof *place));
    for (size_t i = 0; i < count; i++)
        TRY(cull_data_row_at(r->set, place[i], (char *)r->packed + i * row, &raw));
    if (r->packed_there != r->packed)
        TRY(cull_backend_upload(r->backend, r->packed_there, r->packed, count * row));
done:
    cull_base_free(place);
    return status;
}

cull_status cull_resident_make(cull_resident *r, const cull_wanted *wanted, void *inputs)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {.augment = {.desc = r->desc,
                                     .call = {.count = wanted->count,
                                              .places = wanted->place,
                                              .augmented = wanted->augmented,
                                              .raw = r->raw,
                                              .row = r->row,
                                              .out = inputs},
                                     .now = wanted->now,
                                     .held = wanted->held,
                                     .index = wanted->index}};

    if (!r->raw) {
        TRY(pack(r, wanted->place, wanted->count));
        args.augment.call.raw = r->packed_there;
        args.augment.call.packed = true;
    }
    TRY(cull_op_run(r->augment, &args));
done:
    return status;
}

cull_status cull_resident_labels(cull_resident *r, const uint32_t *place, size_t count,
                                 int32_t *label)
{
    return cull_op_run(r->gather, &(cull_op_args){.gather = {.from = r->label,
                                                             .to = label,
                                                             .index = place,
                                                             .rows = count,
                                                             .held = r->set->count,
                                                             .bytes = sizeof *label}});
}
