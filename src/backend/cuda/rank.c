/* backend/cuda/rank.c - percentile_i = (#smaller + 1/2 #equal) / n; see rank.cu. */
#include "backend/cuda/rank.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct rank {
    cull_op   base;
    cull_kit  kit;
    uint64_t *image; /* [rows]; NULL: there are few */
};

static void destroy(cull_op *op)
{
    struct rank *rank = (struct rank *)op;

    cull_kit_clear(&rank->kit);
    cull_base_free(rank);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct rank *rank = NULL;

    TRY(cull_base_alloc(1, sizeof *rank, "an operation", &rank));
    rank->kit.backend = backend;
    if (desc->rows > CULL_CUDA_RANK_PAIRS)
        TRY(cull_kit_allocate(&rank->kit, desc->rows, sizeof *rank->image, "ranking",
                              &rank->image));
    *out = &rank->base;
    rank = NULL;
done:
    if (rank) destroy(&rank->base);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status   status = CULL_OK;
    struct rank  *rank = (struct rank *)op;
    cull_cuda    *cuda = NULL;
    size_t        rows = args->rank.rows;
    const double *x = args->rank.x;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (rows > CULL_CUDA_RANK_PAIRS)
        CUDA(cull_cuda_rank_sorted(cuda->stream, x, rows, rank->image, args->rank.percentile));
    else
        CUDA(cull_cuda_rank_pairs(cuda->stream, x, rows, args->rank.percentile));
done:
    return status;
}

const cull_op_class cull_cuda_rank = {create, run, destroy};
