/* tests/emu/include/emu_kernel.h - qualifiers, places, launches, shared memory, barriers. */
#ifndef CULL_TESTS_EMU_KERNEL_H
#define CULL_TESTS_EMU_KERNEL_H

#include <stdlib.h>

#include <new>
#include <tuple>

#include "emu/emu.h"

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* Poison between blocks; one section needs kernels of internal linkage. */
#define __shared__ static __attribute__((section("emu_shared")))

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};

extern "C" {
extern uint3 threadIdx, blockIdx;
extern dim3  blockDim, gridDim;
}
static constexpr int warpSize = 32;

template <typename... P> struct emu_call {
    struct emu_kernel head;
    void (*kernel)(P...);
    std::tuple<P...> arguments;

    static void call(struct emu_kernel *head)
    {
        emu_call *own = reinterpret_cast<emu_call *>(head);

        std::apply(own->kernel, own->arguments);
    }
};

template <typename... P, typename... A>
static inline cudaError_t emu_launch_call(const char *name, bool together, void (*kernel)(P...),
                                          dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                                          A... arguments)
{
    static_assert(sizeof...(P) == sizeof...(A), "a kernel is given all its arguments");
    void          *room = malloc(sizeof(emu_call<P...>));
    emu_call<P...> fresh = {{}, kernel, std::tuple<P...>(static_cast<P>(arguments)...)};

    if (!room) return cudaErrorMemoryAllocation;
    fresh.head.name = name;
    fresh.head.function = reinterpret_cast<const void *>(kernel);
    fresh.head.call = emu_call<P...>::call;
    fresh.head.grid = {grid.x, grid.y, grid.z};
    fresh.head.block = {block.x, block.y, block.z};
    fresh.head.shared = shared;
    fresh.head.together = together;
    return emu_launch(&(new (room) emu_call<P...>(fresh))->head, stream);
}

#define CULL_LAUNCH(kernel, grid, block, shared, stream, ...)                                      \
    emu_launch_call(#kernel, false, kernel, grid, block, shared, stream, ##__VA_ARGS__)

#define CULL_SHARED(type, name) type *name = static_cast<type *>(emu_asked_shared())

static inline void cull_cuda_meet()
{
    emu_meet();
}

template <typename... P, typename... A>
static inline cudaError_t cull_cuda_launch_together(void (*kernel)(P...), unsigned grid,
                                                    unsigned block, size_t shared,
                                                    cudaStream_t stream, A... arguments)
{
    return emu_launch_call("a kernel of blocks that meet", true, kernel, grid, block, shared,
                           stream, arguments...);
}

template <typename... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute,
                                               int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

template <typename... P>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                        void (*kernel)(P...),
                                                                        int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void *>(kernel), threads, shared);
}

template <typename T> static inline cudaError_t cudaMalloc(T **out, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(out), bytes);
}

/* ---- barriers ---- */

static inline void __syncthreads()
{
    (void)emu_barrier("__syncthreads", 0);
}

static inline int __syncthreads_or(int predicate)
{
    return emu_barrier("__syncthreads_or", predicate).any;
}

static inline int __syncthreads_and(int predicate)
{
    return emu_barrier("__syncthreads_and", predicate).all;
}

static inline int __syncthreads_count(int predicate)
{
    return emu_barrier("__syncthreads_count", predicate).count;
}

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    (void)emu_exchange("__syncwarp", mask, 0);
}

static inline void __threadfence()
{
}
static inline void __threadfence_block()
{
}
static inline void __threadfence_system()
{
}

#endif
