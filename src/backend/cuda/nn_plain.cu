/*
 * backend/cuda/nn_plain.cu - any convolution, in each direction, as a product of tiles:
 *
 *     y[m, n]  = b[n] + sum over k = (r, s, c) of x(pixel m under tap k) w[n, k]
 *     dx[m, n] =        sum over k = (r, s, o) of dy(pixel m over tap k) w[o, (r, s, n)]
 *     dw[m, n] =        sum over pixels k of dy[k, m] x(pixel k under tap n)    n = (r, s, c)
 *
 * m runs over pixels of y, pixels of x and outputs, all within one group. Pixels of dw are cut into
 * parts by the sizes and the number of multiprocessors; nn_rows.cu puts the parts together.
 */
#include "backend/cuda/nn_product.cuh"
#include "backend/cuda/nn_rows.h"
#include "backend/cuda/nn_shape.h"

enum { NOWHERE = -(1 << 28), MOST_PARTS = 1024, BUSY = 4, SHORTEST = 128 };

/* A pixel as the gathers want it: the number of its image's first pixel on the other side, and the
 * corner there; and a tap: how far from that corner, and which channel. */
struct pixel_place {
    int at, h, w, number;
};
struct tap_place {
    int h, w, channel, number;
};
struct line_number {
    int number;
};

template <typename T> static __device__ __forceinline__ T nothing()
{
    T zero = {};
    return zero;
}

/* What tap (r, s, channel) of `channels` is. */
static __device__ __forceinline__ tap_place find_tap(const cull_conv_shape &s, int number,
                                                     int channels, bool there)
{
    tap_place tap = {NOWHERE, NOWHERE, 0, number};

    if (!there) return tap;
    int step = number / channels;
    tap.channel = number - step * channels;
    tap.h = step / s.kernel[1] * s.dilation[0];
    tap.w = step % s.kernel[1] * s.dilation[1];
    return tap;
}

/* Pixel `number` of y, and the corner of its window in x. */
static __device__ __forceinline__ pixel_place find_pixel(const cull_conv_shape &s, int number,
                                                         bool there)
{
    pixel_place pixel = {0, NOWHERE, NOWHERE, number};

    if (!there) return pixel;
    int line = number / s.q, image = line / s.p;
    pixel.h = (line - image * s.p) * s.stride[0] - s.pad[0];
    pixel.w = (number - line * s.q) * s.stride[1] - s.pad[1];
    pixel.at = image * s.h * s.w;
    return pixel;
}

template <typename T>
static __device__ __forceinline__ T gather_x(const cull_conv_shape &s, const T *x, int first,
                                             const pixel_place &pixel, const tap_place &tap)
{
    int h = pixel.h + tap.h, w = pixel.w + tap.w;

    if (static_cast<unsigned>(h) >= static_cast<unsigned>(s.h) ||
        static_cast<unsigned>(w) >= static_cast<unsigned>(s.w))
        return nothing<T>();
    return x[static_cast<size_t>(pixel.at + h * s.w + w) * static_cast<size_t>(s.c) +
             static_cast<size_t>(first + tap.channel)];
}

