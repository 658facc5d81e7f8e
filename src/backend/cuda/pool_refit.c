/*
 * backend/cuda/pool_refit.c - weights >= 0 for atoms of problems without a K: it is made over those
 * atoms alone, and what remains is a problem with one, for the operation that solves those.
 */
#include "backend/cuda/cuda.h"
#include "backend/cuda/pool.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)
#define AT_ONCE        ((size_t)4 << 30) /* bytes of K, unless one problem needs more */

/* Problems with K, in the place of some without. */
struct refit {
    cull_kit          kit;
    cull_cuda        *cuda;
    cull_omp_problem *problem; /* [count] */
    uint32_t         *index;   /* [n of the largest] 0, 1, 2 .. there */
    size_t            count;
};

/* 0: its weights stay as they are. */
static size_t bytes_of(const cull_omp_problem *problem)
{
    size_t n = problem->budget;

    if (problem->picked >= n) return 0;
    return n > SIZE_MAX / 32 / n ? SIZE_MAX / 2 : n * (n + 2) * sizeof(double);
}

/* 0 .. n-1 on the device. */
static cull_status count_up(struct refit *refit, size_t n)
{
    cull_status status = CULL_OK;
    uint32_t   *here = NULL;

    TRY(cull_base_alloc(n, sizeof *here, "weights to be solved again", &here));
    for (size_t i = 0; i < n; i++) here[i] = (uint32_t)i;
    TRY(cull_kit_allocate(&refit->kit, n, sizeof *here, "weights to be solved again",
                          &refit->index));
    TRY(cull_backend_upload(refit->kit.backend, refit->index, here, n * sizeof *here));
done:
    cull_base_free(here);
    return status;
}

static cull_status make(struct refit *refit, const cull_omp_problem *problem)
{
    cull_status       status = CULL_OK;
    cull_omp_problem *made = refit->problem + refit->count;
    size_t            n = problem->budget;
    cull_pool_atoms   atoms = {.h = cull_cuda_rows_of(&problem->h),
                               .p = cull_cuda_rows_of(&problem->p),
                               .row = problem->row,
                               .index = problem->index,
                               .b = problem->b,
                               .column = problem->column,
                               .n = (uint32_t)n};

    TRY(cull_kit_allocate(&refit->kit, n, n * sizeof *atoms.k, "a Gram matrix", &atoms.k));
    TRY(cull_kit_allocate(&refit->kit, n, sizeof *atoms.t, "a Gram matrix", &atoms.t));
    TRY(cull_kit_allocate(&refit->kit, n, sizeof *atoms.at, "a Gram matrix", &atoms.at));
    CUDA(cull_pool_gram(refit->cuda->stream, &atoms));
    *made = (cull_omp_problem){.count = n,
                               .budget = n,
                               .k = cull_matrix(atoms.k, CULL_F64, n, n),
                               .t = atoms.t,
                               .index = refit->index,
                               .weight = problem->weight,
                               .picked = problem->picked,
                               .ridge = problem->ridge};
    refit->count++;
done:
    return status;
}

static cull_status refit_some(cull_backend *backend, cull_op *op, const cull_omp_problem *problems,
                              size_t count, const cull_omp_options *options)
{
    cull_status  status = CULL_OK;
    struct refit refit = {.kit.backend = backend};
    cull_op_args args = {0};
    size_t       most = 0;

    for (size_t i = 0; i < count; i++)
        if (bytes_of(problems + i) && problems[i].budget > most) most = problems[i].budget;
    if (most == 0) return CULL_OK;
    TRY(cull_cuda_enter(backend, &refit.cuda));
    TRY(cull_base_alloc(count, sizeof *refit.problem, "weights to be solved again",
                        &refit.problem));
    TRY(count_up(&refit, most));
    for (size_t i = 0; i < count; i++)
        if (bytes_of(problems + i)) TRY(make(&refit, problems + i));
    args.omp.problems = refit.problem;
    args.omp.count = refit.count;
    args.omp.options = options;
    TRY(cull_op_run(op, &args));
    TRY(cull_backend_wait(backend));
done:
    cull_kit_clear(&refit.kit);
    cull_base_free(refit.problem);
    return status;
}

cull_status cull_cuda_pool_refit(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                 size_t count, const cull_omp_options *options)
{
    cull_status status = CULL_OK;
    size_t      limit = options->memory ? options->memory : DEFAULT_MEMORY;

    for (size_t i = 0; i < count; i++)
        if (bytes_of(problems + i) > limit)
            FAIL(CULL_TOO_LARGE,
                 "refit problem %zu: %zu atoms need %.1f MiB, more than the %.1f MiB allowed", i,
                 problems[i].budget, (double)bytes_of(problems + i) / 0x1p20,
                 (double)limit / 0x1p20);
    for (size_t first = 0, some = 0; first < count; first += some) {
        size_t bytes = 0;

        for (some = 0; first + some < count; some++) {
            size_t more = bytes_of(problems + first + some);

            if (some > 0 && bytes + more > AT_ONCE) break;
            bytes += more;
        }
        TRY(refit_some(backend, op, problems + first, some, options));
    }
done:
    return status;
}
