/* backend/cuda/ledger.c - record and recall; see ledger.cu. */
#include "backend/cuda/ledger.h"

#include "backend/cuda/cuda.h"

static cull_status run_record(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    cull_cuda            *cuda = NULL;
    cull_cuda_record_args what = {.rows = args->record.rows,
                                  .place = args->record.place,
                                  .loss = args->record.loss,
                                  .unseen = args->record.unseen,
                                  .ledger = args->record.ledger,
                                  .epoch = args->record.epoch,
                                  .now = args->record.now,
                                  .trouble = args->record.trouble};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_record_run(cuda->stream, &what));
done:
    return status;
}

static cull_status run_recall(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    cull_cuda            *cuda = NULL;
    cull_cuda_recall_args what = {.rows = args->recall.rows,
                                  .place = args->recall.place,
                                  .ledger = args->recall.ledger,
                                  .epoch = args->recall.epoch,
                                  .now = args->recall.now,
                                  .loss = args->recall.loss,
                                  .unseen = args->recall.unseen};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_recall_run(cuda->stream, &what));
done:
    return status;
}

const cull_op_class cull_cuda_record = {cull_cuda_plain_create, run_record,
                                        cull_cuda_plain_destroy};
const cull_op_class cull_cuda_recall = {cull_cuda_plain_create, run_recall,
                                        cull_cuda_plain_destroy};
