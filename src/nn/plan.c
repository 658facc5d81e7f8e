/* nn/plan.c - making a plan: steps, operations, memory; and running it. */
#include "nn/plan.h"

#include <string.h>

#include "base/alloc.h"

static cull_status make_operations(cull_plan *plan)
{
    cull_status     status = CULL_OK;
    cull_image      logits = plan->value[plan->model->last_dense].image;
    cull_layer_desc loss = {.kind = CULL_LAYER_LOSS,
                            .dtype = plan->wide,
                            .repeatable = plan->params->arithmetic.repeatable,
                            .x = logits,
                            .y = logits,
                            .loss = plan->loss_of,
                            .learn = cull_plan_learns(plan->mode)};

    for (int s = 0; s < plan->steps; s++) {
        cull_step *step = &plan->step[s];

        step->desc.learn = cull_plan_learns(plan->mode);
        step->desc.input_gradient = step->desc.learn && cull_plan_home(plan, step->in[0])->carries;
        step->desc.beside = step->desc.learn && cull_layer_beside(plan->backend, &step->desc);
        step->desc.int8 =
            plan->mode == CULL_PLAN_SCORE_INT8 && cull_plan_home(plan, step->in[0])->positive;
        TRY(cull_layer_create(plan->backend, &step->desc, &step->op));
    }
    TRY(cull_layer_create(plan->backend, &loss, &plan->loss_op));
    if (plan->mode != CULL_PLAN_LEARN_FROM_KEPT) goto done;
    TRY(cull_kit_ready(&plan->kit, CULL_OP_GATHER_ALL, 0));
    TRY(cull_kit_ready(&plan->kit, CULL_OP_KEPT, 0));
    TRY(cull_base_alloc((size_t)plan->values + 2 * (size_t)plan->steps, sizeof *plan->gathered,
                        "a plan", &plan->gathered));
done:
    return status;
}

/* Do the parameters of step s and those behind it lie behind others, all of them? `from`: the
 * first. */
static bool cuts_weights(const cull_plan *plan, int s, size_t *from)
{
    size_t before = 0;

    *from = plan->model->param_count;
    for (int t = 0; t < plan->steps; t++)
        for (int k = 0; k < plan->step[t].node->params; k++) {
            size_t at = plan->step[t].node->param_at[k];

            if (t < s && at >= before) before = at + 1;
            if (t >= s && at < *from) *from = at;
        }
    return before > 0 && before <= *from && *from < plan->model->param_count;
}

/* Half of the way back is left then, in which most weights are changed: those of a network's later
 * layers, which are the larger ones. Not worth it where they are few. */
static void find_turn(cull_plan *plan)
{
    size_t from = 0;

    plan->turn = -1;
    if (!cull_plan_learns(plan->mode) || !cull_layer_turns(plan->backend)) return;
    for (int s = plan->steps / 2; s > 0 && s < plan->steps && plan->turn < 0; s++) {
        if (!cull_plan_home(plan, plan->step[s].out)->carries || !cuts_weights(plan, s, &from))
            continue;
        if (plan->model->param_count - from < plan->model->param_count / 4) return;
        plan->turn = s;
        plan->later = from;
    }
}

const char *cull_nn_lone_norm(const cull_model *model)
{
    for (int i = 1; i < model->nodes; i++) {
        const cull_layer_desc *d = &model->node[i].desc;

        if (d->kind == CULL_LAYER_BATCHNORM && d->x.h * d->x.w == 1) return model->node[i].name;
    }
    return NULL;
}

/* One value less its mean is nothing but rounding: a batch that says so little has no statistics.
 */
cull_status cull_nn_check_statistics(const cull_model *model, size_t batch)
{
    const char *norm = batch == 1 ? cull_nn_lone_norm(model) : NULL;

    if (!norm) return CULL_OK;
    return cull_fail(
        CULL_BAD_ARGUMENT,
        "%s: batchnorm %s sees one value a channel in a batch of one example, which has no "
        "variance; batches of at least 2 examples are needed",
        model->name, norm);
}

cull_status cull_nn_plan_create(const cull_model *model, cull_params *params, cull_backend *backend,
                                cull_plan_mode mode, size_t batch, cull_loss loss, cull_plan **out)
{
    return cull_nn_plan_create_in(NULL, model, params, backend, mode, batch, loss, out);
}

