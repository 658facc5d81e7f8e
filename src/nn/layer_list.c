/* nn/layer_list.c - a list of layers: where each stands, and the list as text. */
#include "nn/layer_list.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

cull_status cull_nn_list_begin(cull_layer_list *list, const cull_list_kind *kind, int depth,
                               unsigned long line)
{
    cull_status status = CULL_OK;

    if (list->count == CULL_LIST_LAYERS)
        FAIL_ABOUT(CULL_BAD_OPTION, CULL_LIST_KEY, CULL_LIST_KEY ": more than %d layers",
                   CULL_LIST_LAYERS);
    if (depth >= CULL_LIST_DEPTH)
        FAIL_ABOUT(CULL_BAD_OPTION, CULL_LIST_KEY,
                   CULL_LIST_KEY ": more than %d lists inside each other", CULL_LIST_DEPTH);
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        TRY(cull_base_grow(room, sizeof *list->layer, "layers", &list->layer));
        list->room = room;
    }
    list->layer[list->count++] = (cull_listed){.kind = kind, .depth = depth, .line = line};
done:
    return status;
}

void cull_nn_list_clear(cull_layer_list *list)
{
    for (size_t i = 0; i < list->count; i++) cull_values_destroy(list->layer[i].values);
    cull_base_free(list->layer);
    *list = (cull_layer_list){0};
}

size_t cull_nn_list_next(const cull_layer_list *list, size_t i)
{
    int depth = list->layer[i++].depth;

    while (i < list->count && list->layer[i].depth > depth) i++;
    return i;
}

const char *cull_nn_list_name(const cull_listed *layer)
{
    return layer->values ? cull_value_text(layer->values, "name") : "";
}

int cull_nn_list_find(const cull_layer_list *list, size_t i, size_t out[CULL_LIST_DEPTH])
{
    int depth = list->layer[i].depth, at = depth;

    out[at] = 0;
    while (i-- > 0) {
        if (list->layer[i].depth > at) continue;
        if (list->layer[i].depth < at)
            out[--at] = 0;
        else
            out[at]++;
    }
    return depth + 1;
}

void cull_nn_list_place(const cull_layer_list *list, size_t i, char out[CULL_MODEL_PLACE])
{
    size_t number[CULL_LIST_DEPTH];
    int    count = cull_nn_list_find(list, i, number);
    int    at = snprintf(out, CULL_MODEL_PLACE, CULL_LIST_KEY);

    for (int k = 0; k < count; k++)
        at += snprintf(out + at, CULL_MODEL_PLACE - (size_t)at, "[%zu]", number[k]);
    if (list->layer[i].kind)
        (void)snprintf(out + at, CULL_MODEL_PLACE - (size_t)at, ", %s", list->layer[i].kind->name);
}

/* ---- text ---- */

static cull_status put(cull_writer *out, const char *text)
{
    return cull_write(out, text, strlen(text));
}

static cull_status put_value(cull_writer *out, const cull_listed *layer,
                             const cull_option_spec *spec)
{
    cull_status status = CULL_OK;
    const char *text = cull_value_text(layer->values, spec->key);
    size_t      height = strcspn(text, ",");
    bool        two = spec->type == CULL_OPTION_LIST && text[height];

    if (two) {
        TRY(put(out, "["));
        TRY(cull_write(out, text, height));
        TRY(put(out, ", "));
        TRY(put(out, text + height + 1));
        TRY(put(out, "]"));
    } else {
        TRY(put(out, text));
    }
done:
    return status;
}

/* ": 2" or ": {kernel: 3, stride: 2}", or nothing. */
static cull_status put_options(cull_writer *out, const cull_listed *layer)
{
    cull_status             status = CULL_OK;
    size_t                  count = 0;
    const cull_option_spec *only = NULL;

    for (const cull_option_spec *spec = layer->kind->option; spec->key; spec++)
        if (cull_values_given(layer->values, spec->key)) count++, only = spec;
    if (count == 0) goto done;
    TRY(put(out, ": "));
    if (count == 1 && layer->kind->alone && strcmp(only->key, layer->kind->alone) == 0) {
        TRY(put_value(out, layer, only));
        goto done;
    }
    TRY(put(out, "{"));
    for (const cull_option_spec *spec = layer->kind->option; spec->key; spec++) {
        if (!cull_values_given(layer->values, spec->key)) continue;
        TRY(put(out, spec->key));
        TRY(put(out, ": "));
        TRY(put_value(out, layer, spec));
        TRY(put(out, --count ? ", " : "}"));
    }
done:
    return status;
}

/* Layers from i to end, and what they hold, in brackets. */
static cull_status put_road(const cull_layer_list *list, size_t i, size_t end, cull_writer *out)
{
    cull_status status = CULL_OK;

    TRY(put(out, "["));
    while (i < end) {
        TRY(cull_nn_list_put(list, i, out));
        i = cull_nn_list_next(list, i);
        if (i < end) TRY(put(out, ", "));
    }
    TRY(put(out, "]"));
done:
    return status;
}

cull_status cull_nn_list_put(const cull_layer_list *list, size_t i, cull_writer *out)
{
    cull_status        status = CULL_OK;
    const cull_listed *layer = &list->layer[i];

    if (!layer->kind) {
        TRY(put_road(list, i + 1, cull_nn_list_next(list, i), out));
        goto done;
    }
    TRY(put(out, layer->kind->name));
    if (layer->values) TRY(put_options(out, layer));
    if (layer->kind->holds != CULL_LIST_NOTHING) {
        TRY(put(out, ": "));
        TRY(put_road(list, i + 1, cull_nn_list_next(list, i), out));
    }
done:
    return status;
}

cull_status cull_nn_list_text(const cull_layer_list *list, cull_writer *out)
{
    return put_road(list, 0, list->count, out);
}
