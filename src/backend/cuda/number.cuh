/* backend/cuda/number.cuh - elements of vectors as doubles; doubles as integers of their order. */
#ifndef CULL_BACKEND_CUDA_NUMBER_CUH
#define CULL_BACKEND_CUDA_NUMBER_CUH

#include "backend/cuda/device.cuh"
#include "base/exact.h"

template <typename T> static __device__ __forceinline__ double cull_number(T x)
{
    return static_cast<double>(x);
}
static __device__ __forceinline__ double cull_number(cull_bf16 x)
{
    return static_cast<double>(cull_widen(x));
}

/* Element i of a vector; any dtype. */
static __device__ __forceinline__ double cull_number_at(const cull_tensor &t, size_t i)
{
    i *= static_cast<size_t>(t.stride[0]);
    switch (t.dtype) {
    case CULL_F32: return cull_number(static_cast<const float *>(t.data)[i]);
    case CULL_F64: return static_cast<const double *>(t.data)[i];
    case CULL_I32: return cull_number(static_cast<const int32_t *>(t.data)[i]);
    case CULL_I64: return cull_number(static_cast<const int64_t *>(t.data)[i]);
    case CULL_U8: return cull_number(static_cast<const uint8_t *>(t.data)[i]);
    case CULL_BF16: return cull_number(static_cast<const cull_bf16 *>(t.data)[i]);
    }
    return 0;
}

/* The sign bit flipped for x >= 0, all bits for x < 0; both zeros are one. */
static __device__ __forceinline__ uint64_t cull_number_image(double x)
{
    uint64_t bits = cull_exact_bits(x + 0.0);

    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Which of all threads this is, and how many there are. */
static __device__ __forceinline__ size_t cull_cuda_thread()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ size_t cull_cuda_threads()
{
    return static_cast<size_t>(gridDim.x) * blockDim.x;
}

#endif
