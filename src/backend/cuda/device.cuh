/*
 * backend/cuda/device.cuh - what all kernels begin with: launching, shared memory, bfloat16.
 *
 * Under CULL_EMU the same sources are C++ for the host (tests/emu/): kernels are then functions
 * whose threads take turns at barriers. So kernels keep to what both know: barriers, warp shuffles
 * and votes with full masks, atomics, static shared arrays where blocks do not wait for each other,
 * and shared memory asked for at the launch (CULL_SHARED) wherever they do.
 */
#ifndef CULL_BACKEND_CUDA_DEVICE_CUH
#define CULL_BACKEND_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include "cull.h"

#ifndef CULL_EMU
#include <cooperative_groups.h>

/* kernel<<<grid, block, shared, stream>>>(...): what cudaGetLastError() then says. */
#define CULL_LAUNCH(kernel, grid, block, shared, stream, ...)                                      \
    (kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__), cudaGetLastError())

/* The launch's shared memory, as an array. */
#define CULL_SHARED(type, name)                                                                    \
    extern __shared__ __align__(16) unsigned char cull_cuda_shared_[];                             \
    type *name = reinterpret_cast<type *>(cull_cuda_shared_)

/* All blocks of a kernel that was launched with cull_cuda_launch_together() meet here. */
static __device__ __forceinline__ void cull_cuda_meet()
{
    cooperative_groups::this_grid().sync();
}

/* A kernel whose blocks all run at once, so that they may meet. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t cull_cuda_launch_together(void (*kernel)(Parameters...), unsigned grid,
                                                    unsigned block, size_t shared,
                                                    cudaStream_t stream, Arguments... arguments)
{
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute together = {};

    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}
#endif

enum { CULL_WARP = 32 };
#define CULL_ALL_LANES 0xffffffffu

/* So many blocks that each thread has one of `count` things to do. */
static inline unsigned cull_cuda_blocks(size_t count, unsigned block)
{
    return static_cast<unsigned>((count + block - 1) / block);
}

/* bfloat16 as two bytes: the upper half of a float, rounded to even. */
struct cull_bf16 {
    uint16_t bits;
};

#ifdef CULL_EMU
static inline float cull_widen(cull_bf16 x)
{
    uint32_t word = static_cast<uint32_t>(x.bits) << 16;
    float    y;
    __builtin_memcpy(&y, &word, sizeof y);
    return y;
}

static inline cull_bf16 cull_narrow(float x)
{
    uint32_t word;
    __builtin_memcpy(&word, &x, sizeof word);
    if ((word & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>(word >> 16 | 0x40)};
    return {static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1)) >> 16)};
}
#else
static __device__ __forceinline__ float cull_widen(cull_bf16 x)
{
    return __uint_as_float(static_cast<uint32_t>(x.bits) << 16);
}

static __device__ __forceinline__ cull_bf16 cull_narrow(float x)
{
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return {bits};
}
#endif

/* One number of any type as float or double, and back. */
static __device__ __forceinline__ float cull_load(const float *x, size_t i) { return x[i]; }
static __device__ __forceinline__ double cull_load(const double *x, size_t i) { return x[i]; }
static __device__ __forceinline__ float cull_load(const cull_bf16 *x, size_t i)
{
    return cull_widen(x[i]);
}
static __device__ __forceinline__ void cull_store(float *x, size_t i, double y)
{
    x[i] = static_cast<float>(y);
}
static __device__ __forceinline__ void cull_store(double *x, size_t i, double y) { x[i] = y; }
static __device__ __forceinline__ void cull_store(cull_bf16 *x, size_t i, double y)
{
    x[i] = cull_narrow(static_cast<float>(y));
}

#endif
