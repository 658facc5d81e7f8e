/*
 * backend/cuda/gradient_cancel.cu - sums of gradients of which only rounding is left, as
 * backend/cancel.c tells them: the largest entry of b against the sum of the gradients' lengths.
 */
#include "backend/cuda/block.cuh"
#include "backend/cuda/gradient.h"
#include "backend/cuda/rows.cuh"

namespace {

enum { BLOCK = 256, SPARE = 32 };
#define NONE 9007199254740992.0 /* no row has that number */

__device__ double square(const cull_cuda_rows &rows, size_t row)
{
    double sum = 0;

    for (uint32_t j = threadIdx.x % CULL_WARP; j < rows.width; j += CULL_WARP) {
        double x = cull_rows_at(rows, row, j);
        sum += x * x;
    }
    for (int step = CULL_WARP / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(CULL_ALL_LANES, sum, step);
    return sum;
}

/* A warp has a row; blocks are whole, so that all of its lanes are there. */
__global__ void __launch_bounds__(BLOCK)
    measure(cull_cuda_rows h, cull_cuda_rows p, const uint32_t *row, size_t rows, double *length)
{
    size_t i = (static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x) / CULL_WARP;
    size_t at = i < rows ? i : rows - 1, from = row ? row[at] : at;
    double x = sqrt(square(p, from)) * sqrt(square(h, from) + 1);

    if (i < rows && threadIdx.x % CULL_WARP == 0) length[i] = x;
}

__global__ void __launch_bounds__(BLOCK)
    judge(const double *length, const uint32_t *row, size_t rows, size_t size, double *b,
          uint64_t which, cull_trouble *trouble)
{
    double lengths = 0, most = 0, broken = NONE;

    for (size_t i = threadIdx.x; i < rows; i += BLOCK) {
        if (!isfinite(length[i] * length[i]) && i < broken) broken = static_cast<double>(i);
        lengths += length[i];
    }
    for (size_t i = threadIdx.x; i < size; i += BLOCK) most = fmax(most, fabs(b[i]));
    broken = cull_block_join<cull_lesser>(broken);
    lengths = cull_block_join<cull_add>(lengths);
    most = cull_block_join<cull_larger>(most);
    if (broken < NONE) {
        size_t at = static_cast<size_t>(broken), from = row ? row[at] : at;

        if (threadIdx.x || trouble->what != CULL_WRONG_NOTHING) return;
        trouble->which = which | CULL_TROUBLE_SQUARE;
        trouble->row = trouble->place = from;
        trouble->what = CULL_WRONG_SIGNAL;
        return;
    }
    if (most > (static_cast<double>(rows) + SPARE) * 0x1p-52 * lengths) return;
    for (size_t i = threadIdx.x; i < size; i += BLOCK) b[i] = 0;
}

} // namespace

cudaError_t cull_cuda_cancel_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                 const uint32_t *row, size_t rows, double *scratch, double *b,
                                 uint64_t which, cull_trouble *trouble)
{
    size_t      size = p.width * (static_cast<size_t>(h.width) + 1);
    dim3        block(BLOCK), grid(cull_cuda_blocks(rows, BLOCK / CULL_WARP));
    cudaError_t error = cudaSuccess;

    if (rows) error = CULL_LAUNCH(measure, grid, block, 0, stream, h, p, row, rows, scratch);
    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(judge, dim3(1), block, 0, stream, scratch, row, rows, size, b, which,
                       trouble);
}
