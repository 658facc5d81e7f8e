/* nn/norm.c - normalisation: over the batch, over groups of channels, over the whole example, or
 * the whole position of a sequence. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status            status = CULL_OK;
    const cull_layer_desc *d = &node->desc;
    bool                   layer = d->kind == CULL_LAYER_LAYERNORM && !node->sequence;

    if (d->kind == CULL_LAYER_GROUPNORM && (d->groups < 1 || in->c % d->groups))
        FAIL(CULL_BAD_ARGUMENT, "group norm of %lld channels in %lld groups", (long long)in->c,
             (long long)d->groups);
    if (!(d->epsilon > 0 && d->epsilon <= 1e6))
        FAIL(CULL_BAD_ARGUMENT, "a norm's epsilon of %g", d->epsilon);
    if (!(d->momentum > 0 && d->momentum <= 1))
        FAIL(CULL_BAD_ARGUMENT, "a norm's momentum of %g", d->momentum);
    if (d->kind != CULL_LAYER_BATCHNORM && d->momentum != CULL_NORM_MOMENTUM)
        FAIL(CULL_BAD_ARGUMENT, "only a norm over the batch keeps averages, and has a momentum");
    node->desc.y = *in;
    node->params = 2;
    node->param_count[0] = node->param_count[1] = (size_t)(layer ? cull_image_row(in) : in->c);
    if (d->kind == CULL_LAYER_BATCHNORM) node->running_count = 2 * (size_t)in->c;
done:
    return status;
}

static const cull_node_class batchnorm = {"batchnorm", CULL_KEEP_X | CULL_KEEP_STATS,
                                          CULL_POSITIONS_NONE, shape};
static const cull_node_class groupnorm = {"groupnorm", CULL_KEEP_X | CULL_KEEP_STATS,
                                          CULL_POSITIONS_NONE, shape};
static const cull_node_class layernorm = {"layernorm", CULL_KEEP_X | CULL_KEEP_STATS,
                                          CULL_POSITIONS_EACH, shape};

static double first_of(double a, double b, double c)
{
    if (a != 0) return a;
    return b != 0 ? b : c;
}

int cull_model_norm(cull_model *model, int x, const char *name, const cull_norm *given)
{
    static const struct {
        const cull_node_class *class;
        cull_layer_kind kind;
    } kinds[] = {[CULL_NORM_BATCH] = {&batchnorm, CULL_LAYER_BATCHNORM},
                 [CULL_NORM_GROUP] = {&groupnorm, CULL_LAYER_GROUPNORM},
                 [CULL_NORM_LAYER] = {&layernorm, CULL_LAYER_LAYERNORM}};
    cull_norm layer = {0};
    cull_node node;
    bool      batch = false;

    if (!cull_nn_graph_takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_norm", given, sizeof layer, &layer));
    batch = layer.over == CULL_NORM_BATCH;
    if (!batch && layer.over != CULL_NORM_GROUP && layer.over != CULL_NORM_LAYER) {
        cull_nn_graph_trouble(model,
                              cull_fail(CULL_BAD_ARGUMENT, "%s: node %d: no norm is number %d",
                                        model->name, model->nodes, (int)layer.over));
        return -1;
    }
    node = cull_nn_graph_node(kinds[layer.over].class, kinds[layer.over].kind, x, -1);
    node.desc.groups = layer.over == CULL_NORM_GROUP ? layer.groups : 1;
    node.desc.epsilon = first_of(layer.epsilon, model->epsilon, CULL_NORM_EPSILON);
    node.desc.momentum = first_of(layer.momentum, batch ? model->momentum : 0, CULL_NORM_MOMENTUM);
    node.init = CULL_INIT_ONE;
    return cull_nn_graph_add(model, &node, name);
}

int cull_model_batchnorm(cull_model *model, int x, const char *name)
{
    return cull_model_norm(model, x, name, &(cull_norm){.over = CULL_NORM_BATCH});
}

int cull_model_groupnorm(cull_model *model, int x, const char *name, int64_t groups)
{
    return cull_model_norm(model, x, name, &(cull_norm){.over = CULL_NORM_GROUP, .groups = groups});
}

int cull_model_layernorm(cull_model *model, int x, const char *name)
{
    return cull_model_norm(model, x, name, &(cull_norm){.over = CULL_NORM_LAYER});
}
