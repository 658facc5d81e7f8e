/*
 * backend/cuda/pool_made.c - problems without a K as problems with one, where that is what it
 * takes: for weights >= 0 of given atoms it is made over those alone, for weights that stay above
 * zero at every pick and for drawn picks over all. What remains is for the operation that solves
 * those.
 */
#include "backend/cuda/cuda.h"
#include "backend/cuda/pool.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)
#define AT_ONCE        ((size_t)4 << 30) /* bytes of K, unless one problem needs more */

/* Problems with K, in the place of some without. */
struct made {
    cull_kit          kit;
    cull_cuda        *cuda;
    bool              refit;
    cull_omp_problem *given;
    cull_omp_problem *problem; /* [count] */
    size_t           *from;    /* [count] which of the given each is                  */
    uint32_t         *order;   /* [n of the largest] 0, 1, 2 .. there; of refit alone */
    size_t            count;
};

/* Atoms that K is made over; 0: the problem's weights stay as they are. */
static size_t atoms_of(const cull_omp_problem *problem, bool refit)
{
    if (!refit) return problem->count;
    return problem->picked < problem->budget ? problem->budget : 0;
}

static size_t bytes_of(const cull_omp_problem *problem, bool refit)
{
    size_t n = atoms_of(problem, refit);

    if (n == 0) return 0;
    return n > SIZE_MAX / 32 / n ? SIZE_MAX / 2 : n * (n + 2) * sizeof(double);
}

/* 0 .. n-1 on the device. */
static cull_status count_up(struct made *made, size_t n)
{
    cull_status status = CULL_OK;
    uint32_t   *here = NULL;

    TRY(cull_base_alloc(n, sizeof *here, "matching pursuit", &here));
    for (size_t i = 0; i < n; i++) here[i] = (uint32_t)i;
    TRY(cull_kit_allocate(&made->kit, n, sizeof *here, "matching pursuit", &made->order));
    TRY(cull_backend_upload(made->kit.backend, made->order, here, n * sizeof *here));
done:
    cull_base_free(here);
    return status;
}

/* |b|^2 of a problem. */
static cull_status square(const struct made *made, const cull_omp_problem *problem, double *out)
{
    cull_status status = CULL_OK;
    size_t      size = (size_t)problem->h.shape[1] + 1;
    double     *b = NULL;

    if (problem->column < 0) size *= (size_t)problem->p.shape[1];
    TRY(cull_base_alloc(size, sizeof *b, "a gradient", &b));
    TRY(cull_backend_download(made->kit.backend, b, problem->b, size * sizeof *b));
    *out = 0;
    for (size_t i = 0; i < size; i++) *out += b[i] * b[i];
done:
    cull_base_free(b);
    return status;
}

static cull_status make(struct made *made, size_t number)
{
    cull_status             status = CULL_OK;
    const cull_omp_problem *given = made->given + number;
    cull_omp_problem       *problem = made->problem + made->count;
    size_t                  n = atoms_of(given, made->refit);
    cull_pool_atoms         atoms = {.h = cull_cuda_rows_of(&given->h),
                                     .p = cull_cuda_rows_of(&given->p),
                                     .row = given->row,
                                     .index = made->refit ? given->index : NULL,
                                     .b = given->b,
                                     .column = given->column,
                                     .n = (uint32_t)n};

    TRY(cull_kit_allocate(&made->kit, n, n * sizeof *atoms.k, "a Gram matrix", &atoms.k));
    TRY(cull_kit_allocate(&made->kit, n, sizeof *atoms.t, "a Gram matrix", &atoms.t));
    TRY(cull_kit_allocate(&made->kit, n, sizeof *atoms.at, "a Gram matrix", &atoms.at));
    CUDA(cull_pool_gram(made->cuda->stream, &atoms));
    *problem = (cull_omp_problem){.count = n,
                                  .budget = given->budget,
                                  .k = cull_matrix(atoms.k, CULL_F64, n, n),
                                  .t = atoms.t,
                                  .index = made->refit ? made->order : given->index,
                                  .weight = given->weight,
                                  .picked = given->picked,
                                  .ridge = given->ridge};
    problem->k.device = given->h.device;
    if (!made->refit) TRY(square(made, given, &problem->b2));
    made->from[made->count++] = number;
done:
    return status;
}

static void report(const struct made *made)
{
    for (size_t i = 0; i < made->count; i++) {
        cull_omp_problem       *to = made->given + made->from[i];
        const cull_omp_problem *problem = made->problem + i;

        to->picked = problem->picked;
        to->residual = problem->residual;
        to->ridge = problem->ridge;
        to->stop = problem->stop;
    }
}

static cull_status solve(struct made *made, cull_op *op, size_t count,
                         const cull_omp_options *options)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {0};
    size_t       most = 0;

    TRY(cull_base_alloc(count, sizeof *made->problem, "matching pursuit", &made->problem));
    TRY(cull_base_alloc(count, sizeof *made->from, "matching pursuit", &made->from));
    for (size_t i = 0; i < count; i++)
        if (atoms_of(made->given + i, made->refit) > most)
            most = atoms_of(made->given + i, made->refit);
    if (most == 0) return CULL_OK;
    if (made->refit) TRY(count_up(made, most));
    for (size_t i = 0; i < count; i++)
        if (atoms_of(made->given + i, made->refit)) TRY(make(made, i));
    args.omp.problems = made->problem;
    args.omp.count = made->count;
    args.omp.options = options;
    TRY(cull_op_run(op, &args));
    TRY(cull_backend_wait(made->kit.backend));
    if (!made->refit) report(made);
done:
    return status;
}

/* In lots that fit. */
static cull_status solve_all(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                             size_t count, const cull_omp_options *options, bool refit)
{
    cull_status status = CULL_OK;
    size_t      limit = options->memory ? options->memory : DEFAULT_MEMORY;

    for (size_t i = 0; i < count; i++)
        if (bytes_of(problems + i, refit) > limit)
            FAIL(CULL_TOO_LARGE,
                 "%s problem %zu: %zu atoms need %.1f MiB, more than the %.1f MiB allowed",
                 refit ? "refit" : "omp", i, atoms_of(problems + i, refit),
                 (double)bytes_of(problems + i, refit) / 0x1p20, (double)limit / 0x1p20);
    for (size_t first = 0, some = 0; first < count; first += some) {
        struct made made = {.kit.backend = backend, .refit = refit, .given = problems + first};
        size_t      bytes = 0;

        for (some = 0; first + some < count; some++) {
            size_t more = bytes_of(problems + first + some, refit);

            if (some > 0 && bytes + more > AT_ONCE) break;
            bytes += more;
        }
        status = cull_cuda_enter(backend, &made.cuda);
        if (status == CULL_OK) status = solve(&made, op, some, options);
        cull_kit_clear(&made.kit);
        cull_base_free(made.from);
        cull_base_free(made.problem);
        TRY(status);
    }
done:
    return status;
}

cull_status cull_cuda_pool_refit(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                 size_t count, const cull_omp_options *options)
{
    return solve_all(backend, op, problems, count, options, true);
}

cull_status cull_pool_pursue_made(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                  size_t count, const cull_omp_options *options)
{
    return solve_all(backend, op, problems, count, options, false);
}
