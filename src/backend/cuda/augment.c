/* backend/cuda/augment.c - examples as a network reads them, from where they are stored. */
#include "backend/cuda/augment.h"
#include "backend/cuda/cuda.h"

static cull_status check(const cull_augment_desc *a)
{
    cull_status status = CULL_OK;

    if (a->from == CULL_I32 && a->to == CULL_I32) return CULL_OK;
    if (a->from != CULL_U8 && a->from != CULL_F32)
        FAIL(CULL_UNSUPPORTED, "examples stored as %s", cull_dtype_name(a->from));
    if (a->to != CULL_F32 && a->to != CULL_F64 && a->to != CULL_BF16)
        FAIL(CULL_UNSUPPORTED, "examples made as %s", cull_dtype_name(a->to));
    if (a->channels * a->height * a->width > INT32_MAX)
        FAIL(CULL_UNSUPPORTED, "examples of %zu x %zu x %zu", a->channels, a->height, a->width);
done:
    return status;
}

static cull_status augment(cull_op *op, const cull_op_args *args)
{
    cull_status              status = CULL_OK;
    cull_cuda               *cuda = NULL;
    const cull_augment_desc *a = &args->augment.desc;
    const cull_augment_call *call = &args->augment.call;
    cull_cuda_batch          batch = {.channels = (uint32_t)a->channels,
                                      .height = (uint32_t)a->height,
                                      .width = (uint32_t)a->width,
                                      .pad = (uint32_t)a->pad,
                                      .cutout = (uint32_t)a->cutout,
                                      .channels_last = a->channels_last,
                                      .reflect = a->reflect,
                                      .flip = a->flip,
                                      .augmented = call->augmented,
                                      .packed = call->packed,
                                      .move = a->move,
                                      .hole = a->hole,
                                      .mean = a->mean,
                                      .deviation = a->deviation,
                                      .length = (uint32_t)cull_augment_numbers(a, call->length),
                                      .count = call->count,
                                      .places = call->places,
                                      .row = call->row,
                                      .epoch = call->epoch,
                                      .now = args->augment.now,
                                      .raw = call->raw,
                                      .held = args->augment.held,
                                      .index = args->augment.index,
                                      .out = call->out};

    TRY(check(a));
    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_make_batch(cuda->stream, &batch, a->from, a->to));
done:
    return status;
}

const cull_op_class cull_cuda_augment = {cull_cuda_plain_create, augment, cull_cuda_plain_destroy};
