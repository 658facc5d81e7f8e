/*
 * backend/cuda/gradient.h - kernels of the last layer's gradient over some rows, and of products
 * with it; and whether anything but rounding is left of one.
 *
 *     B = sum over rows of p_i (x) [h_i; 1]       h (N, D)   p (N, C)   B (C, D+1)
 *     p_i^T B [h_i; 1], or without p all C entries of B [h_i; 1]
 */
#ifndef CULL_BACKEND_CUDA_GRADIENT_H
#define CULL_BACKEND_CUDA_GRADIENT_H

#include <cuda_runtime_api.h>

#include "backend/cuda/rows.h"
#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts that the rows of a sum are cut into: that many times (C, D+1) of scratch, none for one.
 * They follow from the sizes alone, and so does every sum. */
size_t cull_cuda_gradient_parts(size_t rows, size_t classes, size_t width);

/* row NULL: 0 .. rows-1 */
cudaError_t cull_cuda_gradient_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                   const uint32_t *row, size_t rows, double *scratch, double *b);

cudaError_t cull_cuda_gain_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                               const uint32_t *row, size_t rows, size_t classes, const double *b,
                               double *out);

/* b becomes zero where only rounding is left of it (backend/cancel.c); scratch [rows]. */
cudaError_t cull_cuda_cancel_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                 const uint32_t *row, size_t rows, double *scratch, double *b,
                                 uint64_t which, cull_trouble *trouble);

#ifdef __cplusplus
}
#endif

#endif
