/* backend/cuda/settle.c - settle: a subset made whole; see settle.cu. */
#include "backend/cuda/settle.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct settle {
    cull_op   base;
    cull_kit  kit;
    size_t    alone; /* most entries that one block does */
    unsigned *unsorted;
};

static void destroy(cull_op *op)
{
    struct settle *settle = (struct settle *)op;

    cull_kit_clear(&settle->kit);
    cull_base_free(settle);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct settle *settle = NULL;
    cull_cuda     *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *settle, "an operation", &settle));
    settle->kit.backend = backend;
    settle->alone = CULL_CUDA_SETTLE_ALONE;
    while (cull_cuda_settle_shared(settle->alone) > cuda->shared_most) settle->alone /= 2;
    CUDA(cull_cuda_settle_ready(settle->alone));
    if (desc->rows > settle->alone)
        TRY(cull_kit_allocate(&settle->kit, 1, sizeof *settle->unsorted, "settling",
                              &settle->unsorted));
    *out = &settle->base;
    settle = NULL;
done:
    if (settle) destroy(&settle->base);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    struct settle        *settle = (struct settle *)op;
    cull_cuda            *cuda = NULL;
    cull_cuda_settle_args what = {.count = args->settle.count,
                                  .rows = args->settle.rows,
                                  .all = args->settle.all,
                                  .from = args->settle.from,
                                  .index = args->settle.index,
                                  .place = args->settle.place,
                                  .group = args->settle.group,
                                  .weight = args->settle.weight,
                                  .unsorted = settle->unsorted};

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (what.count == 0) return CULL_OK;
    if (what.count <= settle->alone)
        CUDA(cull_cuda_settle_alone(cuda->stream, &what));
    else
        CUDA(cull_cuda_settle_many(cuda->stream, &what));
done:
    return status;
}

const cull_op_class cull_cuda_settle = {create, run, destroy};
