/* backend/cuda/types.h - launchers of types.cu. */
#ifndef CULL_BACKEND_CUDA_TYPES_H
#define CULL_BACKEND_CUDA_TYPES_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As in cull_op_args. */
typedef struct cull_cuda_widen_args {
    size_t          count;
    const uint32_t *index[3];
    int64_t        *to[3];
    const double   *weight;
    void           *to_weight;
    cull_dtype      dtype;
    double          scale;
} cull_cuda_widen_args;

cudaError_t cull_cuda_widen_run(cudaStream_t stream, const cull_cuda_widen_args *args);
cudaError_t cull_cuda_narrow_run(cudaStream_t stream, const cull_tensor *from, uint32_t *to);

/* Is there code for the device that is this thread's? */
cudaError_t cull_cuda_has_code(void);

#ifdef __cplusplus
}
#endif

#endif
