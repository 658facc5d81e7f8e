/* backend/cuda/sample.c - sample: rows drawn with replacement by score; see sample.cu. */
#include "backend/cuda/sample.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct sample {
    cull_op  base;
    cull_kit kit;
    double  *score, *sum; /* [rows] */
};

static void destroy(cull_op *op)
{
    struct sample *sample = (struct sample *)op;

    cull_kit_clear(&sample->kit);
    cull_base_free(sample);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct sample *sample = NULL;
    cull_kit      *kit = NULL;

    TRY(cull_base_alloc(1, sizeof *sample, "an operation", &sample));
    kit = &sample->kit;
    kit->backend = backend;
    TRY(cull_kit_allocate(kit, desc->rows, sizeof *sample->score, "scores", &sample->score));
    TRY(cull_kit_allocate(kit, desc->rows, sizeof *sample->sum, "scores", &sample->sum));
    *out = &sample->base;
    sample = NULL;
done:
    if (sample) destroy(&sample->base);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    struct sample        *sample = (struct sample *)op;
    cull_cuda            *cuda = NULL;
    cull_cuda_sample_args what = {.rows = args->sample.rows,
                                  .m = args->sample.m,
                                  .loss = args->sample.loss,
                                  .h = args->sample.h,
                                  .p = args->sample.p,
                                  .unseen = args->sample.loss.data ? args->sample.unseen : NULL,
                                  .place = args->sample.place,
                                  .unit = args->sample.unit,
                                  .key = args->sample.key,
                                  .step = args->sample.step,
                                  .now = args->sample.now,
                                  .index = args->sample.index,
                                  .weight = args->sample.weight,
                                  .sampled = args->sample.sampled,
                                  .moment = args->sample.moment,
                                  .trouble = args->sample.trouble,
                                  .score = sample->score,
                                  .sum = sample->sum};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_sample_run(cuda->stream, &what));
done:
    return status;
}

const cull_op_class cull_cuda_sample = {create, run, destroy};
