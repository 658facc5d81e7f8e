/*
 * bench/bench_selective_step.c - what a selective training step costs, as a share of a full one.
 *
 *     bench_selective_step [ROUNDS [THREADS [MODEL]]]      (7 rounds, 2 threads, both models)
 *
 * Of M = 128 examples m = 38 and 12 are trained. All is timed in one run, in alternating rounds,
 * and medians count; f is the share of a forward pass over M:
 *
 *     full          learn M, optimizer
 *     forward       score M                                              f <= .36
 *     separate      score M, decide, gather, learn m, optimizer          <= f + m/M + .03
 *     int8          the same with score M in int8: forward less than f, separate within its limit
 *     reuse         score and keep M, decide, gather and learn from
 *                   what was kept of m, optimizer                        <= f + (1 - f) m/M + .04
 *     remembered    decide by remembered losses, gather, learn m,
 *                   optimizer                                            <= m/M + .04
 *     decide        from signals to subset                               <= .01
 *
 * One JSON line each. Before anything is timed, losses and the last layer's gradient are checked
 * against what the signals say they must be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/nn_dnnl.h"
#include "base/clock.h"
#include "common.h"

enum { BATCH = 128, MOST_ROUNDS = 99 };
enum { SHARES = 2, SB = 0, GRADMATCH, REMEMBERED, STRATEGIES };

static const size_t      counts[SHARES] = {38, 12};
static const char *const strategies[STRATEGIES] = {"sb", "gradmatch", "sb remembered"};

typedef double times[MOST_ROUNDS]; /* milliseconds */

struct work {
    const char          *name;
    unsigned             threads;
    struct bench_network net;
    cull_plan           *full, *score, *int8, *keep, *learn[SHARES], *kept[SHARES];
    cull_selector       *selector[STRATEGIES];
    cull_subset          subset;
    float               *gathered;
    int32_t              gathered_label[BATCH];
    uint64_t             step;
    times                full_ms, forward_ms, int8_ms;
    times                separate_ms[SHARES][STRATEGIES]; /* for REMEMBERED without the pass */
    times                separate_int8_ms[SHARES][STRATEGIES];
    times                reuse_ms[SHARES][STRATEGIES];
    times                decide_ms[SHARES][STRATEGIES];
};

static void clear(struct work *w)
{
    cull_subset_clear(&w->subset);
    for (int s = 0; s < STRATEGIES; s++) cull_selector_destroy(w->selector[s]);
    for (int i = 0; i < SHARES; i++) cull_nn_plan_destroy(w->learn[i]);
    for (int i = 0; i < SHARES; i++) cull_nn_plan_destroy(w->kept[i]);
    cull_nn_plan_destroy(w->full);
    cull_nn_plan_destroy(w->score);
    cull_nn_plan_destroy(w->int8);
    cull_nn_plan_destroy(w->keep);
    bench_network_clear(&w->net);
    free(w->gathered);
}

static cull_status make_plan(struct work *w, cull_plan_mode mode, size_t batch, cull_plan **out)
{
    return cull_nn_plan_create(w->net.model, w->net.params, w->net.backend, mode, batch,
                               (cull_loss){0}, out);
}

static cull_status make(struct work *w)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {.pool = BATCH, .batch = BATCH, .seed = 1};

    TRY(bench_network_make(w->name, BATCH, w->threads, &w->net));
    TRY(make_plan(w, CULL_PLAN_LEARN, BATCH, &w->full));
    TRY(make_plan(w, CULL_PLAN_SCORE, BATCH, &w->score));
    TRY(make_plan(w, CULL_PLAN_SCORE_INT8, BATCH, &w->int8));
    TRY(make_plan(w, CULL_PLAN_SCORE_AND_KEEP, BATCH, &w->keep));
    for (int i = 0; i < SHARES; i++) {
        TRY(make_plan(w, CULL_PLAN_LEARN, counts[i], &w->learn[i]));
        TRY(make_plan(w, CULL_PLAN_LEARN_FROM_KEPT, counts[i], &w->kept[i]));
    }
    setting.backend = w->net.backend;
    for (int s = 0; s < STRATEGIES; s++)
        TRY(cull_selector_create(strategies[s], NULL, 0, &setting, &w->selector[s]));
    w->gathered = malloc(BATCH * w->net.row * sizeof *w->gathered);
    if (!w->gathered) FAIL(CULL_NO_MEMORY, "no memory for a batch");
done:
    return status;
}

static cull_batch whole_batch(const struct work *w)
{
    return (cull_batch){
        .count = BATCH, .inputs = w->net.inputs, .target = w->net.label, .step = w->step};
}

static cull_status optimize(struct work *w)
{
    return cull_optim_step(w->net.optim, 0.001, w->net.params->value, w->net.params->gradient);
}

static cull_status full_step(struct work *w, cull_signals *trained)
{
    cull_status status = CULL_OK;
    cull_batch  batch = whole_batch(w);

    TRY(cull_nn_learn(w->full, &batch, trained));
    TRY(optimize(w));
done:
    return status;
}

