/* backend/cuda/nn_pool.h - between nn_pool.c and its kernels. */
#ifndef CULL_BACKEND_CUDA_NN_POOL_H
#define CULL_BACKEND_CUDA_NN_POOL_H

#include <cuda_runtime_api.h>

#include "cull.h"

typedef struct cull_pool_cut {
    cull_dtype   dtype;
    int          width; /* values moved at once */
    cull_pooling kind;
    int32_t      n, c, h, w, to_h, to_w;
    int32_t      kernel[2], stride[2], pad[2];
} cull_pool_cut;

#ifdef __cplusplus
extern "C" {
#endif

/* state: places of maxima, as y; NULL where nobody wants them. */
cudaError_t cull_cuda_pool_forward(cudaStream_t stream, const cull_pool_cut *pool, const void *x,
                                   void *y, uint8_t *state);
cudaError_t cull_cuda_pool_backward(cudaStream_t stream, const cull_pool_cut *pool, const void *dy,
                                    const uint8_t *state, void *dx, bool accumulate);

#ifdef __cplusplus
}
#endif

#endif
