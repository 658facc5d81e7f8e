/*
 * tests/gradients.h - last-layer signals from a seed, and matching pursuit by brute force.
 *
 * Gradients are stored whole here, and every refit is a fresh solve of the normal equations:
 * what the library must agree with, written without any of its shortcuts.
 */
#ifndef CULL_TESTS_GRADIENTS_H
#define CULL_TESTS_GRADIENTS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

struct data {
    size_t       n, d, c;
    double      *h, *p; /* (n, d), (n, c) */
    int32_t     *label; /* [n]            */
    cull_signals signals;
};

/* H normal, P = softmax - onehot of normal logits, labels uniform. */
static inline struct data data_make(uint64_t seed, size_t n, size_t d, size_t c)
{
    struct data data = {.n = n, .d = d, .c = c};

    data.h = normals_f64(seed, n * d);
    data.p = normals_f64(seed + 1000003, n * c);
    data.label = malloc(n * sizeof *data.label);
    for (size_t i = 0; i < n; i++) {
        double *p = data.p + i * c, sum = 0;

        data.label[i] = (int32_t)(random_uniform(seed + 2000003, i) * (double)c);
        for (size_t j = 0; j < c; j++) sum += exp(p[j]);
        for (size_t j = 0; j < c; j++) p[j] = exp(p[j]) / sum - (j == (size_t)data.label[i]);
    }
    data.signals = (cull_signals){.count = n,
                                  .h = cull_matrix(data.h, CULL_F64, n, d),
                                  .p = cull_matrix(data.p, CULL_F64, n, c),
                                  .label = cull_vector(data.label, CULL_I32, n)};
    return data;
}

static inline void data_free(struct data *data)
{
    free(data->h);
    free(data->p);
    free(data->label);
}

static inline void as_target(const struct data *data, cull_target *target)
{
    *target = (cull_target){
        .count = data->n, .h = data->signals.h, .p = data->signals.p, .label = data->signals.label};
}

/* Gradient of row i: (c, d+1), or (d+1) for one column of P. */
static inline void gradient(const struct data *data, size_t i, int column, double *g)
{
    size_t width = data->d + 1;

    for (size_t c = 0; c < data->c; c++) {
        if (column >= 0 && c != (size_t)column) continue;
        for (size_t j = 0; j < width; j++)
            *g++ = data->p[i * data->c + c] * (j < data->d ? data->h[i * data->d + j] : 1);
    }
}

