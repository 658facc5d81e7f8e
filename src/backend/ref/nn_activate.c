/*
 * backend/ref/nn_activate.c - pointwise functions.
 *
 *     relu   max(x, 0)          gradient where y > 0
 *     relu6  min(max(x, 0), 6)  gradient where 0 < y < 6
 *     gelu   x Phi(x)           gradient Phi(x) + x phi(x), Phi and phi of the normal law
 *            or by tanh: x (1 + t)/2 with t = tanh(sqrt(2/pi) (x + .044715 x^3))
 *     tanh                      gradient 1 - y^2
 *
 * NaN stays NaN: a network that has lost its numbers must not look sound.
 */
#include <math.h>

#include "backend/ref/nn.h"

#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_TWO_PI 0.39894228040143267794
#define SQRT_TWO_BY_PI  0.79788456080286535588
#define CUBIC           0.044715

static double value(cull_activation kind, double x)
{
    switch (kind) {
    case CULL_RELU: return x < 0 ? 0 : x;
    case CULL_RELU6: return x < 0 ? 0 : (x > 6 ? 6 : x);
    case CULL_GELU: return 0.5 * x * (1 + erf(x * SQRT_HALF));
    case CULL_GELU_TANH: return 0.5 * x * (1 + tanh(SQRT_TWO_BY_PI * (x + CUBIC * x * x * x)));
    case CULL_TANH: return tanh(x);
    }
    return x;
}

static double tanh_slope(double x)
{
    double t = tanh(SQRT_TWO_BY_PI * (x + CUBIC * x * x * x));

    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * SQRT_TWO_BY_PI * (1 + 3 * CUBIC * x * x);
}

static double slope(cull_activation kind, double x, double y)
{
    switch (kind) {
    case CULL_RELU: return y > 0;
    case CULL_RELU6: return y > 0 && y < 6;
    case CULL_GELU: return 0.5 * (1 + erf(x * SQRT_HALF)) + x * INV_SQRT_TWO_PI * exp(-0.5 * x * x);
    case CULL_GELU_TANH: return tanh_slope(x);
    case CULL_TANH: return 1 - y * y;
    }
    return 1;
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x;
    double       *y = args->y;

    for (int64_t i = 0; i < d->x.n * cull_image_row(&d->x); i++) y[i] = value(d->activation, x[i]);
}

/* gelu reads x, the others y; the other one may be absent. */
static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *y = args->y, *dy = args->dy;
    double       *dx = args->dx;
    bool          reads_x = cull_activation_reads_x(d->activation);

    for (int64_t i = 0; i < d->x.n * cull_image_row(&d->x); i++) {
        double gradient = dy[i] * slope(d->activation, reads_x ? x[i] : 0, reads_x ? 0 : y[i]);
        dx[i] = gradient + (args->accumulate ? dx[i] : 0);
    }
}

const cull_ref_rule cull_ref_activate = {
    .kind = CULL_LAYER_ACTIVATE, .forward = forward, .backward = backward};
