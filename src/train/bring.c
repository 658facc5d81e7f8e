/*
 * train/bring.c - examples for a step: candidates, and the rows of a training batch.
 *
 * Candidates that are scored, or all trained, are asked of the loader ahead, on the guess that the
 * next steps take as many; when the guess is wrong, they are asked for again.
 */
#include "base/alloc.h"
#include "train/feed.h"

bool cull_feed_loads(const cull_needs *needs)
{
    return needs->action != CULL_SELECT_BATCH || needs->signals & CULL_SIGNAL_FORWARD;
}

/* Candidates that are only scored may be scored without augmentation. */
static bool augments(const cull_train_setup *setup, const cull_needs *needs)
{
    return setup->augments && !(needs->action == CULL_SELECT_BATCH && setup->score.clean);
}

/* Candidates may be scored in another type than they are trained in. */
static cull_dtype type_of(const cull_feed *feed, const cull_needs *needs)
{
    bool scored = needs->action == CULL_SELECT_BATCH && cull_feed_loads(needs);

    if (feed->form.dtype == CULL_I32) return CULL_I32; /* tokens are what they are */
    return scored && feed->setup->score.bf16 ? CULL_BF16 : feed->form.dtype;
}

bool cull_feed_as_trained(const cull_feed *feed, const cull_needs *needs)
{
    return augments(feed->setup, needs) == feed->setup->augments &&
           type_of(feed, needs) == feed->form.dtype;
}

/* ---- on the host ---- */

/* A loader for requests of so many. */
static cull_status widen(cull_feed *feed, size_t size)
{
    const cull_train_setup *s = feed->setup;
    cull_status             status = CULL_OK;
    cull_loader_options     options = {.set = feed->resident->set,
                                       .augment = s->augments ? &s->augment : NULL,
                                       .form = feed->form,
                                       .batch = size,
                                       .depth = CULL_TRAIN_DEPTH,
                                       .threads = s->workers};

    if (size <= feed->loader_room) return CULL_OK;
    cull_data_loader_destroy(feed->loader);
    feed->loader = NULL;
    feed->loader_room = 0;
    TRY(cull_data_loader_create(&options, &feed->loader));
    feed->loader_room = size;
    feed->ahead = (cull_ahead){0};
done:
    return status;
}

/* Steps from ahead.to on, as if all had these needs. */
static cull_status fill_loader(cull_feed *feed, cull_sel_course course, const cull_needs *needs)
{
    cull_status status = CULL_OK;
    cull_ahead *a = &feed->ahead;
    size_t      count = 0;

    while (cull_data_loader_room(feed->loader) > 0) {
        course.at = a->to;
        if (!cull_sel_course_takes(&course, needs, &count)) break;
        if (count > feed->loader_room) break; /* a short batch came first: widened when it is due */
        cull_data_loader_cut(feed->loader, cull_feed_length(feed, a->to, count));
        TRY(cull_data_loader_submit(feed->loader, feed->walk.place + a->to, count, course.epoch,
                                    a->augment));
        a->to += count;
    }
done:
    return status;
}

cull_status cull_feed_take(cull_feed *feed, const cull_sel_step *step,
                           const cull_sel_course *course, cull_batch *out)
{
    cull_status     status = CULL_OK;
    cull_data_batch batch = {0};
    cull_ahead     *a = &feed->ahead;
    bool            augment = augments(feed->setup, &step->needs);
    size_t          size = step->needs.candidates, at = course->at;
    /* Short only at the end of the walk, so there the size asked for tells nothing. */
    bool guessed = a->from == at && a->to > at && a->augment == augment &&
                   (a->size == size || feed->walk.groups);

    TRY(widen(feed, step->count));
    if (!guessed) {
        cull_data_loader_drop(feed->loader);
        *a = (cull_ahead){at, at, size, augment};
    }
    TRY(fill_loader(feed, *course, &step->needs));
    TRY(cull_data_loader_take(feed->loader, &batch));
    a->from += batch.count;
    out->length = batch.length;
    TRY(fill_loader(feed, *course, &step->needs));
    out->inputs = batch.inputs.data;
    out->target = batch.target.data;
    out->place = batch.places;
done:
    return status;
}

/* ---- elsewhere ---- */

/* The walk's places and weights; inputs and targets are made there. */
cull_status cull_feed_send(cull_feed *feed, const cull_sel_step *step,
                           const cull_sel_course *course)
{
    cull_status      status = CULL_OK;
    const cull_walk *w = &feed->walk;
    cull_letter     *l = feed->letter;
    size_t           n = step->count, at = course->at;

    if (cull_backend_on_host(feed->backend)) return CULL_OK;
    TRY(cull_rows_make(feed->backend, n, cull_resident_row(feed->resident),
                       cull_resident_target(feed->resident), &feed->met));
    cull_letter_write(l, cull_letter_places(l), w->place + at, n * sizeof *w->place);
    if (w->weighs)
        cull_letter_write(l, cull_letter_weights(l), w->weight + at, n * sizeof *w->weight);
done:
    return status;
}

