/*
 * train/scoring.c - signals of a step's candidates: a forward pass where the selector asks for one,
 * and what is known of examples without.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tensor/tensor.h"
#include "train/resize.h"
#include "train/train.h"

/* The model for smaller images; it must have the very same parameters. */
static cull_status make_small_model(cull_trainer *t)
{
    cull_scorer       *s = &t->scorer;
    cull_status        status = CULL_OK;
    cull_model_options options = t->setup->model_options;
    double             scale = t->setup->score.scale;
    char               why[256];

    if (t->setup->own_model)
        FAIL(CULL_BAD_OPTION, "score.scale: %s is made for one size of images", t->model->name);
    s->height = (int64_t)fmax(1, round((double)t->train->height * scale));
    s->width = (int64_t)fmax(1, round((double)t->train->width * scale));
    options.channels = (int64_t)t->train->channels;
    options.height = s->height;
    options.width = s->width;
    options.classes = t->train->classes;
    status = cull_nn_model_by_name(t->setup->model, &options, &s->model);
    if (status == CULL_BAD_ARGUMENT) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(CULL_BAD_OPTION, "score.scale: %s for images of %lldx%lld: %s", t->setup->model,
             (long long)s->height, (long long)s->width, why);
    }
    TRY(status);
    if (s->model->param_count != t->model->param_count ||
        s->model->running_count != t->model->running_count)
        FAIL(CULL_BAD_OPTION, "score.scale: %s is made for one size of images", t->setup->model);
    s->own = (cull_plans){.model = s->model, .params = t->params, .backend = t->backend};
    s->plans = &s->own;
done:
    return status;
}

/* A loss for every example of the source files; the pool's are looked up by their origin. */
static cull_status read_irreducible(cull_trainer *t)
{
    const char  *path = t->setup->score.irreducible;
    cull_status  status = CULL_OK;
    cull_arrays *file = NULL;
    cull_tensor  array = {0};
    double      *known = NULL;

    TRY(cull_arrays_open(path, &file));
    TRY(cull_arrays_get(file, NULL, &array));
    if (array.dims != 1 || (array.dtype != CULL_F32 && array.dtype != CULL_F64))
        FAIL(CULL_BAD_OPTION, "score.irreducible: %s: not one float for each example", path);
    TRY(cull_base_alloc(t->train->count, sizeof *known, "irreducible losses", &known));
    for (size_t i = 0; i < t->train->count; i++) {
        uint32_t origin = t->train->origin[i];

        if (origin >= (uint64_t)array.shape[0])
            FAIL(CULL_BAD_OPTION, "score.irreducible: %s: %lld losses, but example %u", path,
                 (long long)array.shape[0], origin);
        known[i] = cull_tensor_get(&array, origin);
        if (!isfinite(known[i]))
            FAIL(CULL_BAD_OPTION, "score.irreducible: %s: the loss of example %u is not finite",
                 path, origin);
    }
    t->scorer.irreducible = known;
    known = NULL;
done:
    cull_base_free(known);
    cull_arrays_close(file);
    return status;
}

cull_status cull_scorer_open(cull_trainer *t)
{
    cull_status status = CULL_OK;

    t->scorer.plans = &t->plans;
    if (t->setup->score.scale < 1) TRY(make_small_model(t));
    if (t->setup->score.irreducible) TRY(read_irreducible(t));
done:
    return status;
}

void cull_scorer_close(cull_scorer *s)
{
    cull_aim_clear(&s->aim);
    cull_plans_clear(&s->own);
    cull_nn_model_destroy(s->model);
    cull_base_free_aligned(s->small);
    cull_base_free(s->irreducible);
    cull_base_free(s->label);
    cull_base_free(s->known);
    *s = (cull_scorer){0};
}

cull_status cull_scorer_save(const cull_trainer *t, cull_writer *out)
{
    (void)t;
    (void)out;
    return CULL_OK;
}

cull_status cull_scorer_restore(cull_trainer *t, cull_reader *in)
{
    (void)t;
    if (in->size) return cull_fail(CULL_BAD_STATE, "the state has a scorer, the run has none");
    return CULL_OK;
}

cull_status cull_scorer_inputs(cull_trainer *t, size_t count, const void **inputs)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;
    size_t       row = t->train->channels * (size_t)(s->height * s->width);

    if (!s->model) return CULL_OK;
    if (count > s->small_room) {
        cull_base_free_aligned(s->small);
        s->small = NULL;
        s->small_room = 0;
        TRY(cull_base_alloc_aligned(count, row * sizeof *s->small, "small images", &s->small));
        s->small_room = count;
    }
    cull_train_resize(&(cull_resize){.channels = t->train->channels,
                                     .height = t->train->height,
                                     .width = t->train->width,
                                     .to_height = (size_t)s->height,
                                     .to_width = (size_t)s->width,
                                     .channels_last = t->form.channels_last},
                      *inputs, count, s->small);
    *inputs = s->small;
done:
    return status;
}

static cull_status forward(cull_trainer *t)
{
    const cull_score_setup *score = &t->setup->score;
    cull_status             status = CULL_OK;
    cull_statistics         stats =
        score->running || t->needs.running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
    cull_plan_mode mode = score->reuse ? CULL_PLAN_SCORE_AND_KEEP : CULL_PLAN_SCORE;
    cull_batch     batch = t->seen;
    cull_plan     *plan = NULL;

    batch.weight = NULL;
    TRY(cull_scorer_inputs(t, batch.count, &batch.inputs));
    TRY(cull_plans_get(t->scorer.plans, mode, batch.count, t->setup->smoothing, &plan));
    TRY(cull_nn_score(plan, &batch, score->reuse ? CULL_STATS_UPDATE : stats,
                      t->needs.signals | CULL_SIGNAL_LOSS, &t->signals));
    t->kept = score->reuse ? plan : NULL;
    t->meter.scored += batch.count;
    t->meter.thirds += batch.count;
done:
    return status;
}

/* Labels and irreducible losses are known by place. */
static cull_status look_up(cull_trainer *t)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;
    size_t       count = t->seen.count;

    if (!(t->needs.signals & (CULL_SIGNAL_LABEL | CULL_SIGNAL_IRREDUCIBLE))) return CULL_OK;
    if (count > s->room) {
        TRY(cull_base_grow(count, sizeof *s->label, "signals", &s->label));
        TRY(cull_base_grow(count, sizeof *s->known, "signals", &s->known));
        s->room = count;
    }
    for (size_t i = 0; i < count; i++) {
        s->label[i] = t->train->labels[t->seen.place[i]];
        s->known[i] = s->irreducible ? s->irreducible[t->seen.place[i]] : 0;
    }
    if (t->needs.signals & CULL_SIGNAL_LABEL)
        t->signals.label = cull_vector(s->label, CULL_I32, count);
    if (t->needs.signals & CULL_SIGNAL_IRREDUCIBLE)
        t->signals.irreducible = cull_vector(s->known, CULL_F64, count);
done:
    return status;
}

cull_status cull_train_score(cull_trainer *t)
{
    cull_status status = CULL_OK;

    if (t->needs.action != CULL_SELECT_BATCH) return CULL_OK;
    t->kept = NULL;
    t->signals = (cull_signals){.count = t->seen.count,
                                .place = t->seen.place,
                                .step = t->seen.step,
                                .epoch = t->seen.epoch};
    if (t->needs.signals & CULL_SIGNAL_FORWARD) TRY(forward(t));
    TRY(look_up(t));
    if (t->needs.target) TRY(cull_train_target(t, &t->signals.target));
    cull_meter_lap(&t->meter, CULL_PHASE_SCORE);
done:
    return status;
}
