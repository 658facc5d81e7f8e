/*
 * backend/cpu/kernels_sequence.c - inner loops of layers over sequences (kernels_sequence.h).
 *
 *     exp x      = 2^k e^r, k the nearest to x/log 2, and e^r by its series up to r^7 (|r| < .35)
 *     erfc z     = t P(t) exp(-z^2), t = 1/(1 + .4 z), z >= 0; P of degree 8 was fitted here so
 * that the largest relative error is 4.4e-8 Phi(x)     = erfc(-x/sqrt 2)/2, whose exponential is
 * the one of phi(x) gelu'      = Phi + x phi by tanh    y = x s, s = 1/(1 + exp(-2 u)), u =
 * sqrt(2/pi) (x + .044715 x^3) y' = s + 2 x s (1 - s) u'
 */
#include "backend/cpu/kernels_sequence.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/strip.h"
#include "base/philox.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define LOAD(x, from) memcpy(&(x), (from), sizeof(lanes))
#define STORE(to, x)  memcpy((to), &(x), sizeof(lanes))

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline lanes all(float x)
{
    return x - (lanes){0};
}

/* Where the mask has all bits. */
static inline lanes either(masks mask, lanes yes, lanes no)
{
    return (lanes)(((masks)yes & mask) | ((masks)no & ~mask));
}

static inline lanes magnitude(lanes x)
{
    return (lanes)((masks)x & 0x7fffffff);
}

/* Fewer than a vector: the others are `rest`. */
static inline lanes load_part(const float *x, size_t n, float rest)
{
    lanes v = all(rest);

    memcpy(&v, x, n * sizeof *x);
    return v;
}

static inline void store_part(float *to, lanes v, size_t n)
{
    memcpy(to, &v, n * sizeof *to);
}

/* NaN stays NaN; below -87 it is zero, and nothing here asks above 88. */
static inline lanes exponential(lanes x)
{
    const float magic = 12582912; /* 1.5 2^23: what is added to it is rounded to a masks number */
    lanes       inside = either(x < -87.f, all(-87), either(x > 88.f, all(88), x));
    lanes       shifted = inside * 1.44269504f + magic, k = shifted - magic;
    lanes       r = inside - k * 0.693359375f + k * 2.12194440e-4f, e = all(1.f / 5040);
    masks       power = ((masks)shifted - (masks)all(magic)) << 23;

    e = e * r + 1.f / 720;
    e = e * r + 1.f / 120;
    e = e * r + 1.f / 24;
    e = e * r + 1.f / 6;
    e = e * r + 0.5f;
    e = e * r + 1;
    e = e * r + 1;
    e = either(x < -87.f, all(0), (lanes)((masks)e + power));
    return either(x == x, e, x);
}

/* ---- curves ---- */

/* Phi(x), and exp(-x^2/2). */
static inline lanes normal(lanes x, lanes *bell)
{
    lanes z = magnitude(x) * 0.707106781f, t = 1 / (1 + 0.4f * z), tail = all(0.03636211236f);

    *bell = exponential(-z * z);
    tail = tail * t - 0.1159793826f;
    tail = tail * t + 0.03237061009f;
    tail = tail * t + 0.1487543317f;
    tail = tail * t + 0.03636830572f;
    tail = tail * t + 0.2125676296f;
    tail = tail * t + 0.1967748031f;
    tail = tail * t + 0.2271938101f;
    tail = tail * t + 0.2255878237f;
    tail *= 0.5f * t * *bell;
    return either(x < 0.f, tail, 1 - tail);
}

/* s, and 2 u'. */
static inline lanes gate(lanes x, lanes *steep)
{
    lanes square = x * x;

    *steep = 1.595769122f + (3 * 0.044715f * 1.595769122f) * square;
    return 1 / (1 + exponential(-1.595769122f * x * (1 + 0.044715f * square)));
}

static inline lanes bent(cull_activation kind, lanes x)
{
    lanes other;

    return x * (kind == CULL_GELU ? normal(x, &other) : gate(x, &other));
}

