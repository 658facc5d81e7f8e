/*
 * backend/cuda/rank.cu - percentile_i = (#smaller + 1/2 #equal) / n.
 *
 * Few rows are compared pair by pair: a warp has some rows, its lanes share out the others. Of
 * many, their images (number.cuh) are sorted, and each row is looked up twice: where those equal to
 * it begin and end.
 */
#include "backend/cuda/number.cuh"
#include "backend/cuda/rank.h"
#include "backend/cuda/sort.cuh"

namespace {

enum { ROWS = 4, BLOCK = 256, ROWS_OF_BLOCK = ROWS * BLOCK / CULL_WARP };

/* Both counts go into one word, the equal ones above. */
enum { EQUAL = 16 };
static_assert(CULL_CUDA_RANK_PAIRS < 1 << (EQUAL - 1), "counts have 16 bits");

__device__ __forceinline__ double percentile_of(size_t smaller, size_t equal, size_t rows)
{
    return (static_cast<double>(smaller) + 0.5 * static_cast<double>(equal)) /
           static_cast<double>(rows);
}

static __global__ void __launch_bounds__(BLOCK)
    compare_pairs(const double *x, unsigned rows, double *percentile)
{
    unsigned lane = threadIdx.x % CULL_WARP;
    unsigned first = blockIdx.x * ROWS_OF_BLOCK + threadIdx.x / CULL_WARP * ROWS;
    unsigned count[ROWS], mine = 0;
    double   own[ROWS];

    for (unsigned r = 0; r < ROWS; r++) {
        count[r] = 0;
        own[r] = x[first + r < rows ? first + r : rows - 1];
    }
#pragma unroll 4
    for (unsigned j = lane; j < rows; j += CULL_WARP) {
        double other = x[j];

        for (unsigned r = 0; r < ROWS; r++)
            count[r] += (other < own[r] ? 1u : 0u) + (other == own[r] ? 1u << EQUAL : 0u);
    }
    for (unsigned r = 0; r < ROWS; r++) {
        for (int step = CULL_WARP / 2; step > 0; step /= 2)
            count[r] += __shfl_xor_sync(CULL_ALL_LANES, count[r], step);
        if (lane == r) mine = count[r];
    }
    if (lane < ROWS && first + lane < rows)
        percentile[first + lane] =
            percentile_of(mine & ((1u << EQUAL) - 1), mine >> EQUAL, rows);
}

/* Images, as what is sorted. */
struct images {
    enum { BYTES = sizeof(uint64_t) };
    uint64_t *at;

    __device__ bool   wanted() const { return true; }
    __device__ images within(char *room, unsigned) const
    {
        return {reinterpret_cast<uint64_t *>(room)};
    }
    static __device__ void copy(const images &from, size_t i, images &to, size_t j)
    {
        to.at[j] = from.at[i];
    }
    __device__ bool before(size_t i, size_t j) const { return at[i] < at[j]; }
    __device__ void swap(size_t i, size_t j)
    {
        uint64_t x = at[i];

        at[i] = at[j];
        at[j] = x;
    }
};

static __global__ void __launch_bounds__(BLOCK)
    take_images(const double *x, size_t rows, uint64_t *image)
{
    size_t i = cull_cuda_thread();

    if (i < rows) image[i] = cull_number_image(x[i]);
}

/* How many of the sorted are below x; with `equal` those that are x too. */
__device__ __forceinline__ size_t below(const uint64_t *sorted, size_t rows, uint64_t x, bool equal)
{
    size_t low = 0, high = rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sorted[middle] < x || (equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void __launch_bounds__(BLOCK)
    look_up(const double *x, size_t rows, const uint64_t *sorted, double *percentile)
{
    size_t i = cull_cuda_thread();

    if (i >= rows) return;
    uint64_t image = cull_number_image(x[i]);
    size_t   smaller = below(sorted, rows, image, false);

    percentile[i] = percentile_of(smaller, below(sorted, rows, image, true) - smaller, rows);
}

} // namespace

cudaError_t cull_cuda_rank_pairs(cudaStream_t stream, const double *x, size_t rows,
                                 double *percentile)
{
    return CULL_LAUNCH(compare_pairs, cull_cuda_blocks(rows, ROWS_OF_BLOCK), BLOCK, 0, stream, x,
                       static_cast<unsigned>(rows), percentile);
}

cudaError_t cull_cuda_rank_sorted(cudaStream_t stream, const double *x, size_t rows,
                                  uint64_t *image, double *percentile)
{
    unsigned    blocks = cull_cuda_blocks(rows, BLOCK);
    cudaError_t error = CULL_LAUNCH(take_images, blocks, BLOCK, 0, stream, x, rows, image);

    if (error == cudaSuccess) error = cull_sort(stream, images{image}, rows);
    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(look_up, blocks, BLOCK, 0, stream, x, rows, image, percentile);
}
