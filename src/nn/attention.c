/* nn/attention.c - attention over the positions of a sequence, and taking the first one out. */
#include "nn/graph.h"

static cull_status attention_shape(cull_node *node, const cull_image *in)
{
    cull_status            status = CULL_OK;
    const cull_layer_desc *d = &node->desc;
    int64_t                heads = d->groups;

    if (heads < 1 || heads > CULL_MOST_HEADS)
        FAIL(CULL_BAD_ARGUMENT, "attention of %lld heads; 1 to %d are possible", (long long)heads,
             CULL_MOST_HEADS);
    if (in[0].c % (3 * heads))
        FAIL(CULL_BAD_ARGUMENT,
             "attention of %lld heads takes queries, keys and values of as many parts each, and "
             "%lld "
             "features are no multiple of %lld",
             (long long)heads, (long long)in[0].c, (long long)(3 * heads));
    if (!(d->probability >= 0 && d->probability < 1))
        FAIL(CULL_BAD_ARGUMENT, "attention with dropout of %g", d->probability);
    if (in[1].h != in[0].h)
        FAIL(CULL_BAD_ARGUMENT, "attention over %lld positions, and %lld tokens",
             (long long)in[0].h, (long long)in[1].h);
    node->desc.y = (cull_image){0, in[0].c / 3, in[0].h, 1, 1};
done:
    return status;
}

static cull_status take_shape(cull_node *node, const cull_image *in)
{
    node->desc.y = (cull_image){0, in->c, 1, 1, 1};
    return CULL_OK;
}

static const cull_node_class attention = {
    "attention", CULL_KEEP_X | CULL_KEEP_X2 | CULL_KEEP_Y | CULL_KEEP_STATE, CULL_POSITIONS_BETWEEN,
    attention_shape};
static const cull_node_class take = {"take", 0, CULL_POSITIONS_END, take_shape};

int cull_model_attention(cull_model *model, int x, int tokens, const cull_attention *given)
{
    cull_attention layer = {0};
    cull_node      node = cull_nn_graph_node(&attention, CULL_LAYER_ATTENTION, x, tokens);

    if (!cull_nn_graph_open(model)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_attention", given, sizeof layer, &layer));
    node.inputs = 2;
    node.desc.groups = layer.heads;
    node.desc.probability = layer.dropout;
    return cull_nn_graph_add(model, &node, NULL);
}

int cull_model_take(cull_model *model, int x)
{
    cull_node node = cull_nn_graph_node(&take, CULL_LAYER_TAKE, x, -1);

    return cull_nn_graph_open(model) ? cull_nn_graph_add(model, &node, NULL) : -1;
}
