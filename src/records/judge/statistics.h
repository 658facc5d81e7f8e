/*
 * records/judge/statistics.h - the few numbers a comparison of paired runs needs.
 *
 * Everything here is a pure function of its arguments; arrays are borrowed.
 */
#ifndef CULL_RECORDS_STATISTICS_H
#define CULL_RECORDS_STATISTICS_H

#include "base/status.h"

double cull_stat_mean(const double *x, size_t n); /* NaN: n is 0            */
double cull_stat_sd(const double *x, size_t n);   /* over n - 1; NaN: n < 2 */
double cull_stat_median(double *x, size_t n);     /* sorts x; NaN: n is 0   */
void   cull_stat_sort(double *x, size_t n);       /* ascending              */

/* The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1. */
double cull_stat_beta(double a, double b, double x);

/* Student's t with `freedom` degrees: the probability of |T| >= |t|, and the t that is exceeded
 * with probability p, both two-sided; 0 < p < 1. */
double cull_stat_t_p(double t, double freedom);
double cull_stat_t_quantile(double p, double freedom);

/*
 * The paired t-test on n differences. NaN throughout where n < 2.
 *
 * resolution   the steps that differences come in, 0: none. A few that are rounded alike seem to
 *              have no spread, which would make any difference certain: sd is no less than what
 *              the rounding of both sides alone makes, resolution / sqrt 6. Without spread and
 *              resolution p is 1 when the mean is 0, else 0: the limits of what the test says.
 */
typedef struct cull_stat_paired {
    size_t n;
    double mean, sd, t, p;
} cull_stat_paired;

cull_stat_paired cull_stat_test(const double *differences, size_t n, double resolution);

/* The interval around the mean that holds the true one with probability `level`. */
void cull_stat_interval(const cull_stat_paired *test, double level, double *low, double *high);

/*
 * Holm's adjustment: with p ascending, adjusted_i = max over j <= i of (n - j) p_j, at most 1.
 * Those that are NaN (no test was possible) stay so and count for none. out may be p. n <= 4096.
 */
void cull_stat_holm(const double *p, size_t n, double *out);

/*
 * The levels that Holm's procedure tests at, as those of intervals: 1 - alpha / (those left) for
 * each p in turn, ascending, and for all behind the first that is not below its share that one's.
 * An interval of its level leaves 0 out exactly where the adjusted p is below alpha. NaN as above;
 * out may be p.
 */
void cull_stat_holm_levels(const double *p, size_t n, double alpha, double *out);

/*
 * Wilcoxon's signed-rank test, two-sided. Differences within 1e-9 of zero are dropped, those
 * within 1e-9 of each other share their mean rank. Up to 25 that are left: the exact distribution
 * over all signs, ties included. Beyond: the normal one with ties accounted for, without a
 * continuity correction. NaN: nothing is left, or n > 4096.
 */
double cull_stat_wilcoxon(const double *differences, size_t n);

/* Who is on the frontier: nobody else costs no more and is at least as good, one of the two
 * strictly. A NaN is never on it and dominates nobody. */
void cull_stat_pareto(const double *cost, const double *gain, size_t n, bool *out);

/*
 * The first cost at which a curve of errors is no higher than `level`. Costs ascend. Between two
 * points the curve is a straight line; before the first nothing is known, so that the first point
 * is the earliest answer. NaN: never. Points whose error is NaN are passed over.
 */
double cull_stat_reach(const double *cost, const double *error, size_t n, double level);

#endif
