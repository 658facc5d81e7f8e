/* train/trainer.c - the run around the steps: epochs, evaluations, checkpoints, ends. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

const char *cull_trainer_watched(const cull_trainer *t)
{
    return t->sets.validation ? "validation" : "test";
}

uint64_t cull_trainer_steps(const cull_expectation *e)
{
    return (uint64_t)fmax(1, round(e->steps * e->length / (double)e->epochs));
}

static bool is_epoch_over(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);

    return cull_sel_course_over(&course);
}

static bool is_complete(const cull_trainer *t)
{
    cull_position position = cull_train_position(t);

    return cull_position_complete(&position, t->expected.length);
}

/* Is a reading due that was asked for by its moment? It then counts as done. */
static bool take_moment(cull_trainer *t)
{
    cull_position position = cull_train_position(t);

    return cull_position_moment(&position, &t->progress.moments);
}

static void tell(cull_trainer *t, bool epoch_end, bool best)
{
    cull_run_news news = {.size = sizeof news,
                          .epoch_end = epoch_end,
                          .step = t->progress.step,
                          .steps = cull_trainer_steps(&t->expected),
                          .epoch = t->progress.epoch,
                          .epochs = t->expected.epochs,
                          .loss = t->books.loss,
                          .rate = t->progress.rate,
                          .seconds = cull_meter_seconds(&t->books.meter),
                          .trained = (double)t->books.meter.trained,
                          .watched = cull_trainer_watched(t),
                          .accuracy = t->progress.accuracy,
                          .watched_loss = t->progress.watched,
                          .best = best,
                          .metric = cull_train_yardstick(t->setup->loss.kind)->key};

    if (epoch_end) {
        news.epoch++;
        news.loss = t->progress.loss / (double)t->progress.seen;
    }
    if (t->run.tell) t->run.tell(t->run.context, &news);
}

static bool out_of_budget(const cull_train_setup *s, const cull_meter *meter)
{
    return (s->most_seconds > 0 && cull_meter_spent(meter) >= s->most_seconds) ||
           (s->most_cost > 0 && cull_meter_cost(meter) >= s->most_cost);
}

/* What steps have left to be read: before anything is made of their weights. */
static cull_status settle(cull_trainer *t)
{
    return cull_books_settle(&t->books, &t->learner, &t->progress);
}

static cull_status evaluate(cull_trainer *t, bool test, cull_evaluation *out)
{
    cull_status    status = CULL_OK;
    cull_resident *set = test ? &t->sets.test_at : &t->sets.validation_at;

    TRY(cull_learner_evaluate(&t->learner, set, t->sets.form, test ? "test" : "validation", out));
    cull_meter_lap(&t->books.meter, CULL_PHASE_EVALUATE);
done:
    return status;
}

static cull_status log_evaluation(cull_trainer *t, bool test, const cull_evaluation *e, bool best)
{
    cull_position position = cull_train_position(t);

    return cull_books_log_evaluation(&t->books, &t->progress, cull_position_epochs(&position), test,
                                     e, best);
}

/* The watched set; a new best is written at once, and committed by the next checkpoint. */
static cull_status evaluate_watched(cull_trainer *t, bool *best)
{
    cull_status     status = CULL_OK;
    cull_evaluation e = {0};

    TRY(evaluate(t, !t->sets.validation, &e));
    t->progress.accuracy = e.accuracy;
    t->progress.watched = e.loss;
    *best = !(t->progress.best >= e.accuracy);
    if (*best) {
        t->progress.best = e.accuracy;
        t->progress.best_epoch = t->progress.epoch + 1;
        if (t->setup->keeps_best)
            TRY(cull_checkpoint_weights(t->run.folder, &t->learner, t->progress.step,
                                        t->progress.best_weights, &t->progress.best_hash));
    }
    TRY(log_evaluation(t, !t->sets.validation, &e, *best));
done:
    return status;
}

/* The test set is read whenever the watched one is, whatever is watched: comparisons draw their
 * curves of it. last: what the run is judged by. */
static cull_status evaluate_test(cull_trainer *t, bool last)
{
    cull_status     status = CULL_OK;
    cull_evaluation e = {.accuracy = t->progress.accuracy, .loss = t->progress.watched};

    if (t->sets.validation) {
        TRY(evaluate(t, true, &e));
        TRY(log_evaluation(t, true, &e, false));
    }
    if (!last) goto done;
    t->progress.test = e.accuracy;
    t->progress.test_loss = e.loss;
done:
    return status;
}

/* A reading between: neither the best nor the latest result is touched. */
static cull_status evaluate_besides(cull_trainer *t)
{
    cull_status     status = CULL_OK;
    cull_evaluation e = {0};

    TRY(evaluate(t, !t->sets.validation, &e));
    TRY(log_evaluation(t, !t->sets.validation, &e, false));
    TRY(evaluate_test(t, false));
done:
    return status;
}

/* All that was to be trained is. */
static bool is_last(const cull_trainer *t)
{
    return is_complete(t) || (t->progress.epoch + 1 == t->expected.epochs && is_epoch_over(t));
}

static cull_run_end end_of(const cull_trainer *t, bool spent, bool evaluated)
{
    if (evaluated && t->setup->target > 0 && t->progress.accuracy >= t->setup->target)
        return CULL_RUN_TARGET;
    if (is_last(t) && !spent) return CULL_RUN_EPOCHS;
    return spent ? CULL_RUN_BUDGET : CULL_RUN_GOES_ON;
}

