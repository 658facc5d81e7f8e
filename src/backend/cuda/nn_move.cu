/*
 * backend/cuda/nn_move.cu - values that only change their place: channels of a larger image, every
 * second pixel, another layout.
 *
 * A thread has one vector of what is written; channels are counted in vectors.
 */
#include "backend/cuda/nn_move.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = 256, TILE = 32, TILE_ROWS = THREADS / TILE };

/* W values written, or added to what is there. */
template <typename T, int W>
static __device__ __forceinline__ void leave(T *to, cull_pack<T, W> x, bool more)
{
    cull_real<T> a[W], b[W];

    if (more) {
        cull_open<T, W>(x, a);
        cull_read<T, W>(to, b);
        for (int i = 0; i < W; i++) a[i] += b[i];
        x = cull_close<T, W>(a);
    }
    cull_put<T, W>(to, x);
}

static __device__ __forceinline__ uint32_t mine()
{
    return blockIdx.x * THREADS + threadIdx.x;
}

template <typename T, int W>
static __global__ void concat(cull_move m, uint32_t count, const T *x, const T *x2, T *y)
{
    uint32_t i = mine(), all = m.c + m.c2;

    if (i >= count) return;
    size_t   pixel = i / all;
    uint32_t c = i % all;
    const T *from = c < m.c ? x + (pixel * m.c + c) * W : x2 + (pixel * m.c2 + c - m.c) * W;

    cull_put<T, W>(y + static_cast<size_t>(i) * W, cull_fetch<T, W>(from));
}

template <typename T, int W>
static __global__ void split(cull_move m, uint32_t count, const T *dy, T *dx, bool accumulate,
                             T *dx2, bool accumulate2)
{
    uint32_t i = mine(), all = m.c + m.c2;

    if (i >= count) return;
    size_t   pixel = i / all;
    uint32_t c = i % all;
    bool     second = c >= m.c;
    T       *to = second ? dx2 : dx;

    if (!to) return;
    to += second ? (pixel * m.c2 + c - m.c) * W : (pixel * m.c + c) * W;
    leave<T, W>(to, cull_fetch<T, W>(dy + static_cast<size_t>(i) * W),
                second ? accumulate2 : accumulate);
}

template <typename T, int W>
static __global__ void shortcut(cull_move m, uint32_t count, const T *x, T *y)
{
    uint32_t i = mine();

    if (i >= count) return;
    uint32_t        c = i % m.to_c, pixel = i / m.to_c, q = pixel % m.to_w;
    uint32_t        p = pixel / m.to_w % m.to_h, n = pixel / (m.to_w * m.to_h);
    cull_pack<T, W> v = {};

    if (c >= m.first && c - m.first < m.c) {
        size_t from = (static_cast<size_t>(n) * m.h + p * m.stride[0]) * m.w + q * m.stride[1];
        v = cull_fetch<T, W>(x + (from * m.c + c - m.first) * W);
    }
    cull_put<T, W>(y + static_cast<size_t>(i) * W, v);
}

template <typename T, int W>
static __global__ void shortcut_back(cull_move m, uint32_t count, const T *dy, T *dx,
                                     bool accumulate)
{
    uint32_t i = mine();

    if (i >= count) return;
    uint32_t        c = i % m.c, pixel = i / m.c, s = pixel % m.w;
    uint32_t        r = pixel / m.w % m.h, n = pixel / (m.w * m.h);
    cull_pack<T, W> v = {};

    if (r % m.stride[0] == 0 && s % m.stride[1] == 0) {
        size_t from = (static_cast<size_t>(n) * m.to_h + r / m.stride[0]) * m.to_w +
                      s / m.stride[1];
        v = cull_fetch<T, W>(dy + (from * m.to_c + m.first + c) * W);
    } else if (accumulate) {
        return;
    }
    leave<T, W>(dx + static_cast<size_t>(i) * W, v, accumulate);
}

