/*
 * bench/bench_facility.c - facility location at CIFAR-10 size, one JSON line a case.
 *
 *     bench_facility [threads [examples [problems [width [keep]]]]]
 *
 * Ten classes, one problem per class (or another number of them) over synthetic signals: H around a
 * mean of its class, P a softmax minus one-hot. Peak RSS contains the signals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cull.h"

enum { CLASSES = 10 };

struct size {
    size_t n, problems, d;
    double keep;
};

struct pool {
    float                 *h, *p;
    uint32_t              *row, *index;
    double                *weight;
    cull_facility_problem *problems;
};

/* Sum of four uniforms: near enough to a normal for a bench. */
static float noise(cull_key key, size_t i)
{
    double sum = -2;

    for (uint64_t l = 0; l < 4; l++) sum += cull_key_uniform(key, l, i);
    return (float)(1.7 * sum);
}

static void fill(const struct size *size, struct pool *pool)
{
    cull_key key = cull_key_make(1, "h"), mean = cull_key_make(1, "mean");
    cull_key logit = cull_key_make(1, "p");

    for (size_t i = 0; i < size->n; i++) {
        size_t c = i % CLASSES;
        double sum = 0;

        for (size_t j = 0; j < size->d; j++)
            pool->h[i * size->d + j] = noise(key, i * size->d + j) + noise(mean, c * size->d + j);
        for (size_t l = 0; l < CLASSES; l++) {
            double z = 2 * (double)noise(logit, i * CLASSES + l) + (l == c ? 3 : 0);
            pool->p[i * CLASSES + l] = (float)exp(z);
            sum += exp(z);
        }
        for (size_t l = 0; l < CLASSES; l++) {
            float *p = pool->p + i * CLASSES + l;
            *p = (float)((double)*p / sum - (l == c));
        }
    }
}

static size_t make_problems(const struct size *size, struct pool *pool)
{
    size_t at = 0;

    for (size_t c = 0; c < size->problems; c++) {
        cull_facility_problem *problem = pool->problems + c;

        *problem = (cull_facility_problem){
            .h = cull_matrix(pool->h, CULL_F32, size->n, size->d),
            .p = cull_matrix(pool->p, CULL_F32, size->n, CLASSES),
            .row = pool->row + at,
            .index = pool->index + at,
            .weight = pool->weight + at,
        };
        for (size_t i = c; i < size->n; i += size->problems) pool->row[at++] = (uint32_t)i;
        problem->count = at - (size_t)(problem->row - pool->row);
        problem->budget = (size_t)(size->keep * (double)problem->count);
        if (problem->budget < 1) problem->budget = 1;
    }
    return size->problems;
}

static int time_greedy(cull_backend *backend, const struct size *size, struct pool *pool,
                       cull_greedy greedy, const char *name)
{
    cull_facility_options options = {.greedy = greedy, .key = cull_key_make(1, "bench")};
    size_t                count = make_problems(size, pool);
    double                begin = cull_base_seconds(), value = 0;
    struct rusage         usage = {0};

    if (cull_facility(backend, pool->problems, count, &options))
        return fprintf(stderr, "%s\n", cull_last_error()), 1;
    double seconds = cull_base_seconds() - begin;
    for (size_t c = 0; c < count; c++) value += pool->problems[c].value;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"case\":\"facility %s N=%zu problems=%zu D=%zu keep=%g\",\"backend\":\"%s\","
           "\"seconds\":%.2f,\"value\":%.8g,\"peak_rss_mib\":%ld}\n",
           name, size->n, size->problems, size->d, size->keep, cull_backend_describe(backend),
           seconds, value, usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned    threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    struct size size = {
        argc > 2 ? strtoul(argv[2], NULL, 10) : 50000, argc > 3 ? strtoul(argv[3], NULL, 10) : 10,
        argc > 4 ? strtoul(argv[4], NULL, 10) : 512, argc > 5 ? strtod(argv[5], NULL) : 0.1};
    struct pool pool = {
        malloc(size.n * size.d * sizeof *pool.h), malloc(size.n * CLASSES * sizeof *pool.p),
        malloc(size.n * sizeof *pool.row),        malloc(size.n * sizeof *pool.index),
        malloc(size.n * sizeof *pool.weight),     malloc(size.problems * sizeof *pool.problems)};
    cull_backend *backend = NULL;
    int           failed = 1;

    if (!pool.h || !pool.p || !pool.row || !pool.index || !pool.weight || !pool.problems) goto done;
    if (cull_backend_open("cpu", threads, &backend)) goto done;
    fill(&size, &pool);
    failed = time_greedy(backend, &size, &pool, CULL_GREEDY_STOCHASTIC, "stochastic") ||
             time_greedy(backend, &size, &pool, CULL_GREEDY_LAZY, "lazy");
done:
    cull_backend_close(backend);
    free(pool.problems);
    free(pool.weight);
    free(pool.index);
    free(pool.row);
    free(pool.p);
    free(pool.h);
    return failed;
}
