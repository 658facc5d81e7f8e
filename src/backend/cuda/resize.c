/* backend/cuda/resize.c - images made smaller, or laid out anew. */
#include "backend/cuda/resize.h"
#include "backend/cuda/cuda.h"

static cull_status resize(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_resize_images(cuda->stream, &args->resize.how, args->resize.from,
                                 args->resize.to, args->resize.count));
done:
    return status;
}

const cull_op_class cull_cuda_resize = {cull_cuda_plain_create, resize, cull_cuda_plain_destroy};
