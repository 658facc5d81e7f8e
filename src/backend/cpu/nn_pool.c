/*
 * backend/cpu/nn_pool.c - pooling: maximum, average, average over the whole image.
 *
 * Where every window lies is worked out when the operation is made; running it is a loop over the
 * channels of a pixel. A maximum keeps the place of its winner (one byte, the first of equals).
 */
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

struct window {
    size_t first, taps;
};

struct pool {
    cull_layer_op  base;
    cull_cpu_view  x, y;
    struct window *window; /* [pixels of y]                              */
    ptrdiff_t     *at;     /* offsets of the taps of all windows, in x's panel */
    uint8_t       *tap;    /* and their numbers within the window        */
    int32_t       *first;  /* [y's panel] first tap of every output, where windows are four pixels
                              that do not overlap and channels are few; else NULL */
    int32_t step[4];
};

struct job {
    const struct pool     *pool;
    const cull_layer_args *args;
    size_t                 parts;
};

static void destroy(cull_layer_op *op)
{
    struct pool *pool = (struct pool *)op;

    cull_base_free(pool->window);
    cull_base_free(pool->at);
    cull_base_free(pool->tap);
    cull_base_free(pool->first);
    cull_base_free(pool);
}

static void add_window(struct pool *pool, const cull_layer_desc *d, int64_t p, int64_t q,
                       size_t *used)
{
    bool    all = d->pooling == CULL_POOL_GLOBAL;
    int64_t height = all ? d->x.h : d->kernel[0], width = all ? d->x.w : d->kernel[1];
    int64_t top = all ? 0 : p * d->stride[0] - d->pad[0];
    int64_t left = all ? 0 : q * d->stride[1] - d->pad[1];

    pool->window[p * d->y.w + q].first = *used;
    for (int64_t r = 0; r < height; r++) {
        for (int64_t s = 0; s < width; s++) {
            if (top + r < 0 || top + r >= d->x.h || left + s < 0 || left + s >= d->x.w) continue;
            pool->at[*used] = (ptrdiff_t)(((top + r) * d->x.w + left + s) * (int64_t)pool->x.block);
            pool->tap[(*used)++] = (uint8_t)(r * width + s);
        }
    }
    pool->window[p * d->y.w + q].taps = *used - pool->window[p * d->y.w + q].first;
}

static void follow(cull_cpu_view *pixel, const cull_cpu_view *other)
{
    pixel->blocks = other->blocks;
    pixel->block = pixel->panel = other->block;
}

/* Few channels fill no vector: then all outputs of a panel are one line. */
static cull_status make_line(struct pool *pool, const cull_layer_desc *d)
{
    cull_status status = CULL_OK;
    size_t      block = pool->x.block, row = (size_t)d->x.w * block;

    if (d->pooling != CULL_POOL_MAX || block >= CULL_LAYER_STRIP || d->kernel[0] != 2 ||
        d->kernel[1] != 2 || d->stride[0] < 2 || d->stride[1] < 2 || d->pad[0] || d->pad[1] ||
        pool->x.panel > INT32_MAX)
        return CULL_OK;
    TRY(cull_base_alloc(pool->y.panel, sizeof *pool->first, "pooling", &pool->first));
    for (size_t i = 0; i < pool->y.panel; i++)
        pool->first[i] =
            (int32_t)(pool->at[pool->window[i / block].first] + (ptrdiff_t)(i % block));
    pool->step[1] = (int32_t)block;
    pool->step[2] = (int32_t)row;
    pool->step[3] = (int32_t)(row + block);
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status  status = CULL_OK;
    struct pool *pool = NULL;
    bool         all = desc->pooling == CULL_POOL_GLOBAL;
    size_t       used = 0, taps = 0;

    (void)backend;
    TRY(cull_cpu_layer_new(desc, sizeof *pool, &pool));
    pool->x = cull_cpu_see(&desc->x);
    pool->y = cull_cpu_see(&desc->y);
    /* an image of one pixel is the same memory in the other's layout */
    if (pool->y.area == 1) follow(&pool->y, &pool->x);
    if (pool->x.area == 1) follow(&pool->x, &pool->y);
    if (pool->x.block != pool->y.block)
        FAIL(CULL_UNSUPPORTED, "pooling does not change the layout");
    if (desc->pooling == CULL_POOL_MAX) pool->base.state_row = pool->y.row;
    taps = all ? pool->x.area : pool->y.area * (size_t)(desc->kernel[0] * desc->kernel[1]);
    TRY(cull_base_alloc(pool->y.area, sizeof *pool->window, "pooling", &pool->window));
    TRY(cull_base_alloc(taps, sizeof *pool->at, "pooling", &pool->at));
    TRY(cull_base_alloc(taps, sizeof *pool->tap, "pooling", &pool->tap));
    for (int64_t p = 0; p < desc->y.h; p++)
        for (int64_t q = 0; q < desc->y.w; q++) add_window(pool, desc, p, q, &used);
    TRY(make_line(pool, desc));
    *out = &pool->base;
    pool = NULL;
done:
    if (pool) destroy(&pool->base);
    return status;
}

