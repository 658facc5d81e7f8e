/*
 * tests/unit/test_precision.c - float32 signals are matched as float64 ones of the same numbers,
 * however near to each other the gradients are and whatever their size.
 */
#include "gradients.h"

enum { M = 128, D = 512, C = 10, KEPT = 64 };

/* The same numbers twice. */
struct twins {
    struct data  wide;
    float       *h, *p;
    cull_signals narrow;
};

static struct twins twins_of(struct data data)
{
    struct twins x = {.wide = data};

    x.h = malloc(data.n * data.d * sizeof *x.h);
    x.p = malloc(data.n * data.c * sizeof *x.p);
    for (size_t i = 0; i < data.n * data.d; i++) x.h[i] = (float)data.h[i];
    for (size_t i = 0; i < data.n * data.c; i++) x.p[i] = (float)data.p[i];
    for (size_t i = 0; i < data.n * data.d; i++) data.h[i] = (double)x.h[i];
    for (size_t i = 0; i < data.n * data.c; i++) data.p[i] = (double)x.p[i];
    x.narrow = data.signals;
    x.narrow.h = cull_matrix(x.h, CULL_F32, data.n, data.d);
    x.narrow.p = cull_matrix(x.p, CULL_F32, data.n, data.c);
    return x;
}

static void twins_free(struct twins *x)
{
    data_free(&x->wide);
    free(x->h);
    free(x->p);
}

/* Directions that differ from one by about `spread` of its length. */
static struct data near_by(uint64_t seed, size_t n, size_t d, double spread)
{
    struct data data = data_make(seed, n, d, C);

    for (size_t i = n * d; i-- > 0;) data.h[i] = data.h[i % d] + spread * data.h[i];
    for (size_t i = n * C; i-- > 0;)
        data.p[i] = random_normal(seed + 7, i % C) + spread * random_normal(seed + 9, i);
    return data;
}

static cull_subset select_by(const char *strategy, const char *options, const char *backend,
                             size_t batch, const cull_signals *signals, size_t budget)
{
    cull_setting   setting = {.pool = signals->count, .batch = batch, .seed = 1};
    cull_backend  *open = NULL;
    cull_selector *selector = NULL;
    cull_subset    out = {0};

    assert_ok(cull_backend_open(backend, 1, &open));
    setting.backend = open;
    selector = make_selector(strategy, options, &setting);
    assert_ok(cull_select(selector, signals, budget, &out));
    cull_selector_destroy(selector);
    cull_backend_close(open);
    return out;
}

static double error_of(const struct data *data, const cull_subset *subset)
{
    cull_diagnosis found = {0};
    double         error = 0;

    assert_ok(cull_diagnose(NULL, &data->signals, subset, NULL, &found));
    error = found.error / found.full;
    cull_diagnosis_clear(&found);
    return error;
}

/* Products of float32 numbers are exact in double, and summed there as those of doubles are: the
 * two agree to the bit, where 10 % of the error are asked for. */
static void assert_twins(const struct twins *x, const char *strategy, const char *options,
                         const char *backend, size_t batch, size_t budget)
{
    cull_subset wide = select_by(strategy, options, backend, batch, &x->wide.signals, budget);
    cull_subset narrow = select_by(strategy, options, backend, batch, &x->narrow, budget);

    if (wide.picked != narrow.picked)
        fail_msg("%s %s on %s: %zu picked from float64, %zu from float32, errors %g and %g",
                 strategy, options, backend, wide.picked, narrow.picked, error_of(&x->wide, &wide),
                 error_of(&x->wide, &narrow));
    assert_same(&wide, &narrow, 0);
    cull_subset_clear(&wide);
    cull_subset_clear(&narrow);
}

static void near_gradients_are_picked_from_float32_as_from_float64(void **state)
{
    static const double spreads[] = {1, .1, .01, .001, 1e-4, 1e-6, 0};

    (void)state;
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
        struct twins x = twins_of(near_by(s + 1, M, D, spreads[s]));

        assert_twins(&x, "gradmatch", "", "cpu", 0, KEPT);
        assert_twins(&x, "gradmatch", "nonnegative=omp", "cpu", 0, KEPT);
        assert_twins(&x, "divbs", "", "cpu", 0, KEPT);
        twins_free(&x);
    }
}

static void the_reference_does_the_same(void **state)
{
    static const double spreads[] = {.01, .001};

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct twins x = twins_of(near_by(s + 1, 40, 30, spreads[s]));

        assert_twins(&x, "gradmatch", "", "ref", 0, 20);
        twins_free(&x);
    }
}

/* The picks of a pursuit that has no negative weights to drop: all of them, down to .1 %. */
static void no_pick_is_lost_down_to_a_thousandth(void **state)
{
    static const double spreads[] = {1, .1, .01, .001};

    (void)state;
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
        struct twins     x = twins_of(near_by(s + 1, M, D, spreads[s]));
        double          *k = malloc((size_t)M * M * sizeof *k), t[M], weight[KEPT], b2 = 0;
        uint32_t         index[KEPT];
        cull_omp_problem problem = {
            .count = M, .budget = KEPT, .t = t, .index = index, .weight = weight};

        assert_ok(cull_gram(NULL, &x.narrow.h, &x.narrow.p, NULL, k, t, &b2));
        problem.k = cull_matrix(k, CULL_F64, M, M);
        problem.b2 = b2;
        assert_ok(cull_omp(NULL, &problem, 1, &(cull_omp_options){.tolerance = 0}));
        assert_int_equal(KEPT, problem.picked);
        free(k);
        twins_free(&x);
    }
}

