/*
 * backend/cuda/omp.c - omp: problems, what each needs beside shared memory, who solves it, and what
 * is reported.
 *
 * Reports lie in the caller's problems, so this operation waits, and cannot be recorded: `match`
 * can. Problems without an explicit K are another file's.
 */
#include "backend/cuda/omp.h"

#include <math.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/omp_rules.h"
#include "backend/cuda/pool.h"
#include "base/alloc.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)

struct omp {
    cull_op            base;
    cull_kit           kit;
    double            *room;
    cull_cuda_pursuit *there;
    cull_cuda_pursued *reports;
    void              *said;
    size_t             rooms, theres, report_room, saids;
};

/* Some problems of one call. */
struct batch {
    struct omp             *op;
    cull_cuda              *cuda;
    const cull_omp_options *options;
    cull_omp_problem       *problem;
    size_t                  count, bytes;
    bool                    together, near;
    cull_cuda_pursuit      *here;
    cull_cuda_pursued      *report;
};

static cull_cuda_pursuit describe(const struct batch *batch, size_t i)
{
    const cull_omp_problem *problem = batch->problem + i;

    return (cull_cuda_pursuit){.n = (uint32_t)problem->count,
                               .budget = (uint32_t)problem->budget,
                               .k = problem->k.data,
                               .ld = (size_t)problem->k.stride[0],
                               .single = problem->k.dtype == CULL_F32,
                               .t = problem->t,
                               .b2 = problem->b2,
                               .index = problem->index,
                               .weight = problem->weight,
                               .report = batch->op->reports + i,
                               .near = batch->near,
                               .rules = cull_cuda_omp_rules_of(batch->options, problem->noise)};
}

static uint32_t blocks_for(const cull_cuda *cuda, size_t n, size_t budget)
{
    return cull_cuda_omp_blocks(n, budget, cuda->processors, cuda->shared_most);
}

/* One after the other by all blocks, or each by one? Weights are held above zero by one. */
static bool is_together_quicker(const struct batch *batch)
{
    const cull_cuda *cuda = batch->cuda;
    double           all = 0, most = 0, together = 0;

    if (batch->options->nonnegative) return false;
    for (size_t i = 0; i < batch->count; i++) {
        size_t n = batch->problem[i].count, budget = batch->problem[i].budget;
        double alone = cull_cuda_omp_cost(n, budget, 1, cuda->shared_most);

        all += alone;
        if (alone > most) most = alone;
        together += cull_cuda_omp_cost(n, budget, blocks_for(cuda, n, budget), cuda->shared_most);
    }
    all /= cuda->processors;
    return together < (all > most ? all : most);
}

static bool are_near(const struct batch *batch)
{
    cull_cuda_omp_rules rules = cull_cuda_omp_rules_of(batch->options, 0);

    for (size_t i = 0; i < batch->count; i++)
        if (!cull_cuda_omp_can_be_near(&rules, batch->problem[i].count)) return false;
    return !batch->together;
}

/* How one problem is laid out; what it needs beside shared memory. */
static size_t lay(const struct batch *batch, cull_cuda_pursuit *x)
{
    const cull_cuda *cuda = batch->cuda;
    uint32_t         blocks = blocks_for(cuda, x->n, x->budget);
    bool             bring = batch->count <= (size_t)cuda->processors;

    if (!batch->together)
        return cull_cuda_omp_lay(x, 1, CULL_OMP_THREADS, cuda->shared_most, bring);
    return cull_cuda_omp_lay(x, blocks, cull_cuda_omp_threads((x->n + blocks - 1) / blocks),
                             cuda->shared_most, false);
}

static cull_status share_out(struct batch *batch)
{
    cull_status status = CULL_OK;
    struct omp *op = batch->op;
    size_t      limit = batch->options->memory ? batch->options->memory : DEFAULT_MEMORY;
    size_t      all = 0, at = 0;

    for (size_t i = 0; i < batch->count; i++) {
        cull_cuda_pursuit *x = batch->here + i;
        size_t             need = 0;

        *x = describe(batch, i);
        need = lay(batch, x);
        if (need > limit / sizeof(double) || x->bytes > batch->cuda->shared_most)
            FAIL(CULL_TOO_LARGE,
                 "omp problem %zu: %zu atoms and %zu picks need %.1f MiB, more than the %.1f MiB "
                 "allowed",
                 i, batch->problem[i].count, batch->problem[i].budget,
                 (double)need * sizeof(double) / 0x1p20, (double)limit / 0x1p20);
        all += need;
        if (x->bytes > batch->bytes) batch->bytes = x->bytes;
    }
    TRY(cull_kit_grow(&op->kit, all, sizeof *op->room, "matching pursuit", &op->rooms, &op->room));
    for (size_t i = 0; i < batch->count; i++) {
        cull_cuda_omp_room(batch->here + i, op->room + at);
        at += lay(batch, batch->here + i);
    }
done:
    return status;
}

