/*
 * backend/cuda/gradient.cu - the last layer's gradient, and products with it, in double.
 *
 * A gradient is cut into tiles of B, and the rows into parts: a block sums one part of one tile in
 * the order of its rows, and a second kernel adds up the parts in theirs. A gain is a tile of rows
 * against all of B, tile by tile of classes; every sum goes the same way wherever its row is.
 */
#include "backend/cuda/gradient.h"

#include "backend/cuda/rows.cuh"

namespace {

/* ---- gradient: 64 columns by 16 classes a block ---- */

enum { COLUMNS = 64, CLASSES = 16, EACH = 4, BLOCK = 256, STEP = 32, MOST_BLOCKS = 4096 };

__global__ void __launch_bounds__(BLOCK)
    sum_part(cull_cuda_rows h, cull_cuda_rows p, const uint32_t *row, size_t rows, size_t part_rows,
             double *out)
{
    __shared__ double   factor[STEP][CLASSES];
    __shared__ uint32_t at[STEP];
    size_t              width = static_cast<size_t>(h.width) + 1;
    size_t              column = static_cast<size_t>(blockIdx.x) * COLUMNS + threadIdx.x % COLUMNS;
    unsigned            first_class = blockIdx.y * CLASSES, mine = threadIdx.x / COLUMNS * EACH;
    unsigned            classes = p.width - first_class < CLASSES ? p.width - first_class : CLASSES;
    size_t              first = static_cast<size_t>(blockIdx.z) * part_rows;
    size_t              last = first + part_rows < rows ? first + part_rows : rows;
    double              sum[EACH] = {0, 0, 0, 0};

    for (size_t begin = first; begin < last; begin += STEP) {
        unsigned count = last - begin < STEP ? static_cast<unsigned>(last - begin) : STEP;

        __syncthreads();
        for (unsigned i = threadIdx.x; i < STEP * CLASSES; i += BLOCK) {
            unsigned r = i / CLASSES, c = i % CLASSES;
            if (r >= count) continue;
            size_t   from = row ? row[begin + r] : begin + r;
            if (c == 0) at[r] = static_cast<uint32_t>(from);
            factor[r][c] = c < classes ? cull_rows_at(p, from, first_class + c) : 0;
        }
        __syncthreads();
        if (column >= width || mine >= classes) continue;
#pragma unroll 8
        for (unsigned r = 0; r < count; r++) {
            double x = cull_rows_or_one(h, at[r], column);
            for (int e = 0; e < EACH; e++) sum[e] += factor[r][mine + e] * x;
        }
    }
    if (column >= width) return;
    out += (static_cast<size_t>(blockIdx.z) * p.width + first_class) * width;
    for (int e = 0; e < EACH; e++)
        if (mine + e < classes) out[(mine + e) * width + column] = sum[e];
}

__global__ void add_parts(const double *part, size_t parts, size_t size, double *out)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    double sum = 0;

    if (i >= size) return;
    for (size_t k = 0; k < parts; k++) sum += part[k * size + i];
    out[i] = sum;
}

/* ---- gain: 64 rows by 64 classes a block, 4 by 4 a thread ---- */

enum { TILE = 64, DEPTH = 16, SIDE = 16 };

/* y[a][b] = B at class b + 16 .. of row a + 16 ..; all threads of the block */
__device__ void multiply(const cull_cuda_rows &h, const uint32_t *at, unsigned count,
                         const double *b, unsigned classes, double (*x)[TILE], double (*w)[TILE],
                         double y[EACH][EACH])
{
    unsigned tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    size_t   width = static_cast<size_t>(h.width) + 1;

    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) y[i][j] = 0;
    for (size_t begin = 0; begin < width; begin += DEPTH) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < TILE * DEPTH; i += BLOCK) {
            unsigned line = i / DEPTH, l = i % DEPTH;
            size_t   column = begin + l;

            x[l][line] = line < count && column < width ? cull_rows_or_one(h, at[line], column) : 0;
            w[l][line] = line < classes && column < width ? b[line * width + column] : 0;
        }
        __syncthreads();
        for (int l = 0; l < DEPTH; l++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    y[i][j] += x[l][ty + SIDE * i] * w[l][tx + SIDE * j];
    }
}

