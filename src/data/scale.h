/*
 * data/scale.h - a picture made larger or smaller, or a part of it.
 *
 * A new pixel is the mean of the pixels around its middle, weighted by a triangle that reaches as
 * far as two new pixels are wide, and no less than two old ones. Along each axis
 *
 *     step = extent / to      reach = max(1, step)      middle_i = (i + 1/2) step
 *     w_ij = max(0, 1 - |j + 1/2 - middle_i| / reach)   over the j that there are, their sum made 1
 *
 * and out_yx = round(sum_j sum_k w_yj w_xk in_jk). That is bilinear interpolation where a picture
 * grows, and an average without aliasing where it shrinks.
 */
#ifndef CULL_DATA_SCALE_H
#define CULL_DATA_SCALE_H

#include "base/status.h"

typedef struct cull_scale_axis {
    size_t from;   /* old pixels that there are                                          */
    double extent; /* how many of them the picture fills: from, or up to one less        */
    size_t to;     /* new pixels that the whole becomes                                  */
    size_t first;  /* of which those from `first` on are made, `count` of them:          */
    size_t count;  /* first + count <= to                                                */
} cull_scale_axis;

/* Where new pixels go: out[channel * plane + y * down + x * across], y and x from 0. */
typedef struct cull_scale_out {
    uint8_t  *out;
    size_t    plane;
    ptrdiff_t down, across;
} cull_scale_out;

/* pixels: (down.from, across.from, channels), channels 1 or 3. Allocates what it needs for itself;
 * CULL_NO_MEMORY. The same for the same arguments on any machine. */
cull_status cull_data_scale(const uint8_t *pixels, size_t channels, const cull_scale_axis *down,
                            const cull_scale_axis *across, const cull_scale_out *to);

#endif
