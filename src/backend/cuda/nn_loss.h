/* backend/cuda/nn_loss.h - losses of examples, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_NN_LOSS_H
#define CULL_BACKEND_CUDA_NN_LOSS_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cull_cuda_losses {
    size_t        rows, outputs;
    cull_loss     of;
    const void   *x, *target;
    const double *weight; /* [rows] or NULL: 1         */
    double        scale;  /* dx_i = scale weight_i p_i */
    double       *loss;   /* [rows]                    */
    void         *p, *dx; /* (rows, outputs), or NULL  */
} cull_cuda_losses;

cudaError_t cull_cuda_find_losses(cudaStream_t stream, const cull_cuda_losses *l, cull_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
