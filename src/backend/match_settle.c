/*
 * backend/match_settle.c - solved problems completed and turned into a subset.
 *
 *     the negative ones dropped, their places filled at random, w solved again >= 0 (refit)
 *     w <- m w / sum w, or m w
 */
#include <math.h>

#include "backend/match.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

void cull_match_filler_clear(cull_match_filler *filler)
{
    cull_op_destroy(filler->draw);
    cull_op_destroy(filler->refit);
    cull_base_free(filler->unused);
    cull_base_free(filler->place);
    *filler = (cull_match_filler){0};
}

static cull_status make_room(cull_match_filler *filler, const cull_match_settle *how, size_t atoms)
{
    cull_status status = CULL_OK;

    TRY(cull_op_ready(how->backend, &(cull_op_desc){.kind = CULL_OP_DRAW, .rows = atoms},
                      &filler->draw));
    if (atoms <= filler->room) return CULL_OK;
    TRY(cull_base_grow(atoms, sizeof *filler->unused, "what fills a subset", &filler->unused));
    TRY(cull_base_grow(atoms, sizeof *filler->place, "what fills a subset", &filler->place));
    filler->room = atoms;
done:
    return status;
}

/* The rows' places, for atoms that are not all the rows. */
static const uint32_t *gather_places(cull_match_filler *filler, const uint32_t *place,
                                     const cull_omp_problem *problem)
{
    if (!problem->row) return place;
    for (size_t i = 0; i < problem->count; i++)
        filler->place[i] = place ? place[problem->row[i]] : problem->row[i];
    return filler->place;
}

/* Random unused atoms of a problem up to its budget; they weigh nothing yet. */
static cull_status fill(const cull_match_settle *how, cull_match_filler *filler,
                        const cull_omp_problem *problem)
{
    cull_status  status = CULL_OK;
    size_t       picked = problem->picked;
    cull_op_args args = {.draw = {.rows = problem->count,
                                  .m = problem->budget - picked,
                                  .key = how->key,
                                  .step = how->step,
                                  .index = problem->index + picked}};

    if (args.draw.m == 0) return CULL_OK;
    TRY(make_room(filler, how, problem->count));
    for (size_t i = 0; i < problem->count; i++) filler->unused[i] = 1;
    for (size_t i = 0; i < picked; i++) filler->unused[problem->index[i]] = 0;
    args.draw.place = gather_places(filler, how->place, problem);
    args.draw.weight = filler->unused;
    TRY(cull_op_run(filler->draw, &args));
    for (size_t i = picked; i < problem->budget; i++) problem->weight[i] = how->unit ? 1 : 0;
done:
    return status;
}

/* Drop the atoms of no positive weight. */
static cull_status clip(cull_omp_problem *problem)
{
    cull_status status = CULL_OK;
    size_t      kept = 0;

    for (size_t i = 0; i < problem->picked; i++) {
        if (!isfinite(problem->weight[i]))
            FAIL(CULL_NOT_FINITE, "the gradients are too large or too far apart to be matched");
        if (problem->weight[i] <= 0) continue;
        problem->index[kept] = problem->index[i];
        problem->weight[kept++] = problem->weight[i];
    }
    problem->picked = kept;
done:
    return status;
}

cull_status cull_match_complete(const cull_match_settle *how, cull_match_filler *filler,
                                cull_omp_problem *problems, size_t count, bool *open)
{
    cull_status status = CULL_OK;
    bool        missing = false;

    for (size_t i = 0; i < count; i++) {
        if (how->unit)
            for (size_t j = 0; j < problems[i].picked; j++) problems[i].weight[j] = 1;
        TRY(clip(problems + i));
        missing |= problems[i].picked < problems[i].budget;
        if (how->fill) TRY(fill(how, filler, problems + i));
    }
    *open = missing && how->fill && !how->unit;
done:
    return status;
}

cull_status cull_match_fill(const cull_match_settle *how, cull_match_filler *filler,
                            const cull_omp_options *options, cull_omp_problem *problems,
                            size_t count)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {.omp = {problems, count, options}};
    bool         open = false;

    TRY(cull_match_complete(how, filler, problems, count, &open));
    if (!open) return CULL_OK;
    TRY(cull_op_ready(how->backend, &(cull_op_desc){.kind = CULL_OP_REFIT, .rows = 0},
                      &filler->refit));
    TRY(cull_op_run(filler->refit, &args));
done:
    return status;
}

/* Append a problem's atoms to the subset, as rows. */
static void append(const cull_omp_problem *problem, size_t count, cull_subset *out)
{
    for (size_t i = 0; i < count; i++, out->count++) {
        uint32_t atom = problem->index[i];
        out->index[out->count] = problem->row ? problem->row[atom] : atom;
        out->weight[out->count] = problem->weight[i];
    }
}

/* The weights above zero of a problem's first `count` atoms: how many, and their sum. */
static size_t add_positive(const cull_omp_problem *problem, size_t count, double *sum)
{
    size_t positive = 0;

    for (size_t i = 0; i < count; i++) {
        if (problem->weight[i] <= 0) continue;
        positive++;
        *sum += problem->weight[i];
    }
    return positive;
}

void cull_match_scale(cull_subset *subset, double sum)
{
    double total = 0;

    for (size_t i = 0; i < subset->count; i++) total += subset->weight[i];
    for (size_t i = 0; i < subset->count; i++) subset->weight[i] *= sum / total;
}

static void scale(const cull_match_settle *how, cull_subset *out)
{
    if (out->count == 0) return;
    if (how->solved == 0 || out->flags & CULL_SUBSET_FALLBACK) {
        cull_match_scale(out, (double)out->count);
        return;
    }
    for (size_t i = 0; i < out->count; i++) out->weight[i] *= how->solved * (double)out->count;
}

void cull_match_finish(const cull_match_settle *how, cull_omp_problem *problems, size_t count,
                       cull_subset *out)
{
    size_t positive = 0, picked = 0, budget = out->count;
    double total = 0, mean = 1;

    for (size_t i = 0; i < count; i++) {
        picked += problems[i].picked;
        positive +=
            add_positive(problems + i, how->fill ? problems[i].budget : problems[i].picked, &total);
    }
    if (positive) mean = total / (double)positive;
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        cull_omp_problem *problem = problems + i;
        size_t            kept = how->fill ? problem->budget : problem->picked;

        if (add_positive(problem, kept, &(double){0}) == 0)
            for (size_t j = 0; j < kept; j++) problem->weight[j] = mean;
        append(problem, kept, out);
    }
    out->picked = picked;
    if (how->unit) positive = picked;
    if (picked < budget)
        out->flags |= !how->fill     ? CULL_SUBSET_SHORT
                      : positive > 0 ? CULL_SUBSET_FILLED
                                     : CULL_SUBSET_FALLBACK;
    scale(how, out);
}

int cull_match_exponent(const cull_tensor *p)
{
    size_t rows = (size_t)p->shape[0], columns = (size_t)p->shape[1];
    double largest = 0;
    int    exponent = 0;

    for (size_t i = 0; i < rows; i++) {
        cull_tensor row = cull_vector(cull_tensor_row(p, i), p->dtype, columns);
        for (size_t j = 0; j < columns; j++)
            largest = fmax(largest, fabs(cull_tensor_get(&row, j)));
    }
    (void)frexp(largest, &exponent);
    return exponent;
}
