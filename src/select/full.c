/* select/full.c - train on everything: the baseline, and what plain steps of others are. */
#include "select/select.h"

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    (void)self;
    (void)step;
    (void)epoch;
    out->action = CULL_TRAIN_ALL;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status  status = CULL_OK;
    size_t       count = signals->count;
    cull_op_args args = {.settle = {.count = count, .rows = count, .all = true}};

    (void)budget;
    TRY(cull_subset_resize(out, count));
    args.settle.from = signals->place;
    args.settle.index = out->index;
    args.settle.place = out->place;
    args.settle.group = out->group;
    args.settle.weight = out->weight;
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_SETTLE, count, &args));
done:
    return status;
}

const cull_strategy cull_strategy_full = {
    .abi = CULL_STRATEGY_ABI,
    .name = "full",
    .doc = "all examples, weights 1",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_NO_BUDGET | CULL_KEEPS_ALL,
    .needs = needs,
    .decide = decide,
};
