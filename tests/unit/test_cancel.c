/*
 * tests/unit/test_cancel.c - gradients that cancel leave nothing to match: no atom is picked for
 * the rounding of their sum, but what is more than rounding is matched.
 */
#include <stdio.h>

#include "gradients.h"

enum { D = 7, C = 3, KEPT = 12 };

/* Row i's opposite is row n-1-i, of the same class; entries are short enough to be float32. */
static struct data opposites(uint64_t seed, size_t n, double size)
{
    struct data data = data_make(seed, n, D, C);

    for (size_t i = 0; i < n * D; i++) data.h[i] = (double)(float)data.h[i];
    for (size_t i = 0; i < n * C; i++) data.p[i] = (double)(float)(size * data.p[i]);
    for (size_t i = 0; i < n / 2; i++) {
        size_t other = n - 1 - i;

        memcpy(data.h + other * D, data.h + i * D, D * sizeof *data.h);
        for (size_t c = 0; c < C; c++) data.p[other * C + c] = -data.p[i * C + c];
        data.label[other] = data.label[i];
    }
    return data;
}

/* Three rows of the same features whose output gradients add up to zero. */
static struct data triples(uint64_t seed, size_t n)
{
    struct data data = data_make(seed, n, D, C);

    for (size_t i = 0; i + 2 < n; i += 3) {
        for (size_t r = 1; r < 3; r++)
            memcpy(data.h + (i + r) * D, data.h + i * D, D * sizeof *data.h);
        for (size_t c = 0; c < C; c++) {
            double *p = data.p + i * C + c;
            p[0] = (double)(float)p[0];
            p[C] = (double)(float)p[C];
            p[2 * C] = -(p[0] + p[C]);
        }
        data.label[i + 1] = data.label[i + 2] = data.label[i];
    }
    return data;
}

static cull_subset select_by(const char *strategy, const char *options, const char *backend,
                             const cull_signals *signals)
{
    cull_setting   setting = {.pool = signals->count, .batch = 4, .seed = 1};
    cull_selector *selector = NULL;
    cull_subset    out = {0};

    assert_ok(cull_backend_open(backend, 1, &setting.backend));
    selector = make_selector(strategy, options, &setting);
    assert_ok(cull_select(selector, signals, KEPT, &out));
    cull_selector_destroy(selector);
    cull_backend_close(setting.backend);
    return out;
}

static void assert_fallback(const char *strategy, const char *options, const char *backend,
                            const cull_signals *signals)
{
    cull_subset found = select_by(strategy, options, backend, signals);

    if (found.picked || found.flags != CULL_SUBSET_FALLBACK)
        fail_msg("%s %s on %s, %zu examples: %zu picked from rounding, flags %u", strategy, options,
                 backend, signals->count, found.picked, found.flags);
    for (size_t i = 0; i < found.count; i++) assert_true(found.weight[i] == 1);
    cull_subset_clear(&found);
}

static const char *const rules[][2] = {
    {"gradmatch", ""},
    {"gradmatch", "nonnegative=omp"},
    {"divbs", ""},
    {"grad-match", ""},
    {"grad-match", "scope=class"},
    {"grad-match", "scope=all"},
    {"grad-match", "scope=batch pick=signed"},
};

static void opposite_gradients_are_nothing_to_match(void **state)
{
    static const double sizes[] = {1, 1e-12, 1e15};

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct data  data = opposites(seed, 60, sizes[seed % 3]);
        float       *h = malloc(60 * D * sizeof *h), *p = malloc(60 * C * sizeof *p);
        cull_signals narrow = data.signals;

        for (size_t i = 0; i < 60 * D; i++) h[i] = (float)data.h[i];
        for (size_t i = 0; i < 60 * C; i++) p[i] = (float)data.p[i];
        narrow.h = cull_matrix(h, CULL_F32, 60, D);
        narrow.p = cull_matrix(p, CULL_F32, 60, C);
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            assert_fallback(rules[r][0], rules[r][1], "cpu", &data.signals);
            assert_fallback(rules[r][0], rules[r][1], "cpu", &narrow);
            assert_fallback(rules[r][0], rules[r][1], "ref", &data.signals);
        }
        data_free(&data);
        free(h);
        free(p);
    }
}

static void gradients_that_cancel_by_three_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct data data = triples(seed, 60);

        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            assert_fallback(rules[r][0], rules[r][1], "cpu", &data.signals);
        data_free(&data);
    }
}

static void batches_without_a_gram_matrix_too(void **state)
{
    struct data data = opposites(3, 4200, 1);

    (void)state;
    assert_fallback("gradmatch", "", "cpu", &data.signals);
    data_free(&data);
}

static void a_target_block_that_cancels_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data data = data_make(seed, 60, D, C), target = opposites(seed + 50, 16, 1);
        char        options[64];

        as_target(&target, &data.signals.target);
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            (void)snprintf(options, sizeof options, "match=validation %s", rules[r][1]);
            assert_fallback(rules[r][0], options, "cpu", &data.signals);
            assert_fallback(rules[r][0], options, "ref", &data.signals);
        }
        data_free(&data);
        data_free(&target);
    }
}

/* A thousand millionth of one gradient is left of sixty. */
static void what_is_more_than_rounding_is_matched(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct data data = opposites(seed, 60, 1);

        for (size_t c = 0; c < C; c++) data.p[5 * C + c] *= 1 + 1e-9;
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            cull_subset found = select_by(rules[r][0], rules[r][1], "cpu", &data.signals);

            if (!found.picked)
                fail_msg("seed %d: %s %s picks nothing", (int)seed, rules[r][0], rules[r][1]);
            cull_subset_clear(&found);
        }
        data_free(&data);
    }
}

static void assert_named(const char *strategy, const char *options, const char *name,
                         const cull_signals *signals)
{
    cull_setting   setting = {.pool = signals->count, .batch = 4, .seed = 1};
    cull_selector *selector = make_selector(strategy, options, &setting);
    cull_subset    out = {0};

    assert_fails(CULL_NOT_FINITE, name, cull_select(selector, signals, KEPT, &out));
    assert_int_equal(0, out.count);
    cull_selector_destroy(selector);
    cull_subset_clear(&out);
}

static void a_gradient_beyond_doubles_is_named(void **state)
{
    struct data data = data_make(8, 60, D, C), large = data_make(8, 4200, D, C);
    struct data target = data_make(9, 10, D, C);

    (void)state;
    target.p[6 * C] = -1e170;
    as_target(&target, &data.signals.target);
    assert_named("grad-match", "scope=all match=validation", "target example 6", &data.signals);
    assert_named("grad-match", "scope=batch match=validation", "target example 6", &data.signals);
    data.h[37 * D + 2] = large.h[37 * D + 2] = 1e200;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        assert_named(rules[r][0], rules[r][1], "example 37", &data.signals);
    assert_named("gradmatch", "", "example 37", &large.signals);
    data_free(&data);
    data_free(&large);
    data_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opposite_gradients_are_nothing_to_match),
        cmocka_unit_test(gradients_that_cancel_by_three_too),
        cmocka_unit_test(batches_without_a_gram_matrix_too),
        cmocka_unit_test(a_target_block_that_cancels_too),
        cmocka_unit_test(a_gradient_beyond_doubles_is_named),
        cmocka_unit_test(what_is_more_than_rounding_is_matched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
