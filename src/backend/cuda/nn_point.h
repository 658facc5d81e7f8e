/* backend/cuda/nn_point.h - between nn_point.c and its kernels: element by element. */
#ifndef CULL_BACKEND_CUDA_NN_POINT_H
#define CULL_BACKEND_CUDA_NN_POINT_H

#include <cuda_runtime_api.h>

#include "cull.h"

#ifdef __cplusplus
extern "C" {
#endif

/* width: values moved at once, if they may be; 1: one by one. */
cudaError_t cull_cuda_point_activate(cudaStream_t stream, cull_dtype dtype, int width,
                                     cull_activation kind, size_t count, const void *x, void *y);

/* seen: y of relu and relu6, x of gelu. */
cudaError_t cull_cuda_point_activate_back(cudaStream_t stream, cull_dtype dtype, int width,
                                          cull_activation kind, size_t count, const void *seen,
                                          const void *dy, void *dx, bool accumulate);

cudaError_t cull_cuda_point_add(cudaStream_t stream, cull_dtype dtype, int width, size_t count,
                                const void *x, const void *x2, void *y);

/* dy to one or two places, either of which may be NULL, or both the same. */
cudaError_t cull_cuda_point_share(cudaStream_t stream, cull_dtype dtype, int width, size_t count,
                                  const void *dy, void *dx, bool accumulate, void *dx2,
                                  bool accumulate2);

#ifdef __cplusplus
}
#endif

#endif
