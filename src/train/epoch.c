/*
 * train/epoch.c - which examples an epoch meets, and in which order.
 *
 * All of the pool in the order of data/order, or a subset of it: its entries in the same way, or
 * where it is made of whole training batches, those in shuffled order, each as it is.
 */
#include <string.h>

#include "base/alloc.h"
#include "train/train.h"

void cull_walk_clear(cull_walk *walk)
{
    cull_base_free(walk->place);
    cull_base_free(walk->weight);
    cull_base_free(walk->end);
    *walk = (cull_walk){0};
}

static cull_status make_room(cull_walk *walk, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= walk->room) return CULL_OK;
    TRY(cull_base_grow(count, sizeof *walk->place, "an epoch", &walk->place));
    TRY(cull_base_grow(count, sizeof *walk->weight, "an epoch", &walk->weight));
    TRY(cull_base_grow(count, sizeof *walk->end, "an epoch", &walk->end));
    walk->room = count;
done:
    return status;
}

static cull_status walk_all(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(make_room(&t->walk, t->train->count));
    cull_data_order_epoch(&t->order, t->progress.epoch, NULL, t->train->count);
    memcpy(t->walk.place, t->order.place, t->order.count * sizeof *t->walk.place);
    t->walk.count = t->order.count;
    t->walk.groups = 0;
    t->walk.weighs = false;
done:
    return status;
}

/* Entries of the subset, shuffled. */
static void walk_entries(cull_trainer *t)
{
    cull_walk *w = &t->walk;

    for (size_t i = 0; i < t->pool.count; i++) w->place[i] = (uint32_t)i;
    cull_data_order_epoch(&t->order, t->progress.epoch, w->place, t->pool.count);
    for (size_t i = 0; i < t->pool.count; i++) {
        uint32_t entry = t->order.place[i];

        w->place[i] = t->pool.place[entry];
        w->weight[i] = t->pool.weight[entry];
    }
    w->groups = 0;
}

/* Entries come sorted by group: a group begins where its number changes. */
static void walk_groups(cull_trainer *t)
{
    cull_walk         *w = &t->walk;
    const cull_subset *s = &t->pool;
    size_t             at = 0, groups = 0;

    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->group[i] != s->group[i - 1]) w->place[groups++] = (uint32_t)i;
    cull_data_order_epoch(&t->order, t->progress.epoch, w->place, groups);
    w->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        uint32_t first = t->order.place[g];

        for (size_t i = first; i < s->count && s->group[i] == s->group[first]; i++) {
            w->place[at] = s->place[i];
            w->weight[at++] = s->weight[i];
        }
        w->end[g] = at;
    }
}

static cull_status walk_subset(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(make_room(&t->walk, t->pool.count));
    if (t->pool.groups > 1)
        walk_groups(t);
    else
        walk_entries(t);
    t->walk.count = t->pool.count;
    t->walk.weighs = true;
done:
    return status;
}

/* As the schedule counts: a last batch that is not full is none where the recipe leaves it out. */
static void count_batches(cull_trainer *t)
{
    cull_walk *w = &t->walk;
    size_t     batch = t->setup->batch;

    w->batches = (double)((w->count + batch - 1) / batch);
    if (w->groups) w->batches = (double)w->groups;
    if (t->setup->drop_short && !w->groups && w->count >= batch)
        w->batches = (double)(w->count / batch);
}

cull_status cull_train_begin_epoch(cull_trainer *t)
{
    cull_status status = CULL_OK;
    bool        over_subset = false;

    TRY(cull_selector_needs(t->selector, t->progress.step, t->progress.epoch, &t->needs));
    over_subset = t->needs.action == CULL_SELECT_POOL || t->needs.action == CULL_KEEP_SUBSET;
    if (t->needs.action == CULL_SELECT_POOL) TRY(cull_train_choose_pool(t));
    if (over_subset)
        TRY(walk_subset(t));
    else
        TRY(walk_all(t));
    count_batches(t);
    if (t->progress.at > t->walk.count)
        FAIL(CULL_BAD_STATE, "the checkpoint is %llu examples into an epoch of %zu",
             (unsigned long long)t->progress.at, t->walk.count);
    if (t->loader) cull_data_loader_drop(t->loader);
    t->ahead = (cull_ahead){0};
    cull_meter_lap(&t->meter, CULL_PHASE_LOAD);
done:
    return status;
}

/* What is not chosen from is trained, in ordinary batches. */
static size_t whole_step(const cull_trainer *t, const cull_needs *needs)
{
    if (needs->action != CULL_SELECT_BATCH && needs->candidates > t->setup->batch)
        return t->setup->batch;
    return needs->candidates;
}

bool cull_train_drops(const cull_trainer *t, const cull_needs *needs, size_t at)
{
    return t->setup->drop_short && !t->walk.groups && at > 0 &&
           t->walk.count - at < whole_step(t, needs);
}

bool cull_train_epoch_over(const cull_trainer *t)
{
    cull_needs next = {0};

    if (t->progress.at >= t->walk.count) return true;
    if (!t->setup->drop_short) return false;
    (void)cull_selector_needs(t->selector, t->progress.step, t->progress.epoch, &next);
    return cull_train_drops(t, &next, (size_t)t->progress.at);
}

/* The end of the training batch of a subset that lies behind `at`. */
static size_t group_end(const cull_walk *w, size_t at)
{
    size_t low = 0, high = w->groups;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->end[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low < w->groups ? w->end[low] : w->count;
}

size_t cull_train_step_size(const cull_trainer *t, size_t at)
{
    size_t rest = t->walk.count - at, size = whole_step(t, &t->needs);

    if (t->walk.groups) return group_end(&t->walk, at) - at;
    return size < rest ? size : rest;
}
