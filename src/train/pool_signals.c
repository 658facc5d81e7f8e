/*
 * train/pool_signals.c - choosing from the whole pool: its signals at the current weights, and
 * those of the validation set where it is the target.
 *
 * Both are scored without augmentation, by BatchNorm's averages (METHODS, "Pool strategies"): a
 * subset serves epochs that each augment in their own way. Signals are put together in arrays over
 * all examples; only those asked for are kept.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "tensor/tensor.h"
#include "train/train.h"

void cull_signal_room_clear(cull_signal_room *s)
{
    cull_base_free(s->h);
    cull_base_free(s->p);
    cull_base_free(s->logits);
    cull_base_free(s->loss);
    cull_base_free(s->label);
    *s = (cull_signal_room){0};
}

static cull_status make_arrays(cull_signal_room *s)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(s->count, sizeof *s->loss, "signals", &s->loss));
    TRY(cull_base_alloc(s->count, sizeof *s->label, "signals", &s->label));
    if (s->wanted & CULL_SIGNAL_H)
        TRY(cull_base_alloc(s->count, s->width * sizeof *s->h, "signals", &s->h));
    if (s->wanted & CULL_SIGNAL_P)
        TRY(cull_base_alloc(s->count, s->classes * sizeof *s->p, "signals", &s->p));
    if (s->wanted & CULL_SIGNAL_LOGITS)
        TRY(cull_base_alloc(s->count, s->classes * sizeof *s->logits, "signals", &s->logits));
done:
    return status;
}

cull_status cull_signal_room_make(const cull_model *m, unsigned wanted, size_t count,
                                  cull_signal_room *s)
{
    cull_status status = CULL_OK;

    s->at = 0;
    if (s->loss && s->wanted == wanted && s->count == count) return CULL_OK;
    cull_signal_room_clear(s);
    s->wanted = wanted;
    s->count = count;
    s->classes = m->classes;
    s->width = (size_t)cull_image_row(&m->node[m->node[m->last_dense].input[0]].desc.y);
    status = make_arrays(s);
    if (status != CULL_OK) cull_signal_room_clear(s);
    return status;
}

static void copy_rows(const cull_tensor *from, float *to, size_t at, size_t width)
{
    for (size_t i = 0; i < (size_t)from->shape[0]; i++)
        memcpy(to + (at + i) * width, cull_tensor_row(from, i), width * sizeof *to);
}

void cull_signal_room_put(cull_signal_room *s, const cull_plan *plan, const cull_signals *seen,
                          const int32_t *label)
{
    if (s->h) copy_rows(&seen->h, s->h, s->at, s->width);
    if (s->p) copy_rows(&seen->p, s->p, s->at, s->classes);
    if (s->logits)
        memcpy(s->logits + s->at * s->classes, cull_nn_plan_logits(plan),
               seen->count * s->classes * sizeof *s->logits);
    for (size_t i = 0; i < seen->count; i++) {
        s->loss[s->at + i] = cull_tensor_get(&seen->loss, i);
        s->label[s->at + i] = label[i];
    }
    s->at += seen->count;
}

/* Score a batch and put its signals behind the others. */
static cull_status add(cull_trainer *t, cull_batch in, cull_statistics statistics,
                       cull_signal_room *s)
{
    cull_status    status = CULL_OK;
    cull_plan_mode mode = t->setup->score.int8 ? CULL_PLAN_SCORE_INT8 : CULL_PLAN_SCORE;
    cull_plan     *plan = NULL;
    cull_signals   seen = {0};

    TRY(cull_plans_get(t->scorer.plans, mode, in.count, t->setup->smoothing, &plan));
    TRY(cull_scorer_inputs(t, plan, in.count, &in.inputs));
    TRY(cull_nn_score(plan, &in, statistics, s->wanted | CULL_SIGNAL_LOSS, &seen));
    cull_signal_room_put(s, plan, &seen, in.label);
    cull_scorer_count(t, in.count);
done:
    return status;
}

static cull_status add_batch(void *context, cull_trainer *t, const cull_data_batch *batch)
{
    return add(t,
               (cull_batch){.count = batch->count,
                            .inputs = batch->inputs.data,
                            .label = batch->labels,
                            .place = batch->places},
               CULL_STATS_RUNNING, context);
}

static cull_tensor rows_of(const cull_signal_room *s, const float *data, size_t width)
{
    return data ? cull_matrix(data, CULL_F32, s->count, width) : (cull_tensor){0};
}

void cull_signal_room_view(const cull_signal_room *s, cull_signals *out)
{
    out->loss = cull_vector(s->loss, CULL_F64, s->count);
    out->h = rows_of(s, s->h, s->width);
    out->p = rows_of(s, s->p, s->classes);
}

