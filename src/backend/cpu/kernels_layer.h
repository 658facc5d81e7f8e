/*
 * backend/cpu/kernels_layer.h - inner loops of the layers, compiled once per instruction set.
 *
 * The norms work on a panel: `length` floats, pixel by pixel, whose parameters repeat every
 * `period` floats (a multiple of CULL_LAYER_STRIP, and of the channels of a pixel). Sums run over
 * a few dozen pixels in float and are then added to one double for each place in the period.
 */
#ifndef CULL_BACKEND_CPU_KERNELS_LAYER_H
#define CULL_BACKEND_CPU_KERNELS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/cpu/kernels.h"

enum { CULL_LAYER_STRIP = 16 };

/* Parameters of a norm over one panel, [period] each. */
typedef struct cull_norm_params {
    const float *mean, *scale, *shift; /* forward: (x - mean) scale + shift            */
    const float *level, *tilt;         /* backward: scale dz - weight (level + tilt (x - mean)) */
} cull_norm_params;

/* Named in kernels.h. */
struct cull_layer_loops {
    /* sum += x, square += x^2 */
    void (*moments)(size_t length, size_t period, const float *x, double *sum, double *square);
    /* y = (x - mean) scale + shift [+ x2], negative ones 0 with relu; x2 may be NULL */
    void (*norm)(size_t length, size_t period, const cull_norm_params *p, const float *x,
                 const float *x2, bool relu, float *y);
    /* sum += dz, product += dz (x - mean); dz is dy, or with y dy where y > 0 */
    void (*norm_sums)(size_t length, size_t period, const float *mean, const float *x,
                      const float *y, const float *dy, double *sum, double *product);
    /* dx [+]= scale dz - weight (level + tilt (x - mean)); dx2 [+]= dz; each may be NULL */
    void (*norm_back)(size_t length, size_t period, const cull_norm_params *p, float weight,
                      const float *x, const float *y, const float *dy, float *dx, bool add_dx,
                      float *dx2, bool add_dx2);

    /* y = min(max(x, 0), top); dx [+]= dy where 0 < y < top */
    void (*clip)(size_t n, const float *x, float top, float *y);
    void (*clip_back)(size_t n, const float *y, float top, const float *dy, float *dx, bool add);
    void (*add)(size_t n, const float *x, const float *x2, float *y); /* y may be x */

    /* Pooling over the channels of a pixel: n of them, `taps` pixels of x at offsets at[] (in
     * floats) with numbers tap[]. winner NULL: not wanted. */
    void (*pool_max)(size_t n, size_t taps, const ptrdiff_t *at, const uint8_t *tap, const float *x,
                     float *y, uint8_t *winner);
    void (*pool_mean)(size_t n, size_t taps, const ptrdiff_t *at, const float *x, float *y);
    /* dx += dy where the winner is tap; dx += dy factor */
    void (*pool_max_back)(size_t n, uint8_t tap, const uint8_t *winner, const float *dy, float *dx);
    void (*pool_mean_back)(size_t n, float factor, const float *dy, float *dx);
    /* The maximum of four, for n outputs of few channels: output i looks at x[first[i] + step[k]].
     * back: dx there = dy for the winner, 0 for the others, or added with `add`. */
    void (*pool_four)(size_t n, const int32_t *first, const int32_t step[4], const float *x,
                      float *y, uint8_t *winner);
    void (*pool_four_back)(size_t n, const int32_t *first, const int32_t step[4],
                           const uint8_t *winner, const float *dy, float *dx, bool add);
};

/* Pixels of x and dy that meet under one tap of a convolution; distances in floats. */
typedef struct cull_conv_walk {
    size_t images, lines, count; /* count: pixels of a line       */
    size_t x_image, x_line, x_step;
    size_t dy_image, dy_line, dy_step;
} cull_conv_walk;

struct cull_conv_loops {
    size_t width; /* channels of a block: 8 or 16 */
    /* sum (width of x, width of dy) += sum over the pixels of x (x) dy */
    void (*outer)(const cull_conv_walk *walk, const float *x, const float *dy, float *sum);
    /* sum (channels) += sum over the pixels of x dy, channel by channel */
    void (*inner)(const cull_conv_walk *walk, size_t channels, const float *x, const float *dy,
                  float *sum);
};

struct cull_int8_loops {
    /* The largest |x| as its bits, which order floats as their values do, NaN above all. */
    uint32_t (*largest)(size_t n, const float *x);
    /* q = x factor to the nearest, all within 0 .. 255: `pixels` of n channels, in q `step` bytes
     * from one to the next. */
    void (*to_bytes)(size_t pixels, size_t n, size_t step, const float *x, float factor,
                     uint8_t *q);
    void (*to_signed)(size_t n, const float *x, float factor, int8_t *q); /* within +-127 */
    /* y = sum scale + shift, by channel; `step` sums from pixel to pixel. */
    void (*from_sums)(size_t pixels, size_t n, size_t step, const int32_t *sum, const float *scale,
                      const float *shift, float *y);
};

extern const cull_int8_loops  cull_int8_loops_base, cull_int8_loops_avx2, cull_int8_loops_avx512;
extern const cull_conv_loops  cull_conv_loops_base, cull_conv_loops_avx2, cull_conv_loops_avx512;
extern const cull_layer_loops cull_layer_loops_base, cull_layer_loops_avx2, cull_layer_loops_avx512;

#endif
