/*
 * backend/cuda/nn_plain.cu - any convolution as a product of tiles, forward and to its input:
 *
 *     y[m, n]  = b[n] + sum over k = (r, s, c) of x(pixel m under tap k) w[n, k]
 *     dx[m, n] =        sum over k = (r, s, o) of dy(pixel m over tap k) w[o, (r, s, n)]
 *
 * m runs over pixels of y, and of x; n over the outputs and inputs of one group.
 */
#include "backend/cuda/nn_gather.cuh"

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
