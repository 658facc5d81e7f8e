/* nn/pool.c - pooling: maximum (keeps where each maximum was), average, over the whole image. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status      status = CULL_OK;
    cull_layer_desc *d = &node->desc;

    d->y = (cull_image){0, in->c, 1, 1, 1};
    if (d->pooling == CULL_POOL_GLOBAL) return CULL_OK;
    d->y.h = cull_nn_graph_slide(in->h, d->kernel[0], d->stride[0], d->pad[0]);
    d->y.w = cull_nn_graph_slide(in->w, d->kernel[1], d->stride[1], d->pad[1]);
    if (d->y.h < 1 || d->y.w < 1 || d->kernel[0] > 15 || 2 * d->pad[0] > d->kernel[0])
        FAIL(CULL_BAD_ARGUMENT, "pooling %lldx%lld, stride %lld, padding %lld, of %lldx%lld",
             (long long)d->kernel[0], (long long)d->kernel[1], (long long)d->stride[0],
             (long long)d->pad[0], (long long)in->h, (long long)in->w);
done:
    return status;
}

static const cull_node_class maximum = {"max-pool", CULL_KEEP_STATE, shape};
static const cull_node_class average = {"average-pool", 0, shape};

int cull_nn_pool(cull_model *m, int x, cull_pooling pooling, int64_t kernel, int64_t stride,
                 int64_t pad)
{
    cull_node node =
        cull_nn_graph_node(pooling == CULL_POOL_MAX ? &maximum : &average, CULL_LAYER_POOL, x, -1);

    node.desc.pooling = pooling;
    node.desc.kernel[0] = node.desc.kernel[1] = kernel;
    node.desc.stride[0] = node.desc.stride[1] = stride;
    node.desc.pad[0] = node.desc.pad[1] = pad;
    return cull_nn_graph_add(m, &node, NULL);
}
