/*
 * lab/compare/measure.c - what steps of a recipe take, by the trainer's own meter.
 *
 * The trainer itself runs a few steps, so that what is measured is what a run does; a second way
 * of writing a step would drift from the first. Loading is done on the same thread here, so that
 * it shows as what it costs and not as what was waited for. Where a run has one thread, the
 * meter goes by processor time, which on a quiet machine is the time that passes, and on a busy one
 * leaves out what other programs had. On a device it is the time that passes always.
 */
#include <math.h>

#include "base/clock.h"
#include "base/sized.h"
#include "lab/recipe/recipe.h"
#include "records/judge/statistics.h"

enum { FEWEST = 6, MOST = 200, MOST_EPOCHS = 1000, TOGETHER = 16 };

#define SHORT .5 /* seconds */

struct laps {
    double of[CULL_PHASES][MOST];
    double loaded[MOST]; /* seconds an example */
    size_t count;
};

/* The beginning of an epoch is where a subset of the pool is chosen. */
static cull_status choose(cull_trainer *t, uint64_t epoch, cull_needs *needs, cull_measured *out)
{
    cull_status status = CULL_OK;
    cull_meter  before = t->books.meter;

    cull_meter_start(&t->books.meter);
    TRY(cull_train_enter_epoch(t, epoch, needs));
    cull_meter_lap(&t->books.meter, CULL_PHASE_SELECT);
    if (t->books.meter.scored > before.scored)
        out->pool_score = t->books.meter.seconds[CULL_PHASE_SCORE] -
                          before.seconds[CULL_PHASE_SCORE] +
                          t->books.meter.seconds[CULL_PHASE_LOAD] - before.seconds[CULL_PHASE_LOAD];
    out->pool_solve = t->books.meter.seconds[CULL_PHASE_SELECT] - before.seconds[CULL_PHASE_SELECT];
done:
    return status;
}

/* The first choice makes plans too; where that would show, another is measured. */
static cull_status measure_choice(cull_trainer *t, cull_measured *out)
{
    cull_status status = CULL_OK;
    cull_needs  needs = {0};

    TRY(choose(t, 0, &needs, out));
    if (needs.action != CULL_SELECT_POOL || out->pool_score + out->pool_solve > SHORT) goto done;
    for (uint64_t epoch = 1; epoch < MOST_EPOCHS; epoch++) {
        TRY(cull_selector_needs(t->selector, 0, epoch, &needs));
        if (needs.action != CULL_SELECT_POOL) continue;
        TRY(choose(t, epoch, &needs, out));
        break;
    }
done:
    return status;
}

static bool is_over(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);

    return cull_sel_course_over(&course);
}

/* Tokens that an example of this epoch has in its batch, on the mean; 0: it is no text. */
static double mean_tokens(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);
    cull_sel_step   step = {0};
    double          tokens = 0, met = 0;

    for (; t->sets.train_at.bucket && cull_sel_course_peek(&course, &step);
         cull_sel_course_pass(&course, step.count)) {
        tokens += (double)(step.count * cull_feed_length(&t->feed, course.at, step.count));
        met += (double)step.count;
    }
    return met > 0 ? tokens / met : 0;
}

/* How much longer than the mean the texts of these steps were: what they took goes by that. */
static double share_of_mean(const cull_meter *now, const cull_meter *before, double mean)
{
    double tokens = (double)(now->tokens_scored + now->tokens_trained - before->tokens_scored -
                             before->tokens_trained);
    double examples = (double)(now->scored + now->trained - before->scored - before->trained);

    return mean > 0 && tokens > 0 ? tokens / (mean * examples) : 1;
}

