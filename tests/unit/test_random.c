/* tests/unit/test_random.c - uniform draws: of a batch, of the pool, and for a whole run. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { POOL = 60, DRAWS = 4000 };

/* Each row's share of the draws is m/M = .3 with standard error sqrt(.21/4000), each pair's
 * m(m-1)/M(M-1); 60 rows, so 4.5 of them are allowed. */
static void draws_are_uniform_without_replacement(void **state)
{
    cull_setting   setting = {.pool = POOL, .seed = 6};
    cull_selector *selector = make_selector("random", "keep=0.3", &setting);
    cull_signals   signals = {.count = POOL};
    cull_subset    subset = {0};
    size_t         kept[POOL] = {0}, pair[POOL] = {0};
    double         rate = 18. / POOL, both = rate * 17 / (POOL - 1);

    (void)state;
    for (signals.step = 0; signals.step < DRAWS; signals.step++) {
        bool first = false;

        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(18, subset.count);
        for (size_t i = 0; i < 18; i++) {
            first |= subset.index[i] == 0;
            assert_true(subset.weight[i] == 1 && subset.place[i] == subset.index[i]);
            if (i) assert_true(subset.index[i] > subset.index[i - 1]);
            kept[subset.index[i]]++;
            pair[subset.index[i]] += first; /* rows ascend: row 0 comes first if at all */
        }
    }
    for (size_t i = 0; i < POOL; i++) {
        assert_true(fabs((double)kept[i] / DRAWS - rate) < 4.5 * sqrt(rate * (1 - rate) / DRAWS));
        if (i)
            assert_true(fabs((double)pair[i] / DRAWS - both) <
                        4.5 * sqrt(both * (1 - both) / DRAWS));
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void no_random_strategy_asks_for_signals(void **state)
{
    static const char *const names[] = {"random", "adaptive-random", "fixed-random", "full"};
    cull_setting             setting = {.pool = POOL, .batch = 20, .epochs = 50, .seed = 6};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cull_selector *selector = make_selector(names[k], "", &setting);
        cull_needs     needs = {0};

        for (uint64_t step = 0; step < 150; step++) {
            assert_ok(cull_selector_needs(selector, step, step / 3, &needs));
            assert_int_equal(0, needs.signals);
            assert_int_equal(0, needs.target);
            assert_int_equal(0, needs.observe);
            assert_false(needs.running);
        }
        cull_selector_destroy(selector);
    }
}

/* The draw belongs to places, so a shuffled batch is drawn alike. */
static void a_draw_follows_places_not_rows(void **state)
{
    cull_setting   setting = {.pool = POOL, .seed = 6};
    cull_selector *selector = make_selector("random", "", &setting);
    uint32_t       place[POOL];
    cull_signals   plain = {.count = POOL, .step = 3};
    cull_signals   shuffled = {.count = POOL, .step = 3, .place = place};
    cull_subset    first = {0}, second = {0};
    uint8_t        chosen[2][POOL] = {{0}};

    (void)state;
    for (uint32_t i = 0; i < POOL; i++) place[i] = i * 7 % POOL;
    assert_ok(cull_select(selector, &plain, 0, &first));
    assert_ok(cull_select(selector, &shuffled, 0, &second));
    for (size_t i = 0; i < first.count; i++) {
        chosen[0][first.place[i]] = 1;
        chosen[1][second.place[i]] = 1;
    }
    assert_memory_equal(chosen[0], chosen[1], POOL);
    cull_subset_clear(&first);
    cull_subset_clear(&second);
    cull_selector_destroy(selector);
}

static void adaptive_random_draws_anew_and_fixed_random_never(void **state)
{
    static const char *const names[] = {"adaptive-random", "fixed-random"};
    cull_setting             setting = {.pool = POOL, .batch = 20, .seed = 6};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_selector *selector = make_selector(names[k], "keep=0.5", &setting);
        cull_signals   early = {.count = POOL, .epoch = 0}, late = {.count = POOL, .epoch = 20};
        cull_subset    first = {0}, second = {0};

        assert_ok(cull_select(selector, &early, 0, &first));
        assert_ok(cull_select(selector, &late, 0, &second));
        assert_int_equal(30, first.count);
        assert_int_equal(30, second.count);
        assert_int_equal(k == 1, memcmp(first.index, second.index, 30 * sizeof(uint32_t)) == 0);
        cull_subset_clear(&first);
        cull_subset_clear(&second);
        cull_selector_destroy(selector);
    }
}

/* 0.29 of 100 lies below 29 in binary; 0.3 of 64 is 19.2. */
static void alternating_budgets_add_up_to_the_share(void **state)
{
    static const struct {
        const char *options;
        size_t      batch, low, high, sum; /* over ten steps */
    } cases[] = {{"keep=0.3 rounding=alternate", 64, 19, 20, 192},
                 {"keep=0.29 rounding=alternate", 100, 29, 29, 290},
                 {"keep=0.001 rounding=alternate", 64, 1, 1, 10},
                 {"keep=1 rounding=alternate", 64, 64, 64, 640},
                 {"keep=0.3", 64, 19, 19, 190}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cull_setting   setting = {.pool = 1000, .batch = cases[k].batch, .seed = 6};
        cull_selector *selector = make_selector("random", cases[k].options, &setting);
        cull_subset    subset = {0};
        size_t         sum = 0;

        for (uint64_t step = 0; step < 10; step++) {
            cull_signals signals = {.count = cases[k].batch, .step = step};
            cull_needs   needs = {0};

            assert_ok(cull_selector_needs(selector, step, 0, &needs));
            assert_true(needs.budget == cases[k].low || needs.budget == cases[k].high);
            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(needs.budget, subset.count);
            sum += subset.count;
        }
        assert_int_equal(cases[k].sum, sum);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void a_warm_draw_allocates_nothing(void **state)
{
    cull_setting   setting = {.pool = POOL, .seed = 6};
    cull_selector *selector = make_selector("random", "", &setting);
    cull_signals   signals = {.count = POOL};
    cull_subset    subset = {0};

    (void)state;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    size_t before = cull_base_alloc_count();
    for (signals.step = 1; signals.step < 20; signals.step++)
        assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(before, cull_base_alloc_count());
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_uniform_without_replacement),
        cmocka_unit_test(no_random_strategy_asks_for_signals),
        cmocka_unit_test(a_draw_follows_places_not_rows),
        cmocka_unit_test(adaptive_random_draws_anew_and_fixed_random_never),
        cmocka_unit_test(alternating_budgets_add_up_to_the_share),
        cmocka_unit_test(a_warm_draw_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
