/* tests/unit/test_diagnose.c - the figures of a diagnosis against stored gradients. */
#include "gradients.h"

static const double tolerance = 1e-12; /* double sums of a few hundred numbers near 1 */

static cull_subset subset_of(const uint32_t *row, const double *weight, size_t count)
{
    cull_subset subset = {0};

    assert_ok(cull_subset_resize(&subset, count));
    for (size_t i = 0; i < count; i++) {
        subset.index[i] = subset.place[i] = row[i];
        subset.weight[i] = weight ? weight[i] : 1;
    }
    return subset;
}

static void figures_are_those_of_stored_gradients(void **state)
{
    uint32_t rows[] = {1, 4, 4, 9, 30};
    double   weights[] = {0.5, 2, 1, 0, 3};

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data    data = data_make(seed, 31 + 500 * (seed / 2), 7 * seed, 3);
        cull_subset    subset = subset_of(rows, weights, 5);
        cull_diagnosis found = {0};
        size_t         size = data.c * (data.d + 1);
        double        *mean = calloc(size, sizeof *mean), *sub = calloc(size, sizeof *sub);
        double        *g = malloc(size * sizeof *g), error = 0;

        for (size_t i = 0; i < data.n; i++) {
            gradient(&data, i, -1, g);
            for (size_t j = 0; j < size; j++) mean[j] += g[j] / (double)data.n;
        }
        for (size_t i = 0; i < 5; i++) {
            gradient(&data, rows[i], -1, g);
            for (size_t j = 0; j < size; j++) sub[j] += weights[i] * g[j] / 5;
        }
        for (size_t j = 0; j < size; j++) error += (sub[j] - mean[j]) * (sub[j] - mean[j]);
        assert_ok(cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
        assert_near(error, found.error, tolerance * (1 + error));
        assert_near(inner(mean, mean, size), found.full, tolerance);
        assert_near(inner(mean, sub, size) / sqrt(inner(mean, mean, size) * inner(sub, sub, size)),
                    found.cosine, tolerance);
        assert_near(6.5 * 6.5 / 14.25, found.effective, tolerance);
        assert_true(isnan(found.overlap));
        assert_int_equal(3, found.classes);
        cull_diagnosis_clear(&found);
        cull_subset_clear(&subset);
        data_free(&data);
        free(mean);
        free(sub);
        free(g);
    }
}

static void backends_types_and_threads_agree(void **state)
{
    struct data    data = data_make(3, 2100, 37, 5);
    uint32_t       rows[] = {0, 7, 1999};
    cull_subset    subset = subset_of(rows, NULL, 3);
    cull_diagnosis one = {0}, two = {0}, plain = {0};
    cull_backend  *threads = NULL, *ref = NULL;
    float         *h = malloc(data.n * (data.d + 3) * sizeof *h);
    cull_signals   strided = data.signals;

    (void)state;
    assert_ok(cull_backend_open("cpu", 3, &threads));
    assert_ok(cull_backend_open("ref", 1, &ref));
    for (size_t i = 0; i < data.n; i++)
        for (size_t j = 0; j < data.d; j++) {
            h[i * (data.d + 3) + j] = (float)data.h[i * data.d + j];
            data.h[i * data.d + j] = (double)h[i * (data.d + 3) + j];
        }
    strided.h = cull_matrix(h, CULL_F32, data.n, data.d);
    strided.h.stride[0] += 3;
    assert_ok(cull_diagnose(NULL, &strided, &subset, NULL, &one));
    assert_ok(cull_diagnose(threads, &data.signals, &subset, NULL, &two));
    assert_ok(cull_diagnose(ref, &data.signals, &subset, NULL, &plain));
    assert_true(one.error == two.error && one.full == two.full && one.cosine == two.cosine);
    assert_near(plain.error, two.error, tolerance * plain.error);
    assert_near(plain.cosine, two.cosine, tolerance);
    cull_diagnosis_clear(&one);
    cull_diagnosis_clear(&two);
    cull_diagnosis_clear(&plain);
    cull_backend_close(threads);
    cull_backend_close(ref);
    cull_subset_clear(&subset);
    data_free(&data);
    free(h);
}

