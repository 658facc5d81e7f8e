/* nn/models/models.c - models by name: fixed ones, and families with numbers in their names. */
#include "nn/models/models.h"

#include <stdlib.h>
#include <string.h>

/* What a model has to choose; and what it reads, where that is no image. */
enum { NORMS = 1, STEMS = 2, DROPOUT = 4, HIDDEN = 8, TOKENS = 16, FOLDER = 32 };
enum { MOST_WIDTH = 1 << 20, MOST_DEPTH = 1000 };

struct known {
    const char *name, *example; /* a family's names only begin so: two numbers follow, and the
                                   example is what is listed */
    cull_model_builder build;
    int                depth; /* 0: as the name says, or there is none */
    unsigned           has;
};

static const struct known known[] = {
    {"mlp", NULL, cull_model_mlp, 0, HIDDEN},
    {"lenet5", NULL, cull_model_lenet, 0, 0},
    {"resnet20", NULL, cull_model_resnet_cifar, 20, NORMS},
    {"resnet56", NULL, cull_model_resnet_cifar, 56, NORMS},
    {"resnet18", NULL, cull_model_resnet, 18, NORMS | STEMS},
    {"resnet34", NULL, cull_model_resnet, 34, NORMS | STEMS},
    {"resnet50", NULL, cull_model_resnet, 50, NORMS | STEMS},
    {"mobilenetv1", NULL, cull_model_mobilenet1, 0, NORMS | STEMS},
    {"mobilenetv2", NULL, cull_model_mobilenet2, 0, NORMS | STEMS | DROPOUT},
    {"wrn-", "wrn-16-4", cull_model_wideresnet, 0, NORMS | DROPOUT},
    {"densenet-bc-", "densenet-bc-100-12", cull_model_densenet, 0, NORMS},
    {"bert", NULL, cull_model_bert, 0, DROPOUT | TOKENS | FOLDER},
    {"transformer-", "transformer-4-128", cull_model_transformer, 0, DROPOUT | TOKENS}};

enum { KNOWN = sizeof known / sizeof *known };

const char *cull_nn_model_name_at(size_t i)
{
    if (i >= KNOWN) return NULL;
    return known[i].example ? known[i].example : known[i].name;
}

/* The model or family of this name, or NULL. */
static const struct known *find(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].example ? strncmp(name, known[i].name, strlen(known[i].name)) == 0
                             : strcmp(name, known[i].name) == 0)
            return &known[i];
    return NULL;
}

/* "16-4" into two numbers and nothing else. */
static bool two_numbers(const char *text, int *first, int *second)
{
    char *dash = NULL, *end = NULL;
    long  one = strtol(text, &dash, 10);
    long  two = *dash == '-' ? strtol(dash + 1, &end, 10) : 0;

    *first = (int)one;
    *second = (int)two;
    return strlen(text) < 12 && dash != text && end && end != dash + 1 && *end == '\0';
}

/* Depth and width, where they are the model's. */
static cull_status take_size(const struct known *model, const char *name, cull_model_options *o)
{
    cull_status status = CULL_OK;

    if (!model->example) {
        o->depth = model->depth;
        goto done;
    }
    if (!two_numbers(name + strlen(model->name), &o->depth, &o->widen)) o->depth = o->widen = 0;
    if (model->has & TOKENS) {
        if (o->depth < 1 || o->depth > 100 || o->widen < 32 || o->widen > 4096 || o->widen % 32)
            FAIL(CULL_BAD_OPTION, "'%.40s': 1 to 100 blocks and a width of 32, 64, ... up to 4096",
                 name);
        goto done;
    }
    if (o->depth < 10 || o->depth > 1000 || (o->depth - 4) % 6 || o->widen < 1 || o->widen > 64)
        FAIL(CULL_BAD_OPTION, "'%.40s': a depth of 6n+4 from 10 on and a width from 1 to 64", name);
done:
    return status;
}

/* What nobody knows has everything: that is told when it is looked for. */
static unsigned has(const char *name)
{
    const struct known *model = find(name);

    return model ? model->has : NORMS | STEMS | DROPOUT | HIDDEN;
}

bool cull_nn_model_reads_tokens(const char *name)
{
    const struct known *model = find(name);

    return model && model->has & TOKENS;
}

static bool is_usual(double value, double usual)
{
    return value == 0 || value == usual;
}

static cull_status check_hidden(const char *name, const char *key, int64_t number, int64_t usual,
                                int64_t most, bool can)
{
    cull_status status = CULL_OK;

    if (number < 0 || number > most)
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %lld is not within 1 and %lld", key,
                   (long long)number, (long long)most);
    if (number && number != usual && !can)
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: only mlp has one to choose, %.40s has not", key,
                   name);
done:
    return status;
}

