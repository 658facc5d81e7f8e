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

int cull_nn_activate(cull_model *m, int x, cull_activation activation)
{
    const cull_node_class *class =
        activation == CULL_RELU ? &relu : (activation == CULL_RELU6 ? &relu6 : &gelu);
    cull_node node = cull_nn_graph_node(class, CULL_LAYER_ACTIVATE, x, -1);

    node.desc.activation = activation;
    return cull_nn_graph_add(m, &node, NULL);
}