cull_status cull_nn_plan_create_in(cull_plan_room *room, const cull_model *model,
                                   cull_params *params, cull_backend *backend, cull_plan_mode mode,
                                   size_t batch, cull_loss loss, cull_plan **out)
{
    cull_status status = CULL_OK;
    cull_plan  *plan = NULL;

    if (batch < 1 || batch > 1 << 24) FAIL(CULL_BAD_ARGUMENT, "a plan for %zu examples", batch);
    if (model->last_dense < 1)
        FAIL(CULL_BAD_ARGUMENT, "%s: the model is not finished", model->name);
    if (mode == CULL_PLAN_SCORE_INT8 && !cull_layer_int8(backend))
        FAIL(CULL_UNSUPPORTED, "networks on the %s backend have no int8", backend->class->name);
    if (mode == CULL_PLAN_SCORE_BF16) TRY(cull_nn_params_narrow(params));
    TRY(cull_base_alloc(1, sizeof *plan, "a plan", &plan));
    plan->model = model;
    plan->params = params;
    plan->backend = plan->kit.backend = backend;
    plan->room = room;
    plan->mode = mode;
    plan->batch = batch;
    plan->values_in = cull_nn_plan_values(params, mode);
    plan->wide = params->dtype;
    plan->loss_of = loss;
    plan->target_bytes = cull_loss_target(loss.kind, model->classes, plan->wide);
    TRY(cull_plan_make_steps(plan));
    if (mode == CULL_PLAN_LEARN || mode == CULL_PLAN_SCORE_AND_KEEP)
        TRY(cull_nn_check_statistics(plan->model, plan->batch));
    TRY(make_operations(plan));
    TRY(cull_plan_make_memory(plan));
    find_turn(plan);
    *out = plan;
    plan = NULL;
done:
    cull_nn_plan_destroy(plan);
    return status;
}

void cull_nn_plan_destroy(cull_plan *plan)
{
    if (!plan) return;
    for (int s = 0; s < plan->steps; s++) cull_layer_destroy(plan->step[s].op);
    cull_layer_destroy(plan->loss_op);
    cull_kit_clear(&plan->kit);
    cull_base_free(plan->gathered);
    cull_base_free(plan->value);
    cull_base_free(plan->step);
    cull_base_free(plan);
}

cull_dtype cull_nn_plan_values(const cull_params *params, cull_plan_mode mode)
{
    if (mode == CULL_PLAN_SCORE_BF16) return CULL_BF16;
    return params->arithmetic.values ? params->arithmetic.values : params->dtype;
}

cull_image cull_nn_plan_input(const cull_plan *plan)
{
    return plan->value[0].image;
}

cull_dtype cull_nn_plan_dtype(const cull_plan *plan)
{
    const cull_node *input = &plan->model->node[0];

    return input->dtype ? input->dtype : plan->values_in;
}

void cull_nn_plan_meanwhile(cull_plan *plan, const cull_nn_meanwhile *meanwhile)
{
    plan->meanwhile = meanwhile;
}

void cull_nn_plan_constants(cull_plan *plan)
{
    plan->constants = true;
}

const void *cull_nn_plan_logits(const cull_plan *plan)
{
    return plan->value[plan->value[plan->model->last_dense].home].data;
}

const void *cull_nn_plan_target(const cull_plan *plan)
{
    return plan->target;
}

cull_loss cull_nn_plan_loss(const cull_plan *plan)
{
    return plan->loss_of;
}

size_t cull_nn_plan_bytes(const cull_plan *plan)
{
    return plan->bytes;
}

const char *cull_nn_plan_implementation(const cull_plan *plan, size_t i)
{
    return i < (size_t)plan->steps ? plan->step[i].op->implementation : NULL;
}

/* Let the steps that read an input of the model read this memory. */
static void bind_input(cull_plan *plan, int node, const void *data)
{
    int home = plan->value[node].home;

    plan->value[home].data = (char *)(uintptr_t)data;
    for (int s = 0; s < plan->steps; s++) {
        cull_step *step = &plan->step[s];

        if (plan->value[step->in[0]].home == home) step->args.x = data;
        if (step->inputs > 1 && plan->value[step->in[1]].home == home) step->args.x2 = data;
    }
}

/* By what number it is told whether what was lent is still there. */
static const uint64_t *passes_of(const cull_plan *plan)
{
    return plan->room ? &plan->room->runs : &plan->runs;
}

static void count_run(cull_plan *plan)
{
    plan->runs++;
    if (plan->room) plan->room->runs++;
}

