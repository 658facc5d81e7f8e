/*
 * backend/cuda/nn_gather.cuh - pixels, taps, and what a convolution reads of x under a tap, found
 * when it is asked for.
 */
#ifndef CULL_BACKEND_CUDA_NN_GATHER_CUH
#define CULL_BACKEND_CUDA_NN_GATHER_CUH

#include "backend/cuda/nn_product.cuh"
#include "backend/cuda/nn_shape.h"

enum { NOWHERE = -(1 << 28) }; /* so far out that no tap leads back */

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

#endif
