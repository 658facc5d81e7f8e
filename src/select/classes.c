/* select/classes.c - rows by class, and the seeded cut of the pool into minibatches. */
#include "select/classes.h"

#include <stdlib.h>

#include "backend/match.h"

cull_status cull_sel_classes_make(cull_kit *kit, const cull_tensor *label, size_t rows,
                                  size_t classes, cull_sel_classes *out)
{
    cull_status status = CULL_OK;
    size_t     *next = NULL;

    out->count = classes;
    TRY(cull_kit_allocate(kit, classes, sizeof *out->size, "class sizes", &out->size));
    TRY(cull_kit_allocate(kit, classes + 1, sizeof *out->start, "class sizes", &out->start));
    TRY(cull_kit_allocate(kit, rows, sizeof *out->row, "rows by class", &out->row));
    TRY(cull_kit_allocate(kit, classes, sizeof *next, "class sizes", &next));
    for (size_t i = 0; i < rows; i++) out->size[(size_t)cull_tensor_get(label, i)]++;
    for (size_t c = 0; c < classes; c++) {
        next[c] = out->start[c];
        out->start[c + 1] = out->start[c] + out->size[c];
    }
    for (size_t i = 0; i < rows; i++)
        out->row[next[(size_t)cull_tensor_get(label, i)]++] = (uint32_t)i;
done:
    return status;
}

struct draw {
    double   key;
    uint32_t row;
};

static int by_key(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;

    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Deal the shuffled rows out, then bring each minibatch into ascending order. */
static void deal(const struct draw *shuffled, size_t rows, cull_sel_minibatches *to)
{
    for (size_t i = 0; i < rows; i++) to->row[i] = shuffled[i].row;
    for (size_t b = 0; b < to->count; b++) {
        to->start[b + 1] = rows - to->start[b] < to->batch ? rows : to->start[b] + to->batch;
        qsort(to->row + to->start[b], to->start[b + 1] - to->start[b], sizeof *to->row, by_number);
    }
}

cull_status cull_sel_minibatches_make(cull_kit *kit, const cull_signals *signals, size_t batch,
                                      uint64_t seed, cull_sel_minibatches *out)
{
    cull_status  status = CULL_OK;
    cull_key     key = cull_key_make(seed, "minibatches");
    struct draw *shuffled = NULL;
    size_t       rows = signals->count;

    out->batch = batch;
    out->count = (rows + batch - 1) / batch;
    TRY(cull_kit_allocate(kit, out->count + 1, sizeof *out->start, "minibatches", &out->start));
    TRY(cull_kit_allocate(kit, rows, sizeof *out->row, "minibatches", &out->row));
    TRY(cull_base_alloc(rows, sizeof *shuffled, "a shuffle", &shuffled));
    for (size_t i = 0; i < rows; i++) {
        shuffled[i].key = cull_key_uniform(key, signals->epoch, cull_sel_place(signals, i));
        shuffled[i].row = (uint32_t)i;
    }
    qsort(shuffled, rows, sizeof *shuffled, by_key);
    deal(shuffled, rows, out);
done:
    cull_base_free(shuffled);
    return status;
}

/* Halves round up. */
static size_t nearest(size_t budget, size_t batch)
{
    size_t count = budget / batch + (budget % batch >= batch - batch / 2);

    return count > 0 ? count : 1;
}

size_t cull_sel_minibatches_nearest(const cull_sel_minibatches *minibatches, size_t budget)
{
    size_t count = nearest(budget, minibatches->batch);

    return count < minibatches->count ? count : minibatches->count;
}

cull_status cull_sel_minibatches_check(const char *owner, const cull_self *self)
{
    const cull_setting *setting = self->setting;

    if (!cull_value_is(self->values, "scope", "batch") || setting->batch < setting->pool)
        return CULL_OK;
    return cull_fail(CULL_BAD_OPTION,
                     "%s: scope=batch chooses among minibatches, and a batch of %zu is the whole "
                     "pool",
                     owner, setting->batch);
}

void cull_sel_minibatches_needs(const cull_self *self, cull_needs *needs)
{
    size_t batch = self->setting->batch, rows = nearest(needs->budget, batch) * batch;

    if (!cull_value_is(self->values, "scope", "batch")) return;
    needs->budget = rows < needs->candidates ? rows : needs->candidates;
}

struct choice {
    uint32_t minibatch;
    double   weight;
};

static int by_minibatch(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    return x->minibatch < y->minibatch ? -1 : x->minibatch > y->minibatch;
}

cull_status cull_sel_minibatches_take(const cull_sel_minibatches *minibatches,
                                      const uint32_t *index, const double *weight, size_t picked,
                                      cull_subset *out)
{
    cull_status    status = CULL_OK;
    struct choice *choice = NULL;
    const size_t  *start = minibatches->start;
    size_t         rows = 0, at = 0;

    TRY(cull_base_alloc(picked, sizeof *choice, "picked minibatches", &choice));
    for (size_t i = 0; i < picked; i++) {
        choice[i] = (struct choice){index[i], weight[i]};
        rows += start[index[i] + 1] - start[index[i]];
    }
    qsort(choice, picked, sizeof *choice, by_minibatch);
    TRY(cull_subset_resize(out, rows));
    for (size_t g = 0; g < picked; g++) {
        size_t first = start[choice[g].minibatch], end = start[choice[g].minibatch + 1];
        for (size_t i = first; i < end; i++, at++) {
            out->index[at] = minibatches->row[i];
            out->weight[at] = choice[g].weight;
            out->group[at] = (uint32_t)g;
        }
    }
    out->groups = picked;
    cull_match_scale(out, (double)rows);
done:
    cull_base_free(choice);
    return status;
}

cull_status cull_sel_minibatches_all(const cull_sel_minibatches *minibatches, cull_subset *out)
{
    cull_status   status = CULL_OK;
    const size_t *start = minibatches->start;

    TRY(cull_subset_resize(out, start[minibatches->count]));
    for (size_t g = 0; g < minibatches->count; g++)
        for (size_t i = start[g]; i < start[g + 1]; i++) {
            out->index[i] = minibatches->row[i];
            out->group[i] = (uint32_t)g;
        }
    out->groups = minibatches->count;
done:
    return status;
}
