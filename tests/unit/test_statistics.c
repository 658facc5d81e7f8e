/* tests/unit/test_statistics.c - the referee's numbers, against scipy 1.10 (quantiles and
 * intervals: mpmath, scipy's own are good to 1e-9 only) and by property. */
#include "records/judge/statistics.h"

#include <math.h>
#include <string.h>

#include "support.h"

#define CLOSE 1e-10

static void assert_close(double got, double want)
{
    if (!(fabs(got - want) <= CLOSE * fmax(1, fabs(want))))
        fail_msg("%.17g is not %.17g", got, want);
}

static void the_incomplete_beta_function_is_scipys(void **state)
{
    static const double cases[][4] = {{.5, .5, .3, 0.36901011956554541},
                                      {1, .5, .9, 0.68377223398316178},
                                      {2.5, .5, .01, 3.4075027649461733e-06},
                                      {10, 3, .8, 0.55834574847999996},
                                      {50, .5, .99, 0.31730439787419623},
                                      {500, .5, .999, 0.31731044730955799},
                                      {3, 7, .5, 0.91015625},
                                      {2, 3, 0, 0},
                                      {2, 3, 1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_close(cull_stat_beta(cases[i][0], cases[i][1], cases[i][2]), cases[i][3]);
}

static void students_t_is_exact(void **state)
{
    static const double tails[][3] = {{0, 3, 1},
                                      {.5, 1, 0.70483276469913358},
                                      {1.3, 2, 0.32324703181604053},
                                      {2.5, 2, 0.1296117202215108},
                                      {4.303, 2, 0.04999252498521449},
                                      {12.7, 1, 0.050024327689344152},
                                      {2.2, 5, 0.079093897903182331},
                                      {.001, 7, 0.99923001724499882},
                                      {3.1, 30, 0.0041844848605507492},
                                      {1.96, 1000, 0.050273184955748708},
                                      {40, 2, 0.0006244146721847406},
                                      {8, 9, 2.2134816809400169e-05}};
    static const double quantiles[][3] = {
        {.05, 1, 12.706204736174705}, {.05, 2, 4.3026527297494639}, {.05, 4, 2.7764451051977944},
        {.1, 2, 2.9199855803537257},  {.1, 9, 1.8331129326562372},  {.05, 29, 2.0452296421327043},
        {.05, 999, 1.96234146113345}, {.01, 3, 5.8409093097333573}};

    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        assert_close(cull_stat_t_p(tails[i][0], tails[i][1]), tails[i][2]);
        assert_close(cull_stat_t_p(-tails[i][0], tails[i][1]), tails[i][2]);
    }
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        assert_close(cull_stat_t_quantile(quantiles[i][0], quantiles[i][1]), quantiles[i][2]);
}

static void the_paired_test_and_its_intervals_are_exact(void **state)
{
    static const double x[] = {.3, -.1, .25, .6, .2, -.35, .7};
    cull_stat_paired    test = cull_stat_test(x, 7, 0);
    double              low = 0, high = 0;

    (void)state;
    assert_close(test.mean, 1.6 / 7);
    assert_close(test.sd, 0.36726142239684306);
    assert_close(test.t, 1.6466285864386545);
    assert_close(test.p, 0.15073399755447472);
    cull_stat_interval(&test, .9, &low, &high);
    assert_close(low, -0.04116486554322427);
    assert_close(high, 0.49830772268608141);
    cull_stat_interval(&test, .95, &low, &high);
    assert_close(low, -0.11108873645352798);
    assert_close(high, 0.56823159359638512);
}

static void without_spread_the_test_says_its_limits(void **state)
{
    static const double zero[] = {0, 0, 0}, equal[] = {.1, .1, .1};
    cull_stat_paired    one = cull_stat_test(equal, 1, 0), none = cull_stat_test(zero, 3, 0);
    cull_stat_paired    all = cull_stat_test(equal, 3, 0);
    double              low = 0, high = 0;

    (void)state;
    assert_true(isnan(one.p) && isnan(one.sd));
    cull_stat_interval(&one, .9, &low, &high);
    assert_true(isnan(low) && isnan(high));
    assert_true(none.p == 1 && none.sd == 0 && none.t == 0);
    assert_true(all.p == 0 && all.sd == 0 && isinf(all.t));
    cull_stat_interval(&all, .9, &low, &high);
    assert_close(low, .1);
    assert_close(high, .1);
}

static void spread_is_no_less_than_rounding_makes(void **state)
{
    static const double equal[] = {.1, .1, .1}, wide[] = {-2, 1, 4};
    cull_stat_paired    test = cull_stat_test(equal, 3, .1);

    (void)state;
    assert_close(test.sd, .1 / sqrt(6));
    assert_close(test.t, sqrt(18));
    assert_true(test.p > .05); /* three equal steps of the smallest size show nothing */
    assert_close(cull_stat_test(wide, 3, .1).sd, 3);
}

static void means_and_medians_are_what_they_are_called(void **state)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

    (void)state;
    assert_true(isnan(cull_stat_mean(odd, 0)) && isnan(cull_stat_median(odd, 0)));
    assert_true(isnan(cull_stat_sd(odd, 1)));
    assert_close(cull_stat_mean(odd, 3), 2);
    assert_close(cull_stat_sd(odd, 3), 1);
    assert_close(cull_stat_median(odd, 3), 2);
    assert_close(cull_stat_median(even, 4), 2.5);
}

