/* nn/norm.c - normalisation: over the batch, over groups of channels, over the whole example. */
#include "nn/graph.h"

#define EPSILON  1e-5
#define MOMENTUM 0.1

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;
    bool        layer = node->desc.kind == CULL_LAYER_LAYERNORM;

    if (node->desc.kind == CULL_LAYER_GROUPNORM &&
        (node->desc.groups < 1 || in->c % node->desc.groups))
        FAIL(CULL_BAD_ARGUMENT, "group norm of %lld channels in %lld groups", (long long)in->c,
             (long long)node->desc.groups);
    node->desc.y = *in;
    node->desc.epsilon = EPSILON;
    node->desc.momentum = MOMENTUM;
    node->params = 2;
    node->param_count[0] = node->param_count[1] = (size_t)(layer ? cull_image_row(in) : in->c);
    if (node->desc.kind == CULL_LAYER_BATCHNORM) node->running_count = 2 * (size_t)in->c;
done:
    return status;
}

static const cull_node_class batchnorm = {"batchnorm", CULL_KEEP_X | CULL_KEEP_STATS, shape};
static const cull_node_class groupnorm = {"groupnorm", CULL_KEEP_X | CULL_KEEP_STATS, shape};
static const cull_node_class layernorm = {"layernorm", CULL_KEEP_X | CULL_KEEP_STATS, shape};

static int add(cull_model *m, int x, const char *name, const cull_node_class *class,
               cull_layer_kind kind, int64_t groups)
{
    cull_node node = cull_nn_graph_node(class, kind, x, -1);

    node.desc.groups = groups;
    node.init = CULL_INIT_ONE;
    return cull_nn_graph_add(m, &node, name);
}

int cull_nn_batchnorm(cull_model *m, int x, const char *name)
{
    return add(m, x, name, &batchnorm, CULL_LAYER_BATCHNORM, 1);
}

int cull_nn_groupnorm(cull_model *m, int x, const char *name, int64_t groups)
{
    return add(m, x, name, &groupnorm, CULL_LAYER_GROUPNORM, groups);
}

int cull_nn_layernorm(cull_model *m, int x, const char *name)
{
    return add(m, x, name, &layernorm, CULL_LAYER_LAYERNORM, 1);
}
