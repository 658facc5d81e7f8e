/* train/plans.c - a small cache of plans. */
#include "train/plans.h"

static size_t find(const cull_plans *p, cull_plan_mode mode, size_t batch, cull_loss loss)
{
    size_t i = 0;

    while (i < p->count &&
           (p->entry[i].mode != mode || p->entry[i].batch != batch ||
            p->entry[i].loss.kind != loss.kind || p->entry[i].loss.smoothing != loss.smoothing))
        i++;
    return i;
}

/* Where a new plan goes: behind the others, or to the one that was not used for longest. */
static size_t make_room(cull_plans *p)
{
    size_t oldest = 0;

    if (p->count < (p->many ? CULL_NETWORK_PLANS : CULL_TRAIN_PLANS)) return p->count++;
    for (size_t i = 1; i < p->count; i++)
        if (p->entry[i].used < p->entry[oldest].used) oldest = i;
    cull_nn_plan_destroy(p->entry[oldest].plan);
    p->entry[oldest].plan = NULL;
    return oldest;
}

cull_status cull_plans_get(cull_plans *p, cull_plan_mode mode, size_t batch, cull_loss loss,
                           cull_plan **out)
{
    cull_status status = CULL_OK;
    size_t      i = find(p, mode, batch, loss);

    if (i == p->count) {
        i = make_room(p);
        /* Until it is made, nothing is to be found here. */
        p->entry[i].batch = 0;
        p->entry[i].used = 0;
        TRY(cull_nn_plan_create(p->model, p->params, p->backend, mode, batch, loss,
                                &p->entry[i].plan));
        if (p->constants) cull_nn_plan_constants(p->entry[i].plan);
        p->entry[i].mode = mode;
        p->entry[i].batch = batch;
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
    return bytes;
}

void cull_plans_drop(cull_plans *p)
{
    for (size_t i = 0; i < p->count; i++) cull_nn_plan_destroy(p->entry[i].plan);
    p->count = 0;
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
    return form_of(cull_nn_model_input(model, params->backend),
                   cull_nn_plan_values(params, CULL_PLAN_LEARN), out);
}
