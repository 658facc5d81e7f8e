/*
 * bench/bench_transformer.c - whole steps of MiniLM's sizes (6 layers, 384 wide, 12 heads, 30,522
 * tokens, two classes) on made-up texts: forward, backward, AdamW; and selective steps, in JSON
 * lines.
 *
 *     bench_transformer LENGTH [DROPOUT] [THREADS] [ROUNDS]    32 texts of LENGTH tokens; the least
 *                                                              and the median of so many rounds (5)
 *     bench_transformer LENGTH DROPOUT THREADS serve           a full step for every line read, its
 *                                                              milliseconds written back
 *
 * A selective step learns from every other share of the batch: `separate` scores all 32 first,
 * `reuse` goes back through that pass, `remembered` scores nothing. What a strategy's decision
 * takes is not in it. cpu_ms is the processor's time over all threads, the least of the rounds:
 * shares of it hold also beside other work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "common.h"
#include "nn/plan.h"

enum { BATCH = 32, CLASSES = 2, MOST_ROUNDS = 100, PLANS = 8, SHARES = 3 };

static const double shares[SHARES] = {.1, .3, .5};

static const char *const kinds[CULL_LAYER_KINDS] = {
    "dense",   "conv",  "batchnorm", "groupnorm", "layernorm", "activate",
    "pool",    "add",   "concat",    "shortcut",  "dropout",   "loss",
    "convert", "embed", "positions", "attention", "take"};

struct work {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_optim   *optim;
    cull_plan    *full, *score, *keep, *few[SHARES], *kept[SHARES];
    int32_t      *tokens, label[BATCH];
    size_t        chosen[SHARES];
    cull_subset   subset[SHARES];
    cull_batch    batch;
};

static void clear(struct work *w)
{
    cull_nn_plan_destroy(w->full);
    cull_nn_plan_destroy(w->score);
    cull_nn_plan_destroy(w->keep);
    for (int i = 0; i < SHARES; i++) {
        cull_nn_plan_destroy(w->few[i]);
        cull_nn_plan_destroy(w->kept[i]);
        cull_subset_clear(&w->subset[i]);
    }
    cull_optim_destroy(w->optim);
    cull_nn_params_destroy(w->params);
    cull_nn_model_destroy(w->model);
    cull_base_free(w->tokens);
    if (w->backend) cull_backend_close(w->backend);
}

static cull_status plan(struct work *w, cull_plan_mode mode, size_t batch, cull_plan **out)
{
    return cull_nn_plan_create(w->model, w->params, w->backend, mode, batch, (cull_loss){0}, out);
}

static cull_status choose(struct work *w, int i)
{
    cull_status status = CULL_OK;
    size_t      m = (size_t)(shares[i] * BATCH + .5);

    w->chosen[i] = m;
    TRY(cull_subset_resize(&w->subset[i], m));
    for (size_t k = 0; k < m; k++) {
        w->subset[i].index[k] = (uint32_t)(k * BATCH / m);
        w->subset[i].weight[k] = 1;
    }
    TRY(plan(w, CULL_PLAN_LEARN, m, &w->few[i]));
    TRY(plan(w, CULL_PLAN_LEARN_FROM_KEPT, m, &w->kept[i]));
done:
    return status;
}

static cull_status make(struct work *w, size_t length, double dropout, unsigned threads)
{
    static const cull_bert minilm = {.tokens = 30522,
                                     .width = 384,
                                     .layers = 6,
                                     .heads = 12,
                                     .inner = 1536,
                                     .positions = 512,
                                     .kinds = 2,
                                     .epsilon = 1e-12,
                                     .activation = CULL_GELU};
    cull_status            status = CULL_OK;
    cull_optim_options     options = {
            .rule = CULL_OPTIM_ADAMW, .weight_decay = .01, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8};
    cull_model_options sizes = {.channels = 1,
                                .height = (int64_t)length,
                                .width = 1,
                                .classes = CLASSES,
                                .dropout = dropout,
                                .tokens = minilm.tokens,
                                .bert = &minilm};

    TRY(cull_backend_open("cpu", threads, &w->backend));
    TRY(cull_nn_model_by_name("bert", &sizes, &w->model));
    TRY(cull_nn_params_create(w->backend, w->model, CULL_F32, &w->params));
    TRY(cull_nn_params_init(w->params, w->model, 1));
    TRY(cull_optim_create(&options, CULL_F32, w->params->count, w->backend, &w->optim));
    TRY(cull_base_alloc(BATCH * length, sizeof *w->tokens, "texts", &w->tokens));
    for (size_t i = 0; i < BATCH * length; i++) w->tokens[i] = (int32_t)(i * 7919 % 30522);
    for (int i = 0; i < BATCH; i++) w->label[i] = i % CLASSES;
    w->batch = (cull_batch){.count = BATCH,
                            .inputs = w->tokens,
                            .target = w->label,
                            .key = cull_key_make(1, "dropout")};
    TRY(plan(w, CULL_PLAN_LEARN, BATCH, &w->full));
done:
    return status;
}

static cull_status make_selective(struct work *w)
{
    cull_status status = CULL_OK;

    TRY(plan(w, CULL_PLAN_SCORE, BATCH, &w->score));
    TRY(plan(w, CULL_PLAN_SCORE_AND_KEEP, BATCH, &w->keep));
    for (int i = 0; i < SHARES; i++) TRY(choose(w, i));
done:
    return status;
}

static cull_status update(struct work *w)
{
    w->batch.step++;
    return cull_optim_step(w->optim, 2e-5, w->params->value, w->params->gradient);
}

/* ---- the kinds of steps; i: which share ---- */

