/*
 * backend/ref/nn_dense.c - fully connected layer.
 *
 *     forward    y  = x W^T + b        x (N, I)   W (O, I)   b (O)   y (N, O)
 *     backward   dW = dy^T x           db = sum over N of dy
 *                dx = dy W
 */
#include "backend/ref/nn.h"

static void sizes(const cull_layer_desc *desc, cull_ref_sizes *out)
{
    out->w = (size_t)(cull_image_row(&desc->y) * cull_image_row(&desc->x));
    out->b = desc->bias ? (size_t)cull_image_row(&desc->y) : 0;
}

static void forward(const cull_layer_desc *desc, const cull_layer_args *args)
{
    int64_t       n = desc->x.n, in = cull_image_row(&desc->x), out = cull_image_row(&desc->y);
    const double *x = args->x, *w = args->w, *b = args->b;
    double       *y = args->y;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t o = 0; o < out; o++) {
            double sum = desc->bias ? b[o] : 0;
            for (int64_t j = 0; j < in; j++) sum += x[i * in + j] * w[o * in + j];
            y[i * out + o] = sum;
        }
    }
}

static void parameter_gradients(const cull_layer_desc *desc, const cull_layer_args *args)
{
    int64_t       n = desc->x.n, in = cull_image_row(&desc->x), out = cull_image_row(&desc->y);
    const double *x = args->x, *dy = args->dy;
    double       *dw = args->dw, *db = args->db;

    for (int64_t o = 0; o < out; o++) {
        for (int64_t j = 0; j < in; j++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++) sum += dy[i * out + o] * x[i * in + j];
            dw[o * in + j] = sum;
        }
        if (!desc->bias) continue;
        db[o] = 0;
        for (int64_t i = 0; i < n; i++) db[o] += dy[i * out + o];
    }
}

static void backward(const cull_layer_desc *desc, const cull_layer_args *args)
{
    int64_t       n = desc->x.n, in = cull_image_row(&desc->x), out = cull_image_row(&desc->y);
    const double *w = args->w, *dy = args->dy;
    double       *dx = args->dx;

    parameter_gradients(desc, args);
    for (int64_t i = 0; dx && i < n; i++) {
        for (int64_t j = 0; j < in; j++) {
            double sum = args->accumulate ? dx[i * in + j] : 0;
            for (int64_t o = 0; o < out; o++) sum += dy[i * out + o] * w[o * in + j];
            dx[i * in + j] = sum;
        }
    }
}

const cull_ref_rule cull_ref_dense = {
    .kind = CULL_LAYER_DENSE, .sizes = sizes, .forward = forward, .backward = backward};
