/*
 * backend/cuda/nn_pool.cu - pooling: maximum, average, average over the whole image.
 *
 * A thread has W channels of one pixel: of y forward, of x backward, where it looks at all windows
 * that the pixel is in. So nothing is added by two threads, and sums have one order. A maximum
 * keeps the place of its winner in the window, the first of equals; NaN is greater than every
 * number, and the last of them wins.
 */
#include "backend/cuda/nn_pool.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = 256 };

/* Of a window: image rows and columns, ends exclusive, and where it begins, padding included. */
struct window {
    int32_t r0, r1, s0, s1, top, left;
};

static __device__ __forceinline__ window window_of(const cull_pool_cut &d, int32_t p, int32_t q)
{
    window w;

    w.top = p * d.stride[0] - d.pad[0];
    w.left = q * d.stride[1] - d.pad[1];
    w.r0 = w.top > 0 ? w.top : 0;
    w.s0 = w.left > 0 ? w.left : 0;
    w.r1 = w.top + d.kernel[0] < d.h ? w.top + d.kernel[0] : d.h;
    w.s1 = w.left + d.kernel[1] < d.w ? w.left + d.kernel[1] : d.w;
    return w;
}

/* A pixel of an image of `height` by `width`, and the first of W channels there. */
struct place {
    int32_t n, r, s, c;
};

static __device__ __forceinline__ place place_of(uint32_t i, uint32_t channels, uint32_t height,
                                                 uint32_t width)
{
    uint32_t pixel = i / channels;

    return {static_cast<int32_t>(pixel / width / height),
            static_cast<int32_t>(pixel / width % height), static_cast<int32_t>(pixel % width),
            static_cast<int32_t>(i % channels)};
}

/* Element of an image with channels innermost. */
template <int W>
static __device__ __forceinline__ size_t element(const cull_pool_cut &d, int32_t n, int32_t r,
                                                 int32_t height, int32_t s, int32_t width,
                                                 int32_t c)
{
    return ((static_cast<size_t>(n) * height + r) * width + s) * d.c + static_cast<size_t>(c) * W;
}

template <typename T, int W>
static __global__ void maximum(cull_pool_cut d, uint32_t count, const T *x, T *y, uint8_t *state)
{
    uint32_t                i = blockIdx.x * THREADS + threadIdx.x;
    cull_real<T>            best[W], value[W];
    cull_pack<uint8_t, W> winner = {};

    if (i >= count) return;
    place  at = place_of(i, d.c / W, d.to_h, d.to_w);
    window w = window_of(d, at.r, at.s);
    bool   any = false;

    for (int k = 0; k < W; k++) best[k] = 0;
    for (int32_t r = w.r0; r < w.r1; r++) {
        for (int32_t s = w.s0; s < w.s1; s++) {
            uint8_t tap = static_cast<uint8_t>((r - w.top) * d.kernel[1] + s - w.left);

            cull_read<T, W>(x + element<W>(d, at.n, r, d.h, s, d.w, at.c), value);
            for (int k = 0; k < W; k++) {
                bool wins = !any || value[k] > best[k] || value[k] != value[k];

                best[k] = wins ? value[k] : best[k];
                winner.v[k] = wins ? tap : winner.v[k];
            }
            any = true;
        }
    }
    cull_write<T, W>(y + static_cast<size_t>(i) * W, best);
    if (state) cull_put<uint8_t, W>(state + static_cast<size_t>(i) * W, winner);
}

template <typename T, int W>
static __global__ void average(cull_pool_cut d, uint32_t count, const T *x, T *y)
{
    uint32_t     i = blockIdx.x * THREADS + threadIdx.x;
    cull_real<T> sum[W], value[W];

    if (i >= count) return;
    place        at = place_of(i, d.c / W, d.to_h, d.to_w);
    window       w = window_of(d, at.r, at.s);
    cull_real<T> taps = static_cast<cull_real<T>>((w.r1 - w.r0) * (w.s1 - w.s0));

    for (int k = 0; k < W; k++) sum[k] = 0;
    for (int32_t r = w.r0; r < w.r1; r++) {
        for (int32_t s = w.s0; s < w.s1; s++) {
            cull_read<T, W>(x + element<W>(d, at.n, r, d.h, s, d.w, at.c), value);
            for (int k = 0; k < W; k++) sum[k] += value[k];
        }
    }
    for (int k = 0; k < W; k++) sum[k] /= taps;
    cull_write<T, W>(y + static_cast<size_t>(i) * W, sum);
}