static void forward_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct pool      *pool = job->pool;
    const cull_layer_loops *loops = cull_cpu_loops(&pool->base);
    size_t                  first = 0, last = 0, block = pool->y.block;

    (void)worker;
    cull_cpu_part(pool->y.rows * pool->y.blocks, job->parts, task, &first, &last);
    for (size_t panel = first; panel < last; panel++) {
        const float *x = (const float *)job->args->x + panel * pool->x.panel;
        uint8_t     *states = job->args->state;

        if (pool->first)
            loops->pool_four(pool->y.panel, pool->first, pool->step, x,
                             (float *)job->args->y + panel * pool->y.panel,
                             states ? states + panel * pool->y.panel : NULL);
        for (size_t i = 0; !pool->first && i < pool->y.area; i++) {
            const struct window *w = &pool->window[i];
            size_t               at = panel * pool->y.panel + i * block;
            float               *y = (float *)job->args->y + at;

            if (pool->base.desc.pooling == CULL_POOL_MAX)
                loops->pool_max(block, w->taps, pool->at + w->first, pool->tap + w->first, x, y,
                                states ? states + at : NULL);
            else
                loops->pool_mean(block, w->taps, pool->at + w->first, x, y);
        }
    }
}

static void backward_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct pool      *pool = job->pool;
    const cull_layer_loops *loops = cull_cpu_loops(&pool->base);
    const cull_layer_args  *a = job->args;
    size_t                  first = 0, last = 0, block = pool->y.block;

    (void)worker;
    cull_cpu_part(pool->y.rows * pool->y.blocks, job->parts, task, &first, &last);
    for (size_t panel = first; panel < last; panel++) {
        float *dx = (float *)a->dx + panel * pool->x.panel;

        if (!a->accumulate && !(pool->first && pool->x.area == 4 * pool->y.area))
            memset(dx, 0, pool->x.panel * sizeof *dx);
        if (pool->first)
            loops->pool_four_back(pool->y.panel, pool->first, pool->step,
                                  (const uint8_t *)a->state + panel * pool->y.panel,
                                  (const float *)a->dy + panel * pool->y.panel, dx, a->accumulate);
        for (size_t i = 0; !pool->first && i < pool->y.area; i++) {
            const struct window *w = &pool->window[i];
            size_t               at = panel * pool->y.panel + i * block;
            const float         *dy = (const float *)a->dy + at;

            for (size_t k = w->first; k < w->first + w->taps; k++) {
                if (pool->base.desc.pooling == CULL_POOL_MAX)
                    loops->pool_max_back(block, pool->tap[k], (const uint8_t *)a->state + at, dy,
                                         dx + pool->at[k]);
                else
                    loops->pool_mean_back(block, 1 / (float)w->taps, dy, dx + pool->at[k]);
            }
        }
    }
}

static cull_status run(cull_layer_op *op, const cull_layer_args *args, cull_team_task task)
{
    const struct pool *pool = (const struct pool *)op;
    struct job         job = {pool, args, 1};

    job.parts = cull_cpu_parts(op->backend, pool->y.rows * pool->y.blocks, pool->x.panel);
    cull_team_run(op->backend->team, job.parts, task, &job);
    return CULL_OK;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, forward_part);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, backward_part);
}

const cull_layer_class cull_cpu_pool = {create, forward, backward, destroy};
