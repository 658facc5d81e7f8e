/* train/tally.c - counting what was trained, and keeping it. */
#include "train/tally.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* Nothing is known of anybody: no loss, no epoch. */
static cull_status unknown(cull_tally *t)
{
    cull_status status = CULL_OK;
    float      *loss = NULL;

    TRY(cull_base_alloc(t->pool, sizeof *loss, "a tally", &loss));
    for (size_t i = 0; i < t->pool; i++) loss[i] = NAN;
    TRY(cull_backend_upload(t->kit.backend, t->loss, loss, t->pool * sizeof *loss));
    TRY(cull_backend_fill(t->kit.backend, t->first, 0xff, t->pool * sizeof *t->first)); /* -1 */
done:
    cull_base_free(loss);
    return status;
}

cull_status cull_tally_create(cull_backend *backend, size_t pool, cull_tally *out)
{
    cull_status status = CULL_OK;
    cull_tally  t = {.kit.backend = backend, .pool = pool};

    TRY(cull_kit_allocate(&t.kit, pool, sizeof *t.count, "a tally", &t.count));
    TRY(cull_kit_allocate(&t.kit, pool, sizeof *t.weight, "a tally", &t.weight));
    TRY(cull_kit_allocate(&t.kit, pool, sizeof *t.loss, "a tally", &t.loss));
    TRY(cull_kit_allocate(&t.kit, pool, sizeof *t.first, "a tally", &t.first));
    TRY(unknown(&t));
    *out = t;
    t = (cull_tally){0};
done:
    cull_tally_clear(&t);
    return status;
}

void cull_tally_clear(cull_tally *t)
{
    cull_kit_clear(&t->kit);
    *t = (cull_tally){0};
}

cull_status cull_tally_add(cull_tally *t, const cull_moment *now, const cull_signals *trained,
                           const double *weight)
{
    return cull_kit_run(&t->kit, CULL_OP_TALLY, 0,
                        &(cull_op_args){.tally = {.rows = trained->count,
                                                  .place = trained->place,
                                                  .loss = trained->loss.data,
                                                  .weight = weight,
                                                  .now = now,
                                                  .count = t->count,
                                                  .first = t->first,
                                                  .weights = t->weight,
                                                  .latest = t->loss}});
}

cull_status cull_tally_save(const cull_tally *t, cull_writer *out)
{
    cull_status status = CULL_OK;
    uint64_t    pool = t->pool;

    TRY(cull_write(out, &pool, sizeof pool));
    TRY(cull_backend_save(t->kit.backend, t->count, t->pool * sizeof *t->count, out));
    TRY(cull_backend_save(t->kit.backend, t->weight, t->pool * sizeof *t->weight, out));
    TRY(cull_backend_save(t->kit.backend, t->loss, t->pool * sizeof *t->loss, out));
    TRY(cull_backend_save(t->kit.backend, t->first, t->pool * sizeof *t->first, out));
done:
    return status;
}

cull_status cull_tally_restore(cull_tally *t, cull_reader *in)
{
    cull_status status = CULL_OK;
    uint64_t    pool = 0;

    TRY(cull_read(in, &pool, sizeof pool));
    if (pool != t->pool ||
        in->size != sizeof pool + t->pool * (sizeof *t->count + sizeof *t->weight +
                                             sizeof *t->loss + sizeof *t->first))
        FAIL(CULL_BAD_STATE, "saved counts of %llu examples, the pool has %zu",
             (unsigned long long)pool, t->pool);
    TRY(cull_backend_restore(t->kit.backend, t->count, t->pool * sizeof *t->count, in));
    TRY(cull_backend_restore(t->kit.backend, t->weight, t->pool * sizeof *t->weight, in));
    TRY(cull_backend_restore(t->kit.backend, t->loss, t->pool * sizeof *t->loss, in));
    TRY(cull_backend_restore(t->kit.backend, t->first, t->pool * sizeof *t->first, in));
done:
    return status;
}

