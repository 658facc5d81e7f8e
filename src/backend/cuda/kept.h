/* backend/cuda/kept.h - what is kept of losses, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_KEPT_H
#define CULL_BACKEND_CUDA_KEPT_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As the arguments of the operation. */
typedef struct cull_cuda_kept_rows {
    uint32_t             rows, classes, target_bytes;
    bool                 constants;
    const uint32_t      *index;
    const double        *chosen;
    const void          *from_p;
    const double        *from_loss;
    const unsigned char *from_target;
    const uint32_t      *from_place;
    void                *p, *gradient;
    double              *loss, *share;
    unsigned char       *target;
    uint32_t            *place;
} cull_cuda_kept_rows;

cudaError_t cull_cuda_keep_rows(cudaStream_t stream, const cull_cuda_kept_rows *kept,
                                cull_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