static cull_status launch(struct batch *batch)
{
    cull_status status = CULL_OK;
    struct omp *op = batch->op;
    cull_cuda  *cuda = batch->cuda;

    if (!batch->together) {
        TRY(cull_kit_grow(&op->kit, batch->count, sizeof *op->there, "matching pursuit",
                          &op->theres, &op->there));
        TRY(cull_backend_upload(op->base.backend, op->there, batch->here,
                                batch->count * sizeof *op->there));
        CUDA(cull_cuda_omp_each(cuda->stream, op->there, (uint32_t)batch->count, batch->bytes,
                                batch->near));
        return CULL_OK;
    }
    TRY(cull_kit_grow(&op->kit, cull_crew_said((size_t)cuda->processors), 1, "matching pursuit",
                      &op->saids, &op->said));
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t blocks = blocks_for(cuda, batch->here[i].n, batch->here[i].budget);
        CUDA(cull_cuda_omp_together(cuda->stream, batch->here[i], blocks,
                                    cull_cuda_omp_threads(batch->here[i].rows), op->said));
    }
done:
    return status;
}

static cull_status report(const struct batch *batch, size_t first)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_download(batch->op->base.backend, batch->report, batch->op->reports,
                              batch->count * sizeof *batch->report));
    for (size_t i = 0; i < batch->count; i++) {
        const cull_cuda_pursued *report = batch->report + i;
        cull_omp_problem        *problem = batch->problem + i;

        if (report->broken < problem->count)
            FAIL(CULL_NOT_FINITE,
                 "omp problem %zu: the Gram matrix or the target is not finite at atom %lu",
                 first + i, (unsigned long)report->broken);
        problem->picked = report->picked;
        problem->residual = report->residual;
        problem->ridge = report->ridge;
        problem->stop = (cull_omp_stop)report->stop;
    }
done:
    return status;
}

/* Neighbours of an explicit K; the first is the call's `first`. */
static cull_status pursue(struct batch *batch, size_t first)
{
    cull_status status = CULL_OK;
    struct omp *op = batch->op;

    TRY(cull_kit_grow(&op->kit, batch->count, sizeof *op->reports, "matching pursuit",
                      &op->report_room, &op->reports));
    TRY(cull_base_alloc(batch->count, sizeof *batch->here, "matching pursuit", &batch->here));
    TRY(cull_base_alloc(batch->count, sizeof *batch->report, "matching pursuit", &batch->report));
    batch->together = is_together_quicker(batch);
    batch->near = are_near(batch);
    TRY(share_out(batch));
    TRY(launch(batch));
    TRY(report(batch, first));
done:
    cull_base_free(batch->here);
    cull_base_free(batch->report);
    return status;
}

static cull_status run(cull_op *base, const cull_op_args *args)
{
    cull_status       status = CULL_OK;
    cull_cuda        *cuda = NULL;
    cull_omp_problem *problem = args->omp.problems;

    for (size_t i = 0; i < args->omp.count; i++) problem[i].picked = 0;
    TRY(cull_cuda_enter(base->backend, &cuda));
    if (cuda->recording)
        FAIL(CULL_UNSUPPORTED, "a pursuit waits for what is reported, and cannot be recorded");
    CUDA(cull_cuda_omp_prepare(cuda->shared_most));
    for (size_t i = 0, end = 0; i < args->omp.count; i = end) {
        struct batch batch = {.op = (struct omp *)base,
                              .cuda = cuda,
                              .options = args->omp.options,
                              .problem = problem + i};

        while (end < args->omp.count && !problem[end].k.data == !problem[i].k.data) end++;
        batch.count = end - i;
        if (problem[i].k.data)
            TRY(pursue(&batch, i));
        else
            TRY(cull_cuda_pool_pursue(base->backend, base, problem + i, end - i,
                                      args->omp.options));
    }
done:
    if (status != CULL_OK)
        for (size_t i = 0; i < args->omp.count; i++) problem[i].picked = 0;
    return status;
}

static void destroy(cull_op *base)
{
    struct omp *op = (struct omp *)base;

    cull_kit_clear(&op->kit);
    cull_base_free(op);
}

/* Memory is taken at the first run that needs it, and kept: how much depends on the picks as well
 * as on the rows. */
static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status status = CULL_OK;
    struct omp *op = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *op, "matching pursuit", &op));
    op->kit.backend = backend;
    *out = &op->base;
done:
    return status;
}

const cull_op_class cull_cuda_omp = {create, run, destroy};
