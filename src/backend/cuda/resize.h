/* backend/cuda/resize.h - images made smaller, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_RESIZE_H
#define CULL_BACKEND_CUDA_RESIZE_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cull_cuda_resize_images(cudaStream_t stream, const cull_resize *how, const float *from,
                                    float *to, size_t count);

#ifdef __cplusplus
}
#endif
#endif
