/* train/resident.c - data sets on their way to a backend, and examples made there. */
#include "train/resident.h"

#include "base/alloc.h"

/* A copy on the backend in place of *array; on the host the array itself. */
static cull_status place(cull_resident *r, const void **array, size_t bytes)
{
    cull_status status = CULL_OK;
    void       *there = NULL;

    if (!*array || cull_backend_on_host(r->backend)) return CULL_OK;
    TRY(cull_kit_allocate(&r->kit, bytes, 1, "a data set", &there));
    TRY(cull_backend_upload(r->backend, there, *array, bytes));
    r->bytes += bytes;
    *array = there;
done:
    return status;
}

static cull_status place_all(cull_resident *r)
{
    const cull_dataset *set = r->set;
    cull_status         status = CULL_OK;
    const void         *raw = cull_data_base(set), *row = set->origin;
    const void *target = set->target.data, *mean = r->desc.mean, *deviation = r->desc.deviation;

    TRY(place(r, &raw, (raw ? set->rows->count : 0) * cull_data_row_bytes(set)));
    TRY(place(r, &row, set->count * sizeof *set->origin));
    TRY(place(r, &target, set->count * cull_data_target_bytes(set)));
    TRY(place(r, &mean, set->channels * sizeof *set->mean));
    TRY(place(r, &deviation, set->channels * sizeof *set->deviation));
    r->raw = raw;
    r->row = row;
    r->target = target;
    r->desc.mean = mean;
    r->desc.deviation = deviation;
done:
    return status;
}

/* Rounding up may not go beyond what is stored. */
static size_t longer(const cull_resident *r, size_t length, size_t place)
{
    size_t tokens = (size_t)r->bucket[place] * CULL_BUCKET, most = r->set->height;

    if (tokens > most) tokens = most;
    return tokens > length ? tokens : length;
}

size_t cull_resident_length(const cull_resident *r, const uint32_t *place, size_t count)
{
    size_t length = 0;

    for (size_t i = 0; r->bucket && i < count; i++) length = longer(r, length, place[i]);
    return length;
}

cull_status cull_resident_open(const cull_dataset *set, const cull_data_augment *augment,
                               cull_data_form form, cull_backend *backend, cull_resident *out)
{
    cull_status status = CULL_OK;

    *out = (cull_resident){.set = set,
                           .backend = backend,
                           .kit.backend = backend,
                           .desc = cull_data_describe(set, augment, form)};
    TRY(place_all(out));
    TRY(cull_data_buckets_make(set, &out->bucket));
    for (size_t i = 0; out->bucket && i < set->count; i++)
        out->longest = longer(out, out->longest, i);
done:
    return status;
}

void cull_resident_close(cull_resident *r)
{
    cull_kit_clear(&r->kit);
    cull_base_free(r->packed);
    cull_base_free(r->bucket);
    *r = (cull_resident){0};
}

static cull_status make_room(cull_resident *r, size_t count)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row_bytes(r->set);

    if (count > r->room) TRY(cull_base_grow(count, row, "examples", &r->packed));
    if (count > r->room) r->room = count;
    if (cull_backend_on_host(r->backend))
        r->packed_there = r->packed;
    else
        TRY(cull_kit_grow(&r->kit, count, row, "examples", &r->room_there, &r->packed_there));
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
                                              .length = wanted->length,
                                              .raw = r->raw,
                                              .row = r->row,
                                              .out = inputs},
                                     .now = wanted->now,
                                     .held = wanted->held,
                                     .index = wanted->index}};

    if (wanted->to) args.augment.desc.to = wanted->to;
    if (!r->raw) {
        TRY(pack(r, wanted->place, wanted->count));
        args.augment.call.raw = r->packed_there;
        args.augment.call.packed = true;
    }
    TRY(cull_kit_run(&r->kit, CULL_OP_AUGMENT, 0, &args));
done:
    return status;
}

cull_status cull_resident_targets(cull_resident *r, const uint32_t *place, size_t count,
                                  void *target)
{
    return cull_kit_run(&r->kit, CULL_OP_GATHER, 0,
                        &(cull_op_args){.gather = {.from = r->target,
                                                   .to = target,
                                                   .index = place,
                                                   .rows = count,
                                                   .held = r->set->count,
                                                   .bytes = cull_resident_target(r)}});
}

cull_status cull_resident_take(cull_resident *r, const cull_gathered *list, size_t arrays,
                               const uint32_t *index, size_t count, size_t held)
{
    return cull_kit_run(
        &r->kit, CULL_OP_GATHER_ALL, 0,
        &(cull_op_args){
            .gather_all = {
                .list = list, .count = arrays, .index = index, .rows = count, .held = held}});
}
