/* nn/shortcut.c - the shortcut without parameters: subsampled pixels, channels padded with zeros.
 */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;
    int64_t     channels = node->desc.y.c, stride = node->desc.stride[0];

    if (channels < in->c || (channels - in->c) % 2)
        FAIL(CULL_BAD_ARGUMENT, "a shortcut from %lld to %lld channels, stride %lld",
             (long long)in->c, (long long)channels, (long long)stride);
    node->desc.y =
        (cull_image){0, channels, (in->h + stride - 1) / stride, (in->w + stride - 1) / stride, 1};
done:
    return status;
}

static const cull_node_class shortcut = {"shortcut", 0, CULL_POSITIONS_NONE, shape};

int cull_model_shortcut(cull_model *model, int x, int64_t channels, int64_t stride)
{
    cull_node node = cull_nn_graph_node(&shortcut, CULL_LAYER_SHORTCUT, x, -1);

    if (!cull_nn_graph_open(model)) return -1;
    if (channels < 1 || channels > CULL_MOST_CHANNELS || stride < 1 || stride > CULL_MOST_SIDE)
        cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                               "%s: node %d: a shortcut to %lld channels, stride "
                                               "%lld",
                                               model->name, model->nodes, (long long)channels,
                                               (long long)stride));
    node.desc.y.c = channels;
    node.desc.stride[0] = node.desc.stride[1] = stride;
    return cull_nn_graph_add(model, &node, NULL);
}
