/*
 * nn/plan_steps.c - from a model's nodes to the steps of a plan.
 *
 * Chooses the layout of every value, lets go of what changes nothing, and fuses a BatchNorm with
 * the addition and ReLU behind it where the backend can do them in one pass.
 */
#include "base/alloc.h"
#include "nn/plan.h"

static int64_t greatest_common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t cull_nn_plan_common(const cull_model *model, cull_backend *backend)
{
    int64_t common = 0, channels = model->input.c, block = 0;

    for (int i = 1; i < model->nodes; i++)
        if (model->node[i].desc.kind == CULL_LAYER_CONV)
            common = greatest_common(model->node[i].desc.y.c, common);
    if (common) block = cull_layer_block(backend, channels, common);
    if (block != 1 && block != channels) return 1;
    for (int i = 1; i < model->nodes; i++) {
        cull_layer_desc desc = model->node[i].desc;

        desc.input_gradient = model->node[i].input[0] != 0;
        if (desc.kind == CULL_LAYER_CONV && !cull_layer_blocks(backend, &desc)) return 1;
    }
    return common;
}

/* Features are the same memory in every block. */
static int64_t block_of(cull_backend *backend, const cull_image *image, int64_t common)
{
    return image->h * image->w > 1 ? cull_layer_block(backend, image->c, common) : 1;
}

cull_image cull_nn_model_input(const cull_model *model, cull_backend *backend)
{
    cull_image image = model->input;

    image.block = block_of(backend, &image, cull_nn_plan_common(model, backend));
    return image;
}

static void set_layouts(cull_plan *plan)
{
    int64_t common = cull_nn_plan_common(plan->model, plan->backend);

    for (int i = 0; i < plan->values; i++) {
        const cull_node *node = &plan->model->node[i];
        cull_image      *image = &plan->value[i].image;

        *image = node->desc.y;
        image->n = (int64_t)plan->batch;
        image->block = node->sequence ? image->c : block_of(plan->backend, image, common);
        plan->value[i].home = i;
        plan->value[i].size = cull_dtype_size(node->dtype ? node->dtype : plan->values_in);
    }
    plan->value[plan->model->last_dense].size = cull_dtype_size(plan->wide);
}

static int count_users(const cull_model *model, int value, int *user)
{
    int users = 0;

    for (int i = 1; i < model->nodes; i++) {
        for (int k = 0; k < model->node[i].inputs; k++) {
            if (model->node[i].input[k] != value) continue;
            users++;
            *user = i;
        }
    }
    return users;
}

static bool is_relu(const cull_node *node)
{
    return node->desc.kind == CULL_LAYER_ACTIVATE && node->desc.activation == CULL_RELU;
}

/* What a BatchNorm node takes along: sets *out to the value it then gives and *added to the value
 * added before the ReLU, or -1. absorbed[] marks nodes that need no step of their own. */
static void fuse(const cull_plan *plan, int norm, bool *absorbed, int *out, int *added)
{
    const cull_model *model = plan->model;
    int               next = 0, relu = 0;

    *out = norm;
    *added = -1;
    if (!cull_layer_fuses(plan->backend) || count_users(model, norm, &next) != 1) return;
    if (is_relu(&model->node[next])) {
        *out = next;
        absorbed[next] = true;
        return;
    }
    if (model->node[next].desc.kind != CULL_LAYER_ADD || absorbed[next] ||
        count_users(model, next, &relu) != 1 || !is_relu(&model->node[relu]))
        return;
    *added = model->node[next].input[model->node[next].input[0] == norm];
    if (*added >= norm) { /* not computed yet when this step runs */
        *added = -1;
        return;
    }
    *out = relu;
    absorbed[next] = absorbed[relu] = true;
}

/* A node that only hands its input on: then its value lives where the input's does. */
static bool hands_on(const cull_plan *plan, const cull_node *node)
{
    if (node->desc.kind == CULL_LAYER_DROPOUT)
        return cull_plan_scores(plan->mode) || node->desc.probability == 0;
    if (node->desc.kind != CULL_LAYER_CONVERT) return false;
    return plan->value[node->input[0]].image.block == 1;
}

/* What looks at one position, or one number, at a time is given them as rows or as features. */
static cull_image alone(cull_image image, cull_node_positions positions)
{
    if (positions == CULL_POSITIONS_EACH) return (cull_image){image.n * image.h, image.c, 1, 1, 1};
    if (positions == CULL_POSITIONS_POINT) return (cull_image){image.n, image.c * image.h, 1, 1, 1};
    return image;
}

