/*
 * optim/clip.c - gradients no longer than a given norm, as torch.nn.utils.clip_grad_norm_.
 *
 *     norm = sqrt(sum g^2)        g = g min(1, most / (norm + 1e-6))
 *
 * The sum is over chunks of fixed size, within a chunk over LANES interleaved sums: the same
 * bits whatever the number of threads or the width of the vector unit.
 */
#include <math.h>

#include "optim/optim.h"

enum { LANES = 8 };

struct norm_job {
    cull_dtype  dtype;
    size_t      count;
    const void *gradient;
    double     *partial;
};

struct scale_job {
    cull_dtype dtype;
    size_t     count;
    void      *gradient;
    double     scale;
};

static size_t chunk_length(size_t count, size_t task)
{
    size_t left = count - task * CULL_OPTIM_CHUNK;

    return left < CULL_OPTIM_CHUNK ? left : CULL_OPTIM_CHUNK;
}

#define SQUARES(name, T)                                                                           \
    static double name(const T *g, size_t count)                                                   \
    {                                                                                              \
        double sum[LANES] = {0}, all = 0;                                                          \
        size_t i = 0;                                                                              \
                                                                                                   \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (size_t l = 0; l < LANES; l++) sum[l] += (double)g[i + l] * (double)g[i + l];      \
        for (; i < count; i++) sum[i % LANES] += (double)g[i] * (double)g[i];                      \
        for (size_t l = 0; l < LANES; l++) all += sum[l];                                          \
        return all;                                                                                \
    }

SQUARES(squares_f32, float)
SQUARES(squares_f64, double)

static void norm_chunk(void *context, size_t task, unsigned worker)
{
    struct norm_job *job = context;
    size_t           from = task * CULL_OPTIM_CHUNK, count = chunk_length(job->count, task);

    (void)worker;
    job->partial[task] = job->dtype == CULL_F32
                             ? squares_f32((const float *)job->gradient + from, count)
                             : squares_f64((const double *)job->gradient + from, count);
}

double cull_optim_norm(cull_team *team, cull_dtype dtype, size_t count, const void *gradient,
                       double *partial)
{
    struct norm_job job = {dtype, count, gradient, partial};
    size_t          chunks = (count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;
    double          sum = 0;

    cull_team_run(team, chunks, norm_chunk, &job);
    for (size_t i = 0; i < chunks; i++) sum += partial[i];
    return sqrt(sum);
}

static void scale_chunk(void *context, size_t task, unsigned worker)
{
    struct scale_job *job = context;
    size_t            from = task * CULL_OPTIM_CHUNK, count = chunk_length(job->count, task);

    (void)worker;
    if (job->dtype == CULL_F32) {
        float *g = (float *)job->gradient + from;
        for (size_t i = 0; i < count; i++) g[i] *= (float)job->scale;
    } else {
        double *g = (double *)job->gradient + from;
        for (size_t i = 0; i < count; i++) g[i] *= job->scale;
    }
}

void cull_optim_clip(cull_team *team, cull_dtype dtype, size_t count, double norm, double most,
                     void *gradient)
{
    struct scale_job job = {dtype, count, gradient, most / (norm + 1e-6)};

    if (job.scale >= 1) return;
    cull_team_run(team, (count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK, scale_chunk, &job);
}
