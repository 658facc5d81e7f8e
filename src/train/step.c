/* train/step.c - one step of training, in which every room has its line. */
#include <math.h>

#include "tensor/tensor.h"
#include "train/train.h"

static cull_status choose(cull_trainer *t)
{
    cull_status status = CULL_OK;

    if (t->needs.action != CULL_SELECT_BATCH) return CULL_OK;
    TRY(cull_select(t->selector, &t->signals, 0, &t->chosen));
    cull_meter_choose(&t->meter, &t->chosen);
    cull_meter_lap(&t->meter, CULL_PHASE_SELECT);
done:
    return status;
}

static cull_status check_loss(cull_trainer *t)
{
    double sum = 0;
    size_t first = 0;

    for (size_t i = 0; i < t->trained.count; i++) {
        sum += cull_tensor_get(&t->trained.loss, i);
        if (isfinite(sum)) first = i + 1;
    }
    t->loss = sum / (double)t->trained.count;
    if (!isfinite(t->loss))
        return cull_fail(CULL_NOT_FINITE,
                         "the loss is no longer finite at step %llu, in epoch %llu, first that of "
                         "example %u",
                         (unsigned long long)t->progress.step + 1,
                         (unsigned long long)t->progress.epoch + 1, t->trained.place[first]);
    return CULL_OK;
}

static cull_status optimize(cull_trainer *t)
{
    cull_status status = CULL_OK;

    cull_meter_lap(&t->meter, CULL_PHASE_LEARN);
    t->rate = t->progress.rate = cull_schedule_rate_at(&t->schedule, cull_train_position(t));
    TRY(cull_optim_step(t->optim, t->rate, t->params->value, t->params->gradient));
    cull_meter_lap(&t->meter, CULL_PHASE_OPTIM);
done:
    return status;
}

/* What training saw goes to the selector and into the books. thirds: of an example's work. */
static cull_status account(cull_trainer *t, const double *weight, unsigned thirds)
{
    cull_status status = CULL_OK;
    size_t      count = t->trained.count;

    if (t->needs.observe) TRY(cull_observe(t->selector, &t->trained));
    cull_meter_lap(&t->meter, CULL_PHASE_SELECT);
    cull_tally_add(&t->tally, &t->trained, weight);
    t->trained_now += count;
    t->progress.seen += count;
    t->progress.correct += cull_train_correct(&t->trained, t->setup->smoothing);
    t->progress.loss += t->loss * (double)count;
    t->meter.trained += count;
    t->meter.thirds += thirds * count;
    cull_meter_lap(&t->meter, CULL_PHASE_CHECKPOINT);
done:
    return status;
}

static cull_status learn_batch(cull_trainer *t, const cull_batch *batch)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;

    TRY(cull_trainer_plan(t, CULL_PLAN_LEARN, batch->count, &plan));
    TRY(cull_nn_learn(plan, batch, &t->trained));
    TRY(check_loss(t));
    TRY(optimize(t));
    TRY(cull_scorer_learn(t, batch, t->rate));
    TRY(account(t, batch->weight, 3));
done:
    return status;
}

/* Backward alone, through the rows that the scoring pass kept. */
static cull_status learn_kept(cull_trainer *t)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;

    if (t->chosen.count == 0) return CULL_OK;
    if (t->chosen.groups > 1)
        FAIL(CULL_BAD_OPTION,
             "score.pass: %s makes %zu training batches of one scoring pass, but "
             "reuse ends with the first",
             cull_selector_name(t->selector), t->chosen.groups);
    TRY(cull_trainer_plan(t, CULL_PLAN_LEARN_FROM_KEPT, t->chosen.count, &plan));
    TRY(cull_nn_learn_kept(plan, t->kept, &t->chosen, &t->trained));
    TRY(check_loss(t));
    TRY(optimize(t));
    TRY(account(t, t->chosen.weight, 2));
done:
    return status;
}

/* A decision may fill no training batch, one, or several. */
static cull_status learn_chosen(cull_trainer *t)
{
    cull_status status = CULL_OK;
    cull_batch  batch = {0};

    for (size_t from = 0, to = 0; from < t->chosen.count; from = to) {
        while (to < t->chosen.count && t->chosen.group[to] == t->chosen.group[from]) to++;
        TRY(cull_train_gather(t, from, to, &batch));
        TRY(learn_batch(t, &batch));
    }
done:
    return status;
}

static cull_status learn(cull_trainer *t)
{
    if (t->needs.action != CULL_SELECT_BATCH) return learn_batch(t, &t->seen);
    return t->kept ? learn_kept(t) : learn_chosen(t);
}

static void count(cull_trainer *t)
{
    t->progress.step++;
    t->progress.batch++;
    t->progress.at += t->seen.count;
}

cull_status cull_train_step(cull_trainer *t)
{
    cull_status     status = CULL_OK;
    cull_sel_course course = cull_train_course(t);
    cull_sel_step   next = {0};

    t->trained_now = 0;
    if (!cull_sel_course_peek(&course, &next)) /* selection           */
        FAIL(CULL_BAD_STATE, "a step behind the end of its epoch");
    TRY(cull_train_bring(t, &next)); /* data                */
    TRY(cull_train_score(t));        /* forward             */
    TRY(choose(t));                  /* selection           */
    TRY(learn(t));                   /* backward, optimizer */
    count(t);                        /* metrics             */
done:
    return status;
}

cull_status cull_train_flush(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(cull_flush(t->selector, &t->chosen));
    t->seen = (cull_batch){0};
    TRY(learn_chosen(t));
    if (t->chosen.count) t->progress.step++;
done:
    return status;
}