/* ---- forward ---- */
template <typename T, typename P, typename O, typename E> struct forward_source {
    typedef E           Engine;
    typedef T           A;
    typedef T           B;
    typedef pixel_place Row;
    typedef line_number Column;
    typedef tap_place   Depth;
    enum { BY_K_A = 1, BY_K_B = 1 };

    cull_conv_shape s;
    const T        *x, *w;
    const P        *bias;
    O              *y;
    int             rows, columns, first, last, channels, group;
    bool            whole; /* eight outputs are one aligned piece */

    __device__ __forceinline__ void begin(int z) { group = z; }
    __device__ __forceinline__ Row  row(int m) const { return find_pixel(s, m, m < rows); }
    __device__ __forceinline__ Column column(int n) const
    {
        Column out = {n < columns ? group * columns + n : -1};
        return out;
    }
    __device__ __forceinline__ Depth depth(int k) const
    {
        return find_tap(s, k, channels, k < last);
    }
    __device__ __forceinline__ T a(const Row &pixel, const Depth &tap) const
    {
        return gather_x(s, x, group * channels, pixel, tap);
    }
    __device__ __forceinline__ T b(const Column &out, const Depth &tap) const
    {
        if (out.number < 0 || tap.number >= last) return nothing<T>();
        return w[static_cast<size_t>(out.number) * static_cast<size_t>(last) +
                 static_cast<size_t>(tap.number)];
    }
    __device__ __forceinline__ void store(int m, int n, int count,
                                          const typename E::Sum *sum) const
    {
        int    o = group * columns + n;
        size_t at = static_cast<size_t>(m) * static_cast<size_t>(s.o) + static_cast<size_t>(o);

        if (whole && sizeof(O) == 2) {
            __align__(16) O piece[PRODUCT_WIDE];

            for (int i = 0; i < PRODUCT_WIDE; i++)
                cull_store(piece, static_cast<size_t>(i), bias ? sum[i] + bias[o + i] : sum[i]);
            *reinterpret_cast<uint4 *>(y + at) = *reinterpret_cast<const uint4 *>(piece);
            return;
        }
        for (int i = 0; i < count; i++)
            cull_store(y, at + static_cast<size_t>(i), bias ? sum[i] + bias[o + i] : sum[i]);
    }
};

template <typename T, typename P, typename O, typename E>
static cudaError_t run_forward(cudaStream_t stream, const cull_conv_shape *shape, const void *x,
                               const void *w, const void *b, void *y)
{
    forward_source<T, P, O, E> source = {};

    source.s = *shape;
    source.x = static_cast<const T *>(x);
    source.w = static_cast<const T *>(w);
    source.bias = static_cast<const P *>(b);
    source.y = static_cast<O *>(y);
    source.rows = shape->n * shape->p * shape->q;
    source.columns = shape->o / shape->groups;
    source.channels = shape->c / shape->groups;
    source.last = cull_conv_depth(shape);
    source.whole = source.columns % PRODUCT_WIDE == 0 && reinterpret_cast<uintptr_t>(y) % 16 == 0;
    return product_launch(stream, source, shape->groups);
}

cudaError_t cull_plain_forward(cudaStream_t stream, const cull_conv_shape *shape,
                               cull_conv_types types, const void *x, const void *w, const void *b,
                               void *y)
{
    if (types.values == CULL_F64)
        return run_forward<double, double, double, fma_engine<double>>(stream, shape, x, w, b, y);
    if (types.values == CULL_F32)
        return run_forward<float, float, float, fma_engine<float>>(stream, shape, x, w, b, y);
    if (types.output == CULL_F32)
        return run_forward<cull_bf16, float, float, matrix_engine<true, true>>(stream, shape, x, w,
                                                                               b, y);
    return run_forward<cull_bf16, float, cull_bf16, matrix_engine<true, true>>(stream, shape, x, w,
                                                                               b, y);
}

