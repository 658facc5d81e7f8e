/* train/prepare.c - everything a run needs, opened and checked before its first step. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "data/split.h"
#include "data/strata.h"
#include "train/folder/weights.h"
#include "train/network/network.h"
#include "train/train.h"

static bool corrupts(const cull_data_corruption *c)
{
    return c->imbalance > 0 || c->label_noise > 0 || c->duplicates > 1;
}

/* What a recipe calls its program's own must have been brought. */
static cull_status check_own(const cull_train_setup *s)
{
    cull_status status = CULL_OK;
    bool        train = s->own_data[CULL_DATA_TRAIN].x.data != NULL;

    if (!s->own_model && cull_train_is_own(s->model))
        FAIL(CULL_BAD_OPTION, "model.name=%s: only the program that made this model can bring it",
             s->model);
    if (!train && cull_train_is_own(s->data))
        FAIL(CULL_BAD_OPTION, "data.name=%s: only the program that has these arrays can bring them",
             s->data);
    if (!s->own_data[CULL_DATA_TEST].x.data && s->test && cull_train_is_own(s->test))
        FAIL(CULL_BAD_OPTION, "data.test=%s: only the program that has these arrays can bring them",
             s->test);
    if (s->own_model && s->score.scale < 1)
        FAIL(CULL_BAD_OPTION, "score.scale: a model of a program's own is known at one size only");
    if (train && !s->test)
        FAIL(CULL_BAD_OPTION, "data.test: arrays to train on bring no test set; give one too");
done:
    return status;
}

/* What is tried on a part of the data has a validation set in proportion. */
static cull_status take_subset(cull_dataset *set, const char *which, const cull_train_setup *s)
{
    cull_status   status = CULL_OK;
    cull_dataset *left_out = NULL;

    if (set->count < 2 || cull_data_share(1 - s->subset, set->count) == set->count)
        FAIL(CULL_BAD_OPTION, "data.subset: %g leaves none of the %zu %s examples", s->subset,
             set->count, which);
    TRY(cull_data_split(set, 1 - s->subset, s->seed, &left_out));
done:
    cull_data_close(left_out);
    return status;
}

static cull_status open_data(cull_trainer *t)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;

    if (s->own_data[CULL_DATA_TRAIN].x.data)
        TRY(cull_data_take(s->data, &s->own_data[CULL_DATA_TRAIN].x,
                           &s->own_data[CULL_DATA_TRAIN].y, &t->train));
    else
        TRY(cull_data_open(s->data, CULL_DATA_TRAIN, s->root, &t->train));
    if (s->own_data[CULL_DATA_TEST].x.data)
        TRY(cull_data_take(s->test, &s->own_data[CULL_DATA_TEST].x, &s->own_data[CULL_DATA_TEST].y,
                           &t->test));
    else if (s->test)
        TRY(cull_data_open(s->test, CULL_DATA_TRAIN, s->root, &t->test));
    else
        TRY(cull_data_open(s->data, CULL_DATA_TEST, s->root, &t->test));
    if (s->validation > 0) TRY(cull_data_split(t->train, s->validation, s->seed, &t->validation));
    if (s->subset > 0 && s->subset < 1) {
        TRY(take_subset(t->train, "training", s));
        if (t->validation) TRY(take_subset(t->validation, "validation", s));
    }
    TRY(cull_data_adopt(t->test, t->train));
    if (corrupts(&s->corruption)) TRY(cull_data_corrupt(&t->train, &s->corruption, &t->corruption));
done:
    return status;
}

/* A model of the program's own must read these examples and know their classes. */
static cull_status take_model(cull_trainer *t)
{
    const cull_model *own = t->setup->own_model;
    cull_status       status = CULL_OK;

    if ((size_t)own->input.c != t->train->channels || (size_t)own->input.h != t->train->height ||
        (size_t)own->input.w != t->train->width)
        FAIL(CULL_BAD_ARGUMENT, "%s takes inputs of %lldx%lldx%lld, %s has %zux%zux%zu", own->name,
             (long long)own->input.c, (long long)own->input.h, (long long)own->input.w,
             t->train->name, t->train->channels, t->train->height, t->train->width);
    if (own->classes < t->train->classes)
        FAIL(CULL_BAD_ARGUMENT, "%s tells %zu classes apart, %s has %zu", own->name, own->classes,
             t->train->name, t->train->classes);
    TRY(cull_nn_model_copy(own, &t->model));
done:
    return status;
}

