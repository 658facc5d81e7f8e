/* nn/model.c - models as the public API has them: every argument checked, then the layer's file. */
#include <string.h>

#include "base/sized.h"
#include "nn/graph.h"

enum { MOST_SIDE = 1 << 12, MOST_CHANNELS = 1 << 24, MOST_NAME = 31 };

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

/* May the model be added to? */
static bool is_open(cull_model *model)
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

/* A layer that has a name, and settings where `layer` is not NULL. */
static bool takes(cull_model *model, const char *name)
{
    if (!is_open(model)) return false;
    cull_nn_graph_trouble(model, check_name(model, name));
    return model->trouble == CULL_OK;
}

/* Sizes before anything is multiplied. */
static cull_status check_weight(const cull_model *model, int x, const char *name, int64_t out,
                                double taps, int init)
{
    cull_status status = CULL_OK;
    double      in = 1;

    if (init != CULL_INIT_TORCH && init != CULL_INIT_HE_IN && init != CULL_INIT_HE_OUT)
        FAIL(CULL_BAD_ARGUMENT, "%s: %s: no start of weights is number %d", model->name, name,
             init);
    if (out < 1 || out > MOST_CHANNELS)
        FAIL(CULL_BAD_ARGUMENT, "%s: %s: %lld outputs; 1 to %d are possible", model->name, name,
             (long long)out, MOST_CHANNELS);
    if (x >= 0 && x < model->nodes) in = (double)model->node[x].desc.y.c;
    if ((double)out * in * taps > MOST_WEIGHTS)
        FAIL(CULL_TOO_LARGE, "%s: %s: more than 2^40 weights", model->name, name);
done:
    return status;
}

static bool is_within(int64_t number, int64_t least, int64_t most)
{
    return number >= least && number <= most;
}

static cull_status check_axis(const cull_model *model, const cull_window *w)
{
    if (is_within(w->kernel, 1, MOST_SIDE) && is_within(w->stride, 0, MOST_SIDE) &&
        is_within(w->dilation, 0, MOST_SIDE) &&
        is_within(w->pad, 0, (w->kernel - 1) * (w->dilation ? w->dilation : 1)))
        return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT,
                     "%s: node %d: a window of kernel %lld, stride %lld, padding %lld, dilation "
                     "%lld",
                     model->name, model->nodes, (long long)w->kernel, (long long)w->stride,
                     (long long)w->pad, (long long)w->dilation);
}

static cull_status check_window(const cull_model *model, cull_window height, cull_window width)
{
    cull_status status = CULL_OK;

    TRY(check_axis(model, &height));
    if (width.kernel)
        TRY(check_axis(model, &width));
    else if (width.stride || width.pad || width.dilation)
        FAIL(CULL_BAD_ARGUMENT, "%s: node %d: the width of a window has settings but no kernel",
             model->name, model->nodes);
done:
    return status;
}

