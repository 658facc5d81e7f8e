/*
 * records/judge/statistics.c - the t-test, Holm, Wilcoxon and friends.
 *
 *     P(|T| >= |t|) = I_x(v/2, 1/2),  x = v / (v + t^2),  v degrees of freedom
 *     I_x(a, b)     = x^a (1-x)^b / (a B(a, b)) * continued fraction (Lentz's way), for
 *                     x < (a+1)/(a+b+2), and 1 - I_{1-x}(b, a) otherwise
 */
#include "records/judge/statistics.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-9 /* differences of accuracies, in points: below this they are rounding */

enum { MOST = 4096, MOST_EXACT = 25, MOST_SUM = MOST_EXACT * (MOST_EXACT + 1) };

double cull_stat_mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += x[i];
    return n ? sum / (double)n : NAN;
}

double cull_stat_sd(const double *x, size_t n)
{
    double mean = cull_stat_mean(x, n), sum = 0;

    for (size_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return n < 2 ? NAN : sqrt(sum / (double)(n - 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void cull_stat_sort(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
}

double cull_stat_median(double *x, size_t n)
{
    if (n == 0) return NAN;
    cull_stat_sort(x, n);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

/* One term of the continued fraction, and no division by zero on the way. */
static void lentz(double term, double *c, double *d, double *value)
{
    *d = 1 + term * *d;
    if (fabs(*d) < 1e-300) *d = 1e-300;
    *c = 1 + term / *c;
    if (fabs(*c) < 1e-300) *c = 1e-300;
    *d = 1 / *d;
    *value *= *c * *d;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d, before = 0;

    for (int i = 1; i < 10000 && fabs(value - before) > 1e-16 * fabs(value); i++) {
        before = value;
        lentz(i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)), &c, &d, &value);
        lentz(-(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)), &c, &d, &value);
    }
    return value;
}

double cull_stat_beta(double a, double b, double x)
{
    double front = 0;

    if (x <= 0 || x >= 1) return x >= 1;
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double cull_stat_t_p(double t, double freedom)
{
    if (isnan(t) || isnan(freedom)) return NAN;
    if (isinf(t)) return 0;
    return cull_stat_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double cull_stat_t_quantile(double p, double freedom)
{
    double low = 0, high = 1;

    while (cull_stat_t_p(high, freedom) > p && high < 1e300) high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (cull_stat_t_p(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

cull_stat_paired cull_stat_test(const double *differences, size_t n, double resolution)
{
    cull_stat_paired out = {.n = n,
                            .mean = cull_stat_mean(differences, n),
                            .sd = cull_stat_sd(differences, n),
                            .t = NAN,
                            .p = NAN};

    if (n < 2) return out;
    /* Equal differences whose sum was rounded have no spread either. */
    if (out.sd <= 1e-12 * fabs(out.mean)) out.sd = 0;
    out.sd = fmax(out.sd, resolution / sqrt(6));
    if (out.sd > 0)
        out.t = out.mean * sqrt((double)n) / out.sd;
    else
        out.t = out.mean == 0 ? 0 : copysign(INFINITY, out.mean);
    out.p = cull_stat_t_p(out.t, (double)(n - 1));
    return out;
}

void cull_stat_interval(const cull_stat_paired *test, double level, double *low, double *high)
{
    double wide = NAN;

    if (test->n >= 2)
        wide = cull_stat_t_quantile(1 - level, (double)(test->n - 1)) * test->sd /
               sqrt((double)test->n);
    *low = test->mean - wide;
    *high = test->mean + wide;
}

/* Those that can be tested; the others are taken, and NaN in out. */
static size_t begin_holm(const double *p, size_t n, bool taken[MOST], double *out)
{
    size_t left = 0;

    for (size_t i = 0; i < n && i < MOST; i++) {
        taken[i] = isnan(p[i]);
        left += !taken[i];
        if (taken[i]) out[i] = NAN;
    }
    return left;
}

/* The least p that is not taken yet, which it then is. */
static size_t take_least(const double *p, size_t n, bool taken[MOST])
{
    size_t least = MOST;

    for (size_t i = 0; i < n && i < MOST; i++)
        if (!taken[i] && (least == MOST || p[i] < p[least])) least = i;
    taken[least] = true;
    return least;
}

void cull_stat_holm(const double *p, size_t n, double *out)
{
    bool   taken[MOST] = {false};
    double floor = 0;

    for (size_t left = begin_holm(p, n, taken, out); left > 0; left--) {
        size_t least = take_least(p, n, taken);

        floor = fmin(1, fmax(floor, (double)left * p[least]));
        out[least] = floor;
    }
}

void cull_stat_holm_levels(const double *p, size_t n, double alpha, double *out)
{
    bool   taken[MOST] = {false}, stopped = false;
    double share = alpha;

    for (size_t left = begin_holm(p, n, taken, out); left > 0; left--) {
        size_t least = take_least(p, n, taken);

        if (!stopped) share = alpha / (double)left;
        stopped = stopped || !(p[least] < share);
        out[least] = 1 - share;
    }
}

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

/* Mean ranks times two, so that they are whole; x ascends by size. Returns the sum of t^3 - t over
 * the groups of equal ones. */
static double rank_twice(const double *x, size_t n, unsigned *rank)
{
    double ties = 0;

    for (size_t first = 0, end = 0; first < n; first = end) {
        for (end = first + 1; end < n && fabs(x[end]) - fabs(x[first]) <= SAME;) end++;
        for (size_t i = first; i < end; i++) rank[i] = (unsigned)(first + 1 + end);
        ties += pow((double)(end - first), 3) - (double)(end - first);
    }
    return ties;
}

/* ways[s]: how many of the 2^n signs give twice the positive ranks the sum s. */
static double exact_p(const unsigned *rank, size_t n, unsigned sum)
{
    double   ways[MOST_SUM + 1] = {1}, below = 0, above = 0;
    unsigned top = 0;

    for (size_t i = 0; i < n; i++) {
        top += rank[i];
        for (unsigned s = top; s >= rank[i]; s--) ways[s] += ways[s - rank[i]];
    }
    for (unsigned s = 0; s <= top; s++) {
        if (s <= sum) below += ways[s];
        if (s >= sum) above += ways[s];
    }
    return fmin(1, 2 * fmin(below, above) / ldexp(1, (int)n));
}

static double normal_p(double positive, size_t count, double ties)
{
    double n = (double)count, mean = n * (n + 1) / 4;
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;

    return erfc(fabs(positive - mean) / sqrt(2 * variance));
}

double cull_stat_wilcoxon(const double *differences, size_t n)
{
    double   x[MOST], ties = 0;
    unsigned rank[MOST], sum = 0;
    size_t   left = 0;

    if (n > MOST) return NAN;
    for (size_t i = 0; i < n; i++)
        if (fabs(differences[i]) > SAME) x[left++] = differences[i];
    if (left == 0) return NAN;
    qsort(x, left, sizeof *x, by_size);
    ties = rank_twice(x, left, rank);
    for (size_t i = 0; i < left; i++) sum += x[i] > 0 ? rank[i] : 0;
    return left <= MOST_EXACT ? exact_p(rank, left, sum) : normal_p(sum / 2., left, ties);
}

void cull_stat_pareto(const double *cost, const double *gain, size_t n, bool *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = !isnan(cost[i]) && !isnan(gain[i]);
        for (size_t j = 0; j < n && out[i]; j++)
            if (cost[j] <= cost[i] && gain[j] >= gain[i] &&
                (cost[j] < cost[i] || gain[j] > gain[i]))
                out[i] = false;
    }
}

double cull_stat_reach(const double *cost, const double *error, size_t n, double level)
{
    double at = NAN, was = NAN; /* the latest point above the level */

    for (size_t i = 0; i < n; i++) {
        if (isnan(error[i])) continue;
        if (error[i] <= level && isnan(was)) return cost[i];
        if (error[i] <= level) return at + (cost[i] - at) * (was - level) / (was - error[i]);
        at = cost[i];
        was = error[i];
    }
    return NAN;
}
