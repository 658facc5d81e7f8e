/* backend/cuda/nn_conv_ways.h - what the files of convolutions share: an operation and its ways. */
#ifndef CULL_BACKEND_CUDA_NN_CONV_WAYS_H
#define CULL_BACKEND_CUDA_NN_CONV_WAYS_H

#include "backend/cuda/nn_conv.h"

/* Numbers of ways: kernels of our own, and what dw a plan gives, float32 or bfloat16. */
enum { CULL_OWN_PLAIN, CULL_OWN_DEPTH };
enum { CULL_PLAN_AS_IT_IS, CULL_PLAN_NARROW };

typedef struct cull_conv_op {
    cull_layer_op   base;
    cull_nn        *nn;
    cull_conv_shape shape;
    cull_conv_types types;
    int             processors;
    cull_nn_way     way[3]; /* by cull_direction */
    char            names[160];
} cull_conv_op;

/* nn_conv_run.c: what a way enqueues, with scratch memory of at least cull_conv_room() bytes. */
size_t cull_conv_room(const cull_conv_op *op, cull_direction direction, const cull_nn_way *way);
cull_status cull_conv_run(const cull_conv_op *op, cull_direction direction, const cull_nn_way *way,
                          cudaStream_t stream, const cull_layer_args *args, void *room);

/* nn_conv_choose.c: op->way[direction], and room for it. */
cull_status cull_conv_choose(cull_conv_op *op, cull_direction direction);

#endif
