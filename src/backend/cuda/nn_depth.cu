/*
 * backend/cuda/nn_depth.cu - depthwise convolution: every output channel reads one input channel.
 *
 *     y[n, p, q, o]  = b[o] + sum of w[o, r, s] x[n, p S - P + r D, q S' - P' + s D', o / M]
 *     dx[n, h, w, c] = sum over o of c's M outputs of w[o, r, s] dy[n, ., ., o] under the taps
 *     dw[o, r, s]    = sum over pixels of dy[n, p, q, o] x[n, ., ., o / M]
 *
 * with M outputs a channel. Threads lie along channels, VEC of them each where they are aligned and
 * M is 1; a block keeps its channels' weights in shared memory and goes over several pixels.
 */
#include "backend/cuda/device.cuh"
#include "backend/cuda/nn_rows.h"
#include "backend/cuda/nn_shape.h"

enum {
    THREADS = 256,
    PIXELS = 4, /* a thread goes over      */
    TAPS = 9,   /* of dw that it keeps     */
    WIDE = 8,
    HALF_WIDE = 4,
    MOST_SHARED = 32768,
    MOST_PARTS = 512,
    BUSY = 8,
    SHORTEST = 64
};

template <typename T, int VEC> struct __align__(sizeof(T) * VEC) several {
    T of[VEC];
};

/* ---- forward ---- */
template <typename T, typename A, int VEC>
__global__ void depth_forward(cull_conv_shape s, int lanes, const T *x, const T *w, const A *b,
                              T *y)
{
    CULL_SHARED(A, weight); /* [taps][lanes * VEC] */
    int lane = static_cast<int>(threadIdx.x) % lanes, row = static_cast<int>(threadIdx.x) / lanes;
    int down = THREADS / lanes, taps = s.kernel[0] * s.kernel[1], wide = lanes * VEC;
    int first = static_cast<int>(blockIdx.y) * wide, o = first + lane * VEC;
    int pixels = s.n * s.p * s.q, multiple = s.o / s.c;

    for (int i = static_cast<int>(threadIdx.x); i < taps * wide; i += THREADS) {
        int to = first + i / taps;
        if (to < s.o)
            weight[i % taps * wide + i / taps] =
                cull_load(w, static_cast<size_t>(to) * static_cast<size_t>(taps) +
                                 static_cast<size_t>(i % taps));
    }
    __syncthreads();
    if (o >= s.o) return;
    for (int k = 0; k < PIXELS; k++) {
        int pixel = (static_cast<int>(blockIdx.x) * PIXELS + k) * down + row;
        if (pixel >= pixels) return;
        int line = pixel / s.q, image = line / s.p;
        int h0 = (line - image * s.p) * s.stride[0] - s.pad[0];
        int w0 = (pixel - line * s.q) * s.stride[1] - s.pad[1];
        A   sum[VEC];

        for (int j = 0; j < VEC; j++) sum[j] = b ? b[o + j] : 0;
        for (int r = 0; r < s.kernel[0]; r++) {
            int h = h0 + r * s.dilation[0];
            if (h < 0 || h >= s.h) continue;
            for (int t = 0; t < s.kernel[1]; t++) {
                int at = w0 + t * s.dilation[1];
                if (at < 0 || at >= s.w) continue;
                size_t from = static_cast<size_t>((image * s.h + h) * s.w + at) *
                                  static_cast<size_t>(s.c) +
                              static_cast<size_t>(VEC > 1 ? o : o / multiple);
                several<T, VEC> in = *reinterpret_cast<const several<T, VEC> *>(x + from);
                const A        *tap = weight + (r * s.kernel[1] + t) * wide + lane * VEC;

                for (int j = 0; j < VEC; j++)
                    sum[j] += cull_load(in.of, static_cast<size_t>(j)) * tap[j];
            }
        }
        several<T, VEC> out;
        for (int j = 0; j < VEC; j++) cull_store(out.of, static_cast<size_t>(j), sum[j]);
        *reinterpret_cast<several<T, VEC> *>(
            y + static_cast<size_t>(pixel) * static_cast<size_t>(s.o) + static_cast<size_t>(o)) =
            out;
    }
}

