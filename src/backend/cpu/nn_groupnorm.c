/*
 * backend/cpu/nn_groupnorm.c - normalisation over groups of channels of each example.
 *
 *     y = gamma x^ + beta, x^ = (x - mean) rstd over a group and all pixels
 *     dx = rstd (g - mean(g) - x^ mean(g x^)), g = dy gamma
 *
 * Both directions first take two sums for every channel of the example, from which those of its
 * groups follow; the loops are BatchNorm's. stats: an example's means, then its rstds.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

enum { MEAN, SCALE, SHIFT, LEVEL, TILT, PARAMS };

struct groupnorm {
    cull_layer_op base;
    cull_cpu_view view;
    size_t        channels, groups, period, width, chunks;
    float        *param; /* [threads][PARAMS * width]                     */
    double       *lane;  /* [threads][2 * width + 2 * channels] sums of a row */
    double       *sum;   /* [chunks][2 * channels] dgamma, dbeta          */
};

struct job {
    const struct groupnorm *norm;
    const cull_layer_loops *loops;
    const cull_layer_args  *args;
};

static void destroy(cull_layer_op *op)
{
    struct groupnorm *norm = (struct groupnorm *)op;

    cull_base_free_aligned(norm->param);
    cull_base_free_aligned(norm->lane);
    cull_base_free(norm->sum);
    cull_base_free(norm);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    struct groupnorm *norm = NULL;
    size_t            threads = cull_team_size(backend->team);

    TRY(cull_cpu_layer_new(desc, sizeof *norm, &norm));
    norm->view = cull_cpu_see(&desc->x);
    norm->channels = (size_t)desc->x.c;
    norm->groups = (size_t)desc->groups;
    norm->period = cull_cpu_period(norm->view.block);
    norm->width = norm->view.blocks * norm->period;
    norm->chunks = cull_cpu_chunks(norm->view.rows);
    norm->base.stats = 2 * norm->view.rows * norm->groups;
    norm->base.stats_by_row = true;
    TRY(cull_base_alloc_aligned(threads, PARAMS * norm->width * sizeof(float), "a norm",
                                &norm->param));
    TRY(cull_base_alloc_aligned(threads, 2 * (norm->width + norm->channels) * sizeof(double),
                                "a norm", &norm->lane));
    TRY(cull_base_alloc(norm->chunks, 2 * norm->channels * sizeof(double), "a norm", &norm->sum));
    *out = &norm->base;
    norm = NULL;
done:
    if (norm) destroy(&norm->base);
    return status;
}

static void set_param(const struct groupnorm *norm, float *param, int which, size_t channel,
                      double value)
{
    size_t block = norm->view.block, at = channel / block * norm->period + channel % block;

    for (size_t i = 0; i < norm->period; i += block)
        param[(size_t)which * norm->width + at + i] = (float)value;
}

static cull_norm_params params_of(const struct groupnorm *norm, const float *param, size_t b)
{
    const float *p = param + b * norm->period;

    return (cull_norm_params){p + MEAN * norm->width, p + SCALE * norm->width,
                              p + SHIFT * norm->width, p + LEVEL * norm->width,
                              p + TILT * norm->width};
}

/* The two sums of every channel of row n: forward of x and x^2, backward of dy and dy (x - mean),
 * behind the lanes they are made of. */
static double *row_sums(const struct job *job, size_t n, const float *param, double *lane)
{
    const struct groupnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    double                 *sum = lane + 2 * norm->width;

    memset(lane, 0, 2 * (norm->width + norm->channels) * sizeof *lane);
    for (size_t b = 0; b < v->blocks; b++) {
        size_t  at = n * v->row + b * v->panel;
        double *first = lane + b * norm->period, *second = first + norm->width;

        if (param)
            job->loops->norm_sums(v->panel, norm->period, params_of(norm, param, b).mean,
                                  (const float *)job->args->x + at, NULL,
                                  (const float *)job->args->dy + at, first, second);
        else
            job->loops->moments(v->panel, norm->period, (const float *)job->args->x + at, first,
                                second);
        for (size_t i = 0; i < norm->period; i++) {
            sum[b * v->block + i % v->block] += first[i];
            sum[norm->channels + b * v->block + i % v->block] += second[i];
        }
    }
    return sum;
}

