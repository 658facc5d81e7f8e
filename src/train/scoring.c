/*
 * train/scoring.c - signals of a step's candidates and of the pool: forward passes where the
 * selector asks for them, and what is known of examples without.
 *
 * The pool, and the validation set where it is the target, are scored without augmentation, by
 * BatchNorm's averages (METHODS, "Pool strategies"): a subset serves epochs that each augment in
 * their own way.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "data/split.h"
#include "train/scorer.h"
#include "train/sweep.h"

/* Only classes are labels to a selector. */
static bool has_labels(const cull_scorer *s)
{
    return s->setup->loss.kind == CULL_LOSS_CROSS_ENTROPY;
}

static cull_statistics statistics_of(const cull_scorer *s, bool running)
{
    return s->setup->score.running || running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
}

static cull_status forward(cull_scorer *s, const cull_needs *needs, cull_batch batch,
                           cull_scored *out)
{
    const cull_score_setup *score = &s->setup->score;
    cull_status             status = CULL_OK;
    cull_plan              *plan = NULL;

    batch.weight = NULL;
    TRY(cull_plans_get(s->plans, cull_score_mode(score), batch.count, batch.length, s->setup->loss,
                       &plan));
    TRY(cull_scorer_inputs(s, plan, batch.count, &batch.inputs));
    TRY(cull_nn_score(plan, &batch,
                      score->reuse ? CULL_STATS_UPDATE : statistics_of(s, needs->running),
                      needs->signals | CULL_SIGNAL_LOSS, &out->signals));
    out->plan = plan;
    out->kept = score->reuse ? plan : NULL;
done:
    return status;
}

/* Labels and irreducible losses are known by place. */
static cull_status look_up(cull_scorer *s, const cull_needs *needs, const cull_batch *batch,
                           cull_signals *out)
{
    cull_status  status = CULL_OK;
    size_t       count = batch->count;
    cull_device  device = cull_backend_device(s->backend);
    cull_op_args args = {.gather = {.from = s->irreducible,
                                    .index = batch->place,
                                    .rows = count,
                                    .held = s->pool->set->count,
                                    .bytes = sizeof *s->known}};

    if (needs->signals & CULL_SIGNAL_LABEL) {
        TRY(cull_kit_grow(&s->kit, count, sizeof *s->label, "signals", &s->label_room, &s->label));
        TRY(cull_resident_targets(s->pool, batch->place, count, s->label));
        out->label = cull_vector(s->label, CULL_I32, count);
        out->label.device = device;
    }
    if (needs->signals & CULL_SIGNAL_IRREDUCIBLE) {
        TRY(cull_kit_grow(&s->kit, count, sizeof *s->known, "signals", &s->known_room, &s->known));
        args.gather.to = s->known;
        TRY(cull_kit_run(&s->kit, CULL_OP_GATHER, 0, &args));
        out->irreducible = cull_vector(s->known, CULL_F64, count);
        out->irreducible.device = device;
    }
done:
    return status;
}

/* Passes whose rows nobody goes back through. */
static cull_plan_mode mode_of(const cull_scorer *s)
{
    cull_plan_mode mode = cull_score_mode(&s->setup->score);

    return mode == CULL_PLAN_SCORE_AND_KEEP ? CULL_PLAN_SCORE : mode;
}

/* What its inputs are then: tokens are what they are. */
static cull_dtype read_as(const cull_scorer *s)
{
    if (s->form.dtype == CULL_I32) return CULL_I32;
    return cull_nn_plan_values(s->plans->params, mode_of(s));
}

static cull_dtype scored_in(const cull_scorer *s)
{
    return cull_nn_plan_values(s->plans->params, mode_of(s));
}

/* Score a batch and put its signals behind the others. */
static cull_status add(cull_scorer *s, cull_batch in, cull_statistics statistics,
                       cull_signal_room *room)
{
    cull_status  status = CULL_OK;
    cull_plan   *plan = NULL;
    cull_signals seen = {0};

    TRY(cull_plans_get(s->plans, mode_of(s), in.count, in.length, s->setup->loss, &plan));
    TRY(cull_scorer_inputs(s, plan, in.count, &in.inputs));
    TRY(cull_nn_score(plan, &in, statistics, room->wanted | CULL_SIGNAL_LOSS, &seen));
    TRY(cull_signal_room_put(room, plan, &seen));
done:
    return status;
}

/* ---- a step's target ---- */

static cull_status open_aim(cull_scorer *s, unsigned wanted, size_t count)
{
    cull_status         status = CULL_OK;
    cull_aim           *aim = &s->aim;
    const cull_dataset *set = s->validation->set;

    if (aim->rows.inputs) return CULL_OK;
    TRY(cull_signal_room_make(s->backend, s->plans->model, has_labels(s), scored_in(s), wanted,
                              count, &aim->signals));
    TRY(cull_base_alloc(count, sizeof *aim->place, "a target", &aim->place));
    TRY(cull_base_alloc(set->count, sizeof *aim->scratch, "a target", &aim->scratch));
    TRY(cull_rows_make(s->backend, count, cull_resident_row(s->validation),
                       cull_resident_target(s->validation), &aim->rows));
done:
    return status;
}

/* As many validation examples as a batch has, others every step: the mean gradient of all of them
 * at the current weights would cost more than the step. */
size_t cull_scorer_aims(const cull_scorer *s)
{
    size_t count = s->validation ? s->validation->set->count : 0;

    return count < s->setup->batch ? count : s->setup->batch;
}

