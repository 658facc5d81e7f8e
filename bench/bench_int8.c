/*
 * bench/bench_int8.c - scoring in int8 against scoring in float32, on real pictures.
 *
 *     bench_int8 [DATA [MODEL [STEPS [ROUNDS]]]]      (cifar10, resnet20, 50 steps, 5 rounds)
 *
 * The network is trained plainly for STEPS steps of 128; before and behind, ten batches are scored
 * in both ways by batch statistics. One JSON line each says how far the losses' ranks agree
 * (Spearman's coefficient, mean and least of the batches), which share of 38 picks of `sb` and
 * `gradmatch` is the same, and of the 13 largest losses; and what the two passes take, medians of
 * alternating rounds. Data are found as recipes find them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "common.h"
#include "lab/recipe/recipe.h"
#include "train/train.h"

enum { BATCH = 128, BATCHES = 10, PICKS = 38, HARDEST = 13, MOST_ROUNDS = 99, RULES = 2 };
enum { PLAIN, INT8, KINDS };

static const char *const rules[RULES] = {"sb", "gradmatch"};

struct work {
    cull_recipe   *recipe;
    cull_trainer  *t;
    cull_needs     needs;
    cull_plan     *score[KINDS], *learn;
    cull_selector *selector[RULES][KINDS];
    cull_subset    subset[KINDS];
    double         ms[KINDS][MOST_ROUNDS];
};

struct agreement {
    double ranks, least, hardest, picks[RULES];
};

static void clear(struct work *w)
{
    for (int i = 0; i < RULES; i++)
        for (int k = 0; k < KINDS; k++) cull_selector_destroy(w->selector[i][k]);
    for (int k = 0; k < KINDS; k++) cull_subset_clear(&w->subset[k]);
    cull_trainer_destroy(w->t);
    cull_recipe_close(w->recipe);
}

static cull_status make(struct work *w, const char *data, const char *model)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {.batch = BATCH, .seed = 1};
    cull_option  changes[] = {{"data.name", data},
                              {"model.name", model},
                              {"select.strategy", "full"},
                              {"train.batch", "128"},
                              {"train.threads", "2"}};

    TRY(cull_recipe_open(NULL, changes, sizeof changes / sizeof *changes, &w->recipe));
    TRY(cull_trainer_create(&w->recipe->setup, true, &w->t));
    TRY(cull_learner_plan(&w->t->learner, CULL_PLAN_SCORE, BATCH, 0, &w->score[PLAIN]));
    TRY(cull_learner_plan(&w->t->learner, CULL_PLAN_SCORE_INT8, BATCH, 0, &w->score[INT8]));
    TRY(cull_learner_plan(&w->t->learner, CULL_PLAN_LEARN, BATCH, 0, &w->learn));
    setting.pool = w->t->sets.train->count;
    setting.backend = w->t->backend;
    for (int i = 0; i < RULES; i++)
        for (int k = 0; k < KINDS; k++)
            TRY(cull_selector_create(rules[i], NULL, 0, &setting, &w->selector[i][k]));
    TRY(cull_train_begin_epoch(w->t, &w->needs));
done:
    return status;
}

/* Batch `number` of the epoch. */
static cull_status take(struct work *w, size_t number, cull_batch *out)
{
    cull_sel_step   step = {.needs = w->needs, .count = BATCH};
    cull_sel_course course = cull_train_course(w->t);

    course.at = number * BATCH;
    *out = (cull_batch){.count = BATCH};
    return cull_feed_take(&w->t->feed, &step, &course, out);
}

static cull_status score(struct work *w, int kind, cull_batch batch, cull_signals *signals)
{
    return cull_nn_score(w->score[kind], &batch, CULL_STATS_BATCH,
                         CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_H | CULL_SIGNAL_P,
                         signals);
}

/* How many losses are smaller than each. */
static void rank(const double *loss, int *out)
{
    for (int i = 0; i < BATCH; i++) {
        out[i] = 0;
        for (int j = 0; j < BATCH; j++) out[i] += loss[j] < loss[i];
    }
}

static void compare_losses(const double *a, const double *b, struct agreement *out)
{
    int    one[BATCH], other[BATCH], both = 0;
    double sum = 0, n = BATCH, ranks = 0;

    rank(a, one);
    rank(b, other);
    for (int i = 0; i < BATCH; i++) {
        sum += (one[i] - other[i]) * (one[i] - other[i]);
        both += one[i] >= BATCH - HARDEST && other[i] >= BATCH - HARDEST;
    }
    ranks = 1 - 6 * sum / (n * (n * n - 1));
    out->ranks += ranks / BATCHES;
    out->least = fmin(out->least, ranks);
    out->hardest += (double)both / HARDEST / BATCHES;
}

