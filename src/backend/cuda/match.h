/*
 * backend/cuda/match.h - a minibatch matched, between match.c and its kernels.
 *
 *     match.c            the operation: memory, who does it, kernels before it (gram.h)
 *     match.cu           its kernels: all that comes after K, in one launch
 *     match_remake.cuh   K of gradients too small or too large to be squared twice
 *     match_settle.cuh   negative weights dropped, their places filled, weights scaled
 */
#ifndef CULL_BACKEND_CUDA_MATCH_H
#define CULL_BACKEND_CUDA_MATCH_H

#include <cuda_runtime_api.h>

#include "backend/cuda/omp.h"
#include "backend/cuda/refit.h"
#include "backend/cuda/rows.h"
#include "backend/values.h"

typedef struct cull_cuda_match_call {
    cull_cuda_pursuit    omp; /* of k and t; its rules' step is counted from `now` where that is */
    cull_cuda_refit_call refit;
    cull_cuda_rows       h, p, target_h, target_p;
    uint32_t             targets; /* 0: the rows themselves                     */
    double              *k, *t, *b2;
    double              *mean;   /* (C, D+1) room for the target's, where it is made anew */
    const double        *length; /* [targets]                                            */
    double              *room;   /* [2 n] of what fills                                  */
    const uint32_t      *place;  /* [n], or NULL                                         */
    cull_key             key;
    uint64_t             step;
    const cull_moment   *now;
    bool                 fill, unit, solved;
    cull_outcome        *outcome;
    cull_trouble        *trouble;
} cull_cuda_match_call;

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cull_cuda_match_prepare(size_t most);
/* By one block, or by several that meet; said: room for 2 cull_said each. */
cudaError_t cull_cuda_match_run(cudaStream_t stream, cull_cuda_match_call call, uint32_t blocks,
                                uint32_t threads, size_t bytes, void *said);

#ifdef __cplusplus
}
#endif

#endif
