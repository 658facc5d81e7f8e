/*
 * train/feed.c - which examples an epoch meets, and in which order.
 *
 * All of the pool in the order of data/order, or a subset of it: its entries in the same way, or
 * where it is made of whole training batches, those in shuffled order, each as it is.
 */
#include "train/feed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

cull_status cull_feed_open(const cull_train_setup *setup, cull_resident *resident,
                           cull_data_form form, cull_feed *out)
{
    cull_status status = CULL_OK;
    size_t      pool = resident->set->count;

    out->setup = setup;
    out->backend = resident->backend;
    out->resident = resident;
    out->form = form;
    out->key = cull_key_make(setup->seed, "dropout");
    out->cut = cull_key_make(setup->seed, "lengths");
    out->unit = setup->batch;
    TRY(cull_data_order_init(&out->order, pool, setup->batch, setup->drop_short, setup->seed));
    cull_data_order_epoch(&out->order, 0, NULL, pool);
    if (setup->augments) TRY(cull_data_augment_check(&setup->augment, form, resident->set));
done:
    return status;
}

static void clear_walk(cull_walk *walk)
{
    cull_base_free(walk->place);
    cull_base_free(walk->weight);
    cull_base_free(walk->end);
    cull_base_free(walk->bucket);
    cull_base_free(walk->from);
    cull_base_free(walk->scratch);
    *walk = (cull_walk){0};
}

void cull_feed_close(cull_feed *feed)
{
    cull_data_loader_destroy(feed->loader);
    cull_data_order_clear(&feed->order);
    clear_walk(&feed->walk);
    cull_rows_clear(feed->backend, &feed->met);
    cull_rows_clear(feed->backend, &feed->rows);
    *feed = (cull_feed){0};
}

static cull_status make_room(cull_walk *walk, bool texts, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= walk->room) return CULL_OK;
    TRY(cull_base_grow(count, sizeof *walk->place, "an epoch", &walk->place));
    TRY(cull_base_grow(count, sizeof *walk->weight, "an epoch", &walk->weight));
    TRY(cull_base_grow(count, sizeof *walk->end, "an epoch", &walk->end));
    if (texts) {
        TRY(cull_base_grow(count, sizeof *walk->bucket, "an epoch", &walk->bucket));
        TRY(cull_base_grow(count, sizeof *walk->from, "an epoch", &walk->from));
        TRY(cull_base_grow(count, sizeof(double), "an epoch", &walk->scratch));
    }
    walk->room = count;
done:
    return status;
}

static void walk_all(cull_data_order *order, uint64_t epoch, size_t pool, cull_walk *w)
{
    cull_data_order_epoch(order, epoch, NULL, pool);
    memcpy(w->place, order->place, order->count * sizeof *w->place);
    w->count = order->count;
}

/* Entries of the subset, shuffled. */
static void walk_entries(cull_data_order *order, uint64_t epoch, const cull_subset *s, cull_walk *w)
{
    for (size_t i = 0; i < s->count; i++) w->place[i] = (uint32_t)i;
    cull_data_order_epoch(order, epoch, w->place, s->count);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t entry = order->place[i];

        w->place[i] = s->place[entry];
        w->weight[i] = s->weight[entry];
    }
}

/* Entries come sorted by group: a group begins where its number changes. */
static void walk_groups(cull_data_order *order, uint64_t epoch, const cull_subset *s, cull_walk *w)
{
    size_t at = 0, groups = 0;

    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->group[i] != s->group[i - 1]) w->place[groups++] = (uint32_t)i;
    cull_data_order_epoch(order, epoch, w->place, groups);
    w->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        uint32_t first = order->place[g];

        for (size_t i = first; i < s->count && s->group[i] == s->group[first]; i++) {
            w->place[at] = s->place[i];
            w->weight[at++] = s->weight[i];
        }
        w->end[g] = at;
    }
}

/* The walk's entries in batches of about one length. */
static void sort_walk(cull_feed *feed, uint64_t epoch)
{
    cull_walk *w = &feed->walk;
    double    *weight = (double *)(void *)w->scratch;

    for (size_t i = 0; i < w->count; i++) w->bucket[i] = feed->resident->bucket[w->place[i]];
    cull_data_buckets_order(feed->cut, epoch, w->bucket, w->count, feed->unit, w->scratch, w->from);
    memcpy(w->scratch, w->place, w->count * sizeof *w->place);
    for (size_t i = 0; i < w->count; i++) w->place[i] = w->scratch[w->from[i]];
    if (!w->weighs) return;
    memcpy(weight, w->weight, w->count * sizeof *weight);
    for (size_t i = 0; i < w->count; i++) w->weight[i] = weight[w->from[i]];
}

void cull_feed_cut(cull_feed *feed, size_t unit)
{
    feed->unit = unit;
}

size_t cull_feed_length(const cull_feed *feed, size_t at, size_t count)
{
    return cull_resident_length(feed->resident, feed->walk.place + at, count);
}

cull_status cull_feed_epoch(cull_feed *feed, uint64_t epoch, const cull_subset *subset)
{
    cull_status status = CULL_OK;
    size_t      pool = feed->resident->set->count;
    cull_walk  *w = &feed->walk;

    TRY(make_room(w, feed->resident->bucket != NULL, subset ? subset->count : pool));
    w->groups = 0;
    w->weighs = subset != NULL;
    if (!subset)
        walk_all(&feed->order, epoch, pool, w);
    else if (subset->groups > 1)
        walk_groups(&feed->order, epoch, subset, w);
    else
        walk_entries(&feed->order, epoch, subset, w);
    if (subset) w->count = subset->count;
    if (feed->resident->bucket && !w->groups) sort_walk(feed, epoch);
    if (feed->loader) cull_data_loader_drop(feed->loader);
    feed->ahead = (cull_ahead){0};
done:
    return status;
}

cull_sel_course cull_feed_course(const cull_feed *feed, const cull_selector *selector,
                                 const cull_progress *progress)
{
    return (cull_sel_course){.selector = selector,
                             .drop_short = feed->setup->drop_short,
                             .step = progress->step,
                             .epoch = progress->epoch,
                             .at = (size_t)progress->at,
                             .count = feed->walk.count,
                             .end = feed->walk.end,
                             .groups = feed->walk.groups};
}
