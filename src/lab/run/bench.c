/* lab/run/bench.c - where the time of a step goes: its parts alone, repeated, by their medians. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cull_lab.h"
#include "lab/recipe/recipe.h"

enum { PARTS = 4 };

struct work {
    cull_trainer  *t;
    cull_plan     *score, *learn;
    cull_data_form form;
    uint32_t      *places;
    int32_t       *labels;
    float         *inputs;
    cull_batch     batch;
    double        *seconds[PARTS]; /* [rounds]: load, score, learn, optim */
};

static void clear(struct work *w)
{
    for (size_t i = 0; i < PARTS; i++) cull_base_free(w->seconds[i]);
    cull_base_free(w->places);
    cull_base_free(w->labels);
    cull_base_free_aligned(w->inputs);
    cull_trainer_destroy(w->t);
}

static cull_status prepare(struct work *w, const cull_recipe *recipe, size_t rounds)
{
    const cull_train_setup *s = &recipe->setup;
    cull_status             status = CULL_OK;

    TRY(cull_trainer_create(s, true, &w->t));
    TRY(cull_trainer_begin(w->t));
    TRY(cull_trainer_plan(w->t, CULL_PLAN_SCORE, s->batch, &w->score));
    TRY(cull_trainer_plan(w->t, CULL_PLAN_LEARN, s->batch, &w->learn));
    TRY(cull_trainer_form(w->learn, &w->form));
    for (size_t i = 0; i < PARTS; i++)
        TRY(cull_base_alloc(rounds, sizeof(double), "a benchmark", &w->seconds[i]));
    TRY(cull_base_alloc(s->batch, sizeof *w->places, "a benchmark", &w->places));
    TRY(cull_base_alloc(s->batch, sizeof *w->labels, "a benchmark", &w->labels));
    TRY(cull_base_alloc_aligned(s->batch * cull_data_row(w->t->train), sizeof *w->inputs,
                                "a benchmark", &w->inputs));
    for (size_t i = 0; i < s->batch; i++) {
        w->places[i] = (uint32_t)i;
        w->labels[i] = w->t->train->labels[i];
    }
    w->batch = (cull_batch){
        .count = s->batch, .inputs = w->inputs, .label = w->labels, .place = w->places};
done:
    return status;
}

static double lap(double *mark)
{
    double now = cull_base_seconds(), passed = now - *mark;

    *mark = now;
    return passed;
}

static cull_status measure(struct work *w, size_t round, bool keep)
{
    cull_status   status = CULL_OK;
    cull_trainer *t = w->t;
    cull_signals  signals = {0};
    double        mark = cull_base_seconds(), passed[PARTS] = {0};

    TRY(cull_data_transform(t->train, t->setup->augments ? &t->setup->augment : NULL, w->form,
                            round, w->places, w->batch.count, w->inputs));
    passed[0] = lap(&mark);
    TRY(cull_nn_score(w->score, &w->batch, CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &signals));
    passed[1] = lap(&mark);
    TRY(cull_nn_learn(w->learn, &w->batch, &signals));
    passed[2] = lap(&mark);
    TRY(cull_optim_step(t->optim, cull_schedule_rate(&t->schedule, 0), t->params->value,
                        t->params->gradient));
    passed[3] = lap(&mark);
    for (size_t i = 0; keep && i < PARTS; i++) w->seconds[i][round] = passed[i];
done:
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *seconds, size_t rounds, double *spread)
{
    qsort(seconds, rounds, sizeof *seconds, ascending);
    *spread = seconds[rounds - 1] - seconds[0];
    return (seconds[(rounds - 1) / 2] + seconds[rounds / 2]) / 2;
}

cull_status cull_bench(const cull_recipe *recipe, size_t rounds, cull_bench_result *out)
{
    cull_status status = CULL_OK;
    struct work w = {0};
    double      ignored = 0;

    if (rounds < 1 || rounds > 1000000)
        FAIL(CULL_BAD_ARGUMENT, "a benchmark of %zu rounds", rounds);
    TRY(prepare(&w, recipe, rounds));
    TRY(measure(&w, 0, false));
    for (size_t i = 0; i < rounds; i++) TRY(measure(&w, i, true));
    *out = (cull_bench_result){
        .batch = recipe->setup.batch, .rounds = rounds, .parameters = w.t->params->count};
    out->load = median(w.seconds[0], rounds, &ignored);
    out->score = median(w.seconds[1], rounds, &out->score_spread);
    out->learn = median(w.seconds[2], rounds, &out->learn_spread);
    out->optim = median(w.seconds[3], rounds, &out->optim_spread);
done:
    clear(&w);
    return status;
}
