/* backend/cuda/update.h - from gradients to new weights, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_UPDATE_H
#define CULL_BACKEND_CUDA_UPDATE_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As the arguments of the operation. */
typedef struct cull_cuda_weights {
    cull_optim_options      rule;
    size_t                  from, count, ranges;
    void                   *value, *gradient, *buffer[CULL_OPTIM_BUFFERS];
    void                   *narrow;
    const cull_optim_range *range;
    double                 *partial, *norm;
    const cull_moment      *now;
    cull_trouble           *trouble;
} cull_cuda_weights;

/* Where gradients are clipped: the squares of each chunk of them. Then the new weights. */
cudaError_t cull_cuda_square_gradient(cudaStream_t stream, const cull_cuda_weights *w,
                                      cull_dtype dtype);
cudaError_t cull_cuda_update_weights(cudaStream_t stream, const cull_cuda_weights *w,
                                     cull_dtype dtype, int processors);

#ifdef __cplusplus
}
#endif
#endif
