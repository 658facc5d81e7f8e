/*
 * backend/cpu/nn_product.h - products of large matrices by oneDNN, on the thread that calls.
 *
 * The library's kernels let the stack's register point into memory of their own, so that the frame
 * of a signal's handler would be written over what lies below it: the thread takes none meanwhile.
 */
#ifndef CULL_BACKEND_CPU_NN_PRODUCT_H
#define CULL_BACKEND_CPU_NN_PRODUCT_H

#include "base/status.h"

/* A matrix, row by row, `stride` elements from one to the next; turned: its transpose is meant. */
typedef struct cull_cpu_matrix {
    const float *data;
    size_t       stride;
    bool         turned;
} cull_cpu_matrix;

/* C (m, n) = A (m, k) B (k, n), or added to with `add`. */
cull_status cull_cpu_multiply(size_t m, size_t n, size_t k, cull_cpu_matrix a, cull_cpu_matrix b,
                              bool add, float *c, size_t stride);

#endif
