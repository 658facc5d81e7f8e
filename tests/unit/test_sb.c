/* tests/unit/test_sb.c - Selective-Backprop at a fixed budget: rates, ties, exponents. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { ROWS = 128, TRIALS = 4000, QUARTER = ROWS / 4 };

static float loss[ROWS];

/* Distinct losses in a shuffled order, so that row order cannot stand in for rank. */
static size_t rank_of(size_t row)
{
    return row * 37 % ROWS;
}

static void count_kept(const char *options, size_t trials, size_t *kept)
{
    cull_setting   setting = {.pool = ROWS, .seed = 11};
    cull_selector *selector = make_selector("sb", options, &setting);
    cull_signals   signals = {.count = ROWS, .loss = cull_vector(loss, CULL_F32, ROWS)};
    cull_subset    subset = {0};

    memset(kept, 0, ROWS * sizeof *kept);
    for (size_t trial = 0; trial < trials; trial++) {
        signals.step = trial;
        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < subset.count; i++) {
            assert_true(subset.weight[i] == 1);
            kept[subset.index[i]]++;
        }
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/*
 * METHODS' table, itself of 4000 trials. A quartile's share of one trial is a mean of 32
 * nearly independent picks, so a rate r has standard error at most sqrt(r(1-r)/(32 * 4000))
 * on either side (without replacement picks repel each other, which only shrinks it): together
 * sqrt(2 r(1-r)/128000). Four of them and the table's rounding (.0005) are allowed.
 */
static void inclusion_rates_by_quartile_are_the_published_ones(void **state)
{
    static const struct {
        const char *options;
        double      rate[4];
    } table[] = {
        {"keep=0.5 beta=1", {.176, .447, .628, .749}},
        {"keep=0.5 beta=auto", {.176, .447, .628, .749}}, /* 1/.5 - 1 = 1 */
        {"keep=0.5 beta=2", {.061, .350, .690, .899}},
        {"keep=0.5 beta=balles", {.061, .350, .690, .899}}, /* 1/.5 = 2 */
        {"keep=0.3 beta=2.33", {.016, .140, .384, .647}},
        {"keep=0.1 beta=9", {.000, .001, .026, .348}},
    };

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)rank_of(i);
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        size_t kept[ROWS];
        double share[4] = {0};

        count_kept(table[t].options, TRIALS, kept);
        for (size_t i = 0; i < ROWS; i++)
            share[rank_of(i) / QUARTER] += (double)kept[i] / (QUARTER * (double)TRIALS);
        for (size_t q = 0; q < 4; q++) {
            double rate = table[t].rate[q];
            double tolerance = 4 * sqrt(2 * rate * (1 - rate) / (QUARTER * TRIALS)) + 0.0006;

            if (fabs(share[q] - rate) > tolerance)
                fail_msg("%s quartile %zu: %.4f, expected %.3f within %.4f", table[t].options, q,
                         share[q], rate, tolerance);
        }
    }
}

/* At beta = 0 every row is kept with probability 1/2; 128 rows, so 4.5 standard errors. */
static void exponent_zero_is_uniform(void **state)
{
    size_t kept[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)i;
    count_kept("keep=0.5 beta=0", TRIALS, kept);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs((double)kept[i] / TRIALS - 0.5) < 4.5 * 0.5 / sqrt(TRIALS));
}

/* All equal: percentile 1/2 for each, so uniform whatever the exponent. */
static void equal_losses_share_their_chance(void **state)
{
    size_t kept[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = 0.7f;
    count_kept("keep=0.25 beta=9", TRIALS, kept);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs((double)kept[i] / TRIALS - 0.25) < 4.5 * sqrt(.25 * .75 / TRIALS));
    /* Two levels: rows of a level alike, the upper one preferred. */
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)(i % 2);
    count_kept("keep=0.25 beta=1", TRIALS, kept);
    double upper = 0, lower = 0;
    for (size_t i = 0; i < ROWS; i++) *(i % 2 ? &upper : &lower) += (double)kept[i];
    upper /= ROWS / 2 * (double)TRIALS;
    lower /= ROWS / 2 * (double)TRIALS;
    assert_true(upper > 1.8 * lower); /* percentiles 3/4 and 1/4, thinned by no replacement */
    for (size_t i = 0; i < ROWS; i++) {
        double rate = i % 2 ? upper : lower;
        assert_true(fabs((double)kept[i] / TRIALS - rate) < 4.5 * sqrt(rate * (1 - rate) / TRIALS));
    }
}

static void a_steep_exponent_keeps_the_top_ranks(void **state)
{
    size_t kept[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)rank_of(i);
    count_kept("keep=0.5 beta=100", 50, kept);
    /* Rank 31 against rank 64: (31.5/64.5)^100 = 1e-31. */
    for (size_t i = 0; i < ROWS; i++) {
        if (rank_of(i) < QUARTER) assert_int_equal(0, kept[i]);
        if (rank_of(i) >= 3 * QUARTER) assert_int_equal(50, kept[i]);
    }
}

