/*
 * select/top_loss.c - the m largest scores, ties to the lower row.
 *
 *     top-loss   score = loss
 *     rho        score = loss - irreducible loss (reducible loss; Mindermann et al. 2022)
 *
 * Examples no loss is known of come first, in random order.
 */
#include "select/select.h"

static cull_status keep_largest(cull_self *self, const cull_signals *signals, size_t budget,
                                bool reducible, cull_subset *out)
{
    cull_status      status = CULL_OK;
    cull_sel_scores *scores = self->state;
    cull_op_args     args = {.top = {.rows = signals->count, .m = budget, .largest = true}};

    TRY(cull_subset_resize(out, budget));
    TRY(cull_sel_scores_take(scores, self, signals, reducible));
    args.top.x = scores->x;
    args.top.index = out->index;
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_TOP, signals->count, &args));
done:
    return status;
}

static cull_status decide_loss(cull_self *self, const cull_signals *signals, size_t budget,
                               cull_subset *out)
{
    return keep_largest(self, signals, budget, false, out);
}

static cull_status decide_reducible(cull_self *self, const cull_signals *signals, size_t budget,
                                    cull_subset *out)
{
    return keep_largest(self, signals, budget, true, out);
}

const cull_strategy cull_strategy_top_loss = {
    .abi = CULL_STRATEGY_ABI,
    .name = "top-loss",
    .doc = "the m largest losses of each batch",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_TAKES_STALE | CULL_TAKES_REMEMBERED,
    .signals = CULL_SIGNAL_LOSS,
    .state_size = sizeof(cull_sel_scores),
    .decide = decide_loss,
};

const cull_strategy cull_strategy_rho = {
    .abi = CULL_STRATEGY_ABI,
    .name = "rho",
    .doc = "the m largest reducible losses: loss minus irreducible loss",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_TAKES_REMEMBERED,
    .signals = CULL_SIGNAL_LOSS | CULL_SIGNAL_IRREDUCIBLE,
    .state_size = sizeof(cull_sel_scores),
    .decide = decide_reducible,
};
