/* train/learner.c - gradients, new weights, and what is known of both when it is asked for. */
#include "train/learner.h"

#include "train/folder/weights.h"
#include "train/machine.h"
#include "train/rule.h"

cull_status cull_learner_open(const cull_train_setup *setup, cull_model *model,
                              cull_backend *backend, cull_learner *out)
{
    cull_status status = CULL_OK;

    out->setup = setup;
    out->backend = out->kit.backend = out->letter.backend = out->judging.backend = backend;
    out->model = model;
    TRY(cull_nn_params_create(backend, model, CULL_F32, &out->params));
    TRY(cull_nn_params_compute(out->params, cull_machine_arithmetic(setup, backend)));
    TRY(cull_nn_params_init(out->params, model, setup->seed));
    out->plans = (cull_plans){.model = model,
                              .params = out->params,
                              .backend = backend,
                              .constants = setup->score.constants};
done:
    return status;
}

cull_status cull_learner_optim(const cull_train_setup *setup, const cull_model *model,
                               const cull_params *params, cull_optim **out)
{
    return cull_train_rule(&setup->optim, setup->decay_all, model, params, out);
}

cull_status cull_learner_begin(cull_learner *l)
{
    cull_status status = CULL_OK;
    cull_kit   *kit = &l->kit;
    bool        moved = false;

    TRY(cull_learner_optim(l->setup, l->model, l->params, &l->optim));
    TRY(cull_learner_room(l, l->setup->batch, 0, &moved));
    TRY(cull_kit_allocate(kit, 1, sizeof *l->trouble, "a step", &l->trouble));
    TRY(cull_kit_allocate(kit, CULL_LEARNER_RING, sizeof *l->ring, "a step", &l->ring));
    TRY(cull_kit_allocate(kit, CULL_LEARNER_RING, sizeof *l->outcome, "a step", &l->outcome));
    l->schedule = l->setup->schedule;
done:
    return status;
}

cull_status cull_learner_load(cull_learner *l, const char *weights, const char *set)
{
    cull_status status = CULL_OK;
    cull_card   card = {0};

    TRY(cull_weights_card(weights, &card));
    TRY(cull_card_fit(weights, &card, set, &l->card));
    TRY(cull_weights_read(weights, l->model, l->params));
done:
    cull_card_clear(&card);
    return status;
}

void cull_learner_close(cull_learner *l)
{
    cull_kit_clear(&l->kit);
    cull_letter_clear(&l->letter);
    cull_kit_clear(&l->judging);
    if (l->backend) cull_rows_clear(l->backend, &l->swept);
    cull_plans_clear(&l->plans);
    cull_optim_destroy(l->optim);
    cull_nn_params_destroy(l->params);
    cull_nn_model_destroy(l->model);
    *l = (cull_learner){0};
}

cull_status cull_learner_plan(cull_learner *l, cull_plan_mode mode, size_t batch, size_t length,
                              cull_plan **out)
{
    cull_loss loss = l->setup->loss;

    if (mode == CULL_PLAN_SCORE) loss.smoothing = 0;
    return cull_plans_get(&l->plans, mode, batch, length, loss, out);
}

cull_status cull_learner_room(cull_learner *l, size_t examples, size_t aims, bool *moved)
{
    cull_status status = CULL_OK;

    TRY(cull_letter_room(&l->letter, examples, aims));
    *moved = l->now != cull_letter_moment(&l->letter);
    l->now = cull_letter_moment(&l->letter);
done:
    return status;
}

void cull_learner_enter(cull_learner *l, uint64_t step, uint64_t epoch, double rate)
{
    l->decision = NULL;
    l->moment = (cull_moment){.step = step, .epoch = epoch, .slot = l->waiting};
    cull_optim_moment(l->optim, rate, &l->moment);
    cull_letter_write(&l->letter, l->now, &l->moment, sizeof l->moment);
}

