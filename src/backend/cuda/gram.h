/* backend/cuda/gram.h - kernels of Gram matrices of last-layer gradients. */
#ifndef CULL_BACKEND_CUDA_GRAM_H
#define CULL_BACKEND_CUDA_GRAM_H

#include <cuda_runtime_api.h>

#include "backend/cuda/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* K (n, n) = P P^T o (H H^T + 1), and its row means t[n] with their mean b2, unless NULL: made
 * where partial is given, which is room for that many numbers; *ticket is 0, before and after. */
typedef struct cull_cuda_gram_call {
    cull_cuda_rows h, p;
    uint32_t       n;
    double        *k, *t, *b2;
    double        *partial;
    uint32_t      *ticket;
} cull_cuda_gram_call;

size_t      cull_cuda_gram_partial(size_t rows); /* for so many rows or fewer */
cudaError_t cull_cuda_gram_run(cudaStream_t stream, cull_cuda_gram_call call);

/* Sums over `targets` gradients become means: b[size] the sum, t[n] products with it. b2 = |b|^2.
 * Any of t and b2 may be NULL. */
cudaError_t cull_cuda_gram_means(cudaStream_t stream, double *b, size_t size, uint32_t targets,
                                 double *t, uint32_t n, double *b2);

/* The length of each row's gradient, [n]. */
cudaError_t cull_cuda_gram_lengths(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                   uint32_t n, double *length);

#ifdef __cplusplus
}
#else
#include "backend/backend.h"

/* What makes K, t and b2 of arguments: `gram` and `match` have one each. */
typedef struct cull_cuda_grams {
    cull_kit  kit;
    double   *partial, *mean; /* mean: (C, D+1) of a target */
    uint32_t *ticket;
    size_t    partial_room, mean_room;
} cull_cuda_grams;

cull_status cull_cuda_grams_create(cull_backend *backend, const cull_op_desc *desc,
                                   cull_cuda_grams *out);
void        cull_cuda_grams_clear(cull_cuda_grams *grams);
/* As the operation. */
cull_status cull_cuda_grams_run(cull_cuda_grams *grams, const cull_op_args *args);
#endif

#endif
