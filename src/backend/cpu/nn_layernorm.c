/*
 * backend/cpu/nn_layernorm.c - normalisation of each example as a whole, gamma and beta (c, h, w).
 *
 *     y = gamma x^ + beta, x^ = (x - mean) rstd
 *     dx = rstd (g - mean(g) - x^ mean(g x^)), g = dy gamma
 *
 * gamma and beta are first brought into the layout of x, and their gradients back from it.
 */
#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

struct layernorm {
    cull_layer_op base;
    cull_cpu_move in, out; /* canonical order to x's, and back         */
    size_t        rows, row, chunks;
    float        *gamma, *beta; /* [row] in x's layout                 */
    double       *sum;          /* [chunks][2 * row] dgamma, dbeta     */
};

struct job {
    const struct layernorm *norm;
    const cull_layer_args  *args;
};

static void destroy(cull_layer_op *op)
{
    struct layernorm *norm = (struct layernorm *)op;

    cull_base_free_aligned(norm->gamma);
    cull_base_free_aligned(norm->beta);
    cull_base_free(norm->sum);
    cull_base_free(norm);
}

static cull_cpu_move moving(cull_image from, cull_image to)
{
    return (cull_cpu_move){.from = from,
                           .to = to,
                           .channels = from.c,
                           .from_stride = {1, 1},
                           .to_stride = {1, 1},
                           .height = from.h,
                           .width = from.w};
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    struct layernorm *norm = NULL;
    cull_image        plain = desc->x;

    (void)backend;
    plain.block = 1;
    TRY(cull_cpu_layer_new(desc, sizeof *norm, &norm));
    norm->in = moving(plain, desc->x);
    norm->out = moving(desc->x, plain);
    norm->rows = (size_t)desc->x.n;
    norm->row = (size_t)cull_image_row(&desc->x);
    norm->chunks = cull_cpu_chunks(norm->rows);
    norm->base.stats = 2 * norm->rows;
    norm->base.stats_by_row = true;
    TRY(cull_base_alloc_aligned(norm->row, sizeof(float), "a norm", &norm->gamma));
    TRY(cull_base_alloc_aligned(norm->row, sizeof(float), "a norm", &norm->beta));
    if (desc->learn)
        TRY(cull_base_alloc(norm->chunks, 2 * norm->row * sizeof(double), "a norm", &norm->sum));
    *out = &norm->base;
    norm = NULL;
done:
    if (norm) destroy(&norm->base);
    return status;
}

static void forward_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct layernorm *norm = job->norm;
    size_t                  first = 0, last = 0, row = norm->row;

    const cull_sequence_loops *loops = cull_cpu_sequences(&norm->base);

    (void)worker;
    cull_cpu_part(norm->rows, norm->chunks, task, &first, &last);
    for (size_t n = first; n < last; n++) {
        const float *x = (const float *)job->args->x + n * row;
        float *y = (float *)job->args->y + n * row, *stats = (float *)job->args->stats + 2 * n;

        loops->norm_row(row, x, norm->gamma, norm->beta, norm->base.desc.epsilon, stats, y);
    }
}

static void backward_chunk(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const struct layernorm *norm = job->norm;
    size_t                  first = 0, last = 0, row = norm->row;
    double                 *sums = norm->sum + task * 2 * row;

    const cull_sequence_loops *loops = cull_cpu_sequences(&norm->base);

    (void)worker;
    memset(sums, 0, 2 * row * sizeof *sums);
    cull_cpu_part(norm->rows, norm->chunks, task, &first, &last);
    for (size_t n = first; n < last; n++) {
        const float *x = (const float *)job->args->x + n * row;
        const float *dy = (const float *)job->args->dy + n * row;
        const float *stats = (const float *)job->args->stats + 2 * n;
        float       *dx = job->args->dx ? (float *)job->args->dx + n * row : NULL;

        loops->norm_row_back(row, x, norm->gamma, stats, dy, dx, job->args->accumulate, sums);
    }
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    struct layernorm *norm = (struct layernorm *)op;
    struct job        job = {norm, args};

    cull_cpu_move_row(&norm->in, args->w, norm->gamma);
    cull_cpu_move_row(&norm->in, args->b, norm->beta);
    cull_team_run(op->backend->team, norm->chunks, forward_chunk, &job);
    return CULL_OK;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    struct layernorm *norm = (struct layernorm *)op;
    struct job        job = {norm, args};

    cull_cpu_move_row(&norm->in, args->w, norm->gamma);
    cull_team_run(op->backend->team, norm->chunks, backward_chunk, &job);
    for (size_t i = 0; i < 2 * norm->row; i++) {
        double sum = 0;

        for (size_t k = 0; k < norm->chunks; k++) sum += norm->sum[k * 2 * norm->row + i];
        *(i < norm->row ? norm->gamma + i : norm->beta + (i - norm->row)) = (float)sum;
    }
    cull_cpu_move_row(&norm->out, norm->gamma, args->dw);
    cull_cpu_move_row(&norm->out, norm->beta, args->db);
    return CULL_OK;
}

const cull_layer_class cull_cpu_layernorm = {create, forward, backward, destroy};
