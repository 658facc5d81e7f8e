/* backend/cuda/nn_pool.c - pooling: maximum, average, average over the whole image. */
#include "backend/cuda/nn_pool.h"

#include "backend/cuda/nn_layer.h"

struct pool {
    cull_layer_op base;
    cull_pool_cut pool;
};

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status  status = CULL_OK;
    struct pool *op = NULL;

    (void)backend;
    TRY(cull_cuda_layer_new(desc, sizeof *op, &op));
    if (desc->pooling == CULL_POOL_MAX) op->base.state_row = (size_t)cull_image_row(&desc->y);
    op->pool = (cull_pool_cut){.dtype = desc->dtype,
                               .width = cull_cuda_width(desc->dtype, desc->x.c, 0, 0),
                               .kind = desc->pooling,
                               .n = (int32_t)desc->x.n,
                               .c = (int32_t)desc->x.c,
                               .h = (int32_t)desc->x.h,
                               .w = (int32_t)desc->x.w,
                               .to_h = (int32_t)desc->y.h,
                               .to_w = (int32_t)desc->y.w};
    for (int i = 0; i < 2; i++) {
        op->pool.kernel[i] = (int32_t)desc->kernel[i];
        op->pool.stride[i] = (int32_t)desc->stride[i];
        op->pool.pad[i] = (int32_t)desc->pad[i];
    }
    *out = &op->base;
done:
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status   status = CULL_OK;
    cull_cuda    *cuda = NULL;
    cull_pool_cut pool = ((const struct pool *)op)->pool;
    void         *state = pool.kind == CULL_POOL_MAX ? args->state : NULL;

    if (!cull_cuda_aligned(args->x, args->y, state, NULL)) pool.width = 1;
    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_pool_forward(cuda->stream, &pool, args->x, args->y, state));
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status   status = CULL_OK;
    cull_cuda    *cuda = NULL;
    cull_pool_cut pool = ((const struct pool *)op)->pool;
    void         *state = pool.kind == CULL_POOL_MAX ? args->state : NULL;

    if (!cull_cuda_aligned(args->dy, args->dx, state, NULL)) pool.width = 1;
    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_pool_backward(cuda->stream, &pool, args->dy, state, args->dx, args->accumulate));
done:
    return status;
}

const cull_layer_class cull_cuda_pool = {create, forward, backward, cull_cuda_layer_free};
