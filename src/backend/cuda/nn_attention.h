/* backend/cuda/nn_attention.h - between nn_attention.c and its kernels: attention. */
#ifndef CULL_BACKEND_CUDA_NN_ATTENTION_H
#define CULL_BACKEND_CUDA_NN_ATTENTION_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

enum { CULL_ATTENTION_WIDTH = 128 }; /* features of a head at most */

/* x holds (length, 3, heads, width) of an example; y, dy (length, heads, width). */
typedef struct cull_attention_call {
    cull_dtype dtype;
    int32_t    n, heads, length, width; /* width: features of a head           */
    int32_t    most;                    /* positions that draws are counted in */
    bool       whole;                   /* rows are moved as vectors           */
    bool       accumulate;              /* dx +=                               */
    double     scale;                   /* of a query and a key                */
    uint64_t   threshold;               /* words below it drop; 0: nothing is  */
    double     kept;                    /* scale of what stays                 */

    cull_key           key;
    uint64_t           step;
    const cull_moment *now;   /* its step in place of that one; or NULL */
    const uint32_t    *place; /* [n]; NULL: 0 .. n-1                    */
    const int32_t     *token; /* (n, length), below zero: padding       */

    const void *x, *dy;
    void       *y;     /* written forward, read backward                                 */
    void       *state; /* (n, heads, length) logarithms to base two, or NULL             */
    void       *slope; /* (n, heads, length) backward: what a query's weights have alike */
    void       *dx;
} cull_attention_call;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of shared memory that a block asks for at most. */
size_t cull_cuda_attention_room(cull_dtype dtype, int width);
/* Once, before the first launch. */
cudaError_t cull_cuda_attention_prepare(cull_dtype dtype, int width);
cudaError_t cull_cuda_attention(cudaStream_t stream, const cull_attention_call *call);
cudaError_t cull_cuda_attention_back(cudaStream_t stream, const cull_attention_call *call);

#ifdef __cplusplus
}
#endif

#endif
