/* nn/graph.c - building a model: nodes in topological order, parameters laid out as they come. */
#include "nn/graph.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_ROW = 0x7fffffff }; /* numbers in one example of any value */

cull_status cull_nn_model_create(const char *name, int64_t channels, int64_t height, int64_t width,
                                 cull_model **out)
{
    cull_status status = CULL_OK;
    cull_model *model = NULL;

    if (channels < 1 || height < 1 || width < 1 || channels > 1 << 24 || height > 1 << 16 ||
        width > 1 << 16 || channels > MOST_ROW / (height * width))
        FAIL(CULL_BAD_ARGUMENT, "%s: inputs of %lldx%lldx%lld cannot be", name, (long long)channels,
             (long long)height, (long long)width);
    TRY(cull_base_alloc(1, sizeof *model, "a model", &model));
    (void)snprintf(model->name, sizeof model->name, "%s", name);
    model->input = (cull_image){0, channels, height, width, 1};
    TRY(cull_base_alloc(8, sizeof *model->node, "a model", &model->node));
    model->room = 8;
    model->nodes = 1;
    model->node[0].desc.y = model->input;
    model->inputs = 1;
    *out = model;
    model = NULL;
done:
    cull_nn_model_destroy(model);
    return status;
}

void cull_nn_model_destroy(cull_model *model)
{
    if (!model) return;
    cull_base_free(model->node);
    cull_base_free(model);
}

cull_status cull_nn_model_copy(const cull_model *model, cull_model **out)
{
    cull_status status = CULL_OK;
    cull_model *copy = NULL;

    TRY(cull_base_alloc(1, sizeof *copy, "a model", &copy));
    *copy = *model;
    copy->room = model->nodes;
    copy->node = NULL;
    TRY(cull_base_alloc((size_t)model->nodes, sizeof *copy->node, "a model", &copy->node));
    memcpy(copy->node, model->node, (size_t)model->nodes * sizeof *copy->node);
    *out = copy;
    copy = NULL;
done:
    cull_nn_model_destroy(copy);
    return status;
}

cull_node cull_nn_graph_node(const cull_node_class *class, cull_layer_kind kind, int x, int x2)
{
    cull_node node = {.class = class, .inputs = x2 < 0 ? 1 : 2, .input = {x, x2}};

    node.desc.kind = kind;
    return node;
}

static cull_status check_name(const cull_model *model, const char *name)
{
    cull_status status = CULL_OK;

    if (strlen(name) >= sizeof model->node->name)
        FAIL(CULL_BAD_ARGUMENT, "%s: the name '%.60s' is too long", model->name, name);
    for (int i = 1; i < model->nodes; i++)
        if (model->node[i].params && strcmp(model->node[i].name, name) == 0)
            FAIL(CULL_BAD_ARGUMENT, "%s: two layers are called '%s'", model->name, name);
done:
    return status;
}

void cull_nn_graph_place(const cull_model *model, const char *name, char out[CULL_GRAPH_PLACE])
{
    if (*model->place)
        (void)snprintf(out, CULL_GRAPH_PLACE, "%s", model->place);
    else
        (void)snprintf(out, CULL_GRAPH_PLACE, "%s: node %d%s%.48s", model->name, model->nodes,
                       name ? ", " : "", name ? name : "");
}

/* Tokens are read by layers that look for them, and by nothing else. */
static cull_status check_tokens(const cull_model *model, const cull_node *node, const char *place)
{
    cull_status status = CULL_OK;

    for (int i = 0; i < node->inputs; i++) {
        bool tokens = model->node[node->input[i]].dtype == CULL_I32;

        if (tokens && cull_layer_tokens(node->desc.kind) != i)
            FAIL(CULL_BAD_ARGUMENT, "%s: '%s' cannot read tokens; embed them", place,
                 node->class->name);
        if (!tokens && cull_layer_tokens(node->desc.kind) == i)
            FAIL(CULL_BAD_ARGUMENT, "%s: '%s' reads tokens, and node %d is none", place,
                 node->class->name, node->input[i]);
    }
done:
    return status;
}

/* Whether it gives a sequence, by what it is given. */
static cull_status infer_positions(const cull_model *model, cull_node *node, const char *name)
{
    cull_status         status = CULL_OK;
    cull_node_positions kind = node->class->positions;
    bool                given = model->node[node->input[0]].sequence;
    bool                joins = node->inputs > 1 && kind == CULL_POSITIONS_POINT;
    char                place[CULL_GRAPH_PLACE];

    cull_nn_graph_place(model, name, place);
    TRY(check_tokens(model, node, place));
    if (given && kind == CULL_POSITIONS_NONE)
        FAIL(CULL_BAD_ARGUMENT, "%s: '%s' takes images and features, not sequences", place,
             node->class->name);
    if (!given && (kind == CULL_POSITIONS_BETWEEN || kind == CULL_POSITIONS_END))
        FAIL(CULL_BAD_ARGUMENT, "%s: '%s' takes sequences: embed tokens first", place,
             node->class->name);
    if (joins && model->node[node->input[1]].sequence != given)
        FAIL(CULL_BAD_ARGUMENT, "%s: a sequence and an image cannot be added", place);
    node->sequence = kind == CULL_POSITIONS_BEGIN || (given && kind != CULL_POSITIONS_END);
done:
    return status;
}

