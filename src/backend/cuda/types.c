/* backend/cuda/types.c - widen and narrow: their arguments; see types.cu. */
#include "backend/cuda/types.h"

#include "backend/cuda/cuda.h"

static cull_status widen(cull_op *op, const cull_op_args *args)
{
    cull_status          status = CULL_OK;
    cull_cuda           *cuda = NULL;
    cull_cuda_widen_args what = {.count = args->widen.count,
                                 .weight = args->widen.weight,
                                 .to_weight = args->widen.to_weight,
                                 .dtype = args->widen.dtype,
                                 .scale = args->widen.scale};

    for (int k = 0; k < 3; k++) {
        what.index[k] = args->widen.index[k];
        what.to[k] = args->widen.to[k];
    }
    TRY(cull_cuda_enter(op->backend, &cuda));
    if (what.count) CUDA(cull_cuda_widen_run(cuda->stream, &what));
done:
    return status;
}

static cull_status narrow(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (args->narrow.from.shape[0])
        CUDA(cull_cuda_narrow_run(cuda->stream, &args->narrow.from, args->narrow.to));
done:
    return status;
}

const cull_op_class cull_cuda_widen = {cull_cuda_plain_create, widen, cull_cuda_plain_destroy};
const cull_op_class cull_cuda_narrow = {cull_cuda_plain_create, narrow, cull_cuda_plain_destroy};
