/* backend/cpu/nn_split.c - parts of a batch, one primitive each (see nn_split.h). */
#include "backend/cpu/nn_split.h"

#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

enum { PARTS = 8 };

struct cull_cpu_split {
    cull_backend *backend;
    cull_dnnl_way way;
    size_t        row_x, row_y, weights, bias; /* floats                                 */
    size_t        total, rows, parts, threads; /* rows: of a part but the last           */
    cull_dnnl   **body;                        /* [threads] for parts of `rows`          */
    cull_dnnl    *rest;                        /* for the last part, when it is shorter  */
    size_t        own;                         /* floats of weights in own order, padded */
    float        *own_w;                       /* [2] body's and rest's; for the gradient
                                                  [parts], then [1] canonical            */
    float      *own_b;                         /* [parts] gradients of the bias          */
    float      *aside;                         /* [threads] dx before it is added        */
    cull_status status[PARTS];
};

struct job {
    cull_cpu_split *split;
    const float    *x, *b, *y;
    float          *sum; /* dx to add to, or NULL */
    size_t          pieces;
};

void cull_cpu_split_destroy(cull_cpu_split *split)
{
    if (!split) return;
    for (size_t i = 0; split->body && i < split->threads; i++) cull_dnnl_destroy(split->body[i]);
    cull_dnnl_destroy(split->rest);
    cull_base_free(split->body);
    cull_base_free_aligned(split->own_w);
    cull_base_free_aligned(split->own_b);
    cull_base_free_aligned(split->aside);
    cull_base_free(split);
}

static cull_status make_primitives(cull_cpu_split *split, const cull_layer_desc *desc)
{
    cull_status     status = CULL_OK;
    cull_layer_desc part = *desc;
    size_t          n = (size_t)desc->x.n, last = n - split->rows * (split->parts - 1);

    TRY(cull_base_alloc(split->threads, sizeof(cull_dnnl *), "a convolution", &split->body));
    part.x.n = part.y.n = (int64_t)split->rows;
    for (size_t i = 0; i < split->threads; i++)
        TRY(cull_dnnl_create(&part, split->way, &split->body[i]));
    part.x.n = part.y.n = (int64_t)last;
    if (last < split->rows) TRY(cull_dnnl_create(&part, split->way, &split->rest));
done:
    return status;
}

static cull_status make_room(cull_cpu_split *split)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_dnnl_weights(split->body[0]), line = 64 / sizeof(float);
    size_t      copies = split->way == CULL_DNNL_WEIGHTS ? split->parts + 1 : 2;

    if (split->rest && cull_dnnl_weights(split->rest) > bytes)
        bytes = cull_dnnl_weights(split->rest);
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
    split->total = n;
    split->rows = (n + PARTS - 1) / PARTS;
    split->parts = (n + split->rows - 1) / split->rows;
    split->threads = cull_team_size(backend->team);
    if (split->threads > split->parts) split->threads = split->parts;
    TRY(make_primitives(split, desc));
    TRY(make_room(split));
    *out = split;
    split = NULL;
done:
    cull_cpu_split_destroy(split);
    return status;
}

const char *cull_cpu_split_name(const cull_cpu_split *split)
{
    return cull_dnnl_name(split->body[0]);
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
    bool              rest = split->rest && part == split->parts - 1;
    bool              sums = split->way == CULL_DNNL_WEIGHTS;
    size_t            slot = slot_of(split, part, worker), first = part * split->rows;
    cull_dnnl        *dnnl = rest ? split->rest : split->body[slot];
    const float      *x = job->x + first * split->row_x, *y = job->y + first * split->row_y;
    float            *aside = job->sum ? split->aside + slot * split->rows * split->row_x : NULL;

    split->status[part] =
        cull_dnnl_run(dnnl, aside ? aside : x, split->own_w + (sums ? part : rest) * split->own,
                      sums ? split->own_b + part * split->bias : job->b, y);
    if (aside && split->status[part] == CULL_OK) {
        size_t last = rest ? split->total : first + split->rows;
        float *to = job->sum + first * split->row_x;

        cull_cpu_kernels(split->backend)->layer->add((last - first) * split->row_x, to, aside, to);
    }
}

static cull_status run_all(struct job *job)
{
    cull_cpu_split *split = job->split;

    cull_team_run(split->backend->team, split->parts, run_part, job);
    for (size_t i = 0; i < split->parts; i++)
        if (split->status[i] != CULL_OK)
            return cull_fail(split->status[i], "oneDNN could not run a convolution");
    return CULL_OK;
}

static cull_status bring_weights(cull_cpu_split *split, const float *w)
{
    cull_status status = CULL_OK;
    void       *canonical = (void *)(uintptr_t)w;

    TRY(cull_dnnl_bring(split->body[0], canonical, split->own_w));
    if (split->rest) TRY(cull_dnnl_bring(split->rest, canonical, split->own_w + split->own));
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

/* A piece of the sum over all parts but a shorter last one, which has an order of its own. */
static void add_parts(void *context, size_t task, unsigned worker)
{
    const struct job     *job = context;
    const cull_cpu_split *split = job->split;
    size_t                first = 0, last = 0, parts = split->parts - (split->rest != NULL);

    (void)worker;
    cull_cpu_part(split->own, job->pieces, task, &first, &last);
    for (size_t part = 1; part < parts; part++) {
        const float *from = split->own_w + part * split->own + first;
        float       *to = split->own_w + first;

        cull_cpu_kernels(split->backend)->layer->add(last - first, to, from, to);
    }
}

cull_status cull_cpu_split_weights(cull_cpu_split *split, const float *x, const float *dy,
                                   float *dw, float *db)
{
    cull_status status = CULL_OK;
    struct job  job = {.split = split, .x = x, .y = dy};
    float      *spare = split->own_w + split->parts * split->own;

    TRY(run_all(&job));
    job.pieces = cull_cpu_parts(split->backend, split->own, split->parts);
    cull_team_run(split->backend->team, job.pieces, add_parts, &job);
    TRY(cull_dnnl_bring(split->body[0], dw, split->own_w));
    if (split->rest) {
        TRY(cull_dnnl_bring(split->rest, spare, spare - split->own));
        for (size_t i = 0; i < split->weights; i++) dw[i] += spare[i];
    }
    if (split->bias) memcpy(db, split->own_b, split->bias * sizeof *db);
    for (size_t i = split->bias; i < split->parts * split->bias; i++)
        db[i % split->bias] += split->own_b[i];
done:
    return status;
}
