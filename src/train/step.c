/* train/step.c - one step of training, in which every room has its line. */
#include "select/frame.h"
#include "train/train.h"

cull_sel_course cull_train_course(const cull_trainer *t)
{
    return cull_feed_course(&t->feed, t->selector, &t->progress);
}

cull_position cull_train_position(const cull_trainer *t)
{
    return (cull_position){t->setup, &t->progress, cull_train_course(t),
                           t->learner.schedule.steps_per_epoch};
}

double cull_train_rate(const cull_trainer *t)
{
    const cull_schedule *schedule = &t->learner.schedule;
    cull_position        position = cull_train_position(t);

    return cull_schedule_rate_at(
        schedule,
        cull_position_scheduled(&position, schedule, t->books.meter.trained, t->sets.train->count));
}

/* A step, or another training batch of it, begins: what its operations are told. */
static cull_status enter(cull_trainer *t)
{
    cull_status status = CULL_OK;

    if (cull_learner_full(&t->learner))
        TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
    cull_learner_enter(&t->learner, t->progress.step, t->progress.epoch, cull_train_rate(t));
done:
    return status;
}

/* The same where nothing else is sent before it begins. */
static cull_status enter_now(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(enter(t));
    TRY(cull_letter_send(&t->learner.letter));
done:
    return status;
}

cull_status cull_train_make_letter(cull_trainer *t, size_t examples)
{
    cull_status status = CULL_OK;
    bool        moved = false;

    TRY(cull_learner_room(&t->learner, examples, cull_scorer_aims(&t->scorer), &moved));
    if (moved && !cull_backend_on_host(t->backend)) cull_sel_moment(t->selector, t->learner.now);
done:
    return status;
}

/* A subset of the pool at the current weights, brought to the host. */
static cull_status choose_pool(cull_trainer *t, const cull_needs *needs)
{
    cull_status      status = CULL_OK;
    cull_signal_room pool = {0}, aim = {0};
    cull_signals     signals = {0};
    cull_subset      chosen = {0};

    TRY(enter_now(t));
    TRY(cull_meter_begin(&t->books.meter, &t->books.laps[CULL_SELECT_POOL]));
    TRY(cull_scorer_score_pool(&t->scorer, needs, &t->progress, &t->books.meter, &pool, &aim,
                               &signals));
    TRY(cull_select(t->selector, &signals, 0, &chosen));
    TRY(cull_sel_subset_bring(&chosen, &t->pool));
    cull_meter_choose(&t->books.meter, &t->pool);
    t->pool_epoch = t->progress.epoch;
    cull_meter_lap(&t->books.meter, CULL_PHASE_SELECT);
    if (t->books.meter.unread_laps) TRY(cull_meter_read(&t->books.meter));
done:
    cull_subset_clear(&chosen);
    cull_signal_room_clear(&pool);
    cull_signal_room_clear(&aim);
    return status;
}

cull_status cull_train_begin_epoch(cull_trainer *t, cull_needs *needs)
{
    cull_status status = CULL_OK;

    TRY(cull_selector_needs(t->selector, t->progress.step, t->progress.epoch, needs));
    if (needs->action == CULL_SELECT_POOL) TRY(choose_pool(t, needs));
    TRY(cull_feed_epoch(&t->feed, t->progress.epoch,
                        cull_sel_over_subset(needs) ? &t->pool : NULL));
    if (t->progress.at > t->feed.walk.count)
        FAIL(CULL_BAD_STATE, "the checkpoint is %llu examples into an epoch of %zu",
             (unsigned long long)t->progress.at, t->feed.walk.count);
    cull_meter_lap(&t->books.meter, CULL_PHASE_LOAD);
done:
    return status;
}

cull_status cull_train_enter_epoch(cull_trainer *t, uint64_t epoch, cull_needs *needs)
{
    cull_progress_turn(&t->progress, epoch);
    return cull_train_begin_epoch(t, needs);
}

/* The next step's candidates are scored while this one learns, where there is room. */
static cull_status look_ahead(cull_pipeline *pipeline, cull_feed *feed, cull_sel_course course,
                              size_t met, const cull_params *params)
{
    cull_status   status = CULL_OK;
    cull_sel_step next = {0};
    cull_pending  pending = {0};
    cull_batch    batch = {0};

    cull_sel_course_pass(&course, met);
    if (!cull_sel_course_peek(&course, &next) || next.needs.action != CULL_SELECT_BATCH ||
        !(next.needs.signals & CULL_SIGNAL_FORWARD) || !cull_pipeline_fits(pipeline, next.count))
        goto done;
    batch = (cull_batch){.count = next.count, .step = course.step, .epoch = course.epoch};
    pending = cull_feed_pending(&next, &course);
    TRY(cull_feed_take(feed, &next, &course, &batch));
    TRY(cull_pipeline_ahead(pipeline, &pending, next.needs.running, batch, params));
done:
    return status;
}

