/* tests/unit/test_verdict.c - what the referee says, and when. */
#include "records/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static cull_verdict judge(const double *x, size_t n, double adjusted, double margin)
{
    cull_stat_paired test = cull_stat_test(x, n, 0);
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
    cull_stat_paired    test = cull_stat_test(x, 4, 0);
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
        test = cull_stat_test(x, 3, 0);
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
    cull_stat_paired    test = cull_stat_test(x, 3, 0);
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

static void without_margin_or_difference_no_number_of_seeds_is_named(void **state)
{
    static const double x[] = {.5, -.5};
    cull_verdict        v = judge(x, 2, NAN, 0);

    (void)state;
    assert_int_equal(CULL_VERDICT_UNDECIDED, v.kind);
    assert_int_equal(0, v.more);
    assert_non_null(strstr(v.sentence, "no number of seeds"));
}

/* ---- the verdict on all ---- */

static void assert_verdict(const cull_verdict_arm *arms, size_t count, size_t seeds, bool finished,
                           const char *want)
{
    char out[CULL_VERDICT_SENTENCE];

    cull_verdict_all(arms, count, seeds, .5, finished, out);
    assert_string_equal(want, out);
}

static void one_arm_has_a_sentence_of_its_own(void **state)
{
    static const struct {
        cull_verdict_arm arm;
        const char      *want;
    } cases[] = {
        {{"sb keep=0.3", CULL_VERDICT_BETTER, CULL_BAR_NONE, .9, .31, 0},
         "Selection pays here: sb keep=0.3 beats uniform choice at the same cost by 0.90 points, "
         "for 31 % of the cost of full training."},
        {{"sb keep=0.3", CULL_VERDICT_BETTER, CULL_BAR_NONE, .9, 1.24, 0},
         "sb keep=0.3 beats full training by 0.90 points, but costs 1.24 times as much."},
        {{"sb keep=0.3", CULL_VERDICT_WORSE, CULL_BAR_NONE, -.4, .31, 0},
         "sb keep=0.3 is worse than uniform choice at the same cost, by 0.40 points."},
        {{"sb keep=0.3", CULL_VERDICT_WORSE, CULL_BAR_NONE, -.4, 1.24, 0},
         "sb keep=0.3 is worse than full training, which costs no more, by 0.40 points."},
        {{"sb keep=0.3", CULL_VERDICT_NO_DIFFERENT, CULL_BAR_NONE, .1, .31, 0},
         "sb keep=0.3 is no different from uniform choice at the same cost, within 0.5 points."},
        {{"sb keep=0.3", CULL_VERDICT_UNDECIDED, CULL_BAR_NONE, .1, .31, 0},
         "It is undecided whether sb keep=0.3 differs from uniform choice at the same cost."},
        {{"sb keep=0.3", CULL_VERDICT_UNTESTED, CULL_BAR_NONE, NAN, .31, 0},
         "Nothing can be said: no arm has a finished run beside its control."}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_verdict(&cases[i].arm, 1, 6, true, cases[i].want);
    assert_verdict(NULL, 0, 0, true,
                   "There is nothing to judge: every arm is uniform choice itself.");
}

static void who_pays_comes_first_and_nobody_is_kept_quiet(void **state)
{
    cull_verdict_arm arms[] = {{"sb", CULL_VERDICT_BETTER, CULL_BAR_NONE, .4, .64, 0},
                               {"sb remembered", CULL_VERDICT_BETTER, CULL_BAR_NONE, .9, .31, 0},
                               {"gradmatch", CULL_VERDICT_UNDECIDED, CULL_BAR_NONE, 2, .64, 0},
                               {"craig", CULL_VERDICT_WORSE, CULL_BAR_NONE, -2, .64, 0}};

    (void)state;
    assert_verdict(arms, 4, 12, true,
                   "Selection pays here: 2 of 4 arms beat uniform choice at the same cost, the "
                   "most sb remembered by 0.90 points, for 31 % of the cost of full training; of "
                   "the others 1 is worse (craig), 1 is undecided (gradmatch).");
    arms[0].kind = CULL_VERDICT_NO_DIFFERENT;
    assert_verdict(arms, 4, 3, true,
                   "Selection pays here: sb remembered beats uniform choice at the same cost by "
                   "0.90 points, for 31 % of the cost of full training; of the others 1 is worse "
                   "(craig), 1 is no different (sb), 1 is undecided (gradmatch). 3 seeds decide "
                   "little.");
    arms[0].kind = arms[2].kind = arms[3].kind = CULL_VERDICT_BETTER;
    arms[2].difference = 3;
    arms[2].cost = 1.5; /* a win that is paid for */
    assert_verdict(arms, 4, 6, true,
                   "Selection pays here: 3 of 4 arms beat uniform choice at the same cost, the "
                   "most sb remembered by 0.90 points, for 31 % of the cost of full training; of "
                   "the others 1 is better but dearer than full training (gradmatch).");
}

static void who_does_not_pay_is_counted_by_kind_and_named_where_few(void **state)
{
    cull_verdict_arm arms[8] = {
        {"grad-match period=1 keep=0.1", CULL_VERDICT_WORSE, CULL_BAR_NONE, -11, .67, 0}};

    (void)state;
    for (size_t i = 1; i < 8; i++)
        arms[i] =
            (cull_verdict_arm){"sb keep=0.1", CULL_VERDICT_UNDECIDED, CULL_BAR_NONE, 1.33, .5, 0};
    assert_verdict(arms, 8, 3, true,
                   "No strategy is shown to beat uniform choice at the same cost: 1 of 8 is worse "
                   "(grad-match period=1 keep=0.1), 7 are undecided. 3 seeds decide little.");
    arms[7].kind = CULL_VERDICT_NO_DIFFERENT;
    arms[6].kind = CULL_VERDICT_UNTESTED;
    assert_verdict(arms, 8, 1, false,
                   "No strategy is shown to beat uniform choice at the same cost: 1 of 8 is worse "
                   "(grad-match period=1 keep=0.1), 1 is no different (sb keep=0.1), 5 are "
                   "undecided, 1 is not tested yet. Not all runs are done. 1 seed decides little.");
    arms[0].kind = CULL_VERDICT_BETTER;
    arms[0].cost = 1.2;
    assert_verdict(arms, 2, 6, true,
                   "No strategy is shown to beat uniform choice at the same cost: 1 of 2 is better "
                   "but dearer than full training (grad-match period=1 keep=0.1), 1 is undecided "
                   "(sb keep=0.1).");
}

/* Those that survive are no fair sample of those that were begun. */
static void runs_that_failed_are_counted_where_somebody_is_called_better(void **state)
{
    cull_verdict_arm arms[] = {{"sb", CULL_VERDICT_BETTER, CULL_BAR_NONE, .4, .64, 3},
                               {"craig", CULL_VERDICT_WORSE, CULL_BAR_NONE, -2, .64, 1}};

    (void)state;
    assert_verdict(arms, 2, 6, true,
                   "Selection pays here: sb beats uniform choice at the same cost by 0.40 points, "
                   "for 64 % of the cost of full training (3 of its runs failed, and count for "
                   "nothing here); of the others 1 is worse (craig). 4 runs of 2 arms failed, and "
                   "are left out.");
    arms[0].kind = arms[1].kind = CULL_VERDICT_UNTESTED;
    arms[1].failed = 0;
    assert_verdict(arms, 2, 0, true,
                   "Nothing can be said: no arm has a finished run beside its control. 3 runs of 1 "
                   "arm failed, and are left out.");
    arms[0].failed = 1;
    assert_verdict(
        arms, 2, 0, false,
        "Nothing can be said yet: no arm has a finished run beside its control. 1 run of "
        "1 arm failed, and is left out.");
}

/* Better than uniform choice is not yet what to do. */
static void selection_pays_only_where_no_bar_stands_before_it(void **state)
{
    static const struct {
        cull_verdict_bar bar;
        const char      *begin, *but;
    } cases[] = {
        {CULL_BAR_OUTDONE,
         "Selection does not pay here: ", "something simple that costs no more does better"},
        {CULL_BAR_NEEDLESS, "Selection does not pay here: ",
         "something simple that costs less keeps up with full training"},
        {CULL_BAR_DEAR, "Selection does not pay here: ", "that is about what full training costs"},
        {CULL_BAR_FAILED,
         "Whether selection pays cannot be said: ", "where runs fail nothing is advised"},
        {CULL_BAR_FEW, "Whether selection pays cannot be said: ",
         "fewer than two of its seeds stand beside full training's"},
        {CULL_BAR_HINDERED,
         "Whether selection pays cannot be said: ", "nothing can be advised here"}};
    cull_verdict_arm arms[] = {{"sb", CULL_VERDICT_BETTER, CULL_BAR_NONE, .9, .31, 0},
                               {"craig", CULL_VERDICT_BETTER, CULL_BAR_NONE, 2, .64, 0},
                               {"gradmatch", CULL_VERDICT_WORSE, CULL_BAR_NONE, -2, .64, 0}};
    char             want[CULL_VERDICT_SENTENCE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arms[0].bar = cases[i].bar;
        arms[1].bar = CULL_BAR_NONE;
        (void)snprintf(
            want, sizeof want,
            "%ssb beats uniform choice at the same cost by 0.90 points, for 31 %% of the "
            "cost of full training, but %s.",
            cases[i].begin, cases[i].but);
        assert_verdict(arms, 1, 6, true, want);
        assert_verdict(arms, 2, 6, true,
                       "Selection pays here: craig beats uniform choice at the same cost by 2.00 "
                       "points, for 64 % of the cost of full training; of the others 1 is better "
                       "but not what to do (sb).");
        arms[1].bar = CULL_BAR_OUTDONE;
        (void)snprintf(want, sizeof want,
                       "%s2 of 3 arms beat uniform choice at the same cost, the most craig by 2.00 "
                       "points, for 64 %% of the cost of full training, but something simple that "
                       "costs no more does better; of the others 1 is worse (gradmatch).",
                       cases[i].begin);
        assert_verdict(arms, 3, 6, true, want);
    }
}

static void arms_that_are_all_alike_are_told_at_once(void **state)
{
    cull_verdict_arm arms[] = {{"sb", CULL_VERDICT_WORSE, CULL_BAR_NONE, -1, .5, 0},
                               {"top-loss", CULL_VERDICT_WORSE, CULL_BAR_NONE, -1, .5, 0},
                               {"gradmatch", CULL_VERDICT_WORSE, CULL_BAR_NONE, -1, .5, 0}};

    (void)state;
    assert_verdict(arms, 3, 6, true, "All 3 arms are worse than uniform choice at the same cost.");
    for (size_t i = 0; i < 3; i++) arms[i].kind = CULL_VERDICT_NO_DIFFERENT;
    assert_verdict(arms, 3, 6, true,
                   "All 3 arms are no different from uniform choice at the same cost, within 0.5 "
                   "points.");
    for (size_t i = 0; i < 3; i++) arms[i].kind = CULL_VERDICT_UNDECIDED;
    assert_verdict(arms, 3, 2, false,
                   "No strategy is shown to differ from uniform choice at the same cost: all 3 "
                   "arms are undecided. Not all runs are done. 2 seeds decide little.");
    for (size_t i = 0; i < 3; i++) arms[i].kind = CULL_VERDICT_UNTESTED;
    assert_verdict(arms, 3, 0, false,
                   "Nothing can be said yet: no arm has a finished run beside its control.");
}

static void long_names_do_not_break_the_sentence(void **state)
{
    char             name[192], out[CULL_VERDICT_SENTENCE];
    cull_verdict_arm arms[4];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < 4; i++)
        arms[i] = (cull_verdict_arm){name, (cull_verdict_kind)(i + 1), CULL_BAR_NONE, 1, .5, 0};
    cull_verdict_all(arms, 4, 3, .5, false, out);
    assert_true(strlen(out) < CULL_VERDICT_SENTENCE - 1);
    assert_non_null(strstr(out, "1 is worse, 1 is no different, 1 is undecided. Not all"));
}

/* Nothing differs; some arms share a control, all share their seeds' luck. Accuracies are of so
 * many test examples. How often would anybody be called better or worse? */
static double called(size_t seeds, size_t arms, double examples, uint64_t stream)
{
    enum { TRIALS = 1000, MOST = 16 };
    size_t wrong = 0;

    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        double p[MOST], luck[MOST][MOST + 3], d[MOST];
        bool   any = false;

        for (size_t s = 0; s < seeds; s++)
            for (size_t a = 0; a < arms + 3; a++) {
                uint64_t at = (trial * MOST + s) * 64;
                double   x =
                    88 + .4 * random_normal(stream, at) + .4 * random_normal(stream, at + 1 + a);
                luck[s][a] = round(x * examples / 100) * 100 / examples;
            }
        for (size_t a = 0; a < arms; a++) {
            for (size_t s = 0; s < seeds; s++) d[s] = luck[s][a] - luck[s][arms + a % 3];
            p[a] = cull_stat_test(d, seeds, 100 / examples).p;
        }
        cull_stat_holm(p, arms, p);
        for (size_t a = 0; a < arms; a++) any = any || p[a] < .05;
        wrong += any;
    }
    return (double)wrong / TRIALS;
}

