/*
 * backend/cuda/nn_shape.h - a convolution's extents, and its own kernels, for C and for .cu files.
 *
 *     x (n, h, w, c)    y (n, p, q, o)    weights (o, kernel, kernel, c/groups)
 *
 * Values are float32, float64 or bfloat16 in NHWC; sums are float32, of float64 float64.
 * A dense layer is the convolution of one pixel. Every kernel here adds in one fixed order.
 */
#ifndef CULL_BACKEND_CUDA_NN_SHAPE_H
#define CULL_BACKEND_CUDA_NN_SHAPE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "cull.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cull_conv_shape {
    int32_t n, c, h, w, o, p, q;
    int32_t kernel[2], stride[2], pad[2], dilation[2]; /* height, width */
    int32_t groups;
} cull_conv_shape;

static inline size_t cull_conv_x(const cull_conv_shape *s)
{
    return (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static inline size_t cull_conv_y(const cull_conv_shape *s)
{
    return (size_t)s->n * (size_t)s->p * (size_t)s->q * (size_t)s->o;
}

/* Weights of one output. */
static inline int32_t cull_conv_depth(const cull_conv_shape *s)
{
    return s->kernel[0] * s->kernel[1] * (s->c / s->groups);
}

static inline size_t cull_conv_w(const cull_conv_shape *s)
{
    return (size_t)s->o * (size_t)cull_conv_depth(s);
}

static inline bool cull_conv_depthwise(const cull_conv_shape *s)
{
    return s->groups > 1 && s->c == s->groups;
}

/* Types of x and w, and of y; bfloat16 values may have a float32 y (and dy). */
typedef struct cull_conv_types {
    cull_dtype values, output;
} cull_conv_types;

/* ---- any convolution, as products of tiles (nn_plain.cu, nn_plain_weights.cu) ---- */
cudaError_t cull_plain_forward(cudaStream_t stream, const cull_conv_shape *shape,
                               cull_conv_types types, const void *x, const void *w, const void *b,
                               void *y);
cudaError_t cull_plain_data(cudaStream_t stream, const cull_conv_shape *shape,
                            cull_conv_types types, const void *dy, const void *w, void *dx,
                            bool add);
/* dw is float32 (float64); room is for sums of parts: cull_plain_room(). */
cudaError_t cull_plain_weights(cudaStream_t stream, const cull_conv_shape *shape,
                               cull_conv_types types, int processors, const void *x, const void *dy,
                               void *dw, void *room);
size_t      cull_plain_room(const cull_conv_shape *shape, cull_conv_types types, int processors);

/* ---- one input channel a group (nn_depth.cu), as above ---- */
cudaError_t cull_depth_forward(cudaStream_t stream, const cull_conv_shape *shape, cull_dtype values,
                               const void *x, const void *w, const void *b, void *y);
cudaError_t cull_depth_data(cudaStream_t stream, const cull_conv_shape *shape, cull_dtype values,
                            const void *dy, const void *w, void *dx, bool add);
cudaError_t cull_depth_weights(cudaStream_t stream, const cull_conv_shape *shape, cull_dtype values,
                               int processors, const void *x, const void *dy, void *dw, void *room);
size_t      cull_depth_room(const cull_conv_shape *shape, cull_dtype values, int processors);

/* ---- few outputs (nn_dense_few.cu): y = x W^T + b, x (n, in), W (out, in) ---- */
typedef struct cull_dense_shape {
    int32_t n, in, out;
} cull_dense_shape;

enum { CULL_DENSE_FEW = 64 }; /* outputs */
cudaError_t cull_few_forward(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                             const void *x, const void *w, const void *b, void *y);
cudaError_t cull_few_data(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                          const void *dy, const void *w, void *dx, bool add);
cudaError_t cull_few_weights(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                             const void *x, const void *dy, void *dw, void *db); /* db or NULL */

#ifdef __cplusplus
}
#endif

#endif
