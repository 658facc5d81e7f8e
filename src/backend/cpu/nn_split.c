/* backend/cpu/nn_split.c - parts of a batch, one primitive each (see nn_split.h). */
#include "backend/cpu/nn_split.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

enum { PARTS = 8 };

struct cull_cpu_split {
    cull_backend *backend;
    cull_dnnl_way way;
    size_t        row_x, row_y, weights, bias;  /* floats                           */
    size_t        rows, longer, parts, threads; /* `longer` parts have `rows`, the
                                                   others one less                  */
    cull_dnnl **body, **rest;                   /* [threads] of long parts, short ones
                                                   (none when all are alike)        */
    size_t own;                                 /* floats of weights in own order, padded */
    bool   alike;                               /* short parts have the order of long ones */
    float *own_w;                               /* [2] body's and rest's; for the gradient
                                                   [parts], then [1] canonical      */
    float      *own_b;                          /* [parts] gradients of the bias    */
    float      *aside;                          /* [threads] dx before it is added  */
    cull_status status[PARTS];
    char        name[64];
};

struct job {
    cull_cpu_split *split;
    const float    *x, *b, *y;
    float          *sum;                /* dx to add to, or NULL                        */
    size_t          begin, end, pieces; /* parts whose weight gradients are added up   */
};

/* Weights on their way between the canonical and a primitive's order. */
struct move {
    cull_dnnl  *dnnl;
    float      *canonical, *own;
    cull_status status[CULL_DNNL_PIECES];
};

void cull_cpu_split_destroy(cull_cpu_split *split)
{
    if (!split) return;
    for (size_t i = 0; split->body && i < split->threads; i++) cull_dnnl_destroy(split->body[i]);
    for (size_t i = 0; split->rest && i < split->threads; i++) cull_dnnl_destroy(split->rest[i]);
    cull_base_free(split->body);
    cull_base_free(split->rest);
    cull_base_free_aligned(split->own_w);
    cull_base_free_aligned(split->own_b);
    cull_base_free_aligned(split->aside);
    cull_base_free(split);
}

static cull_status make_primitives(const cull_cpu_split *split, const cull_layer_desc *desc,
                                   size_t rows, cull_dnnl ***out)
{
    cull_status     status = CULL_OK;
    cull_layer_desc part = *desc;

    TRY(cull_base_alloc(split->threads, sizeof(cull_dnnl *), "a convolution", out));
    part.x.n = part.y.n = (int64_t)rows;
    for (size_t i = 0; i < split->threads; i++)
        TRY(cull_dnnl_create(&part, split->way, &(*out)[i]));
done:
    return status;
}

static cull_status make_room(cull_cpu_split *split)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_dnnl_weights(split->body[0]), line = 64 / sizeof(float);
    size_t      copies = split->way == CULL_DNNL_WEIGHTS ? split->parts + 1 : 2;

    if (split->rest && cull_dnnl_weights(split->rest[0]) > bytes)
        bytes = cull_dnnl_weights(split->rest[0]);
    split->alike = !split->rest || cull_dnnl_alike(split->body[0], split->rest[0]);
    split->own = (bytes / sizeof(float) + line) / line * line;
    TRY(cull_base_alloc_aligned(copies, split->own * sizeof(float), "weights", &split->own_w));
    if (split->way == CULL_DNNL_WEIGHTS)
        TRY(cull_base_alloc_aligned(split->parts, split->bias * sizeof(float), "weights",
                                    &split->own_b));
    if (split->way == CULL_DNNL_DATA)
        TRY(cull_base_alloc_aligned(split->threads, split->rows * split->row_x * sizeof(float),
                                    "a gradient", &split->aside));
done:
    return status;
}

cull_status cull_cpu_split_create(cull_backend *backend, const cull_layer_desc *desc,
                                  cull_dnnl_way way, cull_cpu_split **out)
{
    cull_status     status = CULL_OK;
    cull_cpu_split *split = NULL;
    size_t          n = (size_t)desc->x.n;

    TRY(cull_base_alloc(1, sizeof *split, "a convolution", &split));
    split->backend = backend;
    split->way = way;
    split->row_x = (size_t)cull_image_row(&desc->x);
    split->row_y = (size_t)cull_image_row(&desc->y);
    split->weights =
        (size_t)(desc->y.c * (desc->x.c / desc->groups) * desc->kernel[0] * desc->kernel[1]);
    split->bias = desc->bias ? (size_t)desc->y.c : 0;
    split->rows = (n + PARTS - 1) / PARTS;
    split->parts = (n + split->rows - 1) / split->rows;
    split->longer = n - split->parts * (split->rows - 1);
    split->threads = cull_team_size(backend->team);
    if (split->threads > split->parts) split->threads = split->parts;
    TRY(make_primitives(split, desc, split->rows, &split->body));
    if (split->longer < split->parts)
        TRY(make_primitives(split, desc, split->rows - 1, &split->rest));
    TRY(make_room(split));
    (void)snprintf(split->name, sizeof split->name, "%s%s%s", cull_dnnl_name(split->body[0]),
                   split->rest ? "|" : "", split->rest ? cull_dnnl_name(split->rest[0]) : "");
    *out = split;
    split = NULL;
done:
    cull_cpu_split_destroy(split);
    return status;
}

const char *cull_cpu_split_name(const cull_cpu_split *split)
{
    return split->name;
}