/* spent: the budget ended inside the epoch, so this is the last. */
static cull_status end_epoch(cull_trainer *t, bool spent)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;
    uint64_t                done_now = t->progress.epoch + 1;
    bool last = spent || is_last(t), due = last || done_now % s->evaluate_every == 0;
    bool best = false, moment = take_moment(t);

    TRY(settle(t));
    TRY(cull_books_log_epoch(&t->books, &t->progress));
    if (due) TRY(evaluate_watched(t, &best));
    t->progress.end = end_of(t, spent, due);
    if (due)
        TRY(evaluate_test(t, t->progress.end != CULL_RUN_GOES_ON));
    else if (moment)
        TRY(evaluate_besides(t));
    tell(t, true, best);
    cull_progress_turn(&t->progress, done_now);
    if (t->progress.end || done_now % s->checkpoint_every == 0) TRY(cull_checkpoint_save(t));
done:
    return status;
}

/* What comes after a step: lines, a reading that is due, a checkpoint. */
static cull_status follow_step(cull_trainer *t, const cull_step_values *v, bool *stop, bool *spent)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;
    bool                    log = s->log_every && t->progress.step % s->log_every == 0;
    bool save = s->checkpoint_steps && t->progress.step % s->checkpoint_steps == 0;
    bool reads = !is_epoch_over(t) && !is_complete(t) && take_moment(t);

    *spent = out_of_budget(t->setup, &t->books.meter);
    if (log || reads || save || *spent) TRY(settle(t));
    if (log) TRY(cull_books_log_step(&t->books, &t->progress, v->batch.count, v->kept));
    if (reads) TRY(evaluate_besides(t));
    tell(t, false, false);
    *spent = out_of_budget(t->setup, &t->books.meter);
    *stop = !*spent && t->run.stop && t->run.stop(t->run.context);
    if (*stop) TRY(settle(t));
    if (*stop || save) TRY(cull_checkpoint_save(t));
done:
    return status;
}

/* Of a step that failed, and one before it that went wrong unseen, the first is told. */
static cull_status blame(cull_trainer *t, cull_status status)
{
    char why[512];

    if (status == CULL_OK) return CULL_OK;
    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    if (settle(t) == CULL_NOT_FINITE) return CULL_NOT_FINITE;
    return cull_fail(status, "%s", why);
}

/* Steps up to the end of the epoch; *stop when the caller wants to end, *spent when the budget is
 * used up. */
static cull_status train_epoch(cull_trainer *t, bool *stop, bool *spent)
{
    cull_status      status = CULL_OK;
    cull_step_values v = {0};

    TRY(cull_train_begin_epoch(t, &v.asked.needs));
    while (!is_epoch_over(t) && !is_complete(t) && !*stop && !*spent) {
        TRY(blame(t, cull_train_step(t, &v)));
        TRY(follow_step(t, &v, stop, spent));
    }
    if (!*stop && !*spent && is_last(t)) TRY(blame(t, cull_train_flush(t, &v)));
done:
    return status;
}

static cull_status train(cull_trainer *t, bool *stop)
{
    cull_status status = CULL_OK;

    while (!t->progress.end && !*stop) {
        /* A run may have been killed after the step that used its budget up. */
        bool spent = t->progress.batch > 0 && out_of_budget(t->setup, &t->books.meter);
        TRY(train_epoch(t, stop, &spent));
        if (!*stop) TRY(end_epoch(t, spent));
    }
done:
    return status;
}

static void fill_result(const cull_trainer *t, bool resumed, bool stop, cull_run_result *out)
{
    const cull_progress *p = &t->progress;

    *out = (cull_run_result){.end = stop ? CULL_RUN_STOPPED : (cull_run_end)p->end,
                             .resumed = resumed,
                             .step = p->step,
                             .epoch = p->epoch,
                             .parameters = t->learner.params->count,
                             .watched = cull_trainer_watched(t),
                             .accuracy = p->accuracy,
                             .loss = p->watched,
                             .best = p->best,
                             .best_epoch = p->best_epoch,
                             .test = p->test,
                             .test_loss = p->test_loss,
                             .seconds = cull_meter_seconds(&t->books.meter),
                             .scored = t->books.meter.scored,
                             .trained = t->books.meter.trained,
                             .metric = cull_train_yardstick(t->setup->loss.kind)->key};
    memcpy(out->weights, p->weights, sizeof out->weights);
    memcpy(out->best_weights, p->best_weights, sizeof out->best_weights);
}

static cull_status train_recorded(cull_trainer *t, bool *stop)
{
    cull_status status = CULL_OK;
    char        why[512] = "";

    TRY(cull_books_open_logs(&t->books, t->run.folder, &t->progress));
    TRY(cull_train_harm(t->run.folder, &t->sets.corruption));
    TRY(cull_train_manifest(t, "running", NULL));
    if (t->begins) t->begins(t->begins_context);
    cull_meter_start(&t->books.meter);
    status = train(t, stop);
    if (status != CULL_OK) {
        /* The failure's own sentence is the one to hand on. */
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        (void)cull_train_manifest(t, "failed", why);
        (void)cull_fail(status, "%s", why);
    }
done:
    return status;
}

cull_status cull_trainer_run(cull_trainer *t, const cull_run_options *options, cull_run_result *out)
{
    cull_status status = CULL_OK;
    bool        found = false, stop = false, done_before = false;

    t->run = *options;
    if (options->resume) TRY(cull_checkpoint_load(t, &found));
    if (!found) TRY(cull_trainer_begin(t));
    done_before = t->progress.end != 0;
    if (!t->progress.end) TRY(train_recorded(t, &stop));
    /* Also for a run that had ended: it may have been killed before this was written. */
    TRY(cull_train_selection(t, done_before));
    TRY(cull_train_manifest(t, stop ? "stopped" : "finished", NULL));
    fill_result(t, found, stop, out);
done:
    return status;
}
