/* select/omp.c - cull_omp: matching pursuit, checked whole before anything runs. */
#include <math.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/sized.h"
#include "tensor/tensor.h"

static cull_status check_options(const cull_omp_options *options)
{
    cull_status status = CULL_OK;

    if (!(options->ridge >= 0) || isinf(options->ridge))
        FAIL(CULL_BAD_ARGUMENT, "omp: ridge %g is not a number from 0 on", options->ridge);
    if (!(options->tolerance >= 0 && options->tolerance < 1))
        FAIL(CULL_BAD_ARGUMENT, "omp: tolerance %g is outside [0, 1)", options->tolerance);
    switch (options->pick) {
    case CULL_PICK_ABS:
    case CULL_PICK_SIGNED:
    case CULL_PICK_SAMPLE: break;
    default: FAIL(CULL_BAD_ARGUMENT, "omp knows no pick number %d", (int)options->pick);
    }
done:
    return status;
}

/* Entries of K are looked at while they are used; a NaN is found then. */
static cull_status check_explicit(const cull_omp_problem *problem, size_t number)
{
    cull_status status = CULL_OK;
    size_t      n = problem->count;

    TRY(cull_tensor_check(&problem->k, "k", 2, n, false));
    if ((size_t)problem->k.shape[1] != n)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: k is %zu by %lld, not square", number, n,
             (long long)problem->k.shape[1]);
    if (!problem->t) FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: t must be given with k", number);
    if (!(problem->noise >= 0 && problem->noise < 1))
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: noise %g is outside [0, 1)", number,
             problem->noise);
    if (!isfinite(problem->b2)) FAIL(CULL_NOT_FINITE, "omp problem %zu: b2 is not finite", number);
done:
    return status;
}

static cull_status check_last_layer(const cull_omp_problem *problem, size_t number)
{
    cull_status status = CULL_OK;
    size_t      rows = problem->h.shape[0] > 0 ? (size_t)problem->h.shape[0] : 0;

    TRY(cull_tensor_check(&problem->h, "h", 2, rows, false));
    TRY(cull_tensor_check(&problem->p, "p", 2, rows, false));
    if (problem->column < -1 || problem->column >= problem->p.shape[1])
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: column %ld of %lld asked for", number,
             (long)problem->column, (long long)problem->p.shape[1]);
    if (!problem->b)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: b must be given with h and p", number);
    if (!problem->row && problem->count > rows)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: %zu atoms of %zu rows", number, problem->count,
             rows);
    for (size_t i = 0; problem->row && i < problem->count; i++)
        if (problem->row[i] >= rows)
            FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: row %lu of %zu asked for", number,
                 (unsigned long)problem->row[i], rows);
done:
    return status;
}

static cull_status check_problem(const cull_omp_problem *problem, size_t number)
{
    cull_status status = CULL_OK;

    if (problem->count < 1 || problem->count >= UINT32_MAX)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: %zu atoms, 1 to 2^32-2 expected", number,
             problem->count);
    if (problem->budget < 1 || problem->budget > problem->count)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: budget %zu of %zu atoms", number, problem->budget,
             problem->count);
    if (!problem->index || !problem->weight)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: index and weight must be given", number);
    if (cull_tensor_present(&problem->k))
        TRY(check_explicit(problem, number));
    else
        TRY(check_last_layer(problem, number));
done:
    return status;
}

/* The operation stays with the backend, so that its memory serves the next call. */
cull_status cull_omp(cull_backend *backend, cull_omp_problem *problems, size_t count,
                     const cull_omp_options *options)
{
    cull_status       status = CULL_OK;
    cull_backend     *own = NULL;
    cull_op          *op = NULL;
    cull_op_desc      desc = {.kind = CULL_OP_OMP};
    cull_op_args      args = {0};
    cull_omp_problem *given = problems, *copies = NULL;
    cull_omp_options  room;

    if (count == 0) return CULL_OK;
    if (!problems || !options) FAIL(CULL_BAD_ARGUMENT, "omp: problems and options must be given");
    SIZED(cull_omp_options, options, room);
    TRY(cull_sized_read_all("cull_omp_problem", given, count, sizeof *given, &copies));
    if (copies) problems = copies;
    args.omp.problems = problems;
    args.omp.count = count;
    args.omp.options = options;
    for (size_t i = 0; i < count; i++) problems[i].picked = 0;
    TRY(check_options(options));
    for (size_t i = 0; i < count; i++) {
        TRY(check_problem(&problems[i], i));
        if (problems[i].count > desc.rows) desc.rows = problems[i].count;
    }
    if (!backend) {
        TRY(cull_backend_open("cpu", 1, &own));
        backend = own;
    }
    op = cull_op_take(backend, CULL_OP_OMP);
    TRY(cull_op_ready(backend, &desc, &op));
    TRY(cull_op_run(op, &args));
done:
    cull_sized_give_all(given, copies, count, sizeof *copies);
    cull_base_free(copies);
    cull_op_give(backend, op);
    cull_backend_close(own);
    return status;
}
