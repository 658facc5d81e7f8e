/* nn/pool.c - pooling: maximum (keeps where each maximum was), average, over the whole image. */
#include "nn/graph.h"

static cull_status shape(cull_node *node, const cull_image *in)
{
    cull_status      status = CULL_OK;
    cull_layer_desc *d = &node->desc;
    bool             fits = true;
    char             window[CULL_WINDOW_TEXT];

    d->y = (cull_image){0, in->c, 1, 1, 1};
    if (d->pooling == CULL_POOL_GLOBAL) return CULL_OK;
    cull_nn_graph_slide(d, in);
    cull_nn_graph_window_text(d, window);
    for (int i = 0; i < 2; i++)
        fits = fits && d->kernel[i] <= CULL_MOST_POOL && 2 * d->pad[i] <= d->kernel[i];
    if (d->y.h < 1 || d->y.w < 1 || !fits)
        FAIL(CULL_BAD_ARGUMENT, "pooling %s, of %lldx%lld%s", window, (long long)in->h,
             (long long)in->w, fits ? ", which is smaller" : "");
    if (d->dilation[0] != 1 || d->dilation[1] != 1)
        FAIL(CULL_BAD_ARGUMENT, "pooling %s; only convolutions are dilated", window);
done:
    return status;
}

static const cull_node_class maximum = {"max-pool", CULL_KEEP_STATE, CULL_POSITIONS_NONE, shape};
static const cull_node_class average = {"average-pool", 0, CULL_POSITIONS_NONE, shape};

/* Windows side by side unless a stride is given. */
static cull_window side_by_side(cull_window window)
{
    if (!window.stride) window.stride = window.kernel;
    return window;
}

int cull_model_pool(cull_model *model, int x, const cull_pool *given)
{
    cull_pool   layer = {0};
    cull_window height = {0};
    cull_node   node;

    if (!cull_nn_graph_open(model)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_pool", given, sizeof layer, &layer));
    node = cull_nn_graph_node(layer.pooling == CULL_POOL_MAX ? &maximum : &average, CULL_LAYER_POOL,
                              x, -1);
    node.desc.pooling = layer.pooling;
    if (layer.pooling == CULL_POOL_GLOBAL) return cull_nn_graph_add(model, &node, NULL);
    if (layer.pooling != CULL_POOL_MAX && layer.pooling != CULL_POOL_AVERAGE)
        cull_nn_graph_trouble(model,
                              cull_fail(CULL_BAD_ARGUMENT, "%s: node %d: no pooling is number %d",
                                        model->name, model->nodes, (int)layer.pooling));
    height = (cull_window){.kernel = layer.kernel, .stride = layer.stride, .pad = layer.pad};
    cull_nn_graph_trouble(model, cull_nn_graph_check_window(model, height, layer.width));
    cull_nn_graph_window(&node.desc, side_by_side(height), side_by_side(layer.width));
    return cull_nn_graph_add(model, &node, NULL);
}
