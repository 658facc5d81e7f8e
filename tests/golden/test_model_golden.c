/*
 * tests/golden/test_model_golden.c - ten steps of training as PyTorch has done them in double
 * (model_*.txt; tools/make_golden.py holds the models, the formulas of weights, inputs and signs,
 * and the form of the files).
 *
 * `ref` in double must follow: losses, gradients of the first step and running averages. `cpu` in
 * float must agree with `ref` at the first step. A gradient's error is judged against the norm of
 * the whole gradient and estimated from the projections: a projection of an error on random signs
 * has the error's squared norm as its mean square.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"
#include "support.h"
#include "tensor/tensor.h"

enum { STEPS = 10, BATCH = 8, EXTENT = 16, CLASSES = 10, SIGNS = 8, AVERAGES = 4, LINE = 512 };

#define RATE     0.1
#define MOMENTUM 0.9

#define DOUBLE_ERROR 1e-9
/* MobileNetV2 from the fourth step on: a step there magnifies rounding ten- to a hundredfold,
 * between PyTorch's own layouts as well. */
#define PARTED_ERROR 1e-6
enum { PARTS_AFTER = 3 };

#define FLOAT_LOSS_ERROR 1e-5
#define FLOAT_GELU_ERROR 1e-4
/* A ReLU's gate flips where float rounding moves a value across zero, and a flipped gate changes
 * the gradient by a whole term; PyTorch's own float paths differ as much. */
#define FLOAT_RELU_ERROR 5e-2

/* ---- the formulas ---- */
static uint64_t hash_name(const char *name)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (; *name; name++) value = (value ^ (uint8_t)*name) * 0x100000001b3u;
    return value;
}

