/* tests/unit/test_against.c - differences to full training, and intervals that agree with Holm's
 * p. */
#include "records/judge/against.h"

#include "made_comparison.h"
#include "records/judge/statistics.h"

static const made_arm rows[] = {{"full", "full", "full", NULL, 1, 90, .2, 0, 0},
                                {"sb", "arm", "sb", "better", .3, 89, .2, 1, 0}};

static void differences_to_full_training_are_taken_pair_by_pair(void **state)
{
    made_comparison  c;
    cull_against     a;
    double           d[6], low = 0, high = 0;
    cull_stat_paired test;

    (void)state;
    make_comparison(rows, 2, 6, &c);
    for (size_t s = 0; s < 6; s++) d[s] = c.run[1][s].accuracy - c.run[0][s].accuracy;
    test = cull_stat_test(d, 6, .01);
    cull_stat_interval(&test, .95, &low, &high);
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_int_equal(6, a.pairs);
    assert_true(a.gain == test.mean && a.sd == test.sd && a.low == low && a.high == high);
    c.run[0][2].status = "failed"; /* a seed without full training is no pair */
    c.run[1][4].seed = 77;
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_int_equal(4, a.pairs);
    assert_true(fabs(a.gain - (d[0] + d[1] + d[3] + d[5]) / 4) < 1e-12);
}

static void one_pair_has_no_interval_and_none_has_nothing(void **state)
{
    made_comparison c;
    cull_against    a;

    (void)state;
    make_comparison(rows, 2, 1, &c);
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_true(a.pairs == 1 && isfinite(a.gain) && isnan(a.low) && isnan(a.high));
    c.run[1][0].status = "missing";
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_true(a.pairs == 0 && isnan(a.gain));
    make_comparison(rows + 1, 1, 3, &c);
    assert_null(cull_against_whom(&c.is));
    assert_true(isnan(cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[0]).gain));
}

/* Equal differences of 50 test examples are no certainty. */
static void few_test_examples_leave_a_spread(void **state)
{
    made_arm        same[] = {rows[0], rows[1]};
    made_comparison c;
    cull_against    a;

    (void)state;
    same[0].noise = same[1].noise = 0;
    make_comparison(same, 2, 4, &c);
    c.is.test = 50;
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_true(a.high - a.low > 1);
    c.is.test = NAN; /* an older file does not say */
    a = cull_against_full(&c.is, &cull_yardstick_accuracy, &c.arm[1]);
    assert_true(a.high - a.low < 1e-9);
}

/* Holm's procedure word for word: the arms by rising p, each at what is left of alpha, until one
 * is not below it. */
static double level_by_hand(const double *p, size_t n, size_t which)
{
    size_t order[16];
    double level = NAN;

    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        for (; at > 0 && p[order[at - 1]] > p[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t k = 0; k < n; k++) {
        level = 1 - .05 / (double)(n - k);
        if (order[k] == which || !(p[order[k]] < .05 / (double)(n - k))) break;
    }
    return level;
}

static void
intervals_leave_zero_out_exactly_where_the_adjusted_p_is_below_five_percent(void **state)
{
    size_t out = 0, in = 0;

    (void)state;
    for (uint64_t trial = 0; trial < 400; trial++) {
        size_t          n = 1 + (size_t)(8 * random_uniform(trial, 1));
        made_arm        all[9] = {rows[0]};
        made_comparison c;
        cull_adjusted   adjusted[9];
        double          p[9], holm[9];

        for (size_t i = 0; i < n; i++) all[i + 1] = rows[1];
        make_comparison(all, n + 1, 3, &c);
        for (size_t i = 0; i < n; i++) {
            double           d[5];
            cull_stat_paired test;

            for (size_t s = 0; s < 5; s++)
                d[s] = 1.5 * random_normal(trial, 100 + i) + random_normal(trial, 8 * i + s);
            test = cull_stat_test(d, 5, 0);
            c.versus[i + 1].pairs = 5;
            c.versus[i + 1].difference = test.mean;
            c.versus[i + 1].sd = test.sd;
            c.versus[i + 1].p = p[i] = test.p;
        }
        cull_stat_holm(p, n, holm);
        cull_against_adjust(&c.is, adjusted);
        assert_true(isnan(adjusted[0].level) && isnan(adjusted[0].low)); /* full has none */
        for (size_t i = 0; i < n; i++) {
            const cull_adjusted *a = &adjusted[i + 1];
            bool                 apart = a->low > 0 || a->high < 0;

            assert_true(fabs(a->level - level_by_hand(p, n, i)) < 1e-12);
            if (apart != (holm[i] < .05))
                fail_msg("trial %d: p %g, adjusted %g, %g to %g", (int)trial, p[i], holm[i], a->low,
                         a->high);
            out += apart;
            in += !apart;
        }
    }
    assert_true(out > 100 && in > 100);
}

static void an_arm_that_was_not_tested_has_no_interval_and_counts_for_none(void **state)
{
    const made_arm  all[] = {rows[0], rows[1], rows[1], rows[1]};
    made_comparison c;
    cull_adjusted   a[4];

    (void)state;
    make_comparison(all, 4, 3, &c);
    for (size_t i = 1; i < 4; i++) {
        c.versus[i].pairs = 3;
        c.versus[i].difference = 1;
        c.versus[i].sd = 1;
        c.versus[i].p = .2;
    }
    c.versus[2].pairs = 1;
    c.versus[3].p = NAN;
    cull_against_adjust(&c.is, a);
    assert_true(fabs(a[1].level - .95) < 1e-12 && a[1].low < 0 && a[1].high > 2);
    assert_true(isnan(a[2].level) && isnan(a[3].low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_to_full_training_are_taken_pair_by_pair),
        cmocka_unit_test(one_pair_has_no_interval_and_none_has_nothing),
        cmocka_unit_test(few_test_examples_leave_a_spread),
        cmocka_unit_test(
            intervals_leave_zero_out_exactly_where_the_adjusted_p_is_below_five_percent),
        cmocka_unit_test(an_arm_that_was_not_tested_has_no_interval_and_counts_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
