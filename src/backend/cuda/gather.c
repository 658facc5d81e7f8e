/*
 * backend/cuda/gather.c - rows of one array, or the same rows of many at once.
 *
 * A row that is not there cannot be told by a status when it is found: it becomes zeros.
 */
#include "backend/cuda/gather.h"
#include "backend/cuda/cuda.h"
#include "base/alloc.h"

cull_status cull_cuda_plain_create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    (void)backend;
    (void)desc;
    return cull_base_alloc(1, sizeof **out, "an operation", out);
}

void cull_cuda_plain_destroy(cull_op *op)
{
    cull_base_free(op);
}

static cull_status take(const cull_op *op, const cull_gathered *list, size_t count,
                        const uint32_t *index, size_t rows, size_t held)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    for (size_t at = 0; at < count; at += CULL_CUDA_GATHER_MOST) {
        size_t some = count - at < CULL_CUDA_GATHER_MOST ? count - at : CULL_CUDA_GATHER_MOST;

        CUDA(cull_cuda_gather_rows(cuda->stream, list + at, some, index, rows, held));
    }
done:
    return status;
}

static cull_status gather(cull_op *op, const cull_op_args *args)
{
    cull_gathered array = {args->gather.from, args->gather.to, args->gather.bytes};

    return take(op, &array, 1, args->gather.index, args->gather.rows, args->gather.held);
}

static cull_status gather_all(cull_op *op, const cull_op_args *args)
{
    return take(op, args->gather_all.list, args->gather_all.count, args->gather_all.index,
                args->gather_all.rows, args->gather_all.held);
}

const cull_op_class cull_cuda_gather = {cull_cuda_plain_create, gather, cull_cuda_plain_destroy};
const cull_op_class cull_cuda_gather_all = {cull_cuda_plain_create, gather_all,
                                            cull_cuda_plain_destroy};
