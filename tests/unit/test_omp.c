/*
 * tests/unit/test_omp.c - properties of orthogonal matching pursuit on a Gram matrix, on both
 * backends.
 */
#include "unit/omp_support.h"

static const char *const      backends[] = {"cpu", "ref"};
static const cull_omp_options plain = {.tolerance = 1e-6};

/* A loop over the backends' names. */
#define EACH_BACKEND(name)                                                                         \
    for (const char *name = backends[0]; name; name = name == backends[0] ? backends[1] : NULL)

static void the_residual_never_grows_with_the_budget(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct atoms     a = atoms_make(seed, 40, 30, seed % 2 ? 1 : 0.4);
            cull_omp_options options = {
                .tolerance = 0, .ridge = seed % 3 == 0 ? 0.5 : 0, .nonnegative = seed % 4 == 0};
            double before = 1;

            for (size_t m = 1; m <= 30; m++) {
                struct answer x = solve(name, explicit_problem(&a, m), &options);
                assert_true(x.residual <= before + 1e-12);
                before = x.residual;
                answer_clear(&x);
            }
            assert_true(before < 1);
            atoms_clear(&a);
        }
    }
}

static void the_residual_reported_is_the_residual(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms  a = atoms_make(3, 50, 60, 1);
        struct answer x = solve(name, explicit_problem(&a, 20), &plain);
        double        r[60];

        residual_of(&a, &x, r);
        assert_true(fabs(sqrt(dot(a.d, r, r) / a.b2) - x.residual) < 1e-12);
        answer_clear(&x);
        atoms_clear(&a);
    }
}

/* |g . r| against what the rounding of its sum allows, |g| times all that went into r. */
static void the_residual_is_orthogonal_to_picked_atoms(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct atoms  a = atoms_make(seed, 60, 40, seed % 2 ? 1 : 0.5);
            struct answer x = solve(name, explicit_problem(&a, 25), &plain);
            double        r[40], went_in = sqrt(a.b2);

            residual_of(&a, &x, r);
            for (size_t j = 0; j < x.picked; j++)
                went_in += fabs(x.weight[j]) * sqrt(a.k[x.index[j] * a.n + x.index[j]]);
            for (size_t j = 0; j < x.picked; j++) {
                double norm = sqrt(a.k[x.index[j] * a.n + x.index[j]]);
                assert_true(fabs(dot(a.d, a.g + x.index[j] * a.d, r)) <= 1e-13 * norm * went_in);
            }
            assert_true(x.picked >= 10);
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

static void a_planted_sparse_mix_is_recovered(void **state)
{
    static const uint32_t planted[] = {7, 101, 42, 66, 3};
    static const double   weight[] = {5, -4, 3, 2.5, -2};

    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms  a = atoms_make(5, 120, 200, 1);
        struct answer x;

        memset(a.b, 0, a.d * sizeof *a.b);
        for (size_t j = 0; j < 5; j++)
            for (size_t l = 0; l < a.d; l++) a.b[l] += weight[j] * a.g[planted[j] * a.d + l];
        atoms_finish(&a);
        x = solve(name, explicit_problem(&a, 60), &plain);
        assert_int_equal(5, x.picked);
        assert_int_equal(CULL_OMP_FIT, x.stop);
        assert_true(x.residual < 1e-6);
        for (size_t j = 0; j < 5; j++) {
            size_t at = 0;
            while (at < 5 && x.index[at] != planted[j]) at++;
            assert_in_range(at, 0, 4);
            assert_true(fabs(x.weight[at] - weight[j]) < 1e-10);
        }
        answer_clear(&x);
        atoms_clear(&a);
    }
}

/* Without |b| only the correlations can say that nothing is left, and they are not zero but
 * rounding. */