/* ---- data ---- */
template <typename T, typename A, int VEC>
__global__ void depth_data(cull_conv_shape s, int lanes, const T *dy, const T *w, T *dx, bool add)
{
    CULL_SHARED(A, weight); /* [taps][lanes * VEC * multiple] */
    int lane = static_cast<int>(threadIdx.x) % lanes, row = static_cast<int>(threadIdx.x) / lanes;
    int down = THREADS / lanes, taps = s.kernel[0] * s.kernel[1], multiple = s.o / s.c;
    int wide = lanes * VEC * multiple, first = static_cast<int>(blockIdx.y) * lanes * VEC;
    int c = first + lane * VEC, pixels = s.n * s.h * s.w;

    for (int i = static_cast<int>(threadIdx.x); i < taps * wide; i += THREADS) {
        int to = first * multiple + i / taps;
        if (to < s.o)
            weight[i % taps * wide + i / taps] =
                cull_load(w, static_cast<size_t>(to) * static_cast<size_t>(taps) +
                                 static_cast<size_t>(i % taps));
    }
    __syncthreads();
    if (c >= s.c) return;
    for (int k = 0; k < PIXELS; k++) {
        int pixel = (static_cast<int>(blockIdx.x) * PIXELS + k) * down + row;
        if (pixel >= pixels) return;
        int line = pixel / s.w, image = line / s.h;
        int h0 = line - image * s.h + s.pad[0], w0 = pixel - line * s.w + s.pad[1];
        size_t to = static_cast<size_t>(pixel) * static_cast<size_t>(s.c) + static_cast<size_t>(c);
        A      sum[VEC];

        for (int j = 0; j < VEC; j++) sum[j] = 0;
        for (int r = 0; r < s.kernel[0]; r++) {
            int h = h0 - r * s.dilation[0], p = h / s.stride[0];
            if (h < 0 || p >= s.p || p * s.stride[0] != h) continue;
            for (int t = 0; t < s.kernel[1]; t++) {
                int at = w0 - t * s.dilation[1], q = at / s.stride[1];
                if (at < 0 || q >= s.q || q * s.stride[1] != at) continue;
                size_t from = static_cast<size_t>((image * s.p + p) * s.q + q) *
                                  static_cast<size_t>(s.o) +
                              static_cast<size_t>(c * multiple);
                const A *tap = weight + (r * s.kernel[1] + t) * wide + lane * VEC * multiple;

                if (VEC > 1) {
                    several<T, VEC> in = *reinterpret_cast<const several<T, VEC> *>(dy + from);

                    for (int j = 0; j < VEC; j++)
                        sum[j] += cull_load(in.of, static_cast<size_t>(j)) * tap[j];
                } else {
                    for (int j = 0; j < multiple; j++)
                        sum[0] += cull_load(dy, from + static_cast<size_t>(j)) * tap[j];
                }
            }
        }
        several<T, VEC> out = *reinterpret_cast<const several<T, VEC> *>(dx + to);
        for (int j = 0; j < VEC; j++) {
            size_t i = static_cast<size_t>(j);
            cull_store(out.of, i, add ? sum[j] + cull_load(out.of, i) : sum[j]);
        }
        *reinterpret_cast<several<T, VEC> *>(dx + to) = out;
    }
}

