/*
 * bench/bench_gradmatch.c - one whole `gradmatch` decision from float32 H and P, on one thread:
 * checks, Gram matrix, pursuit, weights. The parts are timed beside it by themselves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cull.h"
#include "tensor/tensor.h"

enum { M = 128, D = 512, C = 10, KEPT = 38, ROUNDS = 1001 };

struct work {
    float            h[M * D], p[M * C], k[M * M];
    double           t[M], b2;
    cull_signals     signals;
    cull_selector   *selector;
    cull_subset      subset;
    cull_backend    *backend;
    cull_omp_problem problem;
    uint32_t         index[KEPT];
    double           weight[KEPT];
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double normal(cull_key key, uint64_t stream, uint64_t i)
{
    double radius = sqrt(-2 * log(cull_key_uniform(key, 2 * stream, i)));
    return radius * cos(6.283185307179586 * cull_key_uniform(key, 2 * stream + 1, i));
}

/* Features as a ReLU leaves them; P = softmax - onehot of a half-trained network. */
static void fill(struct work *w)
{
    cull_key key = cull_key_make(1, "bench");

    for (size_t i = 0; i < (size_t)M * D; i++) w->h[i] = (float)fmax(0, normal(key, 0, i));
    for (size_t i = 0; i < M; i++) {
        double z[C], sum = 0;
        for (size_t c = 0; c < C; c++)
            sum += z[c] = exp(normal(key, 1, i * C + c) + 2 * (c == i % C));
        for (size_t c = 0; c < C; c++) w->p[i * C + c] = (float)(z[c] / sum - (c == i % C));
    }
    w->signals = (cull_signals){
        .count = M, .h = cull_matrix(w->h, CULL_F32, M, D), .p = cull_matrix(w->p, CULL_F32, M, C)};
}

static cull_status whole(struct work *w)
{
    return cull_select(w->selector, &w->signals, KEPT, &w->subset);
}

static cull_status check(struct work *w)
{
    return cull_tensor_first_not_finite(&w->signals.h, M) == M &&
                   cull_tensor_first_not_finite(&w->signals.p, M) == M
               ? CULL_OK
               : CULL_NOT_FINITE;
}

static cull_status gram(struct work *w)
{
    return cull_gram(w->backend, &w->signals.h, &w->signals.p, NULL, w->k, w->t, &w->b2);
}

static cull_status pursuit(struct work *w)
{
    cull_omp_options options = {.tolerance = 1e-6};

    w->problem = (cull_omp_problem){.count = M,
                                    .budget = KEPT,
                                    .k = cull_matrix(w->k, CULL_F32, M, M),
                                    .t = w->t,
                                    .b2 = w->b2,
                                    .index = w->index,
                                    .weight = w->weight};
    return cull_omp(w->backend, &w->problem, 1, &options);
}

/* The selector's rows and weights must be those of the two public solvers. */
static int is_right(struct work *w)
{
    double sum = 0;
    size_t positive = 0, same = 0;

    if (gram(w) || pursuit(w) || whole(w)) return 0;
    for (size_t i = 0; i < w->problem.picked; i++)
        if (w->weight[i] > 0) positive++, sum += w->weight[i];
    for (size_t i = 0; i < w->problem.picked; i++)
        for (size_t j = 0; j < w->subset.count; j++)
            same += w->index[i] == w->subset.index[j] &&
                    fabs(w->subset.weight[j] - w->weight[i] * (double)positive / sum) < 1e-9;
    return w->subset.count == KEPT && w->subset.picked == positive && same == positive;
}

static int measure(struct work *w, const char *name, cull_status (*run)(struct work *))
{
    static double seconds[ROUNDS];

    for (size_t round = 0; round < ROUNDS; round++) {
        double start = cull_base_seconds();
        if (run(w)) return fprintf(stderr, "%s: %s\n", name, cull_last_error()), 1;
        seconds[round] = cull_base_seconds() - start;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, ascending);
    printf("{\"case\":\"%s M=%d D=%d C=%d m=%d\",\"us\":%.1f,\"least_us\":%.1f,\"p90_us\":%.1f}\n",
           name, M, D, C, KEPT, 1e6 * seconds[ROUNDS / 2], 1e6 * seconds[0],
           1e6 * seconds[ROUNDS * 9 / 10]);
    return 0;
}

int main(void)
{
    static struct work w;
    cull_setting       setting = {.pool = M, .seed = 1};
    int                failed = 1;

    fill(&w);
    if (cull_backend_open("cpu", 1, &w.backend)) goto done;
    setting.backend = w.backend;
    if (cull_selector_create("gradmatch", NULL, 0, &setting, &w.selector)) goto done;
    if (!is_right(&w)) goto done;
    failed = measure(&w, "gradmatch", whole) || measure(&w, "check", check) ||
             measure(&w, "gram", gram) || measure(&w, "omp", pursuit);
done:
    if (failed) fprintf(stderr, "gradmatch: wrong or failed: %s\n", cull_last_error());
    cull_subset_clear(&w.subset);
    cull_selector_destroy(w.selector);
    cull_backend_close(w.backend);
    return failed;
}
