/* select/omp.c - cull_omp: matching pursuit, checked whole before anything runs. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "select/there.h"
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
static cull_status check_explicit(const cull_omp_problem *problem, cull_device device,
                                  size_t number)
{
    cull_status status = CULL_OK;
    size_t      n = problem->count;

    TRY(cull_tensor_check_on(&problem->k, "k", device, 2, n, false));
    if (problem->k.dtype == CULL_BF16)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: k is bfloat16, float32 or float64 expected",
             number);
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

/* Rows on a device are looked at there. */
static cull_status check_last_layer(const cull_omp_problem *problem, cull_sel_looks *looks,
                                    size_t number)
{
    cull_status status = CULL_OK;
    cull_device device = cull_sel_where(looks->kit.backend);
    size_t      rows = problem->h.shape[0] > 0 ? (size_t)problem->h.shape[0] : 0;
    char        name[64];

    TRY(cull_tensor_check_on(&problem->h, "h", device, 2, rows, false));
    TRY(cull_tensor_check_on(&problem->p, "p", device, 2, rows, false));
    if (problem->column < -1 || problem->column >= problem->p.shape[1])
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: column %ld of %lld asked for", number,
             (long)problem->column, (long long)problem->p.shape[1]);
    if (!problem->row && problem->count > rows)
        FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: %zu atoms of %zu rows", number, problem->count,
             rows);
    if (looks->kit.backend && !cull_backend_on_host(looks->kit.backend)) {
        (void)snprintf(name, sizeof name, "omp problem %zu", number);
        TRY(cull_sel_look_last_layer(looks, &problem->h, &problem->p, problem->row, problem->count,
                                     DBL_MAX, name));
        return CULL_OK;
    }
    for (size_t i = 0; problem->row && i < problem->count; i++)
        if (problem->row[i] >= rows)
            FAIL(CULL_BAD_ARGUMENT, "omp problem %zu: row %lu of %zu asked for", number,
                 (unsigned long)problem->row[i], rows);
done:
    return status;
}

static cull_status check_problem(const cull_omp_problem *problem, cull_sel_looks *looks,
                                 size_t number)
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
        TRY(check_explicit(problem, cull_sel_where(looks->kit.backend), number));
    else
        TRY(check_last_layer(problem, looks, number));
done:
    return status;
}

/* ---- the atoms' own mean as the target ---- */

static bool wants_mean(const cull_omp_problem *problem)
{
    return !cull_tensor_present(&problem->k) && !problem->b;
}

/* Their sum: the weights are brought to the mean when they are known. */
static cull_status aim(cull_kit *kit, cull_omp_problem *problem)
{
    cull_status  status = CULL_OK;
    cull_tensor  p = problem->p;
    double      *sum = NULL;
    size_t       width = (size_t)problem->h.shape[1];
    cull_op_args args = {
        .gradient = {.h = &problem->h, .p = &p, .row = problem->row, .rows = problem->count}};
    cull_op_desc desc = {.kind = CULL_OP_GRADIENT, .rows = problem->count, .width = width};

    if (problem->column >= 0) {
        p.data = (char *)p.data + (size_t)problem->column * cull_dtype_size(p.dtype);
        p.shape[1] = 1;
    }
    desc.classes = (size_t)p.shape[1];
    TRY(cull_kit_allocate(kit, desc.classes * (width + 1), sizeof *sum, "a target", &sum));
    args.gradient.b = sum;
    TRY(cull_kit_run_for(kit, &desc, &args));
    problem->b = sum;
done:
    return status;
}

static cull_status bring_to_mean(cull_kit *kit, const cull_omp_problem *problem)
{
    cull_op_args args = {.widen = {.count = problem->picked,
                                   .weight = problem->weight,
                                   .to_weight = problem->weight,
                                   .dtype = CULL_F64,
                                   .scale = 1.0 / (double)problem->count}};

    return problem->picked ? cull_kit_run(kit, CULL_OP_WIDEN, problem->picked, &args) : CULL_OK;
}

/* All problems, checked. The operation stays with the backend, so that its memory serves the next
 * call. */
static cull_status pursue(cull_kit *kit, cull_omp_problem *problems, size_t count,
                          const cull_omp_options *options)
{
    cull_status   status = CULL_OK;
    cull_backend *backend = kit->backend;
    cull_op      *op = NULL;
    cull_op_desc  desc = {.kind = CULL_OP_OMP};
    cull_op_args  args = {.omp = {problems, count, options}};
    bool         *means = NULL; /* whose target is made here; NULL: nobody's */

    for (size_t i = 0; i < count; i++) {
        if (problems[i].count > desc.rows) desc.rows = problems[i].count;
        if (!wants_mean(problems + i)) continue;
        if (!means) TRY(cull_base_alloc(count, sizeof *means, "matching pursuit", &means));
        TRY(aim(kit, problems + i));
        means[i] = true;
    }
    op = cull_op_take(backend, CULL_OP_OMP);
    TRY(cull_op_ready(backend, &desc, &op));
    TRY(cull_op_run(op, &args));
    TRY(cull_backend_wait(backend)); /* then it is told */
    for (size_t i = 0; means && i < count; i++)
        if (means[i]) TRY(bring_to_mean(kit, problems + i));
done:
    for (size_t i = 0; means && i < count; i++)
        if (means[i]) problems[i].b = NULL; /* the kit's */
    cull_base_free(means);
    cull_op_give(backend, op);
    return status;
}

cull_status cull_omp(cull_backend *backend, cull_omp_problem *problems, size_t count,
                     const cull_omp_options *options)
{
    cull_status       status = CULL_OK;
    cull_backend     *own = NULL;
    cull_sel_looks    looks = {.kit.backend = backend};
    cull_omp_problem *given = problems, *copies = NULL;
    cull_omp_options  room;

    if (count == 0) return CULL_OK;
    if (!problems || !options) FAIL(CULL_BAD_ARGUMENT, "omp: problems and options must be given");
    SIZED(cull_omp_options, options, room);
    TRY(cull_sized_read_all("cull_omp_problem", given, count, sizeof *given, &copies));
    if (copies) problems = copies;
    for (size_t i = 0; i < count; i++) problems[i].picked = 0;
    TRY(check_options(options));
    if (!backend) TRY(cull_backend_open("cpu", 1, &own));
    if (!backend) looks.kit.backend = own;
    for (size_t i = 0; i < count; i++) TRY(check_problem(&problems[i], &looks, i));
    TRY(pursue(&looks.kit, problems, count, options));
done:
    for (size_t i = 0; problems && status != CULL_OK && i < count; i++) problems[i].picked = 0;
    cull_sized_give_all(given, copies, count, sizeof *copies);
    cull_base_free(copies);
    if (looks.kit.backend) cull_kit_clear(&looks.kit);
    cull_backend_close(own);
    return status;
}