static cull_status name_model(cull_trainer *t)
{
    cull_status        status = CULL_OK;
    cull_model_options options = t->setup->model_options;
    char               why[256];

    options.channels = (int64_t)t->train->channels;
    options.height = (int64_t)t->train->height;
    options.width = (int64_t)t->train->width;
    options.classes = t->train->classes;
    status = cull_nn_model_by_name(t->setup->model, &options, &t->model);
    if (status == CULL_BAD_ARGUMENT) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(status, "model.name=%s does not fit inputs of %lldx%lldx%lld: %s", t->setup->model,
             (long long)options.channels, (long long)options.height, (long long)options.width, why);
    }
done:
    return status;
}

static cull_status make_model(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(t->setup->own_model ? take_model(t) : name_model(t));
    TRY(cull_nn_params_create(t->backend, t->model, CULL_F32, &t->params));
    TRY(cull_nn_params_init(t->params, t->model, t->setup->seed));
    t->plans = (cull_plans){.model = t->model,
                            .params = t->params,
                            .backend = t->backend,
                            .constants = t->setup->score.constants};
done:
    return status;
}

cull_status cull_trainer_begin(cull_trainer *t)
{
    if (!t->setup->init || t->progress.init_hash) return CULL_OK;
    return cull_weights_begin(t->setup->init, t->model, t->params, &t->progress.init_hash);
}

cull_status cull_trainer_plan(cull_trainer *t, cull_plan_mode mode, size_t batch, cull_plan **out)
{
    /* Losses that are reported have no smoothing in them. */
    double smoothing = mode == CULL_PLAN_SCORE ? 0 : t->setup->smoothing;

    return cull_plans_get(&t->plans, mode, batch, smoothing, out);
}

cull_status cull_trainer_form(const cull_plan *plan, cull_data_form *out)
{
    cull_image image = cull_nn_plan_input(plan);

    *out = (cull_data_form){.dtype = CULL_F32, .channels_last = image.block == image.c};
    if (image.block != 1 && image.block != image.c)
        return cull_fail(CULL_UNSUPPORTED, "inputs in blocks of %lld channels",
                         (long long)image.block);
    return CULL_OK;
}

/* A shortened run decays as far as a whole one: what is counted in epochs shrinks with it. Counted
 * in trained examples, a shape covers as many as are expected. */
static cull_status make_schedule(cull_trainer *t)
{
    cull_status    status = CULL_OK;
    cull_schedule *c = &t->schedule;
    double         steps = (double)c->steps_per_epoch, shorten = t->setup->shorten;
    double         total = t->length * steps;
    const char    *why_few = "";

    if (t->epochs < t->setup->epochs) why_few = ": the strategy or train.shorten makes them fewer";
    if (t->setup->count_trained) why_few = ": schedule.count=trained counts fewer";
    if (t->setup->count_trained && t->expected.fixed)
        total =
            t->expected.trained * steps / (double)t->train->count * t->length / (double)t->epochs;
    c->steps = (uint64_t)fmax(1, round(total));
    c->warmup = (uint64_t)llround(t->setup->warmup * shorten * steps);
    if (c->warmup >= c->steps)
        FAIL(CULL_BAD_OPTION, "schedule.warmup: %g epochs are %llu steps, but all are %llu%s",
             t->setup->warmup * shorten, (unsigned long long)c->warmup,
             (unsigned long long)c->steps, why_few);
    for (size_t i = 0; i < c->milestones; i++) c->milestone[i] *= shorten;
    TRY(cull_schedule_check(c));
done:
    return status;
}

uint64_t cull_train_epochs(const cull_train_setup *s)
{
    return (uint64_t)ceil(s->shorten * (double)s->epochs * (1 - 1e-12));
}

double cull_train_length(const cull_train_setup *s, const cull_selector *selector)
{
    double epochs = (double)cull_selector_epochs(selector);

    return s->shorten < 1 ? fmin(s->shorten * (double)s->epochs, epochs) : epochs;
}

static cull_status make_selector(cull_trainer *t)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {.pool = t->train->count,
                            .batch = t->setup->batch,
                            .epochs = cull_train_epochs(t->setup),
                            .seed = t->setup->seed,
                            .backend = t->backend};

    TRY(cull_selector_create(t->setup->strategy, t->setup->select, t->setup->selects, &setting,
                             &t->selector));
    t->epochs = cull_selector_epochs(t->selector);
    t->length = cull_train_length(t->setup, t->selector);
