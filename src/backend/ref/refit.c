/*
 * backend/ref/refit.c - weights >= 0 for atoms that are given, by brute force.
 *
 * The atoms are a problem of their own: their part of K, its diagonal 1 + SHIFT times as
 * large, and of t, pursued under weights >= 0 until no correlation is left. What comes out is
 * taken where it lowers x^T K_II x - 2 t_I^T x.
 */
#include <math.h>
#include <string.h>

#include "backend/ref/omp.h"
#include "backend/ref/ref.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

/* The atoms as a problem of their own. */
struct part {
    size_t    n;
    double   *k, *t;   /* (n, n), [n]                     */
    double   *square;  /* [n] diag K without the shift    */
    uint32_t *index;   /* [n] in the order they came in   */
    double   *weight;  /* [n]                             */
    double   *x, *old; /* [n] by atom: new, and as given  */
};

static cull_status part_alloc(struct part *part, size_t n)
{
    cull_status status = CULL_OK;

    part->n = n;
    TRY(cull_base_alloc(n * n, sizeof *part->k, "a Gram matrix", &part->k));
    TRY(cull_base_alloc(n, sizeof *part->t, "correlations", &part->t));
    TRY(cull_base_alloc(n, sizeof *part->square, "correlations", &part->square));
    TRY(cull_base_alloc(n, sizeof *part->index, "picks", &part->index));
    TRY(cull_base_alloc(n, sizeof *part->weight, "weights", &part->weight));
    TRY(cull_base_alloc(n, sizeof *part->x, "weights", &part->x));
    TRY(cull_base_alloc(n, sizeof *part->old, "weights", &part->old));
done:
    return status;
}

static void part_free(struct part *part)
{
    cull_base_free(part->k);
    cull_base_free(part->t);
    cull_base_free(part->square);
    cull_base_free(part->index);
    cull_base_free(part->weight);
    cull_base_free(part->x);
    cull_base_free(part->old);
}

static void cut_out(const struct ref_pursuit *whole, struct part *part)
{
    const uint32_t *index = whole->problem->index;

    for (size_t i = 0; i < part->n; i++) {
        part->t[i] = whole->t[index[i]];
        for (size_t j = 0; j < part->n; j++)
            part->k[i * part->n + j] = whole->k[index[i] * whole->n + index[j]];
        part->square[i] = part->k[i * part->n + i];
        part->k[i * part->n + i] *= 1 + CULL_REFIT_SHIFT;
        part->old[i] = i < whole->problem->picked ? whole->problem->weight[i] : 0;
    }
}

/* x^T K x - 2 t^T x, without shift and ridge. */
static double error_of(const struct part *part, const double *x)
{
    double error = 0;

    for (size_t i = 0; i < part->n; i++) {
        double sum = part->square[i] * x[i];

        for (size_t j = 0; j < part->n; j++)
            if (j != i) sum += part->k[i * part->n + j] * x[j];
        error += x[i] * (sum - 2 * part->t[i]);
    }
    return error;
}

static cull_status solve(struct part *part, double ridge, size_t number)
{
    cull_status      status = CULL_OK;
    cull_omp_problem problem = {.count = part->n,
                                .budget = part->n,
                                .k = cull_matrix(part->k, CULL_F64, part->n, part->n),
                                .t = part->t,
                                .index = part->index,
                                .weight = part->weight};
    cull_omp_options options = {.nonnegative = true, .pick = CULL_PICK_SIGNED, .memory = SIZE_MAX};
    double           mean = 0;

    for (size_t i = 0; i < part->n; i++) mean += part->k[i * part->n + i] / (double)part->n;
    if (mean > 0) options.ridge = ridge / mean;
    TRY(cull_ref_omp_pursue(&problem, &options, number));
    for (size_t j = 0; j < problem.picked; j++) part->x[part->index[j]] = part->weight[j];
done:
    return status;
}

static cull_status refit(cull_omp_problem *problem, size_t number)
{
    cull_status        status = CULL_OK;
    struct ref_pursuit whole = {.problem = problem, .n = problem->count};
    struct part        part = {0};
    const double      *best = NULL;

    if (problem->picked >= problem->budget) return CULL_OK;
    TRY(cull_ref_omp_alloc(&whole, SIZE_MAX, number));
    TRY(part_alloc(&part, problem->budget));
    cull_ref_omp_make(&whole);
    cut_out(&whole, &part);
    TRY(solve(&part, problem->ridge, number));
    best = error_of(&part, part.x) < error_of(&part, part.old) ? part.x : part.old;
    memcpy(problem->weight, best, part.n * sizeof *best);
done:
    part_free(&part);
    cull_ref_omp_free(&whole);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    (void)op;
    for (size_t i = 0; i < args->omp.count; i++) TRY(refit(&args->omp.problems[i], i));
done:
    return status;
}

const cull_op_class cull_ref_refit = {cull_host_create, run, cull_host_destroy};
