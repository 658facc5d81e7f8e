/* nn/model_text.c - a model as lines of text, the same for the same model and for no other. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/number.h"
#include "nn/graph.h"

enum { LINE = 320 };

static int window(const cull_layer_desc *d, char *out, size_t room)
{
    int at = cull_nn_graph_axes(out, room, " kernel ", d->kernel);

    at += cull_nn_graph_axes(out + at, room - (size_t)at, " stride ", d->stride);
    at += cull_nn_graph_axes(out + at, room - (size_t)at, " pad ", d->pad);
    if (d->dilation[0] != 1 || d->dilation[1] != 1)
        at += cull_nn_graph_axes(out + at, room - (size_t)at, " dilation ", d->dilation);
    return at;
}

/* Only what is not usual, so that a text from before there was a choice still fits. */
static int norm(const cull_layer_desc *d, char *out, size_t room)
{
    char number[CULL_NUMBER_ROOM];
    int  at = 0;

    *out = '\0';
    if (d->kind == CULL_LAYER_GROUPNORM)
        at = snprintf(out, room, " groups %lld", (long long)d->groups);
    (void)cull_base_write_number(d->epsilon, 17, number);
    if (d->epsilon != CULL_NORM_EPSILON)
        at += snprintf(out + at, room - (size_t)at, " epsilon %s", number);
    (void)cull_base_write_number(d->momentum, 17, number);
    if (d->momentum != CULL_NORM_MOMENTUM)
        at += snprintf(out + at, room - (size_t)at, " momentum %s", number);
    return at;
}

/* What a kind of layer has beside its inputs and its output. */
static int settings(const cull_node *node, char *out, size_t room)
{
    static const char *const pools[] = {"max", "average", "global"};
    static const char *const inits[] = {"torch", "he-in", "he-out"};
    const cull_layer_desc   *d = &node->desc;
    const char              *init = node->init >= 0 && node->init < 3 ? inits[node->init] : "other";
    const char              *bias = d->bias ? "" : " no-bias";
    char                     number[CULL_NUMBER_ROOM];
    int                      at = 0;

    switch (d->kind) {
    case CULL_LAYER_DENSE: return snprintf(out, room, "%s init %s", bias, init);
    case CULL_LAYER_CONV:
        at = window(d, out, room);
        return at + snprintf(out + at, room - (size_t)at, " groups %lld%s init %s",
                             (long long)d->groups, bias, init);
    case CULL_LAYER_POOL:
        at = d->pooling == CULL_POOL_GLOBAL ? 0 : window(d, out, room);
        return at + snprintf(out + at, room - (size_t)at, " %s", pools[d->pooling]);
    case CULL_LAYER_BATCHNORM:
    case CULL_LAYER_GROUPNORM:
    case CULL_LAYER_LAYERNORM: return norm(d, out, room);
    case CULL_LAYER_SHORTCUT: return snprintf(out, room, " stride %lld", (long long)d->stride[0]);
    case CULL_LAYER_EMBED: return snprintf(out, room, " rows %lld", (long long)d->rows);
    case CULL_LAYER_POSITIONS:
        return snprintf(out, room, " rows %lld%s", (long long)d->rows, d->same ? " same" : "");
    case CULL_LAYER_ATTENTION:
        (void)cull_base_write_number(d->probability, 17, number);
        return snprintf(out, room, " heads %lld probability %s", (long long)d->groups, number);
    case CULL_LAYER_DROPOUT:
        (void)cull_base_write_number(d->probability, 17, number);
        return snprintf(out, room, " probability %s", number);
    default: return 0;
    }
}

static cull_status put_node(const cull_model *model, int n, cull_writer *out)
{
    const cull_node  *node = &model->node[n];
    const cull_image *y = &node->desc.y;
    char              line[LINE];
    int               at = 0;

    at = snprintf(line, sizeof line, "%d %s%s%s", n, node->class ? node->class->name : "input",
                  *node->name ? " " : "", node->name);
    for (int i = 0; i < node->inputs; i++)
        at +=
            snprintf(line + at, sizeof line - (size_t)at, "%s%d", i ? "," : " of ", node->input[i]);
    at += snprintf(line + at, sizeof line - (size_t)at, ": %lldx%lldx%lld", (long long)y->c,
                   (long long)y->h, (long long)y->w);
    if (n) at += settings(node, line + at, sizeof line - (size_t)at);
    line[at++] = '\n';
    return cull_write(out, line, (size_t)at);
}

cull_status cull_nn_model_text(const cull_model *model, cull_writer *out)
{
    cull_status status = CULL_OK;

    for (int n = 0; n < model->nodes; n++) TRY(put_node(model, n, out));
    TRY(cull_write(out, "", 1));
done:
    return status;
}
