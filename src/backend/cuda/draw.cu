/*
 * backend/cuda/draw.cu - keys, top and draw: exponential keys, the m first of rows in some order,
 * and both at once.
 *
 * Rows become integers of their order (number.cuh), counted from the least of them. Digit by digit
 * the m-th in order is narrowed down: a histogram of the rows that share the digits found so far
 * says which value the next digit has, until all that share them are wanted. Then what comes before
 * it is kept, and as many equals as fit, the lower rows first.
 *
 * One block does it in its shared memory; of more rows many blocks have a part each, and meet.
 */
#include "backend/cuda/draw.h"
#include "backend/cuda/number.cuh"
#include "base/philox.h"

namespace {

constexpr unsigned BLOCK = CULL_CUDA_CHOICE_BLOCK, WARPS = BLOCK / CULL_WARP, KEYS_BLOCK = 256;
constexpr unsigned VALUES = CULL_CUDA_CHOICE_VALUES, LANE_VALUES = VALUES / CULL_WARP;
constexpr int      DIGIT = CULL_CUDA_CHOICE_DIGIT;

/* What the threads of a block share. */
struct shared {
    uint64_t most[WARPS], least[WARPS];
    uint64_t found, mask;   /* the digits that are known, and where they are  */
    unsigned wanted;        /* of the rows that share them                    */
    bool     all;           /* every one of these is wanted                   */
    unsigned sums[2][WARPS]; /* of tiles in turn                              */
    unsigned histogram[VALUES];
};

__device__ __forceinline__ double key_of(const cull_cuda_keys_args &args, size_t row)
{
    uint64_t place = args.place ? args.place[row] : row, step = args.now ? *args.now : args.step;
    double   weight = args.weight ? args.weight[row] : 1;

    if (!(weight > 0)) return cull_exact_double(CULL_EXACT_INFINITY);
    return -cull_exact_log_plain(cull_philox_uniform(args.key, step, place), 0) / weight;
}

static __global__ void __launch_bounds__(KEYS_BLOCK)
    make_keys(cull_cuda_keys_args args, size_t rows, double *out)
{
    size_t i = cull_cuda_thread();

    if (i < rows) out[i] = key_of(args, i);
}

__device__ __forceinline__ uint64_t image_of(const cull_cuda_choice &choice, size_t row)
{
    if (!choice.x) return cull_number_image(key_of(choice.keys, row));
    return cull_number_image(choice.x[row]) ^ (choice.largest ? UINT64_MAX : 0);
}

__device__ __forceinline__ uint64_t largest_of_warp(uint64_t x)
{
    for (int step = CULL_WARP / 2; step > 0; step /= 2) {
        uint64_t other = __shfl_xor_sync(CULL_ALL_LANES, x, step);
        x = x > other ? x : other;
    }
    return x;
}

__device__ __forceinline__ unsigned sum_of_warp(unsigned x)
{
    for (int step = CULL_WARP / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(CULL_ALL_LANES, x, step);
    return x;
}

/* The images of rows first .. last-1, and the ends of all images. */
template <bool together>
__device__ void take(const cull_cuda_choice &choice, shared &s, uint64_t *image, size_t first,
                     size_t last, uint64_t *least, uint64_t *most)
{
    unsigned lane = threadIdx.x % CULL_WARP, warp = threadIdx.x / CULL_WARP;
    bool     there = lane < blockDim.x / CULL_WARP;
    uint64_t high = 0, low = 0; /* low: from the other end */

    for (size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
        uint64_t x = image_of(choice, i);

        image[i] = x;
        high = x > high ? x : high;
        low = ~x > low ? ~x : low;
    }
    high = largest_of_warp(high);
    low = largest_of_warp(low);
    if (lane == 0) s.most[warp] = high, s.least[warp] = low;
    __syncthreads();
    high = largest_of_warp(there ? s.most[lane] : 0);
    low = largest_of_warp(there ? s.least[lane] : 0);
    if (together) {
        if (threadIdx.x == 0) {
            atomicMax(&choice.room->most, static_cast<unsigned long long>(high));
            atomicMax(&choice.room->least, static_cast<unsigned long long>(low));
        }
        cull_cuda_meet();
        high = choice.room->most;
        low = choice.room->least;
    }
    *most = high;
    *least = ~low;
}

/* One warp: which value the next digit has, and what is wanted of the rows that have it. */
__device__ void find_digit(shared &s, unsigned *histogram, int shift)
{
    unsigned lane = threadIdx.x, own[LANE_VALUES], sum = 0, before, wanted = s.wanted, value = 0;

    for (unsigned v = 0; v < LANE_VALUES; v++) {
        own[v] = histogram[lane * LANE_VALUES + v];
        sum += own[v];
    }
    before = sum;
    for (unsigned step = 1; step < CULL_WARP; step *= 2) {
        unsigned left = __shfl_up_sync(CULL_ALL_LANES, before, step);
        if (lane >= step) before += left;
    }
    before -= sum;
    __syncwarp();
    if (before >= wanted || before + sum < wanted) return;
    sum = own[0];
#pragma unroll
    for (unsigned v = 0; v + 1 < LANE_VALUES; v++)
        if (value == v && before + sum < wanted) {
            before += sum;
            sum = own[v + 1];
            value = v + 1;
        }
    s.wanted = wanted - before;
    s.all = sum == wanted - before;
    s.found |= static_cast<uint64_t>(lane * LANE_VALUES + value) << shift;
    s.mask |= UINT64_MAX << shift;
    if (s.all) s.found |= ~s.mask;
}

/* s.found: what the m first, counted from `least`, do not exceed; s.wanted of those equal to it. */
template <bool together>
__device__ void narrow(const cull_cuda_choice &choice, shared &s, const uint64_t *image,
                       size_t first, size_t last, uint64_t least, uint64_t range)
{
    int shift = range >> DIGIT ? 64 - __clzll(static_cast<long long>(range)) - DIGIT : 0;

    for (int pass = 0;; pass++) {
        uint64_t  found = s.found, mask = s.mask;
        unsigned *histogram = s.histogram;

        for (size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
            uint64_t x = image[i] - least;
            if ((x & mask) == found)
                atomicAdd(&s.histogram[x >> shift & (VALUES - 1)], 1u);
        }
        __syncthreads();
        if (together) {
            histogram = choice.room->histogram[pass];
            for (unsigned v = threadIdx.x; v < VALUES; v += blockDim.x)
                if (s.histogram[v]) atomicAdd(&histogram[v], s.histogram[v]);
            cull_cuda_meet();
        }
        if (threadIdx.x < CULL_WARP) find_digit(s, histogram, shift);
        __syncthreads();
        for (unsigned v = threadIdx.x; v < VALUES; v += blockDim.x) s.histogram[v] = 0;
        if (s.all || shift == 0) return;
        shift = shift > DIGIT ? shift - DIGIT : 0;
        __syncthreads();
    }
}

/* How many before this thread's row, in this block's part, are below what was found (lower half)
 * and equal to it (upper half); and the same of the whole tile. */
__device__ __forceinline__ unsigned count_before(shared &s, unsigned tile, bool below, bool equal,
                                                 unsigned *all)
{
    unsigned lane = threadIdx.x % CULL_WARP, warp = threadIdx.x / CULL_WARP;
    unsigned lower = (1u << lane) - 1, *sums = s.sums[tile % 2];
    unsigned votes = __ballot_sync(CULL_ALL_LANES, below);
    unsigned draws = __ballot_sync(CULL_ALL_LANES, equal);
    unsigned before = static_cast<unsigned>(__popc(votes & lower)) +
                      (static_cast<unsigned>(__popc(draws & lower)) << 16);
    unsigned sum = 0, total;

    if (lane == 0)
        sums[warp] = static_cast<unsigned>(__popc(votes)) +
                     (static_cast<unsigned>(__popc(draws)) << 16);
    __syncthreads();
    total = lane < blockDim.x / CULL_WARP ? sums[lane] : 0;
    sum = sum_of_warp(lane < warp ? total : 0);
    *all = sum_of_warp(total);
    return before + sum;
}

/* Of the parts of the blocks before this one: how many are below, and how many equal. */
__device__ void count_parts(const cull_cuda_choice &choice, shared &s, const uint64_t *image,
                            size_t first, size_t last, uint64_t least, unsigned *below,
                            unsigned *equal)
{
    unsigned *sums = s.histogram; /* zeros by now */
    unsigned  own[2] = {0, 0};

    for (size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
        own[0] += image[i] - least < s.found;
        own[1] += image[i] - least == s.found;
    }
    for (unsigned k = 0; k < 2; k++) {
        own[k] = sum_of_warp(own[k]);
        if (threadIdx.x % CULL_WARP == 0) atomicAdd(&sums[k], own[k]);
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        choice.room->part[threadIdx.x][blockIdx.x] = sums[threadIdx.x];
        sums[threadIdx.x] = 0;
    }
    cull_cuda_meet();
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += blockDim.x)
        for (unsigned k = 0; k < 2; k++) atomicAdd(&sums[k], choice.room->part[k][b]);
    __syncthreads();
    *below = sums[0];
    *equal = sums[1];
}

template <bool together>
static __global__ void __launch_bounds__(BLOCK) choose(cull_cuda_choice choice)
{
    CULL_SHARED(shared, room);
    shared  &s = *room;
    size_t   part = together ? (choice.rows + gridDim.x - 1) / gridDim.x : choice.rows;
    size_t   first = together ? blockIdx.x * part : 0;
    size_t   last = first + part < choice.rows ? first + part : choice.rows;
    uint64_t least, most, *image = together ? choice.image
                                                 : reinterpret_cast<uint64_t *>(room + 1);
    unsigned below = 0, equal = 0, wanted, all;

    for (unsigned v = threadIdx.x; v < VALUES; v += blockDim.x) s.histogram[v] = 0;
    if (threadIdx.x == 0) {
        s.found = s.mask = 0;
        s.wanted = static_cast<unsigned>(choice.m);
    }
    take<together>(choice, s, image, first, last, &least, &most);
    narrow<together>(choice, s, image, first, last, least, most - least);
    wanted = s.wanted;
    __syncthreads();
    if (together) count_parts(choice, s, image, first, last, least, &below, &equal);

    for (unsigned tile = 0; first + static_cast<size_t>(tile) * blockDim.x < last; tile++) {
        size_t   i = first + static_cast<size_t>(tile) * blockDim.x + threadIdx.x;
        uint64_t x = i < last ? image[i] - least : UINT64_MAX;
        bool     is_below = i < last && x < s.found, is_equal = i < last && x == s.found;
        unsigned before = count_before(s, tile, is_below, is_equal, &all);
        unsigned equals = equal + (before >> 16);

        if (is_below || (is_equal && equals < wanted))
            choice.index[below + (before & 0xffffu) + (equals < wanted ? equals : wanted)] =
                static_cast<uint32_t>(i);
        below += all & 0xffffu;
        equal += all >> 16;
    }
}

} // namespace

