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

cull_status cull_train_begin_epoch(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(cull_selector_needs(t->selector, t->progress.step, t->progress.epoch, &t->needs));
    if (t->needs.action == CULL_SELECT_POOL) TRY(cull_train_choose_pool(t));
    TRY(cull_sel_over_subset(&t->needs) ? walk_subset(t) : walk_all(t));
    if (t->progress.at > t->walk.count)
        FAIL(CULL_BAD_STATE, "the checkpoint is %llu examples into an epoch of %zu",
             (unsigned long long)t->progress.at, t->walk.count);
    if (t->loader) cull_data_loader_drop(t->loader);
    t->ahead = (cull_ahead){0};
    cull_meter_lap(&t->meter, CULL_PHASE_LOAD);
done:
    return status;
}

cull_status cull_train_enter_epoch(cull_trainer *t, uint64_t epoch)
{
    cull_progress_turn(&t->progress, epoch);
    return cull_train_begin_epoch(t);
}

cull_sel_course cull_train_course(const cull_trainer *t)
{
    return (cull_sel_course){.selector = t->selector,
                             .drop_short = t->setup->drop_short,
                             .step = t->progress.step,
                             .epoch = t->progress.epoch,
                             .at = (size_t)t->progress.at,
                             .count = t->walk.count,
                             .end = t->walk.end,
                             .groups = t->walk.groups};
}

bool cull_train_epoch_over(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);

    return cull_sel_course_over(&course);
}
