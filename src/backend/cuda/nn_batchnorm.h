/*
 * backend/cuda/nn_batchnorm.h - between nn_batchnorm.c and its kernels: how rows and channels are
 * cut among blocks, and what the passes are given.
 *
 * Values are rows (n h w of them) of channels. A block has a slab of a few channels and a chunk of
 * the rows, so that a line of memory is read whole and few sums have to be put together.
 */
#ifndef CULL_BACKEND_CUDA_NN_BATCHNORM_H
#define CULL_BACKEND_CUDA_NN_BATCHNORM_H

#include <cuda_runtime_api.h>

#include "cull.h"

enum {
    CULL_BATCHNORM_THREADS = 512,
    CULL_BATCHNORM_WIDE = 64,       /* most channels of a slab                        */
    CULL_BATCHNORM_SCRATCH = 10240, /* bytes of shared memory that hold no values     */
    CULL_BATCHNORM_CLUSTER = 16,    /* most blocks of one                             */
    CULL_BATCHNORM_HANDED = 8192,   /* bytes for the pairs that its blocks hand on    */
    CULL_BATCHNORM_SLOT = CULL_BATCHNORM_THREADS * 16 /* of one step of a block's rows */
};

typedef struct cull_batchnorm_cut {
    cull_dtype dtype;
    int        width; /* values moved at once */
    uint32_t   rows, channels, area;
    uint32_t   lanes; /* threads across a slab, a power of two                           */
    uint32_t   slab;  /* its channels                                                    */
    uint32_t   slabs, chunks;
    uint32_t   per, extra; /* rows of a chunk; so many chunks, the first, have one more       */
    uint32_t   steps;      /* of a thread, each taking one row                                */
    uint32_t   keep[2];    /* steps whose values stay in shared memory: forward, backward     */
    size_t     shared[2];  /* bytes of it                                                     */
    bool       together;   /* the blocks of a launch meet; else a pass is a launch            */
    bool       clustered;  /* those of a slab do, as a cluster, and no others                 */
    bool       early;      /* a launch may begin while what is before it still ends           */
    bool       relu, add;
    bool       near; /* a tensor is small enough to be brought near before it is needed      */
    double     epsilon, momentum;
    void      *partial; /* [slabs][chunks][lanes * width] pairs of sums, but of clusters */
} cull_batchnorm_cut;

typedef struct cull_batchnorm_call {
    const void   *x, *x2, *gamma, *beta, *dy;
    void         *y, *stats, *running, *dx, *dx2, *dgamma, *dbeta;
    const double *row_weight;
    bool          update, by_running; /* running averages are written; or read in place of sums */
    bool          accumulate, accumulate2;
    bool          joined; /* dx2 is dx and adds to it: dx2 is NULL here */
} cull_batchnorm_call;

#ifdef __cplusplus
extern "C" {
#endif

/* Can all slabs be clusters, and at once? */
bool cull_cuda_batchnorm_clusters(const cull_batchnorm_cut *norm);

/* Up to `most` bytes of shared memory may be asked for. */
cudaError_t cull_cuda_batchnorm_prepare_forward(const cull_batchnorm_cut *norm, size_t most);
cudaError_t cull_cuda_batchnorm_prepare_backward(const cull_batchnorm_cut *norm, size_t most);

cudaError_t cull_cuda_batchnorm_forward(cudaStream_t stream, const cull_batchnorm_cut *norm,
                                        const cull_batchnorm_call *args);
cudaError_t cull_cuda_batchnorm_backward(cudaStream_t stream, const cull_batchnorm_cut *norm,
                                         const cull_batchnorm_call *args);

#ifdef __cplusplus
}
#endif

#endif
