/*
 * backend/cpu/nn_activate.c - pointwise: relu, relu6, gelu by erf or tanh, tanh, and the sum of
 * two.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/nn.h"

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
    cull_activation   kind = job->op->desc.activation;
    const float      *x = job->args->x;
    float            *y = job->args->y;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    if (clips(job->op))
        cull_cpu_loops(job->op)->clip(last - first, x + first, top_of(job->op), y + first);
    else if (kind != CULL_TANH)
        cull_cpu_sequences(job->op)->bend(kind, last - first, x + first, y + first);
    for (size_t i = first; kind == CULL_TANH && i < last; i++) y[i] = (float)tanh((double)x[i]);
}

static void backward_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    cull_activation   kind = job->op->desc.activation;
    bool              add = job->args->accumulate;
    const float      *x = job->args->x, *y = job->args->y, *dy = job->args->dy;
    float            *dx = job->args->dx;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->count, job->parts, task, &first, &last);
    if (clips(job->op))
        cull_cpu_loops(job->op)->clip_back(last - first, y + first, top_of(job->op), dy + first,
                                           dx + first, add);
    else if (kind != CULL_TANH)
        cull_cpu_sequences(job->op)->bend_back(kind, last - first, x + first, dy + first,
                                               dx + first, add);
    for (size_t i = first; kind == CULL_TANH && i < last; i++)
        dx[i] = dy[i] * (1 - y[i] * y[i]) + (add ? dx[i] : 0);
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
