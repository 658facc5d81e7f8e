/*
 * backend/cpu/refit.c - weights >= 0 for atoms that are given, as an operation: many problems,
 * each one task in its worker's block of memory.
 *
 * Of K only what lies between the given atoms is made. Where gradients have fewer numbers
 * than there are atoms, they are stored whole instead, and no K is made at all.
 */
#include "backend/cpu/refit.h"

#include "base/alloc.h"
#include "tensor/tensor.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)

struct lane {
    unsigned char *block;
    size_t         room;
};

struct refit_op {
    cull_op      base;
    unsigned     lanes;
    struct lane *lane;
};

struct batch {
    struct refit_op    *op;
    const cull_op_args *args;
};

static void layout(cull_refit_job *job, cull_cpu_arena *arena)
{
    size_t n = job->n, order = job->primal ? job->size : n;

    job->h = cull_cpu_arena_take(arena, n * job->width, sizeof(double));
    job->p = cull_cpu_arena_take(arena, n * job->classes, sizeof(double));
    job->k = cull_cpu_arena_take(arena, job->primal ? 0 : n * n, sizeof(double));
    job->g = cull_cpu_arena_take(arena, job->primal ? n * job->size : 0, sizeof(double));
    job->factor = cull_cpu_arena_take(arena, order * (order + 1) / 2, sizeof(double));
    job->t = cull_cpu_arena_take(arena, n, sizeof(double));
    job->square = cull_cpu_arena_take(arena, n, sizeof(double));
    job->r = cull_cpu_arena_take(arena, n, sizeof(double));
    job->x = cull_cpu_arena_take(arena, n, sizeof(double));
    job->y = cull_cpu_arena_take(arena, n, sizeof(double));
    job->old = cull_cpu_arena_take(arena, n, sizeof(double));
    job->row = cull_cpu_arena_take(arena, n, sizeof(double));
    job->point = cull_cpu_arena_take(arena, n, sizeof(double));
    job->z = cull_cpu_arena_take(arena, order, sizeof(double));
    job->above = cull_cpu_arena_take(arena, n, sizeof *job->above);
    job->side = cull_cpu_arena_take(arena, n, sizeof *job->side);
}

static cull_refit_job describe(cull_omp_problem *problem, const cull_kernels *kernels)
{
    cull_refit_job job = {.problem = problem, .kernels = kernels, .n = problem->budget};

    if (cull_tensor_present(&problem->k)) return job;
    job.width = (size_t)problem->h.shape[1];
    job.classes = problem->column < 0 ? (size_t)problem->p.shape[1] : 1;
    job.size = job.classes * (job.width + 1);
    job.primal = job.size < job.n;
    return job;
}

static double element(const cull_tensor *x, size_t i, size_t j)
{
    const void *row = cull_tensor_row(x, i);

    return x->dtype == CULL_F32 ? (double)((const float *)row)[j] : ((const double *)row)[j];
}

/* Rows of H and P at the atoms, as doubles, and t. */
static void gather(cull_refit_job *job)
{
    const cull_omp_problem *problem = job->problem;

    for (size_t i = 0; i < job->n; i++) {
        uint32_t atom = problem->index[i];
        size_t   row = problem->row ? problem->row[atom] : atom;
        double  *h = job->h + i * job->width, *p = job->p + i * job->classes;

        for (size_t l = 0; l < job->width; l++) h[l] = element(&problem->h, row, l);
        for (size_t c = 0; c < job->classes; c++)
            p[c] = element(&problem->p, row, problem->column < 0 ? c : (size_t)problem->column);
        job->t[i] = 0;
    }
    for (size_t c = 0; c < job->classes; c++) {
        const double *b = problem->b + c * (job->width + 1);

        job->kernels->products->apply_f64(job->n, job->width, job->h, job->width, b, job->row);
        for (size_t i = 0; i < job->n; i++)
            job->t[i] += job->p[i * job->classes + c] * (job->row[i] + b[job->width]);
    }
}

static void make_gradients(cull_refit_job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        const double *h = job->h + i * job->width, *p = job->p + i * job->classes;
        double       *g = job->g + i * job->size, sum = 0;

        for (size_t c = 0; c < job->classes; c++) {
            for (size_t l = 0; l < job->width; l++) *g++ = p[c] * h[l];
            *g++ = p[c];
        }
        for (size_t l = 1; l <= job->size; l++) sum += g[-(ptrdiff_t)l] * g[-(ptrdiff_t)l];
        job->square[i] = sum;
    }
}