static void as_target(const cull_signal_room *s, cull_target *out)
{
    *out = (cull_target){.count = s->count,
                         .h = rows_of(s, s->h, s->width),
                         .p = rows_of(s, s->p, s->classes),
                         .logits = rows_of(s, s->logits, s->classes),
                         .label = cull_vector(s->label, CULL_I32, s->count)};
}

static cull_status decide(cull_trainer *t, const cull_signal_room *s, const cull_target *target)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {.count = t->train->count,
                            .step = t->progress.step,
                            .epoch = t->progress.epoch,
                            .h = rows_of(s, s->h, s->width),
                            .p = rows_of(s, s->p, s->classes),
                            .label = cull_vector(t->train->labels, CULL_I32, t->train->count),
                            .target = *target};

    if (s->loss) signals.loss = cull_vector(s->loss, CULL_F64, s->count);
    if (t->scorer.irreducible)
        signals.irreducible = cull_vector(t->scorer.irreducible, CULL_F64, t->train->count);
    TRY(cull_select(t->selector, &signals, 0, &t->pool));
    cull_meter_choose(&t->meter, &t->pool);
done:
    return status;
}

cull_status cull_train_choose_pool(cull_trainer *t)
{
    cull_status      status = CULL_OK;
    cull_signal_room pool = {0}, aim = {0};
    cull_target      target = {0};

    if (t->needs.signals & CULL_SIGNAL_FORWARD) {
        TRY(cull_signal_room_make(t->scorer.plans->model, t->needs.signals, t->train->count,
                                  &pool));
        TRY(cull_train_sweep(t, t->train, add_batch, &pool));
    }
    if (t->needs.target) {
        TRY(cull_signal_room_make(t->scorer.plans->model, t->needs.target, t->validation->count,
                                  &aim));
        TRY(cull_train_sweep(t, t->validation, add_batch, &aim));
        as_target(&aim, &target);
    }
    cull_meter_lap(&t->meter, CULL_PHASE_SCORE);
    TRY(decide(t, &pool, &target));
    t->pool_epoch = t->progress.epoch;
    cull_meter_lap(&t->meter, CULL_PHASE_SELECT);
done:
    cull_signal_room_clear(&pool);
    cull_signal_room_clear(&aim);
    return status;
}

static cull_status open_aim(cull_trainer *t, cull_aim *aim, size_t count)
{
    cull_status status = CULL_OK;

    if (aim->inputs) return CULL_OK;
    TRY(cull_signal_room_make(t->scorer.plans->model, t->needs.target, count, &aim->signals));
    TRY(cull_base_alloc(count, sizeof *aim->label, "a target", &aim->label));
    TRY(cull_base_alloc(count, sizeof *aim->place, "a target", &aim->place));
    TRY(cull_base_alloc(t->validation->count, sizeof *aim->scratch, "a target", &aim->scratch));
    TRY(cull_base_alloc_aligned(count, cull_data_row(t->validation) * sizeof *aim->inputs,
                                "a target", &aim->inputs));
done:
    return status;
}

void cull_aim_clear(cull_aim *aim)
{
    cull_signal_room_clear(&aim->signals);
    cull_base_free(aim->label);
    cull_base_free(aim->place);
    cull_base_free(aim->scratch);
    cull_base_free_aligned(aim->inputs);
    *aim = (cull_aim){0};
}

/* As many validation examples as a batch has, others every step: the mean gradient of all of them
 * at the current weights would cost more than the step. */
cull_status cull_train_target(cull_trainer *t, cull_target *out)
{
    const cull_dataset *set = t->validation;
    cull_status         status = CULL_OK;
    cull_aim           *aim = &t->scorer.aim;
    size_t              count = set->count < t->setup->batch ? set->count : t->setup->batch;
    cull_statistics statistics = t->setup->score.running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;

    TRY(open_aim(t, aim, count));
    cull_data_choose(cull_key_make(t->setup->seed, "target"), t->progress.step, set->count, count,
                     aim->scratch, aim->place);
    for (size_t i = 0; i < count; i++) aim->label[i] = set->labels[aim->place[i]];
    TRY(cull_data_transform(set, NULL, t->form, 0, aim->place, count, aim->inputs));
    aim->signals.at = 0;
    TRY(add(t,
            (cull_batch){.count = count,
                         .inputs = aim->inputs,
                         .label = aim->label,
                         .place = aim->place,
                         .step = t->progress.step,
                         .epoch = t->progress.epoch},
            statistics, &aim->signals));
    as_target(&aim->signals, out);
done:
    return status;
}
