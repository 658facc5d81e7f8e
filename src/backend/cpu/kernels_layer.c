/*
 * backend/cpu/kernels_layer.c - inner loops of norms, activations and pooling (kernels_layer.h).
 *
 * A panel is walked in runs of RUN pixels, a run in strips of channels whose parameters and sums
 * stay in registers. The moments of a run are taken about the mean m of its first pixels,
 * which keeps floats accurate however large the mean is:
 *
 *     r = sum (x - m), q = sum (x - m)^2     sum x = T m + r     sum x^2 = q + 2 m r + T m^2
 */
#include "backend/cpu/kernels_layer.h"

#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/strip.h"

enum { RUN = 64, PROBE = 4 };

#define LOAD(x, from) memcpy(&(x), (from), sizeof(lanes))
#define STORE(to, x)  memcpy((to), &(x), sizeof(lanes))

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void run_moments(size_t steps, size_t period, const float *x, double *sum, double *square)
{
    size_t probe = least(steps, PROBE);
    lanes  middle = {0}, r0 = {0}, r1 = {0}, q0 = {0}, q1 = {0}, v, u;

    for (size_t t = 0; t < probe; t++) {
        LOAD(v, x + t * period);
        middle += v;
    }
    middle *= 1 / (float)probe;
    for (size_t t = 0; t + 1 < steps; t += 2) {
        LOAD(v, x + t * period);
        LOAD(u, x + (t + 1) * period);
        v -= middle;
        u -= middle;
        r0 += v;
        r1 += u;
        q0 += v * v;
        q1 += u * u;
    }
    if (steps % 2) {
        LOAD(v, x + (steps - 1) * period);
        v -= middle;
        r0 += v;
        q0 += v * v;
    }
    r0 += r1;
    q0 += q1;
    for (int j = 0; j < STRIP; j++) {
        double m = (double)middle[j], r = (double)r0[j], count = (double)steps;

        sum[j] += count * m + r;
        square[j] += (double)q0[j] + 2 * m * r + count * m * m;
    }
}

static void moments(size_t length, size_t period, const float *x, double *sum, double *square)
{
    size_t steps = length / period, rest = length % period;

    for (size_t t = 0; t < steps; t += RUN)
        for (size_t s = 0; s < period; s += STRIP)
            run_moments(least(RUN, steps - t), period, x + t * period + s, sum + s, square + s);
    for (size_t j = 0; j < rest; j++) {
        double value = (double)x[steps * period + j];

        sum[j] += value;
        square[j] += value * value;
    }
}

static void run_norm(size_t steps, size_t period, const cull_norm_params *p, size_t s,
                     const float *x, const float *x2, bool relu, float *y)
{
    lanes mean, scale, shift, v, u;

    LOAD(mean, p->mean + s);
    LOAD(scale, p->scale + s);
    LOAD(shift, p->shift + s);
    for (size_t t = 0; t < steps; t++) {
        LOAD(v, x + t * period);
        v = (v - mean) * scale + shift;
        if (x2) {
            LOAD(u, x2 + t * period);
            v += u;
        }
        if (relu) v = (lanes)((masks)v & ~(v < 0)); /* NaN stays */
        STORE(y + t * period, v);
    }
}

static void norm(size_t length, size_t period, const cull_norm_params *p, const float *x,
                 const float *x2, bool relu, float *y)
{
    size_t steps = length / period, rest = length % period, at = steps * period;

    for (size_t t = 0; t < steps; t += RUN) {
        for (size_t s = 0; s < period; s += STRIP) {
            size_t from = t * period + s, count = least(RUN, steps - t);

            if (x2)
                run_norm(count, period, p, s, x + from, x2 + from, relu, y + from);
            else
                run_norm(count, period, p, s, x + from, NULL, relu, y + from);
        }
    }
    for (size_t j = 0; j < rest; j++) {
        float v = (x[at + j] - p->mean[j]) * p->scale[j] + p->shift[j];

        if (x2) v += x2[at + j];
        y[at + j] = relu && v < 0 ? 0 : v;
    }
}

