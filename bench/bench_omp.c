/*
 * bench/bench_omp.c - the time of one matching pursuit call, one JSON line a case.
 *
 *     bench_omp [--threads N]                   Gram matrices of METHODS' sizes
 *     bench_omp [--threads N] --pool cifar      grad-match class-gradient, N=50,000, k=5,000
 *     bench_omp [--threads N] --pool imagenet   the same, N=1.28 M, k=128,000 (9 GB of input)
 *     bench_omp [--threads N] --serve FILE      a case from a file: M, m (int64), K (M, M),
 *                                               t (M) as float64; answers a line of picks and
 *                                               one of weights, then, for every line read, the
 *                                               median microseconds of a batch of calls
 *
 * Answers are checked before the clock starts: those from Gram matrices against the
 * reference backend, those of pools against the equations their weights must solve.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cull.h"

enum { ROUNDS = 101 };

/* splitmix64: cheap enough to fill gigabytes. */
static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- Gram matrices */

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
    uint64_t state = n;
    double  *g = malloc(n * d * sizeof *g);

    if (!g) return 1;
    for (size_t i = 0; i < n * d; i++) g[i] = uniform(&state) - 0.45;
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds of each of `rounds` calls, ascending; the middle one is the median. */
static int gram_time(struct gram *gram, cull_backend *backend, size_t rounds, double *seconds)
{
    for (size_t i = 0; i < rounds; i++) {
        double begin = cull_base_seconds();
        if (cull_omp(backend, &gram->problem, 1, &plain)) return 1;
        seconds[i] = cull_base_seconds() - begin;
    }
    qsort(seconds, rounds, sizeof *seconds, ascending);
    return 0;
}

