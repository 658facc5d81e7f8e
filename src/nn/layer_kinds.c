/* nn/layer_kinds.c - the layers that a list may name: their options, and how they join a model. */
#include <string.h>

#include "nn/graph.h"
#include "nn/layer_list.h"

#define NAME                                                                                       \
    {                                                                                              \
        "name", CULL_OPTION_TEXT, "", 0, 0, NULL, "what weights files call it; none: its place"    \
    }
#define INIT                                                                                       \
    {                                                                                              \
        "init", CULL_OPTION_CHOICE, "torch", 0, 0, "torch|he-in|he-out",                           \
            "how its weights begin: as PyTorch's layers do, or normal by the inputs or outputs"    \
    }
#define BIAS                                                                                       \
    {                                                                                              \
        "bias", CULL_OPTION_BOOL, "true", 0, 0, NULL, "whether it adds one number to each output"  \
    }
#define EPSILON                                                                                    \
    {                                                                                              \
        "epsilon", CULL_OPTION_REAL, "model.norm_epsilon", 1e-12, 1, "model.norm_epsilon",         \
            "what it adds to a variance before its root is taken"                                  \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL                                              \
    }

static const cull_option_spec conv_options[] = {
    {"channels", CULL_OPTION_INT, "", 1, CULL_MOST_CHANNELS, NULL, "how many it makes"},
    {"kernel", CULL_OPTION_LIST, "", 1, CULL_MOST_SIDE, NULL, "its side, or [height, width]"},
    {"stride", CULL_OPTION_LIST, "1", 1, CULL_MOST_SIDE, NULL, "pixels from one place to the next"},
    {"padding", CULL_OPTION_LIST, "0", 0, CULL_MOST_CHANNELS, NULL,
     "zeros on each side; same: as many as keep the extent"},
    {"dilation", CULL_OPTION_LIST, "1", 1, CULL_MOST_SIDE, NULL, "pixels from tap to tap"},
    {"groups", CULL_OPTION_INT, "1", 1, CULL_MOST_CHANNELS, NULL,
     "parts of the channels that do not mix; as many as channels: depthwise"},
    BIAS,
    INIT,
    NAME,
    END};
static const cull_option_spec dense_options[] = {
    {"width", CULL_OPTION_INT, "classes", 1, CULL_MOST_CHANNELS, "classes",
     "how many features it makes; only the last layer may leave it to the data's classes"},
    BIAS,
    INIT,
    NAME,
    END};
static const cull_option_spec batchnorm_options[] = {
    EPSILON,
    {"momentum", CULL_OPTION_REAL, "model.norm_momentum", 1e-9, 1, "model.norm_momentum",
     "share of the new in its running averages"},
    NAME,
    END};
static const cull_option_spec groupnorm_options[] = {{"groups", CULL_OPTION_INT, "", 1,
                                                      CULL_MOST_CHANNELS, NULL,
                                                      "how many the channels are cut into"},
                                                     EPSILON,
                                                     NAME,
                                                     END};
static const cull_option_spec layernorm_options[] = {EPSILON, NAME, END};
static const cull_option_spec embed_options[] = {
    {"width", CULL_OPTION_INT, "", 1, CULL_MOST_CHANNELS, NULL, "how many features a token has"},
    NAME,
    END};
static const cull_option_spec positions_options[] = {NAME, END};
static const cull_option_spec attention_options[] = {
    {"heads", CULL_OPTION_INT, "", 1, CULL_MOST_HEADS, NULL, "parts of the features, each alone"},
    {"dropout", CULL_OPTION_REAL, "0", 0, 0.999, NULL, "probability that a weight is left out"},
    END};
static const cull_option_spec pool_options[] = {
    {"kernel", CULL_OPTION_LIST, "", 1, CULL_MOST_POOL, NULL, "its side, or [height, width]"},
    {"stride", CULL_OPTION_LIST, "0", 0, CULL_MOST_SIDE, NULL,
     "pixels from one place to the next; 0: the kernel's side"},
    {"padding", CULL_OPTION_LIST, "0", 0, CULL_MOST_POOL, NULL,
     "pixels on each side that count for nothing"},
    END};