static inline lanes slope(cull_activation kind, lanes x)
{
    lanes other, s = kind == CULL_GELU ? normal(x, &other) : gate(x, &other);

    return kind == CULL_GELU ? s + 0.3989422804f * x * other : s + x * s * (1 - s) * other;
}

static inline void bend_by(cull_activation kind, size_t n, const float *x, float *y)
{
    size_t i = 0;

    for (; i + STRIP <= n; i += STRIP) {
        lanes v;

        LOAD(v, x + i);
        v = bent(kind, v);
        STORE(y + i, v);
    }
    if (i < n) store_part(y + i, bent(kind, load_part(x + i, n - i, 0)), n - i);
}

static void bend(cull_activation kind, size_t n, const float *x, float *y)
{
    if (kind == CULL_GELU)
        bend_by(CULL_GELU, n, x, y);
    else
        bend_by(CULL_GELU_TANH, n, x, y);
}

static inline void bend_back_by(cull_activation kind, size_t n, const float *x, const float *dy,
                                float *dx, bool add)
{
    size_t i = 0;

    for (; i + STRIP <= n; i += STRIP) {
        lanes v, g, old = {0};

        LOAD(v, x + i);
        LOAD(g, dy + i);
        if (add) LOAD(old, dx + i);
        g = g * slope(kind, v) + old;
        STORE(dx + i, g);
    }
    if (i < n) {
        lanes g = load_part(dy + i, n - i, 0) * slope(kind, load_part(x + i, n - i, 0));

        if (add) g += load_part(dx + i, n - i, 0);
        store_part(dx + i, g, n - i);
    }
}

static void bend_back(cull_activation kind, size_t n, const float *x, const float *dy, float *dx,
                      bool add)
{
    if (kind == CULL_GELU)
        bend_back_by(CULL_GELU, n, x, dy, dx, add);
    else
        bend_back_by(CULL_GELU_TANH, n, x, dy, dx, add);
}

/* ---- weights of attention ---- */

static inline masks load_tokens(const int32_t *token, size_t n)
{
    masks v = (masks){0} - 1;

    memcpy(&v, token, n * sizeof *token);
    return v;
}

static inline double sum_of(lanes v)
{
    double sum = 0;

    for (int j = 0; j < STRIP; j++) sum += (double)v[j];
    return sum;
}

static float largest(size_t n, const int32_t *token, const float *s)
{
    lanes most = all(-INFINITY);
    float out = -INFINITY;

    for (size_t i = 0; i < n; i += STRIP) {
        size_t part = least(n - i, STRIP);
        lanes  v = load_part(s + i, part, 0);

        v = either(load_tokens(token + i, part) >= 0, v, all(-INFINITY));
        most = either(v > most, v, most);
    }
    for (int j = 0; j < STRIP; j++) out = most[j] > out ? most[j] : out;
    return out;
}

/* s = exp(scale s - level), 0 at padding; their sum. */
static inline double weigh_by(size_t n, const int32_t *token, float scale, float level, float *s)
{
    lanes  sum = {0};
    size_t i = 0;

    for (; i + STRIP <= n; i += STRIP) {
        lanes v;

        LOAD(v, s + i);
        v = exponential(v * scale - level);
        v = either(load_tokens(token + i, STRIP) >= 0, v, all(0));
        STORE(s + i, v);
        sum += v;
    }
    if (i < n) {
        lanes v = exponential(load_part(s + i, n - i, 0) * scale - level);

        v = either(load_tokens(token + i, n - i) >= 0, v, all(0));
        store_part(s + i, v, n - i);
        sum += v;
    }
    return sum_of(sum);
}

static void weigh(size_t n, const int32_t *token, float scale, float *s, float *log_sum)
{
    float  most = largest(n, token, s) * scale;
    double sum = weigh_by(n, token, scale, most, s);
    float  share = (float)(1 / sum);

    *log_sum = (float)((double)most + log(sum));
    for (size_t i = 0; i < n; i++) s[i] *= share;
}

static void weigh_again(size_t n, const int32_t *token, float scale, float log_sum, float *s)
{
    (void)weigh_by(n, token, scale, log_sum, s);
}