static cull_status choose(cull_selector *selector, const cull_needs *needs,
                          const cull_signals *signals, cull_learner *learner, cull_meter *meter,
                          cull_subset *out)
{
    cull_status status = CULL_OK;

    if (needs->action != CULL_SELECT_BATCH) return CULL_OK;
    TRY(cull_select(selector, signals, 0, out));
    if (out->flags & CULL_SUBSET_LATE)
        cull_learner_await(learner, out->outcome);
    else
        cull_meter_choose(meter, out);
    cull_meter_lap(meter, CULL_PHASE_SELECT);
done:
    return status;
}

/* What training saw goes to the selector and into the books; on the host it is looked at first. */
static cull_status account(cull_trainer *t, const cull_needs *needs, cull_step_values *v)
{
    cull_status status = CULL_OK;

    if (cull_backend_on_host(t->backend))
        TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
    if (needs->observe) TRY(cull_observe(t->selector, &v->seen.signals));
    cull_meter_lap(&t->books.meter, CULL_PHASE_SELECT);
    TRY(cull_books_note(&t->books, t->learner.now, &v->seen));
    v->kept += v->seen.signals.count;
    cull_meter_lap(&t->books.meter, CULL_PHASE_CHECKPOINT);
done:
    return status;
}

static cull_status learn_batch(cull_trainer *t, const cull_batch *batch, cull_step_values *v)
{
    cull_status status = CULL_OK;

    t->progress.rate = t->learner.moment.rate;
    TRY(cull_learner_learn(&t->learner, batch, &t->books.meter, &v->seen));
    TRY(cull_scorer_learn(&t->scorer, batch, &t->books.meter));
    TRY(account(t, &v->asked.needs, v));
done:
    return status;
}

/* Backward alone, through the rows that the scoring pass kept. */
static cull_status learn_kept(cull_trainer *t, cull_step_values *v)
{
    cull_status status = CULL_OK;

    if (t->chosen.count == 0) return CULL_OK;
    if (t->chosen.groups > 1)
        FAIL_OPTION("score.pass",
                    "%s makes %zu training batches of one scoring pass, but "
                    "reuse ends with the first",
                    cull_selector_name(t->selector), t->chosen.groups);
    t->progress.rate = t->learner.moment.rate;
    TRY(cull_learner_learn_kept(&t->learner, v->scored.kept, v->batch.length, &t->chosen,
                                &t->books.meter, &v->seen));
    TRY(account(t, &v->asked.needs, v));
done:
    return status;
}

/* A decision may fill no training batch, one, or several. */
static cull_status learn_chosen(cull_trainer *t, cull_step_values *v)
{
    cull_status status = CULL_OK;
    cull_batch  batch = {0};
    bool        as_trained = cull_feed_as_trained(&t->feed, &v->asked.needs);

    for (size_t from = 0, to = 0; from < t->chosen.count; from = to) {
        if (from > 0) TRY(enter_now(t));
        TRY(cull_sel_subset_group(&t->chosen, from, &to));
        TRY(cull_feed_gather(&t->feed, &v->batch, as_trained, cull_sel_carries(t->selector),
                             &t->chosen, from, to, &batch));
        cull_meter_lap(&t->books.meter, CULL_PHASE_LOAD);
        TRY(learn_batch(t, &batch, v));
    }
done:
    return status;
}

static cull_status learn(cull_trainer *t, cull_step_values *v)
{
    if (v->asked.needs.action != CULL_SELECT_BATCH) return learn_batch(t, &v->batch, v);
    return v->scored.kept ? learn_kept(t, v) : learn_chosen(t, v);
}

/* The step itself; what differs from the last of its kind was sent before. */
static cull_status step(cull_trainer *t, const cull_sel_course *course, cull_laps *laps,
                        cull_step_values *v)
{
    cull_status       status = CULL_OK;
    const cull_needs *needs = &v->asked.needs;
    cull_pipeline    *ahead = t->scorer.pipeline;
    cull_meter       *meter = &t->books.meter;

    TRY(cull_meter_begin(meter, laps));
    TRY(cull_feed_bring(&t->feed, &v->asked, course, t->learner.now, ahead, &v->batch)); /* data */
    if (ahead) cull_scorer_count(&t->scorer, cull_pipeline_wasted(ahead), 0, meter);
    cull_meter_lap(meter, CULL_PHASE_LOAD);
    TRY(cull_scorer_score(&t->scorer, needs, &v->batch, meter, &v->scored)); /* forward */
    if (ahead) TRY(look_ahead(ahead, &t->feed, *course, v->batch.count, t->learner.params));
    /* selection */
    TRY(choose(t->selector, needs, &v->scored.signals, &t->learner, meter, &t->chosen));
    TRY(learn(t, v)); /* backward, optimizer, metrics */
done:
    return status;
}

