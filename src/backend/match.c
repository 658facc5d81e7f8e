/*
 * backend/match.c - match: a weighted subset of a minibatch, from its gradients.
 *
 *     K = P P^T o (H H^T + 1)   t = row means of K   w = OMP(K, t)   (gram, omp)
 *     completed and scaled (match_settle.c)
 *
 * Up to EXPLICIT examples K is stored; beyond, its columns are made as they are picked.
 */
#include "backend/match.h"

#include <math.h>

#include "base/alloc.h"
#include "tensor/tensor.h"

enum { EXPLICIT = 4096, LONG_FEATURE = 150 }; /* 2^150 needs no help to be squared twice */

/* Squares of gradients beyond these are not squared again without leaving double's range. */
#define SMALL_SQUARE 0x1p-400
#define LARGE_SQUARE 0x1p+400

struct match {
    cull_op           base;
    cull_op          *gram, *gradient, *omp;
    double           *k; /* (n, n)                                    */
    double           *p; /* (n + targets, C) rescaled                 */
    double           *t; /* [n], or the target (C, D+1) without a K    */
    size_t            k_room, p_room, t_room;
    cull_match_filler filler;
};

/* What goes into the solver, and comes out. */
struct problem {
    const cull_op_args *args;
    cull_tensor         h, p;
    cull_target         target;
    double              lengths; /* of the target's gradients, added up */
    cull_omp_problem    omp;
    double              unit; /* what the solver's weights are to be multiplied by */
};

static void destroy(cull_op *op)
{
    struct match *match = (struct match *)op;

    cull_op_destroy(match->gram);
    cull_op_destroy(match->gradient);
    cull_op_destroy(match->omp);
    cull_base_free_aligned(match->k);
    cull_base_free_aligned(match->p);
    cull_base_free_aligned(match->t);
    cull_match_filler_clear(&match->filler);
    cull_base_free(match);
}

/* What was in it is gone. */
static cull_status grow(double **data, size_t *room, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= *room) return CULL_OK;
    cull_base_free_aligned(*data);
    *room = 0;
    TRY(cull_base_alloc_aligned(count, sizeof **data, "gradients to be matched", data));
    *room = count;
done:
    return status;
}

/* The operation of a kind, for all that this one was made for. */
static cull_status ready(struct match *match, cull_op_kind kind, size_t rows, cull_op **op)
{
    cull_op_desc desc = match->base.desc;

    desc.kind = kind;
    if (desc.rows < rows) desc.rows = rows;
    return cull_op_ready(match->base.backend, &desc, op);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status   status = CULL_OK;
    struct match *match = NULL;

    TRY(cull_base_alloc(1, sizeof *match, "an operation", &match));
    match->base.backend = backend;
    match->base.desc = *desc;
    TRY(ready(match, CULL_OP_OMP, 0, &match->omp));
    if (desc->rows > EXPLICIT) {
        TRY(ready(match, CULL_OP_GRADIENT, 0, &match->gradient));
        TRY(grow(&match->t, &match->t_room, desc->classes * (desc->width + 1)));
    } else {
        TRY(ready(match, CULL_OP_GRAM, 0, &match->gram));
        TRY(grow(&match->k, &match->k_room, desc->rows * desc->rows));
        TRY(grow(&match->t, &match->t_room, desc->rows));
    }
    *out = &match->base;
    match = NULL;
done:
    if (match) destroy(&match->base);
    return status;
}