static void an_exact_fit_ends_the_picking_when_the_targets_norm_is_unknown(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct atoms     a = atoms_make(seed, 60, 90, 1);
            cull_omp_options options = {.tolerance = 0, .nonnegative = seed % 2};
            cull_omp_problem problem;
            struct answer    x;

            for (size_t l = 0; l < a.d; l++) a.b[l] = 3 * a.g[9 * a.d + l] + 2 * a.g[44 * a.d + l];
            atoms_finish(&a);
            problem = explicit_problem(&a, 50);
            problem.b2 = 0;
            x = solve(name, problem, &options);
            assert_int_equal(2, x.picked);
            assert_int_equal(CULL_OMP_NO_GAIN, x.stop);
            assert_true(isnan(x.residual));
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

/* 60 atoms, 12 different ones, and a target that none of them reach. */
static void duplicates_end_cleanly(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct atoms     a = atoms_make(seed, 60, 40, 1);
            cull_omp_problem problem;
            struct answer    x;

            for (size_t i = 12; i < 60; i++)
                memcpy(a.g + i * a.d, a.g + i * 7 % 12 * a.d, a.d * sizeof *a.g);
            atoms_finish(&a);
            problem = explicit_problem(&a, 60);
            if (seed % 2) problem.b2 = 0;
            x = solve(name, problem, &plain);
            assert_int_equal(12, x.picked);
            assert_int_equal(CULL_OMP_DEPENDENT, x.stop);
            for (size_t j = 0; j < 12; j++) assert_in_range(x.index[j], 0, 11);
            assert_true(largest_weight(&x) < 100);
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

/* Sums of other atoms depend on them without repeating any. */
static void a_rank_that_runs_out_ends_the_picking(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct atoms  a = atoms_make(seed, 50, 16, 1);
            struct answer x;

            a.b2 *= 2; /* as if b had a part that no atom has */
            x = solve(name, explicit_problem(&a, 40), &plain);
            assert_int_equal(16, x.picked);
            assert_int_equal(CULL_OMP_DEPENDENT, x.stop);
            assert_true(fabs(x.residual - sqrt(0.5)) < 1e-9);
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

static void with_ridge_no_atom_is_picked_twice(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms     a = atoms_make(4, 40, 10, 1);
        cull_omp_options options = {.ridge = 0.5, .tolerance = 1e-6};
        struct answer    x = solve(name, explicit_problem(&a, 40), &options);

        assert_int_equal(40, x.picked);
        assert_int_equal(CULL_OMP_BUDGET, x.stop);
        for (size_t j = 0; j < 40; j++) assert_false(picked_before(&x, x.index[j], j));
        answer_clear(&x);
        atoms_clear(&a);
    }
}

static struct answer solve_scaled(const char *name, struct atoms a, double scale,
                                  const cull_omp_options *options)
{
    struct answer x;
    double       *k = make(a.n * a.n, sizeof *k), *t = make(a.n, sizeof *t);

    for (size_t i = 0; i < a.n * a.n; i++) k[i] = a.k[i] * scale * scale;
    for (size_t i = 0; i < a.n; i++) t[i] = a.t[i] * scale * scale;
    a.k = k;
    a.t = t;
    a.b2 *= scale * scale;
    x = solve(name, explicit_problem(&a, 25), options);
    free(k);
    free(t);
    return x;
}

/* Powers of two to the last bit; any factor up to rounding, which a condition of 1e7 makes
 * 1e-8 of the weights. b scales as the atoms do. */
static void scaling_all_gradients_changes_nothing(void **state)
{
    static const double scales[] = {0x1p-60, 0x1p-20, 0x1p50, 1e-9, 3e7};

    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct atoms     a = atoms_make(seed, 40, 22, seed % 2 ? 1 : 0.7);
            cull_omp_options options = {.ridge = seed > 2 ? 0.1 : 0, .tolerance = 1e-6};
            struct answer    x = solve(name, explicit_problem(&a, 25), &options);

            for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
                struct answer y = solve_scaled(name, a, scales[i], &options);
                assert_same_answer(&y, &x, i < 3 ? 0 : 1e-6);
                answer_clear(&y);
            }
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

static void the_order_of_the_pool_changes_nothing(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct atoms     a = atoms_make(seed, 70, 50, 1), b = atoms_make(seed, 70, 50, 1);
            cull_omp_options options = {.ridge = seed % 2 ? 0 : 0.5, .tolerance = 1e-6};
            struct answer    x, y;

            for (size_t i = 0; i < a.n; i++) /* 27 and 70 share no factor */
                memcpy(b.g + i * 27 % 70 * a.d, a.g + i * a.d, a.d * sizeof *a.g);
            atoms_finish(&b);
            x = solve(name, explicit_problem(&a, 30), &options);
            y = solve(name, explicit_problem(&b, 30), &options);
            for (size_t j = 0; j < x.picked; j++) x.index[j] = (uint32_t)(x.index[j] * 27 % 70);
            assert_same_answer(&x, &y, 1e-10);
            answer_clear(&x);
            answer_clear(&y);
            atoms_clear(&a);
            atoms_clear(&b);
        }
    }
}

