/*
 * backend/ref/nn_loss.c - losses of each example, and their gradients p; dx = scale weight p.
 *
 *     cross-entropy   target_k = (1 - s) [k = label] + s/C        s: label smoothing
 *                     loss     = log sum exp x - sum target x     p = softmax(x) - target
 *     squared         loss     = 1/W sum (x - t)^2                p = 2 (x - t) / W
 *     binary          loss     = 1/W sum log(1 + exp x) - t x     p = (sigmoid(x) - t) / W
 */
#include <math.h>

#include "backend/ref/nn.h"

static void put(const cull_layer_args *args, int64_t row, int64_t at, double gradient)
{
    double weight = args->scale * (args->weight ? args->weight[row] : 1);

    if (args->p) ((double *)args->p)[at] = gradient;
    if (args->dx) ((double *)args->dx)[at] = weight * gradient;
}

static double cross_entropy(const cull_layer_desc *d, const cull_layer_args *args, int64_t n)
{
    int64_t       classes = cull_image_row(&d->x), label = ((const int32_t *)args->target)[n];
    const double *x = (const double *)args->x + n * classes;
    double        top = x[0], sum = 0, expected = 0, smoothing = d->loss.smoothing;

    for (int64_t k = 1; k < classes; k++) top = x[k] > top ? x[k] : top;
    for (int64_t k = 0; k < classes; k++) sum += exp(x[k] - top);
    for (int64_t k = 0; k < classes; k++) {
        double target = smoothing / (double)classes + (k == label ? 1 - smoothing : 0);

        expected += target * (x[k] - top);
        put(args, n, n * classes + k, exp(x[k] - top) / sum - target);
    }
    return log(sum) - expected;
}

static double squared(const cull_layer_desc *d, const cull_layer_args *args, int64_t n)
{
    int64_t       outputs = cull_image_row(&d->x);
    const double *x = args->x, *t = args->target;
    double        sum = 0;

    for (int64_t i = n * outputs; i < (n + 1) * outputs; i++) {
        sum += (x[i] - t[i]) * (x[i] - t[i]);
        put(args, n, i, 2 * (x[i] - t[i]) / (double)outputs);
    }
    return sum / (double)outputs;
}

/* Nothing overflows, and neither tail is lost: 1 - sigmoid(x) is taken as sigmoid(-x). */
static double binary(const cull_layer_desc *d, const cull_layer_args *args, int64_t n)
{
    int64_t        outputs = cull_image_row(&d->x);
    const uint8_t *t = args->target;
    double         sum = 0;

    for (int64_t i = n * outputs; i < (n + 1) * outputs; i++) {
        double x = ((const double *)args->x)[i], away = t[i] ? -x : x; /* from the truth */
        double small = exp(-fabs(x));

        sum += (away > 0 ? away : 0) + log1p(small);
        away = (away > 0 ? 1 : small) / (1 + small);
        put(args, n, i, (t[i] ? -away : away) / (double)outputs);
    }
    return sum / (double)outputs;
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    static double (*const rules[])(const cull_layer_desc *, const cull_layer_args *,
                                   int64_t) = {[CULL_LOSS_CROSS_ENTROPY] = cross_entropy,
                                               [CULL_LOSS_SQUARED] = squared,
                                               [CULL_LOSS_BINARY] = binary};

    for (int64_t n = 0; n < d->x.n; n++) args->loss[n] = rules[d->loss.kind](d, args, n);
}

const cull_ref_rule cull_ref_loss = {
    .kind = CULL_LAYER_LOSS, .check = cull_layer_check_targets, .forward = forward};
