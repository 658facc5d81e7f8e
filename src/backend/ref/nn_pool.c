/*
 * backend/ref/nn_pool.c - pooling: maximum, average, average over the whole image.
 *
 * The maximum keeps the place of its winner inside the window (one byte, the first of equals) as
 * state, so that its rows can be gathered; padding never wins and is not counted in an average.
 * NaN is greater than every number, and the last of them wins.
 */
#include <math.h>
#include <string.h>

#include "backend/ref/nn.h"

struct window {
    int64_t r0, r1, s0, s1; /* image rows and columns, ends exclusive */
    int64_t top, left;      /* of the window, padding included        */
};

static struct window window_of(const cull_layer_desc *d, int64_t p, int64_t q)
{
    struct window w = {0};

    if (d->pooling == CULL_POOL_GLOBAL) return (struct window){0, d->x.h, 0, d->x.w, 0, 0};
    w.top = p * d->stride[0] - d->pad[0];
    w.left = q * d->stride[1] - d->pad[1];
    w.r0 = w.top > 0 ? w.top : 0;
    w.s0 = w.left > 0 ? w.left : 0;
    w.r1 = w.top + d->kernel[0] < d->x.h ? w.top + d->kernel[0] : d->x.h;
    w.s1 = w.left + d->kernel[1] < d->x.w ? w.left + d->kernel[1] : d->x.w;
    return w;
}

static double maximum(const cull_layer_desc *d, const double *x, const struct window *w,
                      uint8_t *winner)
{
    double best = 0;
    bool   any = false;

    for (int64_t r = w->r0; r < w->r1; r++) {
        for (int64_t s = w->s0; s < w->s1; s++) {
            double value = x[r * d->x.w + s];

            if (any && !(value > best || isnan(value))) continue;
            any = true;
            best = value;
            *winner = (uint8_t)((r - w->top) * d->kernel[1] + s - w->left);
        }
    }
    return best;
}

static double average(const cull_layer_desc *d, const double *x, const struct window *w)
{
    double sum = 0;

    for (int64_t r = w->r0; r < w->r1; r++)
        for (int64_t s = w->s0; s < w->s1; s++) sum += x[r * d->x.w + s];
    return sum / (double)((w->r1 - w->r0) * (w->s1 - w->s0));
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    double  *y = args->y;
    uint8_t *state = args->state, spare = 0;

    for (int64_t plane = 0; plane < d->x.n * d->x.c; plane++) {
        const double *x = (const double *)args->x + plane * d->x.h * d->x.w;
        for (int64_t p = 0; p < d->y.h; p++) {
            for (int64_t q = 0; q < d->y.w; q++) {
                int64_t       at = (plane * d->y.h + p) * d->y.w + q;
                struct window w = window_of(d, p, q);

                y[at] = d->pooling == CULL_POOL_MAX ? maximum(d, x, &w, state ? state + at : &spare)
                                                    : average(d, x, &w);
            }
        }
    }
}

static void spread(const cull_layer_desc *d, const struct window *w, double dy, double *dx)
{
    double share = dy / (double)((w->r1 - w->r0) * (w->s1 - w->s0));

    for (int64_t r = w->r0; r < w->r1; r++)
        for (int64_t s = w->s0; s < w->s1; s++) dx[r * d->x.w + s] += share;
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double  *dy = args->dy;
    const uint8_t *state = args->state;

    if (!args->accumulate)
        memset(args->dx, 0, (size_t)(d->x.n * cull_image_row(&d->x)) * sizeof(double));
    for (int64_t plane = 0; plane < d->x.n * d->x.c; plane++) {
        double *dx = (double *)args->dx + plane * d->x.h * d->x.w;
        for (int64_t p = 0; p < d->y.h; p++) {
            for (int64_t q = 0; q < d->y.w; q++) {
                int64_t       at = (plane * d->y.h + p) * d->y.w + q;
                struct window w = window_of(d, p, q);

                if (d->pooling == CULL_POOL_MAX)
                    dx[(w.top + state[at] / d->kernel[1]) * d->x.w + w.left +
                       state[at] % d->kernel[1]] += dy[at];
                else
                    spread(d, &w, dy[at], dx);
            }
        }
    }
}

const cull_ref_rule cull_ref_pool = {
    .kind = CULL_LAYER_POOL, .state_row = 1, .forward = forward, .backward = backward};