/* `team` threads share the pixels of a column of channels. */
template <typename T, int W>
static __global__ void whole(cull_pool_cut d, uint32_t columns, uint32_t team, const T *x, T *y)
{
    typedef cull_real<T> R;
    __shared__ R         sums[THREADS][W];
    uint32_t             side = THREADS / team, row = threadIdx.x / side;
    uint32_t             column = blockIdx.x * side + threadIdx.x % side, wide = d.c / W;
    uint32_t             area = d.h * d.w;
    R                    sum[W], value[W];

    for (int k = 0; k < W; k++) sum[k] = 0;
    if (column < columns) {
        const T *from = x + (static_cast<size_t>(column / wide) * area * wide + column % wide) * W;

        for (uint32_t i = row; i < area; i += team) {
            cull_read<T, W>(from + static_cast<size_t>(i) * d.c, value);
            for (int k = 0; k < W; k++) sum[k] += value[k];
        }
    }
    for (int k = 0; k < W; k++) sums[threadIdx.x][k] = sum[k];
    __syncthreads();
    if (row > 0 || column >= columns) return;
    for (uint32_t i = 1; i < team; i++)
        for (int k = 0; k < W; k++) sum[k] += sums[i * side + threadIdx.x][k];
    for (int k = 0; k < W; k++) sum[k] /= static_cast<R>(area);
    cull_write<T, W>(y + static_cast<size_t>(column) * W, sum);
}

/* The first window that reaches a row or column, and the end of those. */
static __device__ __forceinline__ void windows(int32_t at, int32_t kernel, int32_t stride,
                                               int32_t pad, int32_t most, int32_t *first,
                                               int32_t *end)
{
    int32_t behind = at + pad - kernel;

    *first = behind < 0 ? 0 : behind / stride + 1;
    *end = (at + pad) / stride + 1 < most ? (at + pad) / stride + 1 : most;
}

template <typename T, int W>
static __device__ __forceinline__ void give(T *to, cull_real<T> *g, bool accumulate)
{
    cull_real<T> old[W];

    if (accumulate) {
        cull_read<T, W>(to, old);
        for (int k = 0; k < W; k++) g[k] += old[k];
    }
    cull_write<T, W>(to, g);
}

/* Of both kinds of windows; state is NULL for averages. */
template <typename T, int W>
static __global__ void go_back(cull_pool_cut d, uint32_t count, const T *dy, const uint8_t *state,
                               T *dx, bool accumulate)
{
    uint32_t     i = blockIdx.x * THREADS + threadIdx.x;
    int32_t      p0 = 0, p1 = 0, q0 = 0, q1 = 0;
    cull_real<T> sum[W], g[W];

    if (i >= count) return;
    place at = place_of(i, d.c / W, d.h, d.w);
    windows(at.r, d.kernel[0], d.stride[0], d.pad[0], d.to_h, &p0, &p1);
    windows(at.s, d.kernel[1], d.stride[1], d.pad[1], d.to_w, &q0, &q1);
    for (int k = 0; k < W; k++) sum[k] = 0;
    for (int32_t p = p0; p < p1; p++) {
        for (int32_t q = q0; q < q1; q++) {
            window  w = window_of(d, p, q);
            size_t  from = element<W>(d, at.n, p, d.to_h, q, d.to_w, at.c);
            uint8_t tap = static_cast<uint8_t>((at.r - w.top) * d.kernel[1] + at.s - w.left);
            cull_real<T> taps = static_cast<cull_real<T>>((w.r1 - w.r0) * (w.s1 - w.s0));
            cull_pack<uint8_t, W> winner = {};

            cull_read<T, W>(dy + from, g);
            if (state) winner = cull_fetch<uint8_t, W>(state + from);
            for (int k = 0; k < W; k++)
                sum[k] += !state ? g[k] / taps : winner.v[k] == tap ? g[k] : 0;
        }
    }
    give<T, W>(dx + static_cast<size_t>(i) * W, sum, accumulate);
}

