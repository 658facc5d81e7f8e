/* train/evaluate.c - how well the network does on a set, by its running averages. */
#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tensor/tensor.h"
#include "train/train.h"

static double element(const cull_tensor *p, size_t i, size_t k)
{
    const void *row = cull_tensor_row(p, i);

    return p->dtype == CULL_F32 ? (double)((const float *)row)[k] : ((const double *)row)[k];
}

size_t cull_train_correct(const cull_signals *signals, double smoothing)
{
    size_t correct = 0, classes = (size_t)signals->p.shape[1];

    for (size_t i = 0; i < signals->count; i++) {
        size_t label = (size_t)cull_tensor_get(&signals->label, i), best = 0;
        double most = -INFINITY;

        for (size_t k = 0; k < classes; k++) {
            double share = element(&signals->p, i, k) + (k == label ? 1 - smoothing : 0);
            if (share > most) {
                most = share;
                best = k;
            }
        }
        correct += best == label;
    }
    return correct;
}

struct sums {
    double loss;
    size_t correct;
};

static cull_status score(void *context, cull_trainer *t, const cull_data_batch *batch)
{
    struct sums *sums = context;
    cull_status  status = CULL_OK;
    cull_plan   *plan = NULL;
    cull_signals signals = {0};
    cull_batch   seen = {.count = batch->count,
                         .inputs = batch->inputs.data,
                         .label = batch->labels,
                         .place = batch->places};

    TRY(cull_trainer_plan(t, CULL_PLAN_SCORE, batch->count, &plan));
    TRY(cull_nn_score(plan, &seen, CULL_STATS_RUNNING,
                      CULL_SIGNAL_LOSS | CULL_SIGNAL_P | CULL_SIGNAL_LABEL, &signals));
    for (size_t i = 0; i < signals.count; i++) sums->loss += cull_tensor_get(&signals.loss, i);
    sums->correct += cull_train_correct(&signals, 0);
done:
    return status;
}

/* Ask for the next batch, in the order of the set. */
static cull_status submit(cull_loader *loader, const cull_dataset *set, size_t batch,
                          uint32_t *places, size_t *at)
{
    cull_status status = CULL_OK;

    while (*at < set->count && cull_data_loader_room(loader) > 0) {
        size_t count = set->count - *at < batch ? set->count - *at : batch;

        for (size_t i = 0; i < count; i++) places[i] = (uint32_t)(*at + i);
        TRY(cull_data_loader_submit(loader, places, count, 0, false));
        *at += count;
    }
done:
    return status;
}

cull_status cull_train_sweep(cull_trainer *t, const cull_dataset *set,
                             cull_status (*see)(void *context, cull_trainer *trainer,
                                                const cull_data_batch *batch),
                             void *context)
{
    cull_status status = CULL_OK;
    size_t batch = t->setup->evaluate_batch < set->count ? t->setup->evaluate_batch : set->count;
    size_t asked = 0;
    cull_loader_options options = {
        .set = set, .batch = batch, .depth = CULL_TRAIN_DEPTH, .threads = t->setup->workers};
    cull_loader *loader = NULL;
    cull_plan   *plan = NULL;
    uint32_t    *places = NULL;

    TRY(cull_trainer_plan(t, CULL_PLAN_SCORE, batch, &plan));
    TRY(cull_trainer_form(plan, &options.form));
    TRY(cull_base_alloc(batch, sizeof *places, "an evaluation", &places));
    TRY(cull_data_loader_create(&options, &loader));
    for (size_t at = 0; at < set->count;) {
        cull_data_batch next = {0};

        TRY(submit(loader, set, batch, places, &asked));
        TRY(cull_data_loader_take(loader, &next));
        TRY(see(context, t, &next));
        at += next.count;
    }
done:
    cull_data_loader_destroy(loader);
    cull_base_free(places);
    return status;
}

cull_status cull_train_evaluate(cull_trainer *t, const cull_dataset *set, cull_evaluation *out)
{
    cull_status status = CULL_OK;
    double      start = cull_base_seconds();
    struct sums sums = {0};

    TRY(cull_train_sweep(t, set, score, &sums));
    if (!isfinite(sums.loss))
        FAIL(CULL_NOT_FINITE, "the loss on the %s set is not finite",
             set == t->test    ? "test"
             : set == t->train ? "training"
                               : "validation");
    *out = (cull_evaluation){.count = set->count,
                             .accuracy = (double)sums.correct / (double)set->count,
                             .loss = sums.loss / (double)set->count,
                             .seconds = cull_base_seconds() - start};
done:
    return status;
}