static const cull_option_spec dropout_options[] = {
    {"probability", CULL_OPTION_REAL, "", 0, 0.999, NULL, "that a number is left out"}, END};
static const cull_option_spec shortcut_options[] = {
    {"channels", CULL_OPTION_INT, "", 1, CULL_MOST_CHANNELS, NULL, "how many it makes"},
    {"stride", CULL_OPTION_INT, "1", 1, CULL_MOST_SIDE, NULL, "every so many pixels are taken"},
    END};
static const cull_option_spec no_options[] = {END};

/* Both axes of a window's number. */
static void axes_of(const cull_values *v, const char *key, int64_t out[2])
{
    double number[2] = {0};

    if (cull_values_list(v, key, number, 2) < 2) number[1] = number[0];
    out[0] = (int64_t)number[0];
    out[1] = (int64_t)number[1];
}

static cull_init init_of(const cull_values *v)
{
    if (cull_value_is(v, "init", "he-in")) return CULL_INIT_HE_IN;
    return cull_value_is(v, "init", "he-out") ? CULL_INIT_HE_OUT : CULL_INIT_TORCH;
}

/* A word in place of a number says that the model has it. */
static double number_or_usual(const cull_values *v, const char *key)
{
    double number = cull_value_real(v, key);

    return number > 0 ? number : 0;
}

static cull_status check_conv(const char *owner, const cull_values *v)
{
    cull_status status = CULL_OK;
    int64_t     kernel[2], padding[2], dilation[2];
    int64_t     channels = cull_value_int(v, "channels"), groups = cull_value_int(v, "groups");

    axes_of(v, "kernel", kernel);
    axes_of(v, "padding", padding);
    axes_of(v, "dilation", dilation);
    for (int i = 0; i < 2; i++)
        if (padding[i] > (kernel[i] - 1) * dilation[i])
            FAIL(CULL_BAD_OPTION,
                 "%s: padding=%lld with kernel=%lld: some outputs would see nothing "
                 "else; at most %lld",
                 owner, (long long)padding[i], (long long)kernel[i],
                 (long long)((kernel[i] - 1) * dilation[i]));
    if (channels % groups)
        FAIL(CULL_BAD_OPTION, "%s: groups=%lld does not divide channels=%lld", owner,
             (long long)groups, (long long)channels);
done:
    return status;
}

static cull_status check_pool(const char *owner, const cull_values *v)
{
    int64_t kernel[2], padding[2];

    axes_of(v, "kernel", kernel);
    axes_of(v, "padding", padding);
    for (int i = 0; i < 2; i++)
        if (2 * padding[i] > kernel[i])
            return cull_fail(CULL_BAD_OPTION, "%s: padding=%lld is more than half of kernel=%lld",
                             owner, (long long)padding[i], (long long)kernel[i]);
    return CULL_OK;
}

static int add_conv(cull_model *m, int x, const char *name, const cull_values *v, int64_t outputs)
{
    int64_t   kernel[2], stride[2], pad[2], dilation[2];
    cull_conv layer = {.out = cull_value_int(v, "channels"),
                       .groups = cull_value_int(v, "groups"),
                       .no_bias = !cull_value_bool(v, "bias"),
                       .init = init_of(v)};

    (void)outputs;
    axes_of(v, "kernel", kernel);
    axes_of(v, "stride", stride);
    axes_of(v, "padding", pad);
    axes_of(v, "dilation", dilation);
    layer.kernel = kernel[0];
    layer.stride = stride[0];
    layer.pad = pad[0];
    layer.dilation = dilation[0];
    layer.width = (cull_window){kernel[1], stride[1], pad[1], dilation[1]};
    return cull_model_conv(m, x, name, &layer);
}

