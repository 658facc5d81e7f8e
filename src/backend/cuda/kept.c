/* backend/cuda/kept.c - loss, target, place and p of the rows that are gone back through. */
#include "backend/cuda/kept.h"
#include "backend/cuda/cuda.h"

static cull_status kept(cull_op *op, const cull_op_args *args)
{
    cull_status         status = CULL_OK;
    cull_cuda          *cuda = NULL;
    cull_cuda_kept_rows rows = {.rows = (uint32_t)args->kept.rows,
                                .classes = (uint32_t)args->kept.classes,
                                .target_bytes = (uint32_t)args->kept.target_bytes,
                                .constants = args->kept.constants,
                                .index = args->kept.index,
                                .chosen = args->kept.chosen,
                                .from_p = args->kept.from_p,
                                .from_loss = args->kept.from_loss,
                                .from_target = args->kept.from_target,
                                .from_place = args->kept.from_place,
                                .p = args->kept.p,
                                .gradient = args->kept.gradient,
                                .loss = args->kept.loss,
                                .share = args->kept.share,
                                .target = args->kept.target,
                                .place = args->kept.place};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_keep_rows(cuda->stream, &rows, args->kept.dtype));
done:
    return status;
}

const cull_op_class cull_cuda_kept = {cull_cuda_plain_create, kept, cull_cuda_plain_destroy};
