/*
 * backend/cpu/kernels_sequence.h - inner loops of layers over sequences, compiled once per
 * instruction set: curves, weights of attention, norms of rows, and words for masks.
 *
 * Sums over a row run in as many floats as a vector has, and every CULL_SEQUENCE_RUN elements go on
 * into a double. No result depends on the threads; those of different sets differ by rounding.
 */
#ifndef CULL_BACKEND_CPU_KERNELS_SEQUENCE_H
#define CULL_BACKEND_CPU_KERNELS_SEQUENCE_H

#include <stdbool.h>

#include "backend/cpu/kernels.h"
#include "cull.h"

enum { CULL_SEQUENCE_RUN = 1024 };

/* Named in kernels.h. */
struct cull_sequence_loops {
    /* y = f(x), of gelu by erf or by tanh; dx [+]= dy f'(x) */
    void (*bend)(cull_activation kind, size_t n, const float *x, float *y);
    void (*bend_back)(cull_activation kind, size_t n, const float *x, const float *dy, float *dx,
                      bool add);

    /* s = exp(scale s - L) where there is a token, else 0, with *log_sum = L = log sum exp(scale s)
     * of those there are, which are some; weigh_again: by the L that was. */
    void (*weigh)(size_t n, const int32_t *token, float scale, float *s, float *log_sum);
    void (*weigh_again)(size_t n, const int32_t *token, float scale, float log_sum, float *s);
    /* s = p (g - mean) scale */
    void (*lean)(size_t n, const float *p, const float *g, float mean, float scale, float *s);
    float (*dot)(size_t n, const float *x, const float *y);

    /* y = gamma (x - mean) rstd + beta of one row; stats: mean, rstd. */
    void (*norm_row)(size_t n, const float *x, const float *gamma, const float *beta,
                     double epsilon, float stats[2], float *y);
    /* dx [+]= rstd (g - mean(g) - x^ mean(g x^)), or dx NULL; sums[0..n) += dy x^, the n behind
     * them += dy. */
    void (*norm_row_back)(size_t n, const float *x, const float *gamma, const float stats[2],
                          const float *dy, float *dx, bool add, double *sums);

    void (*add_bias)(size_t rows, size_t n, const float *bias, float *y); /* each row += bias */
    void (*add_rows)(size_t rows, size_t n, const float *x, double *sum); /* sum += each row  */

    /* Philox at counters (first .. first + count - 1, place, step), four words each. */
    void (*words)(size_t count, cull_key key, uint32_t first, uint32_t place, uint64_t step,
                  uint32_t *out);
    /* y [+]= x scale where the word is more than `below`, else 0. */
    void (*drop)(size_t n, const uint32_t *word, uint32_t below, double scale, const float *x,
                 float *y, bool add);
};

extern const cull_sequence_loops cull_sequence_loops_base, cull_sequence_loops_avx2,
    cull_sequence_loops_avx512;

#endif
