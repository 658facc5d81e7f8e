/* nn/dense.c - fully connected layer: y = x W^T + b, x (I), W (O, I), b (O). */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;
    int64_t     out = node->desc.y.c;

    if (in->h != 1 || in->w != 1)
        FAIL(CULL_BAD_ARGUMENT, "a dense layer takes features, not %lldx%lld images: flatten first",
             (long long)in->h, (long long)in->w);
    if (out < 1 || out > 1 << 24)
        FAIL(CULL_BAD_ARGUMENT, "a dense layer of %lld outputs", (long long)out);
    node->desc.y = (cull_image){0, out, 1, 1, 1};
    node->params = node->desc.bias ? 2 : 1;
    node->param_count[0] = (size_t)(out * in->c);
    node->param_count[1] = node->desc.bias ? (size_t)out : 0;
done:
    return status;
}

static const cull_node_class dense = {"dense", CULL_KEEP_X, shape};

int cull_nn_dense(cull_model *m, int x, const char *name, int64_t out, bool bias, int init)
{
    cull_node node = cull_nn_graph_node(&dense, CULL_LAYER_DENSE, x, -1);

    node.desc.y.c = out;
    node.desc.bias = bias;
    node.init = init;
    return cull_nn_graph_add(m, &node, name);
}