/* A device is waited for behind some of an epoch's steps, as in a run, where that is seldom. */
static cull_status measure_step(cull_trainer *t, struct laps *laps, cull_measured *out, bool keep)
{
    cull_status      status = CULL_OK;
    cull_step_values values = {0};
    cull_meter       before;
    int              most = cull_backend_on_host(t->backend) ? 1 : TOGETHER, steps = 0;
    double           scored = 0, trained = 0, longer = 1;

    if (is_over(t)) /* the same epoch again: a small set has few steps */
        TRY(cull_train_enter_epoch(t, t->progress.epoch, &values.asked.needs));
    before = t->books.meter;
    cull_meter_start(&t->books.meter);
    for (; steps < most && !is_over(t); steps++) TRY(cull_train_step(t, &values));
    TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
    if (!keep || steps == 0) goto done;
    scored = (double)(t->books.meter.scored - before.scored) / steps;
    trained = (double)(t->books.meter.trained - before.trained) / steps;
    longer = share_of_mean(&t->books.meter, &before, out->tokens);
    for (int i = 0; i < CULL_PHASES; i++)
        laps->of[i][laps->count] = (t->books.meter.seconds[i] - before.seconds[i]) / steps /
                                   (i == CULL_PHASE_SCORE || i == CULL_PHASE_LEARN ? longer : 1);
    laps->loaded[laps->count] =
        laps->of[CULL_PHASE_LOAD][laps->count] / fmax(1, fmax(scored, trained));
    laps->count++;
    out->scored += scored;
    out->trained += trained;
done:
    return status;
}

/* still: the weights stay what they are, so that nothing diverges. */
static cull_status measure(const cull_recipe *recipe, double seconds, bool still,
                           cull_measured *out)
{
    cull_status      status = CULL_OK;
    cull_train_setup setup = recipe->setup;
    cull_trainer    *t = NULL;
    struct laps      laps = {0};
    double           begun = 0, used = 0;
    bool             here = true;

    *out = (cull_measured){.diverged = still};
    setup.workers = 0;
    begun = cull_base_seconds();
    used = cull_base_processor_seconds();
    TRY(cull_trainer_create(&setup, true, &t));
    TRY(cull_trainer_begin(t));
    here = cull_backend_on_host(t->backend);
    out->start = here ? cull_base_processor_seconds() - used : cull_base_seconds() - begun;
    if (still) t->learner.schedule.rate = t->learner.schedule.low = 0;
    t->books.meter.processor = setup.threads == 1;
    TRY(cull_train_guess(setup.loss.kind, t->sets.test, &out->guess));
    TRY(measure_choice(t, out));
    out->tokens = mean_tokens(t);
    /* The first steps make plans and warm caches. */
    for (int i = 0; i < 2; i++) TRY(measure_step(t, &laps, out, false));
    begun = cull_base_seconds();
    used = cull_base_processor_seconds();
    while (laps.count < FEWEST || (laps.count < MOST && cull_base_seconds() - begun < seconds)) {
        status = measure_step(t, &laps, out, true);
        /* The rate is not lowered here as in a run, nor is the size one that is ever trained. */
        if (status == CULL_NOT_FINITE && laps.count >= FEWEST) break;
        TRY(status);
    }
    status = CULL_OK;
    used = cull_base_processor_seconds() - used;
    if (setup.threads == 1 && here) out->waited = fmax(0, 1 - used / (cull_base_seconds() - begun));
    out->pool = t->sets.train->count;
    out->validation = t->sets.validation ? t->sets.validation->count : 0;
    out->test = t->sets.test->count;
    out->classes = t->sets.train->classes;
    out->parameters = t->learner.params->count;
    out->steps = laps.count;
    out->scored /= (double)laps.count;
    out->trained /= (double)laps.count;
    out->load = cull_stat_median(laps.loaded, laps.count);
    out->score = cull_stat_median(laps.of[CULL_PHASE_SCORE], laps.count);
    out->decide = cull_stat_median(laps.of[CULL_PHASE_SELECT], laps.count);
    out->learn = cull_stat_median(laps.of[CULL_PHASE_LEARN], laps.count);
    out->optim = cull_stat_median(laps.of[CULL_PHASE_OPTIM], laps.count);
done:
    cull_trainer_destroy(t);
    return status;
}

/* An arm that diverges here may do well in its run, which selects later or at lower rates; if not,
 * its runs tell. */
cull_status cull_measure(const cull_recipe *recipe, double seconds, cull_measured *out)
{
    cull_status   status = CULL_OK;
    cull_measured room, *given = out;

    SIZED_RESULT(cull_measured, out, room);
    status = measure(recipe, seconds, false, out);
    if (status == CULL_NOT_FINITE) status = measure(recipe, seconds, true, out);
    cull_sized_give(given, out, sizeof *out);
done:
    return status;
}