static void keeping_all_is_an_error_of_exactly_zero(void **state)
{
    struct data    data = data_make(5, 40, 6, 3);
    cull_diagnosis found = {0};
    uint32_t       rows[40];
    cull_subset    subset = {0};

    (void)state;
    for (uint32_t i = 0; i < 40; i++) rows[i] = i;
    subset = subset_of(rows, NULL, 40);
    assert_ok(cull_diagnose(NULL, &data.signals, &subset, &subset, &found));
    assert_true(found.error == 0);
    assert_near(1, found.cosine, tolerance);
    assert_true(found.effective == 40 && found.overlap == 1);
    cull_diagnosis_clear(&found);
    cull_subset_clear(&subset);
    data_free(&data);
}

static void an_empty_subset_is_the_whole_gradient_away(void **state)
{
    struct data    data = data_make(6, 20, 4, 2);
    cull_diagnosis found = {0};
    cull_subset    subset = {0};

    (void)state;
    assert_ok(cull_diagnose(NULL, &data.signals, &subset, &subset, &found));
    assert_near(found.full, found.error, tolerance);
    assert_true(isnan(found.cosine) && isnan(found.overlap) && found.effective == 0);
    cull_diagnosis_clear(&found);
    data_free(&data);
}

static void zero_gradients_have_no_cosine(void **state)
{
    struct data    data = data_make(6, 20, 4, 2);
    cull_diagnosis found = {0};
    uint32_t       row = 3;
    cull_subset    subset = subset_of(&row, NULL, 1);

    (void)state;
    memset(data.p, 0, data.n * data.c * sizeof *data.p);
    assert_ok(cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    assert_true(found.error == 0 && found.full == 0 && isnan(found.cosine));
    cull_diagnosis_clear(&found);
    cull_subset_clear(&subset);
    data_free(&data);
}

static void classes_are_counted_among_all_and_among_the_chosen(void **state)
{
    uint8_t        label[] = {0, 2, 2, 5, 2, 0};
    uint32_t       rows[] = {1, 1, 3};
    cull_subset    subset = subset_of(rows, NULL, 3);
    cull_signals   signals = {.count = 6, .label = cull_vector(label, CULL_U8, 6)};
    cull_diagnosis found = {0};
    size_t         available[] = {2, 0, 3, 0, 0, 1}, chosen[] = {0, 0, 2, 0, 0, 1};

    (void)state;
    for (int round = 0; round < 2; round++) { /* a result is an argument again */
        assert_ok(cull_diagnose(NULL, &signals, &subset, NULL, &found));
        assert_int_equal(6, found.classes);
        assert_memory_equal(available, found.available, sizeof available);
        assert_memory_equal(chosen, found.chosen, sizeof chosen);
        assert_true(isnan(found.error) && isnan(found.full) && isnan(found.cosine));
    }
    cull_diagnosis_clear(&found);
    cull_subset_clear(&subset);
}

static void overlap_counts_places_once(void **state)
{
    uint32_t       place[] = {40, 10, 30, 20, 50}, one_rows[] = {0, 1, 1, 2}, two_rows[] = {3, 0};
    cull_signals   signals = {.count = 5, .place = place};
    cull_subset    one = subset_of(one_rows, NULL, 4), two = subset_of(two_rows, NULL, 2);
    cull_diagnosis found = {0};

    (void)state;
    for (size_t i = 0; i < 4; i++) one.place[i] = place[one_rows[i]];
    for (size_t i = 0; i < 2; i++) two.place[i] = place[two_rows[i]];
    assert_ok(cull_diagnose(NULL, &signals, &one, &two, &found));
    assert_true(found.overlap == 0.5); /* 40, of 20 and 40 */
    two.count = 1;
    assert_ok(cull_diagnose(NULL, &signals, &one, &two, &found));
    assert_true(found.overlap == 0);
    assert_int_equal(0, found.classes);
    cull_diagnosis_clear(&found);
    cull_subset_clear(&one);
    cull_subset_clear(&two);
}

static void effective_size_stands_any_scale(void **state)
{
    uint32_t       rows[] = {0, 1};
    double         scales[] = {1e-200, 1, 1e200};
    cull_signals   signals = {.count = 2};
    cull_diagnosis found = {0};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double      weights[] = {3 * scales[i], scales[i]};
        cull_subset subset = subset_of(rows, weights, 2);

        assert_ok(cull_diagnose(NULL, &signals, &subset, NULL, &found));
        assert_near(1.6, found.effective, tolerance);
        cull_subset_clear(&subset);
    }
    cull_diagnosis_clear(&found);
}

