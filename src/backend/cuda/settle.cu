/*
 * backend/cuda/settle.cu - settle: a subset's rows in order (by group, then row, then place), with
 * their places.
 *
 * Most rules hand in what is in order already: that is looked at first. If it is not, one block
 * sorts up to some thousands of entries; of more, the launches that sort find out that they need
 * not.
 */
#include "backend/cuda/device.cuh"
#include "backend/cuda/settle.h"
#include "backend/cuda/sort.cuh"

namespace {

constexpr unsigned BLOCK = 1024;

struct entries {
    enum { BYTES = sizeof(double) + 3 * sizeof(uint32_t) };
    double         *weight;
    uint32_t       *index, *place, *group;
    const unsigned *unsorted;

    __device__ bool    wanted() const { return *unsorted != 0; }
    __device__ entries within(char *room, unsigned most) const
    {
        double   *numbers = reinterpret_cast<double *>(room);
        uint32_t *words = reinterpret_cast<uint32_t *>(numbers + most);

        return {numbers, words, words + most, words + 2 * static_cast<size_t>(most), unsorted};
    }
    static __device__ void copy(const entries &from, size_t i, entries &to, size_t j)
    {
        to.weight[j] = from.weight[i];
        to.index[j] = from.index[i];
        to.place[j] = from.place[i];
        to.group[j] = from.group[i];
    }
    __device__ bool before(size_t i, size_t j) const
    {
        if (group[i] != group[j]) return group[i] < group[j];
        if (index[i] != index[j]) return index[i] < index[j];
        return place[i] < place[j];
    }
    template <typename T> static __device__ void swap_two(T *x, size_t i, size_t j)
    {
        T before = x[i];

        x[i] = x[j];
        x[j] = before;
    }
    __device__ void swap(size_t i, size_t j)
    {
        swap_two(weight, i, j);
        swap_two(index, i, j);
        swap_two(place, i, j);
        swap_two(group, i, j);
    }
};

/* Entry i, with all rows or those that are there; and its place. */
__device__ __forceinline__ void complete(const cull_cuda_settle_args &a, size_t i)
{
    if (a.all) {
        a.index[i] = static_cast<uint32_t>(i);
        a.weight[i] = 1;
    }
    uint32_t row = a.index[i];
    if (row < a.rows) a.place[i] = a.from ? a.from[row] : row;
}

__device__ __forceinline__ entries entries_of(const cull_cuda_settle_args &a)
{
    return {a.weight, a.index, a.place, a.group, a.unsorted};
}

static __global__ void __launch_bounds__(BLOCK) settle(cull_cuda_settle_args a, unsigned most)
{
    CULL_SHARED(char, room);
    entries  all = entries_of(a), near = all.within(room, most);
    unsigned count = static_cast<unsigned>(a.count);
    bool     unsorted = false;

    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) complete(a, i);
    __syncthreads();
    for (unsigned i = threadIdx.x; i + 1 < count; i += blockDim.x)
        unsorted = unsorted || all.before(i + 1, i);
    if (!__syncthreads_or(unsorted)) return;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) entries::copy(all, i, near, i);
    __syncthreads();
    cull_sort_within(near, count, most);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) entries::copy(near, i, all, i);
}

static __global__ void __launch_bounds__(BLOCK) complete_all(cull_cuda_settle_args a)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i == 0) *a.unsorted = 0;
    if (i < a.count) complete(a, i);
}

static __global__ void __launch_bounds__(BLOCK) look(cull_cuda_settle_args a)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i + 1 < a.count && entries_of(a).before(i + 1, i)) atomicOr(a.unsorted, 1u);
}

size_t room_for(size_t count)
{
    size_t most = 2;

    while (most < count) most *= 2;
    return most;
}

} // namespace

size_t cull_cuda_settle_shared(size_t count)
{
    return room_for(count) * entries::BYTES;
}

cudaError_t cull_cuda_settle_ready(size_t alone)
{
    return cudaFuncSetAttribute(settle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(cull_cuda_settle_shared(alone)));
}

cudaError_t cull_cuda_settle_alone(cudaStream_t stream, const cull_cuda_settle_args *args)
{
    unsigned block = cull_cuda_blocks(args->count, CULL_WARP) * CULL_WARP;

    return CULL_LAUNCH(settle, 1, block < BLOCK ? block : BLOCK,
                       cull_cuda_settle_shared(args->count), stream, *args,
                       static_cast<unsigned>(room_for(args->count)));
}

cudaError_t cull_cuda_settle_many(cudaStream_t stream, const cull_cuda_settle_args *args)
{
    unsigned    blocks = cull_cuda_blocks(args->count, BLOCK);
    cudaError_t error = CULL_LAUNCH(complete_all, blocks, BLOCK, 0, stream, *args);

    if (error == cudaSuccess) error = CULL_LAUNCH(look, blocks, BLOCK, 0, stream, *args);
    if (error != cudaSuccess) return error;
    return cull_sort(stream,
                     entries{args->weight, args->index, args->place, args->group, args->unsorted},
                     args->count);
}