static cull_status compare_picks(struct work *w, int rule, cull_signals signals[KINDS],
                                 struct agreement *out)
{
    cull_status status = CULL_OK;
    bool        chosen[BATCH] = {false};
    int         both = 0;

    for (int k = 0; k < KINDS; k++)
        TRY(cull_select(w->selector[rule][k], &signals[k], PICKS, &w->subset[k]));
    for (size_t i = 0; i < w->subset[PLAIN].count; i++) chosen[w->subset[PLAIN].index[i]] = true;
    for (size_t i = 0; i < w->subset[INT8].count; i++) both += chosen[w->subset[INT8].index[i]];
    out->picks[rule] += (double)both / PICKS / BATCHES;
done:
    return status;
}

static cull_status compare(struct work *w, uint64_t *step, struct agreement *out)
{
    cull_status  status = CULL_OK;
    cull_signals signals[KINDS] = {{0}};
    cull_batch   batch = {0};

    *out = (struct agreement){.least = 1};
    for (size_t b = 0; b < BATCHES; b++, (*step)++) {
        TRY(take(w, b, &batch));
        for (int k = 0; k < KINDS; k++) {
            TRY(score(w, k, batch, &signals[k]));
            signals[k].step = *step;
        }
        compare_losses(signals[PLAIN].loss.data, signals[INT8].loss.data, out);
        for (int i = 0; i < RULES; i++) TRY(compare_picks(w, i, signals, out));
    }
done:
    return status;
}

static cull_status learn(struct work *w, size_t steps)
{
    cull_status  status = CULL_OK;
    cull_batch   batch = {0};
    cull_signals trained = {0};

    for (size_t i = 0; i < steps; i++) {
        TRY(take(w, BATCHES + i, &batch));
        TRY(cull_nn_learn(w->learn, &batch, &trained));
        TRY(cull_optim_step(w->t->learner.optim, 0.05, w->t->learner.params->value,
                            w->t->learner.params->gradient));
    }
done:
    return status;
}

static cull_status measure(struct work *w, int rounds, double median[KINDS])
{
    cull_status  status = CULL_OK;
    cull_batch   batch = {0};
    cull_signals signals = {0};

    TRY(take(w, 0, &batch));
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < KINDS; k++) {
            double begin = cull_base_seconds();

            TRY(score(w, k, batch, &signals));
            w->ms[k][r] = 1e3 * (cull_base_seconds() - begin);
        }
    }
    for (int k = 0; k < KINDS; k++) {
        bench_sort(w->ms[k], (size_t)rounds);
        median[k] = w->ms[k][rounds / 2];
    }
done:
    return status;
}

static void tell(const struct work *w, size_t steps, const struct agreement *a)
{
    printf("{\"bench\":\"int8\",\"case\":\"%s %s, %zu steps\",\"spearman\":%.5f,\"least\":%.5f,"
           "\"hardest\":%.3f,\"sb\":%.3f,\"gradmatch\":%.3f}\n",
           w->t->setup->model, w->t->setup->data, steps, a->ranks, a->least, a->hardest,
           a->picks[0], a->picks[1]);
    (void)fflush(stdout);
}

static cull_status run(struct work *w, size_t steps, int rounds)
{
    cull_status      status = CULL_OK;
    struct agreement agreement = {0};
    double           median[KINDS] = {0};
    uint64_t         step = 0;

    TRY(compare(w, &step, &agreement));
    tell(w, 0, &agreement);
    TRY(measure(w, rounds, median));
    printf("{\"bench\":\"int8\",\"case\":\"%s %s, score %d\",\"float32_ms\":%.2f,\"int8_ms\":%.2f,"
           "\"share\":%.3f}\n",
           w->t->setup->model, w->t->setup->data, BATCH, median[PLAIN], median[INT8],
           median[INT8] / median[PLAIN]);
    (void)fflush(stdout);
    if (steps == 0) goto done;
    TRY(learn(w, steps));
    TRY(compare(w, &step, &agreement));
    tell(w, steps, &agreement);
done:
    return status;
}

int main(int argc, char **argv)
{
    struct work w = {0};
    const char *data = argc > 1 ? argv[1] : "cifar10", *model = argc > 2 ? argv[2] : "resnet20";
    size_t      steps = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 50;
    int         rounds = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 5, failed = 0;

    bench_wait_passively(argv);
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 5;
    if (make(&w, data, model) != CULL_OK || run(&w, steps, rounds) != CULL_OK)
        failed = fprintf(stderr, "%s\n", cull_last_error());
    clear(&w);
    return failed != 0;
}