static void normalise(struct answer *x)
{
    double sum = 0;

    for (size_t j = 0; j < x->picked; j++) sum += x->weight[j];
    for (size_t j = 0; j < x->picked; j++) x->weight[j] /= sum;
}

static void mean_or_sum_as_the_target_is_the_same_once_normalised(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms  a = atoms_make(8, 48, 70, 1);
        struct answer x, y;

        memset(a.b, 0, a.d * sizeof *a.b);
        for (size_t i = 0; i < a.n * a.d; i++) a.b[i % a.d] += a.g[i];
        atoms_finish(&a);
        x = solve(name, explicit_problem(&a, 20), &plain);
        for (size_t l = 0; l < a.d; l++) a.b[l] /= (double)a.n;
        atoms_finish(&a);
        y = solve(name, explicit_problem(&a, 20), &plain);
        normalise(&x);
        normalise(&y);
        assert_same_answer(&x, &y, 1e-10);
        answer_clear(&x);
        answer_clear(&y);
        atoms_clear(&a);
    }
}

/* With all atoms the weights solve K w = t: no correlation is left anywhere. */
static void all_atoms_give_least_squares(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms     a = atoms_make(9, 40, 60, 1);
        cull_omp_options options = {.tolerance = 0};
        struct answer    x = solve(name, explicit_problem(&a, 40), &options);
        double           r[60];

        assert_int_equal(40, x.picked);
        residual_of(&a, &x, r);
        for (size_t i = 0; i < a.n; i++) assert_true(fabs(dot(a.d, a.g + i * a.d, r)) < 1e-11);
        answer_clear(&x);
        atoms_clear(&a);
    }
}

static void a_zero_target_picks_nothing_and_says_so(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms     a = atoms_make(10, 20, 30, 1);
        cull_omp_problem problem;
        struct answer    x, y;

        memset(a.t, 0, a.n * sizeof *a.t);
        problem = explicit_problem(&a, 5);
        problem.b2 = 0;
        x = solve(name, problem, &plain);
        assert_int_equal(0, x.picked);
        assert_int_equal(CULL_OMP_ZERO_TARGET, x.stop);
        assert_true(isnan(x.residual));
        y = solve(name, explicit_problem(&a, 5), &plain); /* b2 > 0: b is orthogonal to all */
        assert_int_equal(0, y.picked);
        assert_int_equal(CULL_OMP_NO_GAIN, y.stop);
        assert_true(y.residual == 1);
        answer_clear(&x);
        answer_clear(&y);
        atoms_clear(&a);
    }
}

