/*
 * backend/cpu/omp_solve.c - one pursuit problem: which method, how much memory, the start
 * that all methods share, and what is handed back.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"
#include "tensor/tensor.h"

#define WORTH_SHARING    60000     /* multiply-adds of a pass that outweigh waking the team */
#define PRIMAL_CONDITION 1e8       /* of S, at most n / lambda; beyond it S^-1 is not trusted */
#define LARGEST_WIDTH    (1 << 24) /* of D; the square of more is no memory's size anyway */
/* Times the noise: a pivot above, with all before it, or a correlation above is something
 * without looking at the weights. */
#define PLAIN_PIVOT 2.5e4
#define PLAIN_ALPHA 50

#define PRIMAL_COST 1.5 /* times (D+1)^2: what updating S^-1 costs a pick */

void *cull_cpu_arena_take(cull_cpu_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0, padded = 0;
    void  *piece = arena->base ? arena->base + arena->used : NULL;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)63, &padded) ||
        __builtin_add_overflow(arena->used, padded / 64 * 64, &arena->used))
        arena->used = SIZE_MAX / 64 * 64;
    return piece;
}

struct shared_range {
    cull_omp_job  *job;
    cull_omp_range run;
    size_t         panels, parts;
};

static void run_part(void *context, size_t task, unsigned worker)
{
    const struct shared_range *range = context;

    (void)worker;
    range->run(range->job, task * range->panels / range->parts,
               (task + 1) * range->panels / range->parts);
}

void cull_cpu_omp_panels(cull_omp_job *job, size_t work, cull_omp_range run)
{
    size_t              panels = job->padded / job->kernels->pursuit->rows;
    struct shared_range range = {job, run, panels, 1};

    if (job->team && panels > 1 && job->padded * work > WORTH_SHARING)
        range.parts = cull_team_size(job->team) < panels ? cull_team_size(job->team) : panels;
    if (range.parts > 1)
        cull_team_run(job->team, range.parts, run_part, &range);
    else
        run(job, 0, panels);
}

/* Without ridge no more atoms can be independent than they have numbers. */
static size_t most_picks(const cull_omp_problem *problem, const cull_omp_options *options)
{
    size_t most = problem->budget, rank = 0;

    if (cull_tensor_present(&problem->k) || options->ridge > 0) return most;
    rank =
        ((size_t)problem->h.shape[1] + 1) * (problem->column < 0 ? (size_t)problem->p.shape[1] : 1);
    return rank < most ? rank : most;
}

static void layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    size_t rows = job->kernels->pursuit->rows;

    cull_cpu_atoms_layout(job, arena);
    job->diag = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    job->alpha = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    job->held = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    job->best = cull_cpu_arena_take(arena, job->padded / rows, sizeof(double));
    job->state = cull_cpu_arena_take(arena, job->n, 1);
    job->weight = cull_cpu_arena_take(arena, job->most, sizeof(double));
    job->solve = cull_cpu_arena_take(arena, job->most, sizeof(double));
    switch (job->method) {
    case CULL_OMP_DUAL: cull_cpu_dual_layout(job, arena); break;
    case CULL_OMP_PRIMAL: cull_cpu_primal_layout(job, arena); break;
    case CULL_OMP_NONNEGATIVE: cull_cpu_nonnegative_layout(job, arena); break;
    }
}

static size_t bytes_needed(cull_omp_job *job, cull_omp_method method)
{
    cull_cpu_arena counting = {0};

    job->method = method;
    layout(job, &counting);
    return counting.used;
}

static bool primal_may(const cull_omp_job *job)
{
    const cull_omp_problem *problem = job->problem;

    if (problem->h.shape[1] > LARGEST_WIDTH) return false;
    /* How large an absolute ridge is beside the atoms is not known yet. */
    return !cull_tensor_present(&problem->k) && problem->column >= 0 && !job->options->absolute &&
           (double)job->n <= PRIMAL_CONDITION * job->options->ridge;
}

void cull_cpu_omp_describe(cull_omp_job *job, const cull_kernels *kernels,
                           cull_omp_problem *problem, const cull_omp_options *options)
{
    size_t rows = kernels->pursuit->rows;
    double noise = 32 * fmax(problem->noise, 0x1p-52);

    *job = (cull_omp_job){.problem = problem,
                          .options = options,
                          .kernels = kernels,
                          .n = problem->count,
                          .padded = (problem->count + rows - 1) / rows * rows,
                          .most = most_picks(problem, options),
                          .noise = noise,
                          .plain_pivot = fmax(1e-6, PLAIN_PIVOT * noise),
                          .plain_alpha = fmax(1e-8, PLAIN_ALPHA * noise),
                          .absolute = options->pick != CULL_PICK_SIGNED && !options->nonnegative};
}

