/*
 * select/gradmatch.c - a weighted subset of a minibatch whose gradient is near the batch's
 * (Balles et al. 2023, Algorithm 1).
 *
 *     w = OMP towards the mean gradient, m atoms; clipped at zero, filled and solved again
 *     w <- m w / sum w, or m w, so that (1/m) sum of w g has the length of the mean gradient too
 */
#include "select/matching.h"

static const cull_option_spec options[] = {
    {CULL_MATCHING_NONNEGATIVE},
    {CULL_MATCHING_RIDGE("0")},
    {CULL_MATCHING_PICK},
    {CULL_MATCHING_TOLERANCE},
    {CULL_MATCHING_SHORT},
    {CULL_MATCHING_MATCH},
    {"weights", CULL_OPTION_CHOICE, "mean", 0, 0, "mean|solved",
     "mean: scaled to a mean of 1; solved: as they match the gradient's length too"},
    {.key = NULL}};

static cull_status create_gradmatch(cull_self *self)
{
    return cull_sel_matching_options("gradmatch", self->values, self->state);
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    return cull_sel_match(self, signals, self->state,
                          cull_value_is(self->values, "weights", "solved") ? CULL_WEIGHTS_SOLVED
                                                                           : CULL_WEIGHTS_MEAN,
                          budget, out);
}

const cull_strategy cull_strategy_gradmatch = {
    .abi = CULL_STRATEGY_ABI,
    .name = "gradmatch",
    .doc = "weighted examples whose gradient matches that of the whole batch",
    .runs = CULL_RUNS_STEP,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .state_size = sizeof(cull_omp_options),
    .create = create_gradmatch,
    .needs = cull_sel_matching_needs,
    .decide = decide,
};
