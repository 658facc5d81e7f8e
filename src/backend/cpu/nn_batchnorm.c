/*
 * backend/cpu/nn_batchnorm.c - batch normalisation with the addition and ReLU behind it.
 *
 *     forward    z = (x - mean) (gamma rstd) + beta [+ x2], y = z or relu(z)
 *     backward   dz = dy or dy where y > 0; S = sum dz, T = sum dz (x - mean)
 *                dbeta = S, dgamma = rstd T, dx2 = dz
 *                dx_i = k dz_i - w_i (k S/N + k rstd^2 T/N (x_i - mean)),  k = gamma rstd
 *
 * w_i is 1 but for rows that were kept (METHODS' reuse rule). Each direction takes two passes over
 * the rows; the second goes the other way round, so that it finds in the caches what the first saw
 * last. Moments are doubles over short runs of floats taken about a nearby value.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

enum { MEAN, SCALE, SHIFT, LEVEL, TILT, PARAMS };

struct batchnorm {
    cull_layer_op base;
    cull_cpu_view view;
    size_t        period, width, chunks; /* width: blocks * period         */
    float        *param;                 /* [PARAMS * width] as the loops read them */
    double       *lane;                  /* [threads][2 * width] sums of one chunk  */
    double       *sum;                   /* [chunks][2 * c]                         */
};

struct job {
    struct batchnorm       *norm;
    const cull_layer_loops *loops;
    const cull_layer_args  *args;
};

static void destroy(cull_layer_op *op)
{
    struct batchnorm *norm = (struct batchnorm *)op;

    cull_base_free_aligned(norm->param);
    cull_base_free_aligned(norm->lane);
    cull_base_free(norm->sum);
    cull_base_free(norm);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    struct batchnorm *norm = NULL;
    size_t            c = (size_t)desc->x.c;

    TRY(cull_cpu_layer_new(desc, sizeof *norm, &norm));
    norm->view = cull_cpu_see(&desc->x);
    norm->period = cull_cpu_period(norm->view.block);
    norm->width = norm->view.blocks * norm->period;
    norm->chunks = cull_cpu_chunks(norm->view.rows);
    norm->base.stats = 2 * c;
    TRY(cull_base_alloc_aligned(norm->width, PARAMS * sizeof(float), "a norm", &norm->param));
    TRY(cull_base_alloc_aligned(cull_team_size(backend->team), 2 * norm->width * sizeof(double),
                                "a norm", &norm->lane));
    TRY(cull_base_alloc(norm->chunks, 2 * c * sizeof(double), "a norm", &norm->sum));
    *out = &norm->base;
    norm = NULL;
done:
    if (norm) destroy(&norm->base);
    return status;
}

/* Parameters of block b. */
static cull_norm_params params_of(const struct batchnorm *norm, size_t b)
{
    const float *p = norm->param + b * norm->period;

    return (cull_norm_params){p + MEAN * norm->width, p + SCALE * norm->width,
                              p + SHIFT * norm->width, p + LEVEL * norm->width,
                              p + TILT * norm->width};
}

static void set_param(struct batchnorm *norm, int param, size_t channel, double value)
{
    size_t block = norm->view.block, at = channel / block * norm->period + channel % block;

    for (size_t i = 0; i < norm->period; i += block)
        norm->param[(size_t)param * norm->width + at + i] = (float)value;
}

/* Add up a chunk's lanes by channel. */
static void fold(const struct batchnorm *norm, const double *lane, double *sum)
{
    const cull_cpu_view *v = &norm->view;
    size_t               c = v->blocks * v->block;

    memset(sum, 0, 2 * c * sizeof *sum);
    for (int which = 0; which < 2; which++)
        for (size_t b = 0; b < v->blocks; b++)
            for (size_t i = 0; i < norm->period; i += v->block)
                for (size_t j = 0; j < v->block; j++)
                    sum[(size_t)which * c + b * v->block + j] +=
                        lane[(size_t)which * norm->width + b * norm->period + i + j];
}

/* The two sums of channel c over all chunks, in order. */
static void total(const struct batchnorm *norm, size_t c, double *first, double *second)
{
    size_t channels = (size_t)norm->base.desc.x.c;

    *first = *second = 0;
    for (size_t k = 0; k < norm->chunks; k++) {
        *first += norm->sum[k * 2 * channels + c];
        *second += norm->sum[k * 2 * channels + channels + c];
    }
}

static void sum_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct batchnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    const cull_layer_args  *a = job->args;
    double                 *lane = norm->lane + worker * 2 * norm->width;
    const float            *y = norm->base.desc.fused_relu ? a->y : NULL;
    size_t                  first = 0, last = 0;

    memset(lane, 0, 2 * norm->width * sizeof *lane);
    cull_cpu_part(v->rows, norm->chunks, task, &first, &last);
    for (size_t i = first * v->blocks; i < last * v->blocks; i++) {
        double *sum = lane + i % v->blocks * norm->period, *other = sum + norm->width;
        size_t  at = i * v->panel;

        if (!a->dy)
            job->loops->moments(v->panel, norm->period, (const float *)a->x + at, sum, other);
        else
            job->loops->norm_sums(v->panel, norm->period, params_of(norm, i % v->blocks).mean,
                                  (const float *)a->x + at, y ? y + at : NULL,
                                  (const float *)a->dy + at, sum, other);
    }
    fold(norm, lane, norm->sum + task * 2 * (size_t)norm->base.desc.x.c);
}