/* Nothing of it is done on the host, and nothing is waited for. An epoch's first step may look at
 * the pool. */
static bool can_be_recorded(const cull_trainer *t, const cull_sel_course *course,
                            const cull_needs *needs)
{
    bool selects = needs->action == CULL_SELECT_BATCH || needs->observe;
    bool asks = t->sets.train_at.bucket && cull_sel_carries(t->selector); /* how long they are */

    return cull_backend_records(t->backend) && course->at > 0 && !asks && t->sets.train_at.raw &&
           (!needs->target || t->sets.validation_at.raw) &&
           (!selects || cull_sel_records(t->selector));
}

static cull_status record(cull_trainer *t, const cull_sel_course *course, cull_recorded *kind,
                          cull_step_values *v)
{
    cull_status status = CULL_OK, ended = CULL_OK;
    size_t      waiting = t->learner.waiting;

    kind->before = t->books.meter;
    t->books.meter.unmarked = kind->recording != NULL;
    TRY(cull_recorder_begin(&t->recorder));
    status = step(t, course, &kind->laps, v);
    ended = cull_recorder_end(&t->recorder, kind, status != CULL_OK);
    TRY(status);
    TRY(ended);
    kind->after = t->books.meter;
    kind->kept = v->kept;
    if (t->learner.waiting == waiting + 1)
        kind->late = t->learner.late[waiting];
    else /* it trains no batch, or several: what is counted again is one */
        cull_recorder_ran(&t->recorder, &v->asked, kind->length, kind->weighs);
done:
    t->books.meter.unmarked = false;
    if (status != CULL_OK) cull_meter_drop(&t->books.meter);
    return status;
}

/* A recorded step done again: what it asks of the backend, and what it counts here. */
static cull_status repeat(cull_trainer *t, cull_recorded *kind, cull_step_values *v)
{
    cull_status status = CULL_OK;

    TRY(cull_recorder_again(&t->recorder, kind));
    cull_meter_repeat(&t->books.meter, &kind->before, &kind->after);
    cull_learner_repeat(&t->learner, kind->late);
    cull_scorer_repeat(&t->scorer);
    t->progress.rate = t->learner.moment.rate;
    v->batch.count = kind->asked.count;
    v->batch.length = kind->length;
    v->kept = kind->kept;
    cull_meter_again(&t->books.meter, &kind->laps);
done:
    return status;
}

cull_status cull_train_step(cull_trainer *t, cull_step_values *v)
{
    cull_status     status = CULL_OK;
    cull_sel_course course = cull_train_course(t);
    cull_recorded  *kind = NULL;
    bool            again = false, weighs = t->feed.walk.weighs;
    size_t          length = 0;

    *v = (cull_step_values){0};
    if (!cull_sel_course_peek(&course, &v->asked)) /* selection */
        FAIL(CULL_BAD_STATE, "a step behind the end of its epoch");
    length = cull_feed_length(&t->feed, course.at, v->asked.count);
    TRY(cull_train_make_letter(t, v->asked.count));
    TRY(enter(t));
    TRY(cull_feed_send(&t->feed, &v->asked, &course));
    TRY(cull_scorer_aim(&t->scorer, &v->asked.needs, course.step));
    TRY(cull_letter_send(&t->learner.letter));
    again = can_be_recorded(t, &course, &v->asked.needs);
    if (again) kind = cull_recorder_find(&t->recorder, &v->asked, length, weighs);
    if (kind)
        TRY(cull_recorder_knows(kind) ? repeat(t, kind, v) : record(t, &course, kind, v));
    else
        TRY(step(t, &course, &t->books.laps[v->asked.needs.action], v));
    if (again && !kind) cull_recorder_ran(&t->recorder, &v->asked, length, weighs);
    TRY(cull_sel_heed(t->selector));
    cull_progress_pass(&t->progress, v->batch.count);
done:
    return status;
}

cull_status cull_train_flush(cull_trainer *t, cull_step_values *v)
{
    cull_status status = CULL_OK;

    *v = (cull_step_values){
        .asked = v->asked,
        .batch = {.step = t->progress.step, .epoch = t->progress.epoch, .now = t->learner.now}};
    TRY(enter_now(t));
    TRY(cull_meter_begin(&t->books.meter, &t->books.laps[CULL_SELECT_BATCH]));
    TRY(cull_flush(t->selector, &t->chosen));
    TRY(learn_chosen(t, v));
    if (t->chosen.count) t->progress.step++;
done:
    return status;
}
