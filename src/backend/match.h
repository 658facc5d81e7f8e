/*
 * backend/match.h - what `match` shares with those who match gradients on the host by themselves.
 *
 * A last-layer gradient is g_i = p_i (x) [h_i; 1], (C, D+1) numbers that are never stored per
 * example. match.c solves one minibatch, match_settle.c completes solved problems and turns them
 * into a subset, cancel.c tells a target from rounding. All arrays lie on the host.
 */
#ifndef CULL_BACKEND_MATCH_H
#define CULL_BACKEND_MATCH_H

#include "backend/backend.h"

/* Random examples for what a solver left open, with its room kept between calls. */
typedef struct cull_match_filler {
    cull_op  *draw, *refit;
    double   *unused; /* [atoms] 1: not picked */
    uint32_t *place;  /* [atoms]               */
    size_t    room;
} cull_match_filler;

void cull_match_filler_clear(cull_match_filler *filler);

/* How a subset is made of solved problems. */
typedef struct cull_match_settle {
    cull_backend   *backend;
    const uint32_t *place; /* of rows; NULL: the row itself */
    cull_key        key;
    uint64_t        step;
    bool            fill;   /* else a short subset is accepted                          */
    bool            unit;   /* the picks count alone: they and what fills them up weigh 1 */
    double          solved; /* weights are this times the count and the solver's; 0: they
                               are scaled to add up to the count                        */
} cull_match_settle;

/*
 * Complete solved problems: atoms of weight zero or less are dropped, what is missing is filled
 * with random unused atoms of the same problem, and the weights of all its atoms are solved
 * again (refit). Where that gains nothing, those that fill weigh 0. The problems' targets must
 * still be there; their index and weight arrays hold `budget` atoms then, `picked` those
 * that the solver found. CULL_NOT_FINITE: gradients too large or too far apart.
 */
cull_status cull_match_fill(const cull_match_settle *how, cull_match_filler *filler,
                            const cull_omp_options *options, cull_omp_problem *problems,
                            size_t count);

/* The same but for the weights, which are to be solved again where *open. Of a problem nothing but
 * its numbers, row, index and weight is looked at. */
cull_status cull_match_complete(const cull_match_settle *how, cull_match_filler *filler,
                                cull_omp_problem *problems, size_t count, bool *open);

/*
 * Turn completed problems into a subset. One without a positive weight takes the mean of the
 * others' positive ones; no positive weight at all: weights 1.
 *
 * problems  their index and weight arrays are consecutive parts of out's, in this order; rows
 *           take the place of atoms.
 * out       its count is the sum of the budgets beforehand.
 */
void cull_match_finish(const cull_match_settle *how, cull_omp_problem *problems, size_t count,
                       cull_subset *out);

/* Scale the weights so that they add up to `sum`; they must not all be zero. */
void cull_match_scale(cull_subset *subset, double sum);

/* e, so that the largest entry of P lies between 2^(e-1) and 2^e; 0 when all are zero. */
int cull_match_exponent(const cull_tensor *p);

/* cancel.c: sums of gradients of which only rounding is left become zero. */
double cull_match_lengths(const cull_tensor *h, const cull_tensor *p, size_t rows); /* sum of |g| */
/* b of a gradient operation that has just been run; *broken: the first row of whose gradient the
 * square is beyond doubles, SIZE_MAX: none. */
void cull_match_cancel(const cull_op_args *args, size_t *broken);
/* t of n atoms' K towards the mean of `rows` gradients, whose lengths add up to that. Did it? */
bool cull_match_cancel_products(const double *k, size_t n, size_t rows, double lengths, double *t);

#endif
