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

/* Does the selector decide on the host what the backend does? */
static bool decides_apart(const cull_trainer *t)
{
    return cull_backend_records(t->backend) && !cull_sel_records(t->selector);
}

/* What training saw goes to the selector, unless it is told later, and into the books; on the host
 * it is looked at first. */
static cull_status account(cull_trainer *t, const cull_needs *needs, cull_step_values *v)
{
    cull_status status = CULL_OK;

    if (cull_backend_on_host(t->backend))
        TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
    if (needs->observe && !decides_apart(t)) TRY(cull_observe(t->selector, &v->seen.signals));
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

    t->progress.rate = t->learner.moment.rate;
    TRY(cull_learner_learn_kept(&t->learner, v->scored.kept, v->batch.length, &t->chosen,
                                &t->books.meter, &v->seen));
    TRY(account(t, &v->asked.needs, v));
done:
    return status;
}

/* The training batch that v->from and v->to tell of. */
static cull_status learn_entries(cull_trainer *t, const cull_sel_course *course,
                                 cull_step_values *v)
{
    cull_status status = CULL_OK;
    cull_batch  batch = {0};
    bool        as_trained = cull_feed_as_trained(&t->feed, &v->asked.needs);

    (void)course;
    if (v->scored.kept) return learn_kept(t, v);
    TRY(cull_feed_gather(&t->feed, &v->batch, as_trained, cull_sel_carries(t->selector), &t->chosen,
                         v->from, v->to, &batch));
    cull_meter_lap(&t->books.meter, CULL_PHASE_LOAD);
    TRY(learn_batch(t, &batch, v));
done:
    return status;
}

/* A decision may fill no training batch, one, or several. */
static cull_status learn_chosen(cull_trainer *t, const cull_sel_course *course,
                                cull_part_run *learn, cull_step_values *v)
{
    cull_status status = CULL_OK;

    if (v->scored.kept && t->chosen.groups > 1)
        FAIL_OPTION("score.pass",
                    "%s makes %zu training batches of one scoring pass, but "
                    "reuse ends with the first",
                    cull_selector_name(t->selector), t->chosen.groups);
    for (v->from = 0; v->from < t->chosen.count; v->from = v->to) {
        if (v->from > 0) TRY(enter_now(t));
        TRY(cull_sel_subset_group(&t->chosen, v->from, &v->to));
        TRY(learn(t, course, v));
    }
done:
    return status;
}

/* Candidates, and what is known of them. */
static cull_status score(cull_trainer *t, const cull_sel_course *course, cull_step_values *v)
{
    cull_status       status = CULL_OK;
    const cull_needs *needs = &v->asked.needs;
    cull_pipeline    *ahead = t->scorer.pipeline;
    cull_meter       *meter = &t->books.meter;

    TRY(cull_feed_bring(&t->feed, &v->asked, course, t->learner.now, ahead, &v->batch)); /* data */
    if (ahead) cull_scorer_count(&t->scorer, cull_pipeline_wasted(ahead), 0, meter);
    cull_meter_lap(meter, CULL_PHASE_LOAD);
    TRY(cull_scorer_score(&t->scorer, needs, &v->batch, meter, &v->scored)); /* forward */
    if (ahead) TRY(look_ahead(ahead, &t->feed, *course, v->batch.count, t->learner.params));
done:
    return status;
}

/* The step itself; what differs from the last of its kind was sent before. */
static cull_status step(cull_trainer *t, const cull_sel_course *course, cull_step_values *v)
{
    cull_status       status = CULL_OK;
    const cull_needs *needs = &v->asked.needs;

    TRY(score(t, course, v)); /* data, forward */
    /* selection */
    TRY(choose(t->selector, needs, &v->scored.signals, &t->learner, &t->books.meter, &t->chosen));
    /* backward, optimizer, metrics */
    TRY(needs->action == CULL_SELECT_BATCH ? learn_chosen(t, course, learn_entries, v)
                                           : learn_batch(t, &v->batch, v));
done:
    return status;
}

static cull_status perform_learn(cull_trainer *t, const cull_sel_course *course,
                                 cull_step_values *v)
{
    cull_status status = CULL_OK;

    TRY(cull_train_perform(t, course, CULL_PART_LEARN, learn_entries, &t->books.learns, v));
    if (v->asked.needs.observe) TRY(cull_observe(t->selector, &v->seen.signals));
done:
    return status;
}

/* The selector decides on the host between the parts of it. */
static cull_status step_in_parts(cull_trainer *t, const cull_sel_course *course,
                                 cull_step_values *v)
{
    cull_status       status = CULL_OK;
    cull_meter       *meter = &t->books.meter;
    const cull_needs *needs = &v->asked.needs;

    TRY(cull_train_perform(t, course, CULL_PART_SCORE, score, &t->books.scores, v));
    TRY(cull_meter_begin(meter, &t->books.chooses));
    TRY(choose(t->selector, needs, &v->scored.signals, &t->learner, meter, &t->chosen));
    TRY(learn_chosen(t, course, perform_learn, v));
done:
    return status;
}

/* A step that nothing is chosen from, or that waits for nothing. */
static cull_status step_at_once(cull_trainer *t, const cull_sel_course *course, cull_step_values *v)
{
    cull_status       status = CULL_OK;
    const cull_needs *needs = &v->asked.needs;

    TRY(cull_train_perform(t, course, CULL_PART_ALL, step, &t->books.laps[needs->action], v));
    if (needs->observe && decides_apart(t)) TRY(cull_observe(t->selector, &v->seen.signals));
done:
    return status;
}

cull_status cull_train_step(cull_trainer *t, cull_step_values *v)
{
    cull_status     status = CULL_OK;
    cull_sel_course course = cull_train_course(t);

    *v = (cull_step_values){0};
    if (!cull_sel_course_peek(&course, &v->asked)) /* selection */
        FAIL(CULL_BAD_STATE, "a step behind the end of its epoch");
    TRY(cull_train_make_letter(t, v->asked.count));
    TRY(enter(t));
    TRY(cull_feed_send(&t->feed, &v->asked, &course));
    TRY(cull_scorer_aim(&t->scorer, &v->asked.needs, course.step));
    TRY(cull_letter_send(&t->learner.letter));
    TRY(v->asked.needs.action == CULL_SELECT_BATCH && decides_apart(t)
            ? step_in_parts(t, &course, v)
            : step_at_once(t, &course, v));
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
    TRY(learn_chosen(t, NULL, learn_entries, v));
    if (t->chosen.count) t->progress.step++;
done:
    return status;
}
