/*
 * bench/bench_gradmatch.c - one whole `gradmatch` decision on one thread: checks, Gram matrix,
 * pursuit, weights. From float32 H and P and from float64 ones of the same numbers, which must
 * choose the same; the parts are timed beside it by themselves.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "common.h"
#include "tensor/tensor.h"

enum { MOST = 512, D = 512, C = 10, ROUNDS = 1001 };

static const struct {
    size_t m, kept, rounds;
} cases[] = {{128, 38, ROUNDS}, {512, 154, 101}};

struct work {
    size_t           m, kept, rounds;
    float            h32[MOST * D], p32[MOST * C];
    double           h64[MOST * D], p64[MOST * C];
    double           k[MOST * MOST], t[MOST], b2;
    cull_signals     signals;
    cull_selector   *selector;
    cull_subset      subset, first; /* of this type; of float32 */
    cull_backend    *backend;
    cull_omp_problem problem;
    uint32_t         index[MOST];
    double           weight[MOST];
};

static double normal(cull_key key, uint64_t stream, uint64_t i)
{
    double radius = sqrt(-2 * log(cull_key_uniform(key, 2 * stream, i)));
    return radius * cos(6.283185307179586 * cull_key_uniform(key, 2 * stream + 1, i));
}

/* Features as a ReLU leaves them; P = softmax - onehot of a half-trained network. */
static void fill(struct work *w)
{
    cull_key key = cull_key_make(1, "bench");

    for (size_t i = 0; i < w->m * D; i++) w->h32[i] = (float)fmax(0, normal(key, 0, i));
    for (size_t i = 0; i < w->m; i++) {
        double z[C], sum = 0;
        for (size_t c = 0; c < C; c++)
            sum += z[c] = exp(normal(key, 1, i * C + c) + 2 * (c == i % C));
        for (size_t c = 0; c < C; c++) w->p32[i * C + c] = (float)(z[c] / sum - (c == i % C));
    }
    for (size_t i = 0; i < w->m * D; i++) w->h64[i] = (double)w->h32[i];
    for (size_t i = 0; i < w->m * C; i++) w->p64[i] = (double)w->p32[i];
}

static void take(struct work *w, cull_dtype type)
{
    void *h = type == CULL_F32 ? (void *)w->h32 : w->h64;
    void *p = type == CULL_F32 ? (void *)w->p32 : w->p64;

    w->signals = (cull_signals){
        .count = w->m, .h = cull_matrix(h, type, w->m, D), .p = cull_matrix(p, type, w->m, C)};
}

static cull_status whole(struct work *w)
{
    return cull_select(w->selector, &w->signals, w->kept, &w->subset);
}

static cull_status check(struct work *w)
{
    return cull_tensor_first_not_finite(&w->signals.h, w->m) == w->m &&
                   cull_tensor_first_not_finite(&w->signals.p, w->m) == w->m
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

    w->problem = (cull_omp_problem){.count = w->m,
                                    .budget = w->kept,
                                    .k = cull_matrix(w->k, CULL_F64, w->m, w->m),
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
    return w->subset.count == w->kept && w->subset.picked == positive && same == positive;
}

/* The first type's subset is kept; the second's must be the same, to the bit. */
static int is_same(struct work *w)
{
    size_t count = w->subset.count;

    if (w->first.count == 0) {
        if (cull_subset_resize(&w->first, count)) return 0;
        memcpy(w->first.index, w->subset.index, count * sizeof *w->first.index);
        memcpy(w->first.weight, w->subset.weight, count * sizeof *w->first.weight);
        return 1;
    }
    return count == w->first.count &&
           !memcmp(w->first.index, w->subset.index, count * sizeof *w->first.index) &&
           !memcmp(w->first.weight, w->subset.weight, count * sizeof *w->first.weight);
}

static int measure(struct work *w, const char *name, cull_status (*run)(struct work *))
{
    static double seconds[ROUNDS];
    char          line[96];

    for (size_t round = 0; round < w->rounds; round++) {
        double start = cull_base_seconds();
        if (run(w)) return fprintf(stderr, "%s: %s\n", name, cull_last_error()), 1;
        seconds[round] = cull_base_seconds() - start;
    }
    (void)snprintf(line, sizeof line, "%s %s M=%zu D=%d C=%d m=%zu", name,
                   cull_dtype_name(w->signals.h.dtype), w->m, D, C, w->kept);
    bench_tell(line, seconds, w->rounds);
    return 0;
}

static int run_case(struct work *w)
{
    static const cull_dtype types[] = {CULL_F32, CULL_F64};
    cull_setting            setting = {.pool = w->m, .seed = 1, .backend = w->backend};
    int                     failed = 0;

    fill(w);
    if (cull_selector_create("gradmatch", NULL, 0, &setting, &w->selector)) return 1;
    for (size_t i = 0; i < 2 && !failed; i++) {
        take(w, types[i]);
        failed = !is_right(w) || !is_same(w) || measure(w, "gradmatch", whole) ||
                 measure(w, "check", check) || measure(w, "gram", gram) ||
                 measure(w, "omp", pursuit);
    }
    cull_selector_destroy(w->selector);
    cull_subset_clear(&w->first);
    return failed;
}

int main(void)
{
    static struct work w;
    int                failed = cull_backend_open("cpu", 1, &w.backend) != CULL_OK;

    for (size_t i = 0; i < sizeof cases / sizeof *cases && !failed; i++) {
        w.m = cases[i].m;
        w.kept = cases[i].kept;
        w.rounds = cases[i].rounds;
        failed = run_case(&w);
    }
    if (failed) fprintf(stderr, "gradmatch: wrong or failed: %s\n", cull_last_error());
    cull_subset_clear(&w.subset);
    cull_backend_close(w.backend);
    return failed;
}
