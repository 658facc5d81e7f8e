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
#include "golden/model_trace.h"

enum { EXAMPLES = 8, EXTENT = 16, AVERAGES = 4 };

#define DOUBLE_ERROR 1e-9
/* MobileNetV2 from the fourth step on: a step there magnifies rounding about tenfold, between
 * PyTorch's own layouts as well (the paths of its file). */
#define PARTED_ERROR 1e-6
enum { PARTS_AFTER = 3 };

#define FLOAT_LOSS_ERROR 1e-5
#define FLOAT_GELU_ERROR 1e-4
/* A ReLU's gate flips where float rounding moves a value across zero, and a flipped gate changes
 * the gradient by a whole term; PyTorch's own float paths differ as much. */
#define FLOAT_RELU_ERROR 5e-2

/* ---- against the file ---- */
struct golden {
    FILE  *file;
    char   name[LINE], activation[LINE];
    int    channels, steps;
    double loss[STEPS];
};

static bool read_head(struct golden *g)
{
    if (fscanf(g->file, " model %127s %15s %d loss", g->name, g->activation, &g->channels) != 3)
        return false;
    g->steps = strcmp(g->activation, "gelu") == 0 ? 1 : STEPS;
    for (int i = 0; i < g->steps; i++) assert_int_equal(1, fscanf(g->file, "%lf", &g->loss[i]));
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

static double norm_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

/* One parameter's gradient: adds to the squared error and to the squared norm. */
static void check_parameter(struct golden *g, const struct trace *t, const cull_node *node,
                            int part, int kinds, double *error, double *whole)
{
    const double *gradient = t->host.gradient;
    size_t        at = node->param_at[part], count = node->param_count[part];
    double        golden[1 + SIGNS], ours[SIGNS] = {0}, norm = norm_of(gradient + at, count);
    char          name[LINE];

    (void)snprintf(name, sizeof name, "%s%s", node->name, suffix_of(part));
    read_line(g, "parameter", name, count, golden, 1 + kinds);
    project(gradient, CULL_F64, at, count, name, "", kinds, ours);
    for (int j = 0; j < kinds; j++)
        *error += (ours[j] - golden[1 + j]) * (ours[j] - golden[1 + j]) / kinds;
    *error += (norm - golden[0]) * (norm - golden[0]);
    *whole += golden[0] * golden[0];
}

static void check_gradient(struct golden *g, const struct trace *t, int kinds)
{
    double error = 0, whole = 0;

    for (int k = 1; k < t->net->nodes; k++)
        for (int part = 0; part < t->net->node[k].params; part++)
            check_parameter(g, t, &t->net->node[k], part, kinds, &error, &whole);
    print_message("%s %s: gradient to %.1e\n", g->name, g->activation, sqrt(error / whole));
    if (!(sqrt(error) <= DOUBLE_ERROR * sqrt(whole)))
        fail_msg("%s %s: gradient off by %g of its norm", g->name, g->activation,
                 sqrt(error / whole));
}

static void check_averages(struct golden *g, const struct trace *t, double tolerance)
{
    double worst = 0;

    for (int k = 1; k < t->net->nodes; k++) {
        const cull_node *node = &t->net->node[k];
        size_t           count = node->running_count / 2;

        for (int half = 0; half < 2 && count; half++) {
            double golden[AVERAGES], ours[AVERAGES] = {0};
            char   name[LINE];

            (void)snprintf(name, sizeof name, "%s.running_%s", node->name, half ? "var" : "mean");
            read_line(g, "average", name, count, golden, AVERAGES);
            project(t->host.running, CULL_F64, node->running_at + (half ? count : 0), count, name,
                    "", AVERAGES, ours);
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

static struct trace trace_of(const struct golden *g, cull_dtype dtype)
{
    return (struct trace){.model = g->name,
                          .prefix = "",
                          .gelu = strcmp(g->activation, "gelu") == 0,
                          .channels = g->channels,
                          .extent = EXTENT,
                          .examples = EXAMPLES,
                          .dtype = dtype};
}

/* `cpu` in float against `ref` in double, first step. */
static void check_float(const struct golden *g, const struct trace *ref)
{
    struct trace t = trace_of(g, CULL_F32);
    double       limit = t.gelu ? FLOAT_GELU_ERROR : FLOAT_RELU_ERROR;
    double       error = 0, whole = 0, loss = 0;

    if (!start(&t, "cpu")) {
        print_message("%s %s: skipped on cpu: %s\n", g->name, g->activation, cull_last_error());
        finish(&t);
        return;
    }
    loss = learn(&t, 1) - g->loss[0];
    for (size_t i = 0; i < t.params->count; i++) {
        double right = get(ref->host.gradient, CULL_F64, i);
        double wrong = get(t.host.gradient, CULL_F32, i) - right;
        error += wrong * wrong;
        whole += right * right;
    }
    print_message("%s %s on cpu: loss to %.1e, gradient to %.1e\n", g->name, g->activation,
                  fabs(loss), sqrt(error / whole));
    if (!(fabs(loss) <= FLOAT_LOSS_ERROR)) fail_msg("%s on cpu: loss off by %g", g->name, loss);
    if (!(sqrt(error) <= limit * sqrt(whole)))
        fail_msg("%s on cpu: gradient off by %g of its norm", g->name, sqrt(error / whole));
    finish(&t);
}

/* Said beside our own errors: how far PyTorch's other paths part from the one in the file. */
static void read_paths(struct golden *g)
{
    char   path[LINE];
    double loss = 0, gradient = 0, average = 0;
    int    paths = 0;

    while (fscanf(g->file, " path %31s %lf %lf %lf", path, &loss, &gradient, &average) == 4) {
        print_message("%s: PyTorch's %s parts by %.1e (losses), %.1e (gradient), %.1e (averages)\n",
                      g->name, path, loss, gradient, average);
        paths++;
    }
    assert_true(paths > 0);
}

static void follow(struct golden *g)
{
    struct trace t = trace_of(g, CULL_F64);
    double       worst = 0;

    assert_true(start(&t, "ref"));
    for (int step = 1; step <= g->steps; step++) {
        double error = fabs(learn(&t, step) - g->loss[step - 1]);

        if (!(error <= tolerance_after(g, step)))
            fail_msg("%s %s: loss of step %d off by %g", g->name, g->activation, step, error);
        worst = fmax(worst, error);
        if (step == 1) check_gradient(g, &t, t.gelu ? 2 : SIGNS);
        if (step == 1) check_float(g, &t);
        descend(&t);
    }
    print_message("%s %s: losses to %.1e\n", g->name, g->activation, worst);
    if (!t.gelu) check_averages(g, &t, tolerance_after(g, g->steps));
    if (!t.gelu) read_paths(g);
    finish(&t);
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