/* The sums of a batch, as soon as its losses are there. */
static cull_status sum_up(void *context, const cull_plan *plan, const cull_signals *seen)
{
    cull_status   status = CULL_OK;
    cull_learner *l = context;
    cull_op_args  args = {.summary = {.rows = seen->count,
                                      .classes = l->model->classes,
                                      .loss = seen->loss.data,
                                      .p = seen->p.data,
                                      .dtype = seen->p.dtype,
                                      .target = cull_nn_plan_target(plan),
                                      .place = seen->place,
                                      .of = l->setup->loss,
                                      .out = l->ring,
                                      .now = l->now,
                                      .trouble = l->trouble,
                                      .became = l->decision,
                                      .outcomes = l->outcome}};

    l->late[l->waiting++] = l->decision != NULL;
    l->decision = NULL;
    TRY(cull_kit_run(&l->kit, CULL_OP_SUMMARY, 0, &args));
done:
    return status;
}

/* New weights, from .. to-1, unless something is wrong. */
static cull_status update(cull_learner *l, size_t from, size_t to)
{
    return cull_optim_update_part(l->optim, l->now, l->params->value, l->params->gradient,
                                  l->trouble, from, to);
}

static cull_status update_later(void *context, size_t from)
{
    cull_learner *l = context;

    l->left = from;
    return update(l, from, l->optim->count);
}

/* For one pass: others' are not steps. A clipped gradient is changed by the norm of all of it. */
static void begin_meanwhile(cull_learner *l, cull_plan *plan)
{
    l->left = 0;
    l->meanwhile = (cull_nn_meanwhile){l, sum_up, update_later};
    if (!(l->optim->options.clip > 0)) cull_nn_plan_meanwhile(plan, &l->meanwhile);
}

/* Behind the way back: what was not done meanwhile. */
static cull_status step(cull_learner *l, const cull_plan *plan, const cull_signals *seen,
                        cull_meter *meter)
{
    cull_status status = CULL_OK;

    if (!l->left) TRY(sum_up(l, plan, seen));
    cull_meter_lap(meter, CULL_PHASE_LEARN);
    TRY(update(l, 0, l->left ? l->left : l->optim->count));
    cull_meter_lap(meter, CULL_PHASE_OPTIM);
done:
    return status;
}

cull_status cull_learner_learn(cull_learner *l, const cull_batch *batch, cull_meter *meter,
                               cull_trained *out)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;

    TRY(cull_learner_plan(l, CULL_PLAN_LEARN, batch->count, batch->length, &plan));
    begin_meanwhile(l, plan);
    status = cull_nn_learn(plan, batch, &out->signals);
    cull_nn_plan_meanwhile(plan, NULL);
    TRY(status);
    TRY(step(l, plan, &out->signals, meter));
    out->plan = plan;
    out->weight = batch->weight;
    out->length = batch->length;
    out->thirds = 3;
done:
    return status;
}

cull_status cull_learner_learn_kept(cull_learner *l, cull_plan *kept, size_t length,
                                    const cull_subset *subset, cull_meter *meter, cull_trained *out)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;

    TRY(cull_learner_plan(l, CULL_PLAN_LEARN_FROM_KEPT, subset->count, length, &plan));
    begin_meanwhile(l, plan);
    status = cull_nn_learn_kept(plan, kept, subset, &out->signals);
    cull_nn_plan_meanwhile(plan, NULL);
    TRY(status);
    TRY(step(l, plan, &out->signals, meter));
    out->plan = plan;
    out->weight = subset->weight;
    out->length = length;
    out->thirds = 2;
done:
    return status;
}

void cull_learner_repeat(cull_learner *l, bool late)
{
    l->late[l->waiting++] = late;
    l->optim->steps++;
}

void cull_learner_await(cull_learner *l, const cull_outcome *outcome)
{
    l->decision = outcome;
}

cull_status cull_learner_read(cull_learner *l, size_t *count,
                              cull_outcome outcome[CULL_LEARNER_RING], cull_trouble *trouble)
{
    cull_status status = CULL_OK;

    *count = 0;
    TRY(cull_backend_download(l->backend, l->read, l->ring, l->waiting * sizeof *l->ring));
    TRY(cull_backend_download(l->backend, outcome, l->outcome, l->waiting * sizeof *outcome));
    TRY(cull_backend_download(l->backend, trouble, l->trouble, sizeof *trouble));
    *count = l->waiting;
    l->waiting = 0;
done:
    return status;
}