/* What the latest batch is; nothing of it is copied. */
static cull_status take_batch(cull_plan *plan, const cull_batch *batch)
{
    cull_status status = CULL_OK;

    if (batch->count != plan->batch)
        FAIL(CULL_BAD_ARGUMENT, "a plan for %zu examples is given %zu", plan->batch, batch->count);
    count_run(plan);
    plan->target = batch->target;
    plan->place = batch->place ? batch->place : plan->order;
    plan->run_step = batch->step;
    plan->run_epoch = batch->epoch;
    plan->run_key = batch->key;
    plan->now = batch->now;
    for (int i = 0; i < plan->model->inputs; i++)
        bind_input(plan, plan->model->input_node[i], i ? batch->more[i - 1] : batch->inputs);
done:
    return status;
}

static cull_status forward(cull_plan *plan, const cull_batch *batch, cull_statistics statistics)
{
    cull_status     status = CULL_OK;
    cull_value     *logits = cull_plan_home(plan, plan->model->last_dense);
    cull_layer_args loss = {.x = logits->data,
                            .dx = plan->mode == CULL_PLAN_LEARN ? logits->gradient : NULL,
                            .target = plan->target,
                            .place = plan->place,
                            .weight = batch->weight,
                            .scale = 1 / (double)plan->batch,
                            .loss = plan->loss,
                            .p = plan->p};

    for (int s = 0; s < plan->steps; s++) {
        cull_step *step = &plan->step[s];

        step->args.statistics = statistics;
        step->args.key = plan->run_key;
        /* every dropout its own mask, the same whatever a backend fuses */
        step->args.key.word[1] ^= (uint32_t)(step->node - plan->model->node);
        step->args.step = plan->run_step;
        step->args.now = plan->now;
        step->args.place = plan->place;
        TRY(step->op->class->forward(step->op, &step->args));
    }
    TRY(plan->loss_op->class->forward(plan->loss_op, &loss));
done:
    return status;
}

static cull_status do_meanwhile(const cull_plan *plan, const cull_signals *trained)
{
    cull_status              status = CULL_OK;
    const cull_nn_meanwhile *m = plan->meanwhile;

    TRY(m->known(m->context, plan, trained));
    status = cull_layer_turn_aside(plan->backend);
    if (status == CULL_OK) status = m->later(m->context, plan->later);
    cull_layer_turn_back(plan->backend);
done:
    return status;
}

static cull_status backward(cull_plan *plan, const double *row_weight, const cull_signals *trained)
{
    cull_status status = CULL_OK;

    for (int s = plan->steps - 1; s >= 0; s--) {
        cull_step *step = &plan->step[s];

        if (!cull_plan_home(plan, step->out)->carries) continue;
        step->args.row_weight = row_weight;
        TRY(step->op->class->backward(step->op, &step->args));
        if (s == plan->turn && plan->meanwhile) TRY(do_meanwhile(plan, trained));
    }
    TRY(cull_layer_join(plan->backend));
done:
    return status;
}

static cull_tensor lying_on(const cull_plan *plan, cull_tensor t)
{
    t.device = cull_backend_device(plan->backend);
    return t;
}

static void give_signals(const cull_plan *plan, unsigned wanted, cull_signals *out)
{
    const cull_model *model = plan->model;
    const cull_value *h = &plan->value[model->node[model->last_dense].input[0]];

    *out = (cull_signals){.count = plan->batch,
                          .place = plan->place,
                          .step = plan->run_step,
                          .epoch = plan->run_epoch,
                          .passes = passes_of(plan),
                          .lent = *passes_of(plan),
                          .device = cull_backend_device(plan->backend)};
    if (wanted & CULL_SIGNAL_LOSS)
        out->loss = lying_on(plan, cull_vector(plan->loss, CULL_F64, plan->batch));
    if (wanted & CULL_SIGNAL_LABEL && plan->loss_of.kind == CULL_LOSS_CROSS_ENTROPY)
        out->label = lying_on(plan, cull_vector(plan->target, CULL_I32, plan->batch));
    if (wanted & CULL_SIGNAL_P)
        out->p = lying_on(plan, cull_matrix(plan->p, plan->wide, plan->batch, model->classes));
    if (wanted & CULL_SIGNAL_H)
        out->h = lying_on(plan, cull_matrix(plan->value[h->home].data, plan->values_in, plan->batch,
                                            (size_t)h->image.c));
}

void cull_nn_repeated(cull_plan *plan, uint64_t step, uint64_t epoch, cull_signals *signals)
{
    count_run(plan);
    plan->run_step = signals->step = step;
    plan->run_epoch = signals->epoch = epoch;
    signals->lent = *passes_of(plan);
}

