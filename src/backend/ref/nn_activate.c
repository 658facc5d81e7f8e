/*
 * backend/ref/nn_activate.c - pointwise functions.
 *
 *     relu   max(x, 0)          gradient where y > 0
 *     relu6  min(max(x, 0), 6)  gradient where 0 < y < 6
 *     gelu   x Phi(x)           gradient Phi(x) + x phi(x), Phi and phi of the normal law
 *
 * NaN stays NaN: a network that has lost its numbers must not look sound.
 */
#include <math.h>

#include "backend/ref/nn.h"

#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_TWO_PI 0.39894228040143267794

static double value(cull_activation kind, double x)
{
    switch (kind) {
    case CULL_RELU: return x < 0 ? 0 : x;
    case CULL_RELU6: return x < 0 ? 0 : (x > 6 ? 6 : x);
    case CULL_GELU: return 0.5 * x * (1 + erf(x * SQRT_HALF));
    }
    return x;
}

static double slope(cull_activation kind, double x, double y)
{
    switch (kind) {
    case CULL_RELU: return y > 0;
    case CULL_RELU6: return y > 0 && y < 6;
    case CULL_GELU: return 0.5 * (1 + erf(x * SQRT_HALF)) + x * INV_SQRT_TWO_PI * exp(-0.5 * x * x);
    }
    return 1;
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x;
    double       *y = args->y;

    for (int64_t i = 0; i < d->x.n * cull_image_row(&d->x); i++) y[i] = value(d->activation, x[i]);
}

/* relu and relu6 read y, gelu reads x; the other may be absent. */
static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *y = args->y, *dy = args->dy;
    double       *dx = args->dx;

    for (int64_t i = 0; i < d->x.n * cull_image_row(&d->x); i++) {
        double gradient = dy[i] * slope(d->activation, d->activation == CULL_GELU ? x[i] : 0,
                                        d->activation == CULL_GELU ? 0 : y[i]);
        dx[i] = gradient + (args->accumulate ? dx[i] : 0);
    }
}

const cull_ref_rule cull_ref_activate = {
    .kind = CULL_LAYER_ACTIVATE, .forward = forward, .backward = backward};
