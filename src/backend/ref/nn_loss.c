/*
 * backend/ref/nn_loss.c - softmax cross-entropy.
 *
 *     target_k = (1 - s) [k = label] + s/C        s: label smoothing
 *     loss     = log sum exp x - sum target x      per example, unweighted
 *     p        = softmax(x) - target
 *     dx       = scale weight p
 */
#include <math.h>

#include "backend/ref/nn.h"

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    int64_t classes = cull_image_row(&d->x);

    for (int64_t n = 0; n < d->x.n; n++) {
        const double *x = (const double *)args->x + n * classes;
        double       *p = args->p ? (double *)args->p + n * classes : NULL;
        double       *dx = args->dx ? (double *)args->dx + n * classes : NULL;
        double        top = x[0], sum = 0, expected = 0;
        double        weight = args->scale * (args->weight ? args->weight[n] : 1);

        for (int64_t k = 1; k < classes; k++) top = x[k] > top ? x[k] : top;
        for (int64_t k = 0; k < classes; k++) sum += exp(x[k] - top);
        for (int64_t k = 0; k < classes; k++) {
            double target =
                d->smoothing / (double)classes + (k == args->label[n] ? 1 - d->smoothing : 0);
            double gradient = exp(x[k] - top) / sum - target;

            expected += target * (x[k] - top);
            if (p) p[k] = gradient;
            if (dx) dx[k] = weight * gradient;
        }
        args->loss[n] = log(sum) - expected;
    }
}

const cull_ref_rule cull_ref_loss = {.kind = CULL_LAYER_LOSS, .forward = forward};