static void forward_row(const struct job *job, size_t n, float *param, double *lane)
{
    const struct groupnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    const float            *gamma = job->args->w, *beta = job->args->b;
    float                  *stats = (float *)job->args->stats + 2 * n * norm->groups;
    size_t                  each = norm->channels / norm->groups;
    double                  count = (double)(each * v->area);
    const double           *sum = row_sums(job, n, NULL, lane);

    for (size_t g = 0; g < norm->groups; g++) {
        double mean = 0, square = 0;

        for (size_t c = g * each; c < (g + 1) * each; c++) {
            mean += sum[c] / count;
            square += sum[norm->channels + c] / count;
        }
        stats[g] = (float)mean;
        stats[norm->groups + g] =
            (float)(1 / sqrt(fmax(square - mean * mean, 0) + norm->base.desc.epsilon));
        for (size_t c = g * each; c < (g + 1) * each; c++) {
            double scale = (double)gamma[c] * (double)stats[norm->groups + g];

            set_param(norm, param, MEAN, c, mean);
            set_param(norm, param, SCALE, c, scale);
            set_param(norm, param, SHIFT, c, (double)beta[c] + ((double)stats[g] - mean) * scale);
        }
    }
    for (size_t b = 0; b < v->blocks; b++) {
        cull_norm_params p = params_of(norm, param, b);
        size_t           at = n * v->row + b * v->panel;

        job->loops->norm(v->panel, norm->period, &p, (const float *)job->args->x + at, NULL, false,
                         (float *)job->args->y + at);
    }
}

/* What one group of row n sends back; its channels' gradients are added to total. */
static void backward_group(const struct job *job, const float *stats, size_t g, const double *sum,
                           float *param, double *total)
{
    const struct groupnorm *norm = job->norm;
    const float            *gamma = job->args->w;
    size_t                  each = norm->channels / norm->groups;
    double                  count = (double)(each * norm->view.area), mean = 0, product = 0;
    double                  rstd = (double)stats[norm->groups + g];

    for (size_t c = g * each; c < (g + 1) * each; c++) {
        mean += (double)gamma[c] * sum[c] / count;
        product += (double)gamma[c] * sum[norm->channels + c] * rstd / count;
        total[c] += sum[norm->channels + c] * rstd;
        total[norm->channels + c] += sum[c];
    }
    for (size_t c = g * each; c < (g + 1) * each; c++) {
        set_param(norm, param, SCALE, c, (double)gamma[c] * rstd);
        set_param(norm, param, LEVEL, c, rstd * mean);
        set_param(norm, param, TILT, c, rstd * rstd * product);
    }
}

static void backward_row(const struct job *job, size_t n, float *param, double *lane, double *total)
{
    const struct groupnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    const cull_layer_args  *a = job->args;
    const float            *stats = (const float *)a->stats + 2 * n * norm->groups;
    size_t                  each = norm->channels / norm->groups;
    const double           *sum = NULL;

    for (size_t c = 0; c < norm->channels; c++)
        set_param(norm, param, MEAN, c, (double)stats[c / each]);
    sum = row_sums(job, n, param, lane);
    for (size_t g = 0; g < norm->groups; g++) backward_group(job, stats, g, sum, param, total);
    for (size_t b = 0; a->dx && b < v->blocks; b++) {
        cull_norm_params p = params_of(norm, param, b);
        size_t           at = n * v->row + b * v->panel;

        job->loops->norm_back(v->panel, norm->period, &p, 1, (const float *)a->x + at, NULL,
                              (const float *)a->dy + at, (float *)a->dx + at, a->accumulate, NULL,
                              false);
    }
}

static void run_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct groupnorm *norm = job->norm;
    float                  *param = norm->param + worker * PARAMS * norm->width;
    double                 *lane = norm->lane + worker * 2 * (norm->width + norm->channels);
    double                 *total = norm->sum + task * 2 * norm->channels;
    size_t                  first = 0, last = 0;

    cull_cpu_part(norm->view.rows, norm->chunks, task, &first, &last);
    memset(total, 0, 2 * norm->channels * sizeof *total);
    for (size_t n = first; n < last; n++) {
        if (job->args->dy)
            backward_row(job, n, param, lane, total);
        else
            forward_row(job, n, param, lane);
    }
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    struct groupnorm *norm = (struct groupnorm *)op;
    cull_layer_args   own = *args;
    struct job        job = {norm, cull_cpu_loops(op), &own};

    own.dy = NULL; /* tells the two directions apart */
    cull_team_run(op->backend->team, norm->chunks, run_chunk, &job);
    return CULL_OK;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    struct groupnorm *norm = (struct groupnorm *)op;
    struct job        job = {norm, cull_cpu_loops(op), args};

    cull_team_run(op->backend->team, norm->chunks, run_chunk, &job);
    for (size_t c = 0; c < norm->channels; c++) {
        double dgamma = 0, dbeta = 0;

        for (size_t k = 0; k < norm->chunks; k++) {
            dgamma += norm->sum[k * 2 * norm->channels + c];
            dbeta += norm->sum[k * 2 * norm->channels + norm->channels + c];
        }
        ((float *)args->dw)[c] = (float)dgamma;
        ((float *)args->db)[c] = (float)dbeta;
    }
    return CULL_OK;
}

const cull_layer_class cull_cpu_groupnorm = {create, forward, backward, destroy};
