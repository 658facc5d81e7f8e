/*
 * select/infobatch.c - InfoBatch (Qin et al. 2024): each epoch, some of the easy are left out.
 *
 *     easy       last training loss below the mean of all last training losses
 *     left out   an easy example, with probability r, independently
 *     weight     1/(1-r) for the easy that stay, 1 for the others: the epoch's sum of losses
 *                stays unbiased
 *
 * Examples never trained stay. From epoch floor(delta T) on everything stays at weight 1.
 * There is no scoring pass: the losses are those of training steps.
 */
#include <math.h>

#include "select/select.h"

struct infobatch {
    cull_sel_losses *losses;
    double           r;
    uint64_t         tail; /* first epoch that uses everything */
};

static const cull_option_spec options[] = {
    {"r", CULL_OPTION_REAL, "0.5", 0, 0.99, NULL,
     "probability that an example with a loss below the mean is left out"},
    {"delta", CULL_OPTION_REAL, "0.875", 0, 1, NULL,
     "share of the epochs after which everything is used"},
    {.key = NULL},
};

static cull_status create_infobatch(cull_self *self)
{
    cull_status       status = CULL_OK;
    struct infobatch *s = self->state;
    double            delta = cull_value_real(self->values, "delta");
    double            epochs = (double)self->setting->epochs;

    s->r = cull_value_real(self->values, "r");
    s->tail = UINT64_MAX;
    if (delta < 1) {
        if (self->setting->epochs == 0)
            FAIL(CULL_BAD_OPTION, "infobatch: delta needs the run's epochs, which are not known");
        s->tail = (uint64_t)floor(delta * epochs + 1e-9 * epochs);
    }
    TRY(cull_sel_losses_create(self->setting->backend, self->setting->pool, CULL_PREDICT_LAST,
                               &s->losses));
done:
    return status;
}

static void destroy_infobatch(cull_self *self)
{
    struct infobatch *s = self->state;
    cull_sel_losses_destroy(s->losses);
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    const struct infobatch *s = self->state;

    (void)step;
    out->observe |= CULL_SIGNAL_LOSS;
    if (epoch >= s->tail) out->action = CULL_TRAIN_ALL;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status       status = CULL_OK;
    struct infobatch *s = self->state;
    cull_key          key = cull_key_make(self->setting->seed, "infobatch");
    double            mean = 0, loss = 0;
    size_t            kept = 0;
    bool              thins = cull_sel_losses_mean(s->losses, &mean) && signals->epoch < s->tail;

    (void)budget;
    TRY(cull_sel_check_places("infobatch", "losses", signals, self->setting->pool));
    TRY(cull_subset_resize(out, signals->count));
    for (size_t i = 0; i < signals->count; i++) {
        uint32_t place = cull_sel_place(signals, i);
        bool     easy = thins && cull_sel_losses_at(s->losses, place, &loss) && loss < mean;

        if (easy && cull_key_uniform(key, signals->epoch, place) < s->r) continue;
        out->weight[kept] = easy ? 1 / (1 - s->r) : 1;
        out->index[kept++] = (uint32_t)i;
    }
    out->count = out->picked = kept;
done:
    return status;
}

static cull_status observe(cull_self *self, const cull_signals *trained)
{
    cull_status       status = CULL_OK;
    struct infobatch *s = self->state;

    TRY(cull_sel_check_places("infobatch", "losses", trained, self->setting->pool));
    TRY(cull_sel_losses_record(s->losses, trained, self->watch));
done:
    return status;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    const struct infobatch *s = self->state;
    return cull_sel_losses_save(s->losses, writer);
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    struct infobatch *s = self->state;
    return cull_sel_losses_restore(s->losses, reader);
}

const cull_strategy cull_strategy_infobatch = {
    .abi = CULL_STRATEGY_ABI,
    .name = "infobatch",
    .doc = "each epoch without a share r of the examples below the mean loss, unbiased",
    .runs = CULL_RUNS_EPOCH,
    .traits = CULL_HOST_SIGNALS | CULL_NO_BUDGET,
    .options = options,
    .state_size = sizeof(struct infobatch),
    .create = create_infobatch,
    .destroy = destroy_infobatch,
    .needs = needs,
    .decide = decide,
    .observe = observe,
    .save = save,
    .restore = restore,
};
