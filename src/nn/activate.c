/* nn/activate.c - relu, relu6 and tanh (their backward reads y), both gelu (read x). */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    node->desc.y = *in;
    return CULL_OK;
}

static const cull_node_class classes[] = {
    [CULL_RELU] = {"relu", CULL_KEEP_Y, CULL_POSITIONS_POINT, shape},
    [CULL_RELU6] = {"relu6", CULL_KEEP_Y, CULL_POSITIONS_POINT, shape},
    [CULL_GELU] = {"gelu", CULL_KEEP_X, CULL_POSITIONS_POINT, shape},
    [CULL_GELU_TANH] = {"gelu-tanh", CULL_KEEP_X, CULL_POSITIONS_POINT, shape},
    [CULL_TANH] = {"tanh", CULL_KEEP_Y, CULL_POSITIONS_POINT, shape}};

enum { ACTIVATIONS = sizeof classes / sizeof *classes };

int cull_model_activate(cull_model *model, int x, cull_activation activation)
{
    bool      known = (unsigned)activation < ACTIVATIONS;
    cull_node node =
        cull_nn_graph_node(&classes[known ? activation : CULL_RELU], CULL_LAYER_ACTIVATE, x, -1);

    if (!cull_nn_graph_open(model)) return -1;
    if (!known)
        cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                               "%s: node %d: no activation is number %d",
                                               model->name, model->nodes, (int)activation));
    node.desc.activation = activation;
    return cull_nn_graph_add(model, &node, NULL);
}
