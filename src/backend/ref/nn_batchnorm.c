/*
 * backend/ref/nn_batchnorm.c - batch normalisation, with the ReLU and addition behind it.
 *
 *     forward    x^ = (x - mean) rstd, z = gamma x^ + beta [+ x2], y = z or relu(z)
 *     backward   dz = dy or dy where y > 0; dgamma = sum dz x^; dbeta = sum dz; dx2 = dz
 *                A, B = means of dz and dz x^ over the rows given and their pixels
 *                dx_i = gamma rstd (dz_i - w_i (A + x^_i B))
 *
 * w_i is 1 in plain training; under reuse it is the weight of kept row i and mean, rstd are
 * those of the whole batch that was scored. Variance is biased in x^, unbiased in the average.
 */
#include <math.h>

#include "backend/ref/nn.h"

static void sizes(const cull_layer_desc *desc, cull_ref_sizes *out)
{
    out->w = out->b = (size_t)desc->x.c;
    out->stats = out->running = 2 * (size_t)desc->x.c;
    out->x2 = desc->fused_add ? out->x : 0;
}

static void statistics(const cull_layer_desc *d, const cull_layer_args *args, int64_t c)
{
    const double *x = args->x;
    double       *stats = args->stats, *running = args->running;
    int64_t       area = d->x.h * d->x.w, rows = d->x.n;
    double        count = (double)(rows * area), mean = 0, variance = 0;

    if (args->statistics == CULL_STATS_RUNNING) {
        stats[c] = running[c];
        stats[d->x.c + c] = 1 / sqrt(running[d->x.c + c] + d->epsilon);
        return;
    }
    for (int64_t n = 0; n < rows; n++)
        for (int64_t i = 0; i < area; i++) mean += x[(n * d->x.c + c) * area + i];
    mean /= count;
    for (int64_t n = 0; n < rows; n++) {
        for (int64_t i = 0; i < area; i++) {
            double centred = x[(n * d->x.c + c) * area + i] - mean;
            variance += centred * centred;
        }
    }
    stats[c] = mean;
    stats[d->x.c + c] = 1 / sqrt(variance / count + d->epsilon);
    if (args->statistics != CULL_STATS_UPDATE) return;
    running[c] += d->momentum * (mean - running[c]);
    running[d->x.c + c] +=
        d->momentum * (variance / (count > 1 ? count - 1 : 1) - running[d->x.c + c]);
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *x2 = args->x2, *gamma = args->w, *beta = args->b;
    const double *stats = args->stats;
    double       *y = args->y;
    int64_t       area = d->x.h * d->x.w;

    for (int64_t c = 0; c < d->x.c; c++) {
        statistics(d, args, c);
        for (int64_t n = 0; n < d->x.n; n++) {
            for (int64_t i = 0; i < area; i++) {
                int64_t at = (n * d->x.c + c) * area + i;
                double  z = gamma[c] * ((x[at] - stats[c]) * stats[d->x.c + c]) + beta[c];

                if (d->fused_add) z += x2[at];
                y[at] = d->fused_relu && z < 0 ? 0 : z;
            }
        }
    }
}

/* The gradient before the ReLU. */
static double before(const cull_layer_desc *d, const cull_layer_args *args, int64_t at)
{
    return d->fused_relu && !(((const double *)args->y)[at] > 0) ? 0
                                                                 : ((const double *)args->dy)[at];
}

static void channel_backward(const cull_layer_desc *d, const cull_layer_args *args, int64_t c)
{
    const double *x = args->x, *stats = args->stats;
    double       *dx = args->dx, *dx2 = args->dx2;
    int64_t       area = d->x.h * d->x.w;
    double        mean = stats[c], rstd = stats[d->x.c + c], gamma = ((const double *)args->w)[c];
    double        sum = 0, product = 0, count = (double)(d->x.n * area);

    for (int64_t n = 0; n < d->x.n; n++) {
        for (int64_t i = 0; i < area; i++) {
            int64_t at = (n * d->x.c + c) * area + i;
            double  dz = before(d, args, at);

            sum += dz;
            product += dz * (x[at] - mean) * rstd;
        }
    }
    ((double *)args->dw)[c] = product;
    ((double *)args->db)[c] = sum;
    for (int64_t n = 0; n < d->x.n; n++) {
        double weight = args->row_weight ? args->row_weight[n] : 1;
        for (int64_t i = 0; i < area; i++) {
            int64_t at = (n * d->x.c + c) * area + i;
            double  dz = before(d, args, at), scaled = (x[at] - mean) * rstd;
            double  value = gamma * rstd * (dz - weight * (sum / count + scaled * product / count));

            if (dx) dx[at] = value + (args->accumulate ? dx[at] : 0);
            if (dx2) dx2[at] = dz + (args->accumulate2 ? dx2[at] : 0);
        }
    }
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    for (int64_t c = 0; c < d->x.c; c++) channel_backward(d, args, c);
}

const cull_ref_rule cull_ref_batchnorm = {
    .kind = CULL_LAYER_BATCHNORM, .sizes = sizes, .forward = forward, .backward = backward};
