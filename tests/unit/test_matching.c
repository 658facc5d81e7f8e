/*
 * tests/unit/test_matching.c - how matched subsets are completed: what fills them, the weights
 * solved again, and that no filling worsens the match. Against stored gradients, in double.
 */
#include <stdio.h>

#include "gradients.h"

static const double tolerance = 1e-6; /* of weights near 1; condition of the refit up to 1e6 */
static const double rounding = 1e-12; /* of an error, as a share of |b|^2 */

struct problem {
    size_t    n, size;
    double   *g, *b; /* (n, size), [size] */
    uint32_t *row;   /* [n]               */
};

/* The examples of a class (-1: all), of one column of the gradient or all; b is the sum. */
static struct problem problem_make(const struct data *data, const struct data *target, int class,
                                   int column)
{
    size_t         size = column < 0 ? data->c * (data->d + 1) : data->d + 1;
    struct problem x = {.size = size,
                        .g = malloc(data->n * size * sizeof(double)),
                        .b = calloc(size, sizeof(double)),
                        .row = malloc(data->n * sizeof(uint32_t))};
    double        *one = malloc(size * sizeof *one);

    for (size_t i = 0; i < data->n; i++) {
        if (class >= 0 && data->label[i] != class) continue;
        gradient(data, i, column, x.g + x.n * size);
        x.row[x.n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < target->n; i++) {
        if (class >= 0 && target->label[i] != class) continue;
        gradient(target, i, column, one);
        for (size_t j = 0; j < size; j++) x.b[j] += one[j];
    }
    free(one);
    return x;
}

static void problem_free(struct problem *x)
{
    free(x->g);
    free(x->b);
    free(x->row);
}

static cull_subset select_of(const char *strategy, const char *options, const char *backend,
                             size_t batch, const cull_signals *signals, size_t budget)
{
    cull_setting   setting = {.pool = signals->count, .seed = 3, .batch = batch};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};

    assert_ok(cull_backend_open(backend, 2, &setting.backend));
    selector = make_selector(strategy, options, &setting);
    assert_ok(cull_select(selector, signals, budget, &subset));
    cull_selector_destroy(selector);
    cull_backend_close(setting.backend);
    return subset;
}

static size_t atom_of(const struct problem *x, uint32_t row)
{
    size_t i = 0;

    while (i < x->n && x->row[i] != row) i++;
    return i;
}

/* Brute force over the picks, then over what `found` filled them with: expected[] by row.
 * Returns how many were filled. */
static size_t expect(const struct problem *x, size_t m, double ridge, const cull_subset *found,
                     double *expected)
{
    uint32_t *index = malloc(m * sizeof *index);
    double   *weight = malloc(m * sizeof *weight);
    size_t    picked = 0, count = 0;

    brute_omp(x->g, x->n, x->size, x->b, m, ridge, true, index, weight);
    for (size_t i = 0; i < m; i++) {
        if (weight[i] <= 0) continue;
        index[picked] = index[i];
        weight[picked++] = weight[i];
    }
    count = picked;
    for (size_t i = 0; i < found->count; i++) {
        uint32_t atom = (uint32_t)atom_of(x, found->index[i]);
        bool     known = atom == x->n;
        for (size_t j = 0; j < picked; j++) known |= index[j] == atom;
        if (known) continue;
        assert_true(count < m);
        index[count++] = atom;
    }
    assert_int_equal(m, count);
    if (picked < m) brute_refit(x->g, x->n, x->size, x->b, ridge, index, picked, m, weight);
    for (size_t i = 0; i < m; i++) expected[x->row[index[i]]] = weight[i];
    free(index);
    free(weight);
    return m - picked;
}

static void assert_expected(const double *expected, const cull_subset *found)
{
    double sum = 0;

    for (size_t i = 0; i < found->count; i++) sum += expected[found->index[i]];
    for (size_t i = 0; i < found->count; i++)
        assert_near(expected[found->index[i]] * (double)found->count / sum, found->weight[i],
                    tolerance);
}

static void filled_minibatches_weigh_what_brute_force_says(void **state)
{
    static const char *const ridges[] = {"ridge=0", "ridge=0.1", "ridge=0 match=validation"};
    size_t                   filled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 15; seed++) {
        struct data data = data_make(seed, 30 + seed, 5, 3), other = data_make(seed + 9, 12, 5, 3);

        as_target(&other, &data.signals.target);
        for (size_t k = 0; k < 6; k++) {
            size_t         m = 5 + seed % 6; /* below the rank, 12 */
            struct problem x = problem_make(&data, k / 2 == 2 ? &other : &data, -1, -1);
            double        *expected = calloc(data.n, sizeof *expected);
            cull_subset    found =
                select_of("gradmatch", ridges[k / 2], k % 2 ? "cpu" : "ref", 0, &data.signals, m);
            size_t fill = expect(&x, m, k / 2 == 1 ? 0.1 : 0, &found, expected);

            assert_int_equal(m, found.count);
            assert_int_equal(m - fill, found.picked);
            assert_int_equal(fill ? CULL_SUBSET_FILLED : 0, found.flags);
            assert_expected(expected, &found);
            filled += fill > 0;
            free(expected);
            problem_free(&x);
            cull_subset_clear(&found);
        }
        data_free(&data);
        data_free(&other);
    }
    assert_true(filled > 30);
}