static int run_grams(cull_backend *backend)
{
    static const size_t cases[][2] = {{128, 13},  {128, 38},  {128, 64},  {512, 51},
                                      {512, 154}, {512, 256}, {1280, 128}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gram gram = {0};
        double      seconds[ROUNDS];
        int         failed = gram_alloc(&gram, cases[i][0], cases[i][1]) || gram_fill(&gram) ||
                     gram_check(&gram, backend) || gram_time(&gram, backend, ROUNDS, seconds) ||
                     gram_time(&gram, backend, ROUNDS, seconds);

        if (!failed)
            printf("{\"case\":\"omp M=%zu m=%zu\",\"backend\":\"%s\",\"median_us\":%.2f,"
                   "\"min_us\":%.2f,\"p90_us\":%.2f}\n",
                   gram.n, gram.m, cull_backend_describe(backend), 1e6 * seconds[ROUNDS / 2],
                   1e6 * seconds[0], 1e6 * seconds[ROUNDS * 9 / 10]);
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

/* ---- pools: one problem per class, its row of the gradient, ridge .5 */

struct pool {
    size_t            n, classes, d, keep;
    float            *h, *p;
    uint32_t         *row, *index;
    double           *b, *weight;
    cull_omp_problem *problems;
};

static void pool_fill(struct pool *pool)
{
    uint64_t state = 1;

    for (size_t i = 0; i < pool->n * pool->d; i++) {
        double a = uniform(&state);
        pool->h[i] = (float)(a < 0.5 ? 0 : 2 * a - 1 + (double)(i % pool->d) / 1000);
    }
    for (size_t i = 0; i < pool->n; i++) {
        size_t label = i % pool->classes;
        float *p = pool->p + i * pool->classes;
        double hardness = uniform(&state);

        hardness *= hardness;
        for (size_t c = 0; c < pool->classes; c++)
            p[c] = (float)(hardness / (double)(pool->classes - 1));
        p[label] = (float)-hardness;
    }
}

/* The sum of the class's gradients is what it is to match. */
static void pool_problems(struct pool *pool)
{
    size_t per_class = pool->n / pool->classes;

    for (size_t c = 0; c < pool->classes; c++) {
        double *b = pool->b + c * (pool->d + 1);

        for (size_t i = 0; i < per_class; i++) {
            size_t row = c + i * pool->classes;
            double p = (double)pool->p[row * pool->classes + c];

            pool->row[c * per_class + i] = (uint32_t)row;
            for (size_t l = 0; l < pool->d; l++) b[l] += p * (double)pool->h[row * pool->d + l];
            b[pool->d] += p;
        }
        pool->problems[c] =
            (cull_omp_problem){.count = per_class,
                               .budget = pool->keep / pool->classes,
                               .h = cull_matrix(pool->h, CULL_F32, pool->n, pool->d),
                               .p = cull_matrix(pool->p, CULL_F32, pool->n, pool->classes),
                               .row = pool->row + c * per_class,
                               .column = (int32_t)c,
                               .b = b,
                               .index = pool->index + c * (pool->keep / pool->classes),
                               .weight = pool->weight + c * (pool->keep / pool->classes)};
    }
}

static double pool_gradient(const struct pool *pool, const cull_omp_problem *problem, size_t i,
                            size_t l)
{
    size_t row = problem->row[i];

    return (double)pool->p[row * pool->classes + (size_t)problem->column] *
           (l < pool->d ? (double)pool->h[row * pool->d + l] : 1);
}

/* r = b - sum of weighted gradients must have g_i . r = ridge weight_i at every pick. */
static int pool_check(const struct pool *pool, const cull_omp_problem *problem, double lambda)
{
    double *r = malloc((pool->d + 1) * sizeof *r), trace = 0, worst = 0, largest = 0;

    if (!r) return 1;
    memcpy(r, problem->b, (pool->d + 1) * sizeof *r);
    for (size_t j = 0; j < problem->picked; j++)
        for (size_t l = 0; l <= pool->d; l++)
            r[l] -= problem->weight[j] * pool_gradient(pool, problem, problem->index[j], l);
    for (size_t i = 0; i < problem->count; i++)
        for (size_t l = 0; l <= pool->d; l++) trace += pow(pool_gradient(pool, problem, i, l), 2);
    for (size_t j = 0; j < problem->picked; j++) {
        double ridge = lambda * trace / (double)problem->count, sum = 0;

        for (size_t l = 0; l <= pool->d; l++)
            sum += r[l] * pool_gradient(pool, problem, problem->index[j], l);
        worst = fmax(worst, fabs(sum - ridge * problem->weight[j]));
        largest = fmax(largest, ridge * fabs(problem->weight[j]));
    }
    free(r);
    if (problem->picked == problem->budget && worst <= 1e-8 * largest) return 0;
    (void)fprintf(stderr, "class %d: %zu picks, the weights' equations are off by %g\n",
                  (int)problem->column, problem->picked, worst / largest);
    return 1;
}

static long peak_mib(void)
{
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void pool_clear(struct pool *pool)
{
    free(pool->h);
    free(pool->p);
    free(pool->row);
    free(pool->index);
    free(pool->b);
    free(pool->weight);
    free(pool->problems);
}

static int run_pool(cull_backend *backend, const char *name)
{
    bool             big = strcmp(name, "imagenet") == 0;
    struct pool      pool = {.n = big ? 1280000 : 50000,
                             .classes = big ? 1000 : 10,
                             .d = 512,
                             .keep = big ? 128000 : 5000};
    cull_omp_options options = {.ridge = 0.5, .tolerance = 1e-6};
    double           seconds = 0;
    long             before = 0;
    int              failed = 1;

    pool.h = malloc(pool.n * pool.d * sizeof *pool.h);
    pool.p = malloc(pool.n * pool.classes * sizeof *pool.p);
    pool.row = malloc(pool.n * sizeof *pool.row);
    pool.index = malloc(pool.keep * sizeof *pool.index);
    pool.b = calloc(pool.classes * (pool.d + 1), sizeof *pool.b);
    pool.weight = malloc(pool.keep * sizeof *pool.weight);
    pool.problems = calloc(pool.classes, sizeof *pool.problems);
    if (!pool.h || !pool.p || !pool.row || !pool.index || !pool.b || !pool.weight || !pool.problems)
        goto done;
    pool_fill(&pool);
    pool_problems(&pool);
    before = peak_mib();
    if (cull_omp(backend, pool.problems, 1, &options) || pool_check(&pool, pool.problems, .5))
        goto done;
    seconds = cull_base_seconds();
    if (cull_omp(backend, pool.problems, pool.classes, &options)) goto done;
    seconds = cull_base_seconds() - seconds;
    for (size_t c = 0; c < pool.classes; c += 1 + pool.classes / 10)
        if (pool_check(&pool, &pool.problems[c], .5)) goto done;
    printf("{\"case\":\"omp class-gradient N=%zu C=%zu D=%zu k=%zu\",\"backend\":\"%s\","
           "\"seconds\":%.2f,\"beyond_input_mib\":%ld,\"peak_mib\":%ld}\n",
           pool.n, pool.classes, pool.d, pool.keep, cull_backend_describe(backend), seconds,
           peak_mib() - before, peak_mib());
    failed = 0;
done:
    if (failed) (void)fprintf(stderr, "pool %s: %s\n", name, cull_last_error());
    pool_clear(&pool);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned      threads = 2;
    const char   *pool = NULL, *file = NULL;
    cull_backend *backend = NULL;
    int           failed = 0;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0) threads = (unsigned)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--pool") == 0) pool = argv[i + 1];
        if (strcmp(argv[i], "--serve") == 0) file = argv[i + 1];
    }
    if (cull_backend_open("cpu", threads, &backend))
        return (void)fprintf(stderr, "%s\n", cull_last_error()), 1;
    if (file)
        failed = serve(backend, file);
    else if (pool)
        failed = run_pool(backend, pool);
    else
        failed = run_grams(backend);
    cull_backend_close(backend);
    return failed;
}
