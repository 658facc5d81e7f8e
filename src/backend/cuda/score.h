/* backend/cuda/score.h - launchers of score.cu. */
#ifndef CULL_BACKEND_CUDA_SCORE_H
#define CULL_BACKEND_CUDA_SCORE_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As in cull_op_args. */
typedef struct cull_cuda_score_args {
    size_t          rows;
    cull_tensor     loss, less;
    const uint8_t  *unseen;
    const uint32_t *place;
    cull_key        key;
    uint64_t        step;
    const uint64_t *now;
    double         *out;
} cull_cuda_score_args;

typedef struct cull_cuda_chance_args {
    size_t          rows;
    const uint32_t *place;
    const double   *percentile, *standing;
    const uint8_t  *fresh;
    size_t          pool;
    double          beta, trim, trimmed;
    double         *weight;
} cull_cuda_chance_args;

cudaError_t cull_cuda_score_run(cudaStream_t stream, const cull_cuda_score_args *args);
cudaError_t cull_cuda_chance_run(cudaStream_t stream, const cull_cuda_chance_args *args);

#ifdef __cplusplus
}
#endif

#endif
