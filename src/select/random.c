/*
 * select/random.c - uniformly without replacement, never asking for a scoring pass.
 *
 *     random            m of each minibatch
 *     adaptive-random   k of the pool, anew every R epochs
 *     fixed-random      k of the pool, once for the whole run
 *
 * Where rho M is no whole number and rounding=alternate, random takes
 * m = floor((t+1) rho M) - floor(t rho M) at step t, at least 1.
 */
#include <math.h>

#include "select/select.h"

static const cull_option_spec options[] = {
    {"rounding", CULL_OPTION_CHOICE, "down", 0, 0, "down|alternate",
     "mode=fixed, where rho of a batch is no whole number: the lower one, or both in turn"},
    {.key = NULL},
};

/* floor(t rho M), safe against a product just below a whole number, as cull_budget() is. */
static double drawn_before(double share, size_t candidates, uint64_t step)
{
    double all = (double)step * (double)candidates;

    return floor(share * all + 1e-9 * (double)candidates);
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    double share = cull_value_real(self->values, "keep");
    double m =
        drawn_before(share, out->candidates, step + 1) - drawn_before(share, out->candidates, step);

    (void)epoch;
    if (out->action != CULL_SELECT_BATCH || cull_value_is(self->values, "mode", "scaled") ||
        !cull_value_is(self->values, "rounding", "alternate"))
        return;
    out->budget = m >= 1 ? (size_t)m : 1;
    if (out->budget > out->candidates) out->budget = out->candidates;
}

static cull_status draw(cull_self *self, const char *stream, bool once, const cull_signals *signals,
                        size_t budget, cull_subset *out)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {0};

    TRY(cull_subset_resize(out, budget));
    args = cull_sel_draw(self, stream, signals, NULL, budget, out->index);
    if (once) {
        args.draw.step = 0;
        args.draw.now = NULL;
    }
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_DRAW, signals->count, &args));
done:
    return status;
}

static cull_status decide_step(cull_self *self, const cull_signals *signals, size_t budget,
                               cull_subset *out)
{
    return draw(self, "random", false, signals, budget, out);
}

/* Over the pool steps are epochs. */
static cull_status decide_epoch(cull_self *self, const cull_signals *signals, size_t budget,
                                cull_subset *out)
{
    return draw(self, "adaptive-random", false, signals, budget, out);
}

/* The same whenever it is asked: once is not a matter of memory. */
static cull_status decide_once(cull_self *self, const cull_signals *signals, size_t budget,
                               cull_subset *out)
{
    return draw(self, "fixed-random", true, signals, budget, out);
}

const cull_strategy cull_strategy_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "random",
    .doc = "m of each batch uniformly without replacement; no scoring pass",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_UNIFORM,
    .options = options,
    .needs = needs,
    .decide = decide_step,
};

const cull_strategy cull_strategy_adaptive_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "adaptive-random",
    .doc = "a new uniform subset of the pool every R epochs",
    .runs = CULL_RUNS_PERIOD,
    .traits = CULL_UNIFORM,
    .decide = decide_epoch,
};

const cull_strategy cull_strategy_fixed_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "fixed-random",
    .doc = "one uniform subset of the pool for the whole run",
    .runs = CULL_RUNS_ONCE,
    .traits = CULL_UNIFORM,
    .decide = decide_once,
};
