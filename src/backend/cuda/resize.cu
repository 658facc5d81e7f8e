/*
 * backend/cuda/resize.cu - one thread a number of the result, in its order in memory; the formula
 * and every rounding are those of backend/resize.c.
 */
#include "backend/cuda/resize.h"
#include "backend/cuda/device.cuh"

enum { THREADS = 256 };

struct tap {
    size_t low, high; /* the two pixels             */
    float  share;     /* of the one that lies behind */
};

static __device__ __forceinline__ tap tap_of(size_t at, size_t from, size_t to)
{
    double middle = static_cast<double>(at) + .5;
    double u = middle * static_cast<double>(from) / static_cast<double>(to) - .5;
    tap    tap = {};

    u = fmin(fmax(u, 0.), static_cast<double>(from - 1));
    tap.low = static_cast<size_t>(u);
    tap.high = tap.low + 1 < from ? tap.low + 1 : tap.low;
    tap.share = static_cast<float>(u - static_cast<double>(tap.low));
    return tap;
}

/* One pixel of one channel; strides in numbers. */
static __device__ __forceinline__ float mix(const float *x, const tap &row, const tap &column,
                                            size_t along_row, size_t along_column)
{
    const float *top = x + row.low * along_row, *bottom = x + row.high * along_row;
    float        left = column.share * top[column.high * along_column] +
                 (1 - column.share) * top[column.low * along_column];
    float right = column.share * bottom[column.high * along_column] +
                  (1 - column.share) * bottom[column.low * along_column];

    return (1 - row.share) * left + row.share * right;
}

static __global__ void __launch_bounds__(THREADS)
    resize(const __grid_constant__ cull_resize r, const float *from, float *to, size_t count)
{
    size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
    size_t area = r.to_height * r.to_width, small = r.channels * area;
    size_t n = i / small, e = i % small;
    size_t c = r.to_channels_last ? e % r.channels : e / area;
    size_t pixel = r.to_channels_last ? e / r.channels : e % area;
    size_t between = r.channels_last ? r.channels : 1;
    size_t plane = r.channels_last ? 1 : r.height * r.width;

    if (n >= count) return;
    to[i] = mix(from + n * r.channels * r.height * r.width + c * plane,
                tap_of(pixel / r.to_width, r.height, r.to_height),
                tap_of(pixel % r.to_width, r.width, r.to_width), r.width * between, between);
}

cudaError_t cull_cuda_resize_images(cudaStream_t stream, const cull_resize *how, const float *from,
                                    float *to, size_t count)
{
    size_t all = count * how->channels * how->to_height * how->to_width;

    if (all == 0) return cudaSuccess;
    return CULL_LAUNCH(resize, cull_cuda_blocks(all, THREADS), THREADS, 0, stream, *how, from, to,
                       count);
}
