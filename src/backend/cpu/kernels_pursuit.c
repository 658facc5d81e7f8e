/* backend/cpu/kernels_pursuit.c - the inner loops of matching pursuit (see the header). */
#include "backend/cpu/kernels_pursuit.h"

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/kernels_pursuit_vector.h"

/* Eight vectors of rows in registers: enough independent sums to keep the multiply-adds
 * busy, and half of the smallest register file; two atoms at once where there are 32. */
enum { LANES = 8, ROWS = LANES * WIDTH, TWICE = WIDTH == 8 ? LANES : LANES / 2 };

/* What follows the sums of one vector of rows; returns its scores. */
static inline vec finish(const cull_pursuit_pick *pick, vec sum, double *fresh, double *alpha,
                         double *d)
{
    vec v = multiply(sum, splat(pick->scale));
    vec a = less_product(splat(pick->c), v, load(alpha));

    store(fresh, v);
    store(alpha, a);
    store(d, less_product(v, v, load(d)));
    return pick->absolute ? magnitude(a) : a;
}

static inline double eliminate(const cull_pursuit_pick *pick, vec sum[LANES], double *l,
                               double *alpha, double *d)
{
    const double *old = l + pick->first * ROWS;
    double       *fresh = l + pick->done * ROWS;
    vec           best = splat(0);

    for (size_t j = pick->first; j < pick->done; j++, old += ROWS) {
        const vec x = splat(pick->x[j]);
        for (size_t u = 0; u < LANES; u++) sum[u] = less_product(load(old + u * WIDTH), x, sum[u]);
    }
    for (size_t u = 0; u < LANES; u++) {
        size_t i = u * WIDTH;
        best = larger(finish(pick, sum[u], fresh + i, alpha + i, d + i), best);
    }
    return largest(best);
}

/* TWICE vectors of rows, for two atoms; returns the larger of their scores and best. */
static inline vec eliminate_two(const cull_pursuit_pick *pick, vec sum[TWICE], vec other[TWICE],
                                double *ahead, double *l, double *alpha, double *d, vec best)
{
    const double *old = l;

    for (size_t j = 0; j < pick->done; j++, old += ROWS) {
        const vec x = splat(pick->x[j]), y = splat(pick->y[j]);
        for (size_t u = 0; u < TWICE; u++) {
            const vec a = load(old + u * WIDTH);
            sum[u] = less_product(a, x, sum[u]);
            other[u] = less_product(a, y, other[u]);
        }
    }
    for (size_t u = 0; u < TWICE; u++) {
        size_t i = u * WIDTH;
        store(ahead + i, other[u]);
        best = larger(finish(pick, sum[u], l + pick->done * ROWS + i, alpha + i, d + i), best);
    }
    return best;
}

/* The two element types differ in one load. */
#define DEFINE_ELIMINATE(suffix, type, load_row)                                                   \
    static double eliminate_##suffix(const cull_pursuit_pick *pick, const type *column, double *l, \
                                     double *alpha, double *d)                                     \
    {                                                                                              \
        vec sum[LANES];                                                                            \
                                                                                                   \
        for (size_t u = 0; u < LANES; u++) sum[u] = load_row(column + u * WIDTH);                  \
        return eliminate(pick, sum, l, alpha, d);                                                  \
    }                                                                                              \
                                                                                                   \
    static double eliminate_two_##suffix(const cull_pursuit_pick *pick, const type *column,        \
                                         const type *other, double *ahead, double *l,              \
                                         double *alpha, double *d)                                 \
    {                                                                                              \
        vec best = splat(0);                                                                       \
                                                                                                   \
        for (size_t i = 0; i < ROWS; i += TWICE * WIDTH) {                                         \
            vec sum[TWICE], second[TWICE];                                                         \
            for (size_t u = 0; u < TWICE; u++) {                                                   \
                sum[u] = load_row(column + i + u * WIDTH);                                         \
                second[u] = load_row(other + i + u * WIDTH);                                       \
            }                                                                                      \
            best = eliminate_two(pick, sum, second, ahead + i, l + i, alpha + i, d + i, best);     \
        }                                                                                          \
        return largest(best);                                                                      \
    }

DEFINE_ELIMINATE(f64, double, load)
DEFINE_ELIMINATE(f32, float, load_single)

static double best(const double *alpha, bool absolute)
{
    vec top = splat(0);

    for (size_t u = 0; u < LANES; u++) {
        vec a = load(alpha + u * WIDTH);
        top = larger(absolute ? magnitude(a) : a, top);
    }
    return largest(top);
}

static size_t find(const double *alpha, bool absolute, double score)
{
    const vec wanted = splat(score);

    for (size_t u = 0; u < LANES; u++) {
        vec      a = load(alpha + u * WIDTH);
        unsigned hits = equal(absolute ? magnitude(a) : a, wanted);
        if (hits) return u * WIDTH + (size_t)__builtin_ctz(hits);
    }
    return ROWS;
}

/* Rows beyond the last whole panel one by one. */
#define DEFINE_CORRELATE(name, type, load_row)                                                     \
    static void name(size_t n, size_t count, const type *const *column, size_t from,               \
                     const double *x, const double *t, double *alpha)                              \
    {                                                                                              \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (; i + ROWS <= n; i += ROWS) {                                                         \
            vec sum[LANES];                                                                        \
            for (size_t u = 0; u < LANES; u++) sum[u] = load(t + i + u * WIDTH);                   \
            for (size_t j = 0; j < count; j++) {                                                   \
                const vec   scale = splat(x[j]);                                                   \
                const type *row = column[j] + from + i;                                            \
                for (size_t u = 0; u < LANES; u++)                                                 \
                    sum[u] = less_product(load_row(row + u * WIDTH), scale, sum[u]);               \
            }                                                                                      \
            for (size_t u = 0; u < LANES; u++) store(alpha + i + u * WIDTH, sum[u]);               \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            double sum = t[i];                                                                     \
            for (size_t j = 0; j < count; j++)                                                     \
                sum = less_product_one((double)column[j][from + i], x[j], sum);                    \
            alpha[i] = sum;                                                                        \
        }                                                                                          \
    }

DEFINE_CORRELATE(correlate_f64, double, load)
DEFINE_CORRELATE(correlate_f32, float, load_single)

static void downdate(size_t n, size_t count, const double *u, double *s, size_t lds)
{
    for (size_t i = 0; i < n; i++) {
        double *row = s + i * lds;
        for (size_t l = 0; l < lds; l += WIDTH) {
            vec sum = load(row + l);
            for (size_t j = 0; j < count; j++)
                sum = less_product(load(u + j * lds + l), splat(u[j * lds + i]), sum);
            store(row + l, sum);
        }
    }
}

const cull_pursuit KERNEL_NAME(cull_pursuit_) = {
    .rows = ROWS,
    .eliminate_f64 = eliminate_f64,
    .eliminate_f32 = eliminate_f32,
    .eliminate_two_f64 = eliminate_two_f64,
    .eliminate_two_f32 = eliminate_two_f32,
    .best = best,
    .find = find,
    .correlate_f64 = correlate_f64,
    .correlate_f32 = correlate_f32,
    .downdate = downdate,
};
