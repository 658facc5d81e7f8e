/*
 * select/matching.h - what the strategies that match gradients share.
 *
 * A last-layer gradient is g_i = p_i (x) [h_i; 1], (C, D+1) numbers that are never stored per
 * example. matching.c solves one minibatch and turns solved problems into a subset; cancel.c
 * tells a target from rounding; grad_match_batches.c is grad-match with whole minibatches.
 */
#ifndef CULL_SELECT_MATCHING_H
#define CULL_SELECT_MATCHING_H

#include "select/select.h"

/* Lines of option tables. */
#define CULL_MATCHING_SOLVER(ridge)                                                                \
    {"nonnegative",                                                                                \
     CULL_OPTION_CHOICE,                                                                           \
     "clip",                                                                                       \
     0,                                                                                            \
     0,                                                                                            \
     "clip|omp",                                                                                   \
     "clip: negative weights are dropped at the end; omp: refit under weights >= 0"},              \
        {"ridge",                                                                                  \
         CULL_OPTION_REAL,                                                                         \
         ridge,                                                                                    \
         0,                                                                                        \
         1e6,                                                                                      \
         NULL,                                                                                     \
         "lambda, relative to the mean squared gradient"},                                         \
    {                                                                                              \
        "pick", CULL_OPTION_CHOICE, "auto", 0, 0, "auto|abs|signed",                               \
            "pick by |correlation| or correlation; auto: abs, signed with nonnegative=omp"         \
    }
#define CULL_MATCHING_COMMON                                                                       \
    {"tolerance",                                                                                  \
     CULL_OPTION_REAL,                                                                             \
     "1e-6",                                                                                       \
     0,                                                                                            \
     1,                                                                                            \
     NULL,                                                                                         \
     "epsilon: stop when the residual is below this share of the target"},                         \
        {"short",                                                                                  \
         CULL_OPTION_CHOICE,                                                                       \
         "refit",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "refit|accept",                                                                           \
         "too few of positive weight: fill up at random and solve again, or keep fewer"},          \
    {                                                                                              \
        "match", CULL_OPTION_CHOICE, "training", 0, 0, "training|validation",                      \
            "the gradient to match: of the candidates, or of the target block"                     \
    }
#define CULL_MATCHING_END                                                                          \
    {                                                                                              \
        NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL                                              \
    }

/* The solver's options from those of CULL_MATCHING_SOLVER and CULL_MATCHING_COMMON;
 * CULL_BAD_OPTION, begun by `owner`, when they contradict each other. */
cull_status cull_sel_matching_options(const char *owner, const cull_values *values,
                                      cull_omp_options *out);

/* Random examples for what a solver left open, with its room kept between calls. */
typedef struct cull_sel_filler {
    cull_sel_draw draw;
    cull_op      *refit;
    double       *unused; /* [atoms] 1: not picked */
    uint32_t     *place;  /* [atoms]               */
    size_t        unused_room, place_room;
} cull_sel_filler;

void cull_sel_filler_clear(cull_sel_filler *filler);

/* How a subset is made of solved problems. */
typedef struct cull_sel_settle {
    cull_backend   *backend;
    const uint32_t *place; /* of rows; NULL: the row itself */
    cull_key        key;
    uint64_t        step;
    bool            fill;   /* else a short subset is accepted                          */
    bool            unit;   /* the picks count alone: they and what fills them up weigh 1 */
    double          solved; /* weights are this times the count and the solver's; 0: they
                               are scaled to add up to the count                        */
} cull_sel_settle;

/*
 * Complete solved problems: atoms of weight zero or less are dropped, what is missing is filled
 * with random unused atoms of the same problem, and the weights of all its atoms are solved
 * again (refit). Where that gains nothing, those that fill weigh 0. The problems' targets must
 * still be there; their index and weight arrays hold `budget` atoms then, `picked` those
 * that the solver found.
 */
cull_status cull_sel_settle_fill(const cull_sel_settle *how, cull_sel_filler *filler,
                                 const cull_omp_options *options, cull_omp_problem *problems,
                                 size_t count);

/*
 * Turn completed problems into a subset. One without a positive weight takes the mean of the
 * others' positive ones; no positive weight at all: weights 1.
 *
 * problems  their index and weight arrays are consecutive parts of out's, in this order; rows
 *           take the place of atoms.
 * out       resized to the sum of the budgets beforehand.
 */
void cull_sel_settle_run(const cull_sel_settle *how, cull_omp_problem *problems, size_t count,
                         cull_subset *out);

/* One minibatch: operations and room kept between decisions. */
typedef struct cull_sel_minibatch {
    cull_op        *gram, *gradient, *omp;
    double         *k; /* (n, n)                                    */
    double         *p; /* (n, C) rescaled                           */
    double         *t; /* [n], or the target (C, D+1) without a K    */
    size_t          k_room, p_room, t_room;
    cull_sel_filler filler;
} cull_sel_minibatch;

void cull_sel_minibatch_clear(cull_sel_minibatch *batch);

/* What a minibatch's weights are. */
typedef enum cull_sel_weights {
    CULL_WEIGHTS_MEAN,   /* scaled to a mean of 1                                         */
    CULL_WEIGHTS_SOLVED, /* m times the solver's: the length of the gradient is matched too */
    CULL_WEIGHTS_UNIT    /* 1: the picks count alone                                      */
} cull_sel_weights;

/* Solve for the signals' mean gradient (or the target block's) and settle. */
cull_status cull_sel_minibatch_run(cull_sel_minibatch *batch, const cull_self *self,
                                   const cull_signals *signals, const cull_omp_options *options,
                                   cull_sel_weights weights, size_t budget, cull_subset *out);

/* e, so that the largest entry of P lies between 2^(e-1) and 2^e; 0 when all are zero. */
int cull_sel_exponent(const cull_tensor *p);

/* cancel.c: sums of gradients of which only rounding is left become zero. */
double cull_sel_lengths(const cull_tensor *h, const cull_tensor *p, size_t rows); /* sum of |g| */
/* b of a gradient operation that has just been run; CULL_NOT_FINITE, naming the row of `whose`,
 * when the square of a gradient is beyond doubles. */
cull_status cull_sel_cancel(const cull_op_args *args, const char *whose);
/* t of n atoms' K towards the mean of `rows` gradients, whose lengths add up to that. Did it? */
bool cull_sel_cancel_products(const double *k, size_t n, size_t rows, double lengths, double *t);

/* Adjust needs for match=validation. */
void cull_sel_matching_needs(const cull_values *values, cull_needs *needs);

/* grad_match_batches.c: grad-match with whole minibatches as atoms. */
cull_status cull_sel_match_batches(const cull_self *self, const cull_signals *signals,
                                   const cull_omp_options *options, size_t budget,
                                   cull_subset *out);

#endif