/* ---- data ---- */
template <typename D, typename T, typename E> struct data_source {
    typedef E           Engine;
    typedef D           A;
    typedef T           B;
    typedef pixel_place Row;
    typedef line_number Column;
    typedef tap_place   Depth;
    enum { BY_K_A = 1, BY_K_B = 0 };

    cull_conv_shape s;
    const D        *dy;
    const T        *w;
    T              *dx;
    int             rows, columns, first, last, outs, group;
    bool            add;

    __device__ __forceinline__ void begin(int z) { group = z; }
    /* Pixel m of x, and its image's first of y. */
    __device__ __forceinline__ Row row(int m) const
    {
        Row pixel = {0, NOWHERE, NOWHERE, m};

        if (m >= rows) return pixel;
        int line = m / s.w, image = line / s.h;
        pixel.h = line - image * s.h + s.pad[0];
        pixel.w = m - line * s.w + s.pad[1];
        pixel.at = image * s.p * s.q;
        return pixel;
    }
    __device__ __forceinline__ Column column(int n) const
    {
        Column in = {n < columns ? n : -1};
        return in;
    }
    /* Where the weights of tap (r, s) of an output begin. */
    __device__ __forceinline__ Depth depth(int k) const
    {
        Depth tap = find_tap(s, k, outs, k < last);

        tap.number = k < last ? (tap.channel * (last / outs) + k / outs) * columns : -1;
        return tap;
    }
    __device__ __forceinline__ D a(const Row &pixel, const Depth &tap) const
    {
        int h = pixel.h - tap.h, w_at = pixel.w - tap.w, p = h, q = w_at;

        if (h < 0 || w_at < 0 || tap.number < 0) return nothing<D>();
        if (s.stride[0] > 1) p = h / s.stride[0];
        if (s.stride[1] > 1) q = w_at / s.stride[1];
        if (p >= s.p || q >= s.q || p * s.stride[0] != h || q * s.stride[1] != w_at)
            return nothing<D>();
        return dy[static_cast<size_t>(pixel.at + p * s.q + q) * static_cast<size_t>(s.o) +
                  static_cast<size_t>(group * outs + tap.channel)];
    }
    __device__ __forceinline__ T b(const Column &in, const Depth &tap) const
    {
        if (in.number < 0 || tap.number < 0) return nothing<T>();
        return w[static_cast<size_t>(group) * static_cast<size_t>(last) *
                     static_cast<size_t>(columns) +
                 static_cast<size_t>(tap.number + in.number)];
    }
    __device__ __forceinline__ void store(int m, int n, int count,
                                          const typename E::Sum *sum) const
    {
        size_t at = static_cast<size_t>(m) * static_cast<size_t>(s.c) +
                    static_cast<size_t>(group * columns + n);

        for (int i = 0; i < count; i++, at++)
            cull_store(dx, at, add ? sum[i] + cull_load(dx, at) : sum[i]);
    }
};

template <typename D, typename T, typename E>
static cudaError_t run_data(cudaStream_t stream, const cull_conv_shape *shape, const void *dy,
                            const void *w, void *dx, bool add)
{
    data_source<D, T, E> source = {};

    source.s = *shape;
    source.dy = static_cast<const D *>(dy);
    source.w = static_cast<const T *>(w);
    source.dx = static_cast<T *>(dx);
    source.rows = shape->n * shape->h * shape->w;
    source.columns = shape->c / shape->groups;
    source.outs = shape->o / shape->groups;
    source.last = shape->kernel[0] * shape->kernel[1] * source.outs;
    source.add = add;
    return product_launch(stream, source, shape->groups);
}

cudaError_t cull_plain_data(cudaStream_t stream, const cull_conv_shape *shape,
                            cull_conv_types types, const void *dy, const void *w, void *dx,
                            bool add)
{
    if (types.values == CULL_F64)
        return run_data<double, double, fma_engine<double>>(stream, shape, dy, w, dx, add);
    if (types.values == CULL_F32)
        return run_data<float, float, fma_engine<float>>(stream, shape, dy, w, dx, add);
    if (types.output == CULL_F32)
        return run_data<float, cull_bf16, fma_engine<float>>(stream, shape, dy, w, dx, add);
    return run_data<cull_bf16, cull_bf16, matrix_engine<true, false>>(stream, shape, dy, w, dx,
                                                                      add);
}