static void apply_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct batchnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    const cull_layer_args  *a = job->args;
    const cull_layer_desc  *d = &norm->base.desc;
    size_t                  first = 0, last = 0;

    (void)worker;
    cull_cpu_part(v->rows, norm->chunks, norm->chunks - 1 - task, &first, &last);
    for (size_t i = first * v->blocks; i < last * v->blocks; i++) {
        cull_norm_params p = params_of(norm, i % v->blocks);
        size_t           at = i * v->panel;

        job->loops->norm(v->panel, norm->period, &p, (const float *)a->x + at,
                         d->fused_add ? (const float *)a->x2 + at : NULL, d->fused_relu,
                         (float *)a->y + at);
    }
}

static void back_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct batchnorm *norm = job->norm;
    const cull_cpu_view    *v = &norm->view;
    const cull_layer_args  *a = job->args;
    size_t                  first = 0, last = 0;

    (void)worker;
    cull_cpu_part(v->rows, norm->chunks, norm->chunks - 1 - task, &first, &last);
    for (size_t i = first * v->blocks; i < last * v->blocks; i++) {
        cull_norm_params p = params_of(norm, i % v->blocks);
        double           weight = a->row_weight ? a->row_weight[i / v->blocks] : 1;
        size_t           at = i * v->panel;

        job->loops->norm_back(v->panel, norm->period, &p, (float)weight, (const float *)a->x + at,
                              norm->base.desc.fused_relu ? (const float *)a->y + at : NULL,
                              (const float *)a->dy + at, a->dx ? (float *)a->dx + at : NULL,
                              a->accumulate, a->dx2 ? (float *)a->dx2 + at : NULL, a->accumulate2);
    }
}

/* What forward computes with. The mean is rounded; what that loses goes into the shift. */
static void set_forward(struct batchnorm *norm, const cull_layer_args *args, size_t c, double mean,
                        double rstd)
{
    double scale = (double)((const float *)args->w)[c] * rstd;

    set_param(norm, MEAN, c, mean);
    set_param(norm, SCALE, c, scale);
    set_param(norm, SHIFT, c,
              (double)((const float *)args->b)[c] + ((double)(float)mean - mean) * scale);
}

/* Statistics of the batch into stats and, where asked for, the running averages. */
static void finish_statistics(struct batchnorm *norm, const cull_layer_args *args)
{
    const cull_layer_desc *d = &norm->base.desc;
    size_t                 channels = (size_t)d->x.c;
    double                 count = (double)(norm->view.rows * norm->view.area);
    float                 *stats = args->stats, *running = args->running;

    for (size_t c = 0; c < channels; c++) {
        double mean = 0, variance = 0;

        total(norm, c, &mean, &variance);
        mean /= count;
        variance = fmax(variance - count * mean * mean, 0);
        if (isnan(mean)) variance = mean;
        stats[c] = (float)mean;
        stats[channels + c] = (float)(1 / sqrt(variance / count + d->epsilon));
        set_forward(norm, args, c, mean, 1 / sqrt(variance / count + d->epsilon));
        if (args->statistics != CULL_STATS_UPDATE) continue;
        running[c] = (float)((double)running[c] + d->momentum * (mean - (double)running[c]));
        running[channels + c] = (float)((double)running[channels + c] +
                                        d->momentum * (variance / (count > 1 ? count - 1 : 1) -
                                                       (double)running[channels + c]));
    }
}

static void take_running(struct batchnorm *norm, const cull_layer_args *args)
{
    size_t       channels = (size_t)norm->base.desc.x.c;
    const float *running = args->running;
    float       *stats = args->stats;

    for (size_t c = 0; c < channels; c++) {
        stats[c] = running[c];
        stats[channels + c] =
            (float)(1 / sqrt((double)running[channels + c] + norm->base.desc.epsilon));
        set_forward(norm, args, c, (double)stats[c], (double)stats[channels + c]);
    }
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    struct batchnorm *norm = (struct batchnorm *)op;
    cull_layer_args   own = *args;
    struct job        job = {norm, cull_cpu_loops(op), &own};

    own.dy = NULL; /* a learning plan's, not yet written */
    if (args->statistics == CULL_STATS_RUNNING) {
        take_running(norm, args);
    } else {
        cull_team_run(op->backend->team, norm->chunks, sum_chunk, &job);
        finish_statistics(norm, args);
    }
    cull_team_run(op->backend->team, norm->chunks, apply_chunk, &job);
    return CULL_OK;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    struct batchnorm *norm = (struct batchnorm *)op;
    struct job        job = {norm, cull_cpu_loops(op), args};
    size_t            channels = (size_t)op->desc.x.c;
    double            count = (double)(norm->view.rows * norm->view.area);
    const float      *stats = args->stats, *gamma = args->w;

    for (size_t c = 0; c < channels; c++) set_param(norm, MEAN, c, (double)stats[c]);
    cull_team_run(op->backend->team, norm->chunks, sum_chunk, &job);
    for (size_t c = 0; c < channels; c++) {
        double rstd = (double)stats[channels + c], scale = (double)gamma[c] * rstd;
        double sum = 0, product = 0;

        total(norm, c, &sum, &product);
        ((float *)args->db)[c] = (float)sum;
        ((float *)args->dw)[c] = (float)(product * rstd);
        set_param(norm, SCALE, c, scale);
        set_param(norm, LEVEL, c, scale * sum / count);
        set_param(norm, TILT, c, scale * rstd * rstd * product / count);
    }
    if (args->dx || args->dx2) cull_team_run(op->backend->team, norm->chunks, back_chunk, &job);
    return CULL_OK;
}

const cull_layer_class cull_cpu_batchnorm = {create, forward, backward, destroy};
