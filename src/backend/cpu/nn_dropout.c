/*
 * backend/cpu/nn_dropout.c - dropout with the reference's mask: word e mod 4 of Philox at counter
 * (e/4, place, step) decides on element e of a row, counted in NCHW order.
 */
#include <math.h>

#include "backend/cpu/nn.h"
#include "base/rng.h"

struct job {
    const cull_layer_op   *op;
    const cull_layer_args *args;
    const float           *in;
    float                 *out;
    size_t                 parts;
    bool                   accumulate;
};

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    (void)backend;
    return cull_cpu_layer_new(desc, sizeof **out, out);
}

static void drop_row(const struct job *job, size_t n)
{
    const cull_layer_args *a = job->args;
    cull_cpu_view          v = cull_cpu_see(&job->op->desc.x);
    double                 p = job->op->desc.probability, scale = 1 / (1 - p);
    uint64_t               threshold = (uint64_t)ceil(p * 0x1p32), step = cull_layer_step(a);
    const float           *in = job->in + n * v.row;
    float                 *out = job->out + n * v.row;
    uint32_t               word[4] = {0};
    size_t                 e = 0;

    for (size_t c = 0; c < v.blocks * v.block; c++) {
        size_t from = c / v.block * v.panel + c % v.block;
        for (size_t i = 0; i < v.area; i++, e++) {
            size_t at = from + i * v.block;
            float  kept = 0;

            if (e % 4 == 0) {
                uint32_t counter[4] = {(uint32_t)(e / 4), a->place ? a->place[n] : (uint32_t)n,
                                       (uint32_t)step, (uint32_t)(step >> 32)};
                cull_base_philox(a->key, counter, word);
            }
            kept = word[e % 4] >= threshold ? (float)(scale * (double)in[at]) : 0;
            out[at] = job->accumulate ? out[at] + kept : kept;
        }
    }
}

/* A row whose elements lie in the order they are counted in. */
static void drop_straight(const struct job *job, size_t n)
{
    enum { RUN = 1024 };
    const cull_layer_args     *a = job->args;
    const cull_sequence_loops *loops = cull_cpu_sequences(job->op);
    size_t                     row = (size_t)cull_image_row(&job->op->desc.x);
    double                     scale = 1 / (1 - job->op->desc.probability);
    uint32_t                   below = 0, word[RUN];

    (void)cull_cpu_drops(job->op->desc.probability, &below);
    for (size_t e = 0; e < row; e += RUN) {
        size_t count = row - e < RUN ? row - e : RUN;

        loops->words((count + 3) / 4, a->key, (uint32_t)(e / 4),
                     a->place ? a->place[n] : (uint32_t)n, cull_layer_step(a), word);
        loops->drop(count, word, below, scale, job->in + n * row + e, job->out + n * row + e,
                    job->accumulate);
    }
}

static void drop_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    const cull_image *x = &job->op->desc.x;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part((size_t)job->op->desc.x.n, job->parts, task, &first, &last);
    for (size_t n = first; n < last; n++) {
        if (x->block == 1 && job->op->desc.probability > 0)
            drop_straight(job, n);
        else
            drop_row(job, n);
    }
}

static cull_status run(cull_layer_op *op, const cull_layer_args *args, const void *in, void *out,
                       bool accumulate)
{
    struct job job = {op, args, in, out, 1, accumulate};

    job.parts =
        cull_cpu_parts(op->backend, (size_t)op->desc.x.n, (size_t)cull_image_row(&op->desc.x));
    cull_team_run(op->backend->team, job.parts, drop_part, &job);
    return CULL_OK;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, args->x, args->y, false);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, args->dy, args->dx, args->accumulate);
}

const cull_layer_class cull_cpu_dropout = {create, forward, backward, cull_cpu_layer_free};