static void holm_is_the_textbooks(void **state)
{
    static const double p[] = {.04, .01, .03, .005}, want[] = {.06, .03, .06, .02};
    double              out[4];

    (void)state;
    cull_stat_holm(p, 4, out);
    for (size_t i = 0; i < 4; i++) assert_close(out[i], want[i]);
}

static void holm_never_lowers_nor_reorders_nor_exceeds_bonferroni(void **state)
{
    double p[12], out[12];

    (void)state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        for (size_t i = 0; i < 12; i++) p[i] = pow(random_uniform(trial, i), 3);
        p[trial % 12] = p[(trial + 5) % 12]; /* a tie */
        cull_stat_holm(p, 12, out);
        for (size_t i = 0; i < 12; i++) {
            assert_true(out[i] >= p[i] && out[i] <= fmin(1, 12 * p[i]) + 1e-15);
            for (size_t j = 0; j < 12; j++) assert_true(!(p[i] < p[j]) || out[i] <= out[j]);
        }
    }
}

static void holm_leaves_out_what_was_not_tested(void **state)
{
    double p[] = {.02, NAN, .03}, out[3];

    (void)state;
    cull_stat_holm(p, 3, out);
    assert_close(out[0], .04);
    assert_true(isnan(out[1]));
    assert_close(out[2], .04);
    cull_stat_holm(p, 3, p); /* in place */
    assert_close(p[0], .04);
}

static void wilcoxon_is_scipys_where_both_are_exact(void **state)
{
    static const double seven[] = {.3, -.1, .25, .6, .2, -.35, .7}, six[] = {1, 2, 3, 4, 5, 6};
    static const double ten[] = {1, 2, 3, -4, 5, 6, 7, 8, 9, -10};
    double              many[25];

    (void)state;
    for (int i = 0; i < 25; i++) many[i] = (i % 3 == 0 ? -1 : 1) * (i + 1);
    assert_close(cull_stat_wilcoxon(seven, 7), 0.21875);
    assert_close(cull_stat_wilcoxon(six, 6), 0.03125);
    assert_close(cull_stat_wilcoxon(ten, 10), 0.193359375);
    assert_close(cull_stat_wilcoxon(many, 25), 0.23036134243011475);
}

static void wilcoxon_of_many_is_scipys_normal_one(void **state)
{
    static const double x[] = {2.3, -2.3, .7,  -.3, -.2, .1,  -1.7, .1,  -.6, 3.6,
                               .5,  -.1,  0,   -.4, -.8, -.1, .8,   .1,  1.3, .1,
                               .3,  1.8,  .8,  -.2, .1,  .8,  2.2,  0,   .1,  1.3,
                               -.6, 0,    1.2, .9,  .4,  1,   -2.5, 1.3, -.7, -1.4};

    (void)state;
    assert_int_equal(40, sizeof x / sizeof *x);
    assert_close(cull_stat_wilcoxon(x, 40), 0.15554555151653854);
}