static uint64_t number(uint64_t name, uint64_t i)
{
    uint64_t z = name + (i + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double even(uint64_t name, uint64_t i)
{
    return 2 * ((double)(number(name, i) >> 11) * 0x1p-53) - 1;
}

static double initial(const cull_node *node, int part, uint64_t name, uint64_t i)
{
    if (part == 1) return even(name, i) / 4;
    if (node->running_count) return 1 + even(name, i) / 4;
    return even(name, i) / sqrt((double)(node->param_count[0] / (size_t)node->desc.y.c)) /
           (node->params > 1 ? 1 : 4);
}

/* ---- a network in training ---- */
struct net {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_plan    *plan;
    double       *velocity;
    cull_dtype    dtype;
    size_t        row;
};

static double get(const void *block, cull_dtype dtype, size_t i)
{
    return dtype == CULL_F32 ? (double)((const float *)block)[i] : ((const double *)block)[i];
}

static void put(void *block, cull_dtype dtype, size_t i, double value)
{
    if (dtype == CULL_F32)
        ((float *)block)[i] = (float)value;
    else
        ((double *)block)[i] = value;
}

static uint64_t parameter_name(const cull_node *node, int part, const char *prefix, char *name)
{
    (void)snprintf(name, LINE, "%s%s%s", prefix, node->name, part ? ".bias" : ".weight");
    return hash_name(name);
}

static void set_parameters(struct net *n)
{
    char name[LINE];

    for (int k = 1; k < n->model->nodes; k++) {
        const cull_node *node = &n->model->node[k];
        for (int part = 0; part < node->params; part++) {
            uint64_t hash = parameter_name(node, part, "", name);
            for (size_t i = 0; i < node->param_count[part]; i++)
                put(n->params->value, n->dtype, node->param_at[part] + i,
                    initial(node, part, hash, i));
        }
        for (size_t i = 0; i < node->running_count; i++)
            put(n->params->running, n->dtype, node->running_at + i, i >= node->running_count / 2);
    }
}

/* False where the backend has no layers. */
static bool start(struct net *n, const char *backend, cull_dtype dtype, const char *model,
                  bool gelu, int channels)
{
    cull_model_options options = {.channels = channels,
                                  .height = EXTENT,
                                  .width = EXTENT,
                                  .classes = CLASSES,
                                  .activation = gelu ? CULL_GELU : CULL_RELU};
    cull_status        status = CULL_OK;

    *n = (struct net){.dtype = dtype, .row = (size_t)(channels * EXTENT * EXTENT)};
    assert_ok(cull_backend_open(backend, 0, &n->backend));
    assert_ok(cull_nn_model_by_name(model, &options, &n->model));
    assert_ok(cull_nn_params_create(n->model, dtype, &n->params));
    set_parameters(n);
    n->velocity = calloc(n->params->count, sizeof *n->velocity);
    assert_non_null(n->velocity);
    status =
        cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, BATCH, 0, &n->plan);
    if (status != CULL_UNSUPPORTED) assert_ok(status);
    return status == CULL_OK;
}

static void finish(struct net *n)
{
    free(n->velocity);
    cull_nn_plan_destroy(n->plan);
    cull_nn_params_destroy(n->params);
    cull_nn_model_destroy(n->model);
    cull_backend_close(n->backend);
}

/* Element i of an example, in the layout the plan wants, is element `from` in NCHW. */
static size_t nchw(const cull_image *image, size_t i)
{
    size_t area = (size_t)(image->h * image->w), block = (size_t)image->block;
    size_t channel = i / (area * block) * block + i % block, pixel = i / block % area;

    return channel * area + pixel;
}

/* One pass forward and backward; the mean loss. */
static double learn(struct net *n, uint64_t step)
{
    cull_image   image = cull_nn_plan_input(n->plan);
    uint64_t     input = hash_name("inputs"), label = hash_name("labels");
    double      *inputs = malloc(BATCH * n->row * sizeof *inputs), loss = 0;
    int32_t      labels[BATCH];
    cull_batch   batch = {.count = BATCH, .inputs = inputs, .label = labels, .step = step};
    cull_signals seen;

    assert_non_null(inputs);
    for (size_t e = 0; e < BATCH; e++) {
        labels[e] = (int32_t)((number(label, e) >> 32) % CLASSES);
        for (size_t i = 0; i < n->row; i++)
            put(inputs, n->dtype, e * n->row + i, 2 * even(input, e * n->row + nchw(&image, i)));
    }
    assert_ok(cull_nn_learn(n->plan, &batch, &seen));
    for (size_t e = 0; e < BATCH; e++) loss += cull_tensor_get(&seen.loss, e) / BATCH;
    free(inputs);
    return loss;
}

/* SGD with momentum, by hand and in double: what is tested is the network. */
static void descend(struct net *n)
{
    double       *value = n->params->value;
    const double *gradient = n->params->gradient;

    for (size_t i = 0; i < n->params->count; i++) {
        n->velocity[i] = MOMENTUM * n->velocity[i] + gradient[i];
        value[i] -= RATE * n->velocity[i];
    }
}

/* ---- against the file ---- */
struct golden {
    FILE  *file;
    char   name[LINE], activation[LINE];
    int    channels;
    double loss[STEPS];
};

static bool read_head(struct golden *g)
{
    if (fscanf(g->file, " model %127s %15s %d loss", g->name, g->activation, &g->channels) != 3)
        return false;
    for (int i = 0; i < STEPS; i++) assert_int_equal(1, fscanf(g->file, "%lf", &g->loss[i]));
    return true;
}

/* The next line is about this tensor. */
static void read_line(struct golden *g, const char *kind, const char *name, size_t count,
                      double *number_of, int numbers)
{
    char   word[LINE], found[LINE];
    size_t size = 0;

    assert_int_equal(3, fscanf(g->file, " %31s %127s %zu", word, found, &size));
    if (strcmp(word, kind) != 0 || strcmp(found, name) != 0 || size != count)
        fail_msg("the file has %s %s (%zu), the model %s %s (%zu)", word, found, size, kind, name,
                 count);
    for (int i = 0; i < numbers; i++) assert_int_equal(1, fscanf(g->file, "%lf", &number_of[i]));
}

static void project(const double *values, size_t count, const char *name, int kinds, double *out)
{
    char     key[LINE];
    uint64_t hash = 0;

    (void)snprintf(key, sizeof key, "sign:%.400s", name);
    hash = hash_name(key);
    memset(out, 0, (size_t)kinds * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        uint64_t z = number(hash, i) >> 56;
        for (int j = 0; j < kinds; j++) out[j] += (z >> j) & 1 ? values[i] : -values[i];
    }
}

static double norm_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

/* One parameter's gradient: adds to the squared error and to the squared norm. */
static void check_parameter(struct golden *g, const struct net *n, const cull_node *node, int part,
                            int kinds, double *error, double *whole)
{
    const double *gradient = (const double *)n->params->gradient + node->param_at[part];
    size_t        count = node->param_count[part];
    double        golden[1 + SIGNS], ours[SIGNS], norm = norm_of(gradient, count);
    char          name[LINE];

    (void)parameter_name(node, part, "", name);
    read_line(g, "parameter", name, count, golden, 1 + kinds);
    project(gradient, count, name, kinds, ours);
    for (int j = 0; j < kinds; j++)
        *error += (ours[j] - golden[1 + j]) * (ours[j] - golden[1 + j]) / kinds;
    *error += (norm - golden[0]) * (norm - golden[0]);
    *whole += golden[0] * golden[0];
}

static void check_gradient(struct golden *g, const struct net *n, int kinds)
{
    double error = 0, whole = 0;

    for (int k = 1; k < n->model->nodes; k++)
        for (int part = 0; part < n->model->node[k].params; part++)
            check_parameter(g, n, &n->model->node[k], part, kinds, &error, &whole);
    print_message("%s %s: gradient to %.1e\n", g->name, g->activation, sqrt(error / whole));
    if (!(sqrt(error) <= DOUBLE_ERROR * sqrt(whole)))
        fail_msg("%s %s: gradient off by %g of its norm", g->name, g->activation,
                 sqrt(error / whole));
}

static void check_averages(struct golden *g, const struct net *n, double tolerance)
{
    double worst = 0;

    for (int k = 1; k < n->model->nodes; k++) {
        const cull_node *node = &n->model->node[k];
        size_t           count = node->running_count / 2;

        for (int half = 0; half < 2 && count; half++) {
            double golden[AVERAGES], ours[AVERAGES];
            char   name[LINE];

            (void)snprintf(name, sizeof name, "%s.running_%s", node->name, half ? "var" : "mean");
            read_line(g, "average", name, count, golden, AVERAGES);
            project((const double *)n->params->running + node->running_at + (half ? count : 0),
                    count, name, AVERAGES, ours);
            for (int j = 0; j < AVERAGES; j++) {
                double error = fabs(ours[j] - golden[j]) / fmax(1, fabs(golden[j]));
                if (!(error <= tolerance)) fail_msg("%s: %s off by %g", g->name, name, error);
                worst = fmax(worst, error);
            }
        }
    }
    print_message("%s: running averages to %.1e\n", g->name, worst);
}

static double tolerance_after(const struct golden *g, int steps)
{
    return strcmp(g->name, "mobilenetv2") == 0 && steps > PARTS_AFTER ? PARTED_ERROR : DOUBLE_ERROR;
}

/* `cpu` in float against `ref` in double, first step. */
static void check_float(const struct golden *g, const struct net *ref, bool gelu)
{
    struct net n;
    double     limit = gelu ? FLOAT_GELU_ERROR : FLOAT_RELU_ERROR, error = 0, whole = 0, loss = 0;

    if (!start(&n, "cpu", CULL_F32, g->name, gelu, g->channels)) {
        print_message("%s %s: skipped on cpu: %s\n", g->name, g->activation, cull_last_error());
        finish(&n);
        return;
    }
    loss = learn(&n, 0) - g->loss[0];
    for (size_t i = 0; i < n.params->count; i++) {
        double right = get(ref->params->gradient, CULL_F64, i);
        double wrong = get(n.params->gradient, CULL_F32, i) - right;
        error += wrong * wrong;
        whole += right * right;
    }
    print_message("%s %s on cpu: loss to %.1e, gradient to %.1e\n", g->name, g->activation,
                  fabs(loss), sqrt(error / whole));
    if (!(fabs(loss) <= FLOAT_LOSS_ERROR)) fail_msg("%s on cpu: loss off by %g", g->name, loss);
    if (!(sqrt(error) <= limit * sqrt(whole)))
        fail_msg("%s on cpu: gradient off by %g of its norm", g->name, sqrt(error / whole));
    finish(&n);
}

static void follow(struct golden *g)
{
    struct net n;
    bool       gelu = strcmp(g->activation, "gelu") == 0;
    int        steps = gelu ? 1 : STEPS;
    double     worst = 0;

    assert_true(start(&n, "ref", CULL_F64, g->name, gelu, g->channels));
    for (int step = 0; step < steps; step++) {
        double error = fabs(learn(&n, (uint64_t)step) - g->loss[step]);

        if (!(error <= tolerance_after(g, step + 1)))
            fail_msg("%s %s: loss of step %d off by %g", g->name, g->activation, step + 1, error);
        worst = fmax(worst, error);
        if (step == 0) check_gradient(g, &n, gelu ? 2 : SIGNS);
        if (step == 0) check_float(g, &n, gelu);
        descend(&n);
    }
    print_message("%s %s: losses to %.1e\n", g->name, g->activation, worst);
    if (!gelu) check_averages(g, &n, tolerance_after(g, STEPS));
    finish(&n);
}

static void follows_pytorch(void **state)
{
    char          path[LINE];
    struct golden g = {0};

    (void)snprintf(path, sizeof path, "%s/tests/golden/model_%s.txt", CULL_SOURCE_DIR,
                   (const char *)*state);
    g.file = fopen(path, "r");
    assert_non_null(g.file);
    for (int sections = 0; sections < 2; sections++) {
        assert_true(read_head(&g));
        assert_string_equal(*state, g.name);
        follow(&g);
    }
    assert_false(read_head(&g));
    (void)fclose(g.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"mlp_follows_pytorch", follows_pytorch, NULL, NULL, "mlp"},
        {"lenet5_follows_pytorch", follows_pytorch, NULL, NULL, "lenet5"},
        {"resnet20_follows_pytorch", follows_pytorch, NULL, NULL, "resnet20"},
        {"resnet18_follows_pytorch", follows_pytorch, NULL, NULL, "resnet18"},
        {"wrn_16_4_follows_pytorch", follows_pytorch, NULL, NULL, "wrn-16-4"},
        {"densenet_follows_pytorch", follows_pytorch, NULL, NULL, "densenet-bc-100-12"},
        {"mobilenetv2_follows_pytorch", follows_pytorch, NULL, NULL, "mobilenetv2"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
