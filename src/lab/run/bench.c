/* lab/run/bench.c - where the time of a step goes: its parts alone, repeated, by their medians. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cull_lab.h"
#include "lab/recipe/recipe.h"
#include "records/judge/statistics.h"
#include "train/network/tray.h"

enum { PARTS = 4 };

struct work {
    cull_trainer  *t;
    cull_plan     *score, *learn;
    cull_data_form form;
    cull_tray      tray;
    double        *seconds[PARTS]; /* [rounds]: load, score, learn, optim */
};

static void clear_work(struct work *w)
{
    for (size_t i = 0; i < PARTS; i++) cull_base_free(w->seconds[i]);
    cull_tray_clear(&w->tray);
    cull_trainer_destroy(w->t);
}

static cull_status prepare(struct work *w, const cull_recipe *recipe, size_t rounds)
{
    const cull_train_setup *s = &recipe->setup;
    cull_status             status = CULL_OK;

    TRY(cull_trainer_create(s, true, &w->t));
    TRY(cull_trainer_begin(w->t));
    TRY(cull_learner_plan(&w->t->learner, CULL_PLAN_SCORE, s->batch, 0, &w->score));
    TRY(cull_learner_plan(&w->t->learner, CULL_PLAN_LEARN, s->batch, 0, &w->learn));
    TRY(cull_plan_form(w->learn, &w->form));
    for (size_t i = 0; i < PARTS; i++)
        TRY(cull_base_alloc(rounds, sizeof(double), "a benchmark", &w->seconds[i]));
    w->tray = (cull_tray){.backend = w->t->backend,
                          .row = cull_resident_row(&w->t->sets.train_at),
                          .loss = s->loss.kind,
                          .outputs = w->t->learner.model->classes,
                          .dtype = CULL_F32};
    TRY(cull_tray_room(&w->tray, s->batch));
    for (size_t i = 0; i < s->batch; i++) {
        w->tray.here.place[i] = (uint32_t)i;
        cull_tray_aim_at(&w->tray, i, w->t->sets.train, i);
    }
done:
    return status;
}

/* Seconds since the last, when all that was asked for is done. */
static cull_status lap(const struct work *w, double *mark, double *passed)
{
    cull_status status = cull_backend_wait(w->t->backend);
    double      now = cull_base_seconds();

    *passed = now - *mark;
    *mark = now;
    return status;
}

static cull_status measure(struct work *w, size_t round, bool keep)
{
    cull_status   status = CULL_OK;
    cull_trainer *t = w->t;
    cull_signals  signals = {0};
    cull_batch    batch = {0};
    size_t        count = t->setup->batch;
    double        mark = cull_base_seconds(), passed[PARTS] = {0};

    TRY(cull_data_transform(t->sets.train, t->setup->augments ? &t->setup->augment : NULL, w->form,
                            round, w->tray.here.place, count, w->tray.here.inputs));
    TRY(cull_tray_send(&w->tray, count, &batch));
    batch.weight = NULL;
    TRY(lap(w, &mark, &passed[0]));
    TRY(cull_nn_score(w->score, &batch, CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &signals));
    TRY(lap(w, &mark, &passed[1]));
    TRY(cull_nn_learn(w->learn, &batch, &signals));
    TRY(lap(w, &mark, &passed[2]));
    TRY(cull_optim_step(t->learner.optim, cull_schedule_rate(&t->learner.schedule, 0),
                        t->learner.params->value, t->learner.params->gradient));
    TRY(lap(w, &mark, &passed[3]));
    for (size_t i = 0; keep && i < PARTS; i++) w->seconds[i][round] = passed[i];
done:
    return status;
}

static double median(double *seconds, size_t rounds, double *spread)
{
    double middle = cull_stat_median(seconds, rounds);

    *spread = seconds[rounds - 1] - seconds[0];
    return middle;
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
        .batch = recipe->setup.batch, .rounds = rounds, .parameters = w.t->learner.params->count};
    out->load = median(w.seconds[0], rounds, &ignored);
    out->score = median(w.seconds[1], rounds, &out->score_spread);
    out->learn = median(w.seconds[2], rounds, &out->learn_spread);
    out->optim = median(w.seconds[3], rounds, &out->optim_spread);
done:
    clear_work(&w);
    return status;
}