/* Three deviations of a share of .05 among 1000 above it. */
#define FALSE_CALLS (.05 + 3 * .0069)

static void chance_alone_is_seldom_called_a_difference(void **state)
{
    static const double examples[] = {100, 1000, 10000};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t seeds = 2; seeds <= 4; seeds++) {
            double one = called(seeds, 1, examples[i], 10 * i + seeds);
            double all = called(seeds, 8, examples[i], 100 + 10 * i + seeds);

            if (one > FALSE_CALLS || all > FALSE_CALLS)
                fail_msg("%zu seeds, %.0f examples: %.3f, of eight arms %.3f", seeds, examples[i],
                         one, all);
        }
    assert_true(called(5, 1, 10000, 1) > .03); /* the test does call */
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
        cmocka_unit_test(without_margin_or_difference_no_number_of_seeds_is_named),
        cmocka_unit_test(one_arm_has_a_sentence_of_its_own),
        cmocka_unit_test(who_pays_comes_first_and_nobody_is_kept_quiet),
        cmocka_unit_test(who_does_not_pay_is_counted_by_kind_and_named_where_few),
        cmocka_unit_test(runs_that_failed_are_counted_where_somebody_is_called_better),
        cmocka_unit_test(selection_pays_only_where_no_bar_stands_before_it),
        cmocka_unit_test(arms_that_are_all_alike_are_told_at_once),
        cmocka_unit_test(long_names_do_not_break_the_sentence),
        cmocka_unit_test(chance_alone_is_seldom_called_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
