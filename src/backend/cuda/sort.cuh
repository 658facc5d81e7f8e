/*
 * backend/cuda/sort.cuh - sorting in place: a bitonic network whose comparisons all point the same
 * way, so that any number of items may be sorted.
 *
 *     for each size 2, 4, 8, ...   each item meets the one that mirrors it within `size`,
 *                                  then the one size/4, size/8, ..., 1 behind it
 *
 * What happens among CULL_SORT_CHUNK neighbours happens in one block's shared memory.
 *
 * Items are a struct of arrays, by value:
 *
 *     BYTES                          of one item in shared memory
 *     wanted()                       false: they are in order already, nothing is done
 *     within(room, most)             the same arrays, for so many items, in shared memory
 *     copy(from, i, to, j)           item i of one becomes item j of another
 *     before(i, j)                   must item i come before item j?
 *     swap(i, j)
 */
#ifndef CULL_BACKEND_CUDA_SORT_CUH
#define CULL_BACKEND_CUDA_SORT_CUH

#include "backend/cuda/device.cuh"

enum { CULL_SORT_CHUNK = 2048, CULL_SORT_BLOCK = 1024 };

template <typename Items>
static __device__ __forceinline__ void cull_sort_meet(Items &items, size_t i, size_t j,
                                                      size_t count)
{
    if (j < count && items.before(j, i)) items.swap(i, j);
}

/* Pair number t of those that mirror each other, and of those `step` apart. */
template <typename Items>
static __device__ __forceinline__ void cull_sort_mirror(Items &items, size_t t, size_t size,
                                                        size_t count)
{
    size_t first = (t & ~(size / 2 - 1)) * 2, at = t & (size / 2 - 1);

    cull_sort_meet(items, first + at, first + size - 1 - at, count);
}

template <typename Items>
static __device__ __forceinline__ void cull_sort_apart(Items &items, size_t t, size_t step,
                                                       size_t count)
{
    size_t i = (t & ~(step - 1)) * 2 + (t & (step - 1));

    cull_sort_meet(items, i, i + step, count);
}

/* `count` items, at most so many as the power of two `most`; by a whole block. */
template <typename Items>
static __device__ void cull_sort_within(Items items, unsigned count, unsigned most)
{
    for (unsigned size = 2; size <= most; size *= 2) {
        for (unsigned t = threadIdx.x; t < most / 2; t += blockDim.x)
            cull_sort_mirror(items, t, size, count);
        __syncthreads();
        for (unsigned step = size / 4; step > 0; step /= 2) {
            for (unsigned t = threadIdx.x; t < most / 2; t += blockDim.x)
                cull_sort_apart(items, t, step, count);
            __syncthreads();
        }
    }
}

/* One chunk a block: sorted, or only what is left to do for a larger size. */
template <typename Items>
static __global__ void __launch_bounds__(CULL_SORT_BLOCK)
    cull_sort_chunks(Items items, size_t count, bool sorts)
{
    CULL_SHARED(char, room);
    size_t   first = static_cast<size_t>(blockIdx.x) * CULL_SORT_CHUNK;
    unsigned here = static_cast<unsigned>(count - first < CULL_SORT_CHUNK ? count - first
                                                                          : CULL_SORT_CHUNK);
    Items    near = items.within(room, CULL_SORT_CHUNK);

    if (!items.wanted()) return;
    for (unsigned i = threadIdx.x; i < here; i += blockDim.x)
        Items::copy(items, first + i, near, i);
    __syncthreads();
    if (sorts) cull_sort_within(near, here, CULL_SORT_CHUNK);
    for (unsigned step = sorts ? 0 : CULL_SORT_CHUNK / 2; step > 0; step /= 2) {
        for (unsigned t = threadIdx.x; t < CULL_SORT_CHUNK / 2; t += blockDim.x)
            cull_sort_apart(near, t, step, here);
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < here; i += blockDim.x)
        Items::copy(near, i, items, first + i);
}

/* One comparison a thread, of items that mirror each other within `size` or are `step` apart. */
template <typename Items>
static __global__ void __launch_bounds__(CULL_SORT_BLOCK)
    cull_sort_far(Items items, size_t count, size_t size, size_t step)
{
    size_t t = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (!items.wanted()) return;
    if (size)
        cull_sort_mirror(items, t, size, count);
    else
        cull_sort_apart(items, t, step, count);
}

/* Any number of items, in (log2 n - 11)^2 / 2 launches. */
template <typename Items>
static cudaError_t cull_sort(cudaStream_t stream, Items items, size_t count)
{
    unsigned    chunks = cull_cuda_blocks(count, CULL_SORT_CHUNK), bytes = Items::BYTES;
    cudaError_t error = CULL_LAUNCH(cull_sort_chunks<Items>, chunks, CULL_SORT_BLOCK,
                                    CULL_SORT_CHUNK * bytes, stream, items, count, true);

    for (size_t size = 2 * CULL_SORT_CHUNK; size / 2 < count && error == cudaSuccess; size *= 2) {
        size_t mirrored = (count + size - 1) / size * (size / 2); /* pairs, some of nothing */

        error = CULL_LAUNCH(cull_sort_far<Items>, cull_cuda_blocks(mirrored, CULL_SORT_BLOCK),
                            CULL_SORT_BLOCK, 0, stream, items, count, size, size_t{0});
        for (size_t step = size / 4; step >= CULL_SORT_CHUNK && error == cudaSuccess; step /= 2)
            error = CULL_LAUNCH(cull_sort_far<Items>, chunks, CULL_SORT_BLOCK, 0, stream, items,
                                count, size_t{0}, step);
        if (error != cudaSuccess) break;
        error = CULL_LAUNCH(cull_sort_chunks<Items>, chunks, CULL_SORT_BLOCK,
                            CULL_SORT_CHUNK * bytes, stream, items, count, false);
    }
    return error;
}

#endif
