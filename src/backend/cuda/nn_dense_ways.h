/* backend/cuda/nn_dense_ways.h - what the files of dense layers share: an operation and its ways.
 */
#ifndef CULL_BACKEND_CUDA_NN_DENSE_WAYS_H
#define CULL_BACKEND_CUDA_NN_DENSE_WAYS_H

#include "backend/cuda/nn_conv.h"

/* Numbers of our own kernels' ways: as a convolution of one pixel, or for few outputs. */
enum { CULL_DENSE_OWN_PLAIN, CULL_DENSE_OWN_FEW };

typedef struct cull_dense_op {
    cull_layer_op    base;
    cull_nn         *nn;
    cull_dense_shape shape;
    cull_conv_shape  pixel; /* the same as a convolution */
    cull_conv_types  types;
    int              processors;
    cull_nn_way      way[3]; /* by cull_direction */
    char             names[160];
} cull_dense_op;

/* nn_dense_run.c: what a way enqueues, with scratch memory of at least cull_dense_room() bytes. */
size_t cull_dense_room(const cull_dense_op *op, cull_direction direction, const cull_nn_way *way);
cull_status cull_dense_run(const cull_dense_op *op, cull_direction direction,
                           const cull_nn_way *way, cudaStream_t stream, const cull_layer_args *args,
                           void *room);

/* nn_dense_choose.c: op->way[direction], and room for it. */
cull_status cull_dense_choose(cull_dense_op *op, cull_direction direction);

#endif
