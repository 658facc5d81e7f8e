/*
 * backend/ref/nn_conv.c - grouped convolution (cross-correlation) with zero padding.
 *
 *     y[n,o,p,q] = b[o] + sum over c,r,s of W[o,c,r,s] x[n, g C/G + c, p S - P + r, q S - P + s]
 *
 * with g the group of o. Both directions walk the same pairs (output pixel, tap) and differ in
 * what they accumulate: y, or dW and dx.
 */
#include <string.h>

#include "backend/ref/nn.h"

struct taps {
    int64_t first, last; /* kernel rows (columns) that fall inside the image */
    int64_t at;          /* image row (column) under tap 0; may be negative  */
};

static struct taps taps(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t extent)
{
    struct taps t = {0, kernel, out * stride - pad};

    if (t.at < 0) t.first = -t.at;
    if (t.at + t.last > extent) t.last = extent - t.at;
    return t;
}

static void sizes(const cull_layer_desc *desc, cull_ref_sizes *out)
{
    out->w = (size_t)(desc->y.c * (desc->x.c / desc->groups) * desc->kernel[0] * desc->kernel[1]);
    out->b = desc->bias ? (size_t)desc->y.c : 0;
}

/* One output plane: forward when y is given, else dW (and dx) from dy. */
static void plane(const cull_layer_desc *d, const cull_layer_args *args, int64_t n, int64_t o,
                  double *y)
{
    int64_t       per = d->x.c / d->groups, first = o / (d->y.c / d->groups) * per;
    int64_t       area = d->kernel[0] * d->kernel[1];
    const double *w = (const double *)args->w + o * per * area, *dy = args->dy;
    double       *dw = y ? NULL : (double *)args->dw + o * per * area;

    for (int64_t p = 0; p < d->y.h; p++) {
        struct taps v = taps(p, d->stride[0], d->pad[0], d->kernel[0], d->x.h);
        for (int64_t q = 0; q < d->y.w; q++) {
            struct taps h = taps(q, d->stride[1], d->pad[1], d->kernel[1], d->x.w);
            int64_t     pixel = ((n * d->y.c + o) * d->y.h + p) * d->y.w + q;
            double      sum = 0, gradient = y ? 0 : dy[pixel];

            for (int64_t c = 0; c < per; c++) {
                for (int64_t r = v.first; r < v.last; r++) {
                    int64_t row = ((n * d->x.c + first + c) * d->x.h + v.at + r) * d->x.w + h.at;
                    int64_t tap = (c * d->kernel[0] + r) * d->kernel[1];
                    const double *x = (const double *)args->x + row;
                    double       *dx = args->dx ? (double *)args->dx + row : NULL;

                    for (int64_t s = h.first; y && s < h.last; s++) sum += w[tap + s] * x[s];
                    for (int64_t s = h.first; !y && s < h.last; s++) dw[tap + s] += gradient * x[s];
                    for (int64_t s = h.first; !y && dx && s < h.last; s++)
                        dx[s] += gradient * w[tap + s];
                }
            }
            if (y) y[pixel] = sum + (d->bias ? ((const double *)args->b)[o] : 0);
        }
    }
}

static void forward(const cull_layer_desc *desc, const cull_layer_args *args)
{
    for (int64_t n = 0; n < desc->x.n; n++)
        for (int64_t o = 0; o < desc->y.c; o++) plane(desc, args, n, o, args->y);
}

static void backward(const cull_layer_desc *desc, const cull_layer_args *args)
{
    cull_ref_sizes count = {0};
    int64_t        area = desc->y.h * desc->y.w;
    const double  *dy = args->dy;
    double        *db = args->db;

    sizes(desc, &count);
    memset(args->dw, 0, count.w * sizeof(double));
    if (args->dx && !args->accumulate)
        memset(args->dx, 0, (size_t)(desc->x.n * cull_image_row(&desc->x)) * sizeof(double));
    for (int64_t n = 0; n < desc->x.n; n++)
        for (int64_t o = 0; o < desc->y.c; o++) plane(desc, args, n, o, NULL);
    for (int64_t o = 0; desc->bias && o < desc->y.c; o++) {
        db[o] = 0;
        for (int64_t n = 0; n < desc->x.n; n++)
            for (int64_t i = 0; i < area; i++) db[o] += dy[(n * desc->y.c + o) * area + i];
    }
}

const cull_ref_rule cull_ref_conv = {
    .kind = CULL_LAYER_CONV, .sizes = sizes, .forward = forward, .backward = backward};