/* Without a Gram matrix, by class, and with minibatches as atoms, stored or block by block. */
static void pools_are_matched_from_float32_as_from_float64(void **state)
{
    static const char *const options[] = {
        "scope=all ridge=0",   "scope=class ridge=0",          "scope=class-gradient ridge=0",
        "scope=batch ridge=0", "scope=batch ridge=0 memory=1",
    };
    static const double spreads[] = {.01, .001};

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct twins x = twins_of(near_by(s + 1, 400, 299, spreads[s]));

        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            assert_twins(&x, "grad-match", options[o], "cpu", 8, 120);
        twins_free(&x);
    }
}

static void batches_too_large_for_a_gram_matrix_too(void **state)
{
    struct twins x = twins_of(near_by(3, 4200, 20, .001));

    (void)state;
    assert_twins(&x, "gradmatch", "", "cpu", 0, 20);
    twins_free(&x);
}

/* Beside features of 2^60 and more the bias is nothing, so that powers of two change no bit. */
static struct twins scaled(size_t n, int h, int p)
{
    struct data data = data_make(5, n, 8, 4);

    for (size_t i = 0; i < n * data.d; i++) data.h[i] = ldexp((double)(float)data.h[i], h);
    for (size_t i = 0; i < n * data.c; i++) data.p[i] = ldexp((double)(float)data.p[i], p);
    return twins_of(data);
}

static void products_within_range_are_matched_whatever_their_factors(void **state)
{
    static const int exponents[][2] = {{66, -66}, {100, -100}, {120, 60}, {60, 120}, {120, -120}};
    struct twins     plain = scaled(60, 60, 0);
    cull_subset      want = select_by("gradmatch", "", "cpu", 0, &plain.wide.signals, 20);

    (void)state;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        struct twins x = scaled(60, exponents[e][0], exponents[e][1]);
        cull_subset  got = select_by("gradmatch", "", "cpu", 0, &x.narrow, 20);

        assert_same(&want, &got, 0);
        assert_twins(&x, "gradmatch", "", "ref", 0, 20);
        assert_twins(&x, "grad-match", "scope=all", "cpu", 0, 20);
        assert_twins(&x, "grad-match", "scope=batch", "cpu", 3, 20);
        cull_subset_clear(&got);
        twins_free(&x);
    }
    cull_subset_clear(&want);
    twins_free(&plain);
}

static void doubles_are_matched_or_an_example_is_named(void **state)
{
    static const int right[][2] = {{400, 300}, {500, -900}, {300, -600}, {60, -1000}};
    struct twins     plain = scaled(60, 60, 0), large = scaled(60, 60, 0);
    cull_subset      want = select_by("gradmatch", "", "cpu", 0, &plain.wide.signals, 20);
    cull_subset      out = {0};
    cull_setting     setting = {.pool = 60, .seed = 1};
    cull_selector   *selector = make_selector("gradmatch", "", &setting);

    (void)state;
    for (size_t e = 0; e < sizeof right / sizeof *right; e++) {
        struct data *data = &large.wide;

        for (size_t i = 0; i < data->n * data->d; i++)
            data->h[i] = ldexp(plain.wide.h[i], right[e][0] - 60);
        for (size_t i = 0; i < data->n * data->c; i++)
            data->p[i] = ldexp(plain.wide.p[i], right[e][1]);
        assert_ok(cull_select(selector, &data->signals, 20, &out));
        assert_same(&want, &out, 0);
    }
    large.wide.h[7 * large.wide.d] = 1e200;
    assert_fails(CULL_NOT_FINITE, "example 7",
                 cull_select(selector, &large.wide.signals, 20, &out));
    assert_int_equal(0, out.count);
    cull_selector_destroy(selector);
    cull_subset_clear(&want);
    cull_subset_clear(&out);
    twins_free(&plain);
    twins_free(&large);
}

static void a_target_is_rescaled_with_the_examples(void **state)
{
    struct twins plain = scaled(60, 60, 0), large = scaled(60, 60, -800), aim = scaled(60, 60, 0);
    cull_subset  want = {0}, got = {0};

    (void)state;
    aim.wide.n = 9;
    aim.wide.signals.h.shape[0] = aim.wide.signals.p.shape[0] = 9;
    as_target(&aim.wide, &plain.wide.signals.target);
    want = select_by("gradmatch", "match=validation", "cpu", 0, &plain.wide.signals, 20);
    for (size_t i = 0; i < 60 * large.wide.c; i++) large.wide.p[i] = ldexp(plain.wide.p[i], -800);
    for (size_t i = 0; i < 9 * aim.wide.c; i++) aim.wide.p[i] = ldexp(aim.wide.p[i], -800);
    as_target(&aim.wide, &large.wide.signals.target);
    got = select_by("gradmatch", "match=validation", "cpu", 0, &large.wide.signals, 20);
    assert_same(&want, &got, 0);
    cull_subset_clear(&want);
    cull_subset_clear(&got);
    twins_free(&plain);
    twins_free(&large);
    twins_free(&aim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_gradients_are_picked_from_float32_as_from_float64),
        cmocka_unit_test(the_reference_does_the_same),
        cmocka_unit_test(no_pick_is_lost_down_to_a_thousandth),
        cmocka_unit_test(pools_are_matched_from_float32_as_from_float64),
        cmocka_unit_test(batches_too_large_for_a_gram_matrix_too),
        cmocka_unit_test(products_within_range_are_matched_whatever_their_factors),
        cmocka_unit_test(doubles_are_matched_or_an_example_is_named),
        cmocka_unit_test(a_target_is_rescaled_with_the_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
