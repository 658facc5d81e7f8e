/*
 * backend/cuda/nn_groupnorm.h - between nn_groupnorm.c and its kernels: norms within each example.
 */
#ifndef CULL_BACKEND_CUDA_NN_GROUPNORM_H
#define CULL_BACKEND_CUDA_NN_GROUPNORM_H

#include <cuda_runtime_api.h>

#include "cull.h"

enum { CULL_GROUPNORM_THREADS = 256 };

typedef struct cull_groupnorm_cut {
    cull_dtype dtype;
    int        width; /* values moved at once */
    bool       layer; /* one gamma an element, and a single group */
    uint32_t   n, c, area, groups;
    double     epsilon;

    /* A block has one example's groups, as many as fill a line of memory. */
    uint32_t bundle, bundles; /* groups of a block, blocks of an example    */
    uint32_t threads, across; /* of a block; vectors of a pixel that it has */

    /* The parameters' gradients: columns (c, or all elements of an example) over rows. */
    uint32_t  columns, rows;
    uint32_t  lanes, slabs, chunks; /* threads across; blocks across and down */
    void     *partial;              /* [slabs][chunks][lanes * width] pairs   */
    uint32_t *ticket;               /* [slabs] of blocks that are done; zero between launches */
} cull_groupnorm_cut;

typedef struct cull_groupnorm_call {
    const void *x, *gamma, *beta, *dy;
    void       *y, *stats, *dx, *dgamma, *dbeta; /* dx may be NULL */
    bool        accumulate;
} cull_groupnorm_call;

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cull_cuda_groupnorm_forward(cudaStream_t stream, const cull_groupnorm_cut *cut,
                                        const cull_groupnorm_call *call);
cudaError_t cull_cuda_groupnorm_backward(cudaStream_t stream, const cull_groupnorm_cut *cut,
                                         const cull_groupnorm_call *call);

#ifdef __cplusplus
}
#endif

#endif