/* Class-gradient problems of 6 numbers, filled to 12 and more, are solved in the primal form. */
static void filled_pools_weigh_what_brute_force_says(void **state)
{
    static const struct {
        const char *options;
        double      ridge;
        bool        by_class, one_row;
        size_t      k;
    } cases[] = {
        {"scope=class-gradient ridge=0.01 match=validation", 0.01, true, true, 45},
        {"scope=class ridge=0.1 match=validation", 0.1, true, false, 24},
        {"scope=class ridge=0 match=validation", 0, true, false, 21},
        {"scope=class-gradient ridge=0.05 memory=1 match=validation", 0.05, true, true, 60},
        {"scope=all ridge=0 match=validation", 0, false, false, 11}};
    size_t filled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data data = data_make(seed, 90, 5, 3), other = data_make(seed + 30, 30, 5, 3);

        as_target(&other, &data.signals.target);
        for (size_t k = 0; k < 10; k++) {
            size_t      number = k / 2, at = cases[number].k, size[3] = {0}, share[3] = {at};
            bool        by_class = cases[number].by_class;
            double     *expected = calloc(data.n, sizeof *expected);
            cull_subset found = select_of("grad-match", cases[number].options,
                                          k % 2 ? "cpu" : "ref", 0, &data.signals, at);

            for (size_t i = 0; i < data.n; i++) size[data.label[i]]++;
            if (by_class) cull_budget_split(at, size, 3, share);
            for (int c = 0; c < (by_class ? 3 : 1); c++) {
                struct problem x =
                    problem_make(&data, &other, by_class ? c : -1, cases[number].one_row ? c : -1);
                filled += expect(&x, share[c], cases[number].ridge, &found, expected) > 0;
                problem_free(&x);
            }
            assert_int_equal(at, found.count);
            assert_expected(expected, &found);
            free(expected);
            cull_subset_clear(&found);
        }
        data_free(&data);
        data_free(&other);
    }
    assert_true(filled > 60);
}

/* Of all gradients, a share of |b|^2; solved weights are m times the solver's. */
static double relative_error(const struct problem *x, double rows, const cull_subset *found)
{
    double *weight = malloc((found->count + 1) * sizeof *weight), error = 0;

    for (size_t i = 0; i < found->count; i++)
        weight[i] = found->weight[i] / (double)found->count * rows;
    error = matching_error(x->g, found->index, weight, found->count, x->size, x->b) /
            inner(x->b, x->b, x->size);
    free(weight);
    return error;
}

/* All examples lie in `rank` directions of the (D, C) ones there are. */
static void lower_rank(struct data *data, size_t rank)
{
    for (size_t i = 0; i < data->n; i++) {
        memmove(data->h + i * data->d, data->h + i % rank * data->d, data->d * sizeof(double));
        for (size_t c = 0; c < data->c; c++)
            data->p[i * data->c + c] =
                data->p[i % rank * data->c + c] * (1 + (double)(i / rank % 7) / 8);
    }
}

/* Spreads below shrink towards one direction; ranks below m end the pursuit. */
static void filling_never_raises_the_error(void **state)
{
    static const char *const solvers[] = {"ridge=0", "ridge=0.3", "nonnegative=omp", "pick=signed",
                                          "match=validation"};
    size_t                   filled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        size_t      n = 20 + seed, d = 1 + seed % 6, m = 4 + seed % 13;
        struct data data = data_make(seed, n, d, 3), other = data_make(seed + 50, 9, d, 3);

        if (seed % 4 == 0) lower_rank(&data, 2 + seed % 5);
        as_target(&other, &data.signals.target);
        for (size_t k = 0; k < 10; k++) {
            const struct data *target = k / 2 == 4 ? &other : &data;
            struct problem     x = problem_make(&data, target, -1, -1);
            const char        *backend = k % 2 ? "cpu" : "ref";
            char               options[96];
            cull_subset        brief = {0}, found = {0};
            double             before = 1, after = 0;

            (void)snprintf(options, sizeof options, "weights=solved short=accept %s",
                           solvers[k / 2]);
            brief = select_of("gradmatch", options, backend, 0, &data.signals, m);
            (void)snprintf(options, sizeof options, "weights=solved %s", solvers[k / 2]);
            found = select_of("gradmatch", options, backend, 0, &data.signals, m);
            assert_int_equal(m, found.count);
            assert_int_equal(brief.count, found.picked);
            if (brief.count) before = relative_error(&x, (double)target->n, &brief);
            after = relative_error(&x, (double)target->n, &found);
            if (!(found.flags & CULL_SUBSET_FALLBACK) && !(after <= before + rounding))
                fail_msg("seed %d, %s, %s: %g before filling, %g after", (int)seed, solvers[k / 2],
                         backend, before, after);
            filled += found.flags == CULL_SUBSET_FILLED;
            problem_free(&x);
            cull_subset_clear(&brief);
            cull_subset_clear(&found);
        }
        data_free(&data);
        data_free(&other);
    }
    assert_true(filled > 200);
}

