/*
 * backend/cuda/nn_dense.c - fully connected layer: x (n, in), W (out, in), b (out), y (n, out).
 *
 *     y = x W^T + b      dx = dy W      dW = dy^T x      db = sum over n of dy
 *
 * Each direction is computed in the way that won its contest (nn_state.h): an algorithm of
 * cuBLASLt, or a kernel of our own.
 */
#include <stdio.h>

#include "backend/cuda/nn_dense_ways.h"
#include "base/alloc.h"

static cull_status read_shape(const cull_layer_desc *d, cull_dense_op *op)
{
    cull_status status = CULL_OK;
    int64_t     n = d->x.n, in = cull_image_row(&d->x), out = cull_image_row(&d->y);

    TRY(cull_conv_check_types(d));
    if (n > INT32_MAX / 2 || in * out > INT32_MAX / 2)
        FAIL(CULL_UNSUPPORTED, "a dense layer of more than 2^30 rows or weights");
    op->shape = (cull_dense_shape){(int32_t)n, (int32_t)in, (int32_t)out};
    op->pixel = (cull_conv_shape){.n = (int32_t)n,
                                  .c = (int32_t)in,
                                  .h = 1,
                                  .w = 1,
                                  .o = (int32_t)out,
                                  .p = 1,
                                  .q = 1,
                                  .kernel = {1, 1},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .groups = 1};
    op->types = (cull_conv_types){d->dtype, d->output ? d->output : d->dtype};
    if (op->types.output != d->dtype && (d->dtype != CULL_BF16 || d->output != CULL_F32))
        FAIL(CULL_UNSUPPORTED, "a dense layer from %s to %s", cull_dtype_name(d->dtype),
             cull_dtype_name(d->output));
done:
    return status;
}

/* ---- the class ---- */
static const char *name_of(const cull_nn_way *way)
{
    if (way->plan) return cull_plan_name(way->plan);
    return way->number == CULL_DENSE_OWN_FEW ? "few" : "plain";
}

static void destroy(cull_layer_op *base)
{
    cull_base_free(base);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status    status = CULL_OK;
    cull_dense_op *op = NULL;
    cull_cuda     *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *op, "a dense layer", &op));
    TRY(read_shape(desc, op));
    TRY(cull_nn_state(backend, &op->nn));
    op->base.backend = backend;
    op->base.desc = *desc;
    op->processors = cuda->processors;
    TRY(cull_dense_choose(op, CULL_FORWARD));
    if (desc->learn && desc->input_gradient) TRY(cull_dense_choose(op, CULL_DATA));
    if (desc->learn) TRY(cull_dense_choose(op, CULL_WEIGHTS));
    (void)snprintf(op->names, sizeof op->names, "%s", name_of(&op->way[CULL_FORWARD]));
    if (desc->learn)
        (void)snprintf(op->names, sizeof op->names, "%s; %s; %s", name_of(&op->way[CULL_FORWARD]),
                       desc->input_gradient ? name_of(&op->way[CULL_DATA]) : "none",
                       name_of(&op->way[CULL_WEIGHTS]));
    op->base.implementation = op->names;
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status          status = CULL_OK;
    const cull_dense_op *op = (const cull_dense_op *)base;
    cull_cuda           *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(cull_dense_run(op, CULL_FORWARD, &op->way[CULL_FORWARD], cuda->stream, args,
                       cull_nn_room(op->nn, CULL_SIDE_MAIN)));
done:
    return status;
}

cull_status cull_dense_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const cull_dense_op *op = (const cull_dense_op *)base;

    if (!args->dx || !base->desc.input_gradient) return CULL_OK;
    return cull_dense_run(op, CULL_DATA, &op->way[CULL_DATA], stream, args,
                          cull_nn_room(op->nn, CULL_SIDE_MAIN));
}

cull_status cull_dense_weights(cull_layer_op *base, const cull_layer_args *args,
                               cudaStream_t stream)
{
    const cull_dense_op *op = (const cull_dense_op *)base;

    return cull_dense_run(op, CULL_WEIGHTS, &op->way[CULL_WEIGHTS], stream, args,
                          cull_nn_room(op->nn, CULL_SIDE_WEIGHTS));
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(cull_cuda_join(cuda)); /* convolutions beside have the scratch memory */
    TRY(cull_dense_weights(base, args, cuda->stream));
    TRY(cull_dense_data(base, args, cuda->stream));
done:
    return status;
}

const cull_layer_class cull_cuda_dense = {create, forward, backward, destroy};
