/* train/tally.c - counting what was trained, and keeping it. */
#include "train/tally.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "tensor/tensor.h"

cull_status cull_tally_create(size_t pool, cull_tally *out)
{
    cull_status status = CULL_OK;
    cull_tally  t = {.pool = pool};

    TRY(cull_base_alloc(pool, sizeof *t.count, "a tally", &t.count));
    TRY(cull_base_alloc(pool, sizeof *t.weight, "a tally", &t.weight));
    TRY(cull_base_alloc(pool, sizeof *t.loss, "a tally", &t.loss));
    TRY(cull_base_alloc(pool, sizeof *t.first, "a tally", &t.first));
    for (size_t i = 0; i < pool; i++) {
        t.loss[i] = NAN;
        t.first[i] = -1;
    }
    *out = t;
    t = (cull_tally){0};
done:
    cull_tally_clear(&t);
    return status;
}

void cull_tally_clear(cull_tally *t)
{
    cull_base_free(t->count);
    cull_base_free(t->weight);
    cull_base_free(t->loss);
    cull_base_free(t->first);
    *t = (cull_tally){0};
}

void cull_tally_add(cull_tally *t, const cull_signals *trained, const double *weight)
{
    for (size_t i = 0; i < trained->count; i++) {
        uint32_t place = trained->place[i];

        t->count[place]++;
        t->weight[place] += weight ? weight[i] : 1;
        t->loss[place] = (float)cull_tensor_get(&trained->loss, i);
        if (t->first[place] < 0) t->first[place] = (int32_t)trained->epoch;
    }
}

cull_status cull_tally_save(const cull_tally *t, cull_writer *out)
{
    cull_status status = CULL_OK;
    uint64_t    pool = t->pool;

    TRY(cull_write(out, &pool, sizeof pool));
    TRY(cull_write(out, t->count, t->pool * sizeof *t->count));
    TRY(cull_write(out, t->weight, t->pool * sizeof *t->weight));
    TRY(cull_write(out, t->loss, t->pool * sizeof *t->loss));
    TRY(cull_write(out, t->first, t->pool * sizeof *t->first));
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
    TRY(cull_read(in, t->count, t->pool * sizeof *t->count));
    TRY(cull_read(in, t->weight, t->pool * sizeof *t->weight));
    TRY(cull_read(in, t->loss, t->pool * sizeof *t->loss));
    TRY(cull_read(in, t->first, t->pool * sizeof *t->first));
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
    return cull_arrays_write(
        path,
        (cull_array[]){{"count", cull_vector(t->count, CULL_I32, t->pool)},
                       {"weight", cull_vector(t->weight, CULL_F64, t->pool)},
                       {"loss", cull_vector(t->loss, CULL_F32, t->pool)},
                       {"first", cull_vector(t->first, CULL_I32, t->pool)},
                       {"label", cull_vector(cull_data_labels(set), CULL_I32, t->pool)},
                       {"origin", cull_vector(set->origin, CULL_I32, t->pool)}},
        6);
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