static cull_status forward(struct work *w, cull_plan *plan, cull_signals *signals)
{
    cull_batch batch = whole_batch(w);
    unsigned   all = CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_H | CULL_SIGNAL_P;

    return cull_nn_score(plan, &batch, CULL_STATS_UPDATE, all, signals);
}

static cull_status decide(struct work *w, int share, int strategy, cull_signals *signals,
                          double *seconds)
{
    cull_status status = CULL_OK;
    double      begin = cull_base_seconds();

    signals->step = w->step;
    TRY(cull_select(w->selector[strategy], signals, counts[share], &w->subset));
    if (w->subset.count != counts[share])
        FAIL(CULL_BAD_ARGUMENT, "%s chose %zu", strategies[strategy], w->subset.count);
done:
    *seconds = cull_base_seconds() - begin;
    return status;
}

/* Learn the chosen rows from their inputs. */
static cull_status learn_gathered(struct work *w, int share, cull_signals *trained)
{
    cull_batch batch = {.count = counts[share],
                        .inputs = w->gathered,
                        .target = w->gathered_label,
                        .weight = w->subset.weight,
                        .place = w->subset.place,
                        .step = w->step};
    size_t     row = w->net.row;

    for (size_t i = 0; i < counts[share]; i++) {
        size_t from = w->subset.index[i];

        memcpy(w->gathered + i * row, w->net.inputs + from * row, row * sizeof *w->net.inputs);
        w->gathered_label[i] = w->net.label[from];
    }
    return cull_nn_learn(w->learn[share], &batch, trained);
}

static cull_status separate_step(struct work *w, cull_plan *score, int share, int strategy,
                                 double *decided, cull_signals *trained)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {.count = BATCH}; /* all that remembered losses need */

    if (strategy != REMEMBERED) TRY(forward(w, score, &signals));
    TRY(decide(w, share, strategy, &signals, decided));
    TRY(learn_gathered(w, share, trained));
    TRY(optimize(w));
    if (strategy == REMEMBERED) TRY(cull_observe(w->selector[strategy], trained));
done:
    return status;
}

static cull_status reuse_step(struct work *w, int share, int strategy, double *decided,
                              cull_signals *trained)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {0};

    TRY(forward(w, w->keep, &signals));
    TRY(decide(w, share, strategy, &signals, decided));
    TRY(cull_nn_learn_kept(w->kept[share], w->keep, &w->subset, trained));
    TRY(optimize(w));
done:
    return status;
}

/* ---- right first ---- */

/* The last layer's gradient is (1/m) sum w p (x) h; h and p are rows of what scored or learned. */
static cull_status check_gradient(const struct work *w, const cull_signals *seen, size_t m,
                                  const uint32_t *row, const double *weight)
{
    const cull_node *last = &w->net.model->node[w->net.model->last_dense];
    const float     *got = (const float *)w->net.params->gradient + last->param_at[0];
    const float     *h = seen->h.data, *p = seen->p.data;
    size_t           features = last->param_count[0] / BENCH_CLASSES;
    double           error = 0, size = 0;

    for (size_t c = 0; c < BENCH_CLASSES; c++) {
        for (size_t j = 0; j < features; j++) {
            double want = 0;

            for (size_t i = 0; i < m; i++) {
                size_t r = row ? row[i] : i;
                want += (weight ? weight[i] : 1) / (double)m * (double)p[r * BENCH_CLASSES + c] *
                        (double)h[r * features + j];
            }
            error += pow((double)got[c * features + j] - want, 2);
            size += want * want;
        }
    }
    if (size > 0 && error <= 1e-10 * size) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "the last layer's gradient is off by %g of %g", sqrt(error),
                     sqrt(size));
}

static cull_status check_losses(const double *got, const double *want, size_t m,
                                const uint32_t *row)
{
    for (size_t i = 0; i < m; i++)
        if (!(fabs(got[i] - want[row ? row[i] : i]) <= 1e-5 * fabs(want[row ? row[i] : i]) + 1e-7))
            return cull_fail(CULL_BAD_ARGUMENT, "the loss of row %zu is %g, not %g", i, got[i],
                             want[row ? row[i] : i]);
    return CULL_OK;
}

static cull_status check(struct work *w)
{
    cull_status  status = CULL_OK;
    cull_batch   batch = whole_batch(w);
    cull_signals scored = {0}, kept = {0}, trained = {0};
    double       unused = 0;

    TRY(forward(w, w->score, &scored));
    TRY(forward(w, w->keep, &kept));
    TRY(check_losses(kept.loss.data, scored.loss.data, BATCH, NULL));
    TRY(cull_nn_learn(w->full, &batch, &trained));
    TRY(check_losses(trained.loss.data, scored.loss.data, BATCH, NULL));
    TRY(check_gradient(w, &trained, BATCH, NULL, NULL));
    for (int i = 0; i < SHARES; i++) {
        for (int s = 0; s <= GRADMATCH; s++) {
            TRY(decide(w, i, s, &kept, &unused));
            TRY(cull_nn_learn_kept(w->kept[i], w->keep, &w->subset, &trained));
            TRY(check_losses(trained.loss.data, scored.loss.data, counts[i], w->subset.index));
            TRY(check_gradient(w, &scored, counts[i], w->subset.index, w->subset.weight));
            TRY(learn_gathered(w, i, &trained));
            TRY(check_gradient(w, &trained, counts[i], NULL, w->subset.weight));
        }
    }
done:
    return status;
}

