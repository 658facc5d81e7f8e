/* nn/dense.c - fully connected layer: y = x W^T + b, x (I), W (O, I), b (O); of a sequence, at
 * every position. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;
    int64_t     out = node->desc.y.c;

    if (!node->sequence && (in->h != 1 || in->w != 1))
        FAIL(CULL_BAD_ARGUMENT, "a dense layer takes features, not %lldx%lld images: flatten first",
             (long long)in->h, (long long)in->w);
    node->desc.y = (cull_image){0, out, in->h, in->w, 1};
    node->params = node->desc.bias ? 2 : 1;
    node->param_count[0] = (size_t)(out * in->c);
    node->param_count[1] = node->desc.bias ? (size_t)out : 0;
done:
    return status;
}

static const cull_node_class dense = {"dense", CULL_KEEP_X, CULL_POSITIONS_EACH, shape};

int cull_model_dense(cull_model *model, int x, const char *name, const cull_dense *given)
{
    cull_node  node = cull_nn_graph_node(&dense, CULL_LAYER_DENSE, x, -1);
    cull_dense layer = {0};

    if (!cull_nn_graph_takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_dense", given, sizeof layer, &layer));
    cull_nn_graph_trouble(model,
                          cull_nn_graph_weight(model, x, name, layer.out, 1, (int)layer.init));
    node.desc.y.c = layer.out;
    node.desc.bias = !layer.no_bias;
    node.init = (int)layer.init;
    return cull_nn_graph_add(model, &node, name);
}
