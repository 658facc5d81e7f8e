/*
 * backend/cpu/omp.c - orthogonal matching pursuit as an operation: many problems, each in
 * its worker's block of memory, shared among the threads.
 *
 * As many problems as threads, or more: each is one task. Fewer: one after the other, the
 * rows of each shared among the threads. Panels of rows are fixed, and every number of a row
 * is summed in an order of its own, so the result is the same.
 */
#include "backend/cpu/omp.h"
#include "base/alloc.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)

struct lane {
    unsigned char *block;
    size_t         room;
    size_t         problem, atom; /* the first broken problem this worker met, and where */
};

struct omp_op {
    cull_op      base;
    unsigned     lanes;
    struct lane *lane;
};

struct batch {
    struct omp_op      *op;
    const cull_op_args *args;
    cull_team          *team; /* for the rows of each problem, or NULL */
};

static size_t memory_limit(const cull_omp_options *options)
{
    return options->memory ? options->memory : DEFAULT_MEMORY;
}

static void solve_task(void *context, size_t task, unsigned worker)
{
    const struct batch     *batch = context;
    const cull_omp_options *options = batch->args->omp.options;
    struct lane            *lane = &batch->op->lane[worker];
    cull_omp_job            job;

    cull_cpu_omp_describe(&job, cull_cpu_kernels(batch->op->base.backend),
                          &batch->args->omp.problems[task], options);
    job.team = batch->team;
    (void)cull_cpu_omp_plan(&job, memory_limit(options));
    cull_cpu_omp_solve(&job, lane->block);
    if (job.broken < job.n && task < lane->problem) {
        lane->problem = task;
        lane->atom = job.broken;
    }
}

/* The most bytes any problem needs, if none needs more than it may. */
static cull_status most_bytes(const struct omp_op *op, const cull_op_args *args, size_t *most)
{
    cull_status status = CULL_OK;
    size_t      limit = memory_limit(args->omp.options);

    *most = 0;
    for (size_t i = 0; i < args->omp.count; i++) {
        cull_omp_job job;
        size_t       needed = 0;

        cull_cpu_omp_describe(&job, cull_cpu_kernels(op->base.backend), &args->omp.problems[i],
                              args->omp.options);
        needed = cull_cpu_omp_plan(&job, limit);
        args->omp.problems[i].picked = 0;
        if (needed > limit)
            FAIL(CULL_TOO_LARGE,
                 "omp problem %zu: %zu atoms and %zu picks need %.1f MiB, more than the %.1f MiB "
                 "allowed",
                 i, job.n, job.most, (double)needed / 0x1p20, (double)limit / 0x1p20);
        if (needed > *most) *most = needed;
    }
done:
    return status;
}

static cull_status make_room(struct omp_op *op, unsigned lanes, size_t bytes)
{
    cull_status status = CULL_OK;

    for (unsigned i = 0; i < lanes; i++) {
        struct lane *lane = &op->lane[i];

        lane->problem = SIZE_MAX;
        if (lane->room >= bytes) continue;
        cull_base_free_aligned(lane->block);
        *lane = (struct lane){.problem = SIZE_MAX};
        TRY(cull_base_alloc_aligned(bytes, 1, "matching pursuit", &lane->block));
        lane->room = bytes;
    }
done:
    return status;
}

static cull_status first_failure(const struct omp_op *op, unsigned lanes)
{
    cull_status        status = CULL_OK;
    const struct lane *first = &op->lane[0];

    for (unsigned i = 1; i < lanes; i++)
        if (op->lane[i].problem < first->problem) first = &op->lane[i];
    if (first->problem != SIZE_MAX)
        FAIL(CULL_NOT_FINITE,
             "omp problem %zu: the Gram matrix or the target is not finite at atom %zu",
             first->problem, first->atom);
done:
    return status;
}

static cull_status run(cull_op *base, const cull_op_args *args)
{
    cull_status    status = CULL_OK;
    struct omp_op *op = (struct omp_op *)base;
    bool           abreast = args->omp.count >= op->lanes;
    unsigned       lanes = abreast ? op->lanes : 1;
    struct batch   batch = {op, args, abreast ? NULL : base->backend->team};
    size_t         bytes = 0;

    TRY(most_bytes(op, args, &bytes));
    TRY(make_room(op, lanes, bytes));
    if (abreast)
        cull_team_run(base->backend->team, args->omp.count, solve_task, &batch);
    else
        for (size_t i = 0; i < args->omp.count; i++) solve_task(&batch, i, 0);
    TRY(first_failure(op, lanes));
done:
    if (status != CULL_OK)
        for (size_t i = 0; i < args->omp.count; i++) args->omp.problems[i].picked = 0;
    return status;
}

static void destroy(cull_op *base)
{
    struct omp_op *op = (struct omp_op *)base;

    for (unsigned i = 0; op->lane && i < op->lanes; i++) cull_base_free_aligned(op->lane[i].block);
    cull_base_free(op->lane);
    cull_base_free(op);
}

/* Memory is taken at the first run that needs it, and kept: how much depends on the picks
 * as well as on the rows. */
static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct omp_op *op = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *op, "matching pursuit", &op));
    op->lanes = cull_team_size(backend->team);
    TRY(cull_base_alloc(op->lanes, sizeof *op->lane, "matching pursuit", &op->lane));
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

const cull_op_class cull_cpu_omp = {create, run, destroy};
