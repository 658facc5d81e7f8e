/*
 * select/matching.c - one minibatch matched, and solved problems turned into a subset.
 *
 *     K = P P^T o (H H^T + 1)   t = row means of K   w = OMP(K, t)   (gram, omp)
 *     the negative ones dropped, their places filled at random, w solved again >= 0 (refit)
 *     w <- m w / sum w, or m w
 *
 * Up to EXPLICIT examples K is stored; beyond, its columns are made as they are picked.
 */
#include "select/matching.h"

#include <math.h>

enum { EXPLICIT = 4096, LONG_FEATURE = 150 }; /* 2^150 needs no help to be squared twice */

/* Squares of gradients beyond these are not squared again without leaving double's range. */
#define SMALL_SQUARE 0x1p-400
#define LARGE_SQUARE 0x1p+400

cull_status cull_sel_matching_options(const char *owner, const cull_values *values,
                                      cull_omp_options *out)
{
    cull_status status = CULL_OK;
    bool        nonnegative = cull_value_is(values, "nonnegative", "omp");

    *out = (cull_omp_options){.ridge = cull_value_real(values, "ridge"),
                              .tolerance = cull_value_real(values, "tolerance"),
                              .nonnegative = nonnegative};
    if (nonnegative && cull_value_is(values, "pick", "abs"))
        FAIL(CULL_BAD_OPTION, "%s: pick=abs goes with nonnegative=clip only", owner);
    out->pick =
        nonnegative || cull_value_is(values, "pick", "signed") ? CULL_PICK_SIGNED : CULL_PICK_ABS;
done:
    return status;
}

void cull_sel_matching_needs(const cull_values *values, cull_needs *needs)
{
    if (cull_value_is(values, "match", "validation"))
        needs->target |= CULL_SIGNAL_H | CULL_SIGNAL_P;
}

void cull_sel_filler_clear(cull_sel_filler *filler)
{
    cull_sel_draw_clear(&filler->draw);
    cull_op_destroy(filler->refit);
    cull_base_free(filler->unused);
    cull_base_free(filler->place);
    *filler = (cull_sel_filler){0};
}

/* The rows' places, for atoms that are not all the rows. */
static cull_status gather_places(cull_sel_filler *filler, const uint32_t *place,
                                 const cull_omp_problem *problem, const uint32_t **out)
{
    cull_status status = CULL_OK;

    *out = place;
    if (!problem->row) return CULL_OK;
    if (problem->count > filler->place_room) {
        TRY(cull_base_grow(problem->count, sizeof *filler->place, "places", &filler->place));
        filler->place_room = problem->count;
    }
    for (size_t i = 0; i < problem->count; i++)
        filler->place[i] = place ? place[problem->row[i]] : problem->row[i];
    *out = filler->place;
done:
    return status;
}