size_t cull_cuda_choice_shared(size_t rows)
{
    return sizeof(shared) + rows * sizeof(uint64_t);
}

cudaError_t cull_cuda_keys_run(cudaStream_t stream, const cull_cuda_keys_args *args, size_t rows,
                               double *out)
{
    return CULL_LAUNCH(make_keys, cull_cuda_blocks(rows, KEYS_BLOCK), KEYS_BLOCK, 0, stream, *args,
                       rows, out);
}

cudaError_t cull_cuda_choice_ready(size_t alone, int *blocks)
{
    cudaError_t error =
        cudaFuncSetAttribute(choose<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(cull_cuda_choice_shared(alone)));

    if (error != cudaSuccess) return error;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, choose<true>, BLOCK,
                                                         cull_cuda_choice_shared(0));
}

cudaError_t cull_cuda_choice_alone(cudaStream_t stream, const cull_cuda_choice *choice)
{
    unsigned block = cull_cuda_blocks(choice->rows, CULL_WARP) * CULL_WARP;

    return CULL_LAUNCH(choose<false>, 1, block < BLOCK ? block : BLOCK,
                       cull_cuda_choice_shared(choice->rows), stream, *choice);
}

cudaError_t cull_cuda_choice_together(cudaStream_t stream, const cull_cuda_choice *choice,
                                      unsigned blocks)
{
    cudaError_t error = cudaMemsetAsync(choice->room, 0, sizeof *choice->room, stream);

    if (error != cudaSuccess) return error;
    return cull_cuda_launch_together(choose<true>, blocks, BLOCK, cull_cuda_choice_shared(0),
                                     stream, *choice);
}
