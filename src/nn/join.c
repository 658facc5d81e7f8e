/* nn/join.c - two branches meet: sum, or channels side by side. */
#include "nn/graph.h"

static cull_status same_extent(const cull_image *in, const char *what, bool channels)
{
    if (in[0].h == in[1].h && in[0].w == in[1].w && (!channels || in[0].c == in[1].c))
        return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "%s of %lldx%lldx%lld and %lldx%lldx%lld", what,
                     (long long)in[0].c, (long long)in[0].h, (long long)in[0].w, (long long)in[1].c,
                     (long long)in[1].h, (long long)in[1].w);
}

static cull_status add_shape(cull_node *node, const cull_image *in)
{
    node->desc.y = in[0];
    return same_extent(in, "a sum", true);
}

static cull_status concat_shape(cull_node *node, const cull_image *in)
{
    node->desc.y = in[0];
    node->desc.y.c = in[0].c + in[1].c;
    return same_extent(in, "a concatenation", false);
}

static const cull_node_class add = {"add", 0, CULL_POSITIONS_POINT, add_shape};
static const cull_node_class concat = {"concat", 0, CULL_POSITIONS_NONE, concat_shape};

/* Two inputs, also where the second is no node's number, so that this is found. */
static int join(cull_model *model, const cull_node_class *class, cull_layer_kind kind, int x,
                int x2)
{
    cull_node node = cull_nn_graph_node(class, kind, x, x2);

    node.inputs = 2;
    return cull_nn_graph_open(model) ? cull_nn_graph_add(model, &node, NULL) : -1;
}

int cull_model_add(cull_model *model, int x, int x2)
{
    return join(model, &add, CULL_LAYER_ADD, x, x2);
}

int cull_model_concat(cull_model *model, int x, int x2)
{
    return join(model, &concat, CULL_LAYER_CONCAT, x, x2);
}
