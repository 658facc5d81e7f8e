/*
 * tests/ops/test_ops.c - every operation of the other backends against the reference.
 *
 * One table of cases; each runs rank, keys, top, gram and facility on `ref`, on `far`, on `cpu`
 * with one and with three threads, and on the devices that there are. rank, keys and top must agree
 * to the last bit, and so must cpu with itself whatever the threads, and far with ref in
 * everything.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct shape {
    size_t n, d, c; /* rows, width of H, width of P          */
    size_t pad;     /* extra elements between rows           */
    size_t levels;  /* values are drawn from so many; 0: all */
    size_t target;  /* examples of the target block          */
} cases[] = {
    {1, 1, 1, 0, 0, 0},     {2, 3, 1, 1, 0, 1},      {3, 17, 2, 0, 2, 0},    {5, 64, 10, 3, 0, 4},
    {7, 5, 3, 0, 1, 0},     {8, 8, 8, 0, 0, 3},      {13, 31, 7, 2, 3, 0},   {16, 16, 16, 0, 0, 0},
    {17, 33, 9, 0, 0, 17},  {31, 100, 5, 1, 4, 0},   {33, 129, 10, 0, 0, 6}, {64, 257, 10, 0, 0, 0},
    {65, 15, 65, 5, 7, 2},  {128, 512, 10, 0, 0, 0}, {255, 7, 4, 0, 9, 0},   {257, 40, 3, 1, 0, 5},
    {70, 1100, 2, 0, 0, 0}, {1000, 4, 2, 0, 11, 0},  {1281, 9, 3, 0, 0, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static void run(cull_backend *backend, cull_op_kind kind, size_t rows, const cull_op_args *args)
{
    assert_ok(on_run(backend, kind, rows, 1, args));
}

static double draw(const struct shape *s, uint64_t seed, size_t i)
{
    if (s->levels == 0) return random_normal(seed, i);
    return floor(random_uniform(seed, i) * (double)s->levels) - 2;
}

static double *column(const struct shape *s, uint64_t seed)
{
    double *x = malloc(s->n * sizeof *x);
    for (size_t i = 0; i < s->n; i++) x[i] = draw(s, seed, i);
    return x;
}

/* A (rows, width) matrix with `pad` NaNs behind every row, which nobody may read. */
static cull_tensor matrix(const struct shape *s, uint64_t seed, cull_dtype dtype, size_t rows,
                          size_t width)
{
    size_t      ld = width + s->pad;
    double     *f64 = calloc(rows * ld, sizeof *f64);
    float      *f32 = (float *)f64;
    cull_tensor t = cull_matrix(f64, dtype, rows, width);

    t.stride[0] = (int64_t)ld;
    for (size_t i = 0; i < rows * ld; i++) {
        double x = i % ld < width ? draw(s, seed, i) : (double)NAN;
        if (dtype == CULL_F32)
            f32[i] = (float)x;
        else
            f64[i] = x;
    }
    return t;
}

static void ranks_equal_the_reference_bit_for_bit(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const struct shape *s = cases + c;
        double             *x = column(s, c), *want = calloc(s->n, 8), *got = calloc(s->n, 8);

        if (s->n > 2) x[0] = -0.0, x[1] = 0.0;
        run(ref, CULL_OP_RANK, s->n, &(cull_op_args){.rank = {s->n, x, want}});
        run(one, CULL_OP_RANK, s->n + 5, &(cull_op_args){.rank = {s->n, x, got}});
        assert_memory_equal(want, got, s->n * sizeof *got);
        memset(got, 0, s->n * sizeof *got);
        run(far, CULL_OP_RANK, s->n, &(cull_op_args){.rank = {s->n, x, got}});
        assert_memory_equal(want, got, s->n * sizeof *got);
        EACH_DEVICE(backend, CULL_OP_RANK)
        {
            memset(got, 0, s->n * sizeof *got);
            run(backend, CULL_OP_RANK, s->n + 5, &(cull_op_args){.rank = {s->n, x, got}});
            assert_memory_equal(want, got, s->n * sizeof *got);
        }
        free(x);
        free(want);
        free(got);
    }
}

static void keys_equal_the_reference_bit_for_bit(void **state)
{
    cull_key key = cull_key_make(3, "ops");

    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const struct shape *s = cases + c;
        double             *w = column(s, c), *want = calloc(s->n, 8), *got = calloc(s->n, 8);
        uint32_t           *place = malloc(s->n * sizeof *place);

        for (size_t i = 0; i < s->n; i++) {
            w[i] = w[i] > 0 ? w[i] : 0;
            place[i] = (uint32_t)(7919 * i + 13);
        }
        for (int variant = 0; variant < 4; variant++) {
            cull_op_args args = {
                .keys = {s->n, key, c, variant & 1 ? place : NULL, variant & 2 ? w : NULL, want}};
            run(ref, CULL_OP_KEYS, s->n, &args);
            args.keys.out = got;
            run(variant ? one : three, CULL_OP_KEYS, s->n, &args);
            assert_memory_equal(want, got, s->n * sizeof *got);
            memset(got, 0, s->n * sizeof *got);
            run(far, CULL_OP_KEYS, s->n, &args);
            assert_memory_equal(want, got, s->n * sizeof *got);
            EACH_DEVICE(backend, CULL_OP_KEYS)
            {
                memset(got, 0, s->n * sizeof *got);
                run(backend, CULL_OP_KEYS, s->n, &args);
                assert_memory_equal(want, got, s->n * sizeof *got);
            }
        }
        free(w);
        free(want);
        free(got);
        free(place);
    }
}