/* ---- weights: a block's part of the pixels, for 32 * VEC outputs and up to TAPS taps ---- */
template <typename T, typename A, int VEC>
__global__ void depth_weights(cull_conv_shape s, int share, const T *x, const T *dy, A *part)
{
    __shared__ A sums[THREADS / CULL_WARP][CULL_WARP];
    int lane = static_cast<int>(threadIdx.x) % CULL_WARP;
    int row = static_cast<int>(threadIdx.x) / CULL_WARP, down = THREADS / CULL_WARP;
    int taps = s.kernel[0] * s.kernel[1], first_tap = static_cast<int>(blockIdx.y) * TAPS;
    int o = (static_cast<int>(blockIdx.x) * CULL_WARP + lane) * VEC, multiple = s.o / s.c;
    int pixels = s.n * s.p * s.q, first = static_cast<int>(blockIdx.z) * share;
    int last = first + share < pixels ? first + share : pixels;
    A   sum[TAPS][VEC];

    for (int k = 0; k < TAPS; k++)
        for (int j = 0; j < VEC; j++) sum[k][j] = 0;
    for (int pixel = first + row; o < s.o && pixel < last; pixel += down) {
        int line = pixel / s.q, image = line / s.p;
        int h0 = (line - image * s.p) * s.stride[0] - s.pad[0];
        int w0 = (pixel - line * s.q) * s.stride[1] - s.pad[1];
        several<T, VEC> out = *reinterpret_cast<const several<T, VEC> *>(
            dy + static_cast<size_t>(pixel) * static_cast<size_t>(s.o) + static_cast<size_t>(o));

#pragma unroll
        for (int k = 0; k < TAPS; k++) {
            int tap = first_tap + k, r = tap / s.kernel[1];
            int h = h0 + r * s.dilation[0], w = w0 + (tap - r * s.kernel[1]) * s.dilation[1];
            if (tap >= taps || h < 0 || h >= s.h || w < 0 || w >= s.w) continue;
            size_t from =
                static_cast<size_t>((image * s.h + h) * s.w + w) * static_cast<size_t>(s.c) +
                static_cast<size_t>(VEC > 1 ? o : o / multiple);
            several<T, VEC> in = *reinterpret_cast<const several<T, VEC> *>(x + from);

#pragma unroll
            for (int j = 0; j < VEC; j++)
                sum[k][j] += cull_load(in.of, static_cast<size_t>(j)) *
                             cull_load(out.of, static_cast<size_t>(j));
        }
    }
    part += static_cast<size_t>(blockIdx.z) * static_cast<size_t>(s.o) * static_cast<size_t>(taps);
#pragma unroll
    for (int k = 0; k < TAPS; k++) {
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            sums[row][lane] = sum[k][j];
            __syncthreads();
            if (row == 0 && o + j < s.o && first_tap + k < taps) {
                A total = 0;

                for (int i = 0; i < down; i++) total += sums[i][lane];
                part[static_cast<size_t>(o + j) * static_cast<size_t>(taps) +
                     static_cast<size_t>(first_tap + k)] = total;
            }
            __syncthreads();
        }
    }
}

/* ---- launching ---- */

/* Threads along `count` pieces of channels whose weights fit into shared memory, `size` bytes for
 * a thread's. */
static int lanes_of(int count, size_t size)
{
    int lanes = 1;

    while (lanes < CULL_WARP && lanes < count &&
           size * static_cast<size_t>(2 * lanes) <= MOST_SHARED)
        lanes *= 2;
    return lanes;
}

static bool aligned(const void *a, const void *b, size_t border)
{
    return reinterpret_cast<uintptr_t>(a) % border == 0 &&
           reinterpret_cast<uintptr_t>(b) % border == 0;
}

template <typename T, typename A, int VEC>
static cudaError_t run_forward(cudaStream_t stream, const cull_conv_shape *s, const void *x,
                               const void *w, const void *b, void *y)
{
    size_t each = static_cast<size_t>(s->kernel[0] * s->kernel[1]) * VEC * sizeof(A);
    int    lanes = lanes_of((s->o + VEC - 1) / VEC, each), rows = THREADS / lanes * PIXELS;
    dim3   grid(cull_cuda_blocks(cull_conv_y(s) / static_cast<size_t>(s->o),
                                 static_cast<unsigned>(rows)),
                cull_cuda_blocks(static_cast<size_t>(s->o), static_cast<unsigned>(lanes * VEC)));

    return CULL_LAUNCH((depth_forward<T, A, VEC>), grid, THREADS,
                       each * static_cast<size_t>(lanes), stream, *s, lanes,
                       static_cast<const T *>(x), static_cast<const T *>(w),
                       static_cast<const A *>(b), static_cast<T *>(y));
}

cudaError_t cull_depth_forward(cudaStream_t stream, const cull_conv_shape *s, cull_dtype values,
                               const void *x, const void *w, const void *b, void *y)
{
    bool wide = s->o == s->c && aligned(x, y, 16);

    if (values == CULL_F64) return run_forward<double, double, 1>(stream, s, x, w, b, y);
    if (values == CULL_F32)
        return wide && s->c % HALF_WIDE == 0
                   ? run_forward<float, float, HALF_WIDE>(stream, s, x, w, b, y)
                   : run_forward<float, float, 1>(stream, s, x, w, b, y);
    return wide && s->c % WIDE == 0 ? run_forward<cull_bf16, float, WIDE>(stream, s, x, w, b, y)
                                    : run_forward<cull_bf16, float, 1>(stream, s, x, w, b, y);
}