cull_status cull_nn_score(cull_plan *plan, const cull_batch *batch, cull_statistics statistics,
                          unsigned wanted, cull_signals *signals)
{
    cull_status status = CULL_OK;

    if (!cull_plan_scores(plan->mode) && plan->mode != CULL_PLAN_SCORE_AND_KEEP)
        FAIL(CULL_BAD_ARGUMENT, "this plan does not score");
    if (statistics != CULL_STATS_RUNNING) TRY(cull_nn_check_statistics(plan->model, plan->batch));
    TRY(take_batch(plan, batch));
    TRY(forward(plan, batch, statistics));
    give_signals(plan, wanted, signals);
done:
    return status;
}

cull_status cull_nn_learn(cull_plan *plan, const cull_batch *batch, cull_signals *trained)
{
    cull_status status = CULL_OK;

    if (plan->mode != CULL_PLAN_LEARN) FAIL(CULL_BAD_ARGUMENT, "this plan does not learn");
    TRY(take_batch(plan, batch));
    TRY(forward(plan, batch, CULL_STATS_UPDATE));
    give_signals(plan, CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_P | CULL_SIGNAL_H,
                 trained);
    TRY(backward(plan, NULL, trained));
done:
    return status;
}

/* Rows of everything backward reads, from the plan that scored. What is one for the whole batch is
 * read where it lies: the kept plan does not run before this has gone back. */
static cull_status gather(cull_plan *plan, const cull_plan *kept, const uint32_t *index)
{
    cull_gathered *list = plan->gathered;
    size_t         count = 0;

    for (int v = 0; v < plan->values; v++) {
        size_t row = (size_t)cull_image_row(&plan->value[v].image) * plan->value[v].size;

        if (plan->value[v].home != v || !plan->value[v].kept) continue;
        list[count++] = (cull_gathered){kept->value[v].data, plan->value[v].data, row};
    }
    for (int s = 0; s < plan->steps; s++) {
        cull_step       *to = &plan->step[s];
        const cull_step *from = &kept->step[s];
        size_t           state = to->op->state_row, stats = to->stats_bytes / plan->batch;

        if (state) list[count++] = (cull_gathered){from->args.state, to->args.state, state};
        if (to->op->stats_by_row)
            list[count++] = (cull_gathered){from->args.stats, to->args.stats, stats};
        else
            to->args.stats = from->args.stats;
        to->args.key = from->args.key;
        to->args.step = from->args.step;
        to->args.now = from->args.now;
        to->args.place = plan->own_place;
    }
    return cull_kit_run(&plan->kit, CULL_OP_GATHER_ALL, 0,
                        &(cull_op_args){.gather_all = {.list = list,
                                                       .count = count,
                                                       .index = index,
                                                       .rows = plan->batch,
                                                       .held = kept->batch}});
}

/* dlogits_i = w_i p_i / m, from the p that was kept. */
static cull_status kept_loss(cull_plan *plan, const cull_plan *kept, const cull_subset *subset)
{
    plan->target = plan->own_target;
    plan->place = plan->own_place;
    return cull_kit_run(
        &plan->kit, CULL_OP_KEPT, 0,
        &(cull_op_args){
            .kept = {.rows = plan->batch,
                     .classes = plan->model->classes,
                     .dtype = plan->wide,
                     .index = subset->index,
                     .chosen = subset->weight,
                     .constants = plan->constants,
                     .from_p = kept->p,
                     .from_loss = kept->loss,
                     .from_target = kept->target,
                     .target_bytes = plan->target_bytes,
                     .from_place = kept->place,
                     .p = plan->p,
                     .gradient = cull_plan_home(plan, plan->model->last_dense)->gradient,
                     .loss = plan->loss,
                     .share = plan->share,
                     .target = plan->own_target,
                     .place = plan->own_place}});
}

cull_status cull_nn_learn_kept(cull_plan *plan, cull_plan *kept, const cull_subset *subset,
                               cull_signals *trained)
{
    cull_status status = CULL_OK;

    if (plan->mode != CULL_PLAN_LEARN_FROM_KEPT || kept->mode != CULL_PLAN_SCORE_AND_KEEP ||
        plan->model != kept->model || plan->params != kept->params ||
        plan->backend != kept->backend || plan->loss_of.kind != kept->loss_of.kind)
        FAIL(CULL_BAD_ARGUMENT, "learning from kept rows takes two plans of one model and backend");
    if (subset->count != plan->batch)
        FAIL(CULL_BAD_ARGUMENT, "a plan for %zu examples is given %zu", plan->batch, subset->count);
    count_run(plan);
    TRY(gather(plan, kept, subset->index));
    TRY(kept_loss(plan, kept, subset));
    plan->run_step = kept->run_step;
    plan->run_epoch = kept->run_epoch;
    give_signals(plan, CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_P | CULL_SIGNAL_H,
                 trained);
    TRY(backward(plan, plan->share, trained));
done:
    return status;
}
