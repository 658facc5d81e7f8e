/* tests/unit/test_verdict.c - what the referee says, and when. */
#include "lab/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static cull_verdict judge(const double *x, size_t n, double adjusted, double margin)
{
    cull_stat_paired test = cull_stat_test(x, n);
    cull_verdict     out = {0};

    cull_verdict_judge(&test, isnan(adjusted) ? test.p : adjusted, margin, "sb", "uniform", &out);
    return out;
}

static void a_clear_difference_is_better_or_worse_whatever_the_margin(void **state)
{
    static const double up[] = {.31, .3, .29, .3}, down[] = {-.31, -.3, -.29, -.3};
    cull_verdict        v = judge(up, 4, NAN, 5);

    (void)state;
    assert_int_equal(CULL_VERDICT_BETTER, v.kind);
    assert_int_equal(0, v.more);
    assert_non_null(strstr(v.sentence, "0.30 points above uniform"));
    v = judge(down, 4, NAN, 5);
    assert_int_equal(CULL_VERDICT_WORSE, v.kind);
    assert_non_null(strstr(v.sentence, "0.30 points below uniform"));
}

static void holm_can_take_a_verdict_away(void **state)
{
    static const double up[] = {1.1, 1.6, 1.3, .4};
    cull_verdict        v = judge(up, 4, NAN, .5);

    (void)state;
    assert_int_equal(CULL_VERDICT_BETTER, v.kind);
    v = judge(up, 4, .06, .5);
    assert_int_equal(CULL_VERDICT_UNDECIDED, v.kind);
    assert_int_equal(1, v.more); /* the plain test had enough */
}

static void p_of_exactly_five_percent_is_not_below_it(void **state)
{
    static const double up[] = {1.1, 1.6, 1.3, .4};

    (void)state;
    assert_int_equal(CULL_VERDICT_UNDECIDED, judge(up, 4, .05, .5).kind);
    assert_int_equal(CULL_VERDICT_BETTER, judge(up, 4, nextafter(.05, 0), .5).kind);
}

static void an_interval_that_ends_at_the_margin_lies_inside(void **state)
{
    static const double x[] = {-.1, .2, .1, 0};
    cull_stat_paired    test = cull_stat_test(x, 4);
    double              low = 0, high = 0;

    (void)state;
    cull_stat_interval(&test, .9, &low, &high);
    assert_true(high > -low);
    assert_int_equal(CULL_VERDICT_NO_DIFFERENT, judge(x, 4, NAN, high).kind);
    assert_int_equal(CULL_VERDICT_UNDECIDED, judge(x, 4, NAN, nextafter(high, 0)).kind);
}

static void the_seeds_asked_for_are_the_smallest_total_that_satisfies_the_rule(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 60; trial++) {
        double           x[3], margin = .2 + random_uniform(trial, 9);
        cull_stat_paired test = {0};
        uint64_t         n = 0;
        double           target = 0;

        for (size_t i = 0; i < 3; i++) x[i] = .2 + .6 * random_normal(trial, i);
        test = cull_stat_test(x, 3);
        n = cull_verdict_seeds(&test, margin);
        target = fmax(fabs(test.mean), margin - fabs(test.mean));
        if (n == 0) continue;
        assert_true(cull_stat_t_quantile(.05, (double)n - 1) * test.sd / sqrt((double)n) < target);
        assert_true(n == 2 ||
                    cull_stat_t_quantile(.05, (double)n - 2) * test.sd / sqrt((double)n - 1) >=
                        target);
    }
}

static void undecided_says_how_many_more(void **state)
{
    static const double x[] = {.6, -.3, .5};
    cull_stat_paired    test = cull_stat_test(x, 3);
    cull_verdict        v = judge(x, 3, NAN, .5);
    char                want[40];

    (void)state;
    assert_int_equal(CULL_VERDICT_UNDECIDED, v.kind);
    assert_int_equal(cull_verdict_seeds(&test, .5) - 3, v.more);
    (void)snprintf(want, sizeof want, "about %llu more seeds needed", (unsigned long long)v.more);
    assert_non_null(strstr(v.sentence, want));
}

static void one_seed_decides_nothing_and_none_is_not_tested(void **state)
{
    static const double x[] = {5};
    cull_verdict        v = judge(x, 1, NAN, .5);

    (void)state;
    assert_int_equal(CULL_VERDICT_UNDECIDED, v.kind);
    assert_int_equal(0, v.more);
    assert_non_null(strstr(v.sentence, "one seed"));
    assert_int_equal(CULL_VERDICT_UNTESTED, judge(x, 0, NAN, .5).kind);
}

