/* select/facility.c - cull_facility: facility location, checked whole before anything runs. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "select/there.h"
#include "tensor/tensor.h"

static bool is_there(const cull_sel_looks *looks)
{
    return looks->kit.backend && !cull_backend_on_host(looks->kit.backend);
}

static cull_status check_similarity_there(const cull_facility_problem *problem,
                                          cull_sel_looks *looks, size_t number)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};

    TRY(cull_sel_look_values(looks, &problem->similarity, 0, DBL_MAX, 0));
    TRY(cull_sel_look_end(looks, &trouble));
    if (!trouble.what) return CULL_OK;
    if (trouble.found < 0 && isfinite(trouble.found))
        FAIL(CULL_BAD_ARGUMENT, "problem %zu: similarity row %zu has a number below zero", number,
             (size_t)trouble.row);
    FAIL(CULL_NOT_FINITE, "problem %zu: similarity row %zu is not finite", number,
         (size_t)trouble.row);
done:
    return status;
}

static cull_status check_similarity(const cull_facility_problem *problem, cull_sel_looks *looks,
                                    size_t number)
{
    cull_status        status = CULL_OK;
    const cull_tensor *s = &problem->similarity;
    size_t             n = problem->count, row = 0;

    TRY(cull_tensor_check_on(s, "similarity", cull_sel_where(looks->kit.backend), 2, n, false));
    if ((size_t)s->shape[1] != n)
        FAIL(CULL_BAD_ARGUMENT, "problem %zu: similarity is %zu by %lld, not square", number, n,
             (long long)s->shape[1]);
    if (is_there(looks)) return check_similarity_there(problem, looks, number);
    row = cull_tensor_first_not_finite(s, n);
    if (row < n)
        FAIL(CULL_NOT_FINITE, "problem %zu: similarity row %zu is not finite", number, row);
    for (size_t i = 0; i < n; i++) {
        cull_tensor line = cull_tensor_line(s, i);
        for (size_t j = 0; j < n; j++)
            if (cull_tensor_get(&line, j) < 0)
                FAIL(CULL_BAD_ARGUMENT, "problem %zu: similarity (%zu, %zu) is below zero", number,
                     i, j);
    }
done:
    return status;
}

static bool row_is_finite(const cull_tensor *t, size_t row)
{
    cull_tensor line = cull_matrix(cull_tensor_row(t, row), t->dtype, 1, (size_t)t->shape[1]);

    return cull_tensor_first_not_finite(&line, 1) == 1;
}

/* Squares beyond it leave the range in which gradients can be told apart. */
static bool row_is_small(const cull_tensor *t, size_t row)
{
    cull_tensor line = cull_tensor_line(t, row);

    if (t->dtype == CULL_F32) return true;
    for (size_t j = 0; j < (size_t)t->shape[1]; j++)
        if (fabs(cull_tensor_get(&line, j)) >= CULL_FACILITY_MOST) return false;
    return true;
}

static cull_status check_signals(const cull_facility_problem *problem, cull_sel_looks *looks,
                                 size_t number)
{
    cull_status status = CULL_OK;
    cull_device device = cull_sel_where(looks->kit.backend);
    size_t      rows = problem->count;
    char        name[64];

    if (problem->row) rows = problem->h.shape[0] > 0 ? (size_t)problem->h.shape[0] : 0;
    TRY(cull_tensor_check_on(&problem->h, "h", device, 2, rows, false));
    TRY(cull_tensor_check_on(&problem->p, "p", device, 2, rows, false));
    if (is_there(looks)) {
        (void)snprintf(name, sizeof name, "problem %zu", number);
        return cull_sel_look_last_layer(looks, &problem->h, &problem->p, problem->row,
                                        problem->count, CULL_FACILITY_MOST, name);
    }
    for (size_t i = 0; i < problem->count; i++) {
        size_t row = problem->row ? problem->row[i] : i;
        if (row >= rows)
            FAIL(CULL_BAD_ARGUMENT, "problem %zu: row %zu of %zu asked for", number, row, rows);
        if (!row_is_finite(&problem->h, row) || !row_is_finite(&problem->p, row))
            FAIL(CULL_NOT_FINITE, "problem %zu: h or p of example %zu is not finite", number, row);
        if (!row_is_small(&problem->h, row))
            FAIL(CULL_NOT_FINITE, "problem %zu: h of example %zu is too large", number, row);
    }
done:
    return status;
}

static cull_status check_problem(const cull_facility_problem *problem, cull_sel_looks *looks,
                                 size_t number)
{
    cull_status status = CULL_OK;

    if (problem->count < 1 || problem->count >= UINT32_MAX)
        FAIL(CULL_BAD_ARGUMENT, "problem %zu: %zu atoms, 1 to 2^32-2 expected", number,
             problem->count);
    if (problem->budget < 1 || problem->budget > problem->count)
        FAIL(CULL_BAD_ARGUMENT, "problem %zu: budget %zu of %zu atoms", number, problem->budget,
             problem->count);
    if (!problem->index || !problem->weight)
        FAIL(CULL_BAD_ARGUMENT, "problem %zu: index and weight must be given", number);
    if (cull_tensor_present(&problem->similarity))
        TRY(check_similarity(problem, looks, number));
    else
        TRY(check_signals(problem, looks, number));
done:
    return status;
}

static cull_status check_options(const cull_facility_options *options)
{
    cull_status status = CULL_OK;

    switch (options->greedy) {
    case CULL_GREEDY_LAZY:
    case CULL_GREEDY_NAIVE:
    case CULL_GREEDY_STOCHASTIC: break;
    default:
        FAIL(CULL_BAD_ARGUMENT, "facility location knows no greedy number %d",
             (int)options->greedy);
    }
    if (!(options->sample >= 0 && options->sample < 1))
        FAIL(CULL_BAD_ARGUMENT, "facility location: sample %g is outside [0, 1)", options->sample);
done:
    return status;
}

cull_status cull_facility(cull_backend *backend, cull_facility_problem *problems, size_t count,
                          const cull_facility_options *options)
{
    cull_status            status = CULL_OK;
    cull_backend          *own = NULL;
    cull_sel_looks         looks = {.kit.backend = backend};
    size_t                 most = 0;
    cull_facility_options  defaults = {0};
    cull_op_args           args = {0};
    cull_facility_problem *given = problems, *copies = NULL;
    cull_facility_options  room;

    if (count == 0) return CULL_OK;
    if (!problems) FAIL(CULL_BAD_ARGUMENT, "facility location: no problems given");
    SIZED(cull_facility_options, options, room);
    TRY(cull_sized_read_all("cull_facility_problem", given, count, sizeof *given, &copies));
    if (copies) problems = copies;
    args.facility.problems = problems;
    args.facility.count = count;
    args.facility.options = options ? options : &defaults;
    TRY(check_options(args.facility.options));
    if (!backend) TRY(cull_backend_open("cpu", 1, &own));
    if (!backend) looks.kit.backend = own;
    for (size_t i = 0; i < count; i++) {
        TRY(check_problem(problems + i, &looks, i));
        if (problems[i].count > most) most = problems[i].count;
    }
    TRY(cull_kit_run(&looks.kit, CULL_OP_FACILITY, most, &args));
    TRY(cull_backend_wait(looks.kit.backend)); /* then it is told */
done:
    cull_sized_give_all(given, copies, count, sizeof *copies);
    cull_base_free(copies);
    if (looks.kit.backend) cull_kit_clear(&looks.kit);
    cull_backend_close(own);
    return status;
}