static void the_top_equals_the_reference_with_ties_and_infinities(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const struct shape *s = cases + c;
        double             *x = column(s, c);
        uint32_t           *want = calloc(s->n, 4), *got = calloc(s->n, 4);
        const size_t        budgets[] = {1, s->n / 3, s->n / 2, s->n - 1, s->n};

        if (s->n > 8) x[2] = x[5] = x[6] = (double)INFINITY, x[3] = -0.0, x[4] = 0.0;
        for (size_t b = 0; b < 10; b++) {
            size_t       m = budgets[b / 2] ? budgets[b / 2] : 1;
            cull_op_args args = {.top = {s->n, m, x, b % 2 == 0, want}};
            run(ref, CULL_OP_TOP, s->n, &args);
            args.top.index = got;
            run(one, CULL_OP_TOP, s->n, &args);
            assert_memory_equal(want, got, m * sizeof *got);
            memset(got, 0xff, m * sizeof *got);
            run(far, CULL_OP_TOP, s->n, &args);
            assert_memory_equal(want, got, m * sizeof *got);
            EACH_DEVICE(backend, CULL_OP_TOP)
            {
                memset(got, 0xff, m * sizeof *got);
                run(backend, CULL_OP_TOP, s->n + 5, &args);
                assert_memory_equal(want, got, m * sizeof *got);
            }
        }
        free(x);
        free(want);
        free(got);
    }
}

/* |a - b| against what the terms that made them could be: relative to the diagonal. */
static void assert_near(double want, double got, double scale, double tolerance)
{
    if (!(fabs(want - got) <= tolerance * scale))
        fail_msg("%.17g expected, %.17g found (scale %g)", want, got, scale);
}

/* Rounding of a sum of D + C products: far below it, per unit of sqrt(K_ii K_jj). */
static const double gram_rounding = 1e-14;

/* K, t and b2 near the reference's, and K symmetric. */
static void assert_gram(const double *const want[3], const double *const got[3], size_t n)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++) largest = fmax(largest, want[0][i * n + i]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double scale = sqrt(want[0][i * n + i] * want[0][j * n + j]);
            double x = got[0][i * n + j];
            assert_near(want[0][i * n + j], x, scale, gram_rounding);
            assert_true(x == got[0][j * n + i]);
        }
        assert_near(want[1][i], got[1][i], largest, gram_rounding);
    }
    assert_near(*want[2], *got[2], largest, gram_rounding);
}

static void compare_gram(const struct shape *s, uint64_t seed, cull_dtype dh, cull_dtype dp)
{
    cull_tensor  h = matrix(s, seed, dh, s->n, s->d), p = matrix(s, seed + 1, dp, s->n, s->c);
    cull_target  target = {s->target,
                           matrix(s, seed + 2, dp, s->target + 1, s->d),
                           matrix(s, seed + 3, dh, s->target + 1, s->c),
                           {0},
                           {0}};
    double      *want = calloc(s->n * s->n, 8), *got = calloc(s->n * s->n, 8);
    double      *again = calloc(s->n * s->n, 8), *t = calloc(3 * s->n, 8), b2[3] = {0};
    cull_op_args args = {.gram = {&h, &p, s->target ? &target : NULL, want, t, b2}};
    const double *const right[] = {want, t, b2};

    run(ref, CULL_OP_GRAM, s->n, &args);
    args.gram.k = got, args.gram.t = t + s->n, args.gram.b2 = b2 + 1;
    run(one, CULL_OP_GRAM, s->n + 3, &args);
    args.gram.k = again, args.gram.t = t + 2 * s->n, args.gram.b2 = b2 + 2;
    run(three, CULL_OP_GRAM, s->n, &args);
    assert_gram(right, (const double *[]){got, t + s->n, b2 + 1}, s->n);
    assert_memory_equal(got, again, s->n * s->n * sizeof *got);
    assert_memory_equal(t + s->n, t + 2 * s->n, s->n * sizeof *t);
    assert_true(b2[1] == b2[2]);
    run(far, CULL_OP_GRAM, s->n, &args);
    assert_memory_equal(want, again, s->n * s->n * sizeof *got);
    assert_memory_equal(t, t + 2 * s->n, s->n * sizeof *t);
    assert_true(b2[0] == b2[2]);
    EACH_DEVICE(backend, CULL_OP_GRAM)
    {
        memset(again, 0xff, s->n * s->n * sizeof *again);
        memset(t + 2 * s->n, 0xff, s->n * sizeof *t);
        run(backend, CULL_OP_GRAM, s->n, &args);
        assert_gram(right, (const double *[]){again, t + 2 * s->n, b2 + 2}, s->n);
    }
    free(h.data);
    free(p.data);
    free(target.h.data);
    free(target.p.data);
    free(want);
    free(got);
    free(again);
    free(t);
}