/* Random unused atoms of a problem up to its budget; they weigh nothing yet. */
static cull_status fill(const cull_sel_settle *how, cull_sel_filler *filler,
                        const cull_omp_problem *problem)
{
    cull_status     status = CULL_OK;
    const uint32_t *place = NULL;
    size_t          picked = problem->picked, missing = problem->budget - picked;

    if (missing == 0) return CULL_OK;
    TRY(gather_places(filler, how->place, problem, &place));
    TRY(cull_sel_room(&filler->unused, &filler->unused_room, problem->count));
    for (size_t i = 0; i < problem->count; i++) filler->unused[i] = 1;
    for (size_t i = 0; i < picked; i++) filler->unused[problem->index[i]] = 0;
    TRY(cull_sel_draw_run(&filler->draw, how->backend, how->key, how->step, place, filler->unused,
                          problem->count, missing, problem->index + picked));
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

cull_status cull_sel_settle_fill(const cull_sel_settle *how, cull_sel_filler *filler,
                                 const cull_omp_options *options, cull_omp_problem *problems,
                                 size_t count)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {.omp = {problems, count, options}};
    bool         missing = false;

    for (size_t i = 0; i < count; i++) {
        if (how->unit)
            for (size_t j = 0; j < problems[i].picked; j++) problems[i].weight[j] = 1;
        TRY(clip(problems + i));
        missing |= problems[i].picked < problems[i].budget;
        if (how->fill) TRY(fill(how, filler, problems + i));
    }
    if (!missing || !how->fill || how->unit) return CULL_OK;
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

static void scale(const cull_sel_settle *how, cull_subset *out)
{
    if (out->count == 0) return;
    if (how->solved == 0 || out->flags & CULL_SUBSET_FALLBACK) {
        cull_sel_subset_scale(out, (double)out->count);
        return;
    }
    for (size_t i = 0; i < out->count; i++) out->weight[i] *= how->solved * (double)out->count;
}

void cull_sel_settle_run(const cull_sel_settle *how, cull_omp_problem *problems, size_t count,
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

void cull_sel_minibatch_clear(cull_sel_minibatch *batch)
{
    cull_op_destroy(batch->gram);
    cull_op_destroy(batch->gradient);
    cull_op_destroy(batch->omp);
    cull_base_free(batch->k);
    cull_base_free(batch->p);
    cull_base_free(batch->t);
    cull_sel_filler_clear(&batch->filler);
    *batch = (cull_sel_minibatch){0};
}

int cull_sel_exponent(const cull_tensor *p)
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

/* P divided by 2^exponent. */
static cull_tensor divide(const cull_tensor *p, int exponent, double *out)
{
    size_t rows = (size_t)p->shape[0], columns = (size_t)p->shape[1];

    for (size_t i = 0; i < rows; i++) {
        cull_tensor row = cull_vector(cull_tensor_row(p, i), p->dtype, columns);
        for (size_t j = 0; j < columns; j++)
            out[i * columns + j] = ldexp(cull_tensor_get(&row, j), -exponent);
    }
    return cull_matrix(out, CULL_F64, rows, columns);
}

/* The largest squared gradient and, in *broken, the first that is not finite; n: none. As
 * |K_ij| <= sqrt(K_ii K_jj), a finite diagonal says that all of K is finite. */
static double largest_square(const double *k, size_t n, size_t *broken)
{
    double largest = 0;

    *broken = n;
    for (size_t i = n; i-- > 0;) {
        double square = k[i * (n + 1)];
        if (!isfinite(square)) *broken = i;
        if (square > largest) largest = square;
    }
    return largest;
}

/* K again, from a P (the target's too) divided by a power of two so that its largest entry is
 * about 1, or as much less as H needs: only ratios matter. */
static cull_status make_rescaled(cull_sel_minibatch *batch, const cull_signals *signals,
                                 cull_op_args *args, double *lengths)
{
    cull_status status = CULL_OK;
    cull_tensor p = {0};
    cull_target target = signals->target;
    size_t      n = signals->count, classes = (size_t)signals->p.shape[1], broken = n;
    size_t      also = args->gram.target ? target.count : 0;
    int         exponent = cull_sel_exponent(&signals->h) - LONG_FEATURE;

    exponent = cull_sel_exponent(&signals->p) + (exponent > 0 ? exponent : 0);
    TRY(cull_sel_room(&batch->p, &batch->p_room, (n + also) * classes));
    p = divide(&signals->p, exponent, batch->p);
    args->gram.p = &p;
    if (also) {
        target.p = divide(&signals->target.p, exponent, batch->p + n * classes);
        args->gram.target = &target;
        *lengths = cull_sel_lengths(&target.h, &target.p, also);
    }
    TRY(cull_op_run(batch->gram, args));
    (void)largest_square(batch->k, n, &broken);
    if (broken < n)
        FAIL(CULL_NOT_FINITE, "the gradient of example %zu (place %u) is too large for float64",
             broken, cull_sel_place(signals, broken));
done:
    return status;
}

static cull_status make_explicit(cull_sel_minibatch *batch, const cull_self *self,
                                 const cull_signals *signals, cull_omp_problem *problem)
{
    cull_status        status = CULL_OK;
    const cull_target *target =
        cull_value_is(self->values, "match", "validation") ? &signals->target : NULL;
    size_t       n = signals->count, broken = n;
    double       largest = 0, lengths = 0;
    cull_op_args args = {.gram = {.h = &signals->h, .p = &signals->p, .target = target}};

    TRY(cull_sel_room(&batch->k, &batch->k_room, n * n));
    TRY(cull_sel_room(&batch->t, &batch->t_room, n));
    TRY(cull_op_ready(self->setting->backend, &(cull_op_desc){.kind = CULL_OP_GRAM, .rows = n},
                      &batch->gram));
    args.gram.k = batch->k;
    args.gram.t = batch->t;
    args.gram.b2 = &problem->b2;
    TRY(cull_op_run(batch->gram, &args));
    largest = largest_square(batch->k, n, &broken);
    if (target) lengths = cull_sel_lengths(&target->h, &target->p, target->count);
    if (broken < n || largest < SMALL_SQUARE || largest > LARGE_SQUARE)
        TRY(make_rescaled(batch, signals, &args, &lengths));
    for (size_t i = 0; !target && i < n; i++) lengths += sqrt(batch->k[i * (n + 1)]);
    if (cull_sel_cancel_products(batch->k, n, target ? target->count : n, lengths, batch->t) &&
        !target)
        problem->b2 = 0;
    problem->k = cull_matrix(batch->k, CULL_F64, n, n);
    problem->t = batch->t;
done:
    return status;
}

/* The target is a sum, not a mean: *unit is what the solver's weights are to be multiplied by. */
static cull_status make_implicit(cull_sel_minibatch *batch, const cull_self *self,
                                 const cull_signals *signals, cull_omp_problem *problem,
                                 double *unit)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &signals->target;
    bool               validation = cull_value_is(self->values, "match", "validation");
    size_t             size = (size_t)signals->p.shape[1] * ((size_t)signals->h.shape[1] + 1);
    cull_op_args       args = {0};

    TRY(cull_sel_room(&batch->t, &batch->t_room, size));
    args.gradient.h = validation ? &target->h : &signals->h;
    args.gradient.p = validation ? &target->p : &signals->p;
    args.gradient.rows = validation ? target->count : signals->count;
    args.gradient.b = batch->t;
    TRY(cull_op_ready(self->setting->backend,
                      &(cull_op_desc){.kind = CULL_OP_GRADIENT, .rows = args.gradient.rows},
                      &batch->gradient));
    TRY(cull_op_run(batch->gradient, &args));
    TRY(cull_sel_cancel(&args, validation ? "target example" : "example"));
    problem->h = signals->h;
    problem->p = signals->p;
    problem->b = batch->t;
    *unit = 1 / (double)args.gradient.rows;
done:
    return status;
}

cull_status cull_sel_minibatch_run(cull_sel_minibatch *batch, const cull_self *self,
                                   const cull_signals *signals, const cull_omp_options *options,
                                   cull_sel_weights weights, size_t budget, cull_subset *out)
{
    cull_status      status = CULL_OK;
    size_t           n = signals->count;
    double           unit = 1;
    cull_omp_problem problem = {.count = n, .budget = budget, .column = -1};
    cull_op_args     args = {.omp = {&problem, 1, options}};
    cull_sel_settle  how = {.backend = self->setting->backend,
                            .place = signals->place,
                            .key = cull_key_make(self->setting->seed, "fill"),
                            .step = signals->step,
                            .fill = !cull_value_is(self->values, "short", "accept"),
                            .unit = weights == CULL_WEIGHTS_UNIT};

    TRY(cull_subset_resize(out, budget));
    problem.index = out->index;
    problem.weight = out->weight;
    TRY(n <= EXPLICIT ? make_explicit(batch, self, signals, &problem)
                      : make_implicit(batch, self, signals, &problem, &unit));
    TRY(cull_op_ready(self->setting->backend, &(cull_op_desc){.kind = CULL_OP_OMP, .rows = n},
                      &batch->omp));
    TRY(cull_op_run(batch->omp, &args));
    if (weights == CULL_WEIGHTS_SOLVED) how.solved = unit;
    TRY(cull_sel_settle_fill(&how, &batch->filler, options, &problem, 1));
    cull_sel_settle_run(&how, &problem, 1, out);
done:
    return status;
}