/* The lowest of 20000 ranks to the power 100 is below the smallest double; such examples are
 * still drawn by rank, not by row. All but one are kept: the last row, which a choice by row
 * order would leave out, is not the one in ten calls. */
static void powers_below_the_range_of_double_keep_their_order(void **state)
{
    enum { MANY = 20000 };
    static double  many[MANY];
    cull_setting   setting = {.pool = MANY, .seed = 8};
    cull_selector *selector = make_selector("sb", "beta=100", &setting);
    cull_signals   signals = {.count = MANY, .loss = cull_vector(many, CULL_F64, MANY)};
    cull_subset    subset = {0};
    size_t         last = 0;

    (void)state;
    for (size_t i = 0; i < MANY; i++) many[i] = (double)(i < 10 ? i : MANY - i + 10);
    for (signals.step = 0; signals.step < 10; signals.step++) {
        assert_ok(cull_select(selector, &signals, MANY - 1, &subset));
        assert_int_equal(MANY - 1, subset.count);
        last += subset.index[MANY - 2] != MANY - 1;
    }
    assert_true(last < 10);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void only_ranks_matter(void **state)
{
    size_t before[ROWS], after[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)rank_of(i) - 60;
    count_kept("keep=0.3", 200, before);
    for (size_t i = 0; i < ROWS; i++) loss[i] = expf((float)rank_of(i) * 0.3f);
    count_kept("keep=0.3", 200, after);
    assert_memory_equal(before, after, sizeof before);
}

/* The powers are looked up by rank for few rows and taken one by one for many. */
static void many_rows_follow_the_same_law(void **state)
{
    enum { MANY = 20000 };
    static double  many[MANY];
    cull_setting   setting = {.pool = MANY, .seed = 3};
    cull_selector *selector = make_selector("sb", "keep=0.5 beta=1", &setting);
    cull_signals   signals = {.count = MANY, .loss = cull_vector(many, CULL_F64, MANY)};
    cull_subset    subset = {0};
    const double   rate[4] = {.176, .447, .628, .749};
    size_t         kept[4] = {0};

    (void)state;
    for (size_t i = 0; i < MANY; i++) many[i] = (double)(i * 7919 % MANY);
    for (signals.step = 0; signals.step < 10; signals.step++) {
        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < subset.count; i++)
            kept[(size_t)many[subset.index[i]] / (MANY / 4)]++;
    }
    /* The rates at M=128 differ from those of large M by about 1/M. */
    for (size_t q = 0; q < 4; q++)
        assert_true(fabs((double)kept[q] / (10.0 * MANY / 4) - rate[q]) <
                    4 * sqrt(.25 / (10.0 * MANY / 4)) + 1.0 / ROWS);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void unseen_examples_rank_first(void **state)
{
    cull_setting   setting = {.pool = ROWS, .seed = 5};
    cull_selector *selector = make_selector("sb", "keep=0.25 beta=100", &setting);
    uint8_t        unseen[ROWS] = {0};
    cull_signals   signals = {
          .count = ROWS, .loss = cull_vector(loss, CULL_F32, ROWS), .unseen = unseen};
    cull_subset first = {0}, second = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        unseen[i] = i % 2 == 0;
        loss[i] = unseen[i] ? (float)NAN : 3e38f;
    }
    assert_ok(cull_select(selector, &signals, 0, &first));
    for (size_t i = 0; i < first.count; i++) assert_int_equal(0, first.index[i] % 2);
    signals.step = 1;
    assert_ok(cull_select(selector, &signals, 0, &second));
    assert_int_equal(first.count, second.count);
    assert_memory_not_equal(first.index, second.index, first.count * sizeof *first.index);
    cull_subset_clear(&first);
    cull_subset_clear(&second);
    cull_selector_destroy(selector);
}

static void a_warm_decision_allocates_nothing(void **state)
{
    cull_setting   setting = {.pool = ROWS, .batch = ROWS, .seed = 5};
    cull_selector *selector = make_selector("sb", "keep=0.3", &setting);
    cull_signals   signals = {.count = ROWS, .loss = cull_vector(loss, CULL_F32, ROWS)};
    cull_subset    subset = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++) loss[i] = (float)rank_of(i);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    size_t before = cull_base_alloc_count();
    for (signals.step = 1; signals.step < 50; signals.step++) {
        signals.count = signals.step % 7 == 0 ? ROWS - 28 : ROWS; /* short batches too */
        signals.loss.shape[0] = (int64_t)signals.count;
        assert_ok(cull_select(selector, &signals, 0, &subset));
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inclusion_rates_by_quartile_are_the_published_ones),
        cmocka_unit_test(exponent_zero_is_uniform),
        cmocka_unit_test(equal_losses_share_their_chance),
        cmocka_unit_test(a_steep_exponent_keeps_the_top_ranks),
        cmocka_unit_test(powers_below_the_range_of_double_keep_their_order),
        cmocka_unit_test(only_ranks_matter),
        cmocka_unit_test(many_rows_follow_the_same_law),
        cmocka_unit_test(unseen_examples_rank_first),
        cmocka_unit_test(a_warm_decision_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
