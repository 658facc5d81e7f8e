/* backend/cuda/rows.cuh - reading rows of signals, whatever their type, as doubles. */
#ifndef CULL_BACKEND_CUDA_ROWS_CUH
#define CULL_BACKEND_CUDA_ROWS_CUH

#include "backend/cuda/device.cuh"
#include "backend/cuda/rows.h"

static __device__ __forceinline__ double cull_rows_at(const cull_cuda_rows &rows, size_t row,
                                                      size_t column)
{
    size_t i = row * rows.ld + column;

    if (rows.dtype == CULL_F32) return cull_load(static_cast<const float *>(rows.data), i);
    if (rows.dtype == CULL_F64) return cull_load(static_cast<const double *>(rows.data), i);
    return cull_load(static_cast<const cull_bf16 *>(rows.data), i);
}

/* The same, where column `width` is the bias's 1. */
static __device__ __forceinline__ double cull_rows_or_one(const cull_cuda_rows &rows, size_t row,
                                                          size_t column)
{
    return column < rows.width ? cull_rows_at(rows, row, column) : 1;
}

#endif
