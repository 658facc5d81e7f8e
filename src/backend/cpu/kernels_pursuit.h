/*
 * backend/cpu/kernels_pursuit.h - the inner loops of matching pursuit.
 *
 * Rows (atoms) are handled in panels of `rows`; the partial factor L is stored panel by
 * panel, each (picks, rows) with a pick's values side by side, so that one pick's pass
 * reads memory in order. A masked atom's alpha is NaN: it stays NaN and loses every
 * comparison. A score is |alpha| (absolute) or alpha; only scores above zero count.
 */
#ifndef CULL_BACKEND_CPU_KERNELS_PURSUIT_H
#define CULL_BACKEND_CPU_KERNELS_PURSUIT_H

#include <stdbool.h>

#include "backend/cpu/kernels.h"

/* One pick, as the pass over the rows sees it. */
typedef struct cull_pursuit_pick {
    size_t        first, done; /* columns of L to take off: those of picks first .. done-1 */
    const double *x;           /* [done] L at the picked atom                              */
    const double *y;           /* [done] L at the atom begun ahead, from column 0 on       */
    double        scale;       /* 1 / sqrt(pivot)                                          */
    double        c;           /* alpha of the picked atom times scale                     */
    bool          absolute;
} cull_pursuit_pick;

struct cull_pursuit {
    size_t rows; /* of a panel */

    /* One panel of one pick: v = (column - sum over j of l[j] x[j]) scale, each row summed
     * in the order of j; v becomes l[done], alpha -= c v, d -= v v. Returns the largest
     * score, 0 when there is none. All arrays hold `rows` numbers, l holds done+1 times. */
    double (*eliminate_f64)(const cull_pursuit_pick *pick, const double *column, double *l,
                            double *alpha, double *d);
    double (*eliminate_f32)(const cull_pursuit_pick *pick, const float *column, double *l,
                            double *alpha, double *d);

    /* The same from first = 0, and on the way, while l is at hand, ahead = other - sum over j
     * of l[j] y[j] for a second atom. */
    double (*eliminate_two_f64)(const cull_pursuit_pick *pick, const double *column,
                                const double *other, double *ahead, double *l, double *alpha,
                                double *d);
    double (*eliminate_two_f32)(const cull_pursuit_pick *pick, const float *column,
                                const float *other, double *ahead, double *l, double *alpha,
                                double *d);

    /* The largest score of one panel, and the first place in it that has this score. */
    double (*best)(const double *alpha, bool absolute);
    size_t (*find)(const double *alpha, bool absolute, double score);

    /* alpha (n) = t - sum over j < count of x[j] column[j], each row in the order of j */
    void (*correlate_f64)(size_t n, size_t count, const double *const *column, size_t from,
                          const double *x, const double *t, double *alpha);
    void (*correlate_f32)(size_t n, size_t count, const float *const *column, size_t from,
                          const double *x, const double *t, double *alpha);

    /* s (n, n) -= sum over j < count of u[j] u[j]^T; u (count, lds), s has lds per row, a
     * multiple of 8 that is written whole */
    void (*downdate)(size_t n, size_t count, const double *u, double *s, size_t lds);
};

#endif
