/*
 * backend/cuda/nn_batchnorm.c - batch normalisation with the addition and ReLU behind it: how it is
 * cut among blocks.
 *
 * Each direction is one launch: sums over the rows, a meeting of all blocks (or, where a few have
 * a slab by themselves, of those alone, as a cluster), and the pass that applies them, with the
 * values kept in shared memory in between as far as they fit there, so that most are read once. The
 * sums are of fixed parts in a fixed order: the same every time, and the same in two launches.
 *
 * A cluster is quicker the fewer rows are left to each of its blocks, and they are few where its
 * slab is narrow: down to what memory moves at least.
 */
#include <stdlib.h>

#include "backend/cuda/nn_batchnorm.h"

#include "backend/cuda/nn_layer.h"

enum {
    ALONE = 8,       /* steps that one block takes sooner than it could meet others */
    LEAST = 2,       /* steps that are worth a block                                */
    FEW = 6,         /* steps of a block of a cluster that are not worth a wider one */
    NEIGHBOURS = 16, /* steps that it takes sooner than all blocks could meet       */
    SMALL = 8,       /* blocks of a cluster for which there is room more often      */
    SECTOR = 32,     /* bytes that memory moves at least                            */
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

/* Vectors that fill a line of memory, or a warp. */
static uint32_t widest(const cull_batchnorm_cut *n)
{
    return n->width > 1 ? 8 : CULL_CUDA_LANES;
}

/* Channels among slabs, of `most` vectors at most. */
static void cut_channels(cull_batchnorm_cut *n, uint32_t most)
{
    uint32_t vectors = n->channels / (uint32_t)n->width, across = 0;

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

/* Rows among the blocks of a cluster for each slab: so many that few are left to each, `most` at
 * most. */
static void cut_for_clusters(cull_batchnorm_cut *n, uint32_t most)
{
    uint32_t at_once = CULL_BATCHNORM_THREADS / n->lanes, steps = divide_up(n->rows, at_once);

    for (n->chunks = 2; n->chunks < most && steps > FEW * n->chunks;) n->chunks *= 2;
    n->per = n->rows / n->chunks;
    n->extra = n->rows % n->chunks;
    n->steps = divide_up(n->per + (n->extra > 0), at_once);
    n->clustered = true;
}

/* Forward keeps x, backward x and the gradient before the ReLU. */
static void keep_values(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    size_t other = CULL_BATCHNORM_SCRATCH + (n->clustered ? CULL_BATCHNORM_HANDED : 0);

    for (uint32_t i = 0; i < 2; i++) {
        size_t slot = CULL_BATCHNORM_SLOT * (size_t)(1 + i);

        n->keep[i] = least(n->steps, (uint32_t)((cuda->shared_most - other) / slot));
        n->shared[i] = other + n->keep[i] * slot;
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
    cut_channels(out, widest(out));
    cut_rows(cuda, out);
    keep_values(cuda, out);
}

/* Pairs of sums. */
static size_t partials(const cull_batchnorm_cut *n)
{
    return n->slabs * n->chunks * n->lanes * (size_t)n->width;
}

/* Does it leave a block less to do than `best`, which is no cluster where all blocks meet sooner?
 */
static bool is_better(const cull_cuda *cuda, const cull_batchnorm_cut *n,
                      const cull_batchnorm_cut *best)
{
    if (best->clustered ? n->steps >= best->steps : n->steps > NEIGHBOURS) return false;
    return n->slabs * n->chunks <= (uint32_t)cuda->processors && cull_cuda_batchnorm_clusters(n);
}

/* Slabs are clusters instead, where that is sooner and the device has room for all of them: small
 * ones of wide slabs if few steps are left then, else those that leave the fewest. */
static void try_clusters(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    size_t   vector = (size_t)n->width * cull_dtype_size(n->dtype);
    uint32_t of[] = {SMALL, CULL_BATCHNORM_CLUSTER};

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (uint32_t most = widest(n); most * vector >= SECTOR; most /= 2) {
            cull_batchnorm_cut other = *n;

            if (n->clustered && n->steps <= FEW) return;
            cut_channels(&other, most);
            cut_for_clusters(&other, of[i]);
            keep_values(cuda, &other);
            if (is_better(cuda, &other, n)) *n = other;
        }
}

/* Blocks may take all the shared memory there is, and meet where the device lets them. */
static cull_status prepare(const cull_cuda *cuda, cull_batchnorm_cut *n)
{
    cull_status status = CULL_OK;
    int         meets = 0;
    const char *how = getenv("CULL_CUDA_TOGETHER"); /* for benchmarks. 0: two launches; grid */
    const char *early = getenv("CULL_CUDA_EARLY");  /* 1; until it was timed */

    CUDA(cudaDeviceGetAttribute(&meets, cudaDevAttrCooperativeLaunch, cuda->number));
    n->together = meets && n->chunks > 1 && !(how && *how == '0');
    CUDA(cull_cuda_batchnorm_prepare_forward(n, cuda->shared_most));
    CUDA(cull_cuda_batchnorm_prepare_backward(n, cuda->shared_most));
    if (n->together && !(how && *how == 'g')) try_clusters(cuda, n);
    n->early = early && *early == '1';
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