static cull_status full(struct work *w, int i)
{
    cull_status  status = CULL_OK;
    cull_signals seen;

    (void)i;
    TRY(cull_nn_learn(w->full, &w->batch, &seen));
    TRY(update(w));
done:
    return status;
}

static cull_status remembered(struct work *w, int i)
{
    cull_status  status = CULL_OK;
    cull_batch   few = w->batch;
    cull_signals seen;

    few.count = w->chosen[i];
    TRY(cull_nn_learn(w->few[i], &few, &seen));
    TRY(update(w));
done:
    return status;
}

static cull_status separate(struct work *w, int i)
{
    cull_status  status = CULL_OK;
    cull_signals seen;

    TRY(cull_nn_score(w->score, &w->batch, CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &seen));
    TRY(remembered(w, i));
done:
    return status;
}

static cull_status reuse(struct work *w, int i)
{
    cull_status  status = CULL_OK;
    cull_signals seen;

    TRY(cull_nn_score(w->keep, &w->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
    TRY(cull_nn_learn_kept(w->kept[i], w->keep, &w->subset[i], &seen));
    TRY(update(w));
done:
    return status;
}

struct measured {
    double least, median, spent; /* ms; spent: of the processor, the least */
};

static double spent_ms(void)
{
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

static cull_status measure(struct work *w, cull_status (*step)(struct work *, int), int i,
                           int rounds, struct measured *out)
{
    cull_status status = CULL_OK;
    double      round[MOST_ROUNDS], spent[MOST_ROUNDS];

    TRY(step(w, i));
    for (int r = 0; r < rounds; r++) {
        double begin = cull_base_seconds(), before = spent_ms();

        TRY(step(w, i));
        round[r] = 1e3 * (cull_base_seconds() - begin);
        spent[r] = spent_ms() - before;
    }
    bench_sort(round, (size_t)rounds);
    bench_sort(spent, (size_t)rounds);
    *out = (struct measured){round[0], round[rounds / 2], spent[0]};
done:
    return status;
}

/* The operations of a full step one by one: milliseconds by kind. */
static cull_status phases(struct work *w)
{
    cull_status status = CULL_OK;
    double      forward[CULL_LAYER_KINDS] = {0}, backward[CULL_LAYER_KINDS] = {0}, begin = 0;

    for (int s = 0; s < w->full->steps; s++) {
        cull_step *of = &w->full->step[s];

        begin = cull_base_seconds();
        TRY(of->op->class->forward(of->op, &of->args));
        forward[of->desc.kind] += 1e3 * (cull_base_seconds() - begin);
    }
    for (int s = w->full->steps - 1; s >= 0; s--) {
        cull_step *of = &w->full->step[s];

        if (!cull_plan_home(w->full, of->out)->carries) continue;
        begin = cull_base_seconds();
        TRY(of->op->class->backward(of->op, &of->args));
        backward[of->desc.kind] += 1e3 * (cull_base_seconds() - begin);
    }
    begin = cull_base_seconds();
    TRY(update(w));
    printf("\"phases_ms\":{");
    for (int k = 0; k < CULL_LAYER_KINDS; k++)
        if (forward[k] + backward[k] > 0)
            printf("\"%s forward\":%.2f,\"%s backward\":%.2f,", kinds[k], forward[k], kinds[k],
                   backward[k]);
    printf("\"optimizer\":%.2f}", 1e3 * (cull_base_seconds() - begin));
done:
    return status;
}

static cull_status report(struct work *w, size_t length, double dropout, unsigned threads,
                          int rounds)
{
    static const struct {
        const char *name;
        cull_status (*step)(struct work *, int);
    } passes[] = {{"separate", separate}, {"reuse", reuse}, {"remembered", remembered}};
    cull_status     status = CULL_OK;
    struct measured all, one;

    TRY(measure(w, full, 0, rounds, &all));
    printf("{\"bench\":\"transformer\",\"length\":%zu,\"batch\":%d,\"dropout\":%g,\"threads\":%u,"
           "\"step\":\"full\",\"median_ms\":%.2f,\"least_ms\":%.2f,\"cpu_ms\":%.0f,",
           length, BATCH, dropout, threads, all.median, all.least, all.spent);
    TRY(phases(w));
    printf("}\n");
    TRY(make_selective(w));
    for (size_t p = 0; p < sizeof passes / sizeof *passes; p++)
        for (int i = 0; i < SHARES; i++) {
            TRY(measure(w, passes[p].step, i, rounds, &one));
            printf("{\"bench\":\"transformer\",\"length\":%zu,\"step\":\"%s\",\"keep\":%g,"
                   "\"median_ms\":%.2f,\"least_ms\":%.2f,\"share_of_full\":%.3f,"
                   "\"cpu_ms\":%.0f,\"cpu_share\":%.3f}\n",
                   length, passes[p].name, shares[i], one.median, one.least, one.least / all.least,
                   one.spent, one.spent / all.spent);
            (void)fflush(stdout);
        }
done:
    return status;
}

static cull_status serve(struct work *w)
{
    cull_status status = CULL_OK;
    char        line[16];

    TRY(full(w, 0));
    printf("ready\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double begin = cull_base_seconds();

        TRY(full(w, 0));
        printf("%.4f\n", 1e3 * (cull_base_seconds() - begin));
        (void)fflush(stdout);
    }
done:
    return status;
}

int main(int count, char **argument)
{
    size_t      length = count > 1 ? (size_t)strtoul(argument[1], NULL, 10) : 128;
    double      dropout = count > 2 ? strtod(argument[2], NULL) : .1;
    unsigned    threads = count > 3 ? (unsigned)strtoul(argument[3], NULL, 10) : 2;
    bool        serves = count > 4 && strcmp(argument[4], "serve") == 0;
    int         rounds = count > 4 && !serves ? atoi(argument[4]) : 5;
    struct work w = {0};
    cull_status status = CULL_OK;

    bench_wait_passively(argument);
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 5;
    status = make(&w, length, dropout, threads);
    if (status == CULL_OK)
        status = serves ? serve(&w) : report(&w, length, dropout, threads, rounds);
    if (status != CULL_OK) (void)fprintf(stderr, "bench_transformer: %s\n", cull_last_error());
    clear(&w);
    return status != CULL_OK;
}
