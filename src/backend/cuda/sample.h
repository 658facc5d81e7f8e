/* backend/cuda/sample.h - launcher of sample.cu. */
#ifndef CULL_BACKEND_CUDA_SAMPLE_H
#define CULL_BACKEND_CUDA_SAMPLE_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As in cull_op_args. */
typedef struct cull_cuda_sample_args {
    size_t             rows, m;
    cull_tensor        loss, h, p;
    const uint8_t     *unseen;
    const uint32_t    *place;
    bool               unit;
    cull_key           key;
    uint64_t           step;
    const uint64_t    *now;
    uint32_t          *index;
    double            *weight;
    cull_sampled      *sampled;
    const cull_moment *moment;
    cull_trouble      *trouble;
    double            *score, *sum; /* [rows] of room */
} cull_cuda_sample_args;

cudaError_t cull_cuda_sample_run(cudaStream_t stream, const cull_cuda_sample_args *args);

#ifdef __cplusplus
}
#endif

#endif
