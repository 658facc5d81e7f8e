/*
 * backend/cuda/nn_loss.c - losses of each example, and their gradients.
 *
 * Whether targets are possible is looked at where they come from; one that is not gives a loss that
 * is no number, which whoever adds losses up finds.
 */
#include "backend/cuda/nn_loss.h"
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
    if (desc->dtype != CULL_F32 && desc->dtype != CULL_F64)
        FAIL(CULL_UNSUPPORTED, "losses of %s", cull_dtype_name(desc->dtype));
    TRY(cull_base_alloc(1, sizeof *op, "a layer", &op));
    op->implementation = "cuda";
    *out = op;
done:
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status      status = CULL_OK;
    cull_cuda       *cuda = NULL;
    cull_cuda_losses l = {.rows = (size_t)op->desc.x.n,
                          .outputs = (size_t)cull_image_row(&op->desc.x),
                          .of = op->desc.loss,
                          .x = args->x,
                          .target = args->target,
                          .weight = args->weight,
                          .scale = args->scale,
                          .loss = args->loss,
                          .p = args->p,
                          .dx = args->dx};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_find_losses(cuda->stream, &l, op->desc.dtype));
done:
    return status;
}

const cull_layer_class cull_cuda_loss = {create, forward, NULL, destroy};