static void lean(size_t n, const float *p, const float *g, float mean, float scale, float *s)
{
    for (size_t i = 0; i < n; i++) s[i] = p[i] * (g[i] - mean) * scale;
}

/* Both may be one. */
static inline double inner(size_t n, const float *x, const float *y, float middle)
{
    double sum = 0;

    for (size_t first = 0; first < n; first += CULL_SEQUENCE_RUN) {
        size_t end = first + least(n - first, CULL_SEQUENCE_RUN), i = first;
        lanes  a = {0}, v, u;

        for (; i + STRIP <= end; i += STRIP) {
            LOAD(v, x + i);
            LOAD(u, y + i);
            a += (v - middle) * (u - middle);
        }
        sum += sum_of(a);
        for (; i < end; i++)
            sum += ((double)x[i] - (double)middle) * ((double)y[i] - (double)middle);
    }
    return sum;
}

static float dot(size_t n, const float *x, const float *y)
{
    return (float)inner(n, x, y, 0);
}

/* ---- norms of rows ---- */

static double total(size_t n, const float *x)
{
    double sum = 0;

    for (size_t first = 0; first < n; first += CULL_SEQUENCE_RUN) {
        size_t end = first + least(n - first, CULL_SEQUENCE_RUN), i = first;
        lanes  a = {0}, v;

        for (; i + STRIP <= end; i += STRIP) {
            LOAD(v, x + i);
            a += v;
        }
        sum += sum_of(a);
        for (; i < end; i++) sum += (double)x[i];
    }
    return sum;
}

static void norm_row(size_t n, const float *x, const float *gamma, const float *beta,
                     double epsilon, float stats[2], float *y)
{
    float mean = (float)(total(n, x) / (double)n), rstd = 0;

    rstd = (float)(1 / sqrt(inner(n, x, x, mean) / (double)n + epsilon));
    stats[0] = mean;
    stats[1] = rstd;
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
}

static void norm_sums(size_t n, const float *x, const float *gamma, const float stats[2],
                      const float *dy, double *level, double *tilt)
{
    for (size_t first = 0; first < n; first += CULL_SEQUENCE_RUN) {
        size_t end = first + least(n - first, CULL_SEQUENCE_RUN), i = first;
        lanes  a = {0}, b = {0}, v, g, w;

        for (; i + STRIP <= end; i += STRIP) {
            LOAD(v, x + i);
            LOAD(g, dy + i);
            LOAD(w, gamma + i);
            g *= w;
            a += g;
            b += g * ((v - stats[0]) * stats[1]);
        }
        *level += sum_of(a);
        *tilt += sum_of(b);
        for (; i < end; i++) {
            float g1 = dy[i] * gamma[i];

            *level += (double)g1;
            *tilt += (double)(g1 * ((x[i] - stats[0]) * stats[1]));
        }
    }
}

static void norm_row_back(size_t      n, const float *restrict x, const float *restrict gamma,
                          const float stats[2], const float *restrict dy, float *restrict dx,
                          bool        add, double *restrict sums)
{
    double level = 0, tilt = 0;
    float  mean = stats[0], rstd = stats[1], flat = 0, lean_by = 0;

    for (size_t i = 0; i < n; i++) {
        sums[i] += (double)(dy[i] * ((x[i] - mean) * rstd));
        sums[n + i] += (double)dy[i];
    }
    if (!dx) return;
    norm_sums(n, x, gamma, stats, dy, &level, &tilt);
    flat = (float)(level / (double)n);
    lean_by = (float)(tilt / (double)n);
    for (size_t i = 0; i < n; i++) {
        float value = rstd * (dy[i] * gamma[i] - flat - (x[i] - mean) * rstd * lean_by);

        dx[i] = add ? dx[i] + value : value;
    }
}

/* ---- biases ---- */

static void add_bias(size_t rows, size_t n, const float *restrict bias, float *restrict y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) y[r * n + i] += bias[i];
}