static void below_full_rank_the_match_stays_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct data    data = data_make(seed, 60, 6, 3);
        struct problem x = {0};
        cull_subset    found = {0};
        size_t         positive = 0;

        lower_rank(&data, 5);
        x = problem_make(&data, &data, -1, -1);
        found = select_of("gradmatch", "weights=solved", "cpu", 0, &data.signals, 24);
        assert_int_equal(CULL_SUBSET_FILLED, found.flags);
        assert_int_equal(24, found.count);
        assert_true(found.picked <= 5);
        assert_true(relative_error(&x, 60, &found) < rounding);
        for (size_t i = 0; i < 24; i++) positive += found.weight[i] > 0;
        assert_int_equal(found.picked, positive);
        problem_free(&x);
        cull_subset_clear(&found);
        data_free(&data);
    }
}

static void solved_weights_are_those_of_the_solver_also_of_a_rescaled_batch(void **state)
{
    struct data data = data_make(4, 40, 6, 3), other = data_make(5, 10, 6, 3);

    (void)state;
    as_target(&other, &data.signals.target);
    for (size_t k = 0; k < 4; k++) {
        const char *options = k % 2 ? "weights=solved match=validation" : "weights=solved";
        cull_subset mean = {0}, found = {0};
        double      sum = 0;
        size_t      rows = k % 2 ? other.n : data.n;

        for (size_t i = 0; k == 2 && i < data.n * data.c; i++) data.p[i] = ldexp(data.p[i], -200);
        struct problem x = problem_make(&data, k % 2 ? &other : &data, -1, -1);
        found = select_of("gradmatch", options, "cpu", 0, &data.signals, 16);
        mean = select_of("gradmatch", k % 2 ? "match=validation" : "", "cpu", 0, &data.signals, 16);
        assert_true(relative_error(&x, (double)rows, &found) < 0.5);
        sum = weight_sum(&found);
        for (size_t i = 0; i < 16; i++) {
            assert_int_equal(mean.index[i], found.index[i]);
            assert_near(mean.weight[i], found.weight[i] * 16 / sum, rounding);
        }
        problem_free(&x);
        cull_subset_clear(&mean);
        cull_subset_clear(&found);
    }
    data_free(&data);
    data_free(&other);
}

/* Beyond 4096 examples there is no K: the dual form at 45 numbers a gradient, the primal at 6. The
 * rank is 30, and 4. */
static void large_batches_are_filled_alike(void **state)
{
    static const size_t widths[] = {14, 1};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct data    data = data_make(21 + k, 4200, widths[k], 3);
        struct problem x = problem_make(&data, &data, -1, -1);
        cull_subset    brief =
            select_of("gradmatch", "weights=solved short=accept", "cpu", 0, &data.signals, 25);
        cull_subset found = select_of("gradmatch", "weights=solved", "cpu", 0, &data.signals, 25);
        double     *expected = calloc(data.n, sizeof *expected);

        assert_int_equal(CULL_SUBSET_FILLED, found.flags);
        assert_int_equal(25, found.count);
        assert_int_equal(brief.count, found.picked);
        assert_true(relative_error(&x, 4200, &found) <=
                    relative_error(&x, 4200, &brief) + rounding);
        if (k == 0) {
            (void)expect(&x, 25, 0, &found, expected);
            for (size_t i = 0; i < 25; i++)
                assert_near(expected[found.index[i]] * 25 / 4200, found.weight[i], tolerance);
        }
        free(expected);
        problem_free(&x);
        cull_subset_clear(&brief);
        cull_subset_clear(&found);
        data_free(&data);
    }
}