/* ---- weights ---- */
template <typename T, typename D, typename E> struct weights_source {
    typedef E           Engine;
    typedef D           A;
    typedef T           B;
    typedef line_number Row;
    typedef tap_place   Column;
    typedef pixel_place Depth;
    typedef typename E::Sum Sum;
    enum { BY_K_A = 0, BY_K_B = 0 };

    cull_conv_shape s;
    const T        *x;
    const D        *dy;
    Sum            *part;
    int             rows, columns, first, last, channels, group, share, pixels;

    __device__ __forceinline__ void begin(int z)
    {
        int number = z / s.groups;

        group = z - number * s.groups;
        first = number * share;
        last = first + share < pixels ? first + share : pixels;
        part += static_cast<size_t>(number) * static_cast<size_t>(s.o) *
                static_cast<size_t>(columns);
    }
    __device__ __forceinline__ Row row(int m) const
    {
        Row out = {m < rows ? group * rows + m : -1};
        return out;
    }
    __device__ __forceinline__ Column column(int n) const
    {
        return find_tap(s, n, channels, n < columns);
    }
    __device__ __forceinline__ Depth depth(int k) const { return find_pixel(s, k, k < last); }
    __device__ __forceinline__ D     a(const Row &out, const Depth &pixel) const
    {
        if (out.number < 0 || pixel.number >= last) return nothing<D>();
        return dy[static_cast<size_t>(pixel.number) * static_cast<size_t>(s.o) +
                  static_cast<size_t>(out.number)];
    }
    __device__ __forceinline__ T b(const Column &tap, const Depth &pixel) const
    {
        return gather_x(s, x, group * channels, pixel, tap);
    }
    __device__ __forceinline__ void store(int m, int n, int count, const Sum *sum) const
    {
        Sum *to = part + static_cast<size_t>(group * rows + m) * static_cast<size_t>(columns) + n;

        for (int i = 0; i < count; i++) to[i] = sum[i];
    }
};

/* Tiles of dw in bfloat16 are of 128 rows, else of 64; both of 64 columns. */
static int parts_of(const cull_conv_shape *s, cull_conv_types types, int processors)
{
    int  high = types.values == CULL_BF16 && types.output == CULL_BF16 ? 128 : 64;
    int  outs = s->o / s->groups, depth = cull_conv_depth(s), pixels = s->n * s->p * s->q;
    long tiles = static_cast<long>((outs + high - 1) / high) * ((depth + 63) / 64) * s->groups;
    long parts = (static_cast<long>(processors) * BUSY + tiles - 1) / tiles;

    if (parts > pixels / SHORTEST) parts = pixels / SHORTEST;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    return parts < 1 ? 1 : static_cast<int>(parts);
}

size_t cull_plain_room(const cull_conv_shape *shape, cull_conv_types types, int processors)
{
    size_t parts = static_cast<size_t>(parts_of(shape, types, processors));

    return parts > 1 ? parts * cull_conv_w(shape) * (types.values == CULL_F64 ? 8 : 4) : 0;
}

template <typename T, typename D, typename E>
static cudaError_t run_weights(cudaStream_t stream, const cull_conv_shape *shape, int parts,
                               const void *x, const void *dy, void *dw, void *room)
{
    weights_source<T, D, E> source = {};
    typedef typename E::Sum Sum;

    source.s = *shape;
    source.x = static_cast<const T *>(x);
    source.dy = static_cast<const D *>(dy);
    source.part = static_cast<Sum *>(parts > 1 ? room : dw);
    source.rows = shape->o / shape->groups;
    source.columns = cull_conv_depth(shape);
    source.channels = shape->c / shape->groups;
    source.pixels = shape->n * shape->p * shape->q;
    source.share = (source.pixels + parts - 1) / parts;
    cudaError_t error = product_launch(stream, source, shape->groups * parts);
    if (error != cudaSuccess || parts == 1) return error;
    return cull_rows_parts(stream, sizeof(Sum) == sizeof(double), static_cast<size_t>(parts),
                           cull_conv_w(shape), room, dw);
}

cudaError_t cull_plain_weights(cudaStream_t stream, const cull_conv_shape *shape,
                               cull_conv_types types, int processors, const void *x,
                               const void *dy, void *dw, void *room)
{
    int parts = parts_of(shape, types, processors);

    if (types.values == CULL_F64)
        return run_weights<double, double, fma_engine<double>>(stream, shape, parts, x, dy, dw,
                                                               room);
    if (types.values == CULL_F32)
        return run_weights<float, float, fma_engine<float>>(stream, shape, parts, x, dy, dw, room);
    if (types.output == CULL_F32)
        return run_weights<cull_bf16, float, fma_engine<float>>(stream, shape, parts, x, dy, dw,
                                                                room);
    return run_weights<cull_bf16, cull_bf16, matrix_engine<false, false>>(stream, shape, parts, x,
                                                                          dy, dw, room);
}
