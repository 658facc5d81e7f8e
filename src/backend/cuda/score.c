/* backend/cuda/score.c - score and chance; see score.cu. */
#include "backend/cuda/score.h"

#include "backend/cuda/cuda.h"

static cull_status run_score(cull_op *op, const cull_op_args *args)
{
    cull_status          status = CULL_OK;
    cull_cuda           *cuda = NULL;
    cull_cuda_score_args what = {.rows = args->score.rows,
                                 .loss = args->score.loss,
                                 .less = args->score.less,
                                 .unseen = args->score.unseen,
                                 .place = args->score.place,
                                 .key = args->score.key,
                                 .step = args->score.step,
                                 .now = args->score.now,
                                 .out = args->score.out};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_score_run(cuda->stream, &what));
done:
    return status;
}

static cull_status run_chance(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    cull_cuda            *cuda = NULL;
    cull_cuda_chance_args what = {.rows = args->chance.rows,
                                  .place = args->chance.place,
                                  .percentile = args->chance.percentile,
                                  .standing = args->chance.standing,
                                  .fresh = args->chance.fresh,
                                  .pool = args->chance.pool,
                                  .beta = args->chance.beta,
                                  .trim = args->chance.trim,
                                  .trimmed = args->chance.trimmed,
                                  .weight = args->chance.weight};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_chance_run(cuda->stream, &what));
done:
    return status;
}

const cull_op_class cull_cuda_score = {cull_cuda_plain_create, run_score, cull_cuda_plain_destroy};
const cull_op_class cull_cuda_chance = {cull_cuda_plain_create, run_chance,
                                        cull_cuda_plain_destroy};
