/* backend/cuda/nn_rows.h - passes over rows of channels that go along with products: nn_rows.cu. */
#ifndef CULL_BACKEND_CUDA_NN_ROWS_H
#define CULL_BACKEND_CUDA_NN_ROWS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "cull.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x[i, c] += b[c]; b is float32, of float64 values float64. */
cudaError_t cull_rows_bias(cudaStream_t stream, cull_dtype dtype, size_t rows, size_t channels,
                           void *x, const void *b);

/* out[c] = sum over i of x[i, c], float32 (float64), in a fixed order. */
cudaError_t cull_rows_sum(cudaStream_t stream, cull_dtype dtype, size_t rows, size_t channels,
                          const void *x, void *out, void *room);
size_t      cull_rows_sum_room(size_t rows, size_t channels);

/* out[i] = sum over k of parts[k * count + i]. double_sums: of float64. */
cudaError_t cull_rows_parts(cudaStream_t stream, bool double_sums, size_t parts, size_t count,
                            const void *part, void *out);

/* to[i] = from[i], or where add is set to[i] += from[i]. */
cudaError_t cull_rows_convert(cudaStream_t stream, size_t count, cull_dtype from_type,
                              const void *from, cull_dtype to_type, void *to, bool add);

/* Numbers between -1 and 1, for contests: what is multiplied decides what it costs. */
cudaError_t cull_rows_noise(cudaStream_t stream, cull_dtype dtype, size_t count, void *to);

#ifdef __cplusplus
}
#endif

#endif
