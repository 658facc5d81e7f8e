/*
 * backend/cpu/nn_activate.c - pointwise: relu, relu6, gelu by erf or tanh, tanh, and the sum of
 * two.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/nn.h"

#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_TWO_PI 0.39894228040143267794
#define SQRT_TWO_BY_PI  0.79788456080286535588
#define CUBIC           0.044715

struct job {
    const cull_layer_op   *op;
    const cull_layer_args *args;
    size_t                 count, parts;
};

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    (void)backend;
    return cull_cpu_layer_new(desc, sizeof **out, out);
}

/* Elements, not rows, are shared out: layouts do not matter here. */
static cull_status run(cull_layer_op *op, const cull_layer_args *args, cull_team_task task)
{
    struct job job = {op, args, (size_t)(op->desc.x.n * cull_image_row(&op->desc.x)), 1};

    job.parts = cull_cpu_parts(op->backend, job.count, 1);
    cull_team_run(op->backend->team, job.parts, task, &job);
    return CULL_OK;
}

static double value(cull_activation kind, double x)
{
    switch (kind) {
    case CULL_GELU_TANH: return 0.5 * x * (1 + tanh(SQRT_TWO_BY_PI * (x + CUBIC * x * x * x)));
    case CULL_TANH: return tanh(x);
    default: return 0.5 * x * (1 + erf(x * SQRT_HALF));
    }
}

/* v: x, or of tanh y. */
static double slope(cull_activation kind, double v)
{
    double t = 0;

    switch (kind) {
    case CULL_GELU_TANH:
        t = tanh(SQRT_TWO_BY_PI * (v + CUBIC * v * v * v));
        return 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * SQRT_TWO_BY_PI * (1 + 3 * CUBIC * v * v);
    case CULL_TANH: return 1 - v * v;
    default: return 0.5 * (1 + erf(v * SQRT_HALF)) + v * INV_SQRT_TWO_PI * exp(-0.5 * v * v);
    }
}

static void bend(cull_activation kind, const float *x, size_t first, size_t last, float *y)
{
    for (size_t i = first; i < last; i++) y[i] = (float)value(kind, (double)x[i]);
}

static void bend_back(cull_activation kind, const float *seen, const float *dy, size_t first,
                      size_t last, float *dx, bool accumulate)
{
    for (size_t i = first; i < last; i++) {
        float gradient = (float)((double)dy[i] * slope(kind, (double)seen[i]));

        dx[i] = accumulate ? dx[i] + gradient : gradient;
    }
}

/* relu and relu6, which are one loop of kernels_layer.h. */
static bool clips(const cull_layer_op *op)
{
    return op->desc.activation == CULL_RELU || op->desc.activation == CULL_RELU6;
}

static float top_of(const cull_layer_op *op)
{
    return op->desc.activation == CULL_RELU6 ? 6 : INFINITY;
}

static void forward_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    const float      *x = job->args->x;
    float            *y = job->args->y;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    if (!clips(job->op))
        bend(job->op->desc.activation, x, first, last, y);
    else
        cull_cpu_loops(job->op)->clip(last - first, x + first, top_of(job->op), y + first);
}

static void backward_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    cull_activation   kind = job->op->desc.activation;
    const float      *x = job->args->x, *y = job->args->y, *dy = job->args->dy;
    float            *dx = job->args->dx;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    if (!clips(job->op))
        bend_back(kind, cull_activation_reads_x(kind) ? x : y, dy, first, last, dx,
                  job->args->accumulate);
    else
        cull_cpu_loops(job->op)->clip_back(last - first, y + first, top_of(job->op), dy + first,
                                           dx + first, job->args->accumulate);
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, forward_part);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, backward_part);
}

const cull_layer_class cull_cpu_activate = {create, forward, backward, cull_cpu_layer_free};

/* ---- add ---- */

static void add_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    const float      *x = job->args->x, *x2 = job->args->x2;
    float            *y = job->args->y;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    cull_cpu_loops(job->op)->add(last - first, x + first, x2 + first, y + first);
}

static void hand_back(const cull_layer_loops *loops, const float *dy, size_t count, float *dx,
                      bool accumulate)
{
    if (accumulate)
        loops->add(count, dx, dy, dx);
    else
        memcpy(dx, dy, count * sizeof *dx);
}

static void add_back_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const cull_layer_loops *loops = cull_cpu_loops(job->op);
    const cull_layer_args  *a = job->args;
    const float            *dy = a->dy;
    size_t                  first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    if (a->dx) hand_back(loops, dy + first, last - first, (float *)a->dx + first, a->accumulate);
    if (a->dx2) hand_back(loops, dy + first, last - first, (float *)a->dx2 + first, a->accumulate2);
}

static cull_status add_forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, add_part);
}

static cull_status add_backward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, add_back_part);
}

const cull_layer_class cull_cpu_add = {create, add_forward, add_backward, cull_cpu_layer_free};