static void signed_picks_end_when_no_correlation_is_positive(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms     a = atoms_make(11, 30, 40, 1);
        cull_omp_options options = {.tolerance = 0, .pick = CULL_PICK_SIGNED};
        struct answer    x, y;

        for (size_t i = 0; i < a.n; i++) a.t[i] = -fabs(a.t[i]);
        x = solve(name, explicit_problem(&a, 10), &options);
        assert_int_equal(0, x.picked);
        assert_int_equal(CULL_OMP_NO_GAIN, x.stop);
        a.t[17] = 0.01;
        y = solve(name, explicit_problem(&a, 10), &options);
        assert_true(y.picked >= 1);
        assert_int_equal(17, y.index[0]);
        answer_clear(&x);
        answer_clear(&y);
        atoms_clear(&a);
    }
}

static void atoms_of_norm_zero_are_never_picked(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        for (int ridge = 0; ridge < 2; ridge++) {
            struct atoms     a = atoms_make(12, 20, 30, 1);
            cull_omp_options options = {.tolerance = 0, .ridge = ridge};
            struct answer    x;

            memset(a.g + 4 * a.d, 0, 3 * a.d * sizeof *a.g);
            atoms_finish(&a);
            x = solve(name, explicit_problem(&a, 20), &options);
            assert_int_equal(17, x.picked);
            assert_int_equal(CULL_OMP_DEPENDENT, x.stop);
            for (size_t j = 0; j < x.picked; j++) assert_true(x.index[j] < 4 || x.index[j] > 6);
            answer_clear(&x);
            atoms_clear(&a);
        }
    }
}

static void one_atom_alone_is_its_own_least_squares(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        struct atoms  a = atoms_make(13, 1, 3, 1);
        struct answer x = solve(name, explicit_problem(&a, 1), &plain);

        assert_int_equal(1, x.picked);
        assert_true(fabs(x.weight[0] - a.t[0] / a.k[0]) < 1e-14 * fabs(x.weight[0]));
        answer_clear(&x);
        atoms_clear(&a);
    }
}

static void ties_go_to_the_lower_index(void **state)
{
    (void)state;
    EACH_BACKEND(name)
    {
        double           k[200 * 200] = {0}, t[200];
        cull_omp_problem problem = {.count = 200, .budget = 9, .t = t};
        struct answer    x;

        for (size_t i = 0; i < 200; i++) {
            k[i * 200 + i] = 1;
            t[i] = i % 2 ? -3 : 1;
        }
        problem.k = cull_matrix(k, CULL_F64, 200, 200);
        x = solve(name, problem, &plain);
        assert_int_equal(9, x.picked);
        for (size_t j = 0; j < 9; j++) assert_int_equal(2 * j + 1, x.index[j]);
        answer_clear(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_residual_never_grows_with_the_budget),
        cmocka_unit_test(the_residual_reported_is_the_residual),
        cmocka_unit_test(the_residual_is_orthogonal_to_picked_atoms),
        cmocka_unit_test(a_planted_sparse_mix_is_recovered),
        cmocka_unit_test(an_exact_fit_ends_the_picking_when_the_targets_norm_is_unknown),
        cmocka_unit_test(duplicates_end_cleanly),
        cmocka_unit_test(a_rank_that_runs_out_ends_the_picking),
        cmocka_unit_test(with_ridge_no_atom_is_picked_twice),
        cmocka_unit_test(scaling_all_gradients_changes_nothing),
        cmocka_unit_test(the_order_of_the_pool_changes_nothing),
        cmocka_unit_test(mean_or_sum_as_the_target_is_the_same_once_normalised),
        cmocka_unit_test(all_atoms_give_least_squares),
        cmocka_unit_test(a_zero_target_picks_nothing_and_says_so),
        cmocka_unit_test(signed_picks_end_when_no_correlation_is_positive),
        cmocka_unit_test(atoms_of_norm_zero_are_never_picked),
        cmocka_unit_test(one_atom_alone_is_its_own_least_squares),
        cmocka_unit_test(ties_go_to_the_lower_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
