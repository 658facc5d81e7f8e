/* nn/flatten.c - an image as features, in NCHW order whatever layout it is computed in. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    node->desc.y = (cull_image){0, cull_image_row(in), 1, 1, 1};
    return CULL_OK;
}

static const cull_node_class flatten = {"flatten", 0, CULL_POSITIONS_NONE, shape};

int cull_model_flatten(cull_model *model, int x)
{
    cull_node node = cull_nn_graph_node(&flatten, CULL_LAYER_CONVERT, x, -1);

    return cull_nn_graph_open(model) ? cull_nn_graph_add(model, &node, NULL) : -1;
}
