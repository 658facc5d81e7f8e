/* tests/unit/omp_support.h - problems for the matching pursuit tests: atoms, K, t, answers. */
#ifndef CULL_TESTS_OMP_SUPPORT_H
#define CULL_TESTS_OMP_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* n atoms of d numbers, a target b, and what follows from them. */
struct atoms {
    size_t  n, d;
    double *g, *b; /* (n, d), [d]    */
    double *k, *t; /* (n, n), [n]    */
    double  b2;
};

struct answer {
    size_t        picked;
    uint32_t     *index;
    double       *weight;
    double        residual;
    cull_omp_stop stop;
};

static inline void *make(size_t count, size_t size)
{
    void *data = calloc(count, size);

    assert_non_null(data);
    return data;
}

static inline double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* K, t and b2 from g and b. */
static inline void atoms_finish(struct atoms *a)
{
    for (size_t i = 0; i < a->n; i++) {
        a->t[i] = dot(a->d, a->g + i * a->d, a->b);
        for (size_t j = 0; j <= i; j++)
            a->k[i * a->n + j] = a->k[j * a->n + i] = dot(a->d, a->g + i * a->d, a->g + j * a->d);
    }
    a->b2 = dot(a->d, a->b, a->b);
}

/* Normal atoms and target; `decay` below 1 shrinks each further number, and with it the
 * condition of K. */
static inline struct atoms atoms_make(uint64_t seed, size_t n, size_t d, double decay)
{
    struct atoms a = {n,
                      d,
                      make(n * d, sizeof(double)),
                      make(d, sizeof(double)),
                      make(n * n, sizeof(double)),
                      make(n, sizeof(double)),
                      0};

    for (size_t i = 0; i < n * d; i++)
        a.g[i] = random_normal(seed, i) * pow(decay, (double)(i % d));
    for (size_t l = 0; l < d; l++) a.b[l] = random_normal(seed + 1000000, l);
    atoms_finish(&a);
    return a;
}

static inline void atoms_clear(struct atoms *a)
{
    free(a->g);
    free(a->b);
    free(a->k);
    free(a->t);
}

static inline cull_omp_problem explicit_problem(const struct atoms *a, size_t budget)
{
    return (cull_omp_problem){.count = a->n,
                              .budget = budget,
                              .k = cull_matrix(a->k, CULL_F64, a->n, a->n),
                              .t = a->t,
                              .b2 = a->b2};
}

static inline void answer_clear(struct answer *answer)
{
    free(answer->index);
    free(answer->weight);
}

/* Solve on an open backend; the answer's arrays are its own. */
static inline struct answer solve_on(cull_backend *backend, cull_omp_problem problem,
                                     const cull_omp_options *options)
{
    struct answer answer = {.index = make(problem.budget, sizeof(uint32_t)),
                            .weight = make(problem.budget, sizeof(double))};

    problem.index = answer.index;
    problem.weight = answer.weight;
    assert_ok(cull_omp(backend, &problem, 1, options));
    assert_in_range(problem.picked, 0, problem.budget);
    answer.picked = problem.picked;
    answer.residual = problem.residual;
    answer.stop = problem.stop;
    return answer;
}

static inline struct answer solve(const char *backend_name, cull_omp_problem problem,
                                  const cull_omp_options *options)
{
    cull_backend *backend = NULL;
    struct answer answer;

    assert_ok(cull_backend_open(backend_name, 2, &backend));
    answer = solve_on(backend, problem, options);
    cull_backend_close(backend);
    return answer;
}

static inline double largest_weight(const struct answer *x)
{
    double largest = 0;

    for (size_t i = 0; i < x->picked; i++) largest = fmax(largest, fabs(x->weight[i]));
    return largest;
}

static inline void assert_same_picks(const struct answer *x, const struct answer *y)
{
    assert_int_equal(x->picked, y->picked);
    for (size_t i = 0; i < x->picked; i++) assert_int_equal(x->index[i], y->index[i]);
}

/* Picks equal, weights within `error` of the largest. */
static inline void assert_same_answer(const struct answer *x, const struct answer *y, double error)
{
    assert_same_picks(x, y);
    assert_int_equal(x->stop, y->stop);
    for (size_t i = 0; i < x->picked; i++)
        assert_true(fabs(x->weight[i] - y->weight[i]) <= error * largest_weight(y));
}

/* r = b - sum of weighted atoms */
static inline void residual_of(const struct atoms *a, const struct answer *x, double *r)
{
    memcpy(r, a->b, a->d * sizeof *r);
    for (size_t j = 0; j < x->picked; j++)
        for (size_t l = 0; l < a->d; l++) r[l] -= x->weight[j] * a->g[x->index[j] * a->d + l];
}

static inline bool picked_before(const struct answer *x, uint32_t atom, size_t count)
{
    for (size_t j = 0; j < count; j++)
        if (x->index[j] == atom) return true;
    return false;
}

#endif
