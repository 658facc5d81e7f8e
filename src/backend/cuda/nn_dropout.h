/* backend/cuda/nn_dropout.h - dropout, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_NN_DROPOUT_H
#define CULL_BACKEND_CUDA_NN_DROPOUT_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cull_cuda_dropping {
    size_t             rows;
    uint32_t           channels, area, block; /* memory is (rows, channels/block, area, block) */
    uint64_t           threshold;             /* words below it drop       */
    double             scale;                 /* of what stays             */
    cull_key           key;
    uint64_t           step;
    const cull_moment *now;   /* its step in place of that one; or NULL */
    const uint32_t    *place; /* [rows]; NULL: 0 .. rows-1              */
    const void        *in;
    void              *out;
    bool               accumulate;
} cull_cuda_dropping;

cudaError_t cull_cuda_drop(cudaStream_t stream, const cull_cuda_dropping *d, cull_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