cull_status cull_nn_model_check_options(const char *name, const cull_model_options *o)
{
    cull_status status = CULL_OK;
    unsigned    can = has(name);

    if (!(o->dropout >= 0 && o->dropout < 1))
        FAIL_OPTION("dropout", "a probability of %g", o->dropout);
    if (o->dropout > 0 && !(can & DROPOUT))
        FAIL_OPTION("dropout",
                    "%.40s has none; wrn-D-K, mobilenetv2, bert and transformer-L-W have", name);
    if (o->imagenet_stem && !(can & STEMS))
        FAIL_OPTION("stem",
                    "%.40s has one stem only; resnet18, resnet34, resnet50, mobilenetv1 and "
                    "mobilenetv2 have two",
                    name);
    if (!(o->norm_epsilon >= 0 && o->norm_epsilon <= 1))
        FAIL_OPTION("norm_epsilon", "%g is not within 0 and 1", o->norm_epsilon);
    if (!(o->norm_momentum >= 0 && o->norm_momentum <= 1))
        FAIL_OPTION("norm_momentum", "%g is not within 0 and 1", o->norm_momentum);
    if (!is_usual(o->norm_epsilon, CULL_NORM_EPSILON) && !(can & NORMS))
        FAIL_OPTION("norm_epsilon", "%.40s has no norms", name);
    if (!is_usual(o->norm_momentum, CULL_NORM_MOMENTUM) && !(can & NORMS))
        FAIL_OPTION("norm_momentum", "%.40s has no norms", name);
    TRY(check_hidden(name, "width", o->mlp_width, CULL_MLP_WIDTH, MOST_WIDTH, can & HIDDEN));
    TRY(check_hidden(name, "depth", o->mlp_depth, CULL_MLP_DEPTH, MOST_DEPTH, can & HIDDEN));
done:
    return status;
}

int cull_model_logits(cull_model *m, int x, const char *name, const cull_model_options *options,
                      int init)
{
    x = cull_model_dense(m, x, name, &(cull_dense){.out = (int64_t)options->classes});
    if (x > 0) m->node[x].init = init;
    return x;
}

int cull_model_kernel(cull_model *m, int x, const char *name, int64_t out, int64_t kernel,
                      int64_t stride, cull_init init)
{
    cull_conv layer = {.out = out, .kernel = kernel, .stride = stride, .no_bias = true};

    layer.pad = kernel / 2;
    layer.init = init;
    return cull_model_conv(m, x, name, &layer);
}

void cull_nn_model_fit_options(const char *name, cull_model_options *options)
{
    unsigned can = has(name);

    if (!(can & DROPOUT)) options->dropout = 0;
    if (!(can & STEMS)) options->imagenet_stem = false;
    if (!(can & NORMS)) options->norm_epsilon = options->norm_momentum = 0;
    if (!(can & HIDDEN)) options->mlp_width = options->mlp_depth = 0;
}

static cull_status check_inputs(const struct known *model, const char *name,
                                const cull_model_options *o)
{
    cull_status status = CULL_OK;

    if (model->has & FOLDER && !o->bert)
        FAIL(CULL_BAD_OPTION, "%.40s is read from a folder of transformers', and none is named",
             name);
    if (model->has & TOKENS && o->tokens < 1)
        FAIL(CULL_BAD_ARGUMENT, "%.40s reads texts, and these inputs are none", name);
    if (!(model->has & TOKENS) && o->tokens > 0)
        FAIL(CULL_BAD_ARGUMENT, "%.40s reads images, and these inputs are texts", name);
    if (model->has & FOLDER && o->tokens > o->bert->tokens)
        FAIL(CULL_BAD_ARGUMENT, "%.40s knows %lld tokens, and these texts have %lld", name,
             (long long)o->bert->tokens, (long long)o->tokens);
done:
    return status;
}

cull_status cull_nn_model_by_name(const char *name, const cull_model_options *options,
                                  cull_model **out)
{
    cull_status         status = CULL_OK;
    cull_model_options  o = *options;
    const struct known *found = find(name);
    cull_model         *model = NULL;

    if (!found) FAIL_ABOUT(CULL_UNKNOWN_MODEL, name, "no model is called '%.40s'", name);
    TRY(take_size(found, name, &o));
    TRY(cull_nn_model_check_options(name, &o));
    TRY(check_inputs(found, name, &o));
    if (o.classes < 1) FAIL(CULL_BAD_OPTION, "%s: %zu classes", name, o.classes);
    TRY(cull_nn_model_create(name, o.channels, o.height, o.width, &model));
    model->epsilon = o.norm_epsilon;
    model->momentum = o.norm_momentum;
    TRY(cull_nn_model_finish(model, found->build(model, &o)));
    *out = model;
    model = NULL;
done:
    cull_nn_model_destroy(model);
    return status;
}