done:
    return status;
}

/* A reading that will never be made would be waited for in vain. */
static cull_status check_moments(const cull_trainer *t)
{
    const cull_train_setup *s = t->setup;
    double                  last = s->moments ? s->moment[s->moments - 1] : 0;

    if (last <= t->length) return CULL_OK;
    return cull_fail(
        CULL_BAD_OPTION,
        "train.evaluate_at: %g lies behind the run's end, after %g "
        "epoch%s%s",
        last, t->length, t->length == 1 ? "" : "s",
        t->length < (double)s->epochs ? ": the strategy or train.shorten makes them fewer" : "");
}

static cull_status make_learning(cull_trainer *t)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;

    if (s->batch > t->train->count)
        FAIL(CULL_BAD_OPTION, "train.batch=%zu, the training set has %zu examples", s->batch,
             t->train->count);
    TRY(cull_data_order_init(&t->order, t->train->count, s->batch, s->drop_short, s->seed));
    TRY(cull_tally_create(t->train->count, &t->tally));
    cull_data_order_epoch(&t->order, 0, NULL, t->train->count);
    t->schedule = s->schedule;
    t->schedule.steps_per_epoch = cull_data_order_batches(&t->order);
    TRY(make_selector(t));
    TRY(check_moments(t));
    TRY(cull_optim_create(&s->optim, t->params->dtype, t->params->count, t->backend, &t->optim));
    if (!s->decay_all) TRY(cull_train_exempt(t->model, t->optim));
    TRY(cull_scorer_open(t));
    TRY(cull_train_expect(t));
    TRY(make_schedule(t));
    TRY(cull_trainer_form(t->plans.entry[0].plan, &t->form));
    if (s->augments) TRY(cull_data_augment_check(&s->augment, t->form, t->train));
done:
    return status;
}

cull_status cull_trainer_create(const cull_train_setup *setup, bool learns, cull_trainer **out)
{
    cull_status   status = CULL_OK;
    cull_trainer *t = NULL;

    TRY(cull_base_alloc(1, sizeof *t, "a trainer", &t));
    t->setup = setup;
    t->metrics.fd = t->events.fd = -1;
    t->progress.best = t->progress.accuracy = t->progress.watched = NAN;
    t->progress.test = t->progress.test_loss = NAN;
    TRY(check_own(setup));
    TRY(cull_backend_open(setup->backend, setup->threads, &t->backend));
    cull_energy_open(CULL_ENERGY_ROOT, CULL_ENERGY_NVML,
                     t->backend->bus[0] ? t->backend->bus : NULL, &t->energy);
    if (t->energy.count) t->meter.energy = &t->energy;
    if (setup->score.int8 && !cull_layer_int8(t->backend))
        FAIL(CULL_BAD_OPTION, "score.precision: backend %s has no int8", setup->backend);
    TRY(open_data(t));
    TRY(make_model(t));
    if (learns) TRY(make_learning(t));
    *out = t;
    t = NULL;
done:
    cull_trainer_destroy(t);
    return status;
}

void cull_trainer_destroy(cull_trainer *t)
{
    if (!t) return;
    cull_data_loader_destroy(t->loader);
    cull_data_order_clear(&t->order);
    cull_walk_clear(&t->walk);
    cull_rows_clear(&t->rows);
    cull_subset_clear(&t->chosen);
    cull_subset_clear(&t->pool);
    cull_tally_clear(&t->tally);
    cull_pipeline_close(t->pipeline);
    cull_scorer_close(&t->scorer);
    cull_plans_clear(&t->plans);
    cull_optim_destroy(t->optim);
    cull_selector_destroy(t->selector);
    cull_nn_params_destroy(t->params);
    cull_nn_model_destroy(t->model);
    cull_data_record_clear(&t->corruption);
    cull_data_close(t->train);
    cull_data_close(t->validation);
    cull_data_close(t->test);
    cull_train_log_close(&t->metrics);
    cull_train_log_close(&t->events);
    cull_json_clear(&t->json);
    cull_energy_close(&t->energy);
    cull_backend_close(t->backend);
    cull_base_free(t);
}
