/*
 * select/divbs.c - a diverse subset of a minibatch: as gradmatch, but each pick is drawn.
 *
 *     pick i with probability ~ |<g_i, r>|, r what the picks so far leave of the mean gradient;
 *     weights 1, also of the random examples that fill the subset up
 */
#include "select/matching.h"

static const cull_option_spec options[] = {
    {CULL_MATCHING_TOLERANCE}, {CULL_MATCHING_SHORT}, {CULL_MATCHING_MATCH}, {.key = NULL}};

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_omp_options pursuit = {.tolerance = cull_value_real(self->values, "tolerance"),
                                .pick = CULL_PICK_SAMPLE,
                                .key = cull_key_make(self->setting->seed, "divbs")};

    return cull_sel_match(self, signals, &pursuit, CULL_WEIGHTS_UNIT, budget, out);
}

const cull_strategy cull_strategy_divbs = {
    .abi = CULL_STRATEGY_ABI,
    .name = "divbs",
    .doc = "diverse examples, drawn by what the ones before leave of the batch's gradient",
    .runs = CULL_RUNS_STEP,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .needs = cull_sel_matching_needs,
    .decide = decide,
};
