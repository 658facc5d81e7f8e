/* tests/unit/test_top_loss.c - the largest scores: losses, or what of them can be reduced. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { POOL = 120, ROWS = 50, KEPT = 20 };

static double loss[ROWS], irreducible[ROWS];

static cull_signals signals_of(uint64_t seed)
{
    for (size_t i = 0; i < ROWS; i++) {
        loss[i] = exp(random_normal(seed, i));
        irreducible[i] = exp(random_normal(seed + 100, i));
    }
    return (cull_signals){.count = ROWS,
                          .loss = cull_vector(loss, CULL_F64, ROWS),
                          .irreducible = cull_vector(irreducible, CULL_F64, ROWS)};
}

static cull_selector *selector_of(const char *strategy)
{
    cull_setting setting = {.pool = POOL, .batch = ROWS, .seed = 4};
    return make_selector(strategy, "keep=0.4", &setting);
}

/* Row i is kept when fewer than KEPT rows beat it, lower rows beating their equals. */
static void assert_largest(const cull_subset *subset, const double *score)
{
    size_t at = 0;

    assert_int_equal(KEPT, subset->count);
    for (size_t i = 0; i < ROWS; i++) {
        size_t better = 0;

        for (size_t j = 0; j < ROWS; j++)
            better += score[j] > score[i] || (score[j] == score[i] && j < i);
        if (better >= KEPT) continue;
        assert_int_equal(i, subset->index[at]);
        assert_true(subset->weight[at++] == 1);
    }
}

static void the_largest_losses_are_kept(void **state)
{
    cull_selector *selector = selector_of("top-loss");
    cull_subset    subset = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        cull_signals signals = signals_of(seed);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_largest(&subset, loss);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void the_largest_reducible_losses_are_kept(void **state)
{
    cull_selector *selector = selector_of("rho");
    cull_subset    subset = {0};
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 0, 0, &needs));
    assert_int_equal(CULL_SIGNAL_LOSS | CULL_SIGNAL_IRREDUCIBLE, needs.signals);
    for (uint64_t seed = 0; seed < 20; seed++) {
        cull_signals signals = signals_of(seed);
        double       reducible[ROWS];

        for (size_t i = 0; i < ROWS; i++) reducible[i] = loss[i] - irreducible[i];
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_largest(&subset, reducible);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void ties_go_to_the_lower_row(void **state)
{
    cull_selector *selector = selector_of("top-loss");
    cull_subset    subset = {0};
    cull_signals   signals = signals_of(1);

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (double)(i % 3);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_largest(&subset, loss);
    for (size_t i = 0; i < ROWS; i++) loss[i] = -7;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    for (size_t i = 0; i < KEPT; i++) assert_int_equal(i, subset.index[i]);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* Never-trained examples come first whatever the irreducible loss says, and which of too many
 * do follows from step and place, not from their rows. */
static void unseen_examples_come_first_by_place(void **state)
{
    static const char *const names[] = {"top-loss", "rho"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_selector *selector = selector_of(names[k]);
        cull_subset    subset = {0};
        cull_signals   signals = signals_of(3);
        uint32_t       place[ROWS];
        uint8_t        unseen[ROWS] = {0};
        bool           kept[2][POOL] = {{false}};

        signals.place = place;
        signals.unseen = unseen;
        for (size_t i = 0; i < ROWS; i++) irreducible[i] = 1e300;
        for (size_t turned = 0; turned < 2; turned++) {
            for (size_t i = 0; i < ROWS; i++) {
                size_t at = turned ? ROWS - 1 - i : i;

                place[i] = (uint32_t)(2 * at);
                unseen[i] = at < 30;
                loss[i] = unseen[i] ? (double)NAN : 1e6 + (double)at;
            }
            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(KEPT, subset.count);
            for (size_t i = 0; i < KEPT; i++) {
                assert_true(unseen[subset.index[i]]);
                kept[turned][subset.place[i]] = true;
            }
        }
        assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
        signals.step = 1;
        assert_ok(cull_select(selector, &signals, 0, &subset));
        memset(kept[1], 0, sizeof kept[1]);
        for (size_t i = 0; i < KEPT; i++) kept[1][subset.place[i]] = true;
        assert_memory_not_equal(kept[0], kept[1], sizeof kept[0]);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void a_warm_decision_allocates_nothing(void **state)
{
    cull_selector *selector = selector_of("rho");
    cull_subset    subset = {0};
    cull_signals   signals = signals_of(5);

    (void)state;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    fail_nth_alloc(1);
    for (uint64_t step = 1; step < 10; step++) {
        signals.step = step;
        assert_ok(cull_select(selector, &signals, 0, &subset));
    }
    assert_false(alloc_has_failed());
    fail_nth_alloc(0);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_losses_are_kept),
        cmocka_unit_test(the_largest_reducible_losses_are_kept),
        cmocka_unit_test(ties_go_to_the_lower_row),
        cmocka_unit_test(unseen_examples_come_first_by_place),
        cmocka_unit_test(a_warm_decision_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
