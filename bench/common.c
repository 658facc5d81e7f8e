/* bench/common.c - medians, threads that wait quietly, and a network to be timed. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_sort(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_value);
}

void bench_tell(const char *name, double *seconds, size_t rounds)
{
    bench_sort(seconds, rounds);
    printf("{\"case\":\"%s\",\"us\":%.2f,\"least_us\":%.2f,\"p90_us\":%.2f}\n", name,
           1e6 * seconds[rounds / 2], 1e6 * seconds[0], 1e6 * seconds[rounds * 9 / 10]);
    (void)fflush(stdout);
}

void bench_wait_passively(char **argv)
{
    if (getenv("OMP_WAIT_POLICY")) return;
    (void)setenv("OMP_WAIT_POLICY", "passive", 1);
    (void)execv("/proc/self/exe", argv);
}

cull_status bench_network_make(const char *model, size_t batch, unsigned threads,
                               struct bench_network *out)
{
    cull_status        status = CULL_OK;
    bool               small = strcmp(model, "lenet5") == 0 || strcmp(model, "mlp") == 0;
    int64_t            channels = small ? 1 : 3, extent = small ? 28 : 32;
    cull_model_options options = {
        .channels = channels, .height = extent, .width = extent, .classes = BENCH_CLASSES};
    cull_optim_options sgd = {.rule = CULL_OPTIM_SGD, .momentum = 0.9, .weight_decay = 5e-4};
    cull_key           key = cull_key_make(1, "bench");

    out->row = (size_t)(channels * extent * extent);
    TRY(cull_backend_open("cpu", threads, &out->backend));
    TRY(cull_nn_model_by_name(model, &options, &out->model));
    TRY(cull_nn_params_create(out->backend, out->model, CULL_F32, &out->params));
    TRY(cull_nn_params_init(out->params, out->model, 1));
    TRY(cull_optim_create(&sgd, CULL_F32, out->params->count, out->backend, &out->optim));
    out->inputs = malloc(batch * out->row * sizeof *out->inputs);
    out->label = malloc(batch * sizeof *out->label);
    if (!out->inputs || !out->label) FAIL(CULL_NO_MEMORY, "no memory for a batch");
    for (size_t i = 0; i < batch * out->row; i++)
        out->inputs[i] = (float)(4 * cull_key_uniform(key, 0, i) - 2);
    for (size_t i = 0; i < batch; i++) out->label[i] = (int32_t)(i % BENCH_CLASSES);
done:
    return status;
}

void bench_network_clear(struct bench_network *network)
{
    cull_optim_destroy(network->optim);
    cull_nn_params_destroy(network->params);
    cull_nn_model_destroy(network->model);
    cull_backend_close(network->backend);
    free(network->inputs);
    free(network->label);
}