static void equal_differences_are_certain_and_said_to_be(void **state)
{
    static const double none[] = {0, 0, 0}, some[] = {.4, .4, .4};
    cull_verdict        v = judge(none, 3, NAN, .5);

    (void)state;
    assert_int_equal(CULL_VERDICT_NO_DIFFERENT, v.kind);
    assert_non_null(strstr(v.sentence, "takes as certain"));
    v = judge(some, 3, NAN, .5);
    assert_int_equal(CULL_VERDICT_BETTER, v.kind);
    assert_non_null(strstr(v.sentence, "takes as certain"));
    assert_int_equal(CULL_VERDICT_NO_DIFFERENT, judge(none, 3, NAN, 0).kind);
}

static void without_margin_or_difference_no_number_of_seeds_is_named(void **state)
{
    static const double x[] = {.5, -.5};
    cull_verdict        v = judge(x, 2, NAN, 0);

    (void)state;
    assert_int_equal(CULL_VERDICT_UNDECIDED, v.kind);
    assert_int_equal(0, v.more);
    assert_non_null(strstr(v.sentence, "no number of seeds"));
}

static void the_verdict_names_the_best_arm_that_pays(void **state)
{
    cull_verdict_arm arms[] = {{"random keep=0.3", CULL_VERDICT_NO_DIFFERENT, 0, .3, true},
                               {"sb keep=0.3", CULL_VERDICT_BETTER, .4, .64, false},
                               {"sb remembered keep=0.3", CULL_VERDICT_BETTER, .9, .31, false},
                               {"gradmatch keep=0.3", CULL_VERDICT_UNDECIDED, 2, .64, false}};
    char             out[CULL_VERDICT_SENTENCE];

    (void)state;
    cull_verdict_all(arms, 4, 3, .5, "LeNet", out);
    assert_non_null(strstr(out, "pays here: sb remembered keep=0.3"));
    assert_non_null(strstr(out, "0.90 points"));
    assert_non_null(strstr(out, "3 seeds decide little"));
    cull_verdict_all(arms, 4, 12, .5, "LeNet", out);
    assert_null(strstr(out, "decide little"));
}

static void the_verdict_says_when_none_pays_or_nothing_is_known(void **state)
{
    cull_verdict_arm arms[] = {{"random keep=0.3", CULL_VERDICT_BETTER, 1, .3, true},
                               {"sb keep=0.3", CULL_VERDICT_WORSE, -.4, .64, false},
                               {"gradmatch keep=0.3", CULL_VERDICT_NO_DIFFERENT, 0, .64, false}};
    char             out[CULL_VERDICT_SENTENCE];

    (void)state;
    cull_verdict_all(arms, 3, 6, .5, "LeNet", out);
    assert_non_null(strstr(out, "does not pay"));
    arms[2].kind = CULL_VERDICT_UNDECIDED;
    cull_verdict_all(arms, 3, 6, .5, "LeNet", out);
    assert_non_null(strstr(out, "1 of 2 is undecided, best gradmatch"));
    arms[1].kind = arms[2].kind = CULL_VERDICT_UNTESTED;
    cull_verdict_all(arms, 3, 0, .5, "LeNet", out);
    assert_non_null(strstr(out, "Nothing can be said yet"));
    cull_verdict_all(arms, 1, 0, .5, "LeNet", out);
    assert_non_null(strstr(out, "no arm but uniform"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_difference_is_better_or_worse_whatever_the_margin),
        cmocka_unit_test(holm_can_take_a_verdict_away),
        cmocka_unit_test(p_of_exactly_five_percent_is_not_below_it),
        cmocka_unit_test(an_interval_that_ends_at_the_margin_lies_inside),
        cmocka_unit_test(the_seeds_asked_for_are_the_smallest_total_that_satisfies_the_rule),
        cmocka_unit_test(undecided_says_how_many_more),
        cmocka_unit_test(one_seed_decides_nothing_and_none_is_not_tested),
        cmocka_unit_test(equal_differences_are_certain_and_said_to_be),
        cmocka_unit_test(without_margin_or_difference_no_number_of_seeds_is_named),
        cmocka_unit_test(the_verdict_names_the_best_arm_that_pays),
        cmocka_unit_test(the_verdict_says_when_none_pays_or_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
