/* backend/cuda/check.c - check: what operations of selection may rely on; see check.cu. */
#include "backend/cuda/check.h"

#include <float.h>

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct check {
    cull_op               base;
    cull_kit              kit;
    cull_cuda_check_room *room;
};

static void destroy(cull_op *op)
{
    struct check *check = (struct check *)op;

    cull_kit_clear(&check->kit);
    cull_base_free(check);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status   status = CULL_OK;
    struct check *check = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *check, "an operation", &check));
    check->kit.backend = backend;
    TRY(cull_kit_allocate(&check->kit, 1, sizeof *check->room, "checking", &check->room));
    *out = &check->base;
    check = NULL;
done:
    if (check) destroy(&check->base);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status          status = CULL_OK;
    struct check        *check = (struct check *)op;
    cull_cuda           *cuda = NULL;
    cull_cuda_check_args what = {.rows = args->check.rows,
                                 .place = args->check.place,
                                 .pool = args->check.pool,
                                 .x = args->check.x,
                                 .unseen = args->check.unseen,
                                 .low = args->check.low,
                                 .high = args->check.high,
                                 .which = args->check.which,
                                 .now = args->check.now,
                                 .trouble = args->check.trouble,
                                 .room = check->room};

    TRY(cull_cuda_enter(op->backend, &cuda));
    what.finite = what.low == -DBL_MAX && what.high == DBL_MAX;
    CUDA(cull_cuda_check_run(cuda->stream, &what, cuda->processors));
done:
    return status;
}

const cull_op_class cull_cuda_check_op = {create, run, destroy};
