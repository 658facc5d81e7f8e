/* backend/cuda/gather.h - rows of one array or of many, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_GATHER_H
#define CULL_BACKEND_CUDA_GATHER_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CULL_CUDA_GATHER_MOST = 96 }; /* arrays of one launch */

/* The same rows of `count` arrays, at most CULL_CUDA_GATHER_MOST; `list` is on the host. */
cudaError_t cull_cuda_gather_rows(cudaStream_t stream, const cull_gathered *list, size_t count,
                                  const uint32_t *index, size_t rows, size_t held);

#ifdef __cplusplus
}
#endif
#endif
