/*
 * backend/ref/nn_groupnorm.c - normalisation within each example: group norm and layer norm.
 *
 *     x^ = (x - mean) rstd over a group of channels and all pixels of one example
 *     y = gamma x^ + beta       group norm: one gamma a channel; layer norm: one an element,
 *                               and a single group
 *     dx = rstd (g - mean(g) - x^ mean(g x^)), g = dy gamma, means over the group
 *
 * stats: for each example its groups' means, then their rstds.
 */
#include <math.h>
#include <string.h>

#include "backend/ref/nn.h"

static int64_t groups(const cull_layer_desc *d)
{
    return d->kind == CULL_LAYER_LAYERNORM ? 1 : d->groups;
}

/* Which gamma belongs to element i of an example. */
static int64_t parameter(const cull_layer_desc *d, int64_t i)
{
    return d->kind == CULL_LAYER_LAYERNORM ? i : i / (d->x.h * d->x.w);
}

static void sizes(const cull_layer_desc *d, cull_ref_sizes *out)
{
    out->w = out->b = (size_t)(d->kind == CULL_LAYER_LAYERNORM ? cull_image_row(&d->x) : d->x.c);
    out->stats = 2 * (size_t)(d->x.n * groups(d));
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    int64_t       count = groups(d), length = cull_image_row(&d->x) / count;
    const double *gamma = args->w, *beta = args->b;

    for (int64_t n = 0; n < d->x.n; n++) {
        for (int64_t g = 0; g < count; g++) {
            int64_t       first = g * length;
            const double *x = (const double *)args->x + n * cull_image_row(&d->x) + first;
            double       *y = (double *)args->y + n * cull_image_row(&d->x) + first;
            double       *stats = (double *)args->stats + 2 * n * count + g;
            double        mean = 0, variance = 0;

            for (int64_t i = 0; i < length; i++) mean += x[i];
            mean /= (double)length;
            for (int64_t i = 0; i < length; i++) variance += (x[i] - mean) * (x[i] - mean);
            stats[0] = mean;
            stats[count] = 1 / sqrt(variance / (double)length + d->epsilon);
            for (int64_t i = 0; i < length; i++) {
                int64_t at = parameter(d, first + i);
                y[i] = gamma[at] * (x[i] - mean) * stats[count] + beta[at];
            }
        }
    }
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    int64_t        count = groups(d), length = cull_image_row(&d->x) / count;
    const double  *gamma = args->w;
    double        *dgamma = args->dw, *dbeta = args->db;
    cull_ref_sizes size = {0};

    sizes(d, &size);
    memset(dgamma, 0, size.w * sizeof *dgamma);
    memset(dbeta, 0, size.b * sizeof *dbeta);
    for (int64_t n = 0; n < d->x.n; n++) {
        for (int64_t g = 0; g < count; g++) {
            int64_t       first = g * length, row = n * cull_image_row(&d->x) + first;
            const double *x = (const double *)args->x + row, *dy = (const double *)args->dy + row;
            double       *dx = args->dx ? (double *)args->dx + row : NULL;
            const double *stats = (const double *)args->stats + 2 * n * count + g;
            double        mean = 0, product = 0, rstd = stats[count];

            for (int64_t i = 0; i < length; i++) {
                int64_t at = parameter(d, first + i);
                double  scaled = (x[i] - stats[0]) * rstd;

                dgamma[at] += dy[i] * scaled;
                dbeta[at] += dy[i];
                mean += dy[i] * gamma[at] / (double)length;
                product += dy[i] * gamma[at] * scaled / (double)length;
            }
            for (int64_t i = 0; dx && i < length; i++) {
                double scaled = (x[i] - stats[0]) * rstd;
                double value =
                    rstd * (dy[i] * gamma[parameter(d, first + i)] - mean - scaled * product);
                dx[i] = value + (args->accumulate ? dx[i] : 0);
            }
        }
    }
}

const cull_ref_rule cull_ref_groupnorm = {.kind = CULL_LAYER_GROUPNORM,
                                          .sizes = sizes,
                                          .stats_by_row = true,
                                          .forward = forward,
                                          .backward = backward};
const cull_ref_rule cull_ref_layernorm = {.kind = CULL_LAYER_LAYERNORM,
                                          .sizes = sizes,
                                          .stats_by_row = true,
                                          .forward = forward,
                                          .backward = backward};
