/* nn/activate.c - relu and relu6 (their backward reads y), gelu (reads x). */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    node->desc.y = *in;
    return CULL_OK;
}

static const cull_node_class relu = {"relu", CULL_KEEP_Y, shape};
static const cull_node_class relu6 = {"relu6", CULL_KEEP_Y, shape};
static const cull_node_class gelu = {"gelu", CULL_KEEP_X, shape};

int cull_model_activate(cull_model *model, int x, cull_activation activation)
{
    const cull_node_class *class =
        activation == CULL_RELU ? &relu : (activation == CULL_RELU6 ? &relu6 : &gelu);
    cull_node node = cull_nn_graph_node(class, CULL_LAYER_ACTIVATE, x, -1);

    if (!cull_nn_graph_open(model)) return -1;
    if (activation != CULL_RELU && activation != CULL_RELU6 && activation != CULL_GELU)
        cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                               "%s: node %d: no activation is number %d",
                                               model->name, model->nodes, (int)activation));
    node.desc.activation = activation;
    return cull_nn_graph_add(model, &node, NULL);
}
