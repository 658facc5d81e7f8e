/* nn/conv.c - grouped convolution, zero padding: W (O, C/groups, KH, KW), b (O). */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status      status = CULL_OK;
    cull_layer_desc *d = &node->desc;
    int64_t          out = d->y.c;
    char             window[CULL_WINDOW_TEXT];

    d->y = (cull_image){0, out, 1, 1, 1};
    cull_nn_graph_slide(d, in);
    cull_nn_graph_window_text(d, window);
    if (d->y.h < 1 || d->y.w < 1)
        FAIL(CULL_BAD_ARGUMENT, "a convolution %s, of %lldx%lld, which is smaller", window,
             (long long)in->h, (long long)in->w);
    if (d->groups < 1 || in->c % d->groups || out % d->groups)
        FAIL(CULL_BAD_ARGUMENT, "a convolution from %lld to %lld channels in %lld groups",
             (long long)in->c, (long long)out, (long long)d->groups);
    node->params = d->bias ? 2 : 1;
    node->param_count[0] = (size_t)(out * (in->c / d->groups) * d->kernel[0] * d->kernel[1]);
    node->param_count[1] = d->bias ? (size_t)out : 0;
done:
    return status;
}

static const cull_node_class conv = {"conv", CULL_KEEP_X, CULL_POSITIONS_NONE, shape};

int cull_model_conv(cull_model *model, int x, const char *name, const cull_conv *given)
{
    cull_node   node = cull_nn_graph_node(&conv, CULL_LAYER_CONV, x, -1);
    cull_conv   layer = {0};
    cull_window height = {0};
    double      taps = 0;

    if (!cull_nn_graph_takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_conv", given, sizeof layer, &layer));
    height = (cull_window){layer.kernel, layer.stride, layer.pad, layer.dilation};
    cull_nn_graph_trouble(model, cull_nn_graph_check_window(model, height, layer.width));
    cull_nn_graph_window(&node.desc, height, layer.width);
    taps = (double)node.desc.kernel[0] * (double)node.desc.kernel[1];
    cull_nn_graph_trouble(model,
                          cull_nn_graph_weight(model, x, name, layer.out, taps, (int)layer.init));
    node.desc.y.c = layer.out;
    node.desc.groups = layer.groups ? layer.groups : 1;
    node.desc.bias = !layer.no_bias;
    node.init = (int)layer.init;
    return cull_nn_graph_add(model, &node, name);
}
