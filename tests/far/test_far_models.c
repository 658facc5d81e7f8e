/*
 * tests/far/test_far_models.c - the networks of the golden tests, trained where memory is
 * elsewhere: losses, gradients, averages and weights of every step are `ref`'s to the bit.
 */
#include "golden/model_trace.h"

enum { EXAMPLES = 2, EXTENT = 16, TAKEN = 2 };

static struct trace trace_of(const char *model, cull_dtype dtype)
{
    return (struct trace){.model = model,
                          .prefix = "",
                          .channels = strcmp(model, "lenet5") == 0 ? 1 : 3,
                          .extent = EXTENT,
                          .examples = EXAMPLES,
                          .dtype = dtype};
}

static void assert_same(const struct trace *a, const struct trace *b)
{
    size_t size = cull_dtype_size(a->dtype);

    assert_memory_equal(a->host.gradient, b->host.gradient, a->params->count * size);
    assert_memory_equal(a->host.running, b->host.running, a->params->running_count * size);
    assert_memory_equal(a->host.value, b->host.value, a->params->count * size);
}

static void learn_alike(const char *model, cull_dtype dtype)
{
    struct trace ref = trace_of(model, dtype), far = trace_of(model, dtype);

    assert_true(start(&ref, "ref"));
    assert_true(start(&far, "far"));
    for (int step = 1; step <= TAKEN; step++) {
        double loss = learn(&ref, step);

        assert_true(isfinite(loss));
        assert_true(loss == learn(&far, step));
        assert_same(&ref, &far);
        descend(&ref);
        descend(&far);
    }
    look(&ref);
    look(&far);
    assert_same(&ref, &far);
    finish(&ref);
    finish(&far);
}

static void learns_as_ref_does(void **state)
{
    learn_alike(*state, CULL_F32);
}

static void learns_as_ref_does_in_double(void **state)
{
    learn_alike(*state, CULL_F64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"mlp_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "mlp"},
        {"lenet5_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "lenet5"},
        {"lenet5_learns_as_on_ref_in_double", learns_as_ref_does_in_double, NULL, NULL, "lenet5"},
        {"resnet20_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "resnet20"},
        {"resnet18_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "resnet18"},
        {"wrn_16_4_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "wrn-16-4"},
        {"densenet_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "densenet-bc-100-12"},
        {"mobilenetv2_learns_as_on_ref", learns_as_ref_does, NULL, NULL, "mobilenetv2"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
