/* nn/models/models.c - models by name: fixed ones, and families with numbers in their names. */
#include "nn/models/models.h"

#include <stdlib.h>
#include <string.h>

enum { NORMS = 1, STEMS = 2, DROPOUT = 4 }; /* what a model has to choose */

static const struct {
    const char        *name;
    cull_model_builder build;
    int                depth;
    unsigned           has;
} fixed[] = {{"mlp", cull_model_mlp, 0, 0},
             {"lenet5", cull_model_lenet, 0, 0},
             {"resnet20", cull_model_resnet_cifar, 20, NORMS},
             {"resnet56", cull_model_resnet_cifar, 56, NORMS},
             {"resnet18", cull_model_resnet, 18, NORMS | STEMS},
             {"resnet34", cull_model_resnet, 34, NORMS | STEMS},
             {"resnet50", cull_model_resnet, 50, NORMS | STEMS},
             {"mobilenetv1", cull_model_mobilenet1, 0, NORMS | STEMS},
             {"mobilenetv2", cull_model_mobilenet2, 0, NORMS | STEMS | DROPOUT}};

/* A family's example is what is listed; any depth = 6n + 4 and width will do. */
static const struct {
    const char        *prefix, *example;
    cull_model_builder build;
    unsigned           has;
} families[] = {{"wrn-", "wrn-16-4", cull_model_wideresnet, NORMS | DROPOUT},
                {"densenet-bc-", "densenet-bc-100-12", cull_model_densenet, NORMS}};

enum { FIXED = sizeof fixed / sizeof *fixed, FAMILIES = sizeof families / sizeof *families };

const char *cull_nn_model_name_at(size_t i)
{
    if (i < FIXED) return fixed[i].name;
    return i < FIXED + FAMILIES ? families[i - FIXED].example : NULL;
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

static cull_status find(const char *name, cull_model_options *options, cull_model_builder *build)
{
    cull_status status = CULL_OK;

    *build = NULL;
    for (size_t i = 0; i < FIXED; i++) {
        if (strcmp(fixed[i].name, name) != 0) continue;
        *build = fixed[i].build;
        options->depth = fixed[i].depth;
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        size_t length = strlen(families[i].prefix);

        if (strncmp(name, families[i].prefix, length) != 0) continue;
        if (!two_numbers(name + length, &options->depth, &options->widen) || options->depth < 10 ||
            options->depth > 1000 || (options->depth - 4) % 6 || options->widen < 1 ||
            options->widen > 64)
            FAIL(CULL_BAD_OPTION, "'%.40s': a depth of 6n+4 from 10 on and a width from 1 to 64",
                 name);
        *build = families[i].build;
    }
    if (!*build) FAIL_ABOUT(CULL_UNKNOWN_MODEL, name, "no model is called '%.40s'", name);
done:
    return status;
}

static unsigned has(const char *name)
{
    for (size_t i = 0; i < FIXED; i++)
        if (strcmp(fixed[i].name, name) == 0) return fixed[i].has;
    for (size_t i = 0; i < FAMILIES; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            return families[i].has;
    return NORMS | STEMS | DROPOUT; /* nobody's: told as such when it is looked for */
}

static bool is_usual(double value, double usual)
{
    return value == 0 || value == usual;
}

cull_status cull_nn_model_check_options(const char *name, const cull_model_options *o)
{
    cull_status status = CULL_OK;
    unsigned    can = has(name);

    if (!(o->dropout >= 0 && o->dropout < 1))
        FAIL_OPTION("dropout", "a probability of %g", o->dropout);
    if (o->dropout > 0 && !(can & DROPOUT))
        FAIL_OPTION("dropout", "%.40s has none; wrn-D-K and mobilenetv2 have", name);
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
}

cull_status cull_nn_model_by_name(const char *name, const cull_model_options *options,
                                  cull_model **out)
{
    cull_status        status = CULL_OK;
    cull_model_options o = *options;
    cull_model_builder build = NULL;
    cull_model        *model = NULL;

    TRY(find(name, &o, &build));
    TRY(cull_nn_model_check_options(name, &o));
    if (o.classes < 2) FAIL(CULL_BAD_OPTION, "%s: %zu classes", name, o.classes);
    TRY(cull_nn_model_create(name, o.channels, o.height, o.width, &model));
    model->epsilon = o.norm_epsilon;
    model->momentum = o.norm_momentum;
    TRY(cull_nn_model_finish(model, build(model, &o)));
    *out = model;
    model = NULL;
done:
    cull_nn_model_destroy(model);
    return status;
}
