/*
 * bench/bench_omp.c - the time of one matching pursuit call, one JSON line a case.
 *
 *     bench_omp [--threads N]                   Gram matrices of METHODS' sizes
 *     bench_omp [--threads N] --serve FILE      a case from a file: M, m (int64), K (M, M),
 *                                               t (M) as float64; answers a line of picks and
 *                                               one of weights, then, for every line read, the
 *                                               median microseconds of a batch of calls
 *
 * Answers are checked against the reference backend before the clock starts. Whole pools are
 * bench_pool's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "common.h"

enum { ROUNDS = 101 };

struct gram {
    size_t           n, m;
    double          *k, *t, *weight;
    uint32_t        *index;
    cull_omp_problem problem;
};

static const cull_omp_options plain = {.tolerance = 1e-6};

static void gram_clear(struct gram *gram)
{
    free(gram->k);
    free(gram->t);
    free(gram->weight);
    free(gram->index);
}

static int gram_alloc(struct gram *gram, size_t n, size_t m)
{
    *gram = (struct gram){n,
                          m,
                          calloc(n * n, sizeof(double)),
                          calloc(n, sizeof(double)),
                          malloc(m * sizeof(double)),
                          malloc(m * sizeof(uint32_t)),
                          {0}};
    if (!gram->k || !gram->t || !gram->weight || !gram->index) return 1;
    gram->problem = (cull_omp_problem){.count = n,
                                       .budget = m,
                                       .k = cull_matrix(gram->k, CULL_F64, n, n),
                                       .t = gram->t,
                                       .index = gram->index,
                                       .weight = gram->weight};
    return 0;
}

/* K = G G^T of 2n random numbers each, t = row means. */
static int gram_fill(struct gram *gram)
{
    size_t   n = gram->n, d = 2 * n;
    cull_key key = cull_key_make(n, "bench");
    double  *g = malloc(n * d * sizeof *g);

    if (!g) return 1;
    for (size_t i = 0; i < n * d; i++) g[i] = cull_key_uniform(key, 0, i) - 0.45;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t l = 0; l < d; l++) sum += g[i * d + l] * g[j * d + l];
            gram->k[i * n + j] = gram->k[j * n + i] = sum;
        }
    }
    for (size_t i = 0; i < n; i++) {
        gram->t[i] = 0;
        for (size_t j = 0; j < n; j++) gram->t[i] += gram->k[i * n + j] / (double)n;
    }
    free(g);
    return 0;
}

static int gram_check(struct gram *gram, cull_backend *backend)
{
    cull_backend    *ref = NULL;
    cull_omp_problem right = gram->problem;
    int              wrong = 1;

    right.index = malloc(gram->m * sizeof *right.index);
    right.weight = malloc(gram->m * sizeof *right.weight);
    if (right.index && right.weight && !cull_backend_open("ref", 1, &ref) &&
        !cull_omp(ref, &right, 1, &plain) && !cull_omp(backend, &gram->problem, 1, &plain)) {
        wrong = right.picked != gram->problem.picked;
        for (size_t i = 0; !wrong && i < right.picked; i++)
            wrong = right.index[i] != gram->index[i] ||
                    fabs(right.weight[i] - gram->weight[i]) > 1e-8 * fabs(right.weight[i]);
    }
    if (wrong) (void)fprintf(stderr, "the answer is not the reference's\n");
    free(right.index);
    free(right.weight);
    cull_backend_close(ref);
    return wrong;
}

/* Seconds of each of `rounds` calls. */
static int gram_time(struct gram *gram, cull_backend *backend, size_t rounds, double *seconds)
{
    for (size_t i = 0; i < rounds; i++) {
        double begin = cull_base_seconds();
        if (cull_omp(backend, &gram->problem, 1, &plain)) return 1;
        seconds[i] = cull_base_seconds() - begin;
    }
    return 0;
}

static int run_grams(cull_backend *backend)
{
    static const size_t cases[][2] = {{128, 13},  {128, 38},  {128, 64},  {512, 51},
                                      {512, 154}, {512, 256}, {1280, 128}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gram gram = {0};
        double      seconds[ROUNDS];
        char        name[64];
        int         failed = gram_alloc(&gram, cases[i][0], cases[i][1]) || gram_fill(&gram) ||
                     gram_check(&gram, backend) || gram_time(&gram, backend, ROUNDS, seconds) ||
                     gram_time(&gram, backend, ROUNDS, seconds);

        (void)snprintf(name, sizeof name, "omp M=%zu m=%zu", cases[i][0], cases[i][1]);
        if (!failed) bench_tell(name, seconds, ROUNDS);
        gram_clear(&gram);
        if (failed) return 1;
    }
    return 0;
}

static int serve(cull_backend *backend, const char *path)
{
    struct gram gram = {0};
    FILE       *file = fopen(path, "rb");
    int64_t     size[2] = {0};
    char        line[64];
    double      seconds[ROUNDS];
    int         failed = 1;

    if (!file || fread(size, sizeof *size, 2, file) != 2) goto done;
    if (gram_alloc(&gram, (size_t)size[0], (size_t)size[1])) goto done;
    if (fread(gram.k, sizeof(double), gram.n * gram.n, file) != gram.n * gram.n) goto done;
    if (fread(gram.t, sizeof(double), gram.n, file) != gram.n) goto done;
    if (gram_time(&gram, backend, ROUNDS / 4, seconds)) goto done;
    for (size_t i = 0; i < gram.problem.picked; i++) printf("%u ", gram.index[i]);
    printf("\n");
    for (size_t i = 0; i < gram.problem.picked; i++) printf("%.17g ", gram.weight[i]);
    printf("\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        size_t rounds = gram.n <= 128 ? ROUNDS : 11;

        if (gram_time(&gram, backend, rounds, seconds)) goto done;
        bench_sort(seconds, rounds);
        printf("%.3f\n", 1e6 * seconds[rounds / 2]);
        (void)fflush(stdout);
    }
    failed = 0;
done:
    if (failed) (void)fprintf(stderr, "%s: cannot be read and solved\n", path);
    if (file) (void)fclose(file);
    gram_clear(&gram);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned      threads = 2;
    const char   *file = NULL;
    cull_backend *backend = NULL;
    int           failed = 0;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0) threads = (unsigned)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--serve") == 0) file = argv[i + 1];
    }
    if (cull_backend_open("cpu", threads, &backend))
        return (void)fprintf(stderr, "%s\n", cull_last_error()), 1;
    failed = file ? serve(backend, file) : run_grams(backend);
    cull_backend_close(backend);
    return failed;
}