static inline double inner(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Gaussian elimination with pivots; a (n, n) and x [n] are overwritten. */
static inline void solve_dense(double *a, double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        for (size_t j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        double swap = x[k];
        x[k] = x[best];
        x[best] = swap;
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* Pick m of n atoms g (n, size) towards b and refit after each; index[m] and weight[m]. */
static inline void brute_omp(const double *g, size_t n, size_t size, const double *b, size_t m,
                             double ridge, bool absolute, uint32_t *index, double *weight)
{
    double *residual = malloc(size * sizeof *residual), *a = malloc(m * m * sizeof *a);
    double  shift = 0;

    for (size_t i = 0; i < n; i++) shift += ridge * inner(g + i * size, g + i * size, size);
    shift /= (double)n;
    memcpy(residual, b, size * sizeof *residual);
    for (size_t k = 0; k < m; k++) {
        double best = -INFINITY;

        for (size_t i = 0; i < n; i++) {
            double score = inner(g + i * size, residual, size);
            bool   taken = false;
            for (size_t j = 0; j < k; j++) taken |= index[j] == i;
            if (absolute) score = fabs(score);
            if (taken || score <= best) continue;
            best = score;
            index[k] = (uint32_t)i;
        }
        for (size_t i = 0; i <= k; i++) {
            for (size_t j = 0; j <= k; j++)
                a[i * (k + 1) + j] =
                    inner(g + index[i] * size, g + index[j] * size, size) + (i == j ? shift : 0);
            weight[i] = inner(g + index[i] * size, b, size);
        }
        solve_dense(a, weight, k + 1);
        memcpy(residual, b, size * sizeof *residual);
        for (size_t i = 0; i <= k; i++)
            for (size_t j = 0; j < size; j++) residual[j] -= weight[i] * g[index[i] * size + j];
    }
    free(residual);
    free(a);
}

/* |sum of weight_i g_i - b|^2 over n atoms. */
static inline double matching_error(const double *g, const uint32_t *index, const double *weight,
                                    size_t n, size_t size, const double *b)
{
    double error = 0;

    for (size_t l = 0; l < size; l++) {
        double rest = -b[l];
        for (size_t i = 0; i < n; i++) rest += weight[i] * g[index[i] * size + l];
        error += rest * rest;
    }
    return error;
}

/* min 1/2 x^T (K + diag(shift)) x - t^T x, x >= 0, atoms one by one (Lawson and Hanson). */
static inline void brute_nonnegative(const double *k, const double *shift, const double *t,
                                     size_t n, double *x)
{
    double   *a = malloc(n * n * sizeof *a), *wish = malloc(n * sizeof *wish), least = 0, scale = 0;
    uint32_t *in = malloc(n * sizeof *in);
    bool     *active = calloc(n, sizeof *active);

    for (size_t i = 0; i < n; i++) x[i] = 0;
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(t[i]));
    for (;;) {
        size_t best = n;

        least = 1e-13 * scale;
        for (size_t i = 0; i < n; i++) {
            double slope = t[i] - inner(k + i * n, x, n) - shift[i] * x[i];
            if (active[i] || k[i * n + i] <= 0 || slope <= least) continue;
            least = slope;
            best = i;
        }
        if (best == n) break;
        active[best] = true;
        for (;;) {
            size_t count = 0, gone = n;
            double reach = 1;

            for (size_t i = 0; i < n; i++)
                if (active[i]) in[count++] = (uint32_t)i;
            for (size_t i = 0; i < count; i++) {
                for (size_t j = 0; j < count; j++)
                    a[i * count + j] = k[in[i] * n + in[j]] + (i == j ? shift[in[i]] : 0);
                wish[i] = t[in[i]];
            }
            solve_dense(a, wish, count);
            for (size_t i = 0; i < count; i++) {
                double part = x[in[i]] / (x[in[i]] - wish[i]);
                if (wish[i] > 0 || part > reach) continue;
                reach = part;
                gone = in[i];
            }
            for (size_t i = 0; i < count; i++) x[in[i]] += reach * (wish[i] - x[in[i]]);
            if (gone == n) break;
            x[gone] = 0;
            active[gone] = false;
        }
    }
    free(a);
    free(wish);
    free(in);
    free(active);
}

/*
 * What refitting should make of atoms index[n] of g (count, size), the first `picked` of which
 * weigh weight[]: those weights, or the solution over all n where its error is lower.
 */
static inline void brute_refit(const double *g, size_t count, size_t size, const double *b,
                               double ridge, const uint32_t *index, size_t picked, size_t n,
                               double *weight)
{
    double *k = malloc(n * n * sizeof *k), *t = malloc(n * sizeof *t);
    double *shift = malloc(n * sizeof *shift), *x = malloc(n * sizeof *x), mean = 0;

    for (size_t i = 0; i < count; i++)
        mean += inner(g + i * size, g + i * size, size) / (double)count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            k[i * n + j] = inner(g + index[i] * size, g + index[j] * size, size);
        t[i] = inner(g + index[i] * size, b, size);
        shift[i] = ridge * mean + 1e-6 * k[i * n + i];
        if (i >= picked) weight[i] = 0;
    }
    brute_nonnegative(k, shift, t, n, x);
    if (matching_error(g, index, x, n, size, b) < matching_error(g, index, weight, n, size, b))
        memcpy(weight, x, n * sizeof *x);
    free(k);
    free(t);
    free(shift);
    free(x);
}

/* The weight a subset gives a row; 0: not in it. */
static inline double weight_of(const cull_subset *subset, size_t row)
{
    for (size_t i = 0; i < subset->count; i++)
        if (subset->index[i] == row) return subset->weight[i];
    return 0;
}

static inline double weight_sum(const cull_subset *subset)
{
    double sum = 0;

    for (size_t i = 0; i < subset->count; i++) sum += subset->weight[i];
    return sum;
}

static inline void assert_near(double expected, double got, double tolerance)
{
    if (!(fabs(expected - got) <= tolerance))
        fail_msg("%.17g expected, %.17g found (tolerance %g)", expected, got, tolerance);
}

/* The same rows, and weights to a tolerance; 0: to the bit. */
static inline void assert_same(const cull_subset *one, const cull_subset *two, double tolerance)
{
    assert_int_equal(one->count, two->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_int_equal(one->index[i], two->index[i]);
        assert_int_equal(one->group[i], two->group[i]);
        assert_near(one->weight[i], two->weight[i], tolerance);
    }
    assert_int_equal(one->flags, two->flags);
    assert_int_equal(one->picked, two->picked);
    assert_int_equal(one->groups, two->groups);
}

#endif
