/*
 * tests/golden/test_omp_golden.c - 1,000 Gram matrices whose picks and weights scikit-learn's
 * _gram_omp has given (omp_cases.txt; tools/make_golden_omp.py says how a matrix follows from
 * its seed).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/splitmix.h"
#include "support.h"

enum { LARGEST = 512, CASES = 1000, REF_LARGEST = 48 };
#define WEIGHT_ERROR 1e-8

struct golden {
    uint64_t seed;
    size_t   n, m;
    uint32_t index[LARGEST];
    double   weight[LARGEST];
    double   k[LARGEST * LARGEST], t[LARGEST];
    float    k32[LARGEST * LARGEST];
    int16_t  g[LARGEST * 2 * LARGEST], y[2 * LARGEST];
};

/* The next line's numbers; 0 at the end of the file. */
static int read_case(FILE *file, struct golden *x)
{
    unsigned long long seed = 0;

    if (fscanf(file, "%llu %zu %zu", &seed, &x->n, &x->m) != 3) return 0;
    assert_in_range(x->n, 8, LARGEST);
    assert_in_range(x->m, 1, x->n / 2);
    x->seed = seed;
    for (size_t i = 0; i < x->m; i++)
        assert_int_equal(2, fscanf(file, "%u:%lf", &x->index[i], &x->weight[i]));
    return 1;
}

/* In runs short enough for 32 bits, which compilers turn into vectors. */
static int64_t inner(const int16_t *x, const int16_t *y, size_t n)
{
    int64_t sum = 0;

    for (size_t l = 0; l < n; l += 32) {
        int32_t part = 0;
        for (size_t i = l; i < n && i < l + 32; i++) part += (int32_t)x[i] * y[i];
        sum += part;
    }
    return sum;
}

static void make_case(struct golden *x)
{
    size_t   n = x->n, d = 2 * n;
    uint64_t state = x->seed;

    for (size_t i = 0; i < n * d; i++) x->g[i] = (int16_t)((int)(splitmix(&state) >> 51) - 4096);
    for (size_t i = 0; i < d; i++) x->y[i] = (int16_t)((int)(splitmix(&state) >> 57) - 64);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            x->k[i * n + j] = x->k[j * n + i] = (double)inner(x->g + i * d, x->g + j * d, d);
    for (size_t i = 0; i < n; i++) {
        x->t[i] = x->seed % 2 ? (double)inner(x->g + i * d, x->y, d) : 0;
        for (size_t j = 0; j < n && x->seed % 2 == 0; j++) x->t[i] += x->k[i * n + j];
    }
}

static void check(const struct golden *x, cull_backend *backend, cull_tensor k, const double *t,
                  bool weights)
{
    uint32_t         index[LARGEST];
    double           weight[LARGEST];
    cull_omp_options options = {.tolerance = 1e-6};
    cull_omp_problem problem = {
        .count = x->n, .budget = x->m, .k = k, .t = t, .index = index, .weight = weight};

    assert_ok(cull_omp(backend, &problem, 1, &options));
    assert_int_equal(x->m, problem.picked);
    assert_int_equal(CULL_OMP_BUDGET, problem.stop);
    for (size_t i = 0; i < x->m; i++) {
        if (index[i] != x->index[i])
            fail_msg("seed %llu, M=%zu: pick %zu is %u, scikit-learn's %u",
                     (unsigned long long)x->seed, x->n, i, index[i], x->index[i]);
        if (weights && !(fabs(weight[i] - x->weight[i]) <= WEIGHT_ERROR * fabs(x->weight[i])))
            fail_msg("seed %llu, M=%zu: weight %zu is %.12g, scikit-learn's %.12g",
                     (unsigned long long)x->seed, x->n, i, weight[i], x->weight[i]);
    }
}

static void check_rounded(struct golden *x, cull_backend *backend)
{
    double t32[LARGEST];
    size_t n = x->n, changed = 0;

    for (size_t i = 0; i < n * n; i++) {
        x->k32[i] = (float)x->k[i];
        changed += (double)x->k32[i] != x->k[i];
    }
    assert_true(changed > n); /* rounding does something */
    for (size_t i = 0; i < n; i++) t32[i] = (double)(float)x->t[i];
    check(x, backend, cull_matrix(x->k32, CULL_F32, n, n), t32, false);
}

static void picks_and_weights_are_those_of_scikit_learn(void **state)
{
    cull_backend  *cpu = NULL, *ref = NULL;
    struct golden *x = calloc(1, sizeof *x);
    FILE          *file = fopen(CULL_SOURCE_DIR "/tests/golden/omp_cases.txt", "r");
    size_t         cases = 0;

    (void)state;
    assert_non_null(x);
    assert_non_null(file);
    assert_ok(cull_backend_open("cpu", 2, &cpu));
    assert_ok(cull_backend_open("ref", 1, &ref));
    assert_int_equal(0, fscanf(file, "#%*[^\n]"));
    for (; read_case(file, x); cases++) {
        make_case(x);
        check(x, cpu, cull_matrix(x->k, CULL_F64, x->n, x->n), x->t, true);
        check_rounded(x, cpu);
        if (x->n <= REF_LARGEST) {
            check(x, ref, cull_matrix(x->k, CULL_F64, x->n, x->n), x->t, true);
            check_rounded(x, ref);
        }
    }
    assert_int_equal(CASES, cases);
    assert_int_equal(0, fclose(file));
    cull_backend_close(cpu);
    cull_backend_close(ref);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_and_weights_are_those_of_scikit_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