__global__ void __launch_bounds__(BLOCK)
    gain(cull_cuda_rows h, cull_cuda_rows p, const uint32_t *row, size_t rows, size_t classes,
         const double *b, double *out)
{
    __shared__ double   x[DEPTH][TILE], w[DEPTH][TILE];
    __shared__ uint32_t at[TILE];
    size_t              first = static_cast<size_t>(blockIdx.x) * TILE;
    size_t              width = static_cast<size_t>(h.width) + 1;
    unsigned            count = rows - first < TILE ? static_cast<unsigned>(rows - first) : TILE;
    unsigned            tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    double              y[EACH][EACH], sum[EACH] = {0, 0, 0, 0};

    if (threadIdx.x < count)
        at[threadIdx.x] =
            row ? row[first + threadIdx.x] : static_cast<uint32_t>(first + threadIdx.x);
    for (size_t begin = 0; begin < classes; begin += TILE) {
        unsigned some = classes - begin < TILE ? static_cast<unsigned>(classes - begin) : TILE;

        multiply(h, at, count, b + begin * width, some, x, w, y);
        for (int i = 0; i < EACH; i++) {
            unsigned line = ty + SIDE * i;

            for (int j = 0; j < EACH && line < count; j++) {
                unsigned c = tx + SIDE * j;

                if (c >= some) continue;
                if (p.dtype)
                    sum[i] += cull_rows_at(p, at[line], begin + c) * y[i][j];
                else
                    out[(first + line) * classes + begin + c] = y[i][j];
            }
        }
    }
    if (!p.dtype) return;
    __syncthreads();
    for (int i = 0; i < EACH; i++) x[tx][ty + SIDE * i] = sum[i];
    __syncthreads();
    if (threadIdx.x >= count) return;
    for (int i = 1; i < SIDE; i++) x[0][threadIdx.x] += x[i][threadIdx.x];
    out[first + threadIdx.x] = x[0][threadIdx.x];
}

} // namespace

size_t cull_cuda_gradient_parts(size_t rows, size_t classes, size_t width)
{
    size_t tiles = ((width + COLUMNS) / COLUMNS) * ((classes + CLASSES - 1) / CLASSES);
    size_t most = MOST_BLOCKS / tiles, parts = (rows + 2 * STEP - 1) / (2 * STEP);

    if (parts > most) parts = most;
    return parts > 1 ? parts : 1;
}

cudaError_t cull_cuda_gradient_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                   const uint32_t *row, size_t rows, double *scratch, double *b)
{
    size_t width = static_cast<size_t>(h.width) + 1, size = p.width * width;
    size_t parts = cull_cuda_gradient_parts(rows, p.width, h.width);
    size_t part_rows = (rows + parts - 1) / parts;
    dim3   grid(cull_cuda_blocks(width, COLUMNS), cull_cuda_blocks(p.width, CLASSES),
                static_cast<unsigned>(parts));

    cudaError_t error = CULL_LAUNCH(sum_part, grid, dim3(BLOCK), 0, stream, h, p, row, rows,
                                    part_rows, parts > 1 ? scratch : b);

    if (error != cudaSuccess || parts == 1) return error;
    return CULL_LAUNCH(add_parts, dim3(cull_cuda_blocks(size, BLOCK)), dim3(BLOCK), 0, stream,
                       scratch, parts, size, b);
}

cudaError_t cull_cuda_gain_run(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                               const uint32_t *row, size_t rows, size_t classes, const double *b,
                               double *out)
{
    return CULL_LAUNCH(gain, dim3(cull_cuda_blocks(rows, TILE)), dim3(BLOCK), 0, stream, h, p, row,
                       rows, classes, b, out);
}