/* Every assignment of signs, counted one by one. */
static void wilcoxon_with_ties_counts_every_sign(void **state)
{
    static const double x[] = {.1, .1, -.2, .2, .3, 0, .3, -.4, .1};
    static const double rank[] = {2, 2, 4.5, 4.5, 6.5, 6.5, 8, 2};
    double              seen = 2 + 2 + 4.5 + 6.5 + 6.5 + 2;
    unsigned            below = 0, above = 0;

    (void)state;
    for (unsigned signs = 0; signs < 256; signs++) {
        double sum = 0;
        for (unsigned i = 0; i < 8; i++) sum += signs >> i & 1 ? rank[i] : 0;
        below += sum <= seen;
        above += sum >= seen;
    }
    assert_close(cull_stat_wilcoxon(x, 9), fmin(1, 2. * (below < above ? below : above) / 256));
}

static void wilcoxon_ignores_signs_turned_round_and_knows_nothing_of_zeros(void **state)
{
    double x[30], turned[30], zeros[3] = {0, 0, 1e-12};

    (void)state;
    for (size_t n = 1; n <= 30; n++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = round(4 * random_normal(n, i)) / 4;
            turned[i] = -x[i];
        }
        double a = cull_stat_wilcoxon(x, n), b = cull_stat_wilcoxon(turned, n);
        assert_true((isnan(a) && isnan(b)) || fabs(a - b) < 1e-12);
        assert_true(isnan(a) || (a > 0 && a <= 1));
    }
    assert_true(isnan(cull_stat_wilcoxon(zeros, 3)));
}

static void the_frontier_holds_what_nothing_beats(void **state)
{
    double cost[] = {1, .5, .5, .2, .3, .5, NAN}, gain[] = {90, 89, 88, 80, 79, 89, 99};
    bool   want[] = {true, true, false, true, false, true, false}, out[7];

    (void)state;
    cull_stat_pareto(cost, gain, 7, out);
    for (size_t i = 0; i < 7; i++) assert_int_equal(want[i], out[i]);
}

static void a_curve_reaches_a_level_on_the_line_between_its_points(void **state)
{
    double cost[] = {.2, .4, .6, .8}, error[] = {20, NAN, 10, 12};

    (void)state;
    assert_close(cull_stat_reach(cost, error, 4, 25), .2);
    assert_close(cull_stat_reach(cost, error, 4, 20), .2);
    assert_close(cull_stat_reach(cost, error, 4, 15), .4);
    assert_close(cull_stat_reach(cost, error, 4, 10), .6);
    assert_true(isnan(cull_stat_reach(cost, error, 4, 9)));
    assert_true(isnan(cull_stat_reach(cost, error, 0, 9)));
}

static void levels_are_those_of_the_step_at_which_holm_tests_or_stops(void **state)
{
    static const double p[] = {.001, .9, .012, .03, NAN, .02};
    double              level[6];

    (void)state;
    cull_stat_holm_levels(p, 6, .05, level);
    assert_close(level[0], 1 - .05 / 5);
    assert_close(level[2], 1 - .05 / 4); /* .012 is below it, .02 not below the next */
    assert_close(level[5], 1 - .05 / 3);
    assert_close(level[3], 1 - .05 / 3);
    assert_close(level[1], 1 - .05 / 3);
    assert_true(isnan(level[4]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_incomplete_beta_function_is_scipys),
        cmocka_unit_test(students_t_is_exact),
        cmocka_unit_test(the_paired_test_and_its_intervals_are_exact),
        cmocka_unit_test(without_spread_the_test_says_its_limits),
        cmocka_unit_test(spread_is_no_less_than_rounding_makes),
        cmocka_unit_test(means_and_medians_are_what_they_are_called),
        cmocka_unit_test(holm_is_the_textbooks),
        cmocka_unit_test(holm_never_lowers_nor_reorders_nor_exceeds_bonferroni),
        cmocka_unit_test(holm_leaves_out_what_was_not_tested),
        cmocka_unit_test(wilcoxon_is_scipys_where_both_are_exact),
        cmocka_unit_test(wilcoxon_of_many_is_scipys_normal_one),
        cmocka_unit_test(wilcoxon_with_ties_counts_every_sign),
        cmocka_unit_test(wilcoxon_ignores_signs_turned_round_and_knows_nothing_of_zeros),
        cmocka_unit_test(the_frontier_holds_what_nothing_beats),
        cmocka_unit_test(a_curve_reaches_a_level_on_the_line_between_its_points),
        cmocka_unit_test(levels_are_those_of_the_step_at_which_holm_tests_or_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
