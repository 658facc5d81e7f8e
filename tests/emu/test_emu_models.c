/*
 * tests/emu/test_emu_models.c - the networks of the golden tests by the CUDA backend's own sources:
 * losses, gradients and averages of their first steps beside `ref`'s.
 *
 * In float32 by the rule of the golden tests: held against `ref` in float64, at most a few times as
 * far off as `ref` in float32 is. In bfloat16 the first step alone, of networks in which rounding
 * stays what it is; the bounds are what eight bits of each value leave after so many layers.
 */
#include "golden/model_trace.h"
#include "nn/plan.h"

enum { EXAMPLES = 4, TAKEN = 2 };

#define WORSE 4.   /* times as far off as ref in float32 */
#define FLOOR 2e-6 /* or so far, relatively              */

struct kind {
    const char *model;
    int64_t     extent;
    bool        narrow;
};

static struct trace trace_of(const struct kind *kind, cull_dtype dtype)
{
    return (struct trace){.model = kind->model,
                          .prefix = "",
                          .channels = strcmp(kind->model, "lenet5") == 0 ? 1 : 3,
                          .extent = kind->extent,
                          .examples = EXAMPLES,
                          .dtype = dtype};
}

/* |a - b| / |b|, b in float64 */
static double apart(const void *a, cull_dtype dtype, const double *b, size_t count)
{
    double sum = 0, whole = 0;

    for (size_t i = 0; i < count; i++) {
        double x = get(a, dtype, i);

        sum += (x - b[i]) * (x - b[i]);
        whole += b[i] * b[i];
    }
    return count ? sqrt(sum / whole) : 0;
}

struct error {
    double loss, gradient, averages;
};

static struct error error_of(const struct trace *t, double loss, const struct trace *right,
                             double right_loss)
{
    return (struct error){
        fabs(loss - right_loss) / fabs(right_loss),
        apart(t->host.gradient, t->dtype, right->host.gradient, t->params->count),
        apart(t->host.running, t->dtype, right->host.running, t->params->running_count)};
}

static void check(const char *model, int step, const char *what, double error, double most)
{
    if (!(error <= most))
        fail_msg("%s, step %d: %s %.3g off, %.3g at most", model, step, what, error, most);
}

static void learns_nearly_as_ref_does(void **state)
{
    const struct kind *kind = *state;
    struct trace       right = trace_of(kind, CULL_F64), ref = trace_of(kind, CULL_F32), emu = ref;

    emu.arithmetic.repeatable = true;
    if (kind->narrow) emu.arithmetic.values = CULL_BF16;
    assert_true(start(&right, "ref"));
    assert_true(start(&ref, "ref"));
    assert_true(start(&emu, "emu"));
    for (int step = 1; step <= (kind->narrow ? 1 : TAKEN); step++) {
        double       true_loss = learn(&right, step);
        double       ref_loss = learn(&ref, step), emu_loss = learn(&emu, step);
        struct error most = error_of(&ref, ref_loss, &right, true_loss);
        struct error is = error_of(&emu, emu_loss, &right, true_loss);

        if (kind->narrow)
            most = (struct error){0.02, 0.25, 0.02};
        else
            most = (struct error){WORSE * most.loss + FLOOR, WORSE * most.gradient + FLOOR,
                                  WORSE * most.averages + FLOOR};
        check(kind->model, step, "the loss", is.loss, most.loss);
        check(kind->model, step, "the gradient", is.gradient, most.gradient);
        check(kind->model, step, "averages", is.averages, most.averages);
        descend(&right);
        descend(&ref);
        descend(&emu);
    }
    finish(&right);
    finish(&ref);
    finish(&emu);
}

/* Of ResNet-18's weights nine tenths are of its later layers; they begin on a border. */
static void most_weights_can_be_changed_while_the_rest_goes_back(void **state)
{
    const struct kind kind = {"resnet18", 16, false};
    struct trace      t = trace_of(&kind, CULL_F32);

    (void)state;
    t.arithmetic.repeatable = true;
    assert_true(start(&t, "emu"));
    assert_in_range(t.plan->turn, t.plan->steps / 2, t.plan->steps / 2 + 4);
    assert_int_equal(0, t.plan->later % 16);
    assert_true(t.plan->later < t.params->count / 10);
    finish(&t);
}

int main(void)
{
    static struct kind kinds[] = {
        {"mlp", 8, false},          {"lenet5", 16, false},
        {"resnet20", 16, false},    {"densenet-bc-10-4", 16, false},
        {"mobilenetv2", 16, false}, {"resnet18", 16, false},
        {"mlp", 8, true},           {"lenet5", 16, true},
        {"resnet20", 16, true},     {"densenet-bc-10-4", 16, true},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static char       names[KINDS][48];
    struct CMUnitTest tests[KINDS + 1] = {
        [KINDS] = cmocka_unit_test(most_weights_can_be_changed_while_the_rest_goes_back)};

    for (size_t i = 0; i < KINDS; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s_in_%s", kinds[i].model,
                       kinds[i].narrow ? "bfloat16" : "float32");
        tests[i] = (struct CMUnitTest){names[i], learns_nearly_as_ref_does, NULL, NULL, &kinds[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
