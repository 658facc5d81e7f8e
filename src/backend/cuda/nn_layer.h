/*
 * backend/cuda/nn_layer.h - what the layers of our own kernels share, for their files in C.
 *
 * Values lie with channels innermost; an image of one pixel, or of one channel, is the same memory
 * in every layout. Parameters, their gradients and statistics are float32 beside bfloat16 and
 * float32 values, float64 beside float64.
 */
#ifndef CULL_BACKEND_CUDA_NN_LAYER_H
#define CULL_BACKEND_CUDA_NN_LAYER_H

#include "backend/cuda/cuda.h"

extern const cull_layer_class cull_cuda_batchnorm, cull_cuda_groupnorm, cull_cuda_layernorm,
    cull_cuda_activate, cull_cuda_pool, cull_cuda_add, cull_cuda_concat, cull_cuda_shortcut,
    cull_cuda_convert, cull_cuda_embed_layer, cull_cuda_positions_layer, cull_cuda_take,
    cull_cuda_attention_layer;

enum {
    CULL_CUDA_VECTOR = 16, /* bytes that a thread moves at once */
    CULL_CUDA_LANES = 32   /* threads of a warp                 */
};

/* Channels innermost? */
static inline bool cull_cuda_last(const cull_image *image)
{
    return image->block == image->c || image->h * image->w == 1;
}

/* Types and sizes that these kernels know, or a sentence why not. */
cull_status cull_cuda_layer_check(const cull_layer_desc *desc);

/* Of norms: parameters and statistics as above. */
cull_status cull_cuda_norm_check(const cull_layer_desc *desc);

/* The first check, and channels innermost on all sides; then a new operation of `size` bytes that
 * holds nothing but its frame, and its end. */
cull_status cull_cuda_layer_new(const cull_layer_desc *desc, size_t size, void *out);
void        cull_cuda_layer_free(cull_layer_op *op);

/* Elements that may be moved at once where runs of `a`, `b` and `c` elements (0: none) are whole
 * numbers of vectors. */
static inline int cull_cuda_width(cull_dtype dtype, int64_t a, int64_t b, int64_t c)
{
    int64_t width = CULL_CUDA_VECTOR / (int64_t)cull_dtype_size(dtype);

    return a % width || b % width || c % width ? 1 : (int)width;
}

/* Do all of these begin where a vector may? NULL does. */
static inline bool cull_cuda_aligned(const void *a, const void *b, const void *c, const void *d)
{
    return !(((uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d) % CULL_CUDA_VECTOR);
}

#endif
