/* tests/plugins/direct.c - a strategy that calls the library by name, which a process need not
 * have. */
#include "cull.h"

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status status = cull_subset_resize(out, budget);

    (void)self;
    (void)signals;
    for (size_t i = 0; i < out->count; i++) out->index[i] = (uint32_t)i;
    return status;
}

extern CULL_API const cull_strategy cull_strategy_plugin;

const cull_strategy cull_strategy_plugin = {
    .abi = 1, /* as they were made before there was another way */
    .name = "direct",
    .doc = "the first of each batch",
    .runs = CULL_RUNS_STEP,
    .decide = decide,
};
