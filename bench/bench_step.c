/*
 * bench/bench_step.c - a whole training step (forward, backward, SGD with momentum) of one model on
 * made-up data, as one JSON line with what each kind of layer takes of it.
 *
 *     bench_step                                 a few cases on two threads
 *     bench_step MODEL BATCH THREADS [ROUNDS]    median and least of so many steps (9)
 *     bench_step MODEL BATCH THREADS serve       a step for every line read, its milliseconds
 *                                                written back (bench/vs_pytorch.py)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/nn_dnnl.h"
#include "base/clock.h"
#include "common.h"
#include "nn/plan.h"

enum { MOST_ROUNDS = 1000 };

static const char *const kinds[CULL_LAYER_KINDS] = {
    "dense",   "conv",  "batchnorm", "groupnorm", "layernorm", "activate",
    "pool",    "add",   "concat",    "shortcut",  "dropout",   "loss",
    "convert", "embed", "positions", "attention", "take"};

struct work {
    struct bench_network net;
    cull_plan           *plan;
    cull_batch           batch;
};

static void clear(struct work *w)
{
    cull_nn_plan_destroy(w->plan);
    bench_network_clear(&w->net);
}

static cull_status make(struct work *w, const char *name, size_t batch, unsigned threads)
{
    cull_status           status = CULL_OK;
    struct bench_network *net = &w->net;

    TRY(bench_network_make(name, batch, threads, net));
    TRY(cull_nn_plan_create(net->model, net->params, net->backend, CULL_PLAN_LEARN, batch,
                            (cull_loss){0}, &w->plan));
    w->batch = (cull_batch){.count = batch, .inputs = net->inputs, .target = net->label};
done:
    return status;
}

static cull_status step(struct work *w)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {0};

    TRY(cull_nn_learn(w->plan, &w->batch, &signals));
    TRY(cull_optim_step(w->net.optim, 0.01, w->net.params->value, w->net.params->gradient));
done:
    return status;
}

/* The same operations one by one, with a clock between them: milliseconds by kind. */
static cull_status phases(struct work *w, double forward[], double backward[], double *optimizer)
{
    cull_status status = CULL_OK;
    double      begin = 0;

    for (int s = 0; s < w->plan->steps; s++) {
        cull_step *step_of = &w->plan->step[s];

        begin = cull_base_seconds();
        TRY(step_of->op->class->forward(step_of->op, &step_of->args));
        forward[step_of->desc.kind] += 1e3 * (cull_base_seconds() - begin);
    }
    for (int s = w->plan->steps - 1; s >= 0; s--) {
        cull_step *step_of = &w->plan->step[s];

        if (!cull_plan_home(w->plan, step_of->out)->carries) continue;
        begin = cull_base_seconds();
        TRY(step_of->op->class->backward(step_of->op, &step_of->args));
        backward[step_of->desc.kind] += 1e3 * (cull_base_seconds() - begin);
    }
    begin = cull_base_seconds();
    TRY(cull_optim_step(w->net.optim, 0, w->net.params->value, w->net.params->gradient));
    *optimizer = 1e3 * (cull_base_seconds() - begin);
done:
    return status;
}

static cull_status report(struct work *w, const char *name, unsigned threads, int rounds)
{
    cull_status status = CULL_OK;
    double      round[MOST_ROUNDS], forward[CULL_LAYER_KINDS] = {0};
    double      backward[CULL_LAYER_KINDS] = {0}, optimizer = 0;

    TRY(step(w));
    for (int r = 0; r < rounds; r++) {
        double begin = cull_base_seconds();
        TRY(step(w));
        round[r] = 1e3 * (cull_base_seconds() - begin);
    }
    bench_sort(round, (size_t)rounds);
    TRY(phases(w, forward, backward, &optimizer));
    printf("{\"bench\":\"step\",\"model\":\"%s\",\"batch\":%zu,\"threads\":%u,\"onednn\":%d,"
           "\"median_ms\":%.2f,\"least_ms\":%.2f,\"phases_ms\":{",
           name, w->batch.count, threads, cull_dnnl_major(), round[rounds / 2], round[0]);
    for (int k = 0; k < CULL_LAYER_KINDS; k++)
        if (forward[k] + backward[k] > 0)
            printf("\"%s forward\":%.2f,\"%s backward\":%.2f,", kinds[k], forward[k], kinds[k],
                   backward[k]);
    printf("\"optimizer\":%.2f}}\n", optimizer);
done:
    return status;
}

static cull_status serve(struct work *w)
{
    cull_status status = CULL_OK;
    char        line[16];

    TRY(step(w));
    printf("ready\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double begin = cull_base_seconds();

        TRY(step(w));
        printf("%.4f\n", 1e3 * (cull_base_seconds() - begin));
        (void)fflush(stdout);
    }
done:
    return status;
}

static int run(const char *name, size_t batch, unsigned threads, int rounds, bool serves)
{
    struct work w = {0};
    int         failed = 1;

    if (make(&w, name, batch, threads) == CULL_OK)
        failed = (serves ? serve(&w) : report(&w, name, threads, rounds)) != CULL_OK;
    if (failed) (void)fprintf(stderr, "bench_step: %s\n", cull_last_error());
    clear(&w);
    return failed;
}

int main(int argc, char **argv)
{
    bool serves = argc > 4 && strcmp(argv[4], "serve") == 0;
    int  rounds = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 9;

    if (argc > 1 && argc < 4)
        return fprintf(stderr, "bench_step [MODEL BATCH THREADS [ROUNDS|serve]]\n"), 2;
    bench_wait_passively(argv);
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 9;
    if (argc == 1)
        return run("lenet5", 128, 2, rounds, false) | run("resnet20", 128, 2, rounds, false) |
               run("wrn-16-4", 39, 2, rounds, false) | run("resnet18", 39, 2, rounds, false);
    return run(argv[1], strtoul(argv[2], NULL, 10), (unsigned)strtoul(argv[3], NULL, 10), rounds,
               serves);
}