template <typename T, typename A, int VEC>
static cudaError_t run_data(cudaStream_t stream, const cull_conv_shape *s, const void *dy,
                            const void *w, void *dx, bool add)
{
    size_t each =
        static_cast<size_t>(s->kernel[0] * s->kernel[1] * (s->o / s->c)) * VEC * sizeof(A);
    int  lanes = lanes_of((s->c + VEC - 1) / VEC, each), rows = THREADS / lanes * PIXELS;
    dim3 grid(cull_cuda_blocks(cull_conv_x(s) / static_cast<size_t>(s->c),
                               static_cast<unsigned>(rows)),
              cull_cuda_blocks(static_cast<size_t>(s->c), static_cast<unsigned>(lanes * VEC)));

    return CULL_LAUNCH((depth_data<T, A, VEC>), grid, THREADS, each * static_cast<size_t>(lanes),
                       stream, *s, lanes, static_cast<const T *>(dy), static_cast<const T *>(w),
                       static_cast<T *>(dx), add);
}

cudaError_t cull_depth_data(cudaStream_t stream, const cull_conv_shape *s, cull_dtype values,
                            const void *dy, const void *w, void *dx, bool add)
{
    bool wide = s->o == s->c && aligned(dy, dx, 16);

    if (values == CULL_F64) return run_data<double, double, 1>(stream, s, dy, w, dx, add);
    if (values == CULL_F32)
        return wide && s->c % HALF_WIDE == 0
                   ? run_data<float, float, HALF_WIDE>(stream, s, dy, w, dx, add)
                   : run_data<float, float, 1>(stream, s, dy, w, dx, add);
    return wide && s->c % WIDE == 0 ? run_data<cull_bf16, float, WIDE>(stream, s, dy, w, dx, add)
                                    : run_data<cull_bf16, float, 1>(stream, s, dy, w, dx, add);
}

/* By the sizes alone, not by how the arrays are aligned. */
static int parts_of(const cull_conv_shape *s, int processors)
{
    int blocks = (s->o + CULL_WARP - 1) / CULL_WARP *
                 ((s->kernel[0] * s->kernel[1] + TAPS - 1) / TAPS);
    int parts = (processors * BUSY + blocks - 1) / blocks, pixels = s->n * s->p * s->q;

    if (parts > pixels / SHORTEST) parts = pixels / SHORTEST;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    return parts < 1 ? 1 : parts;
}

size_t cull_depth_room(const cull_conv_shape *s, cull_dtype values, int processors)
{
    size_t parts = static_cast<size_t>(parts_of(s, processors));

    return parts > 1 ? parts * cull_conv_w(s) * (values == CULL_F64 ? 8 : 4) : 0;
}

template <typename T, typename A, int VEC>
static cudaError_t run_weights(cudaStream_t stream, const cull_conv_shape *s, int parts,
                               const void *x, const void *dy, void *dw, void *room)
{
    int  pixels = s->n * s->p * s->q, share = (pixels + parts - 1) / parts;
    dim3 grid(cull_cuda_blocks(static_cast<size_t>(s->o), CULL_WARP * VEC),
              cull_cuda_blocks(static_cast<size_t>(s->kernel[0] * s->kernel[1]), TAPS),
              static_cast<unsigned>(parts));
    cudaError_t error = CULL_LAUNCH((depth_weights<T, A, VEC>), grid, THREADS, 0, stream, *s, share,
                                    static_cast<const T *>(x), static_cast<const T *>(dy),
                                    static_cast<A *>(parts > 1 ? room : dw));

    if (error != cudaSuccess || parts == 1) return error;
    return cull_rows_parts(stream, sizeof(A) == sizeof(double), static_cast<size_t>(parts),
                           cull_conv_w(s), room, dw);
}

cudaError_t cull_depth_weights(cudaStream_t stream, const cull_conv_shape *s, cull_dtype values,
                               int processors, const void *x, const void *dy, void *dw, void *room)
{
    int  parts = parts_of(s, processors);
    bool wide = s->o == s->c && s->c % HALF_WIDE == 0 && aligned(x, dy, 16);

    if (values == CULL_F64)
        return run_weights<double, double, 1>(stream, s, parts, x, dy, dw, room);
    if (values == CULL_F32)
        return wide ? run_weights<float, float, HALF_WIDE>(stream, s, parts, x, dy, dw, room)
                    : run_weights<float, float, 1>(stream, s, parts, x, dy, dw, room);
    return wide ? run_weights<cull_bf16, float, HALF_WIDE>(stream, s, parts, x, dy, dw, room)
                : run_weights<cull_bf16, float, 1>(stream, s, parts, x, dy, dw, room);
}