/* The error over minibatches: all examples of one weigh the same. */
static void whole_minibatches_fill_and_do_not_raise_the_error(void **state)
{
    size_t filled = 0, lowered = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        static const char *const memory[] = {"memory=1024", "memory=1"};
        struct data              data = data_make(seed, 120, seed % 2 ? 5 : 1, 2);
        struct problem           x = problem_make(&data, &data, -1, -1);

        for (size_t k = 0; k < 2; k++) {
            char        options[64];
            cull_subset brief = {0}, found = {0};
            double      scale[2] = {0}, error[2] = {0};

            (void)snprintf(options, sizeof options, "scope=batch ridge=0 %s short=accept",
                           memory[k]);
            brief = select_of("grad-match", options, "cpu", 6, &data.signals, 60);
            (void)snprintf(options, sizeof options, "scope=batch ridge=0 %s", memory[k]);
            found = select_of("grad-match", options, "cpu", 6, &data.signals, 60);
            assert_int_equal(60, found.count);
            assert_int_equal(brief.count, found.picked);
            if (brief.count == 0) continue;
            for (size_t s = 0; s < 2; s++) { /* the length is free: the best one there is */
                const cull_subset *one = s ? &found : &brief;
                double            *sum = calloc(x.size, sizeof *sum);

                for (size_t i = 0; i < one->count; i++)
                    for (size_t l = 0; l < x.size; l++)
                        sum[l] += one->weight[i] * x.g[one->index[i] * x.size + l];
                scale[s] = inner(sum, x.b, x.size) / inner(sum, sum, x.size);
                for (size_t l = 0; l < x.size; l++)
                    error[s] += pow(scale[s] * sum[l] - x.b[l], 2) / inner(x.b, x.b, x.size);
                free(sum);
            }
            assert_true(error[1] <= error[0] + 1e-6); /* the shift bends the direction so far */
            filled += found.flags == CULL_SUBSET_FILLED;
            lowered += error[1] < error[0] - 1e-3;
            cull_subset_clear(&brief);
            cull_subset_clear(&found);
        }
        problem_free(&x);
        data_free(&data);
    }
    assert_true(filled >= 12 && lowered >= 4);
}

/* The only pick, of the largest |correlation|, is clipped. Drawn again it is a random subset;
 * any other example matches: filled, not fallen back. */
static void where_all_are_clipped_what_fills_may_still_match(void **state)
{
    double       h[] = {6, -1, -1.5, -2}, p[] = {1, 1, 1, 1}, th[] = {-1}, tp[] = {1};
    cull_signals signals = {.count = 4,
                            .h = cull_matrix(h, CULL_F64, 4, 1),
                            .p = cull_matrix(p, CULL_F64, 4, 1),
                            .target = {.count = 1,
                                       .h = cull_matrix(th, CULL_F64, 1, 1),
                                       .p = cull_matrix(tp, CULL_F64, 1, 1)}};
    size_t       filled = 0, fallen = 0;

    (void)state;
    for (signals.step = 0; signals.step < 40; signals.step++) {
        const char *options = "match=validation weights=solved";
        cull_subset found = select_of("gradmatch", options, "cpu", 0, &signals, 1);
        uint32_t    at = found.index[0];

        assert_true(found.count == 1 && found.picked == 0);
        if (at == 0) {
            assert_true(found.flags == CULL_SUBSET_FALLBACK && found.weight[0] == 1);
            fallen++;
        } else {
            assert_int_equal(CULL_SUBSET_FILLED, found.flags);
            assert_near((1 - h[at]) / (1 + h[at] * h[at]), found.weight[0], 2e-6);
            filled++;
        }
        cull_subset_clear(&found);
    }
    assert_true(filled >= 20 && fallen >= 3);
}

static void the_old_word_and_weights_of_others_are_refused(void **state)
{
    cull_setting   setting = {.pool = 8};
    cull_selector *selector = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "refit",
                 try_selector("gradmatch", "short=fill", &setting, &selector));
    assert_fails(CULL_BAD_OPTION, "refit",
                 try_selector("grad-match", "short=fill", &setting, &selector));
    assert_fails(CULL_BAD_OPTION, "refit",
                 try_selector("divbs", "short=fill", &setting, &selector));
    assert_fails(CULL_UNKNOWN_OPTION, "grad-match: no option is called 'weights'",
                 try_selector("grad-match", "weights=solved", &setting, &selector));
    assert_fails(CULL_UNKNOWN_OPTION, "divbs: no option is called 'weights'",
                 try_selector("divbs", "weights=solved", &setting, &selector));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_minibatches_weigh_what_brute_force_says),
        cmocka_unit_test(filled_pools_weigh_what_brute_force_says),
        cmocka_unit_test(filling_never_raises_the_error),
        cmocka_unit_test(below_full_rank_the_match_stays_exact),
        cmocka_unit_test(solved_weights_are_those_of_the_solver_also_of_a_rescaled_batch),
        cmocka_unit_test(large_batches_are_filled_alike),
        cmocka_unit_test(whole_minibatches_fill_and_do_not_raise_the_error),
        cmocka_unit_test(where_all_are_clipped_what_fills_may_still_match),
        cmocka_unit_test(the_old_word_and_weights_of_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
