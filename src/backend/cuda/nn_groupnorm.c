/*
 * backend/cuda/nn_groupnorm.c - norms within each example: how they are cut among blocks.
 *
 * stats: for each example its groups' means, then their rstds.
 */
#include "backend/cuda/nn_groupnorm.h"

#include "backend/cuda/nn_layer.h"

enum {
    THREADS = CULL_GROUPNORM_THREADS,
    BLOCKS = 4,    /* of a multiprocessor, for the parameters' gradients           */
    LEAST_ROWS = 4 /* that a thread of those takes                                 */
};

struct groupnorm {
    cull_layer_op      base;
    cull_groupnorm_cut whole, single; /* values moved 16 bytes at once, or one by one */
};

static void destroy(cull_layer_op *op)
{
    struct groupnorm *norm = (struct groupnorm *)op;

    cull_backend_release(op->backend, norm->single.partial);
    cull_backend_release(op->backend, norm->single.ticket);
    cull_cuda_layer_free(op);
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* Groups of a block: one, or as many as fill a line of memory; the last of an example may have
 * fewer, and those threads nothing to do. */
static void cut_groups(cull_groupnorm_cut *d)
{
    uint32_t group = d->c / d->groups / (uint32_t)d->width; /* vectors of a pixel */
    uint32_t line = d->width > 1 ? 8 : CULL_CUDA_LANES, vectors = 0;

    d->bundle = group < line ? line / group : 1;
    if (d->bundle > d->groups) d->bundle = d->groups;
    d->bundles = divide_up(d->groups, d->bundle);
    d->across = d->bundle * group;
    vectors = d->across > UINT32_MAX / d->area ? UINT32_MAX : d->across * d->area;
    d->threads =
        vectors >= THREADS ? THREADS : divide_up(vectors, CULL_CUDA_LANES) * CULL_CUDA_LANES;
}

static void cut_parameters(const cull_cuda *cuda, cull_groupnorm_cut *d)
{
    uint32_t vectors = 0, most = d->width > 1 ? 8 : CULL_CUDA_LANES, wanted = 0;

    d->columns = d->layer ? d->c * d->area : d->c;
    d->rows = d->layer ? d->n : d->n * d->area;
    vectors = d->columns / (uint32_t)d->width;
    for (d->lanes = 1; d->lanes < vectors && d->lanes < most;) d->lanes *= 2;
    d->slabs = divide_up(vectors, d->lanes);
    wanted = (uint32_t)(BLOCKS * cuda->processors) / d->slabs;
    d->chunks = divide_up(d->rows, LEAST_ROWS * (THREADS / d->lanes));
    if (d->chunks > wanted) d->chunks = wanted ? wanted : 1;
}

static void cut(const cull_cuda *cuda, const cull_layer_desc *desc, int width,
                cull_groupnorm_cut *out)
{
    bool layer = desc->kind == CULL_LAYER_LAYERNORM;

    *out = (cull_groupnorm_cut){.dtype = desc->dtype,
                                .width = width,
                                .layer = layer,
                                .n = (uint32_t)desc->x.n,
                                .c = (uint32_t)desc->x.c,
                                .area = (uint32_t)(desc->x.h * desc->x.w),
                                .groups = layer ? 1 : (uint32_t)desc->groups,
                                .epsilon = desc->epsilon};
    cut_groups(out);
    cut_parameters(cuda, out);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Pairs of sums that a way of cutting leaves. */
static size_t partials(const cull_groupnorm_cut *d)
{
    return (size_t)d->slabs * d->chunks * d->lanes * (size_t)d->width;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    struct groupnorm *norm = NULL;
    int64_t           group = 0;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_cuda_norm_check(desc));
    TRY(cull_cuda_layer_new(desc, sizeof *norm, &norm));
    norm->base.backend = backend;
    group = desc->kind == CULL_LAYER_LAYERNORM ? desc->x.c : desc->x.c / desc->groups;
    cut(cuda, desc, cull_cuda_width(desc->dtype, group, 0, 0), &norm->whole);
    cut(cuda, desc, 1, &norm->single);
    norm->base.stats = 2 * (size_t)norm->single.n * norm->single.groups;
    norm->base.stats_by_row = true;
    TRY(cull_backend_allocate(backend, larger(partials(&norm->whole), partials(&norm->single)),
                              2 * cull_dtype_size(desc->parameters), "a norm",
                              &norm->single.partial));
    TRY(cull_backend_allocate(backend, larger(norm->whole.slabs, norm->single.slabs),
                              sizeof(uint32_t), "a norm", &norm->single.ticket));
    norm->whole.partial = norm->single.partial;
    norm->whole.ticket = norm->single.ticket;
    *out = &norm->base;
    norm = NULL;
done:
    if (norm) destroy(&norm->base);
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status             status = CULL_OK;
    cull_cuda              *cuda = NULL;
    const struct groupnorm *norm = (const struct groupnorm *)op;
    cull_groupnorm_call     call = {
            .x = args->x, .gamma = args->w, .beta = args->b, .y = args->y, .stats = args->stats};
    bool aligned = cull_cuda_aligned(call.x, call.y, NULL, NULL);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_groupnorm_forward(cuda->stream, aligned ? &norm->whole : &norm->single, &call));
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status             status = CULL_OK;
    cull_cuda              *cuda = NULL;
    const struct groupnorm *norm = (const struct groupnorm *)op;
    cull_groupnorm_call     call = {.x = args->x,
                                    .gamma = args->w,
                                    .dy = args->dy,
                                    .stats = args->stats,
                                    .dx = args->dx,
                                    .dgamma = args->dw,
                                    .dbeta = args->db,
                                    .accumulate = args->accumulate};
    bool                    aligned = cull_cuda_aligned(call.x, call.dy, call.dx, NULL);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_groupnorm_backward(cuda->stream, aligned ? &norm->whole : &norm->single, &call));
done:
    return status;
}

const cull_layer_class cull_cuda_groupnorm = {create, forward, backward, destroy};
const cull_layer_class cull_cuda_layernorm = {create, forward, backward, destroy};
