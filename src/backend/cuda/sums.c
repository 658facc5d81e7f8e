/* backend/cuda/sums.c - what a step says of itself: sums over its examples, and counts by place. */
#include "backend/cuda/sums.h"
#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct summing {
    cull_op            base;
    cull_backend      *backend;
    cull_cuda_counted *counted;
};

static void destroy(cull_op *base)
{
    struct summing *op = (struct summing *)base;

    cull_backend_release(op->backend, op->counted);
    cull_base_free(op);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status     status = CULL_OK;
    struct summing *op = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *op, "an operation", &op));
    op->backend = backend;
    TRY(cull_backend_allocate(backend, 1, sizeof *op->counted, "an operation", &op->counted));
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_status summary(cull_op *base, const cull_op_args *args)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    bool              counts = args->summary.p && args->summary.of.kind == CULL_LOSS_CROSS_ENTROPY;
    cull_cuda_summing s = {.rows = args->summary.rows,
                           .classes = args->summary.classes,
                           .loss = args->summary.loss,
                           .p = args->summary.p,
                           .label = counts ? args->summary.target : NULL,
                           .share = 1 - args->summary.of.smoothing,
                           .place = args->summary.place,
                           .add = args->summary.add,
                           .out = args->summary.out,
                           .now = args->summary.now,
                           .trouble = args->summary.trouble,
                           .became = args->summary.became,
                           .outcomes = args->summary.outcomes,
                           .counted = ((struct summing *)base)->counted};

    TRY(cull_cuda_enter(base->backend, &cuda));
    CUDA(cull_cuda_sum_up(cuda->stream, &s, args->summary.dtype));
done:
    return status;
}

static cull_status tally(cull_op *op, const cull_op_args *args)
{
    cull_status        status = CULL_OK;
    cull_cuda         *cuda = NULL;
    cull_cuda_tallying t = {.rows = args->tally.rows,
                            .place = args->tally.place,
                            .loss = args->tally.loss,
                            .weight = args->tally.weight,
                            .now = args->tally.now,
                            .count = args->tally.count,
                            .first = args->tally.first,
                            .weights = args->tally.weights,
                            .latest = args->tally.latest};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_count_places(cuda->stream, &t));
done:
    return status;
}

const cull_op_class cull_cuda_summary = {create, summary, destroy};
const cull_op_class cull_cuda_tally = {cull_cuda_plain_create, tally, cull_cuda_plain_destroy};