/* Tiles go through shared memory, so that both sides are read and written along lines. */
template <typename T>
static __global__ void turn(uint32_t rows, uint32_t columns, const T *from, T *to, bool accumulate)
{
    __shared__ T tile[TILE][TILE + 1];
    uint32_t     across = (columns + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    uint32_t     column = blockIdx.x % across * TILE, row = blockIdx.x / across % down * TILE;
    size_t       matrix = static_cast<size_t>(blockIdx.x / across / down) * rows * columns;
    uint32_t     lane = threadIdx.x % TILE;

    for (uint32_t i = threadIdx.x / TILE; i < TILE; i += TILE_ROWS)
        if (row + i < rows && column + lane < columns)
            tile[i][lane] = from[matrix + static_cast<size_t>(row + i) * columns + column + lane];
    __syncthreads();
    for (uint32_t i = threadIdx.x / TILE; i < TILE; i += TILE_ROWS)
        if (column + i < columns && row + lane < rows)
            leave<T, 1>(to + matrix + static_cast<size_t>(column + i) * rows + row + lane,
                        {{tile[lane][i]}}, accumulate);
}

/* ---- launches ---- */

/* Channels in vectors. */
static cull_move in_vectors(cull_move m, uint32_t width)
{
    m.c /= width;
    m.c2 /= width;
    m.to_c /= width;
    m.first /= width;
    return m;
}

template <typename T, int W>
static cudaError_t run_concat(cudaStream_t stream, const cull_move &move, const void *x,
                              const void *x2, void *y)
{
    cull_move m = in_vectors(move, W);
    uint32_t  count = m.n * m.h * m.w * (m.c + m.c2);
    void (*kernel)(cull_move, uint32_t, const T *, const T *, T *) = concat<T, W>;

    return CULL_LAUNCH(kernel, cull_cuda_blocks(count, THREADS), THREADS, 0, stream, m, count,
                       static_cast<const T *>(x), static_cast<const T *>(x2),
                       static_cast<T *>(y));
}

template <typename T, int W>
static cudaError_t run_split(cudaStream_t stream, const cull_move &move, const void *dy, void *dx,
                             bool accumulate, void *dx2, bool accumulate2)
{
    cull_move m = in_vectors(move, W);
    uint32_t  count = m.n * m.h * m.w * (m.c + m.c2);
    void (*kernel)(cull_move, uint32_t, const T *, T *, bool, T *, bool) = split<T, W>;

    return CULL_LAUNCH(kernel, cull_cuda_blocks(count, THREADS), THREADS, 0, stream, m, count,
                       static_cast<const T *>(dy), static_cast<T *>(dx), accumulate,
                       static_cast<T *>(dx2), accumulate2);
}

template <typename T, int W>
static cudaError_t run_shortcut(cudaStream_t stream, const cull_move &move, const void *x, void *y)
{
    cull_move m = in_vectors(move, W);
    uint32_t  count = m.n * m.to_h * m.to_w * m.to_c;
    void (*kernel)(cull_move, uint32_t, const T *, T *) = shortcut<T, W>;

    return CULL_LAUNCH(kernel, cull_cuda_blocks(count, THREADS), THREADS, 0, stream, m, count,
                       static_cast<const T *>(x), static_cast<T *>(y));
}

template <typename T, int W>
static cudaError_t run_shortcut_back(cudaStream_t stream, const cull_move &move, const void *dy,
                                     void *dx, bool accumulate)
{
    cull_move m = in_vectors(move, W);
    uint32_t  count = m.n * m.h * m.w * m.c;
    void (*kernel)(cull_move, uint32_t, const T *, T *, bool) = shortcut_back<T, W>;

    return CULL_LAUNCH(kernel, cull_cuda_blocks(count, THREADS), THREADS, 0, stream, m, count,
                       static_cast<const T *>(dy), static_cast<T *>(dx), accumulate);
}

template <typename T>
static cudaError_t run_turn(cudaStream_t stream, size_t count, uint32_t rows, uint32_t columns,
                            const void *from, void *to, bool accumulate)
{
    size_t grid = count * cull_cuda_blocks(rows, TILE) * cull_cuda_blocks(columns, TILE);
    void (*kernel)(uint32_t, uint32_t, const T *, T *, bool) = turn<T>;

    return CULL_LAUNCH(kernel, static_cast<unsigned>(grid), THREADS, 0, stream, rows, columns,
                       static_cast<const T *>(from), static_cast<T *>(to), accumulate);
}

cudaError_t cull_cuda_move_concat(cudaStream_t stream, const cull_move *m, const void *x,
                                  const void *x2, void *y)
{
#define CALL(T, W) run_concat<T, W>(stream, *m, x, x2, y)
    return CULL_BY_TYPE(m->dtype, m->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_move_split(cudaStream_t stream, const cull_move *m, const void *dy, void *dx,
                                 bool accumulate, void *dx2, bool accumulate2)
{
#define CALL(T, W) run_split<T, W>(stream, *m, dy, dx, accumulate, dx2, accumulate2)
    return CULL_BY_TYPE(m->dtype, m->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_move_shortcut(cudaStream_t stream, const cull_move *m, const void *x, void *y)
{
#define CALL(T, W) run_shortcut<T, W>(stream, *m, x, y)
    return CULL_BY_TYPE(m->dtype, m->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_move_shortcut_back(cudaStream_t stream, const cull_move *m, const void *dy,
                                         void *dx, bool accumulate)
{
#define CALL(T, W) run_shortcut_back<T, W>(stream, *m, dy, dx, accumulate)
    return CULL_BY_TYPE(m->dtype, m->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_move_turn(cudaStream_t stream, cull_dtype dtype, size_t count, uint32_t rows,
                                uint32_t columns, const void *from, void *to, bool accumulate)
{
#define CALL(T, W) run_turn<T>(stream, count, rows, columns, from, to, accumulate)
    return CULL_BY_TYPE(dtype, 1, CALL);
#undef CALL
}
