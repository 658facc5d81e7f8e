/* nn/model.c - models as the public API has them, beside their layers: one file each. */
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "nn/graph.h"

enum { MOST_NAME = 31 };

#define MOST_WEIGHTS 1099511627776. /* 2^40 */

static bool is_name(const char *name, size_t most)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return name && *name && strlen(name) <= most && strspn(name, fine) == strlen(name);
}

cull_status cull_model_create(const char *name, int64_t channels, int64_t height, int64_t width,
                              cull_model **out)
{
    *out = NULL;
    if (!is_name(name, MOST_NAME))
        return cull_fail(CULL_BAD_ARGUMENT,
                         "a model's name is up to %d letters, digits, '.', '_' and '-'", MOST_NAME);
    return cull_nn_model_create(name, channels, height, width, out);
}

void cull_model_destroy(cull_model *model)
{
    cull_nn_model_destroy(model);
}

bool cull_nn_graph_open(cull_model *model)
{
    if (!model) return false;
    if (model->classes)
        cull_nn_graph_trouble(
            model, cull_fail(CULL_BAD_ARGUMENT, "%s: the model is finished", model->name));
    return model->trouble == CULL_OK;
}

static cull_status check_name(const cull_model *model, const char *name)
{
    if (is_name(name, sizeof model->node->name - 1)) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT,
                     "%s: node %d: a layer's name is up to %zu letters, digits, '.', '_' and '-'",
                     model->name, model->nodes, sizeof model->node->name - 1);
}

bool cull_nn_graph_takes(cull_model *model, const char *name)
{
    if (!cull_nn_graph_open(model)) return false;
    cull_nn_graph_trouble(model, check_name(model, name));
    return model->trouble == CULL_OK;
}

cull_status cull_nn_graph_weight(const cull_model *model, int x, const char *name, int64_t out,
                                 double taps, int init)
{
    cull_status status = CULL_OK;
    double      in = 1;
    char        place[CULL_GRAPH_PLACE];

    (void)snprintf(place, sizeof place, "%s: %s", model->name, name);
    if (*model->place) cull_nn_graph_place(model, name, place);
    if (init != CULL_INIT_TORCH && init != CULL_INIT_HE_IN && init != CULL_INIT_HE_OUT)
        FAIL(CULL_BAD_ARGUMENT, "%s: no start of weights is number %d", place, init);
    if (out < 1 || out > CULL_MOST_CHANNELS)
        FAIL(CULL_BAD_ARGUMENT, "%s: %lld outputs; 1 to %d are possible", place, (long long)out,
             CULL_MOST_CHANNELS);
    if (x >= 0 && x < model->nodes) in = (double)model->node[x].desc.y.c;
    if ((double)out * in * taps > MOST_WEIGHTS)
        FAIL(CULL_TOO_LARGE, "%s: more than 2^40 weights", place);
done:
    return status;
}

cull_status cull_model_finish(cull_model *model, int logits)
{
    if (!model) return cull_fail(CULL_BAD_ARGUMENT, "there is no model to finish");
    (void)cull_nn_graph_open(model);
    return cull_nn_model_finish(model, logits);
}

const char *cull_model_name_at(size_t i)
{
    return cull_nn_model_name_at(i);
}

cull_status cull_model_named(const char *name, int64_t channels, int64_t height, int64_t width,
                             size_t classes, cull_model **out)
{
    return cull_model_named_with(
        name,
        &(cull_named){.channels = channels, .height = height, .width = width, .classes = classes},
        out);
}

cull_status cull_model_named_with(const char *name, const cull_named *with, cull_model **out)
{
    cull_status        status = CULL_OK;
    cull_model_options options = {0};
    cull_named         room;

    *out = NULL;
    SIZED(cull_named, with, room);
    if (with->classes > (size_t)CULL_MOST_CHANNELS)
        FAIL(CULL_BAD_ARGUMENT, "%.40s: %zu classes", name, with->classes);
    if (with->stem != CULL_STEM_CIFAR && with->stem != CULL_STEM_IMAGENET)
        FAIL(CULL_BAD_OPTION, "stem: none is number %d", (int)with->stem);
    options = (cull_model_options){.channels = with->channels,
                                   .height = with->height,
                                   .width = with->width,
                                   .classes = with->classes,
                                   .dropout = with->dropout,
                                   .imagenet_stem = with->stem == CULL_STEM_IMAGENET,
                                   .norm_epsilon = with->norm_epsilon,
                                   .norm_momentum = with->norm_momentum,
                                   .mlp_width = with->mlp_width,
                                   .mlp_depth = with->mlp_depth,
                                   .tokens = with->tokens};
    TRY(cull_nn_model_by_name(name, &options, out));
done:
    return status;
}

size_t cull_model_parameters(const cull_model *model)
{
    return model->param_count;
}

size_t cull_model_classes(const cull_model *model)
{
    return model->classes;
}

cull_status cull_model_shape(const cull_model *model, int node, int64_t shape[3])
{
    const cull_image *y = NULL;

    if (!model || node < 0 || node >= model->nodes)
        return cull_fail(CULL_BAD_ARGUMENT, "%s: node %d is not there", model ? model->name : "",
                         node);
    y = &model->node[node].desc.y;
    shape[0] = y->c;
    shape[1] = y->h;
    shape[2] = y->w;
    return CULL_OK;
}
