/*
 * backend/cpu/nn_move.c - values that only change their place: another layout, channels of a
 * larger image, every second pixel.
 *
 *     convert    the same values in another layout; into features: in NCHW order
 *     concat     channels of x, then of x2
 *     shortcut   y[c + (C' - C)/2, p, q] = x[c, p S, q S], zero in the channels left over
 */
#include <string.h>

#include "backend/cpu/nn.h"

/* One pixel of one run of channels, or (run 1) a line of pixels of one channel. */
static inline void move_run(size_t count, size_t from_step, size_t to_step, const float *from,
                            float *to, bool accumulate)
{
    if (accumulate)
        for (size_t i = 0; i < count; i++) to[i * to_step] += from[i * from_step];
    else if (from_step == 1 && to_step == 1)
        memcpy(to, from, count * sizeof *to);
    else
        for (size_t i = 0; i < count; i++) to[i * to_step] = from[i * from_step];
}

void cull_cpu_move_row(const cull_cpu_move *m, const float *from, float *to)
{
    int64_t fb = m->from.block, tb = m->to.block, run = 0;

    for (int64_t c = 0; c < m->channels; c += run) {
        int64_t      f = m->from_first + c, t = m->to_first + c, left = m->channels - c;
        const float *source = from + f / fb * fb * m->from.h * m->from.w + f % fb;
        float       *target = to + t / tb * tb * m->to.h * m->to.w + t % tb;

        run = fb - f % fb < tb - t % tb ? fb - f % fb : tb - t % tb;
        if (run > left) run = left;
        for (int64_t p = 0; p < m->height; p++) {
            const float *line = source + p * m->from_stride[0] * m->from.w * fb;
            float       *goal = target + p * m->to_stride[0] * m->to.w * tb;
            int64_t      fs = m->from_stride[1] * fb, ts = m->to_stride[1] * tb;

            if (run == 1)
                move_run((size_t)m->width, (size_t)fs, (size_t)ts, line, goal, m->accumulate);
            for (int64_t q = 0; run > 1 && q < m->width; q++)
                move_run((size_t)run, 1, 1, line + q * fs, goal + q * ts, m->accumulate);
        }
    }
}

struct job {
    const cull_cpu_move *move;
    size_t               rows, parts;
    const float         *from;
    float               *to;
    bool                 clear; /* zero a row before */
};

static void move_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            from = (size_t)cull_image_row(&job->move->from);
    size_t            to = (size_t)cull_image_row(&job->move->to), first = 0, last = 0;

    (void)worker;
    cull_cpu_part(job->rows, job->parts, task, &first, &last);
    for (size_t n = first; n < last; n++) {
        if (job->clear) memset(job->to + n * to, 0, to * sizeof *job->to);
        cull_cpu_move_row(job->move, job->from + n * from, job->to + n * to);
    }
}

static void move_all(const cull_layer_op *op, const cull_cpu_move *move, const void *from, void *to,
                     bool clear)
{
    struct job job = {move, (size_t)move->from.n, 1, from, to, clear};

    job.parts = cull_cpu_parts(op->backend, job.rows, (size_t)cull_image_row(&move->to));
    cull_team_run(op->backend->team, job.parts, move_part, &job);
}

static cull_cpu_move whole(const cull_image *from, const cull_image *to)
{
    return (cull_cpu_move){.from = *from,
                           .to = *to,
                           .channels = from->c,
                           .from_stride = {1, 1},
                           .to_stride = {1, 1},
                           .height = from->h,
                           .width = from->w};
}

/* ---- convert ---- */

/* Features are an image in NCHW. */
static cull_image as_image(const cull_image *y, const cull_image *x)
{
    cull_image image = *x;

    image.block = y->h == x->h && y->w == x->w && y->c == x->c ? y->block : 1;
    return image;
}

static cull_status plain_create(cull_backend *backend, const cull_layer_desc *desc,
                                cull_layer_op **out)
{
    (void)backend;
    return cull_cpu_layer_new(desc, sizeof **out, out);
}

static cull_status convert_forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_image    y = as_image(&op->desc.y, &op->desc.x);
    cull_cpu_move move = whole(&op->desc.x, &y);

    move_all(op, &move, args->x, args->y, false);
    return CULL_OK;
}

static cull_status convert_backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_image    y = as_image(&op->desc.y, &op->desc.x);
    cull_cpu_move move = whole(&y, &op->desc.x);

    move.accumulate = args->accumulate;
    move_all(op, &move, args->dy, args->dx, false);
    return CULL_OK;
}

const cull_layer_class cull_cpu_convert = {plain_create, convert_forward, convert_backward,
                                           cull_cpu_layer_free};

/* ---- concat ---- */

static cull_status concat_forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_cpu_move first = whole(&op->desc.x, &op->desc.y);
    cull_cpu_move second = whole(&op->desc.x2, &op->desc.y);

    second.to_first = op->desc.x.c;
    move_all(op, &first, args->x, args->y, false);
    move_all(op, &second, args->x2, args->y, false);
    return CULL_OK;
}

static cull_status concat_backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_cpu_move first = whole(&op->desc.y, &op->desc.x);
    cull_cpu_move second = whole(&op->desc.y, &op->desc.x2);

    first.channels = op->desc.x.c;
    first.accumulate = args->accumulate;
    second.channels = op->desc.x2.c;
    second.from_first = op->desc.x.c;
    second.accumulate = args->accumulate2;
    if (args->dx) move_all(op, &first, args->dy, args->dx, false);
    if (args->dx2) move_all(op, &second, args->dy, args->dx2, false);
    return CULL_OK;
}

const cull_layer_class cull_cpu_concat = {plain_create, concat_forward, concat_backward,
                                          cull_cpu_layer_free};

/* ---- shortcut ---- */

static cull_status shortcut_forward(cull_layer_op *op, const cull_layer_args *args)
{
    const cull_layer_desc *d = &op->desc;
    cull_cpu_move          move = whole(&d->x, &d->y);

    move.to_first = (d->y.c - d->x.c) / 2;
    move.height = d->y.h;
    move.width = d->y.w;
    memcpy(move.from_stride, d->stride, sizeof move.from_stride);
    move_all(op, &move, args->x, args->y, d->y.c > d->x.c);
    return CULL_OK;
}

static cull_status shortcut_backward(cull_layer_op *op, const cull_layer_args *args)
{
    const cull_layer_desc *d = &op->desc;
    cull_cpu_move          move = whole(&d->y, &d->x);

    move.from_first = (d->y.c - d->x.c) / 2;
    move.channels = d->x.c;
    move.accumulate = args->accumulate;
    memcpy(move.to_stride, d->stride, sizeof move.to_stride);
    move_all(op, &move, args->dy, args->dx,
             !args->accumulate && (d->stride[0] > 1 || d->stride[1] > 1));
    return CULL_OK;
}

const cull_layer_class cull_cpu_shortcut = {plain_create, shortcut_forward, shortcut_backward,
                                            cull_cpu_layer_free};
