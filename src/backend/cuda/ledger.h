/* backend/cuda/ledger.h - launchers of ledger.cu. */
#ifndef CULL_BACKEND_CUDA_LEDGER_H
#define CULL_BACKEND_CUDA_LEDGER_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As in cull_op_args. */
typedef struct cull_cuda_record_args {
    size_t              rows;
    const uint32_t     *place;
    cull_tensor         loss;
    const uint8_t      *unseen;
    cull_ledger         ledger;
    uint64_t            epoch;
    const uint64_t     *now;
    const cull_trouble *trouble;
} cull_cuda_record_args;

typedef struct cull_cuda_recall_args {
    size_t          rows;
    const uint32_t *place;
    cull_ledger     ledger;
    uint64_t        epoch;
    const uint64_t *now;
    double         *loss;
    uint8_t        *unseen;
} cull_cuda_recall_args;

cudaError_t cull_cuda_record_run(cudaStream_t stream, const cull_cuda_record_args *args);
cudaError_t cull_cuda_recall_run(cudaStream_t stream, const cull_cuda_recall_args *args);

#ifdef __cplusplus
}
#endif

#endif
