/* tests/unit/test_plugin.c - strategies from shared objects: a good one and ten broken ones. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEDIAN CULL_BINARY_DIR "/tests/plugin_median.so"

enum { ROWS = 40 };

static double loss[ROWS];

static cull_signals signals_at(uint64_t step)
{
    for (size_t i = 0; i < ROWS; i++) loss[i] = exp(random_normal(step, i));
    return (cull_signals){.count = ROWS, .step = step, .loss = cull_vector(loss, CULL_F64, ROWS)};
}

static cull_selector *median(const char *options)
{
    cull_setting setting = {.pool = ROWS, .epochs = 10, .seed = 1};
    return make_selector(MEDIAN, options, &setting);
}

/* Nearest to `centre`: nobody outside the subset is nearer than anybody inside. */
static void assert_nearest(const cull_subset *subset, double centre)
{
    double worst = 0;
    bool   chosen[ROWS] = {false};

    for (size_t i = 0; i < subset->count; i++) {
        chosen[subset->index[i]] = true;
        worst = fmax(worst, fabs(loss[subset->index[i]] - centre));
        if (i) assert_true(subset->index[i] > subset->index[i - 1]);
    }
    for (size_t i = 0; i < ROWS; i++) assert_true(chosen[i] || fabs(loss[i] - centre) >= worst);
}

static double median_of_losses(void)
{
    double low = 0, high = 0;

    for (size_t i = 0; i < ROWS; i++) {
        size_t smaller = 0;
        for (size_t j = 0; j < ROWS; j++) smaller += loss[j] < loss[i];
        if (smaller == ROWS / 2 - 1) low = loss[i];
        if (smaller == ROWS / 2) high = loss[i];
    }
    return 0.5 * (low + high);
}

static void a_loaded_strategy_follows_its_own_rule(void **state)
{
    cull_selector *selector = median("keep=0.25 memory=0.5");
    cull_subset    subset = {0};
    double         centre = 0;

    (void)state;
    assert_string_equal("median", cull_selector_name(selector));
    assert_string_equal("memory=0.5 keep=0.25 mode=fixed start=0 end=1 every=1",
                        cull_selector_options(selector));
    for (uint64_t step = 0; step < 5; step++) {
        cull_signals signals = signals_at(step);

        centre = step ? 0.5 * centre + 0.5 * median_of_losses() : median_of_losses();
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(ROWS / 4, subset.count);
        assert_nearest(&subset, centre);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void its_options_are_checked_like_any_others(void **state)
{
    cull_setting   setting = {.pool = ROWS};
    cull_selector *selector = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "median: memory=2 is outside",
                 try_selector(MEDIAN, "memory=2", &setting, &selector));
    assert_fails(CULL_UNKNOWN_OPTION, "no option is called 'beta'",
                 try_selector(MEDIAN, "beta=2", &setting, &selector));
    assert_fails(CULL_BAD_OPTION, "need the run's epochs",
                 try_selector(MEDIAN, "start=0.5", &setting, &selector));
}

static void windows_and_signals_are_the_frames_business(void **state)
{
    cull_selector *selector = median("every=2");
    cull_subset    subset = {0};
    cull_signals   signals = signals_at(0);
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 0, 0, &needs));
    assert_int_equal(CULL_SIGNAL_LOSS, needs.signals);
    loss[6] = NAN;
    assert_fails(CULL_NOT_FINITE, "example 6", cull_select(selector, &signals, 0, &subset));
    signals.step = 1;
    signals.loss = (cull_tensor){0};
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(ROWS, subset.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void its_state_is_saved_and_restored(void **state)
{
    cull_selector *first = median("memory=0.9"), *second = median("memory=0.9");
    cull_subset    a = {0}, b = {0};
    void          *bytes = NULL;
    size_t         size = 0;

    (void)state;
    for (uint64_t step = 0; step < 4; step++) {
        cull_signals signals = signals_at(step);
        assert_ok(cull_select(first, &signals, 0, &a));
    }
    assert_ok(cull_selector_save(first, &bytes, &size));
    assert_ok(cull_selector_restore(second, bytes, size));
    for (uint64_t step = 4; step < 9; step++) {
        cull_signals signals = signals_at(step);

        assert_ok(cull_select(first, &signals, 0, &a));
        assert_ok(cull_select(second, &signals, 0, &b));
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.index, b.index, a.count * sizeof *a.index);
    }
    cull_bytes_release(bytes);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
    cull_selector_destroy(first);
    cull_selector_destroy(second);
}

static void broken_strategies_are_caught(void **state)
{
    static const struct {
        bool        loads;
        const char *sentence;
    } faults[] = {{true, "chose row 40 of 40"},
                  {true, "the weight nan"},
                  {true, "chose row 19 twice"},
                  {true, "chose 21 examples, 20 are the most"},
                  {true, "into group 3 of 0"},
                  {false, "made for strategy interface 4"},
                  {false, "needs a name, a doc, decide"},
                  {false, "option knob needs a default"},
                  {false, "no known rhythm (9)"},
                  {true, "has a state but cannot save it"}};

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        cull_setting   setting = {.pool = ROWS};
        cull_selector *selector = NULL;
        cull_subset    subset = {0};
        cull_signals   signals = {.count = ROWS};
        char           path[512];
        void          *bytes = NULL;
        size_t         size = 0;

        (void)snprintf(path, sizeof path, "%s/tests/plugin_broken_%zu.so", CULL_BINARY_DIR, i + 1);
        if (!faults[i].loads) {
            assert_fails(CULL_BAD_FILE, faults[i].sentence,
                         try_selector(path, "", &setting, &selector));
            continue;
        }
        selector = make_selector(path, "", &setting);
        if (i == 9)
            assert_fails(CULL_UNSUPPORTED, faults[i].sentence,
                         cull_selector_save(selector, &bytes, &size));
        else
            assert_fails(CULL_BAD_ARGUMENT, faults[i].sentence,
                         cull_select(selector, &signals, 0, &subset));
        assert_int_equal(0, subset.count);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void objects_that_hold_no_strategy_are_refused(void **state)
{
    cull_setting   setting = {.pool = ROWS};
    cull_selector *selector = NULL;

    (void)state;
    assert_fails(CULL_BAD_FILE, "cannot be loaded",
                 try_selector("/no/such/object.so", "", &setting, &selector));
    assert_fails(CULL_BAD_FILE, "cannot be loaded",
                 try_selector(CULL_SOURCE_DIR "/include/cull.h", "", &setting, &selector));
    assert_fails(CULL_BAD_FILE, "has no symbol cull_strategy_plugin",
                 try_selector(CULL_BINARY_DIR "/tests/plugin_empty.so", "", &setting, &selector));
}

static void loading_survives_failing_memory(void **state)
{
    cull_setting setting = {.pool = ROWS};
    cull_status  status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_selector *selector = NULL;

        fail_nth_alloc(n);
        status = try_selector(MEDIAN, "", &setting, &selector);
        fail_nth_alloc(0);
        assert_int_equal(alloc_has_failed() ? CULL_NO_MEMORY : CULL_OK, status);
        cull_selector_destroy(selector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_strategy_follows_its_own_rule),
        cmocka_unit_test(its_options_are_checked_like_any_others),
        cmocka_unit_test(windows_and_signals_are_the_frames_business),
        cmocka_unit_test(its_state_is_saved_and_restored),
        cmocka_unit_test(broken_strategies_are_caught),
        cmocka_unit_test(objects_that_hold_no_strategy_are_refused),
        cmocka_unit_test(loading_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
