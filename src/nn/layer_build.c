/* nn/layer_build.c - a list of layers made a model, for the inputs that there are. */
#include <stdio.h>

#include "nn/graph.h"
#include "nn/layer_list.h"

/* 2^31: more are more than a run could hold. */
#define MOST_PARAMETERS 2147483648.

struct building {
    const cull_layer_list *list;
    cull_model            *model;
    int64_t                outputs;
};

/* Its own, or "4.1.0". */
static void name_layer(const cull_layer_list *list, size_t i, char out[CULL_MODEL_PLACE])
{
    size_t number[CULL_LIST_DEPTH];
    int    count = cull_nn_list_find(list, i, number), at = 0;

    for (int k = 0; k < count; k++)
        at += snprintf(out + at, CULL_MODEL_PLACE - (size_t)at, "%s%zu", k ? "." : "", number[k]);
    if (*cull_nn_list_name(&list->layer[i]))
        (void)snprintf(out, CULL_MODEL_PLACE, "%s", cull_nn_list_name(&list->layer[i]));
}

static int build_road(const struct building *b, size_t i, size_t end, int x);

/* The ends of what a layer holds, one joined to the next; before a lone road, what it was given. */
static int build_held(const struct building *b, size_t i, int x)
{
    const cull_layer_list *list = b->list;
    const cull_list_kind  *kind = list->layer[i].kind;
    size_t                 end = cull_nn_list_next(list, i);
    int                    all = -1;

    if (kind->holds == CULL_LIST_ROAD) {
        int y = build_road(b, i + 1, end, x);

        cull_nn_list_place(list, i, b->model->place);
        return kind->join(b->model, x, y);
    }
    for (size_t branch = i + 1; branch < end; branch = cull_nn_list_next(list, branch)) {
        int y = build_road(b, branch + 1, cull_nn_list_next(list, branch), x);

        cull_nn_list_place(list, i, b->model->place);
        all = branch == i + 1 ? y : kind->join(b->model, all, y);
    }
    return all;
}

static void check_size(const struct building *b)
{
    if (b->model->trouble == CULL_OK && (double)b->model->param_count > MOST_PARAMETERS)
        cull_nn_graph_trouble(b->model,
                              cull_fail(CULL_TOO_LARGE,
                                        "%s: with it the network has %zu parameters; 2^31 are "
                                        "possible",
                                        b->model->place, b->model->param_count));
}

static int build_road(const struct building *b, size_t i, size_t end, int x)
{
    for (; i < end && b->model->trouble == CULL_OK; i = cull_nn_list_next(b->list, i)) {
        const cull_listed *layer = &b->list->layer[i];
        char               name[CULL_MODEL_PLACE];

        cull_nn_list_place(b->list, i, b->model->place);
        name_layer(b->list, i, name);
        x = layer->kind->add ? layer->kind->add(b->model, x, name, layer->values, b->outputs)
                             : build_held(b, i, x);
        check_size(b);
    }
    return x;
}

/* The last layer's width, where it has one, is what is wanted. */
static cull_status check_outputs(const cull_layer_list *list, size_t outputs)
{
    size_t             last = 0;
    const cull_listed *layer = NULL;
    int64_t            width = 0;
    char               place[CULL_MODEL_PLACE];

    for (size_t i = 0; i < list->count; i = cull_nn_list_next(list, i)) last = i;
    layer = &list->layer[last];
    width = layer->values ? cull_value_int(layer->values, "width") : 0;
    if (width == 0 || width == (int64_t)outputs) return CULL_OK;
    cull_nn_list_place(list, last, place);
    return cull_fail(CULL_BAD_OPTION,
                     "%s: width=%lld, but the data asks for %zu output%s; leave the last width out",
                     place, (long long)width, outputs, outputs == 1 ? "" : "s");
}

cull_status cull_nn_model_by_list(const cull_layer_list *list, const cull_model_options *o,
                                  cull_model **out)
{
    cull_status     status = CULL_OK;
    struct building b = {.list = list, .outputs = (int64_t)o->classes};
    int             logits = -1;

    TRY(cull_nn_model_create("layers", o->channels, o->height, o->width, &b.model));
    b.model->epsilon = o->norm_epsilon;
    b.model->momentum = o->norm_momentum;
    b.model->tokens = o->tokens;
    TRY(check_outputs(list, o->classes));
    logits = build_road(&b, 0, list->count, 0);
    if (b.model->trouble != CULL_OK && b.model->trouble != CULL_NO_MEMORY)
        FAIL(CULL_BAD_OPTION, "%s; inputs are %lldx%lldx%lld", b.model->why, (long long)o->channels,
             (long long)o->height, (long long)o->width);
    TRY(cull_nn_model_finish(b.model, logits));
    *b.model->place = '\0';
    *out = b.model;
    b.model = NULL;
done:
    cull_nn_model_destroy(b.model);
    if (status != CULL_OK && status != CULL_NO_MEMORY)
        status = cull_fail_about(CULL_BAD_OPTION, CULL_LIST_KEY, "%s", cull_last_error());
    return status;
}
