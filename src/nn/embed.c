/* nn/embed.c - rows of tables: of tokens, with which a sequence begins, and of positions. */
#include "nn/graph.h"

#define USUAL_DEVIATION 0.02

static cull_status check_rows(const cull_layer_desc *d, const char *what)
{
    cull_status status = CULL_OK;

    if (d->rows < 1 || d->rows > CULL_MOST_CHANNELS)
        FAIL(CULL_BAD_ARGUMENT, "%lld %s; 1 to %d are possible", (long long)d->rows, what,
             CULL_MOST_CHANNELS);
done:
    return status;
}

static cull_status embed_shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;
    int64_t     width = node->desc.y.c;

    TRY(check_rows(&node->desc, "tokens"));
    if (width < 1 || width > CULL_MOST_CHANNELS)
        FAIL(CULL_BAD_ARGUMENT, "%lld features; 1 to %d are possible", (long long)width,
             CULL_MOST_CHANNELS);
    if (in->h > CULL_MOST_POSITIONS)
        FAIL(CULL_BAD_ARGUMENT, "%lld positions; up to %d are possible", (long long)in->h,
             CULL_MOST_POSITIONS);
    node->desc.y = (cull_image){0, width, in->h, 1, 1};
    node->params = 1;
    node->param_count[0] = (size_t)(node->desc.rows * width);
done:
    return status;
}

static cull_status positions_shape(cull_node *node, const cull_image *in)
{
    cull_status status = CULL_OK;

    TRY(check_rows(&node->desc, "rows of positions"));
    if (!node->desc.same && in->h > node->desc.rows)
        FAIL(CULL_BAD_ARGUMENT, "a sequence of %lld positions, and rows for %lld", (long long)in->h,
             (long long)node->desc.rows);
    node->desc.y = *in;
    node->params = 1;
    node->param_count[0] = (size_t)(node->desc.rows * in->c);
done:
    return status;
}

static const cull_node_class embed = {"embed", CULL_KEEP_X, CULL_POSITIONS_BEGIN, embed_shape};
static const cull_node_class positions = {"positions", 0, CULL_POSITIONS_BETWEEN, positions_shape};

static bool is_read(const cull_model *model, int x)
{
    for (int i = 1; i < model->nodes; i++)
        for (int k = 0; k < model->node[i].inputs; k++)
            if (model->node[i].input[k] == x) return true;
    return false;
}

/* An input becomes tokens when it is first embedded. */
static void take_tokens(cull_model *model, int x)
{
    cull_node *input = x >= 0 && x < model->nodes ? &model->node[x] : NULL;

    if (!input || input->class || input->dtype == CULL_I32) return;
    if (input->desc.y.c == 1 && input->desc.y.w == 1 && !is_read(model, x)) input->dtype = CULL_I32;
}

static void start(cull_node *node, double deviation)
{
    node->init = CULL_INIT_NORMAL;
    node->init_value = deviation != 0 ? deviation : USUAL_DEVIATION;
}

static void check_deviation(cull_model *model, double deviation)
{
    if (deviation >= 0 && deviation <= 1e6) return;
    cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                           "%s: node %d: weights with a deviation of %g",
                                           model->name, model->nodes, deviation));
}

int cull_model_embed(cull_model *model, int tokens, const char *name, const cull_embed *given)
{
    cull_embed layer = {0};
    cull_node  node = cull_nn_graph_node(&embed, CULL_LAYER_EMBED, tokens, -1);

    if (!cull_nn_graph_takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_embed", given, sizeof layer, &layer));
    check_deviation(model, layer.deviation);
    if (model->trouble == CULL_OK) take_tokens(model, tokens);
    node.desc.rows = layer.tokens;
    node.desc.y.c = layer.width;
    start(&node, layer.deviation);
    return cull_nn_graph_add(model, &node, name);
}

int cull_model_positions(cull_model *model, int x, const char *name, const cull_positions *given)
{
    cull_positions layer = {0};
    cull_node      node = cull_nn_graph_node(&positions, CULL_LAYER_POSITIONS, x, -1);

    if (!cull_nn_graph_takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_positions", given, sizeof layer, &layer));
    check_deviation(model, layer.deviation);
    node.desc.rows = layer.rows;
    node.desc.same = layer.same;
    start(&node, layer.deviation);
    return cull_nn_graph_add(model, &node, name);
}