/* As many primitives as can run at once: one a thread, or one a part where those are fewer. */
static size_t slot_of(const cull_cpu_split *split, size_t part, unsigned worker)
{
    return split->threads == split->parts ? part : worker;
}

static void run_part(void *context, size_t part, unsigned worker)
{
    const struct job *job = context;
    cull_cpu_split   *split = job->split;
    bool              rest = part >= split->longer, sums = split->way == CULL_DNNL_WEIGHTS;
    size_t            slot = slot_of(split, part, worker), count = split->rows - rest;
    size_t            first = part * split->rows - (rest ? part - split->longer : 0);
    cull_dnnl        *dnnl = rest ? split->rest[slot] : split->body[slot];
    const float      *x = job->x + first * split->row_x, *y = job->y + first * split->row_y;
    float            *aside = job->sum ? split->aside + slot * split->rows * split->row_x : NULL;
    size_t            which = sums ? part : rest && !split->alike;

    split->status[part] = cull_dnnl_run(dnnl, aside ? aside : x, split->own_w + which * split->own,
                                        sums ? split->own_b + part * split->bias : job->b, y);
    if (aside && split->status[part] == CULL_OK) {
        float *to = job->sum + first * split->row_x;

        cull_cpu_kernels(split->backend)->layer->add(count * split->row_x, to, aside, to);
    }
}

static cull_status run_all(struct job *job)
{
    cull_cpu_split *split = job->split;

    cull_team_run(split->backend->team, split->parts, run_part, job);
    for (size_t i = 0; i < split->parts; i++)
        if (split->status[i] != CULL_OK)
            return cull_fail(split->status[i], "oneDNN could not run a convolution (%s)",
                             split->name);
    return CULL_OK;
}

static void move_piece(void *context, size_t piece, unsigned worker)
{
    struct move *move = context;

    (void)worker;
    move->status[piece] = cull_dnnl_bring(move->dnnl, piece, move->canonical, move->own);
}

static cull_status move_weights(cull_cpu_split *split, cull_dnnl *dnnl, float *canonical,
                                float *own)
{
    struct move move = {dnnl, canonical, own, {CULL_OK}};
    size_t      pieces = cull_dnnl_pieces(dnnl);

    cull_team_run(split->backend->team, pieces, move_piece, &move);
    for (size_t i = 0; i < pieces; i++)
        if (move.status[i] != CULL_OK)
            return cull_fail(move.status[i], "oneDNN could not bring weights into order");
    return CULL_OK;
}

static cull_status bring_weights(cull_cpu_split *split, const float *w)
{
    cull_status status = CULL_OK;
    float      *canonical = (float *)(uintptr_t)w; /* is only read */

    TRY(move_weights(split, split->body[0], canonical, split->own_w));
    if (!split->alike)
        TRY(move_weights(split, split->rest[0], canonical, split->own_w + split->own));
done:
    return status;
}

cull_status cull_cpu_split_forward(cull_cpu_split *split, const float *x, const float *w,
                                   const float *b, float *y)
{
    cull_status status = CULL_OK;
    struct job  job = {.split = split, .x = x, .b = b, .y = y};

    TRY(bring_weights(split, w));
    TRY(run_all(&job));
done:
    return status;
}

cull_status cull_cpu_split_data(cull_cpu_split *split, const float *dy, const float *w, float *dx,
                                bool accumulate)
{
    cull_status status = CULL_OK;
    struct job  job = {.split = split, .x = dx, .y = dy, .sum = accumulate ? dx : NULL};

    TRY(bring_weights(split, w));
    TRY(run_all(&job));
done:
    return status;
}

/* A piece of the sum over parts of one order, into the first of them. */
static void add_piece(void *context, size_t task, unsigned worker)
{
    const struct job     *job = context;
    const cull_cpu_split *split = job->split;
    size_t                first = 0, last = 0;

    (void)worker;
    cull_cpu_part(split->own, job->pieces, task, &first, &last);
    for (size_t part = job->begin + 1; part < job->end; part++) {
        const float *from = split->own_w + part * split->own + first;
        float       *to = split->own_w + job->begin * split->own + first;

        cull_cpu_kernels(split->backend)->layer->add(last - first, to, from, to);
    }
}

static void add_parts(struct job *job, size_t begin, size_t end)
{
    cull_cpu_split *split = job->split;

    job->begin = begin;
    job->end = end;
    job->pieces = cull_cpu_parts(split->backend, split->own, end - begin);
    cull_team_run(split->backend->team, job->pieces, add_piece, job);
}

cull_status cull_cpu_split_weights(cull_cpu_split *split, const float *x, const float *dy,
                                   float *dw, float *db)
{
    cull_status status = CULL_OK;
    struct job  job = {.split = split, .x = x, .y = dy};
    float      *spare = split->own_w + split->parts * split->own;

    TRY(run_all(&job));
    add_parts(&job, 0, split->alike ? split->parts : split->longer);
    TRY(move_weights(split, split->body[0], dw, split->own_w));
    if (!split->alike) {
        add_parts(&job, split->longer, split->parts);
        TRY(move_weights(split, split->rest[0], spare, split->own_w + split->longer * split->own));
        for (size_t i = 0; i < split->weights; i++) dw[i] += spare[i];
    }
    if (split->bias) memcpy(db, split->own_b, split->bias * sizeof *db);
    for (size_t i = split->bias; i < split->parts * split->bias; i++)
        db[i % split->bias] += split->own_b[i];
done:
    return status;
}
