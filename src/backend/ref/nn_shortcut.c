/*
 * backend/ref/nn_shortcut.c - the shortcut without parameters of He et al. (2016), option A.
 *
 *     y[n, c + (C' - C)/2, p, q] = x[n, c, p S, q S], zero in the channels left over
 */
#include <string.h>

#include "backend/ref/nn.h"

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x;
    double       *y = args->y;
    int64_t       first = (d->y.c - d->x.c) / 2;

    memset(y, 0, (size_t)(d->y.n * cull_image_row(&d->y)) * sizeof *y);
    for (int64_t n = 0; n < d->x.n; n++)
        for (int64_t c = 0; c < d->x.c; c++)
            for (int64_t p = 0; p < d->y.h; p++)
                for (int64_t q = 0; q < d->y.w; q++)
                    y[((n * d->y.c + first + c) * d->y.h + p) * d->y.w + q] =
                        x[((n * d->x.c + c) * d->x.h + p * d->stride[0]) * d->x.w +
                          q * d->stride[1]];
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *dy = args->dy;
    double       *dx = args->dx;
    int64_t       first = (d->y.c - d->x.c) / 2;

    if (!args->accumulate) memset(dx, 0, (size_t)(d->x.n * cull_image_row(&d->x)) * sizeof *dx);
    for (int64_t n = 0; n < d->x.n; n++)
        for (int64_t c = 0; c < d->x.c; c++)
            for (int64_t p = 0; p < d->y.h; p++)
                for (int64_t q = 0; q < d->y.w; q++)
                    dx[((n * d->x.c + c) * d->x.h + p * d->stride[0]) * d->x.w +
                       q * d->stride[1]] +=
                        dy[((n * d->y.c + first + c) * d->y.h + p) * d->y.w + q];
}

const cull_ref_rule cull_ref_shortcut = {
    .kind = CULL_LAYER_SHORTCUT, .forward = forward, .backward = backward};