cull_status cull_tally_save_subset(const cull_subset *s, uint64_t epoch, cull_writer *out)
{
    cull_status status = CULL_OK;
    uint64_t    head[3] = {s->count, s->groups, epoch};

    TRY(cull_write(out, head, sizeof head));
    TRY(cull_write(out, s->place, s->count * sizeof *s->place));
    TRY(cull_write(out, s->weight, s->count * sizeof *s->weight));
    TRY(cull_write(out, s->group, s->count * sizeof *s->group));
done:
    return status;
}

static cull_status check_subset(const cull_subset *s, size_t pool)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < s->count; i++) {
        size_t group = s->group[i], before = i ? s->group[i - 1] : 0;

        if (s->place[i] >= pool || !(s->weight[i] >= 0) || isinf(s->weight[i]) ||
            (s->groups ? group >= s->groups || group < before : group != 0))
            FAIL(CULL_BAD_STATE, "the saved subset is none of a pool of %zu", pool);
    }
done:
    return status;
}

cull_status cull_tally_restore_subset(cull_reader *in, size_t pool, cull_subset *s, uint64_t *epoch)
{
    cull_status status = CULL_OK;
    uint64_t    head[3] = {0};

    TRY(cull_read(in, head, sizeof head));
    if (head[0] > pool || head[1] > head[0])
        FAIL(CULL_BAD_STATE, "a saved subset of %llu examples, the pool has %zu",
             (unsigned long long)head[0], pool);
    TRY(cull_subset_resize(s, (size_t)head[0]));
    s->groups = (size_t)head[1];
    *epoch = head[2];
    TRY(cull_read(in, s->place, s->count * sizeof *s->place));
    TRY(cull_read(in, s->weight, s->count * sizeof *s->weight));
    TRY(cull_read(in, s->group, s->count * sizeof *s->group));
    TRY(check_subset(s, pool));
done:
    return status;
}

cull_status cull_tally_write(const cull_tally *t, const cull_dataset *set, const char *path)
{
    cull_status    status = CULL_OK;
    cull_writer    bytes = {0};
    size_t         n = t->pool, count = 0;
    const char    *at = NULL;
    const int32_t *labels = cull_data_labels(set);
    cull_array     all[6];

    /* All that is saved lies behind the number of examples. */
    TRY(cull_tally_save(t, &bytes));
    at = (const char *)bytes.data + sizeof(uint64_t);
    all[count++] = (cull_array){"count", cull_vector(at, CULL_I32, n)};
    at += n * sizeof *t->count;
    all[count++] = (cull_array){"weight", cull_vector(at, CULL_F64, n)};
    at += n * sizeof *t->weight;
    all[count++] = (cull_array){"loss", cull_vector(at, CULL_F32, n)};
    at += n * sizeof *t->loss;
    all[count++] = (cull_array){"first", cull_vector(at, CULL_I32, n)};
    if (labels) all[count++] = (cull_array){"label", cull_vector(labels, CULL_I32, n)};
    all[count++] = (cull_array){"origin", cull_vector(set->origin, CULL_I32, n)};
    TRY(cull_arrays_write(path, all, count));
done:
    cull_writer_clear(&bytes);
    return status;
}

cull_status cull_tally_write_subset(const cull_subset *s, uint64_t epoch, const char *path)
{
    cull_status status = CULL_OK;
    int64_t     when = (int64_t)epoch, *place = NULL;

    TRY(cull_base_alloc(s->count, sizeof *place, "a subset", &place));
    for (size_t i = 0; i < s->count; i++) place[i] = s->place[i];
    TRY(cull_arrays_write(path,
                          (cull_array[]){{"place", cull_vector(place, CULL_I64, s->count)},
                                         {"weight", cull_vector(s->weight, CULL_F64, s->count)},
                                         {"epoch", cull_vector(&when, CULL_I64, 1)}},
                          3));
done:
    cull_base_free(place);
    return status;
}
