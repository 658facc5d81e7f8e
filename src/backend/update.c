/*
 * backend/update.c - from gradients to new weights, over one block of each.
 *
 * SGD with momentum, as torch.optim.SGD without dampening:
 *
 *     d = g + decay w           b = momentum b + d, the first time b = d (b starts as 0)
 *     w = w - rate (d + momentum b) with Nesterov, w - rate b without
 *
 * Adam with decoupled weight decay, as torch.optim.AdamW:
 *
 *     w = w (1 - rate decay)
 *     m = m + (1 - beta1) (g - m)             v = beta2 v + (1 - beta2) g^2
 *     w = w - rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 *
 * Adam with the decay in the gradient, as torch.optim.Adam: the same with g + decay w in place of
 * g, and w not shrunk.
 *
 * Before any of them, gradients no longer than a given norm, as torch.nn.utils.clip_grad_norm_:
 *
 *     norm = sqrt(sum g^2)        g = g min(1, most / (norm + 1e-6))
 *
 * All of it is cut into chunks of fixed size, within a chunk sums are over LANES interleaved ones:
 * the same bits whatever the number of threads or the width of the vector unit.
 */
#include <math.h>

#include "backend/backend.h"
#include "base/exact.h"
#include "tensor/tensor.h"

enum { LANES = 8 };

#define SGD_RULE(name, T)                                                                          \
    static void name(const cull_optim_options *o, T rate, T decay, size_t count, T *restrict w,    \
                     const T *restrict g, T *restrict b)                                           \
    {                                                                                              \
        T momentum = (T)o->momentum;                                                               \
                                                                                                   \
        if (!b)                                                                                    \
            for (size_t i = 0; i < count; i++) w[i] -= rate * (g[i] + decay * w[i]);               \
        else if (o->nesterov)                                                                      \
            for (size_t i = 0; i < count; i++) {                                                   \
                T d = g[i] + decay * w[i];                                                         \
                b[i] = momentum * b[i] + d;                                                        \
                w[i] -= rate * (d + momentum * b[i]);                                              \
            }                                                                                      \
        else                                                                                       \
            for (size_t i = 0; i < count; i++) {                                                   \
                b[i] = momentum * b[i] + (g[i] + decay * w[i]);                                    \
                w[i] -= rate * b[i];                                                               \
            }                                                                                      \
    }

SGD_RULE(sgd_f32, float)
SGD_RULE(sgd_f64, double)

/* What is the same for all weights of a step, worked out in double. */
struct factors {
    double shrink, decay, beta1, beta2, rate, root, epsilon;
};

#define ADAMW_RULE(name, T, ROOT)                                                                  \
    static void name(const struct factors *f, size_t count, T *restrict w, const T *restrict g,    \
                     T *restrict m, T *restrict v)                                                 \
    {                                                                                              \
        T shrink = (T)f->shrink, take1 = (T)(1 - f->beta1), beta2 = (T)f->beta2;                   \
        T take2 = (T)(1 - f->beta2), rate = (T)f->rate, root = (T)f->root;                         \
        T epsilon = (T)f->epsilon;                                                                 \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            m[i] += take1 * (g[i] - m[i]);                                                         \
            v[i] = beta2 * v[i] + take2 * g[i] * g[i];                                             \
            w[i] = w[i] * shrink - rate * (m[i] / (ROOT(v[i]) / root + epsilon));                  \
        }                                                                                          \
    }

ADAMW_RULE(adamw_f32, float, sqrtf)
ADAMW_RULE(adamw_f64, double, sqrt)

#define ADAM_RULE(name, T, ROOT)                                                                   \
    static void name(const struct factors *f, size_t count, T *restrict w, const T *restrict g,    \
                     T *restrict m, T *restrict v)                                                 \
    {                                                                                              \
        T decay = (T)f->decay, take1 = (T)(1 - f->beta1), beta2 = (T)f->beta2;                     \
        T take2 = (T)(1 - f->beta2), rate = (T)f->rate, root = (T)f->root;                         \
        T epsilon = (T)f->epsilon;                                                                 \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            T d = g[i] + decay * w[i];                                                             \
            m[i] += take1 * (d - m[i]);                                                            \
            v[i] = beta2 * v[i] + take2 * d * d;                                                   \
            w[i] -= rate * (m[i] / (ROOT(v[i]) / root + epsilon));                                 \
        }                                                                                          \
    }

ADAM_RULE(adam_f32, float, sqrtf)
ADAM_RULE(adam_f64, double, sqrt)

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

struct job {
    const cull_op_args *args;
    double              scale; /* of clipping */
    struct factors      adam;  /* without decay */
};

static size_t chunk_end(const struct job *job, size_t task)
{
    size_t end = (task + 1) * CULL_OPTIM_CHUNK;

    return end < job->args->update.count ? end : job->args->update.count;
}

static void norm_chunk(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            from = task * CULL_OPTIM_CHUNK, count = chunk_end(job, task) - from;
    const void       *gradient = job->args->update.gradient;

    (void)worker;
    job->args->update.partial[task] = job->args->update.dtype == CULL_F32
                                          ? squares_f32((const float *)gradient + from, count)
                                          : squares_f64((const double *)gradient + from, count);
}

