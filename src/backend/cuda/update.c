/* backend/cuda/update.c - from gradients to new weights, over one block of each. */
#include "backend/cuda/update.h"

#include <math.h>

#include "backend/cuda/cuda.h"

/* Who has no error word is told at once. */
static cull_status check_norm(const cull_op *op, const double *norm)
{
    cull_status status = CULL_OK;
    double      found = 0;

    TRY(cull_backend_download(op->backend, &found, norm, sizeof found));
    if (!isfinite(found)) FAIL(CULL_NOT_FINITE, "the gradient is no longer finite");
done:
    return status;
}

static cull_status update(cull_op *op, const cull_op_args *args)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    cull_cuda_weights w = {.rule = args->update.rule,
                           .from = args->update.from,
                           .count = args->update.count,
                           .ranges = args->update.ranges,
                           .value = args->update.value,
                           .gradient = args->update.gradient,
                           .buffer = {args->update.buffer[0], args->update.buffer[1]},
                           .narrow = args->update.narrow,
                           .range = args->update.range,
                           .partial = args->update.partial,
                           .norm = args->update.norm,
                           .now = args->update.now,
                           .trouble = args->update.trouble};
    bool              clip = w.rule.clip > 0;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (clip) CUDA(cull_cuda_square_gradient(cuda->stream, &w, args->update.dtype));
    CUDA(cull_cuda_update_weights(cuda->stream, &w, args->update.dtype, cuda->processors));
    if (clip && !w.trouble) TRY(check_norm(op, w.norm));
done:
    return status;
}

const cull_op_class cull_cuda_update = {cull_cuda_plain_create, update, cull_cuda_plain_destroy};
