/* train/plans.c - a small cache of plans. */
#include "train/plans.h"

static bool is_same(const cull_plans *p, size_t i, cull_plan_mode mode, size_t batch, size_t length,
                    cull_loss loss)
{
    return p->entry[i].mode == mode && p->entry[i].batch == batch && p->entry[i].length == length &&
           p->entry[i].loss.kind == loss.kind && p->entry[i].loss.smoothing == loss.smoothing;
}

/* Does it read tokens? Then it has lengths. */
static bool has_lengths(const cull_plans *p)
{
    return p->model->node[0].dtype == CULL_I32;
}

/* How many are kept. */
static size_t room_of(const cull_plans *p)
{
    if (has_lengths(p)) return CULL_SEQUENCE_PLANS;
    return p->many ? CULL_NETWORK_PLANS : CULL_TRAIN_PLANS;
}

/* Where a new plan goes: behind the others, or to the one that was not used for longest. */
static size_t make_room(cull_plans *p)
{
    size_t oldest = 0;

    if (p->count < room_of(p)) return p->count++;
    for (size_t i = 1; i < p->count; i++)
        if (p->entry[i].used < p->entry[oldest].used) oldest = i;
    cull_nn_plan_destroy(p->entry[oldest].plan);
    p->entry[oldest].plan = NULL;
    return oldest;
}

/* The model at this length, which stays as long as the plans do. */
static cull_status model_at(cull_plans *p, size_t length, const cull_model **out)
{
    cull_status status = CULL_OK;

    *out = p->model;
    if (length == 0 || length == (size_t)p->model->input.h) goto done;
    for (size_t i = 0; i < p->shorts; i++)
        if ((size_t)p->shorter[i]->input.h == length) {
            *out = p->shorter[i];
            goto done;
        }
    if (p->shorts == CULL_SEQUENCE_PLANS)
        FAIL(CULL_UNSUPPORTED, "sequences of more than %d lengths", CULL_SEQUENCE_PLANS);
    TRY(cull_nn_model_at(p->model, (int64_t)length, &p->shorter[p->shorts]));
    *out = p->shorter[p->shorts++];
done:
    return status;
}

static cull_status make_plan(cull_plans *p, cull_plan_mode mode, size_t batch, size_t length,
                             cull_loss loss, cull_plan **out)
{
    cull_status       status = CULL_OK;
    const cull_model *model = NULL;
    cull_plan_room   *room = has_lengths(p) ? &p->room[mode] : NULL;

    if (room) room->backend = p->backend;
    TRY(model_at(p, length, &model));
    TRY(cull_nn_plan_create_in(room, model, p->params, p->backend, mode, batch, loss, out));
    if (p->constants) cull_nn_plan_constants(*out);
done:
    return status;
}

cull_status cull_plans_get(cull_plans *p, cull_plan_mode mode, size_t batch, size_t length,
                           cull_loss loss, cull_plan **out)
{
    cull_status status = CULL_OK;
    size_t      i = 0;

    if (length == 0 && has_lengths(p)) length = (size_t)p->model->input.h;
    while (i < p->count && !is_same(p, i, mode, batch, length, loss)) i++;
    if (i == p->count) {
        i = make_room(p);
        /* Until it is made, nothing is to be found here. */
        p->entry[i].batch = 0;
        p->entry[i].used = 0;
        TRY(make_plan(p, mode, batch, length, loss, &p->entry[i].plan));
        p->entry[i].mode = mode;
        p->entry[i].batch = batch;
        p->entry[i].length = length;
        p->entry[i].loss = loss;
    }
    p->entry[i].used = ++p->clock;
    *out = p->entry[i].plan;
done:
    return status;
}

size_t cull_plans_bytes(const cull_plans *p)
{
    size_t bytes = 0;

    for (size_t i = 0; i < p->count; i++)
        if (p->entry[i].plan) bytes += cull_nn_plan_bytes(p->entry[i].plan);
    for (size_t m = 0; m < CULL_PLAN_MODES; m++) bytes += p->room[m].all;
    return bytes;
}

void cull_plans_drop(cull_plans *p)
{
    for (size_t i = 0; i < p->count; i++) cull_nn_plan_destroy(p->entry[i].plan);
    for (size_t i = 0; i < p->shorts; i++) cull_nn_model_destroy(p->shorter[i]);
    for (size_t m = 0; m < CULL_PLAN_MODES; m++) cull_nn_plan_room_clear(&p->room[m]);
    p->count = p->shorts = 0;
}

void cull_plans_clear(cull_plans *p)
{
    cull_plans_drop(p);
    *p = (cull_plans){0};
}

static cull_status form_of(cull_image image, cull_dtype dtype, cull_data_form *out)
{
    *out = (cull_data_form){.dtype = dtype, .channels_last = image.block == image.c};
    if (image.block == 1 || image.block == image.c) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED, "inputs in blocks of %lld channels", (long long)image.block);
}

cull_status cull_plan_form(const cull_plan *plan, cull_data_form *out)
{
    return form_of(cull_nn_plan_input(plan), cull_nn_plan_dtype(plan), out);
}

cull_status cull_model_form(const cull_model *model, const cull_params *params, cull_data_form *out)
{
    cull_dtype tokens = model->node[0].dtype;

    return form_of(cull_nn_model_input(model, params->backend),
                   tokens ? tokens : cull_nn_plan_values(params, CULL_PLAN_LEARN), out);
}
