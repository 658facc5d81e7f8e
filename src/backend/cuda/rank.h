/* backend/cuda/rank.h - launchers of rank.cu. */
#ifndef CULL_BACKEND_CUDA_RANK_H
#define CULL_BACKEND_CUDA_RANK_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Up to so many rows are compared pair by pair. */
enum { CULL_CUDA_RANK_PAIRS = 8192 };

cudaError_t cull_cuda_rank_pairs(cudaStream_t stream, const double *x, size_t rows,
                                 double *percentile);
/* image: [rows] */
cudaError_t cull_cuda_rank_sorted(cudaStream_t stream, const double *x, size_t rows,
                                  uint64_t *image, double *percentile);

#ifdef __cplusplus
}
#endif

#endif
