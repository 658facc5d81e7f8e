/* backend/cuda/nn_attention.c - attention by our own kernels, whatever values are in. */
#include "backend/cuda/nn_attention.h"

#include <math.h>

#include "backend/cuda/nn_layer.h"

struct attention {
    cull_layer_op base;
    void         *slope; /* (n, heads, positions) on the way back */
};

static void destroy(cull_layer_op *op)
{
    cull_backend_release(op->backend, ((struct attention *)op)->slope);
    cull_cuda_layer_free(op);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    struct attention *op = NULL;
    int64_t           width = desc->y.c / desc->groups;
    size_t            each = (size_t)(desc->groups * desc->x.h);
    size_t            size = desc->dtype == CULL_F64 ? sizeof(double) : sizeof(float), room = 0;

    if (width > CULL_ATTENTION_WIDTH)
        FAIL(CULL_UNSUPPORTED,
             "attention on a CUDA device has at most %d features a head, and these have %lld",
             CULL_ATTENTION_WIDTH, (long long)width);
    TRY(cull_cuda_layer_new(desc, sizeof *op, &op));
    op->base.backend = backend;
    op->base.state_row = each * size;
    TRY(cull_cuda_enter(backend, &cuda));
    room = cull_cuda_attention_room(desc->dtype, (int)width);
    if (room > cuda->shared_most)
        FAIL(
            CULL_UNSUPPORTED,
            "attention of %s with %lld features a head takes %zu bytes of a block's shared memory, "
            "and this device has %zu",
            cull_dtype_name(desc->dtype), (long long)width, room, cuda->shared_most);
    CUDA(cull_cuda_attention_prepare(desc->dtype, (int)width));
    if (desc->learn)
        TRY(cull_backend_allocate(backend, (size_t)desc->x.n * each, size, "slopes of attention",
                                  &op->slope));
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_attention_call call_of(const cull_layer_op *op, const cull_layer_args *args)
{
    const cull_layer_desc *d = &op->desc;
    int64_t                width = d->y.c / d->groups;
    double                 p = d->probability;

    return (cull_attention_call){
        .dtype = d->dtype,
        .n = (int32_t)d->x.n,
        .heads = (int32_t)d->groups,
        .length = (int32_t)d->x.h,
        .width = (int32_t)width,
        .most = CULL_MOST_POSITIONS,
        .whole = cull_cuda_width(d->dtype, width, 0, 0) > 1 &&
                 cull_cuda_aligned(args->x, args->dy, args->y, args->dx),
        .accumulate = args->accumulate,
        .scale = 1 / sqrt((double)width),
        .threshold = (uint64_t)ceil(p * 0x1p32),
        .kept = 1 / (1 - p),
        .key = args->key,
        .step = args->step,
        .now = args->now,
        .place = args->place,
        .token = args->x2,
        .x = args->x,
        .dy = args->dy,
        .y = args->y,
        .state = args->state,
        .slope = ((const struct attention *)op)->slope,
        .dx = args->dx,
    };
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    cull_cuda          *cuda = NULL;
    cull_attention_call call = call_of(op, args);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_attention(cuda->stream, &call));
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    cull_cuda          *cuda = NULL;
    cull_attention_call call = call_of(op, args);

    if (!args->dx) return CULL_OK;
    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_attention_back(cuda->stream, &call));
done:
    return status;
}

const cull_layer_class cull_cuda_attention_layer = {create, forward, backward, destroy};
