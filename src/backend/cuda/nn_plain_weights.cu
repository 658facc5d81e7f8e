/*
 * backend/cuda/nn_plain_weights.cu - the gradient of any convolution's weights, as a product of
 * tiles:
 *
 *     dw[m, n] = sum over pixels k of dy[k, m] x(pixel k under tap n)      n = (r, s, c)
 *
 * m runs over outputs of one group. Pixels are cut into parts by the sizes and the number of
 * multiprocessors alone; nn_rows.cu puts the parts together.
 */
#include "backend/cuda/nn_gather.cuh"
#include "backend/cuda/nn_rows.h"

enum { MOST_PARTS = 1024, BUSY = 4, SHORTEST = 128 };

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