static int add_dense(cull_model *m, int x, const char *name, const cull_values *v, int64_t outputs)
{
    int64_t    width = cull_value_int(v, "width");
    cull_dense layer = {
        .out = width ? width : outputs, .no_bias = !cull_value_bool(v, "bias"), .init = init_of(v)};

    return cull_model_dense(m, x, name, &layer);
}

static int add_batchnorm(cull_model *m, int x, const char *name, const cull_values *v,
                         int64_t outputs)
{
    (void)outputs;
    return cull_model_norm(m, x, name,
                           &(cull_norm){.over = CULL_NORM_BATCH,
                                        .epsilon = number_or_usual(v, "epsilon"),
                                        .momentum = number_or_usual(v, "momentum")});
}

static int add_groupnorm(cull_model *m, int x, const char *name, const cull_values *v,
                         int64_t outputs)
{
    (void)outputs;
    return cull_model_norm(m, x, name,
                           &(cull_norm){.over = CULL_NORM_GROUP,
                                        .groups = cull_value_int(v, "groups"),
                                        .epsilon = number_or_usual(v, "epsilon")});
}

static int add_layernorm(cull_model *m, int x, const char *name, const cull_values *v,
                         int64_t outputs)
{
    (void)outputs;
    return cull_model_norm(
        m, x, name,
        &(cull_norm){.over = CULL_NORM_LAYER, .epsilon = number_or_usual(v, "epsilon")});
}

static int add_embed(cull_model *m, int x, const char *name, const cull_values *v, int64_t outputs)
{
    (void)outputs;
    if (!m->tokens)
        cull_nn_graph_trouble(
            m, cull_fail(CULL_BAD_ARGUMENT, "%s: the inputs are no texts", m->place));
    return cull_model_embed(
        m, x, name, &(cull_embed){.tokens = m->tokens, .width = cull_value_int(v, "width")});
}

static int add_attention(cull_model *m, int x, const char *name, const cull_values *v,
                         int64_t outputs)
{
    (void)name, (void)outputs;
    return cull_model_attention(m, x, 0,
                                &(cull_attention){.heads = cull_value_int(v, "heads"),
                                                  .dropout = cull_value_real(v, "dropout")});
}

static int add_pool(cull_model *m, int x, const cull_values *v, cull_pooling pooling)
{
    int64_t kernel[2], stride[2], pad[2];

    axes_of(v, "kernel", kernel);
    axes_of(v, "stride", stride);
    axes_of(v, "padding", pad);
    return cull_model_pool(m, x,
                           &(cull_pool){.pooling = pooling,
                                        .kernel = kernel[0],
                                        .stride = stride[0],
                                        .pad = pad[0],
                                        .width = {kernel[1], stride[1], pad[1], 0}});
}

/* Layers that have neither weights nor more than a number. */
#define PLAIN(function, expr)                                                                      \
    static int function(cull_model *m, int x, const char *name, const cull_values *v,              \
                        int64_t outputs)                                                           \
    {                                                                                              \
        (void)name, (void)v, (void)outputs;                                                        \
        return expr;                                                                               \
    }

PLAIN(add_relu, cull_model_activate(m, x, CULL_RELU))
PLAIN(add_relu6, cull_model_activate(m, x, CULL_RELU6))
PLAIN(add_gelu, cull_model_activate(m, x, CULL_GELU))
PLAIN(add_tanh, cull_model_activate(m, x, CULL_TANH))
PLAIN(add_positions, cull_model_positions(m, x, name, &(cull_positions){.rows = m->input.h}))
PLAIN(add_first, cull_model_take(m, x))
PLAIN(add_maxpool, add_pool(m, x, v, CULL_POOL_MAX))
PLAIN(add_avgpool, add_pool(m, x, v, CULL_POOL_AVERAGE))
PLAIN(add_globalpool, cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL}))
PLAIN(add_flatten, cull_model_flatten(m, x))
PLAIN(add_dropout, cull_model_dropout(m, x, cull_value_real(v, "probability")))
PLAIN(add_shortcut,
      cull_model_shortcut(m, x, cull_value_int(v, "channels"), cull_value_int(v, "stride")))