static void clip_chunk(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            from = task * CULL_OPTIM_CHUNK, count = chunk_end(job, task) - from;

    (void)worker;
    if (job->args->update.dtype == CULL_F32) {
        float *g = (float *)job->args->update.gradient + from;
        for (size_t i = 0; i < count; i++) g[i] *= (float)job->scale;
    } else {
        double *g = (double *)job->args->update.gradient + from;
        for (size_t i = 0; i < count; i++) g[i] *= job->scale;
    }
}

/* Weights from .. to, which share one decay. */
static void run_rule(const struct job *job, double decay, size_t from, size_t to)
{
    const cull_op_args *a = job->args;
    bool                narrow = a->update.dtype == CULL_F32;
    size_t              size = narrow ? sizeof(float) : sizeof(double), at = from * size;
    double              rate = a->update.now->rate;
    char               *w = (char *)a->update.value + at;
    const char         *g = (const char *)a->update.gradient + at;
    char               *b = a->update.buffer[0] ? (char *)a->update.buffer[0] + at : NULL;
    char               *b2 = a->update.buffer[1] ? (char *)a->update.buffer[1] + at : NULL;
    size_t              n = to - from;
    struct factors      f = job->adam;

    f.shrink = 1 - rate * decay;
    f.decay = decay;
    switch (a->update.rule.rule) {
    case CULL_OPTIM_SGD:
        if (narrow)
            sgd_f32(&a->update.rule, (float)rate, (float)decay, n, (void *)w, (const void *)g,
                    (void *)b);
        else
            sgd_f64(&a->update.rule, rate, decay, n, (void *)w, (const void *)g, (void *)b);
        return;
    case CULL_OPTIM_ADAMW:
        if (narrow)
            adamw_f32(&f, n, (void *)w, (const void *)g, (void *)b, (void *)b2);
        else
            adamw_f64(&f, n, (void *)w, (const void *)g, (void *)b, (void *)b2);
        return;
    case CULL_OPTIM_ADAM:
        if (narrow)
            adam_f32(&f, n, (void *)w, (const void *)g, (void *)b, (void *)b2);
        else
            adam_f64(&f, n, (void *)w, (const void *)g, (void *)b, (void *)b2);
        return;
    }
}

/* The new weights in bfloat16 too. */
static void narrow(const cull_op_args *args, size_t from, size_t to)
{
    uint16_t *small = args->update.narrow;

    for (size_t i = from; i < to; i++)
        small[i] = cull_bf16_of(args->update.dtype == CULL_F32
                                    ? ((const float *)args->update.value)[i]
                                    : (float)((const double *)args->update.value)[i]);
}

static void update_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const cull_optim_range *range = job->args->update.range;
    size_t                  ranges = job->args->update.ranges, from = task * CULL_OPTIM_CHUNK;
    size_t                  end = chunk_end(job, task);

    (void)worker;
    if (from < job->args->update.from) from = job->args->update.from;
    if (from >= end) return;
    for (size_t r = 0; r < ranges; r++) {
        size_t begin = range[r].at > from ? (size_t)range[r].at : from;
        size_t stop = r + 1 < ranges && range[r + 1].at < end ? (size_t)range[r + 1].at : end;

        if (begin < stop) run_rule(job, range[r].decay, begin, stop);
    }
    if (job->args->update.narrow) narrow(job->args, from, end);
}

/* Is there a gradient to go on with? */
static cull_status clip(cull_op *op, struct job *job, size_t chunks, bool *broken)
{
    const cull_op_args *a = job->args;
    cull_trouble       *trouble = a->update.trouble;
    double              sum = 0, norm = 0;

    cull_team_run(op->backend->team, chunks, norm_chunk, job);
    for (size_t i = 0; i < chunks; i++) sum += a->update.partial[i];
    *a->update.norm = norm = sqrt(sum);
    *broken = !isfinite(norm);
    if (*broken && !trouble) return cull_fail(CULL_NOT_FINITE, "the gradient is no longer finite");
    if (*broken) {
        *trouble = (cull_trouble){.what = CULL_WRONG_GRADIENT,
                                  .step = a->update.now->step,
                                  .epoch = a->update.now->epoch};
        return CULL_OK;
    }
    job->scale = a->update.rule.clip / (norm + 1e-6);
    if (job->scale < 1) cull_team_run(op->backend->team, chunks, clip_chunk, job);
    return CULL_OK;
}

static cull_status update(cull_op *op, const cull_op_args *args)
{
    cull_status               status = CULL_OK;
    const cull_optim_options *o = &args->update.rule;
    double                    t = (double)args->update.now->updates, rate = args->update.now->rate;
    struct job                job = {.args = args,
                                     .adam = {.beta1 = o->beta1,
                                              .beta2 = o->beta2,
                                              .rate = rate / (1 - cull_exact_pow(o->beta1, t)),
                                              .root = sqrt(1 - cull_exact_pow(o->beta2, t)),
                                              .epsilon = o->epsilon}};
    size_t chunks = (args->update.count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;
    bool   broken = false;

    if (args->update.trouble && args->update.trouble->what) goto done;
    if (o->clip > 0) TRY(clip(op, &job, chunks, &broken));
    if (!broken) cull_team_run(op->backend->team, chunks, update_chunk, &job);
done:
    return status;
}

const cull_op_class cull_host_update = {cull_host_create, update, cull_host_destroy};