static void add_step(cull_plan *plan, const cull_node *node, int out, int added)
{
    cull_step *step = &plan->step[plan->steps++];

    step->node = node;
    step->inputs = node->inputs;
    step->in[0] = node->input[0];
    step->in[1] = node->inputs > 1 ? node->input[1] : -1;
    step->out = out;
    step->keeps = node->class->keeps;
    step->desc = node->desc;
    if (node->desc.kind == CULL_LAYER_BATCHNORM && out != (int)(node - plan->model->node)) {
        step->desc.fused_relu = true;
        step->keeps |= CULL_KEEP_Y;
        step->desc.fused_add = added >= 0;
        if (added >= 0) {
            step->inputs = 2;
            step->in[1] = added;
        }
    }
    step->desc.dtype = plan->values_in;
    step->desc.parameters = step->desc.statistics = plan->wide;
    if (out == plan->model->last_dense) step->desc.output = plan->wide; /* the loss reads it */
    step->desc.tf32 = plan->params->arithmetic.tf32;
    step->desc.repeatable = plan->params->arithmetic.repeatable;
    step->desc.x = plan->value[step->in[0]].image;
    if (step->inputs > 1) step->desc.x2 = plan->value[step->in[1]].image;
    step->desc.y = plan->value[out].image;
    if (node->desc.kind == CULL_LAYER_ATTENTION && cull_plan_scores(plan->mode))
        step->desc.probability = 0;
    if (!node->sequence) return;
    step->desc.x = alone(step->desc.x, node->class->positions);
    step->desc.x2 = alone(step->desc.x2, node->class->positions);
    step->desc.y = alone(step->desc.y, node->class->positions);
}

/* Can what a step gives never be negative? */
static bool is_positive(cull_plan *plan, const cull_step *step)
{
    const cull_layer_desc *d = &step->desc;

    switch (d->kind) {
    case CULL_LAYER_ACTIVATE: return d->activation == CULL_RELU || d->activation == CULL_RELU6;
    case CULL_LAYER_BATCHNORM: return d->fused_relu;
    case CULL_LAYER_ADD:
    case CULL_LAYER_CONCAT:
        return cull_plan_home(plan, step->in[0])->positive &&
               cull_plan_home(plan, step->in[1])->positive;
    case CULL_LAYER_POOL:
    case CULL_LAYER_SHORTCUT:
    case CULL_LAYER_DROPOUT:
    case CULL_LAYER_CONVERT: return cull_plan_home(plan, step->in[0])->positive;
    default: return false;
    }
}

/* Which values backward reads, through which a gradient flows, and which are never negative. */
static void mark(cull_plan *plan)
{
    for (int s = 0; s < plan->steps; s++) {
        cull_step *step = &plan->step[s];
        bool       carries = step->node->params > 0;

        for (int k = 0; k < step->inputs; k++)
            carries = carries || cull_plan_home(plan, step->in[k])->carries;
        cull_plan_home(plan, step->out)->carries = carries;
        cull_plan_home(plan, step->out)->positive = is_positive(plan, step);
        if (!cull_plan_keeps(plan->mode)) continue;
        if (step->keeps & CULL_KEEP_X) cull_plan_home(plan, step->in[0])->kept = true;
        if (step->keeps & CULL_KEEP_X2) cull_plan_home(plan, step->in[1])->kept = true;
        if (step->keeps & CULL_KEEP_Y) cull_plan_home(plan, step->out)->kept = true;
    }
}

cull_status cull_plan_make_steps(cull_plan *plan)
{
    cull_status       status = CULL_OK;
    const cull_model *model = plan->model;
    bool             *absorbed = NULL;

    plan->values = model->nodes;
    TRY(cull_base_alloc((size_t)plan->values, sizeof *plan->value, "a plan", &plan->value));
    TRY(cull_base_alloc((size_t)plan->values, sizeof *plan->step, "a plan", &plan->step));
    TRY(cull_base_alloc((size_t)plan->values, sizeof *absorbed, "a plan", &absorbed));
    set_layouts(plan);
    for (int i = 1; i < model->nodes; i++) {
        const cull_node *node = &model->node[i];
        int              out = i, added = -1;

        if (absorbed[i] || !node->class) continue;
        if (hands_on(plan, node)) {
            plan->value[i].home = plan->value[node->input[0]].home;
            if (node->desc.kind == CULL_LAYER_DROPOUT)
                plan->value[i].image = plan->value[node->input[0]].image;
            continue;
        }
        if (node->desc.kind == CULL_LAYER_BATCHNORM) fuse(plan, i, absorbed, &out, &added);
        add_step(plan, node, out, added);
    }
    mark(plan);
done:
    cull_base_free(absorbed);
    return status;
}