static inline void run_norm_sums(size_t steps, size_t period, const float *mean, const float *x,
                                 const float *y, const float *dy, double *sum, double *product)
{
    lanes middle, s0 = {0}, p0 = {0}, v, u, dz;

    LOAD(middle, mean);
    for (size_t t = 0; t < steps; t++) {
        LOAD(v, x + t * period);
        LOAD(dz, dy + t * period);
        if (y) {
            LOAD(u, y + t * period);
            dz = (lanes)((masks)dz & (u > 0));
        }
        s0 += dz;
        p0 += dz * (v - middle);
    }
    for (int j = 0; j < STRIP; j++) {
        sum[j] += (double)s0[j];
        product[j] += (double)p0[j];
    }
}

static void norm_sums(size_t length, size_t period, const float *mean, const float *x,
                      const float *y, const float *dy, double *sum, double *product)
{
    size_t steps = length / period, rest = length % period, at = steps * period;

    for (size_t t = 0; t < steps; t += RUN) {
        for (size_t s = 0; s < period; s += STRIP) {
            size_t from = t * period + s, count = least(RUN, steps - t);

            if (y)
                run_norm_sums(count, period, mean + s, x + from, y + from, dy + from, sum + s,
                              product + s);
            else
                run_norm_sums(count, period, mean + s, x + from, NULL, dy + from, sum + s,
                              product + s);
        }
    }
    for (size_t j = 0; j < rest; j++) {
        float dz = y && !(y[at + j] > 0) ? 0 : dy[at + j];

        sum[j] += (double)dz;
        product[j] += (double)dz * (double)(x[at + j] - mean[j]);
    }
}

/* What norm_back reads and writes, from some place on. */
struct back {
    const float *x, *y, *dy;
    float       *dx, *dx2;
};

static inline void run_norm_back(size_t steps, size_t period, const cull_norm_params *p, size_t s,
                                 float weight, const struct back *b, bool add_dx, bool add_dx2)
{
    lanes mean, scale, level, tilt, v, u, dz;

    LOAD(mean, p->mean + s);
    LOAD(scale, p->scale + s);
    LOAD(level, p->level + s);
    LOAD(tilt, p->tilt + s);
    level *= weight;
    tilt *= weight;
    for (size_t i = 0; i < steps * period; i += period) {
        LOAD(v, b->x + i);
        LOAD(dz, b->dy + i);
        if (b->y) {
            LOAD(u, b->y + i);
            dz = (lanes)((masks)dz & (u > 0));
        }
        v = scale * dz - (level + tilt * (v - mean));
        if (b->dx) {
            if (add_dx) {
                LOAD(u, b->dx + i);
                v += u;
            }
            STORE(b->dx + i, v);
        }
        if (b->dx2) {
            if (add_dx2) {
                LOAD(u, b->dx2 + i);
                dz += u;
            }
            STORE(b->dx2 + i, dz);
        }
    }
}

static struct back advance(const struct back *b, size_t by)
{
    return (struct back){b->x + by, b->y ? b->y + by : NULL, b->dy + by, b->dx ? b->dx + by : NULL,
                         b->dx2 ? b->dx2 + by : NULL};
}

static void norm_back(size_t length, size_t period, const cull_norm_params *p, float weight,
                      const float *x, const float *y, const float *dy, float *dx, bool add_dx,
                      float *dx2, bool add_dx2)
{
    struct back whole = {x, y, dy, dx, dx2};
    size_t      steps = length / period, at = steps * period;

    for (size_t t = 0; t < steps; t += RUN) {
        for (size_t s = 0; s < period; s += STRIP) {
            struct back b = advance(&whole, t * period + s);
            size_t      count = least(RUN, steps - t);

            run_norm_back(count, period, p, s, weight, &b, add_dx, add_dx2);
        }
    }
    for (size_t i = at; i < length; i++) {
        size_t j = i - at;
        float  dz = y && !(y[i] > 0) ? 0 : dy[i];
        float  v =
            p->scale[j] * dz - (weight * p->level[j] + weight * p->tilt[j] * (x[i] - p->mean[j]));

        if (dx) dx[i] = add_dx ? dx[i] + v : v;
        if (dx2) dx2[i] = add_dx2 ? dx2[i] + dz : dz;
    }
}

static void clip(size_t n, const float *restrict x, float top, float *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        float v = x[i] < 0 ? 0 : x[i]; /* NaN stays */
        y[i] = v > top ? top : v;
    }
}

