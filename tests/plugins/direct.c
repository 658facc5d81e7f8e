/* tests/plugins/direct.c - a strategy of the first interface, which called the library by name, as
 * a process need not have it. */
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
    .abi = 1, /* never loaded: what it would call and hand over has changed since */
    .name = "direct",
    .doc = "the first of each batch",
    .runs = CULL_RUNS_STEP,
    .decide = decide,
};