/* Strips of columns stay in registers over a run of rows. */
static void add_rows(size_t rows, size_t n, const float *x, double *sum)
{
    enum { WIDE = 4 * STRIP, HIGH = 64 };

    for (size_t r = 0; r < rows; r += HIGH) {
        size_t high = least(rows - r, HIGH), i = 0;

        for (; i + WIDE <= n; i += WIDE) {
            lanes a[4] = {{0}}, v;

            for (size_t k = 0; k < high; k++)
                for (size_t j = 0; j < 4; j++) {
                    LOAD(v, x + (r + k) * n + i + j * STRIP);
                    a[j] += v;
                }
            for (size_t j = 0; j < WIDE; j++) sum[i + j] += (double)a[j / STRIP][j % STRIP];
        }
        for (; i < n; i++) {
            float a = 0;

            for (size_t k = 0; k < high; k++) a += x[(r + k) * n + i];
            sum[i] += (double)a;
        }
    }
}

/* ---- masks ---- */

static void words_one_by_one(size_t count, cull_key key, uint32_t first, uint32_t place,
                             uint64_t step, uint32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t counter[4] = {first + (uint32_t)i, place, (uint32_t)step, (uint32_t)(step >> 32)};

        cull_philox(key, counter, out + 4 * i);
    }
}

#if defined(__AVX512F__)
enum { COUNTERS = 8 };
typedef uint64_t longs __attribute__((vector_size(64)));
#define MULTIPLY(a, b) ((longs)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define LOWER(a, b)    __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER(a, b)    __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__)
enum { COUNTERS = 4 };
typedef uint64_t longs __attribute__((vector_size(32)));
#define MULTIPLY(a, b) ((longs)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define LOWER(a, b)    __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define UPPER(a, b)    __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

#if defined(__AVX2__)

/* As cull_philox(), a counter in each 64 bits of which the lower half counts. */
static inline void words_together(cull_key key, uint32_t first, uint32_t place, uint64_t step,
                                  uint32_t *out)
{
    const longs none = {0}, lower = none + 0xffffffffu;
    longs       c0, c1 = none + place, c2 = none + (uint32_t)step, c3 = none + (step >> 32);
    uint32_t    k0 = key.word[0], k1 = key.word[1];
    longs       low, high;

    for (uint32_t j = 0; j < COUNTERS; j++) c0[j] = first + j;
    for (int round = 0; round < 10; round++) {
        longs p0 = MULTIPLY(c0, none + 0xD2511F53u), p1 = MULTIPLY(c2, none + 0xCD9E8D57u);

        c0 = (p1 >> 32) ^ c1 ^ k0;
        c1 = p1;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    c0 = (c0 & lower) | (c1 << 32);
    c2 = (c2 & lower) | (c3 << 32);
    low = LOWER(c0, c2);
    high = UPPER(c0, c2);
    memcpy(out, &low, sizeof low);
    memcpy(out + 2 * COUNTERS, &high, sizeof high);
}

static void words(size_t count, cull_key key, uint32_t first, uint32_t place, uint64_t step,
                  uint32_t *out)
{
    size_t i = 0;

    for (; i + COUNTERS <= count; i += COUNTERS)
        words_together(key, first + (uint32_t)i, place, step, out + 4 * i);
    words_one_by_one(count - i, key, first + (uint32_t)i, place, step, out + 4 * i);
}

#else

static void words(size_t count, cull_key key, uint32_t first, uint32_t place, uint64_t step,
                  uint32_t *out)
{
    words_one_by_one(count, key, first, place, step, out);
}

#endif

static void drop(size_t n, const uint32_t *restrict word, uint32_t below, double scale,
                 const float *x, float *y, bool add)
{
    for (size_t i = 0; i < n; i++) {
        float kept = word[i] > below ? (float)(scale * (double)x[i]) : 0;

        y[i] = add ? y[i] + kept : kept;
    }
}

const cull_sequence_loops KERNEL_NAME(cull_sequence_loops_) = {
    .bend = bend,
    .bend_back = bend_back,
    .weigh = weigh,
    .weigh_again = weigh_again,
    .lean = lean,
    .dot = dot,
    .norm_row = norm_row,
    .norm_row_back = norm_row_back,
    .add_bias = add_bias,
    .add_rows = add_rows,
    .words = words,
    .drop = drop,
};
