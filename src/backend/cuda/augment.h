/* backend/cuda/augment.h - batches from stored examples, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_AUGMENT_H
#define CULL_BACKEND_CUDA_AUGMENT_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As cull_augment_desc and cull_augment_call say it (backend/augment.h). */
typedef struct cull_cuda_batch {
    uint32_t           channels, height, width, pad, cutout;
    uint32_t           length; /* of tokens: numbers that are written of each row */
    bool               channels_last, reflect, flip, augmented, packed;
    cull_key           move, hole;
    const double      *mean, *deviation;
    size_t             count;
    const uint32_t    *places, *row;
    uint64_t           epoch;
    const cull_moment *now;
    const void        *raw, *held;
    const uint32_t    *index;
    void              *out;
} cull_cuda_batch;

cudaError_t cull_cuda_make_batch(cudaStream_t stream, const cull_cuda_batch *batch, cull_dtype from,
                                 cull_dtype to);

#ifdef __cplusplus
}
#endif
#endif
