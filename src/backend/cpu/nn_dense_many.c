/*
 * backend/cpu/nn_dense_many.c - fully connected layer over many rows, by oneDNN's products
 * (nn_product.h), which read the matrices where and as they lie.
 *
 *     forward    y  = x W^T + b        x (N, I)   W (O, I)   b (O)   y (N, O)
 *     backward   dW = dy^T x           dx = dy W
 *
 * Work is cut into parts of a size that the library does well at, whatever the number of threads.
 */
#include <string.h>

#include "backend/cpu/nn.h"
#include "backend/cpu/nn_product.h"
#include "base/alloc.h"

enum { ROWS = 256, COLUMNS = 256 }; /* of x and y, and of the longer side of W, at once */

struct dense {
    cull_layer_op base;
    size_t        rows, in, out;
    double       *sum;    /* [CULL_CPU_CHUNKS][out] of dy */
    cull_status  *status; /* [workers] the first failure of each */
};

struct job {
    const struct dense    *dense;
    const cull_layer_args *args;
};

static void destroy(cull_layer_op *op)
{
    struct dense *dense = (struct dense *)op;

    cull_base_free(dense->sum);
    cull_base_free(dense->status);
    cull_base_free(dense);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct dense *dense = NULL;

    TRY(cull_cpu_layer_new(desc, sizeof *dense, &dense));
    dense->base.class = &cull_cpu_dense_many;
    dense->base.implementation = "onednn:sgemm";
    dense->rows = (size_t)desc->x.n;
    dense->in = (size_t)cull_image_row(&desc->x);
    dense->out = (size_t)cull_image_row(&desc->y);
    TRY(cull_base_alloc(cull_team_size(backend->team), sizeof *dense->status, "a layer",
                        &dense->status));
    if (desc->learn && desc->bias)
        TRY(cull_base_alloc(CULL_CPU_CHUNKS, dense->out * sizeof *dense->sum, "a layer",
                            &dense->sum));
    *out = &dense->base;
    dense = NULL;
done:
    if (dense) destroy(&dense->base);
    return status;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void note(const struct dense *dense, unsigned worker, cull_status status)
{
    if (status != CULL_OK) dense->status[worker] = status;
}

static cull_status share_out(const struct dense *dense, const cull_layer_args *args, size_t tasks,
                             cull_team_task task)
{
    struct job  job = {dense, args};
    cull_team  *team = dense->base.backend->team;
    cull_status status = CULL_OK;

    cull_team_run(team, tasks, task, &job);
    for (unsigned w = 0; w < cull_team_size(team); w++) {
        if (dense->status[w] != CULL_OK) status = dense->status[w];
        dense->status[w] = CULL_OK;
    }
    return status == CULL_OK ? CULL_OK
                             : cull_fail(status, "oneDNN cannot multiply %zux%zu by %zux%zu",
                                         dense->rows, dense->in, dense->in, dense->out);
}

static void forward_part(void *context, size_t task, unsigned worker)
{
    const struct job   *job = context;
    const struct dense *d = job->dense;
    size_t              first = task * ROWS, count = least(d->rows - first, ROWS);
    cull_cpu_matrix     x = {(const float *)job->args->x + first * d->in, d->in, false};
    cull_cpu_matrix     w = {job->args->w, d->in, true};
    float              *y = (float *)job->args->y + first * d->out;

    note(d, worker, cull_cpu_multiply(count, d->out, d->in, x, w, false, y, d->out));
    if (d->base.desc.bias) cull_cpu_sequences(&d->base)->add_bias(count, d->out, job->args->b, y);
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    const struct dense *dense = (const struct dense *)op;

    return share_out(dense, args, (dense->rows + ROWS - 1) / ROWS, forward_part);
}

static void input_part(void *context, size_t task, unsigned worker)
{
    const struct job   *job = context;
    const struct dense *d = job->dense;
    size_t              first = task * ROWS, count = least(d->rows - first, ROWS);
    cull_cpu_matrix     dy = {(const float *)job->args->dy + first * d->out, d->out, false};
    cull_cpu_matrix     w = {job->args->w, d->in, false};
    float              *dx = (float *)job->args->dx + first * d->in;

    note(d, worker,
         cull_cpu_multiply(count, d->in, d->out, dy, w, job->args->accumulate, dx, d->in));
}

/* Rows of dW, or columns where there are more of these. */
static void weight_part(void *context, size_t task, unsigned worker)
{
    const struct job   *job = context;
    const struct dense *d = job->dense;
    bool                tall = d->out >= d->in;
    size_t              first = task * COLUMNS;
    size_t              rows = tall ? least(d->out - first, COLUMNS) : d->out;
    size_t              columns = tall ? d->in : least(d->in - first, COLUMNS);
    cull_cpu_matrix     dy = {(const float *)job->args->dy + (tall ? first : 0), d->out, true};
    cull_cpu_matrix     x = {(const float *)job->args->x + (tall ? 0 : first), d->in, false};
    float              *dw = (float *)job->args->dw + (tall ? first * d->in : first);

    note(d, worker, cull_cpu_multiply(rows, columns, d->rows, dy, x, false, dw, d->in));
}

static void sum_part(void *context, size_t task, unsigned worker)
{
    const struct job   *job = context;
    const struct dense *d = job->dense;
    double             *sum = d->sum + task * d->out;
    size_t              first = 0, last = 0;

    (void)worker;
    cull_cpu_part(d->rows, CULL_CPU_CHUNKS, task, &first, &last);
    memset(sum, 0, d->out * sizeof *sum);
    cull_cpu_sequences(&d->base)->add_rows(last - first, d->out,
                                           (const float *)job->args->dy + first * d->out, sum);
}

static cull_status bias_gradient(const struct dense *d, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    float      *db = args->db;

    TRY(share_out(d, args, CULL_CPU_CHUNKS, sum_part));
    for (size_t o = 0; o < d->out; o++) {
        double sum = 0;

        for (size_t k = 0; k < CULL_CPU_CHUNKS; k++) sum += d->sum[k * d->out + o];
        db[o] = (float)sum;
    }
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    const struct dense *d = (const struct dense *)op;
    size_t              longer = d->out > d->in ? d->out : d->in;

    TRY(share_out(d, args, (longer + COLUMNS - 1) / COLUMNS, weight_part));
    if (op->desc.bias) TRY(bias_gradient(d, args));
    if (args->dx) TRY(share_out(d, args, (d->rows + ROWS - 1) / ROWS, input_part));
done:
    return status;
}

const cull_layer_class cull_cpu_dense_many = {create, forward, backward, destroy};
