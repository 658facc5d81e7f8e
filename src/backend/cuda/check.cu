/*
 * backend/cuda/check.cu - check: the first place outside of the pool, or else the first row with a
 * number out of bounds, becomes the error word.
 *
 * Each thread keeps the lowest row that it finds; the blocks put theirs together, and the last one
 * writes. A row with a wrong place counts before all numbers.
 */
#include "backend/cuda/check.h"
#include "backend/cuda/number.cuh"

namespace {

constexpr unsigned BLOCK = 256, NUMBERS = 8 /* of a thread, about */, BLOCKS_OF_PROCESSOR = 4;

/* Behind all places and rows; and what is added to rows whose numbers are wrong. */
#define NOTHING UINT64_MAX
#define NUMBER  (UINT64_C(1) << 32)

template <typename T> __device__ __forceinline__ bool is_outside(const cull_cuda_check_args &a, T x)
{
    double y = cull_number(x);

    return !(y >= a.low && y <= a.high);
}

/* Divisions of 64 bits take long. */
__device__ __forceinline__ size_t row_of(size_t i, size_t columns)
{
    if (i >> 32 || columns >> 32) return i / columns;
    return static_cast<uint32_t>(i) / static_cast<uint32_t>(columns);
}

template <typename T> __device__ uint64_t first_wrong(const cull_cuda_check_args &a)
{
    const T *x = static_cast<const T *>(a.x.data);
    size_t   columns = a.x.dims == 2 ? static_cast<size_t>(a.x.shape[1]) : 1;
    size_t   stride = static_cast<size_t>(a.x.stride[0]), count = x ? a.rows * columns : 0;
    uint64_t first = NOTHING;

    for (size_t i = cull_cuda_thread(); a.pool && a.place && i < a.rows; i += cull_cuda_threads())
        if (a.place[i] >= a.pool && i < first) first = i;
    if (stride == columns) { /* which row it is matters only where something is wrong */
#pragma unroll 4
        for (size_t i = cull_cuda_thread(); i < count; i += cull_cuda_threads()) {
            if (!is_outside(a, x[i])) continue;
            size_t row = row_of(i, columns);
            if (!(a.unseen && a.unseen[row]) && row + NUMBER < first) first = row + NUMBER;
        }
        return first;
    }
    for (size_t i = cull_cuda_thread(); i < count; i += cull_cuda_threads()) {
        size_t row = row_of(i, columns);
        if (!is_outside(a, x[row * stride + (i - row * columns)])) continue;
        if (!(a.unseen && a.unseen[row]) && row + NUMBER < first) first = row + NUMBER;
    }
    return first;
}

/* The first number of a row that is out of bounds. */
__device__ double found_in(const cull_cuda_check_args &a, size_t row)
{
    cull_tensor line = a.x;
    size_t      columns = a.x.dims == 2 ? static_cast<size_t>(a.x.shape[1]) : 1;

    line.stride[0] = 1;
    for (size_t j = 0; j < columns; j++) {
        double x = cull_number_at(line, row * static_cast<size_t>(a.x.stride[0]) + j);
        if (is_outside(a, x)) return x;
    }
    return 0;
}

__device__ void tell(const cull_cuda_check_args &a, uint64_t first)
{
    cull_trouble *t = a.trouble;
    size_t        row = first % NUMBER;

    if (first == NOTHING || t->what != CULL_WRONG_NOTHING) return;
    t->which = first < NUMBER ? uint64_t{CULL_TROUBLE_PLACE} : a.which;
    t->row = row;
    t->place = a.place ? a.place[row] : row;
    t->step = a.now ? a.now->step : 0;
    t->epoch = a.now ? a.now->epoch : 0;
    t->found = first < NUMBER || a.finite ? 0 : found_in(a, row);
    t->most = a.high;
    t->what = CULL_WRONG_SIGNAL;
}

template <typename T>
static __global__ void __launch_bounds__(BLOCK) check(cull_cuda_check_args a)
{
    __shared__ unsigned long long from_end;
    unsigned long long            mine = ~first_wrong<T>(a);

    if (threadIdx.x == 0) from_end = 0;
    if (!__syncthreads_or(mine != 0)) {
        if (gridDim.x == 1) return;
    } else if (mine) {
        atomicMax(&from_end, mine);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (gridDim.x > 1) {
        if (from_end) atomicMax(&a.room->least, from_end);
        __threadfence();
        if (atomicAdd(&a.room->done, 1u) != gridDim.x - 1) return;
        __threadfence();
        from_end = atomicExch(&a.room->least, 0ull);
        a.room->done = 0;
    }
    tell(a, ~static_cast<uint64_t>(from_end));
}

template <typename T>
cudaError_t launch(cudaStream_t stream, const cull_cuda_check_args &a, int processors)
{
    size_t   columns = !a.x.data ? 0 : a.x.dims == 2 ? static_cast<size_t>(a.x.shape[1]) : 1;
    size_t   count = a.rows * (columns ? columns : 1);
    unsigned blocks = cull_cuda_blocks(count, BLOCK * NUMBERS);
    unsigned most = static_cast<unsigned>(processors) * BLOCKS_OF_PROCESSOR;

    return CULL_LAUNCH(check<T>, blocks < most ? blocks : most, BLOCK, 0, stream, a);
}

} // namespace

cudaError_t cull_cuda_check_run(cudaStream_t stream, const cull_cuda_check_args *args,
                                int processors)
{
    switch (args->x.data ? args->x.dtype : CULL_F32) {
    case CULL_F32: return launch<float>(stream, *args, processors);
    case CULL_F64: return launch<double>(stream, *args, processors);
    case CULL_I32: return launch<int32_t>(stream, *args, processors);
    case CULL_I64: return launch<int64_t>(stream, *args, processors);
    case CULL_U8: return launch<uint8_t>(stream, *args, processors);
    case CULL_BF16: return launch<cull_bf16>(stream, *args, processors);
    }
    return cudaErrorInvalidValue;
}
