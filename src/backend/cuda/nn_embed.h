/* backend/cuda/nn_embed.h - between nn_embed.c and its kernels: rows of a table, for tokens and for
 * positions; and the first position of a sequence. */
#ifndef CULL_BACKEND_CUDA_NN_EMBED_H
#define CULL_BACKEND_CUDA_NN_EMBED_H

#include <cuda_runtime_api.h>

#include "cull.h"

enum { CULL_EMBED_CHUNK = 32 }; /* tokens in order whose sum is one block's */

typedef struct cull_embed_call {
    cull_dtype dtype, table;           /* of values; of the table that forward reads */
    int        width;                  /* values moved at once                       */
    size_t     count;                  /* of tokens, or of positions                 */
    uint32_t   rows, features, length; /* length: of a sequence            */
    bool       same;                   /* positions: the first row for all */
    bool       accumulate;

    const int32_t *token;
    const void    *w, *x, *dy;
    void          *y, *dx, *dw;
    uint64_t      *order;   /* [count] tokens and their places                            */
    void          *partial; /* [chunks][2][features] of a token that others have part of */
} cull_embed_call;

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cull_cuda_embed(cudaStream_t stream, const cull_embed_call *call);
cudaError_t cull_cuda_embed_back(cudaStream_t stream, const cull_embed_call *call);
cudaError_t cull_cuda_positions(cudaStream_t stream, const cull_embed_call *call);
/* The first position of each sequence, out and back; count is of sequences. */
cudaError_t cull_cuda_first(cudaStream_t stream, const cull_embed_call *call);
cudaError_t cull_cuda_first_back(cudaStream_t stream, const cull_embed_call *call);

#ifdef __cplusplus
}
#endif

#endif
