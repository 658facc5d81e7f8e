/* backend/cuda/settle.h - launchers of settle.cu. */
#ifndef CULL_BACKEND_CUDA_SETTLE_H
#define CULL_BACKEND_CUDA_SETTLE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CULL_CUDA_SETTLE_ALONE = 8192 }; /* most entries that one block does */

typedef struct cull_cuda_settle_args {
    size_t          count, rows;
    bool            all;
    const uint32_t *from;
    uint32_t       *index, *place, *group;
    double         *weight;
    unsigned       *unsorted; /* more than one block: are they out of order? */
} cull_cuda_settle_args;

/* Once before any other: up to so many entries in one block. */
cudaError_t cull_cuda_settle_ready(size_t alone);
size_t      cull_cuda_settle_shared(size_t count); /* bytes that they need */
cudaError_t cull_cuda_settle_alone(cudaStream_t stream, const cull_cuda_settle_args *args);
cudaError_t cull_cuda_settle_many(cudaStream_t stream, const cull_cuda_settle_args *args);

#ifdef __cplusplus
}
#endif

#endif
