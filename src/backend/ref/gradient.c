/*
 * backend/ref/gradient.c - the last layer's gradient over some rows, and products with it.
 *
 *     gradient  B = sum over rows of p_i (x) [h_i; 1]      H (N, D)   P (N, C)   B (C, D+1)
 *     gain      p_i^T B [h_i; 1], or without P all C entries of B [h_i; 1]
 */
#include "backend/ref/ref.h"
#include "tensor/tensor.h"

static double at(const cull_tensor *t, size_t row, size_t column)
{
    cull_tensor line = cull_vector(cull_tensor_row(t, row), t->dtype, (size_t)t->shape[1]);

    return column < (size_t)t->shape[1] ? cull_tensor_get(&line, column) : 1;
}

static cull_status run_gradient(cull_op *op, const cull_op_args *args)
{
    const cull_tensor *h = args->gradient.h, *p = args->gradient.p;
    const uint32_t    *row = args->gradient.row;
    size_t             classes = (size_t)p->shape[1], width = (size_t)h->shape[1] + 1;

    (void)op;
    for (size_t c = 0; c < classes; c++) {
        for (size_t j = 0; j < width; j++) {
            double sum = 0;
            for (size_t i = 0; i < args->gradient.rows; i++)
                sum += at(p, row ? row[i] : i, c) * at(h, row ? row[i] : i, j);
            args->gradient.b[c * width + j] = sum;
        }
    }
    return CULL_OK;
}

static cull_status run_gain(cull_op *op, const cull_op_args *args)
{
    const cull_tensor *h = args->gain.h, *p = args->gain.p;
    size_t             classes = args->gain.classes, width = (size_t)h->shape[1] + 1;

    (void)op;
    for (size_t i = 0; i < args->gain.rows; i++) {
        size_t row = args->gain.row ? args->gain.row[i] : i;
        if (p) args->gain.out[i] = 0;
        for (size_t c = 0; c < classes; c++) {
            double sum = 0;
            for (size_t j = 0; j < width; j++) sum += args->gain.b[c * width + j] * at(h, row, j);
            if (p)
                args->gain.out[i] += at(p, row, c) * sum;
            else
                args->gain.out[i * classes + c] = sum;
        }
    }
    return CULL_OK;
}

const cull_op_class cull_ref_gradient = {cull_host_create, run_gradient, cull_host_destroy};
const cull_op_class cull_ref_gain = {cull_host_create, run_gain, cull_host_destroy};