int cull_model_dense(cull_model *model, int x, const char *name, const cull_dense *given)
{
    cull_dense own = {0}, *layer = &own;

    if (!takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_dense", given, sizeof own, &own));
    cull_nn_graph_trouble(model, check_weight(model, x, name, layer->out, 1, (int)layer->init));
    return cull_nn_dense(model, x, name, layer->out, !layer->no_bias, (int)layer->init);
}

int cull_model_conv(cull_model *model, int x, const char *name, const cull_conv *given)
{
    cull_conv   own = {0}, *layer = &own;
    cull_window height = {0};
    int64_t     width = 0;

    if (!takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_conv", given, sizeof own, &own));
    height = (cull_window){layer->kernel, layer->stride, layer->pad, layer->dilation};
    width = layer->width.kernel ? layer->width.kernel : layer->kernel;
    cull_nn_graph_trouble(model, check_window(model, height, layer->width));
    cull_nn_graph_trouble(model,
                          check_weight(model, x, name, layer->out,
                                       (double)layer->kernel * (double)width, (int)layer->init));
    return cull_nn_conv(model, x, name, layer);
}

int cull_model_norm(cull_model *model, int x, const char *name, const cull_norm *given)
{
    cull_norm own = {0}, *layer = &own;

    if (!takes(model, name)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_norm", given, sizeof own, &own));
    if (layer->over == CULL_NORM_BATCH || layer->over == CULL_NORM_GROUP ||
        layer->over == CULL_NORM_LAYER)
        return cull_nn_norm(model, x, name, layer);
    cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT, "%s: node %d: no norm is number %d",
                                           model->name, model->nodes, (int)layer->over));
    return -1;
}

int cull_model_batchnorm(cull_model *model, int x, const char *name)
{
    return takes(model, name) ? cull_nn_batchnorm(model, x, name) : -1;
}

int cull_model_groupnorm(cull_model *model, int x, const char *name, int64_t groups)
{
    return takes(model, name) ? cull_nn_groupnorm(model, x, name, groups) : -1;
}

int cull_model_layernorm(cull_model *model, int x, const char *name)
{
    return takes(model, name) ? cull_nn_layernorm(model, x, name) : -1;
}

int cull_model_activate(cull_model *model, int x, cull_activation activation)
{
    if (!is_open(model)) return -1;
    if (activation != CULL_RELU && activation != CULL_RELU6 && activation != CULL_GELU)
        cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                               "%s: node %d: no activation is number %d",
                                               model->name, model->nodes, (int)activation));
    return cull_nn_activate(model, x, activation);
}

int cull_model_pool(cull_model *model, int x, const cull_pool *given)
{
    cull_pool   own = {0}, *layer = &own;
    cull_window height = {0};

    if (!is_open(model)) return -1;
    cull_nn_graph_trouble(model, cull_sized_read("cull_pool", given, sizeof own, &own));
    height = (cull_window){.kernel = layer->kernel, .stride = layer->stride, .pad = layer->pad};
    if (layer->pooling == CULL_POOL_GLOBAL) return cull_nn_pool(model, x, layer);
    if (layer->pooling != CULL_POOL_MAX && layer->pooling != CULL_POOL_AVERAGE)
        cull_nn_graph_trouble(model,
                              cull_fail(CULL_BAD_ARGUMENT, "%s: node %d: no pooling is number %d",
                                        model->name, model->nodes, (int)layer->pooling));
    cull_nn_graph_trouble(model, check_window(model, height, layer->width));
    return cull_nn_pool(model, x, layer);
}

int cull_model_add(cull_model *model, int x, int x2)
{
    return is_open(model) ? cull_nn_add(model, x, x2) : -1;
}

int cull_model_concat(cull_model *model, int x, int x2)
{
    return is_open(model) ? cull_nn_concat(model, x, x2) : -1;
}

int cull_model_dropout(cull_model *model, int x, double probability)
{
    return is_open(model) ? cull_nn_dropout(model, x, probability) : -1;
}

int cull_model_flatten(cull_model *model, int x)
{
    return is_open(model) ? cull_nn_flatten(model, x) : -1;
}

int cull_model_shortcut(cull_model *model, int x, int64_t channels, int64_t stride)
{
    if (!is_open(model)) return -1;
    if (channels < 1 || channels > MOST_CHANNELS || stride < 1 || stride > MOST_SIDE)
        cull_nn_graph_trouble(model, cull_fail(CULL_BAD_ARGUMENT,
                                               "%s: node %d: a shortcut to %lld channels, stride "
                                               "%lld",
                                               model->name, model->nodes, (long long)channels,
                                               (long long)stride));
    return cull_nn_shortcut(model, x, channels, stride);
}

cull_status cull_model_finish(cull_model *model, int logits)
{
    if (!model) return cull_fail(CULL_BAD_ARGUMENT, "there is no model to finish");
    (void)is_open(model);
    return cull_nn_model_finish(model, logits);
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
    if (with->classes > (size_t)MOST_CHANNELS)
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
                                   .norm_momentum = with->norm_momentum};
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
