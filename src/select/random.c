/*
 * select/random.c - uniformly without replacement, never asking for a scoring pass.
 *
 *     random            m of each minibatch
 *     adaptive-random   k of the pool, anew every R epochs
 *     fixed-random      k of the pool, once for the whole run
 */
#include "select/select.h"

struct uniform {
    cull_sel_draw draw;
};

static cull_status draw(cull_self *self, const char *stream, uint64_t step,
                        const cull_signals *signals, size_t budget, cull_subset *out)
{
    cull_status     status = CULL_OK;
    struct uniform *u = self->state;

    TRY(cull_subset_resize(out, budget));
    TRY(cull_sel_draw_run(&u->draw, self->setting->backend,
                          cull_key_make(self->setting->seed, stream), step, signals->place, NULL,
                          signals->count, budget, out->index));
done:
    return status;
}

static cull_status decide_step(cull_self *self, const cull_signals *signals, size_t budget,
                               cull_subset *out)
{
    return draw(self, "random", signals->step, signals, budget, out);
}

static cull_status decide_epoch(cull_self *self, const cull_signals *signals, size_t budget,
                                cull_subset *out)
{
    return draw(self, "adaptive-random", signals->epoch, signals, budget, out);
}

/* The same whenever it is asked: once is not a matter of memory. */
static cull_status decide_once(cull_self *self, const cull_signals *signals, size_t budget,
                               cull_subset *out)
{
    return draw(self, "fixed-random", 0, signals, budget, out);
}

static void destroy(cull_self *self)
{
    struct uniform *u = self->state;
    cull_sel_draw_clear(&u->draw);
}

const cull_strategy cull_strategy_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "random",
    .doc = "m of each batch uniformly without replacement; no scoring pass",
    .runs = CULL_RUNS_STEP,
    .state_size = sizeof(struct uniform),
    .destroy = destroy,
    .decide = decide_step,
};

const cull_strategy cull_strategy_adaptive_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "adaptive-random",
    .doc = "a new uniform subset of the pool every R epochs",
    .runs = CULL_RUNS_PERIOD,
    .state_size = sizeof(struct uniform),
    .destroy = destroy,
    .decide = decide_epoch,
};

const cull_strategy cull_strategy_fixed_random = {
    .abi = CULL_STRATEGY_ABI,
    .name = "fixed-random",
    .doc = "one uniform subset of the pool for the whole run",
    .runs = CULL_RUNS_ONCE,
    .state_size = sizeof(struct uniform),
    .destroy = destroy,
    .decide = decide_once,
};
