/* train/scorer.c - the network that scores, made, saved, and trained where it is a proxy. */
#include "train/scorer.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "tensor/tensor.h"

static cull_status make_model(cull_scorer *s, const cull_model *large, const char *name,
                              const char *key)
{
    const cull_dataset *set = s->pool->set;
    cull_status         status = CULL_OK;
    cull_model_options  options = s->setup->model_options;
    double              scale = s->setup->score.scale;
    char                why[256];

    s->height = (int64_t)fmax(1, round((double)set->height * scale));
    s->width = (int64_t)fmax(1, round((double)set->width * scale));
    options.channels = (int64_t)set->channels;
    options.height = s->height;
    options.width = s->width;
    options.classes = large->classes;
    options.tokens = (int64_t)set->vocabulary;
    if (name == s->setup->model && s->setup->layers) {
        status = cull_nn_model_by_list(s->setup->layers, &options, &s->model);
    } else {
        cull_nn_model_fit_options(name, &options);
        status = cull_nn_model_by_name(name, &options, &s->model);
    }
    if (status == CULL_BAD_ARGUMENT || status == CULL_BAD_OPTION) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        if (set->vocabulary) FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s: %s", key, name, why);
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s for images of %lldx%lld: %s", key, name,
                   (long long)s->height, (long long)s->width, why);
    }
done:
    return status;
}

static cull_status make_small(cull_scorer *s, cull_learner *learner)
{
    cull_status       status = CULL_OK;
    const cull_model *large = learner->model;

    if (s->setup->own_model)
        FAIL_OPTION("score.scale", "%s is made for one size of images", large->name);
    TRY(make_model(s, large, s->setup->model, "score.scale"));
    if (s->model->param_count != large->param_count ||
        s->model->running_count != large->running_count)
        FAIL_OPTION("score.scale", "%s is made for one size of images",
                    s->setup->layers ? CULL_LIST_KEY : s->setup->model);
    s->own = (cull_plans){.model = s->model, .params = learner->params, .backend = s->backend};
    s->plans = &s->own;
done:
    return status;
}

static cull_status make_proxy(cull_scorer *s, const cull_learner *learner)
{
    cull_status status = CULL_OK;

    TRY(make_model(s, learner->model, s->setup->score.proxy, "score.proxy"));
    TRY(cull_nn_params_create(s->backend, s->model, CULL_F32, &s->params));
    TRY(cull_nn_params_compute(s->params, learner->params->arithmetic));
    TRY(cull_nn_params_init(s->params, s->model, s->setup->seed));
    TRY(cull_learner_optim(s->setup, s->model, s->params, &s->optim));
    s->own = (cull_plans){.model = s->model, .params = s->params, .backend = s->backend};
    s->plans = &s->own;
done:
    return status;
}

/* A loss for every example of the source files; the pool's are looked up by their origin. */
static cull_status read_irreducible(cull_scorer *s)
{
    const char         *path = s->setup->score.irreducible;
    const cull_dataset *set = s->pool->set;
    cull_status         status = CULL_OK;
    cull_arrays        *file = NULL;
    cull_tensor         array = {0};
    double             *known = NULL;

    TRY(cull_arrays_open(path, &file));
    TRY(cull_arrays_get(file, NULL, &array));
    if (array.dims != 1 || (array.dtype != CULL_F32 && array.dtype != CULL_F64))
        FAIL_OPTION("score.irreducible", "%s: not one float for each example", path);
    TRY(cull_base_alloc(set->count, sizeof *known, "irreducible losses", &known));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t origin = set->origin[i];

        if (origin >= (uint64_t)array.shape[0])
            FAIL_OPTION("score.irreducible",
                        "%s: %lld losses, too few: example %u of the set's files is "
                        "trained, and each has one, in their order",
                        path, (long long)array.shape[0], origin);
        known[i] = cull_tensor_get(&array, origin);
        if (!isfinite(known[i]))
            FAIL_OPTION("score.irreducible", "%s: the loss of example %u is not finite", path,
                        origin);
    }
    TRY(cull_kit_allocate(&s->kit, set->count, sizeof *known, "irreducible losses",
                          &s->irreducible));
    TRY(cull_backend_upload(s->backend, s->irreducible, known, set->count * sizeof *known));
done:
    cull_base_free(known);
    cull_arrays_close(file);
    return status;
}

cull_status cull_scorer_open(const cull_train_setup *setup, cull_learner *learner,
                             cull_resident *pool, cull_resident *validation, cull_data_form form,
                             cull_scorer *s)
{
    cull_status status = CULL_OK;

    s->setup = setup;
    s->backend = s->kit.backend = learner->backend;
    s->trouble = learner->trouble;
    s->letter = &learner->letter;
    s->pool = pool;
    s->validation = validation;
    s->form = form;
    s->plans = &learner->plans;
    if (form.dtype == CULL_I32 && setup->score.scale < 1)
        FAIL_OPTION("score.scale", "texts are no images that could be smaller");
    if (form.dtype == CULL_I32 && setup->score.pipelined)
        FAIL_OPTION("score.pipelined", "texts are scored in order with all else");
    if (setup->score.proxy)
        TRY(make_proxy(s, learner));
    else if (setup->score.scale < 1)
        TRY(make_small(s, learner));
    if (setup->score.irreducible) TRY(read_irreducible(s));
    if (!setup->score.pipelined) goto done;
    if (!cull_backend_on_host(s->backend))
        FAIL_OPTION("score.pipelined", "backend %s scores in order with all else",
                    s->backend->class->name);
    TRY(cull_pipeline_open(setup, learner, cull_data_row(pool->set), &s->pipeline));
done:
    return status;
}