static void gram_matrices_agree_are_symmetric_and_forget_the_threads(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        if (cases[c].n > 600) continue; /* the reference takes seconds */
        compare_gram(cases + c, 10 * c, CULL_F32, CULL_F32);
        compare_gram(cases + c, 10 * c, CULL_F64, CULL_F64);
        compare_gram(cases + c, 10 * c, CULL_F32, CULL_F64);
        compare_gram(cases + c, 10 * c, CULL_F64, CULL_F32);
    }
}

struct answer {
    uint32_t index[64];
    double   weight[64];
    double   value;
};

static void solve(cull_backend *backend, cull_facility_problem problem,
                  const cull_facility_options *options, struct answer *answer)
{
    problem.index = answer->index;
    problem.weight = answer->weight;
    run(backend, CULL_OP_FACILITY, problem.count,
        &(cull_op_args){.facility = {&problem, 1, options}});
    answer->value = problem.value;
}

/* Values in small integers make every K exact, so that even ties must fall the same way. */
static void facility_picks_equal_the_reference_where_the_gram_matrix_is_exact(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        struct shape s = cases[c];
        if (s.n > 300) continue;
        if (s.levels == 0) s.levels = 5;
        cull_tensor           h = matrix(&s, c, CULL_F32, s.n, s.d);
        cull_tensor           p = matrix(&s, c + 50, CULL_F64, s.n, s.c);
        cull_facility_problem problem = {
            .count = s.n, .budget = s.n < 64 ? s.n : 64, .h = h, .p = p};

        for (int greedy = 0; greedy < 3; greedy++) {
            cull_facility_options options = {.greedy = (cull_greedy)greedy,
                                             .key = cull_key_make(c, "facility")};
            struct answer         want, got, again;

            solve(ref, problem, &options, &want);
            solve(one, problem, &options, &got);
            options.memory = 1000;
            solve(three, problem, &options, &again);
            assert_memory_equal(want.index, got.index, problem.budget * sizeof *got.index);
            assert_memory_equal(want.weight, got.weight, problem.budget * sizeof *got.weight);
            assert_near(want.value, got.value, want.value, 1e-12);
            assert_memory_equal(got.index, again.index, problem.budget * sizeof *got.index);
            assert_memory_equal(got.weight, again.weight, problem.budget * sizeof *got.weight);
            assert_true(got.value == again.value);
            solve(far, problem, &options, &again);
            assert_memory_equal(want.index, again.index, problem.budget * sizeof *got.index);
            assert_memory_equal(want.weight, again.weight, problem.budget * sizeof *got.weight);
            assert_true(want.value == again.value);
            options.memory = 0; /* a device holds every similarity */
            EACH_DEVICE(backend, CULL_OP_FACILITY)
            {
                memset(&again, 0xff, sizeof again);
                solve(backend, problem, &options, &again);
                assert_memory_equal(want.index, again.index, problem.budget * sizeof *got.index);
                assert_memory_equal(want.weight, again.weight, problem.budget * sizeof *got.weight);
                assert_near(want.value, again.value, want.value, 1e-12);
            }
        }
        free(h.data);
        free(p.data);
    }
}

static void every_operation_survives_failing_allocations(void **state)
{
    const cull_op_kind kinds[] = {CULL_OP_RANK, CULL_OP_KEYS, CULL_OP_TOP, CULL_OP_GRAM,
                                  CULL_OP_FACILITY};

    (void)state;
    for (size_t k = 0; k < 3 * (sizeof kinds / sizeof *kinds); k++) {
        cull_backend *backends[] = {three, far, device_with(0, kinds[k / 3])};

        for (size_t n = 1; backends[k % 3]; n++) {
            cull_op     *op = NULL;
            cull_op_desc desc = {.kind = kinds[k / 3], .rows = 1000};

            fail_nth_alloc(n);
            cull_status status = cull_op_ready(backends[k % 3], &desc, &op);
            cull_op_destroy(op);
            if (!alloc_has_failed()) {
                assert_ok(status);
                break;
            }
            assert_int_equal(CULL_NO_MEMORY, status);
        }
        fail_nth_alloc(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_equal_the_reference_bit_for_bit),
        cmocka_unit_test(keys_equal_the_reference_bit_for_bit),
        cmocka_unit_test(the_top_equals_the_reference_with_ties_and_infinities),
        cmocka_unit_test(gram_matrices_agree_are_symmetric_and_forget_the_threads),
        cmocka_unit_test(facility_picks_equal_the_reference_where_the_gram_matrix_is_exact),
        cmocka_unit_test(every_operation_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
