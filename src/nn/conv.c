/* nn/conv.c - grouped convolution, square kernel, zero padding: W (O, C/groups, K, K), b (O). */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status      status = CULL_OK;
    cull_layer_desc *d = &node->desc;
    int64_t          out = d->y.c;

    d->y = (cull_image){0, out, cull_nn_graph_slide(in->h, d->kernel[0], d->stride[0], d->pad[0]),
                        cull_nn_graph_slide(in->w, d->kernel[1], d->stride[1], d->pad[1]), 1};
    if (d->y.h < 1 || d->y.w < 1)
        FAIL(CULL_BAD_ARGUMENT, "a convolution %lldx%lld, stride %lld, padding %lld, of %lldx%lld",
             (long long)d->kernel[0], (long long)d->kernel[1], (long long)d->stride[0],
             (long long)d->pad[0], (long long)in->h, (long long)in->w);
    if (d->groups < 1 || out < 1 || out > 1 << 24 || in->c % d->groups || out % d->groups)
        FAIL(CULL_BAD_ARGUMENT, "a convolution from %lld to %lld channels in %lld groups",
             (long long)in->c, (long long)out, (long long)d->groups);
    node->params = d->bias ? 2 : 1;
    node->param_count[0] = (size_t)(out * (in->c / d->groups) * d->kernel[0] * d->kernel[1]);
    node->param_count[1] = d->bias ? (size_t)out : 0;
done:
    return status;
}

static const cull_node_class conv = {"conv", CULL_KEEP_X, shape};

int cull_nn_conv(cull_model *m, int x, const char *name, int64_t out, int64_t kernel,
                 int64_t stride, int64_t pad, int64_t groups, bool bias, int init)
{
    cull_node node = cull_nn_graph_node(&conv, CULL_LAYER_CONV, x, -1);

    node.desc.y.c = out;
    node.desc.kernel[0] = node.desc.kernel[1] = kernel;
    node.desc.stride[0] = node.desc.stride[1] = stride;
    node.desc.pad[0] = node.desc.pad[1] = pad;
    node.desc.groups = groups;
    node.desc.bias = bias;
    node.init = init;
    return cull_nn_graph_add(m, &node, name);
}
