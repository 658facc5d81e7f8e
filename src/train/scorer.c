/*
 * train/scorer.c - the network that scores: the model itself, the model for smaller images with the
 * very same parameters, or a proxy, a small model that is trained along with the large one.
 */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "tensor/tensor.h"
#include "train/network/network.h"
#include "train/resize.h"
#include "train/train.h"

static cull_status make_model(cull_trainer *t, const char *name, const char *key)
{
    cull_scorer       *s = &t->scorer;
    cull_status        status = CULL_OK;
    cull_model_options options = t->setup->model_options;
    double             scale = t->setup->score.scale;
    char               why[256];

    s->height = (int64_t)fmax(1, round((double)t->train->height * scale));
    s->width = (int64_t)fmax(1, round((double)t->train->width * scale));
    options.channels = (int64_t)t->train->channels;
    options.height = s->height;
    options.width = s->width;
    options.classes = t->model->classes;
    cull_nn_model_fit_options(name, &options);
    status = cull_nn_model_by_name(name, &options, &s->model);
    if (status == CULL_BAD_ARGUMENT) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(CULL_BAD_OPTION, "%s: %s for images of %lldx%lld: %s", key, name, (long long)s->height,
             (long long)s->width, why);
    }
done:
    return status;
}

static cull_status make_small(cull_trainer *t)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;

    if (t->setup->own_model)
        FAIL(CULL_BAD_OPTION, "score.scale: %s is made for one size of images", t->model->name);
    TRY(make_model(t, t->setup->model, "score.scale"));
    if (s->model->param_count != t->model->param_count ||
        s->model->running_count != t->model->running_count)
        FAIL(CULL_BAD_OPTION, "score.scale: %s is made for one size of images", t->setup->model);
    s->own = (cull_plans){.model = s->model, .params = t->params, .backend = t->backend};
    s->plans = &s->own;
done:
    return status;
}

static cull_status make_proxy(cull_trainer *t)
{
    const cull_train_setup *setup = t->setup;
    cull_scorer            *s = &t->scorer;
    cull_status             status = CULL_OK;

    TRY(make_model(t, setup->score.proxy, "score.proxy"));
    TRY(cull_nn_params_create(t->backend, s->model, CULL_F32, &s->params));
    TRY(cull_nn_params_init(s->params, s->model, setup->seed));
    TRY(cull_optim_create(&setup->optim, s->params->dtype, s->params->count, t->backend,
                          &s->optim));
    if (!setup->decay_all) TRY(cull_train_exempt(s->model, s->optim));
    s->own = (cull_plans){.model = s->model, .params = s->params, .backend = t->backend};
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
            FAIL(CULL_BAD_OPTION,
                 "score.irreducible: %s: %lld losses, too few: example %u of the set's files is "
                 "trained, and each has one, in their order",
                 path, (long long)array.shape[0], origin);
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
    if (t->setup->score.proxy)
        TRY(make_proxy(t));
    else if (t->setup->score.scale < 1)
        TRY(make_small(t));
    if (t->setup->score.irreducible) TRY(read_irreducible(t));
    if (t->setup->score.pipelined) TRY(cull_pipeline_open(t, &t->pipeline));
done:
    return status;
}

void cull_scorer_close(cull_scorer *s)
{
    cull_aim_clear(&s->aim);
    cull_plans_clear(&s->own);
    cull_optim_destroy(s->optim);
    cull_nn_params_destroy(s->params);
    cull_nn_model_destroy(s->model);
    cull_base_free_aligned(s->small);
    cull_base_free(s->irreducible);
    cull_base_free(s->label);
    cull_base_free(s->known);
    *s = (cull_scorer){0};
}

/* What was scored ahead; weights, averages and momenta of a proxy. */
cull_status cull_scorer_save(const cull_trainer *t, cull_writer *out)
{
    const cull_scorer *s = &t->scorer;
    cull_status        status = CULL_OK;

    if (t->pipeline) TRY(cull_pipeline_save(t->pipeline, out));
    if (!s->params) goto done;
    TRY(cull_write(out, s->params->value, s->params->count * sizeof(float)));
    TRY(cull_write(out, s->params->running, s->params->running_count * sizeof(float)));
    TRY(cull_optim_save(s->optim, out));
done:
    return status;
}

cull_status cull_scorer_restore(cull_trainer *t, cull_reader *in)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;

    if (t->pipeline) TRY(cull_pipeline_restore(t, in));
    if (!s->params) goto done;
    TRY(cull_read(in, s->params->value, s->params->count * sizeof(float)));
    TRY(cull_read(in, s->params->running, s->params->running_count * sizeof(float)));
    TRY(cull_optim_restore(s->optim, in));
done:
    return status;
}

void cull_scorer_count(cull_trainer *t, size_t examples)
{
    t->meter.scored += examples;
    if (t->scorer.params)
        t->meter.proxy += examples;
    else
        t->meter.thirds += examples;
}

cull_status cull_scorer_inputs(cull_trainer *t, const cull_plan *plan, size_t count,
                               const void **inputs)
{
    cull_scorer   *s = &t->scorer;
    cull_status    status = CULL_OK;
    cull_resize    resize = {.channels = t->train->channels,
                             .height = t->train->height,
                             .width = t->train->width,
                             .to_height = (size_t)s->height,
                             .to_width = (size_t)s->width,
                             .channels_last = t->form.channels_last};
    cull_data_form form = {0};

    if (!s->model) return CULL_OK;
    TRY(cull_trainer_form(plan, &form));
    resize.to_channels_last = form.channels_last;
    if (resize.to_height == resize.height && resize.to_width == resize.width &&
        (form.channels_last == t->form.channels_last || resize.channels == 1))
        return CULL_OK;
    if (count > s->small_room) {
        cull_base_free_aligned(s->small);
        s->small = NULL;
        s->small_room = 0;
        TRY(cull_base_alloc_aligned(
            count, resize.channels * resize.to_height * resize.to_width * sizeof *s->small,
            "images to score", &s->small));
        s->small_room = count;
    }
    cull_train_resize(&resize, *inputs, count, s->small);
    *inputs = s->small;
done:
    return status;
}

cull_status cull_scorer_learn(cull_trainer *t, const cull_batch *batch, double rate)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;
    cull_batch   own = *batch;
    cull_plan   *plan = NULL;
    cull_signals trained = {0};

    if (!s->params) return CULL_OK;
    TRY(cull_plans_get(s->plans, CULL_PLAN_LEARN, own.count, t->setup->smoothing, &plan));
    TRY(cull_scorer_inputs(t, plan, own.count, &own.inputs));
    TRY(cull_nn_learn(plan, &own, &trained));
    TRY(cull_optim_step(s->optim, rate, s->params->value, s->params->gradient));
    t->meter.proxy += 3 * own.count;
    cull_meter_lap(&t->meter, CULL_PHASE_SCORE);
done:
    return status;
}
