/*
 * backend/cuda/nn_conv.h - the two halves of backward, for convolutions and dense layers: gradients
 * of inputs and of weights. They have scratch memory of their own, so each may go to a stream of
 * its own; a class's backward runs one after the other on the backend's.
 */
#ifndef CULL_BACKEND_CUDA_NN_CONV_H
#define CULL_BACKEND_CUDA_NN_CONV_H

#include "backend/cuda/nn_state.h"

/* dx; nothing where it is not wanted. */
cull_status cull_conv_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream);
cull_status cull_dense_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream);

/* dw and db. */
cull_status cull_conv_weights(cull_layer_op *base, const cull_layer_args *args,
                              cudaStream_t stream);
cull_status cull_dense_weights(cull_layer_op *base, const cull_layer_args *args,
                               cudaStream_t stream);

/* Types that layers with weights know: one for all, or bfloat16 over float32. The sentence says
 * what is not known. */
cull_status cull_conv_check_types(const cull_layer_desc *desc);

/* A place in scratch memory behind `at` bytes of it, on a border that libraries like. */
static inline size_t cull_conv_border(size_t at)
{
    return (at + 255) / 256 * 256;
}

static inline bool cull_conv_aligned(const void *data)
{
    return (uintptr_t)data % 16 == 0;
}

extern const cull_layer_class cull_cuda_conv, cull_cuda_dense;

#endif
