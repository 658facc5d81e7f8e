/* train/step.c - one step of training, in which every room has its line. */
#include <math.h>

#include "base/rng.h"
#include "tensor/tensor.h"
#include "train/train.h"

static cull_status fill_loader(cull_trainer *t)
{
    cull_status status = CULL_OK;
    size_t      batches = cull_data_order_batches(&t->order);

    while (t->submitted < batches && cull_data_loader_room(t->loader) > 0) {
        size_t          count = 0;
        const uint32_t *places = cull_data_order_batch(&t->order, t->submitted, &count);
        TRY(cull_data_loader_submit(t->loader, places, count, t->place.epoch, t->setup->augments));
        t->submitted++;
    }
done:
    return status;
}

void cull_train_begin_epoch(cull_trainer *t)
{
    cull_data_loader_drop(t->loader);
    cull_data_order_epoch(&t->order, t->place.epoch, NULL, t->train->count);
    t->submitted = (size_t)t->place.batch;
}

static cull_status load(cull_trainer *t)
{
    cull_status     status = CULL_OK;
    cull_data_batch batch = {0};

    TRY(fill_loader(t));
    TRY(cull_data_loader_take(t->loader, &batch));
    TRY(fill_loader(t));
    t->seen = (cull_batch){.count = batch.count,
                           .inputs = batch.inputs.data,
                           .label = batch.labels,
                           .place = batch.places,
                           .step = t->place.step,
                           .epoch = t->place.epoch,
                           .key = cull_key_make(t->setup->seed, "dropout")};
    cull_meter_lap(&t->meter, CULL_PHASE_LOAD);
done:
    return status;
}

static cull_status learn(cull_trainer *t)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;
    double      sum = 0;

    TRY(cull_trainer_plan(t, CULL_PLAN_LEARN, t->seen.count, &plan));
    TRY(cull_nn_learn(plan, &t->seen, &t->trained));
    for (size_t i = 0; i < t->trained.count; i++) sum += cull_tensor_get(&t->trained.loss, i);
    t->loss = sum / (double)t->trained.count;
    if (!isfinite(t->loss))
        FAIL(CULL_NOT_FINITE, "the loss is no longer finite at step %llu, in epoch %llu",
             (unsigned long long)t->place.step + 1, (unsigned long long)t->place.epoch + 1);
    cull_meter_lap(&t->meter, CULL_PHASE_LEARN);
done:
    return status;
}

static cull_status optimize(cull_trainer *t)
{
    cull_status status = CULL_OK;

    t->rate = cull_schedule_rate(&t->schedule, t->place.step);
    TRY(cull_optim_step(t->optim, t->rate, t->params->value, t->params->gradient));
    cull_meter_lap(&t->meter, CULL_PHASE_OPTIM);
done:
    return status;
}

static cull_status observe(cull_trainer *t)
{
    cull_status status = CULL_OK;

    if (t->needs.observe) TRY(cull_observe(t->selector, &t->trained));
    cull_meter_lap(&t->meter, CULL_PHASE_SELECT);
done:
    return status;
}

static void count(cull_trainer *t)
{
    t->place.step++;
    t->place.batch++;
    t->place.seen += t->trained.count;
    t->place.correct += cull_train_correct(&t->trained, t->setup->smoothing);
    t->place.loss += t->loss * (double)t->trained.count;
    t->meter.trained += t->trained.count;
    t->meter.thirds += 3 * t->trained.count;
    cull_meter_lap(&t->meter, CULL_PHASE_CHECKPOINT);
}

cull_status cull_train_step(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(cull_selector_needs(t->selector, t->place.step, t->place.epoch, &t->needs)); /* selection */
    if (t->needs.action != CULL_TRAIN_ALL)
        FAIL(CULL_UNSUPPORTED, "%s: only full training is there", cull_selector_name(t->selector));
    TRY(load(t));     /* data      */
    TRY(learn(t));    /* forward, backward */
    TRY(optimize(t)); /* optimizer         */
    TRY(observe(t));  /* selection         */
    count(t);         /* metrics           */
done:
    return status;
}