/* ---- then fast ---- */

static cull_status time_round(struct work *w, int r)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {0};
    double       begin = cull_base_seconds(), decided = 0;

    TRY(full_step(w, &signals));
    w->full_ms[r] = 1e3 * (cull_base_seconds() - begin);
    begin = cull_base_seconds();
    TRY(forward(w, w->score, &signals));
    w->forward_ms[r] = 1e3 * (cull_base_seconds() - begin);
    begin = cull_base_seconds();
    TRY(forward(w, w->int8, &signals));
    w->int8_ms[r] = 1e3 * (cull_base_seconds() - begin);
    for (int i = 0; i < SHARES; i++) {
        for (int s = 0; s < STRATEGIES; s++) {
            w->step++;
            begin = cull_base_seconds();
            TRY(separate_step(w, w->score, i, s, &decided, &signals));
            w->separate_ms[i][s][r] = 1e3 * (cull_base_seconds() - begin);
            w->decide_ms[i][s][r] = 1e3 * decided;
            if (s == REMEMBERED) continue;
            begin = cull_base_seconds();
            TRY(separate_step(w, w->int8, i, s, &decided, &signals));
            w->separate_int8_ms[i][s][r] = 1e3 * (cull_base_seconds() - begin);
            begin = cull_base_seconds();
            TRY(reuse_step(w, i, s, &decided, &signals));
            w->reuse_ms[i][s][r] = 1e3 * (cull_base_seconds() - begin);
        }
    }
done:
    return status;
}

static double median(double *ms, int rounds)
{
    bench_sort(ms, (size_t)rounds);
    return rounds % 2 ? ms[rounds / 2] : (ms[rounds / 2 - 1] + ms[rounds / 2]) / 2;
}

/* One line; limit is a share of the full step. */
static void tell(const struct work *w, const char *what, double ms, double full, double limit)
{
    printf("{\"bench\":\"selective_step\",\"case\":\"%s %s\",\"threads\":%u,\"onednn\":%d,"
           "\"ms\":%.3f,\"share\":%.4f,\"limit\":%.4f,\"met\":%s}\n",
           w->name, what, w->threads, cull_dnnl_major(), ms, ms / full, limit,
           ms / full <= limit ? "true" : "false");
    (void)fflush(stdout);
}

static void tell_share(struct work *w, int i, int rounds, double full, double f)
{
    double part = (double)counts[i] / BATCH;
    char   what[96];

    for (int s = 0; s < STRATEGIES; s++) {
        double limit = s == REMEMBERED ? part + 0.04 : f + part + 0.03;

        (void)snprintf(what, sizeof what, "m=%zu %s%s", counts[i],
                       s == REMEMBERED ? "" : "separate ", strategies[s]);
        tell(w, what, median(w->separate_ms[i][s], rounds), full, limit);
        (void)snprintf(what, sizeof what, "m=%zu decide %s", counts[i], strategies[s]);
        tell(w, what, median(w->decide_ms[i][s], rounds), full, 0.01);
        if (s == REMEMBERED) continue;
        (void)snprintf(what, sizeof what, "m=%zu separate int8 %s", counts[i], strategies[s]);
        tell(w, what, median(w->separate_int8_ms[i][s], rounds), full, limit);
        (void)snprintf(what, sizeof what, "m=%zu reuse %s", counts[i], strategies[s]);
        tell(w, what, median(w->reuse_ms[i][s], rounds), full, f + (1 - f) * part + 0.04);
    }
}

static cull_status measure(struct work *w, int rounds)
{
    cull_status status = CULL_OK;
    double      full = 0, f = 0;

    TRY(make(w));
    TRY(check(w));
    TRY(time_round(w, 0)); /* warms up */
    for (int r = 0; r < rounds; r++) TRY(time_round(w, r));
    full = median(w->full_ms, rounds);
    f = median(w->forward_ms, rounds) / full;
    tell(w, "full", full, full, 1);
    tell(w, "forward", f * full, full, 0.36);
    tell(w, "forward int8", median(w->int8_ms, rounds), full, f);
    for (int i = 0; i < SHARES; i++) tell_share(w, i, rounds, full, f);
done:
    return status;
}

int main(int argc, char **argv)
{
    static const char *const models[] = {"resnet18", "wrn-16-4"};
    int                      rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 7;
    unsigned                 threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2;
    int                      failed = 0;

    bench_wait_passively(argv);
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 7;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        static struct work w;

        if (argc > 3 && strcmp(argv[3], models[i]) != 0) continue;
        w = (struct work){.name = models[i], .threads = threads};
        if (measure(&w, rounds) != CULL_OK)
            failed = fprintf(stderr, "%s: wrong or failed: %s\n", w.name, cull_last_error());
        clear(&w);
    }
    return failed != 0;
}
