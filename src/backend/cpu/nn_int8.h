/*
 * backend/cpu/nn_int8.h - the forward pass of a convolution in 8 bits, for scoring.
 *
 * x is never negative. Each example n and each output channel o has a scale of its own, found anew
 * in every pass:
 *
 *     s_n = max x_n / 255     q = x_n / s_n     t_o = max |W_o| / L     r = W_o / t_o    (rounded)
 *     y[n, o] = s_n t_o (q * r)[n, o] + b_o
 *
 * with L = 127, or 64 where the machine adds products in 16 bits first. The sum q * r is exact, so
 * an output is off by at most sum (s_n/2 |W| + t_o/2 |x| + s_n t_o / 4) over its terms, and depends
 * neither on the number of threads nor on the other examples. An example that holds what is not
 * finite gives NaN.
 */
#ifndef CULL_BACKEND_CPU_NN_INT8_H
#define CULL_BACKEND_CPU_NN_INT8_H

#include "backend/layer.h"

typedef struct cull_cpu_int8 cull_cpu_int8;

/* May this convolution be done so, and does it gain by it? */
bool cull_cpu_int8_suits(const cull_layer_desc *desc);

/* *out stays NULL where oneDNN has no fast kernel for it. */
cull_status cull_cpu_int8_create(cull_backend *backend, const cull_layer_desc *desc,
                                 cull_cpu_int8 **out);
void        cull_cpu_int8_destroy(cull_cpu_int8 *conv);    /* NULL is fine */
const char *cull_cpu_int8_name(const cull_cpu_int8 *conv); /* "brgconv:avx512_core_vnni" */

/* Weights in canonical order; b NULL: none. */
cull_status cull_cpu_int8_forward(cull_cpu_int8 *conv, const float *x, const float *w,
                                  const float *b, float *y);

#endif
