/*
 * backend/cuda/nn_conv.c - grouped convolution in NHWC, forward and both gradients.
 *
 *     x (n, h, w, c)    y (n, p, q, o)    w (o, kernel, kernel, c/groups)    b (o)
 *
 * Each direction is computed in the way that won its contest (nn_state.h): a kernel of our own, or
 * an engine of cuDNN. An engine may leave dw in bfloat16, which is widened then; and where it
 * cannot add to dx, dx is left in scratch memory and added.
 */
#include <stdio.h>

#include "backend/cuda/nn_conv_ways.h"
#include "base/alloc.h"

/* ---- what fits ---- */
cull_status cull_conv_check_types(const cull_layer_desc *d)
{
    bool one = (d->dtype == CULL_F32 || d->dtype == CULL_F64) && d->parameters == d->dtype;

    if (one || (d->dtype == CULL_BF16 && d->parameters == CULL_F32)) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED,
                     "layers on CUDA devices know no %s values over %s parameters",
                     cull_dtype_name(d->dtype), cull_dtype_name(d->parameters));
}

/* Is a value's memory NHWC? */
static bool channels_last(const cull_image *image)
{
    return image->block == image->c || image->h * image->w == 1;
}

static cull_status read_shape(const cull_layer_desc *d, cull_conv_shape *s)
{
    cull_status   status = CULL_OK;
    const int64_t most = INT32_MAX / 2;

    TRY(cull_conv_check_types(d));
    if (!channels_last(&d->x) || !channels_last(&d->y))
        FAIL(CULL_UNSUPPORTED, "convolutions on CUDA devices know one layout, NHWC");
    if (d->x.n * d->x.h * d->x.w > most || d->y.n * d->y.h * d->y.w > most ||
        d->y.c * (d->x.c / d->groups) * d->kernel[0] * d->kernel[1] > most)
        FAIL(CULL_UNSUPPORTED, "a convolution of more than 2^30 pixels or weights");
    *s = (cull_conv_shape){.n = (int32_t)d->x.n,
                           .c = (int32_t)d->x.c,
                           .h = (int32_t)d->x.h,
                           .w = (int32_t)d->x.w,
                           .o = (int32_t)d->y.c,
                           .p = (int32_t)d->y.h,
                           .q = (int32_t)d->y.w,
                           .groups = (int32_t)d->groups};
    for (int i = 0; i < 2; i++) {
        s->kernel[i] = (int32_t)d->kernel[i];
        s->stride[i] = (int32_t)d->stride[i];
        s->pad[i] = (int32_t)d->pad[i];
        s->dilation[i] = (int32_t)d->dilation[i];
    }
done:
    return status;
}

/* ---- the class ---- */
static const char *name_of(const cull_nn_way *way)
{
    if (way->plan) return cull_plan_name(way->plan);
    return way->number == CULL_OWN_DEPTH ? "depthwise" : "plain";
}

static void destroy(cull_layer_op *base)
{
    cull_base_free(base);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    cull_conv_op *op = NULL;
    cull_cuda    *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *op, "a convolution", &op));
    TRY(read_shape(desc, &op->shape));
    TRY(cull_nn_state(backend, &op->nn));
    op->base.backend = backend;
    op->base.desc = *desc;
    op->types = (cull_conv_types){desc->dtype, desc->dtype};
    op->processors = cuda->processors;
    TRY(cull_conv_choose(op, CULL_FORWARD));
    if (desc->learn && desc->input_gradient) TRY(cull_conv_choose(op, CULL_DATA));
    if (desc->learn) TRY(cull_conv_choose(op, CULL_WEIGHTS));
    (void)snprintf(op->names, sizeof op->names, "%s", name_of(&op->way[CULL_FORWARD]));
    if (desc->learn)
        (void)snprintf(op->names, sizeof op->names, "%s; %s; %s%s", name_of(&op->way[CULL_FORWARD]),
                       desc->input_gradient ? name_of(&op->way[CULL_DATA]) : "none",
                       name_of(&op->way[CULL_WEIGHTS]),
                       op->way[CULL_WEIGHTS].plan &&
                               op->way[CULL_WEIGHTS].number == CULL_PLAN_NARROW
                           ? ", narrow"
                           : "");
    op->base.implementation = op->names;
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    const cull_conv_op *op = (const cull_conv_op *)base;
    cull_cuda          *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(cull_conv_run(op, CULL_FORWARD, &op->way[CULL_FORWARD], cuda->stream, args,
                      cull_nn_room(op->nn, CULL_SIDE_MAIN)));
done:
    return status;
}

cull_status cull_conv_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const cull_conv_op *op = (const cull_conv_op *)base;

    if (!args->dx || !base->desc.input_gradient) return CULL_OK;
    return cull_conv_run(op, CULL_DATA, &op->way[CULL_DATA], stream, args,
                         cull_nn_room(op->nn, CULL_SIDE_MAIN));
}

cull_status cull_conv_weights(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const cull_conv_op *op = (const cull_conv_op *)base;

    return cull_conv_run(op, CULL_WEIGHTS, &op->way[CULL_WEIGHTS], stream, args,
                         cull_nn_room(op->nn, CULL_SIDE_WEIGHTS));
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    if (base->desc.beside) TRY(cull_cuda_fork(cuda));
    TRY(cull_conv_weights(base, args, base->desc.beside ? cuda->side : cuda->stream));
    TRY(cull_conv_data(base, args, cuda->stream));
done:
    return status;
}

const cull_layer_class cull_cuda_conv = {create, forward, backward, destroy};