static const cull_list_kind kinds[] = {
    {.name = "conv",
     .doc = "a convolution",
     .option = conv_options,
     .check = check_conv,
     .add = add_conv},
    {.name = "dense",
     .doc = "every output of every input; behind `flatten` or `globalpool`",
     .option = dense_options,
     .alone = "width",
     .ends = true,
     .add = add_dense},
    {.name = "batchnorm",
     .doc = "each channel by the mean and variance that the batch has of it",
     .option = batchnorm_options,
     .add = add_batchnorm},
    {.name = "groupnorm",
     .doc = "groups of channels, by the mean and variance of the example alone",
     .option = groupnorm_options,
     .alone = "groups",
     .add = add_groupnorm},
    {.name = "layernorm",
     .doc = "all of an example, by its own mean and variance",
     .option = layernorm_options,
     .add = add_layernorm},
    {.name = "relu", .doc = "max(x, 0)", .option = no_options, .add = add_relu},
    {.name = "relu6", .doc = "min(max(x, 0), 6)", .option = no_options, .add = add_relu6},
    {.name = "gelu",
     .doc = "x times the share of a normal distribution below x",
     .option = no_options,
     .add = add_gelu},
    {.name = "tanh", .doc = "the hyperbolic tangent", .option = no_options, .add = add_tanh},
    {.name = "embed",
     .doc = "features for every token of a text, with which a network of texts begins; `dense`, "
            "`layernorm` and all that has no weights then look at each position alone",
     .option = embed_options,
     .alone = "width",
     .add = add_embed},
    {.name = "positions",
     .doc = "features of its own added at every position",
     .option = positions_options,
     .add = add_positions},
    {.name = "attention",
     .doc =
         "from queries, keys and values behind each other, as `dense` of three widths makes them, "
         "to one width",
     .option = attention_options,
     .alone = "heads",
     .add = add_attention},
    {.name = "first",
     .doc = "the first position, as features",
     .option = no_options,
     .add = add_first},
    {.name = "maxpool",
     .doc = "the largest of each window",
     .option = pool_options,
     .alone = "kernel",
     .check = check_pool,
     .add = add_maxpool},
    {.name = "avgpool",
     .doc = "the mean of each window",
     .option = pool_options,
     .alone = "kernel",
     .check = check_pool,
     .add = add_avgpool},
    {.name = "globalpool",
     .doc = "the mean of each channel, as features",
     .option = no_options,
     .add = add_globalpool},
    {.name = "dropout",
     .doc = "numbers left out at random while training, the others larger for it",
     .option = dropout_options,
     .alone = "probability",
     .add = add_dropout},
    {.name = "flatten", .doc = "an image as features", .option = no_options, .add = add_flatten},
    {.name = "shortcut",
     .doc = "ResNet's without weights: fewer pixels, zero channels on both sides",
     .option = shortcut_options,
     .alone = "channels",
     .add = add_shortcut},
    {.name = "residual",
     .doc = "a list of layers, whose end is added to what they were given",
     .option = no_options,
     .holds = CULL_LIST_ROAD,
     .join = cull_model_add},
    {.name = "add",
     .doc = "a list of such lists, the branches, whose ends are added; `[]` passes on what it is "
            "given",
     .option = no_options,
     .holds = CULL_LIST_BRANCHES,
     .join = cull_model_add},
    {.name = "concat",
     .doc = "the same with the ends' channels behind each other",
     .option = no_options,
     .holds = CULL_LIST_BRANCHES,
     .join = cull_model_concat}};

enum { KINDS = sizeof kinds / sizeof *kinds };

const cull_list_kind *cull_nn_list_kind_at(size_t i)
{
    return i < KINDS ? &kinds[i] : NULL;
}

const cull_list_kind *cull_nn_list_kind(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