/* The lower half of K by rows of products, then the upper one. */
static void make_gram(cull_refit_job *job)
{
    const cull_products *products = job->kernels->products;
    size_t               n = job->n;

    for (size_t i = 0; i < n; i++) {
        double *k = job->k + i * n;

        products->apply_f64(i + 1, job->width, job->h, job->width, job->h + i * job->width, k);
        products->apply_f64(i + 1, job->classes, job->p, job->classes, job->p + i * job->classes,
                            job->row);
        for (size_t j = 0; j <= i; j++) k[j] = job->k[j * n + i] = (k[j] + 1) * job->row[j];
        job->square[i] = k[i];
    }
}

static void copy_explicit(cull_refit_job *job)
{
    const cull_omp_problem *problem = job->problem;

    for (size_t i = 0; i < job->n; i++) {
        uint32_t atom = problem->index[i];

        for (size_t j = 0; j < job->n; j++)
            job->k[i * job->n + j] = element(&problem->k, atom, problem->index[j]);
        job->t[i] = problem->t[atom];
        job->square[i] = job->k[i * job->n + i];
    }
}

static void refit_task(void *context, size_t task, unsigned worker)
{
    const struct batch *batch = context;
    cull_omp_problem   *problem = &batch->args->omp.problems[task];
    cull_refit_job      job = describe(problem, cull_cpu_kernels(batch->op->base.backend));
    cull_cpu_arena      arena = {batch->op->lane[worker].block, 0};

    if (problem->picked >= problem->budget) return;
    layout(&job, &arena);
    if (cull_tensor_present(&problem->k)) {
        copy_explicit(&job);
    } else {
        gather(&job);
        if (job.primal)
            make_gradients(&job);
        else
            make_gram(&job);
    }
    for (size_t i = 0; i < job.n; i++) job.r[i] = problem->ridge + CULL_REFIT_SHIFT * job.square[i];
    cull_cpu_refit_solve(&job);
}

/* The most bytes any problem needs, if none needs more than it may; 0: nothing is to do. */
static cull_status most_bytes(const struct refit_op *op, const cull_op_args *args, size_t *most)
{
    cull_status status = CULL_OK;
    size_t      limit = args->omp.options->memory ? args->omp.options->memory : DEFAULT_MEMORY;

    *most = 0;
    for (size_t i = 0; i < args->omp.count; i++) {
        cull_omp_problem *problem = &args->omp.problems[i];
        cull_refit_job    job = describe(problem, cull_cpu_kernels(op->base.backend));
        cull_cpu_arena    counting = {0};

        if (problem->picked >= problem->budget) continue;
        layout(&job, &counting);
        if (counting.used > limit)
            FAIL(CULL_TOO_LARGE,
                 "refit problem %zu: %zu atoms need %.1f MiB, more than the %.1f MiB allowed", i,
                 job.n, (double)counting.used / 0x1p20, (double)limit / 0x1p20);
        if (counting.used > *most) *most = counting.used;
    }
done:
    return status;
}

static cull_status make_room(struct refit_op *op, unsigned lanes, size_t bytes)
{
    cull_status status = CULL_OK;

    for (unsigned i = 0; i < lanes; i++) {
        struct lane *lane = &op->lane[i];

        if (lane->room >= bytes) continue;
        cull_base_free_aligned(lane->block);
        *lane = (struct lane){0};
        TRY(cull_base_alloc_aligned(bytes, 1, "weights to be solved again", &lane->block));
        lane->room = bytes;
    }
done:
    return status;
}

static cull_status run(cull_op *base, const cull_op_args *args)
{
    cull_status      status = CULL_OK;
    struct refit_op *op = (struct refit_op *)base;
    struct batch     batch = {op, args};
    bool             alone = args->omp.count == 1;
    size_t           bytes = 0;

    TRY(most_bytes(op, args, &bytes));
    if (bytes == 0) return CULL_OK;
    TRY(make_room(op, alone ? 1 : op->lanes, bytes));
    if (alone)
        refit_task(&batch, 0, 0);
    else
        cull_team_run(base->backend->team, args->omp.count, refit_task, &batch);
done:
    return status;
}

static void destroy(cull_op *base)
{
    struct refit_op *op = (struct refit_op *)base;

    for (unsigned i = 0; op->lane && i < op->lanes; i++) cull_base_free_aligned(op->lane[i].block);
    cull_base_free(op->lane);
    cull_base_free(op);
}

/* Memory is taken at the first run that needs it, and kept. */
static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status      status = CULL_OK;
    struct refit_op *op = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *op, "weights to be solved again", &op));
    op->lanes = cull_team_size(backend->team);
    TRY(cull_base_alloc(op->lanes, sizeof *op->lane, "weights to be solved again", &op->lane));
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

const cull_op_class cull_cpu_refit = {create, run, destroy};