static void clip_back(size_t n, const float *restrict y, float top, const float *restrict dy,
                      float *restrict dx, bool add)
{
    for (size_t i = 0; !add && i < n; i++) dx[i] = y[i] > 0 && y[i] < top ? dy[i] : 0;
    for (size_t i = 0; add && i < n; i++) dx[i] += y[i] > 0 && y[i] < top ? dy[i] : 0;
}

static void add(size_t n, const float *x, const float *x2, float *y)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] + x2[i];
}

/* In a maximum NaN is greater than every number, and the last of them wins. */
static inline bool beats(float value, float best)
{
    return (value > best) | (value != value);
}

static void pool_max(size_t n, size_t taps, const ptrdiff_t *at, const uint8_t *tap, const float *x,
                     float *restrict y, uint8_t *restrict winner)
{
    for (size_t j = 0; j < n; j++) y[j] = x[at[0] + (ptrdiff_t)j];
    if (winner) memset(winner, tap[0], n);
    for (size_t k = 1; k < taps; k++) {
        const float *restrict from = x + at[k];
        uint8_t number = tap[k];

        if (!winner)
            for (size_t j = 0; j < n; j++) y[j] = beats(from[j], y[j]) ? from[j] : y[j];
        else
            for (size_t j = 0; j < n; j++) {
                bool better = beats(from[j], y[j]);

                y[j] = better ? from[j] : y[j];
                winner[j] = better ? number : winner[j];
            }
    }
}

static void pool_mean(size_t n, size_t taps, const ptrdiff_t *at, const float *x, float *restrict y)
{
    float factor = 1 / (float)taps;

    memset(y, 0, n * sizeof *y);
    for (size_t k = 0; k < taps; k++) {
        const float *restrict from = x + at[k];
        for (size_t j = 0; j < n; j++) y[j] += from[j];
    }
    for (size_t j = 0; j < n; j++) y[j] *= factor;
}

static void pool_max_back(size_t n, uint8_t tap, const uint8_t *restrict winner,
                          const float *restrict dy, float *restrict dx)
{
    for (size_t j = 0; j < n; j++) dx[j] += winner[j] == tap ? dy[j] : 0;
}

static void pool_mean_back(size_t n, float factor, const float *restrict dy, float *restrict dx)
{
    for (size_t j = 0; j < n; j++) dx[j] += dy[j] * factor;
}

/* Nothing here may become a branch: which of four is largest cannot be foreseen. */
static void pool_four(size_t n, const int32_t *restrict first, const int32_t step[4],
                      const float *restrict x, float *restrict y, uint8_t *restrict winner)
{
    int32_t s1 = step[1], s2 = step[2], s3 = step[3];

    for (size_t i = 0; i < n; i++) {
        float   a = x[first[i]], b = x[first[i] + s1], c = x[first[i] + s2], d = x[first[i] + s3];
        float   left = beats(b, a) ? b : a, right = beats(d, c) ? d : c;
        int32_t from_left = beats(b, a), from_right = 2 + beats(d, c);
        int32_t take = -(int32_t)beats(right, left);

        y[i] = beats(right, left) ? right : left;
        if (winner) winner[i] = (uint8_t)((from_right & take) | (from_left & ~take));
    }
}

static void pool_four_back(size_t n, const int32_t *restrict first, const int32_t step[4],
                           const uint8_t *restrict winner, const float *restrict dy,
                           float *restrict dx, bool add)
{
    for (size_t i = 0; i < n; i++) {
        float *to = dx + first[i];

        for (int k = 0; k < 4; k++) {
            float gradient = dy[i] * (float)(winner[i] == k);
            to[step[k]] = add ? to[step[k]] + gradient : gradient;
        }
    }
}

const cull_layer_loops KERNEL_NAME(cull_layer_loops_) = {
    .moments = moments,
    .norm = norm,
    .norm_sums = norm_sums,
    .norm_back = norm_back,
    .clip = clip,
    .clip_back = clip_back,
    .add = add,
    .pool_max = pool_max,
    .pool_mean = pool_mean,
    .pool_max_back = pool_max_back,
    .pool_mean_back = pool_mean_back,
    .pool_four = pool_four,
    .pool_four_back = pool_four_back,
};
