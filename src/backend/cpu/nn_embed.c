/*
 * backend/cpu/nn_embed.c - rows of a table: those of tokens, and those of positions.
 *
 *     embed      y[n, t] = w[x[n, t]], zero at padding     dw[v] = sum over x[n, t] = v of dy[n, t]
 *     positions  y[n, t] = x[n, t] + w[t], or + w[0]       dw[t] = sum over n of dy[n, t]
 *
 * For dw the places are sorted by their token, in order, and then shared out by tokens.
 */
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

struct table {
    cull_layer_op base;
    size_t        places, width, rows; /* places: n times positions */
    uint32_t     *first;               /* [rows + 1] embed: where a token's places begin in order */
    uint32_t     *order;               /* [places]                                        */
    double       *sum;                 /* [width] positions, the same                     */
};

struct job {
    const struct table    *table;
    const cull_layer_args *args;
    size_t                 parts;
};

static void destroy(cull_layer_op *op)
{
    struct table *table = (struct table *)op;

    cull_base_free(table->first);
    cull_base_free(table->order);
    cull_base_free(table->sum);
    cull_base_free(table);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct table *table = NULL;

    (void)backend;
    TRY(cull_cpu_layer_new(desc, sizeof *table, &table));
    table->places = (size_t)(desc->y.n * desc->y.h);
    table->width = (size_t)desc->y.c;
    table->rows = (size_t)desc->rows;
    if (desc->learn && desc->kind == CULL_LAYER_EMBED) {
        TRY(cull_base_alloc(table->rows + 1, sizeof *table->first, "a layer", &table->first));
        TRY(cull_base_alloc(table->places, sizeof *table->order, "a layer", &table->order));
    }
    if (desc->learn && desc->same)
        TRY(cull_base_alloc(table->width, sizeof *table->sum, "a layer", &table->sum));
    *out = &table->base;
    table = NULL;
done:
    if (table) destroy(&table->base);
    return status;
}

static void share_out(const struct table *table, const cull_layer_args *args, size_t rows,
                      cull_team_task task)
{
    struct job job = {table, args, 1};

    job.parts = cull_cpu_parts(table->base.backend, rows, table->width);
    cull_team_run(table->base.backend->team, job.parts, task, &job);
}

/* ---- tokens ---- */

static void embed_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            first = 0, last = 0, width = job->table->width;
    const int32_t    *token = job->args->x;
    const float      *w = job->args->w;
    float            *y = job->args->y;

    (void)worker;
    cull_cpu_part(job->table->places, job->parts, task, &first, &last);
    for (size_t i = first; i < last; i++) {
        if (token[i] < 0)
            memset(y + i * width, 0, width * sizeof *y);
        else
            memcpy(y + i * width, w + (size_t)token[i] * width, width * sizeof *y);
    }
}

static cull_status embed(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    const struct table *table = (const struct table *)op;

    TRY(cull_layer_check_tokens(&op->desc, args));
    share_out(table, args, table->places, embed_part);
done:
    return status;
}

/* first[v] .. first[v + 1] of order are the places of token v, ascending. */
static void sort_places(const struct table *table, const int32_t *token)
{
    uint32_t *first = table->first;

    memset(first, 0, (table->rows + 1) * sizeof *first);
    for (size_t i = 0; i < table->places; i++)
        if (token[i] >= 0) first[token[i] + 1]++;
    for (size_t v = 0; v < table->rows; v++) first[v + 1] += first[v];
    for (size_t i = 0; i < table->places; i++)
        if (token[i] >= 0) table->order[first[token[i]]++] = (uint32_t)i;
    for (size_t v = table->rows; v > 0; v--) first[v] = first[v - 1];
    first[0] = 0;
}

static void gather_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct table     *t = job->table;
    const cull_layer_loops *loops = cull_cpu_loops(&t->base);
    const float            *dy = job->args->dy;
    float                  *dw = job->args->dw;
    size_t                  first = 0, last = 0;

    (void)worker;
    cull_cpu_part(t->rows, job->parts, task, &first, &last);
    memset(dw + first * t->width, 0, (last - first) * t->width * sizeof *dw);
    for (size_t v = first; v < last; v++)
        for (uint32_t i = t->first[v]; i < t->first[v + 1]; i++)
            loops->add(t->width, dw + v * t->width, dy + t->order[i] * t->width, dw + v * t->width);
}

static cull_status embed_back(cull_layer_op *op, const cull_layer_args *args)
{
    const struct table *table = (const struct table *)op;

    sort_places(table, args->x);
    share_out(table, args, table->rows, gather_part);
    return CULL_OK;
}

