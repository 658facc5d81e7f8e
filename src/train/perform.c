/*
 * train/perform.c - a step, or a part of it, done as it was recorded where that can be.
 *
 *     kind not met yet      it runs as it comes, so that all it needs is there
 *     met                   it is recorded, with marks and without, and done
 *     recorded both ways    it is done again; what others go on with is what it left then
 */
#include "select/frame.h"
#include "train/train.h"

/* Nothing of it is done on the host, and nothing is waited for. An epoch's first step may look at
 * the pool; and training batches of any size are rarely of one that was met before. */
static bool can_be_recorded(const cull_trainer *t, const cull_sel_course *course,
                            const cull_step_kind *kind)
{
    const cull_sel_step *asked = &kind->asked;
    size_t               learns = asked->learns ? asked->learns : t->setup->batch;
    bool                 scores = kind->part != CULL_PART_LEARN && asked->needs.target;
    /* texts of several steps: how long they are, is asked */
    bool asks = kind->part != CULL_PART_SCORE && asked->needs.action == CULL_SELECT_BATCH &&
                t->sets.train_at.bucket && cull_sel_carries(t->selector);

    return cull_backend_records(t->backend) && course->at > 0 && !asks && t->sets.train_at.raw &&
           (!scores || t->sets.validation_at.raw) &&
           (kind->part != CULL_PART_LEARN || kind->to - kind->from == learns);
}

/* One training batch, or none: more are counted by none. */
static bool can_be_repeated(cull_part part, size_t batches)
{
    return batches == (part == CULL_PART_SCORE ? 0 : 1);
}

static cull_status record(cull_trainer *t, const cull_sel_course *course, cull_part_run *run,
                          cull_recorded *kind, cull_step_values *v)
{
    cull_status status = CULL_OK, ended = CULL_OK;
    size_t      waiting = t->learner.waiting, kept = v->kept;

    kind->before = t->books.meter;
    t->books.meter.unmarked = kind->recording != NULL;
    TRY(cull_recorder_begin(&t->recorder));
    status = cull_meter_begin(&t->books.meter, &kind->laps);
    if (status == CULL_OK) status = run(t, course, v);
    ended = cull_recorder_end(&t->recorder, kind, status != CULL_OK);
    TRY(status);
    TRY(ended);
    kind->after = t->books.meter;
    kind->leaves = *v;
    kind->kept = v->kept - kept;
    kind->late = t->learner.waiting > waiting && t->learner.late[waiting];
    if (!can_be_repeated(kind->is.part, t->learner.waiting - waiting))
        cull_recorder_ran(&t->recorder, &kind->is);
done:
    t->books.meter.unmarked = false;
    if (status != CULL_OK) cull_meter_drop(&t->books.meter);
    return status;
}

/* What others go on with: the same arrays, of this step. */
static void leave(const cull_recorded *kind, const cull_sel_course *course, cull_step_values *v)
{
    const cull_step_values *leaves = &kind->leaves;

    if (kind->is.part != CULL_PART_LEARN) {
        v->batch = leaves->batch;
        v->scored = leaves->scored;
        v->batch.step = v->scored.signals.step = course->step;
        v->batch.epoch = v->scored.signals.epoch = course->epoch;
        if (v->scored.plan)
            cull_nn_repeated(v->scored.plan, course->step, course->epoch, &v->scored.signals);
    }
    if (kind->is.part != CULL_PART_SCORE) {
        v->seen = leaves->seen;
        cull_nn_repeated(v->seen.plan, course->step, course->epoch, &v->seen.signals);
    }
    v->kept += kind->kept;
}

/* What was recorded, done again: what it asks of the backend, and what it counts here. */
static cull_status repeat(cull_trainer *t, const cull_sel_course *course, cull_recorded *kind,
                          cull_step_values *v)
{
    cull_status status = CULL_OK;

    TRY(cull_recorder_again(&t->recorder, kind));
    cull_meter_repeat(&t->books.meter, &kind->before, &kind->after);
    if (kind->is.part != CULL_PART_SCORE) {
        cull_learner_repeat(&t->learner, kind->late);
        cull_scorer_repeat(&t->scorer);
        t->progress.rate = t->learner.moment.rate;
    }
    leave(kind, course, v);
    cull_meter_again(&t->books.meter, &kind->laps);
done:
    return status;
}

cull_status cull_train_perform(cull_trainer *t, const cull_sel_course *course, cull_part part,
                               cull_part_run *run, cull_laps *laps, cull_step_values *v)
{
    cull_status    status = CULL_OK;
    cull_recorded *known = NULL;
    cull_step_kind kind = {.part = part,
                           .asked = v->asked,
                           .length = cull_feed_length(&t->feed, course->at, v->asked.count),
                           .weighs = t->feed.walk.weighs,
                           .late = part == CULL_PART_LEARN && t->learner.decision,
                           .from = v->from,
                           .to = v->to};
    bool           again = can_be_recorded(t, course, &kind);

    if (again) known = cull_recorder_find(&t->recorder, &kind);
    if (known) {
        TRY(cull_recorder_knows(known) ? repeat(t, course, known, v)
                                       : record(t, course, run, known, v));
    } else {
        TRY(cull_meter_begin(&t->books.meter, laps));
        TRY(run(t, course, v));
        if (again) cull_recorder_ran(&t->recorder, &kind);
    }
done:
    return status;
}
