/* tests/plugins/broken.c - strategies that do something wrong each, chosen by FAULT. */
#include <math.h>

#include "cull.h"

enum { ROW = 1, WEIGHT, TWICE, GREEDY, GROUP, ABI, NO_DECIDE, NO_DEFAULT, NO_RHYTHM, NO_SAVE };

static const cull_option_spec options[] = {
    {"knob", CULL_OPTION_REAL, FAULT == NO_DEFAULT ? NULL : "1", 0, 1, NULL, "turns nothing"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL},
};

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status status = self->call->subset_resize(out, FAULT == GREEDY ? budget + 1 : budget);

    if (status != CULL_OK) return status;
    for (size_t i = 0; i < out->count; i++) out->index[i] = (uint32_t)i;
    if (FAULT == ROW) out->index[0] = (uint32_t)signals->count;
    if (FAULT == WEIGHT) out->weight[0] = NAN;
    if (FAULT == TWICE) out->index[0] = out->index[budget - 1];
    if (FAULT == GROUP) out->group[0] = 3;
    return CULL_OK;
}

extern CULL_API const cull_strategy cull_strategy_plugin;

const cull_strategy cull_strategy_plugin = {
    .abi = FAULT == ABI ? CULL_STRATEGY_ABI + 1 : CULL_STRATEGY_ABI,
    .name = "broken",
    .doc = "does something wrong",
    .runs = FAULT == NO_RHYTHM ? (cull_runs)9 : CULL_RUNS_STEP,
    .options = options,
    .state_size = 8,
    .decide = FAULT == NO_DECIDE ? NULL : decide,
};