/* The cheaper of the two forms, unless only the other one fits. */
size_t cull_cpu_omp_plan(cull_omp_job *job, size_t memory)
{
    double primal_cost = 0, dual_cost = (double)job->n * (double)job->most / 2;
    size_t needed = 0;

    if (job->most > SIZE_MAX / 16 / job->padded) return SIZE_MAX;
    if (job->options->nonnegative) return bytes_needed(job, CULL_OMP_NONNEGATIVE);
    if (primal_may(job)) {
        double size = (double)job->problem->h.shape[1] + 1;
        primal_cost = PRIMAL_COST * size * size;
        needed = bytes_needed(job, CULL_OMP_PRIMAL);
        if (needed <= memory && primal_cost < dual_cost) return needed;
        if (needed <= memory && bytes_needed(job, CULL_OMP_DUAL) > memory)
            return bytes_needed(job, CULL_OMP_PRIMAL);
    }
    return bytes_needed(job, CULL_OMP_DUAL);
}

/* Everything known of the target and the atoms before the first pick. */
static void start(cull_omp_job *job)
{
    double trace = 0, zero = 0;

    job->broken = job->n;
    for (size_t i = job->n; i-- > 0;) {
        if (!isfinite(job->diag[i]) || !isfinite(job->t[i])) job->broken = i;
        trace += job->diag[i];
    }
    job->ridge = job->options->ridge;
    if (!job->options->absolute) job->ridge *= trace / (double)job->n;
    job->problem->ridge = job->ridge;
    job->scale2 = job->b2 > 0 ? job->b2 : 0;
    for (size_t i = 0; i < job->n; i++) {
        bool usable = job->diag[i] > 0;

        zero = fmax(zero, fabs(job->t[i]));
        job->state[i] = usable ? CULL_ATOM_FREE : CULL_ATOM_DEPENDENT;
        job->alpha[i] = usable ? job->t[i] : NAN;
        if (usable && !(job->b2 > 0))
            job->scale2 = fmax(job->scale2, job->t[i] * job->t[i] / job->diag[i]);
    }
    for (size_t i = job->n; i < job->padded; i++) job->alpha[i] = NAN;
    cull_cpu_omp_score(job, 0, job->padded / job->kernels->pursuit->rows);
    job->r2 = job->b2;
    job->lowest = 1;
    if (zero == 0 && !(job->b2 > 0)) job->problem->stop = CULL_OMP_ZERO_TARGET;
}

/* NaN and infinity never leave alpha or the weights once they are in. */
static void check_finite(cull_omp_job *job)
{
    for (size_t i = job->n; i-- > 0;)
        if (job->state[i] == CULL_ATOM_FREE && !isfinite(job->alpha[i])) job->broken = i;
    for (size_t j = 0; j < job->picked; j++)
        if (!isfinite(job->weight[j]) && job->broken == job->n)
            job->broken = job->problem->index[j];
}

void cull_cpu_omp_solve(cull_omp_job *job, unsigned char *block)
{
    cull_omp_problem *problem = job->problem;
    cull_cpu_arena    arena = {block, 0};

    problem->stop = CULL_OMP_BUDGET;
    problem->picked = 0;
    layout(job, &arena);
    cull_cpu_atoms_prepare(job);
    start(job);
    if (job->broken < job->n) return;
    if (problem->stop != CULL_OMP_ZERO_TARGET) {
        switch (job->method) {
        case CULL_OMP_DUAL: cull_cpu_dual_solve(job); break;
        case CULL_OMP_PRIMAL: cull_cpu_primal_solve(job); break;
        case CULL_OMP_NONNEGATIVE: cull_cpu_nonnegative_solve(job); break;
        }
        check_finite(job);
        if (job->broken < job->n) return;
    }
    problem->picked = job->picked;
    memcpy(problem->weight, job->weight, job->picked * sizeof *job->weight);
    problem->residual = job->b2 > 0 ? sqrt(fmax(job->r2, 0) / job->b2) : NAN;
}