static cull_status bring_there(cull_feed *feed, const cull_sel_step *step, bool load,
                               cull_batch *out)
{
    cull_status status = CULL_OK;
    cull_rows  *met = &feed->met;
    size_t      n = step->count;

    out->place = cull_letter_places(feed->letter);
    out->weight = feed->walk.weighs ? cull_letter_weights(feed->letter) : NULL;
    if (!load) goto done;
    TRY(cull_resident_make(feed->resident,
                           &(cull_wanted){.place = out->place,
                                          .count = n,
                                          .now = out->now,
                                          .augmented = augments(feed->setup, &step->needs),
                                          .to = type_of(feed, &step->needs),
                                          .length = out->length},
                           met->inputs));
    TRY(cull_resident_targets(feed->resident, out->place, n, met->target));
    out->inputs = met->inputs;
    out->target = met->target;
done:
    return status;
}

/* What a pipeline knows a step's candidates by. */
cull_pending cull_feed_pending(const cull_sel_step *step, const cull_sel_course *course)
{
    return (cull_pending){1,          course->step, course->epoch,
                          course->at, step->count,  step->needs.signals};
}

/* From what was scored ahead, or else from the loader, and copied. */
static cull_status bring_ahead(cull_feed *feed, const cull_sel_step *step,
                               const cull_sel_course *course, cull_pipeline *ahead, cull_batch *out)
{
    cull_status  status = CULL_OK;
    cull_pending wanted = cull_feed_pending(step, course);
    bool         there = cull_pipeline_turn(ahead, &wanted), load = cull_feed_loads(&step->needs);
    bool         scored = load && step->needs.action == CULL_SELECT_BATCH;

    if (load && !(scored && there)) TRY(cull_feed_take(feed, step, course, out));
    if (scored) TRY(cull_pipeline_hold(ahead, out));
done:
    return status;
}

cull_status cull_feed_bring(cull_feed *feed, const cull_sel_step *step,
                            const cull_sel_course *course, const cull_moment *now,
                            cull_pipeline *ahead, cull_batch *out)
{
    size_t at = course->at;
    bool   load = cull_feed_loads(&step->needs);

    *out = (cull_batch){.count = step->count,
                        .length = cull_feed_length(feed, at, step->count),
                        .place = feed->walk.place + at,
                        .weight = feed->walk.weighs ? feed->walk.weight + at : NULL,
                        .step = course->step,
                        .epoch = course->epoch,
                        .now = now,
                        .key = feed->key};
    if (!cull_backend_on_host(feed->backend)) return bring_there(feed, step, load, out);
    if (ahead) return bring_ahead(feed, step, course, ahead, out);
    return load ? cull_feed_take(feed, step, course, out) : CULL_OK;
}

/* Rows of what was met, inputs and targets at once. */
static cull_status take_met(cull_feed *feed, const cull_batch *met, const uint32_t *index,
                            size_t count)
{
    const cull_gathered list[] = {
        {met->inputs, feed->rows.inputs, cull_resident_row_at(feed->resident, met->length)},
        {met->target, feed->rows.target, cull_resident_target(feed->resident)}};

    return cull_resident_take(feed->resident, list, sizeof list / sizeof *list, index, count,
                              met->count);
}

/* By place; rows that were made already, as long, are copied. */
static cull_status make_rows(cull_feed *feed, const cull_batch *met, bool as_trained, size_t length,
                             const uint32_t *place, const uint32_t *index, size_t count)
{
    cull_status status = CULL_OK;

    TRY(cull_resident_targets(feed->resident, place, count, feed->rows.target));
    TRY(cull_resident_make(
        feed->resident,
        &(cull_wanted){.place = place,
                       .count = count,
                       .now = met->now,
                       .augmented = feed->setup->augments,
                       .length = length,
                       .held = as_trained && length == met->length ? met->inputs : NULL,
                       .index = index},
        feed->rows.inputs));
done:
    return status;
}

/* The length of texts that were chosen over several steps, by their places, which lie where the
 * backend computes. */
static cull_status measure(cull_feed *feed, const uint32_t *place, size_t count, size_t *length)
{
    cull_status status = CULL_OK;
    uint32_t   *here = NULL;

    TRY(cull_base_alloc(count, sizeof *here, "a batch", &here));
    TRY(cull_backend_download(feed->backend, here, place, count * sizeof *here));
    *length = cull_resident_length(feed->resident, here, count);
done:
    cull_base_free(here);
    return status;
}

cull_status cull_feed_gather(cull_feed *feed, const cull_batch *met, bool as_trained, bool carried,
                             const cull_subset *subset, size_t from, size_t to, cull_batch *out)
{
    cull_status     status = CULL_OK;
    const uint32_t *place = subset->place + from, *index = subset->index + from;
    size_t          n = to - from, length = met->length;

    if (carried && feed->resident->bucket) TRY(measure(feed, place, n, &length));
    TRY(cull_rows_make(feed->backend, n, cull_resident_row(feed->resident),
                       cull_resident_target(feed->resident), &feed->rows));
    TRY(as_trained && met->inputs && !carried
            ? take_met(feed, met, index, n)
            : make_rows(feed, met, as_trained, length, place, index, n));
    *out = (cull_batch){.count = n,
                        .length = length,
                        .inputs = feed->rows.inputs,
                        .target = feed->rows.target,
                        .weight = subset->weight + from,
                        .place = place,
                        .step = met->step,
                        .epoch = met->epoch,
                        .now = met->now,
                        .key = feed->key};
done:
    return status;
}