const cull_layer_class cull_cpu_embed = {create, embed, embed_back, destroy};

/* ---- positions ---- */

static void positions_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct table     *t = job->table;
    const cull_layer_loops *loops = cull_cpu_loops(&t->base);
    size_t                  first = 0, last = 0, length = (size_t)t->base.desc.y.h;
    const float            *x = job->args->x, *w = job->args->w;
    float                  *y = job->args->y;

    (void)worker;
    cull_cpu_part(t->places, job->parts, task, &first, &last);
    for (size_t i = first; i < last; i++)
        loops->add(t->width, x + i * t->width, w + (t->base.desc.same ? 0 : i % length) * t->width,
                   y + i * t->width);
}

static cull_status positions(cull_layer_op *op, const cull_layer_args *args)
{
    const struct table *table = (const struct table *)op;

    share_out(table, args, table->places, positions_part);
    return CULL_OK;
}

static void hand_back_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const cull_layer_loops *loops = cull_cpu_loops(&job->table->base);
    size_t                  first = 0, last = 0, width = job->table->width;
    const float            *dy = job->args->dy;
    float                  *dx = job->args->dx;

    (void)worker;
    cull_cpu_part(job->table->places, job->parts, task, &first, &last);
    if (job->args->accumulate)
        loops->add((last - first) * width, dx + first * width, dy + first * width,
                   dx + first * width);
    else
        memcpy(dx + first * width, dy + first * width, (last - first) * width * sizeof *dx);
}

/* Position by position, over all examples. */
static void sum_part(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct table     *t = job->table;
    const cull_layer_loops *loops = cull_cpu_loops(&t->base);
    size_t                  first = 0, last = 0, length = (size_t)t->base.desc.y.h;
    const float            *dy = job->args->dy;
    float                  *dw = job->args->dw;

    (void)worker;
    cull_cpu_part(length, job->parts, task, &first, &last);
    memcpy(dw + first * t->width, dy + first * t->width, (last - first) * t->width * sizeof *dw);
    for (size_t n = 1; n * length < t->places; n++)
        loops->add((last - first) * t->width, dw + first * t->width,
                   dy + (n * length + first) * t->width, dw + first * t->width);
}

static cull_status positions_back(cull_layer_op *op, const cull_layer_args *args)
{
    const struct table *table = (const struct table *)op;
    size_t              summed = op->desc.same ? 1 : (size_t)op->desc.y.h;
    float              *dw = args->dw;

    if (args->dx) share_out(table, args, table->places, hand_back_part);
    memset(dw + summed * table->width, 0, (table->rows - summed) * table->width * sizeof *dw);
    if (!op->desc.same) {
        share_out(table, args, summed, sum_part);
        return CULL_OK;
    }
    memset(table->sum, 0, table->width * sizeof *table->sum);
    cull_cpu_sequences(op)->add_rows(table->places, table->width, args->dy, table->sum);
    for (size_t i = 0; i < table->width; i++) dw[i] = (float)table->sum[i];
    return CULL_OK;
}

const cull_layer_class cull_cpu_positions = {create, positions, positions_back, destroy};

/* ---- the first position ---- */

static cull_status take_create(cull_backend *backend, const cull_layer_desc *desc,
                               cull_layer_op **out)
{
    (void)backend;
    return cull_cpu_layer_new(desc, sizeof **out, out);
}

static cull_status take(cull_layer_op *op, const cull_layer_args *args)
{
    size_t row = (size_t)cull_image_row(&op->desc.x), width = (size_t)op->desc.y.c;

    for (size_t n = 0; n < (size_t)op->desc.x.n; n++)
        memcpy((float *)args->y + n * width, (const float *)args->x + n * row,
               width * sizeof(float));
    return CULL_OK;
}

static cull_status take_back(cull_layer_op *op, const cull_layer_args *args)
{
    size_t       row = (size_t)cull_image_row(&op->desc.x), width = (size_t)op->desc.y.c;
    const float *dy = args->dy;
    float       *dx = args->dx;

    if (!dx) return CULL_OK;
    if (!args->accumulate) memset(dx, 0, (size_t)op->desc.x.n * row * sizeof *dx);
    for (size_t n = 0; n < (size_t)op->desc.x.n; n++)
        cull_cpu_loops(op)->add(width, dx + n * row, dy + n * width, dx + n * row);
    return CULL_OK;
}

const cull_layer_class cull_cpu_take = {take_create, take, take_back, cull_cpu_layer_free};
