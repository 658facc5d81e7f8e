/*
 * backend/cpu/gain.c - products of rows' gradients with a matrix of the gradient's shape.
 *
 *     p_i^T B [h_i; 1], or without P all C entries of B [h_i; 1]     B (C, D+1)
 *
 * Threads share out blocks of rows, which are brought together as doubles with their 1, so
 * that one product with B^T serves listed and strided rows of either type.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/rows.h"
#include "base/alloc.h"

enum { BLOCK = 32 };

struct gain {
    cull_op base;
    double *room;  /* for each thread: (BLOCK, D+1) rows, (BLOCK, C) products, [C] of P */
    size_t  share; /* of one thread                                                     */
};

struct job {
    const struct gain   *gain;
    const cull_products *products;
    const cull_sums     *sums;
    const cull_op_args  *args;
};

static void destroy(cull_op *op)
{
    struct gain *gain = (struct gain *)op;

    cull_base_free_aligned(gain->room);
    cull_base_free(gain);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct gain *gain = NULL;

    (void)backend;
    (void)desc;
    TRY(cull_base_alloc(1, sizeof *gain, "an operation", &gain));
    *out = &gain->base;
done:
    return status;
}

static cull_status make_room(struct gain *gain, size_t share)
{
    cull_status status = CULL_OK;
    double     *room = NULL;
    size_t      threads = cull_team_size(gain->base.backend->team);

    if (share <= gain->share) return CULL_OK;
    TRY(cull_base_alloc_aligned(threads, share * sizeof *room, "products with a gradient", &room));
    cull_base_free_aligned(gain->room);
    gain->room = room;
    gain->share = share;
done:
    return status;
}

static void multiply_block(void *context, size_t task, unsigned worker)
{
    const struct job  *job = context;
    const cull_tensor *h = job->args->gain.h, *p = job->args->gain.p;
    const uint32_t    *row = job->args->gain.row;
    size_t             first = task * BLOCK, left = job->args->gain.rows - first;
    size_t             m = left < BLOCK ? left : BLOCK, classes = job->args->gain.classes;
    size_t             width = (size_t)h->shape[1] + 1;
    double            *x = job->gain->room + worker * job->gain->share;
    double            *y = x + BLOCK * width, *factor = y + BLOCK * classes;

    for (size_t i = 0; i < m; i++) {
        cull_cpu_row(job->sums, h, row ? row[first + i] : first + i, 0, width - 1, x + i * width);
        x[i * width + width - 1] = 1;
    }
    if (!p) y = job->args->gain.out + first * classes;
    job->products->multiply_f64(m, classes, width, x, width, job->args->gain.b, width, y, classes);
    for (size_t i = 0; p && i < m; i++) {
        double sum = 0;
        cull_cpu_row(job->sums, p, row ? row[first + i] : first + i, 0, classes, factor);
        for (size_t c = 0; c < classes; c++) sum += factor[c] * y[i * classes + c];
        job->args->gain.out[first + i] = sum;
    }
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status         status = CULL_OK;
    struct gain        *gain = (struct gain *)op;
    const cull_kernels *kernels = cull_cpu_kernels(op->backend);
    struct job          job = {gain, kernels->products, kernels->sums, args};
    size_t              width = (size_t)args->gain.h->shape[1] + 1, classes = args->gain.classes;

    TRY(make_room(gain, BLOCK * (width + classes) + classes));
    cull_team_run(op->backend->team, (args->gain.rows + BLOCK - 1) / BLOCK, multiply_block, &job);
done:
    return status;
}

const cull_op_class cull_cpu_gain = {create, run, destroy};