template <typename T, int W>
static __global__ void whole_back(cull_pool_cut d, uint32_t count, const T *dy, T *dx,
                                  bool accumulate)
{
    uint32_t     i = blockIdx.x * THREADS + threadIdx.x, wide = d.c / W, area = d.h * d.w;
    cull_real<T> g[W];

    if (i >= count) return;
    cull_read<T, W>(dy + (static_cast<size_t>(i / wide / area) * wide + i % wide) * W, g);
    for (int k = 0; k < W; k++) g[k] /= static_cast<cull_real<T>>(area);
    give<T, W>(dx + static_cast<size_t>(i) * W, g, accumulate);
}

/* ---- launches ---- */

/* Threads that share a column: each takes four pixels or more. */
static uint32_t team_for(uint32_t area)
{
    uint32_t team = 1;

    while (team < CULL_WARP && 8 * team <= area) team *= 2;
    return team;
}

template <typename T, int W>
static cudaError_t forward(cudaStream_t stream, const cull_pool_cut &d, const void *x_, void *y_,
                           uint8_t *state)
{
    const T *x = static_cast<const T *>(x_);
    T       *y = static_cast<T *>(y_);
    uint32_t count = static_cast<uint32_t>(d.n * d.to_h * d.to_w * (d.c / W));
    uint32_t team = team_for(d.h * d.w);
    unsigned grid = cull_cuda_blocks(count, THREADS);

    void (*largest)(cull_pool_cut, uint32_t, const T *, T *, uint8_t *) = maximum<T, W>;
    void (*mean)(cull_pool_cut, uint32_t, const T *, T *) = average<T, W>;
    void (*all)(cull_pool_cut, uint32_t, uint32_t, const T *, T *) = whole<T, W>;

    if (d.kind == CULL_POOL_MAX)
        return CULL_LAUNCH(largest, grid, THREADS, 0, stream, d, count, x, y, state);
    if (d.kind == CULL_POOL_AVERAGE)
        return CULL_LAUNCH(mean, grid, THREADS, 0, stream, d, count, x, y);
    grid = cull_cuda_blocks(count, THREADS / team);
    return CULL_LAUNCH(all, grid, THREADS, 0, stream, d, count, team, x, y);
}

template <typename T, int W>
static cudaError_t backward(cudaStream_t stream, const cull_pool_cut &d, const void *dy_,
                            const uint8_t *state, void *dx_, bool accumulate)
{
    const T *dy = static_cast<const T *>(dy_);
    T       *dx = static_cast<T *>(dx_);
    uint32_t count = static_cast<uint32_t>(d.n * d.h * d.w * (d.c / W));
    unsigned grid = cull_cuda_blocks(count, THREADS);

    void (*all)(cull_pool_cut, uint32_t, const T *, T *, bool) = whole_back<T, W>;
    void (*windowed)(cull_pool_cut, uint32_t, const T *, const uint8_t *, T *, bool) =
        go_back<T, W>;

    if (d.kind == CULL_POOL_GLOBAL)
        return CULL_LAUNCH(all, grid, THREADS, 0, stream, d, count, dy, dx, accumulate);
    return CULL_LAUNCH(windowed, grid, THREADS, 0, stream, d, count, dy,
                       d.kind == CULL_POOL_MAX ? state : nullptr, dx, accumulate);
}

cudaError_t cull_cuda_pool_forward(cudaStream_t stream, const cull_pool_cut *d, const void *x,
                                   void *y, uint8_t *state)
{
#define CALL(T, W) forward<T, W>(stream, *d, x, y, state)
    return CULL_BY_TYPE(d->dtype, d->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_pool_backward(cudaStream_t stream, const cull_pool_cut *d, const void *dy,
                                    const uint8_t *state, void *dx, bool accumulate)
{
#define CALL(T, W) backward<T, W>(stream, *d, dy, state, dx, accumulate)
    return CULL_BY_TYPE(d->dtype, d->width, CALL);
#undef CALL
}
