/* nn/dropout.c - dropout; its mask is drawn again in backward, so nothing is kept. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    node->desc.y = *in;
    if (node->desc.probability >= 0 && node->desc.probability < 1) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "dropout with probability %g", node->desc.probability);
}

static const cull_node_class dropout = {"dropout", 0, CULL_POSITIONS_POINT, shape};

int cull_model_dropout(cull_model *model, int x, double probability)
{
    cull_node node = cull_nn_graph_node(&dropout, CULL_LAYER_DROPOUT, x, -1);

    node.desc.probability = probability;
    return cull_nn_graph_open(model) ? cull_nn_graph_add(model, &node, NULL) : -1;
}