/* What a layer file says of its sizes, with the layer's place before it. */
static cull_status check_shape(const cull_model *model, cull_node *node, const cull_image *in,
                               const char *name)
{
    cull_status status = node->class->shape(node, in);
    char        why[160], place[CULL_GRAPH_PLACE];

    cull_nn_graph_place(model, name, place);
    if (status != CULL_OK) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(status, "%s: %s", place, why);
    }
    if (cull_image_row(&node->desc.y) > MOST_ROW)
        FAIL(CULL_TOO_LARGE, "%s: %lldx%lldx%lld is more than 2^31-1 numbers", place,
             (long long)node->desc.y.c, (long long)node->desc.y.h, (long long)node->desc.y.w);
done:
    return status;
}

static cull_status make_room(cull_model *model)
{
    cull_status status = CULL_OK;

    if (model->nodes < model->room) return CULL_OK;
    TRY(cull_base_grow((size_t)model->room * 2, sizeof *model->node, "a model", &model->node));
    model->room *= 2;
done:
    return status;
}

static cull_status add_input(cull_model *model, cull_image image, cull_dtype dtype)
{
    cull_status status = CULL_OK;

    if (model->inputs == CULL_MODEL_INPUTS)
        FAIL(CULL_BAD_ARGUMENT, "%s: more than %d inputs", model->name, CULL_MODEL_INPUTS);
    if (image.c < 1 || image.h < 1 || image.w < 1 || image.c > MOST_ROW / (image.h * image.w))
        FAIL(CULL_BAD_ARGUMENT, "%s: inputs of %lldx%lldx%lld cannot be", model->name,
             (long long)image.c, (long long)image.h, (long long)image.w);
    TRY(make_room(model));
    model->input_node[model->inputs++] = model->nodes;
    model->node[model->nodes++] = (cull_node){.dtype = dtype, .desc = {.y = image}};
done:
    return status;
}

int cull_nn_input(cull_model *model, int64_t channels, int64_t height, int64_t width,
                  cull_dtype dtype)
{
    cull_image image = {0, channels, height, width, 1};

    if (model->trouble == CULL_OK) cull_nn_graph_trouble(model, add_input(model, image, dtype));
    return model->trouble == CULL_OK ? model->nodes - 1 : -1;
}

static cull_status add(cull_model *model, const cull_node *given, const char *name)
{
    cull_status status = CULL_OK;
    cull_node   node = *given;
    cull_image  in[CULL_NODE_INPUTS] = {{0}};

    for (int i = 0; i < node.inputs; i++) {
        if (node.input[i] < 0 || node.input[i] >= model->nodes)
            FAIL(CULL_BAD_ARGUMENT, "%s: a %s takes node %d, which is not there", model->name,
                 node.class->name, node.input[i]);
        in[i] = model->node[node.input[i]].desc.y;
    }
    node.desc.x = in[0];
    node.desc.x2 = in[1];
    TRY(infer_positions(model, &node, name));
    TRY(check_shape(model, &node, in, name));
    if (node.params) TRY(check_name(model, name ? name : ""));
    (void)snprintf(node.name, sizeof node.name, "%s", name ? name : "");
    for (int i = 0; i < node.params; i++) {
        node.param_at[i] = model->param_count;
        model->param_count += node.param_count[i];
    }
    node.running_at = model->running_count;
    model->running_count += node.running_count;
    TRY(make_room(model));
    model->node[model->nodes++] = node;
done:
    return status;
}

void cull_nn_graph_trouble(cull_model *model, cull_status status)
{
    if (status == CULL_OK || model->trouble != CULL_OK) return;
    model->trouble = status;
    (void)snprintf(model->why, sizeof model->why, "%s", cull_last_error());
}

int cull_nn_graph_add(cull_model *model, const cull_node *node, const char *name)
{
    if (model->trouble == CULL_OK) cull_nn_graph_trouble(model, add(model, node, name));
    return model->trouble == CULL_OK ? model->nodes - 1 : -1;
}

/* A node whose value nobody reads would pass back a gradient nobody wrote. */
static bool is_read(const cull_model *m, int value)
{
    for (int i = value + 1; i < m->nodes; i++)
        for (int k = 0; k < m->node[i].inputs; k++)
            if (m->node[i].input[k] == value) return true;
    return false;
}

cull_status cull_nn_model_finish(cull_model *m, int logits)
{
    cull_status status = CULL_OK;

    if (m->trouble != CULL_OK) FAIL(m->trouble, "%s", m->why);
    if (logits < 1 || logits != m->nodes - 1 || m->node[logits].desc.kind != CULL_LAYER_DENSE)
        FAIL(CULL_BAD_ARGUMENT, "%s: the last node must be the dense layer that gives the logits",
             m->name);
    if (m->node[logits].sequence)
        FAIL(CULL_BAD_ARGUMENT, "%s: logits of every position; take one position first", m->name);
    for (int i = 0; i < logits; i++)
        if (!is_read(m, i))
            FAIL(CULL_BAD_ARGUMENT, "%s: node %d (%s%s%s) leads nowhere", m->name, i,
                 m->node[i].class ? m->node[i].class->name : "the input",
                 *m->node[i].name ? " " : "", m->node[i].name);
    m->last_dense = logits;
    m->classes = (size_t)m->node[logits].desc.y.c;
done:
    cull_nn_graph_trouble(m, status);
    return status;
}