static void clear_aim(cull_backend *backend, cull_aim *aim)
{
    cull_signal_room_clear(&aim->signals);
    cull_rows_clear(backend, &aim->rows);
    cull_base_free(aim->place);
    cull_base_free(aim->scratch);
    *aim = (cull_aim){0};
}

void cull_scorer_forget_aim(cull_scorer *s)
{
    clear_aim(s->backend, &s->aim);
}

void cull_scorer_close(cull_scorer *s)
{
    cull_pipeline_close(s->pipeline);
    clear_aim(s->backend, &s->aim);
    cull_plans_clear(&s->own);
    cull_optim_destroy(s->optim);
    cull_nn_params_destroy(s->params);
    cull_nn_model_destroy(s->model);
    cull_kit_clear(&s->kit);
    *s = (cull_scorer){0};
}

/* What was scored ahead; weights, averages and momenta of a proxy. */
cull_status cull_scorer_save(const cull_scorer *s, cull_writer *out)
{
    cull_status status = CULL_OK;
    cull_params host = {0};

    if (s->pipeline) TRY(cull_pipeline_save(s->pipeline, out));
    if (!s->params) return CULL_OK;
    TRY(cull_nn_params_borrow(s->params, &host));
    TRY(cull_write(out, host.value, host.count * sizeof(float)));
    TRY(cull_write(out, host.running, host.running_count * sizeof(float)));
    TRY(cull_optim_save(s->optim, out));
done:
    if (s->params) cull_nn_params_drop(s->params, &host);
    return status;
}

cull_status cull_scorer_restore(cull_scorer *s, cull_reader *in)
{
    cull_status status = CULL_OK;
    cull_params host = {0};

    if (s->pipeline) TRY(cull_pipeline_restore(s->pipeline, s->pool->set->count, in));
    if (!s->params) return CULL_OK;
    TRY(cull_nn_params_borrow(s->params, &host));
    TRY(cull_read(in, host.value, host.count * sizeof(float)));
    TRY(cull_read(in, host.running, host.running_count * sizeof(float)));
    TRY(cull_nn_params_return(s->params, &host));
    TRY(cull_optim_restore(s->optim, in));
done:
    if (s->params) cull_nn_params_drop(s->params, &host);
    return status;
}

void cull_scorer_count(const cull_scorer *s, size_t examples, size_t length, cull_meter *meter)
{
    meter->scored += examples;
    meter->tokens_scored += examples * length;
    if (s->params) {
        meter->proxy += examples;
    } else {
        meter->thirds += examples;
        meter->token_thirds += examples * length;
    }
}

cull_status cull_scorer_inputs(cull_scorer *s, const cull_plan *plan, size_t count,
                               const void **inputs)
{
    const cull_dataset *set = s->pool->set;
    cull_status         status = CULL_OK;
    cull_data_form      form = {0};
    cull_op_args        args = {.resize = {.how = {.channels = set->channels,
                                                   .height = set->height,
                                                   .width = set->width,
                                                   .to_height = (size_t)s->height,
                                                   .to_width = (size_t)s->width,
                                                   .channels_last = s->form.channels_last},
                                           .from = *inputs,
                                           .count = count}};
    cull_resize        *how = &args.resize.how;

    if (!s->model) return CULL_OK;
    TRY(cull_plan_form(plan, &form));
    how->to_channels_last = form.channels_last;
    if (how->to_height == how->height && how->to_width == how->width &&
        (form.channels_last == s->form.channels_last || how->channels == 1))
        return CULL_OK;
    TRY(cull_kit_grow(&s->kit, count,
                      how->channels * how->to_height * how->to_width * sizeof *s->small,
                      "images to score", &s->small_room, &s->small));
    args.resize.to = s->small;
    TRY(cull_kit_run(&s->kit, CULL_OP_RESIZE, 0, &args));
    *inputs = s->small;
done:
    return status;
}

cull_status cull_scorer_learn(cull_scorer *s, const cull_batch *batch, cull_meter *meter)
{
    cull_status  status = CULL_OK;
    cull_batch   own = *batch;
    cull_plan   *plan = NULL;
    cull_signals trained = {0};

    if (!s->params) return CULL_OK;
    TRY(cull_plans_get(s->plans, CULL_PLAN_LEARN, own.count, own.length, s->setup->loss, &plan));
    TRY(cull_scorer_inputs(s, plan, own.count, &own.inputs));
    TRY(cull_nn_learn(plan, &own, &trained));
    TRY(cull_optim_update(s->optim, own.now, s->params->value, s->params->gradient, s->trouble));
    meter->proxy += 3 * own.count;
    cull_meter_lap(meter, CULL_PHASE_SCORE);
done:
    return status;
}

void cull_scorer_repeat(cull_scorer *s)
{
    if (s->optim) s->optim->steps++;
}