static void tell(const cull_op_args *args, uint64_t which, size_t row)
{
    const uint32_t *place = args->match.place;

    *args->match.trouble = (cull_trouble){.what = CULL_WRONG_SIGNAL,
                                          .which = which,
                                          .row = row,
                                          .place = which & CULL_TROUBLE_TARGET ? 0
                                                   : place                     ? place[row]
                                                                               : row,
                                          .step = args->match.now ? args->match.now->step : 0,
                                          .epoch = args->match.now ? args->match.now->epoch : 0};
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

/* P (the target's too) divided by a power of two so that its largest entry is about 1, or as much
 * less as H needs: only ratios matter. */
static cull_status rescale(struct match *match, struct problem *x)
{
    cull_status status = CULL_OK;
    size_t      n = x->omp.count, classes = (size_t)x->p.shape[1], targets = x->target.count;
    int         exponent = cull_match_exponent(&x->h) - LONG_FEATURE;

    exponent = cull_match_exponent(&x->p) + (exponent > 0 ? exponent : 0);
    TRY(grow(&match->p, &match->p_room, (n + targets) * classes));
    x->p = divide(&x->p, exponent, match->p);
    if (targets) x->target.p = divide(&x->target.p, exponent, match->p + n * classes);
done:
    return status;
}

/* K, t and b2, and the target's lengths. */
static cull_status make_products(struct match *match, struct problem *x)
{
    cull_op_args args = {.gram = {.h = &x->h,
                                  .p = &x->p,
                                  .target = x->target.count ? &x->target : NULL,
                                  .k = match->k,
                                  .t = match->t,
                                  .b2 = &x->omp.b2}};

    x->lengths = cull_match_lengths(&x->target.h, &x->target.p, x->target.count);
    return cull_op_run(match->gram, &args);
}

static cull_status make_explicit(struct match *match, struct problem *x)
{
    cull_status status = CULL_OK;
    size_t      n = x->omp.count, targets = x->target.count, broken = n;
    double      largest = 0;

    TRY(grow(&match->k, &match->k_room, n * n));
    TRY(grow(&match->t, &match->t_room, n));
    TRY(ready(match, CULL_OP_GRAM, n, &match->gram));
    TRY(make_products(match, x));
    largest = largest_square(match->k, n, &broken);
    if (broken < n || largest < SMALL_SQUARE || largest > LARGE_SQUARE) {
        TRY(rescale(match, x));
        TRY(make_products(match, x));
        (void)largest_square(match->k, n, &broken);
        if (broken < n) tell(x->args, CULL_TROUBLE_SQUARE, broken);
    }
    for (size_t i = 0; !targets && i < n; i++) x->lengths += sqrt(match->k[i * (n + 1)]);
    if (cull_match_cancel_products(match->k, n, targets ? targets : n, x->lengths, match->t) &&
        !targets)
        x->omp.b2 = 0;
    x->omp.k = cull_matrix(match->k, CULL_F64, n, n);
    x->omp.t = match->t;
done:
    return status;
}

/* The target is a sum, not a mean. */
static cull_status make_implicit(struct match *match, struct problem *x)
{
    cull_status  status = CULL_OK;
    bool         own = x->target.count == 0;
    size_t       broken = SIZE_MAX, rows = own ? x->omp.count : x->target.count;
    cull_op_args args = {.gradient = {.h = own ? &x->h : &x->target.h,
                                      .p = own ? &x->p : &x->target.p,
                                      .rows = rows}};

    TRY(grow(&match->t, &match->t_room, (size_t)x->p.shape[1] * ((size_t)x->h.shape[1] + 1)));
    args.gradient.b = match->t;
    TRY(ready(match, CULL_OP_GRADIENT, rows, &match->gradient));
    TRY(cull_op_run(match->gradient, &args));
    cull_match_cancel(&args, &broken);
    if (broken < rows) tell(x->args, CULL_TROUBLE_SQUARE | (own ? 0 : CULL_TROUBLE_TARGET), broken);
    x->omp.h = x->h;
    x->omp.p = x->p;
    x->omp.b = match->t;
    x->unit = 1 / (double)rows;
done:
    return status;
}

/* Solved, completed and scaled. */
static cull_status solve(struct match *match, struct problem *x, uint64_t step)
{
    const cull_op_args *args = x->args;
    cull_status         status = CULL_OK;
    cull_omp_options    options = args->match.options;
    cull_op_args        omp = {.omp = {&x->omp, 1, &options}};
    cull_match_settle   how = {.backend = match->base.backend,
                               .place = args->match.place,
                               .key = args->match.key,
                               .step = step,
                               .fill = args->match.fill,
                               .unit = args->match.weights == CULL_WEIGHTS_UNIT,
                               .solved = args->match.weights == CULL_WEIGHTS_SOLVED ? x->unit : 0};
    cull_subset         out = {
                .count = args->match.budget, .index = args->match.index, .weight = args->match.weight};

    options.step = step;
    TRY(ready(match, CULL_OP_OMP, x->omp.count, &match->omp));
    TRY(cull_op_run(match->omp, &omp));
    TRY(cull_match_fill(&how, &match->filler, &options, &x->omp, 1));
    cull_match_finish(&how, &x->omp, 1, &out);
    *args->match.outcome =
        (cull_outcome){(uint32_t)out.count, (uint32_t)out.picked, (uint32_t)out.flags};
done:
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status    status = CULL_OK;
    struct match  *match = (struct match *)op;
    struct problem x = {
        .args = args,
        .h = args->match.h,
        .p = args->match.p,
        .target = {args->match.targets, args->match.target_h, args->match.target_p, {0}, {0}},
        .omp = {.count = args->match.rows,
                .budget = args->match.budget,
                .column = -1,
                .index = args->match.index,
                .weight = args->match.weight},
        .unit = 1};

    *args->match.outcome = (cull_outcome){(uint32_t)args->match.budget, 0, 0};
    if (args->match.trouble->what != CULL_WRONG_NOTHING) return CULL_OK;
    TRY(x.omp.count <= EXPLICIT ? make_explicit(match, &x) : make_implicit(match, &x));
    if (args->match.trouble->what != CULL_WRONG_NOTHING) return CULL_OK;
    status = solve(match, &x, args->match.now ? args->match.now->step : args->match.step);
    if (status == CULL_NOT_FINITE) {
        tell(args, CULL_TROUBLE_APART, 0);
        status = CULL_OK;
    }
done:
    return status;
}

const cull_op_class cull_host_match = {create, run, destroy};
