/*
 * select/matching.h - what the strategies that match gradients share.
 *
 * A last-layer gradient is g_i = p_i (x) [h_i; 1], (C, D+1) numbers that are never stored per
 * example. Minibatches are matched by the backend; grad_match_batches.c is grad-match with whole
 * minibatches.
 */
#ifndef CULL_SELECT_MATCHING_H
#define CULL_SELECT_MATCHING_H

#include "backend/match.h"
#include "select/select.h"

/* Lines of option tables: what stands between their braces. The first three are the solver's. */
#define CULL_MATCHING_NONNEGATIVE                                                                  \
    "nonnegative", CULL_OPTION_CHOICE, "clip", 0, 0, "clip|omp",                                   \
        "clip: negative weights are dropped at the end; omp: refit under weights >= 0"
#define CULL_MATCHING_RIDGE(ridge)                                                                 \
    "ridge", CULL_OPTION_REAL, ridge, 0, 1e6, NULL, "lambda, relative to the mean squared gradient"
#define CULL_MATCHING_PICK                                                                         \
    "pick", CULL_OPTION_CHOICE, "auto", 0, 0, "auto|abs|signed",                                   \
        "pick by |correlation| or correlation; auto: abs, signed with nonnegative=omp"
#define CULL_MATCHING_TOLERANCE                                                                    \
    "tolerance", CULL_OPTION_REAL, "1e-6", 0, 1, NULL,                                             \
        "epsilon: stop when the residual is below this share of the target"
#define CULL_MATCHING_SHORT                                                                        \
    "short", CULL_OPTION_CHOICE, "refit", 0, 0, "refit|accept",                                    \
        "too few of positive weight: fill up at random and solve again, or keep fewer"
#define CULL_MATCHING_MATCH                                                                        \
    "match", CULL_OPTION_CHOICE, "training", 0, 0, "training|validation",                          \
        "the gradient to match: of the candidates, or of the target block"

/* The same, or added to K as it is, as GRAD-MATCH has it: "absolute:0.5". */
#define CULL_MATCHING_ABSOLUTE "absolute:"
#define CULL_MATCHING_RIDGES(ridge)                                                                \
    "ridge", CULL_OPTION_REAL, ridge, 0, 1e6, CULL_MATCHING_ABSOLUTE,                              \
        "lambda, relative to the mean squared gradient; absolute:L is added as it is"

/* The solver's options; CULL_BAD_OPTION, begun by `owner`, when they contradict each other. */
cull_status cull_sel_matching_options(const char *owner, const cull_values *values,
                                      cull_omp_options *out);

/* One minibatch: solve for the signals' mean gradient (or the target block's); what becomes of it
 * is told late. */
cull_status cull_sel_match(cull_self *self, const cull_signals *signals,
                           const cull_omp_options *options, cull_match_weights weights,
                           size_t budget, cull_subset *out);

/* b of a gradient operation that has just been run on the host: zero, where only rounding is left
 * of it; CULL_NOT_FINITE, naming the row of `whose`, when the square of a gradient is beyond
 * doubles. */
cull_status cull_sel_cancel(const cull_op_args *args, const char *whose);

/* The hook `needs`: what match=validation asks for. */
void cull_sel_matching_needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out);

/* grad_match_batches.c: grad-match with whole minibatches as atoms. */
cull_status cull_sel_match_batches(const cull_self *self, const cull_signals *signals,
                                   const cull_omp_options *options, size_t budget,
                                   cull_subset *out);

#endif
