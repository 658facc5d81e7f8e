/* backend/cuda/nn_dropout.c - dropout with the reference's mask, drawn again on the way back. */
#include "backend/cuda/nn_dropout.h"

#include <math.h>

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

static void destroy(cull_layer_op *op)
{
    cull_base_free(op);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status    status = CULL_OK;
    cull_layer_op *op = NULL;

    (void)backend;
    if (desc->dtype != CULL_F32 && desc->dtype != CULL_F64 && desc->dtype != CULL_BF16)
        FAIL(CULL_UNSUPPORTED, "dropout of %s", cull_dtype_name(desc->dtype));
    TRY(cull_base_alloc(1, sizeof *op, "a layer", &op));
    op->implementation = "cuda";
    *out = op;
done:
    return status;
}

static cull_status run(cull_layer_op *op, const cull_layer_args *args, const void *in, void *out,
                       bool accumulate)
{
    cull_status        status = CULL_OK;
    cull_cuda         *cuda = NULL;
    const cull_image  *x = &op->desc.x;
    double             p = op->desc.probability;
    cull_cuda_dropping d = {.rows = (size_t)x->n,
                            .channels = (uint32_t)x->c,
                            .area = (uint32_t)(x->h * x->w),
                            .block = (uint32_t)x->block,
                            .threshold = (uint64_t)ceil(p * 0x1p32),
                            .scale = 1 / (1 - p),
                            .key = args->key,
                            .step = args->step,
                            .now = args->now,
                            .place = args->place,
                            .in = in,
                            .out = out,
                            .accumulate = accumulate};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_drop(cuda->stream, &d, op->desc.dtype));
done:
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, args->x, args->y, false);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, args->dy, args->dx, args->accumulate);
}

const cull_layer_class cull_cuda_dropout = {create, forward, backward, destroy};
