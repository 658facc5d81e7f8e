/*
 * backend/cuda/nn_batchnorm.c - batch normalisation with the addition and ReLU behind it: how it is
 * cut among blocks.
 *
 * Each direction is one launch: sums over the rows, a meeting of all blocks (or, where a few have
 * a slab by themselves, of those alone, as a cluster), and the pass that applies them, with the
 * values kept in shared memory in between as far as they fit there, so that most are read once. The
 * sums are of fixed parts in a fixed order: the same every time, and the same in two launches.
 */
#include <stdlib.h>

#include "backend/cuda/nn_batchnorm.h"

#include "backend/cuda/nn_layer.h"

enum {
    ALONE = 8,       /* steps that one block takes sooner than it could meet others */
    LEAST = 2,       /* steps that are worth a block                                */
    NEIGHBOURS = 12, /* steps that a block of a cluster takes sooner than all could meet */
    CLUSTER = 16,    /* most blocks of one                                          */
    EVEN = 8,        /* many chunks are a multiple of this: rows often are one too  */
    NEAR = 24 << 20  /* bytes: half of what the devices that this is for hold near */
};

struct batchnorm {
    cull_layer_op      base;
    cull_batchnorm_cut whole, single; /* values moved 16 bytes at once, or one by one */
};

static void destroy(cull_layer_op *op)
{
    struct batchnorm *norm = (struct batchnorm *)op;

    cull_backend_release(op->backend, norm->single.partial);
    cull_cuda_layer_free(op);
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Channels among slabs: those of a slab fill a line of memory, or a warp. */
static void cut_channels(cull_batchnorm_cut *n)
{
    uint32_t vectors = n->channels / (uint32_t)n->width, most = n->width > 1 ? 8 : CULL_CUDA_LANES;
    uint32_t across = 0;

    n->slabs = divide_up(vectors, most);
    across = divide_up(vectors, n->slabs);
    n->slab = across * (uint32_t)n->width;
    n->slabs = divide_up(vectors, across);
    for (n->lanes = 1; n->lanes < across; n->lanes *= 2) continue;
}

/* Rows among chunks: a block for every multiprocessor, or for less where there is little to do. */
static void cut_rows(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    uint32_t at_once = CULL_BATCHNORM_THREADS / n->lanes, steps = divide_up(n->rows, at_once);

    n->chunks = (uint32_t)cuda->processors / n->slabs;
    n->chunks = steps <= ALONE ? 1 : least(n->chunks, divide_up(steps, LEAST));
    if (n->chunks == 0) n->chunks = 1;
    if (n->chunks > EVEN) n->chunks -= n->chunks % EVEN;
    n->per = n->rows / n->chunks;
    n->extra = n->rows % n->chunks;
    n->steps = divide_up(n->per + (n->extra > 0), at_once);
}

/* Rows among the blocks of a cluster for each slab, where few enough are left to each. */
static bool cut_for_clusters(cull_batchnorm_cut *n)
{
    uint32_t at_once = CULL_BATCHNORM_THREADS / n->lanes, steps = divide_up(n->rows, at_once);

    for (n->chunks = 2; n->chunks < CLUSTER && steps > NEIGHBOURS * n->chunks;) n->chunks *= 2;
    n->per = n->rows / n->chunks;
    n->extra = n->rows % n->chunks;
    n->steps = divide_up(n->per + (n->extra > 0), at_once);
    return n->steps <= NEIGHBOURS;
}

/* Forward keeps x, backward x and the gradient before the ReLU. */
static void keep_values(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    size_t room = cuda->shared_most - CULL_BATCHNORM_SCRATCH;

    for (uint32_t i = 0; i < 2; i++) {
        size_t slot = CULL_BATCHNORM_SLOT * (size_t)(1 + i);

        n->keep[i] = least(n->steps, (uint32_t)(room / slot));
        n->shared[i] = CULL_BATCHNORM_SCRATCH + n->keep[i] * slot;
    }
}

static void cut(const cull_cuda *cuda, const cull_layer_desc *desc, int width,
                cull_batchnorm_cut *out)
{
    *out = (cull_batchnorm_cut){
        .dtype = desc->dtype,
        .width = width,
        .rows = (uint32_t)(desc->x.n * desc->x.h * desc->x.w),
        .channels = (uint32_t)desc->x.c,
        .area = (uint32_t)(desc->x.h * desc->x.w),
        .near =
            (size_t)(desc->x.n * cull_image_row(&desc->x)) * cull_dtype_size(desc->dtype) <= NEAR,
        .relu = desc->fused_relu,
        .add = desc->fused_add,
        .epsilon = desc->epsilon,
        .momentum = desc->momentum};
    cut_channels(out);
    cut_rows(cuda, out);
    keep_values(cuda, out);
}

/* Pairs of sums that any way of cutting leaves. */
static size_t partials(const cull_batchnorm_cut *n)
{
    size_t chunks = n->chunks > CLUSTER ? n->chunks : CLUSTER;

    return n->slabs * chunks * n->lanes * (size_t)n->width;
}

/* Slabs are clusters instead, where that is sooner and the device has room for all of them. */
static void try_clusters(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    cull_batchnorm_cut other = *n;

    if (!cut_for_clusters(&other)) return;
    if (other.slabs * other.chunks > (uint32_t)cuda->processors) return;
    keep_values(cuda, &other);
    other.clustered = true;
    if (cull_cuda_batchnorm_clusters(&other)) *n = other;
}

/* Blocks may take all the shared memory there is, and meet where the device lets them. */
static cull_status prepare(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    cull_status status = CULL_OK;
    int         meets = 0;
    const char *how = getenv("CULL_CUDA_TOGETHER"); /* for benchmarks. 0: two launches; grid */

    CUDA(cudaDeviceGetAttribute(&meets, cudaDevAttrCooperativeLaunch, cuda->number));
    n->together = meets && n->chunks > 1 && !(how && *how == '0');
    CUDA(cull_cuda_batchnorm_prepare_forward(n, cuda->shared_most));
    CUDA(cull_cuda_batchnorm_prepare_backward(n, cuda->shared_most));
    if (n->together && !(how && *how == 'g')) try_clusters(cuda, n);
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    struct batchnorm *norm = NULL;
    int               width = desc->dtype == CULL_F64 ? 1 : 0;
    size_t            pairs = 0;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_cuda_norm_check(desc));
    TRY(cull_cuda_layer_new(desc, sizeof *norm, &norm));
    norm->base.backend = backend;
    norm->base.stats = 2 * (size_t)desc->x.c;
    if (!width) width = cull_cuda_width(desc->dtype, desc->x.c, 0, 0);
    cut(cuda, desc, width, &norm->whole);
    cut(cuda, desc, 1, &norm->single);
    pairs = partials(&norm->whole) > partials(&norm->single) ? partials(&norm->whole)
                                                             : partials(&norm->single);
    TRY(cull_backend_allocate(backend, pairs, 2 * cull_dtype_size(desc->parameters), "a norm",
                              &norm->single.partial));
    norm->whole.partial = norm->single.partial;
    TRY(prepare(cuda, &norm->whole));
    TRY(prepare(cuda, &norm->single));
    norm->base.implementation = norm->whole.chunks == 1 ? "own, a block a slab"
                                : norm->whole.clustered ? "own, a cluster a slab"
                                : norm->whole.together  ? "own, together"
                                                        : "own, pass by pass";
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
    const struct batchnorm *norm = (const struct batchnorm *)op;
    cull_batchnorm_call     a = {.x = args->x,
                                 .x2 = args->x2,
                                 .y = args->y,
                                 .gamma = args->w,
                                 .beta = args->b,
                                 .stats = args->stats,
                                 .running = args->running,
                                 .update = args->statistics == CULL_STATS_UPDATE,
                                 .by_running = args->statistics == CULL_STATS_RUNNING};
    bool                    aligned = cull_cuda_aligned(a.x, a.x2, a.y, NULL);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_batchnorm_forward(cuda->stream, aligned ? &norm->whole : &norm->single, &a));
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status             status = CULL_OK;
    cull_cuda              *cuda = NULL;
    const struct batchnorm *norm = (const struct batchnorm *)op;
    cull_batchnorm_call     a = {.x = args->x,
                                 .y = args->y,
                                 .dy = args->dy,
                                 .gamma = args->w,
                                 .beta = args->b,
                                 .stats = args->stats,
                                 .dx = args->dx,
                                 .dx2 = args->dx2,
                                 .dgamma = args->dw,
                                 .dbeta = args->db,
                                 .row_weight = args->row_weight,
                                 .accumulate = args->accumulate,
                                 .accumulate2 = args->accumulate2};
    bool                    aligned = cull_cuda_aligned(a.x, a.dy, a.dx, a.dx2) &&
                   (!op->desc.fused_add || cull_cuda_aligned(a.y, NULL, NULL, NULL));

    if (a.dx2 && a.dx2 == a.dx && a.accumulate2) {
        a.joined = true;
        a.dx2 = NULL;
    }
    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_batchnorm_backward(cuda->stream, aligned ? &norm->whole : &norm->single, &a));
done:
    return status;
}

const cull_layer_class cull_cuda_batchnorm = {create, forward, backward, destroy};