cull_status cull_scorer_aim(cull_scorer *s, const cull_needs *needs, uint64_t step)
{
    cull_status status = CULL_OK;
    cull_aim   *aim = &s->aim;
    size_t      count = 0;

    if (needs->action != CULL_SELECT_BATCH || !needs->target) return CULL_OK;
    count = cull_scorer_aims(s);
    TRY(open_aim(s, needs->target, count));
    cull_data_choose(cull_key_make(s->setup->seed, "target"), step, s->validation->set->count,
                     count, aim->scratch, aim->place);
    cull_letter_write(s->letter, cull_letter_aims(s->letter), aim->place,
                      count * sizeof *aim->place);
done:
    return status;
}

static cull_status score_target(cull_scorer *s, const cull_batch *batch, cull_meter *meter,
                                cull_target *out)
{
    cull_status status = CULL_OK;
    cull_aim   *aim = &s->aim;
    cull_rows  *rows = &aim->rows;
    uint32_t   *place = cull_letter_aims(s->letter);
    size_t      count = cull_scorer_aims(s);

    TRY(cull_resident_targets(s->validation, place, count, rows->target));
    TRY(cull_resident_make(
        s->validation,
        &(cull_wanted){
            .place = place, .count = count, .to = read_as(s), .length = s->validation->longest},
        rows->inputs));
    aim->signals.at = 0;
    TRY(add(s,
            (cull_batch){.count = count,
                         .length = s->validation->longest,
                         .inputs = rows->inputs,
                         .target = rows->target,
                         .place = place,
                         .step = batch->step,
                         .epoch = batch->epoch},
            statistics_of(s, false), &aim->signals));
    cull_scorer_count(s, count, s->validation->longest, meter);
    cull_signal_room_target(&aim->signals, out);
done:
    return status;
}

cull_status cull_scorer_score(cull_scorer *s, const cull_needs *needs, const cull_batch *batch,
                              cull_meter *meter, cull_scored *out)
{
    cull_status status = CULL_OK;
    cull_target target = {0};
    bool        found = false;

    *out = (cull_scored){.signals = {.count = batch->count,
                                     .place = batch->place,
                                     .step = batch->step,
                                     .epoch = batch->epoch,
                                     .device = cull_backend_device(s->backend)}};
    if (needs->action != CULL_SELECT_BATCH) return CULL_OK;
    /* The target comes first and is copied: the batch's own signals are lent by its pass, which
     * may be one of the same plan. */
    if (needs->target) TRY(score_target(s, batch, meter, &target));
    if (needs->signals & CULL_SIGNAL_FORWARD) {
        if (s->pipeline) TRY(cull_pipeline_take(s->pipeline, &found, &out->signals));
        if (!found) TRY(forward(s, needs, *batch, out));
        cull_scorer_count(s, batch->count, batch->length, meter);
    }
    out->signals.target = target;
    TRY(look_up(s, needs, batch, &out->signals));
    cull_meter_lap(meter, CULL_PHASE_SCORE);
done:
    return status;
}

/* ---- the pool ---- */

struct filling {
    cull_scorer      *scorer;
    cull_signal_room *room;
    cull_meter       *meter;
};

static cull_status add_batch(void *context, const cull_batch *batch)
{
    struct filling *f = context;

    cull_scorer_count(f->scorer, batch->count, batch->length, f->meter);
    return add(f->scorer, *batch, CULL_STATS_RUNNING, f->room);
}

/* Signals of texts come by length; selectors know examples by their place. */
static cull_status sort_back(const cull_resident *resident, cull_signal_room *room)
{
    cull_status status = CULL_OK;
    uint32_t   *order = NULL, *from = NULL;

    TRY(cull_sweep_order(resident, true, &order));
    TRY(cull_base_alloc(room->count, sizeof *from, "signals", &from));
    for (size_t i = 0; i < room->count; i++) from[order[i]] = (uint32_t)i;
    TRY(cull_signal_room_sort(room, from));
done:
    cull_base_free(from);
    cull_base_free(order);
    return status;
}

static cull_status score_set(cull_scorer *s, cull_resident *resident, unsigned wanted,
                             cull_meter *meter, cull_signal_room *room)
{
    cull_status    status = CULL_OK;
    struct filling filling = {s, room, meter};
    cull_sweep     sweep = {.resident = resident,
                            .form = s->form,
                            .batch = cull_train_evaluate_batch(s->setup, s->backend),
                            .workers = s->setup->workers,
                            .sorted = true};

    sweep.form.dtype = read_as(s);
    TRY(cull_signal_room_make(s->backend, s->plans->model, has_labels(s), scored_in(s), wanted,
                              resident->set->count, room));
    TRY(cull_sweep_run(&sweep, add_batch, &filling));
    if (resident->bucket) TRY(sort_back(resident, room));
done:
    return status;
}

cull_status cull_scorer_score_pool(cull_scorer *s, const cull_needs *needs,
                                   const cull_progress *progress, cull_meter *meter,
                                   cull_signal_room *pool, cull_signal_room *aim, cull_signals *out)
{
    cull_status status = CULL_OK;
    size_t      count = s->pool->set->count;
    cull_device device = cull_backend_device(s->backend);

    if (needs->signals & CULL_SIGNAL_FORWARD)
        TRY(score_set(s, s->pool, needs->signals, meter, pool));
    if (needs->target) TRY(score_set(s, s->validation, needs->target, meter, aim));
    *out = (cull_signals){
        .count = count, .step = progress->step, .epoch = progress->epoch, .device = device};
    if (has_labels(s)) {
        out->label = cull_vector(s->pool->target, CULL_I32, count);
        out->label.device = device;
    }
    cull_signal_room_view(pool, out);
    cull_signal_room_target(aim, &out->target);
    if (s->irreducible) {
        out->irreducible = cull_vector(s->irreducible, CULL_F64, count);
        out->irreducible.device = device;
    }
    cull_meter_lap(meter, CULL_PHASE_SCORE);
done:
    return status;
}