static void wrong_input_is_one_clear_sentence(void **state)
{
    struct data    data = data_make(8, 10, 3, 2);
    uint32_t       rows[] = {2, 5};
    cull_subset    subset = subset_of(rows, NULL, 2);
    cull_diagnosis found = {0};
    cull_signals   bad = data.signals;
    int32_t        label[10] = {0};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_diagnose(NULL, NULL, &subset, NULL, &found));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_diagnose(NULL, &bad, NULL, NULL, &found));
    bad.p = (cull_tensor){0};
    assert_fails(CULL_BAD_ARGUMENT, "p", cull_diagnose(NULL, &bad, &subset, NULL, &found));
    bad = data.signals;
    bad.h.shape[0] = 9;
    assert_fails(CULL_BAD_ARGUMENT, "h has 9", cull_diagnose(NULL, &bad, &subset, NULL, &found));
    bad = (cull_signals){.count = 10, .label = cull_vector(label, CULL_I32, 10)};
    label[4] = 2000000000;
    assert_fails(CULL_BAD_ARGUMENT, "example 4", cull_diagnose(NULL, &bad, &subset, NULL, &found));
    label[4] = -1;
    assert_fails(CULL_BAD_ARGUMENT, "example 4", cull_diagnose(NULL, &bad, &subset, NULL, &found));
    data.h[3 * 7] = NAN;
    assert_fails(CULL_NOT_FINITE, "example 7",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    data.h[3 * 7] = 1e300;
    assert_fails(CULL_NOT_FINITE, "too large",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    data.h[3 * 7] = 0;
    subset.index[1] = 10;
    assert_fails(CULL_BAD_ARGUMENT, "row 10",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    subset.index[1] = CULL_NO_ROW;
    assert_fails(CULL_BAD_ARGUMENT, "carried over",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    subset.index[1] = 6;
    assert_fails(CULL_BAD_ARGUMENT, "place 5",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    subset.index[1] = 5;
    subset.weight[0] = -1;
    assert_fails(CULL_BAD_ARGUMENT, "weight",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    subset.weight[0] = NAN;
    assert_fails(CULL_BAD_ARGUMENT, "weight",
                 cull_diagnose(NULL, &data.signals, &subset, NULL, &found));
    cull_diagnosis_clear(&found);
    cull_subset_clear(&subset);
    data_free(&data);
}

static void survives_every_allocation_failure(void **state)
{
    struct data data = data_make(9, 12, 3, 2);
    uint32_t    rows[] = {2, 5};
    cull_subset subset = subset_of(rows, NULL, 2);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_diagnosis found = {0};

        fail_nth_alloc(n);
        status = cull_diagnose(NULL, &data.signals, &subset, &subset, &found);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(n > 5 || status == CULL_NO_MEMORY);
        cull_diagnosis_clear(&found);
    }
    cull_subset_clear(&subset);
    data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_stored_gradients),
        cmocka_unit_test(backends_types_and_threads_agree),
        cmocka_unit_test(keeping_all_is_an_error_of_exactly_zero),
        cmocka_unit_test(an_empty_subset_is_the_whole_gradient_away),
        cmocka_unit_test(zero_gradients_have_no_cosine),
        cmocka_unit_test(classes_are_counted_among_all_and_among_the_chosen),
        cmocka_unit_test(overlap_counts_places_once),
        cmocka_unit_test(effective_size_stands_any_scale),
        cmocka_unit_test(wrong_input_is_one_clear_sentence),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
