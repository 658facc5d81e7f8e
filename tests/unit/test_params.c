/* tests/unit/test_params.c - parameters start as in the reference implementations. */
#include <math.h>
#include <string.h>

#include "nn/nn.h"
#include "support.h"

enum { OUT = 64, IN = 32, KERNEL = 3 };

struct spread {
    double mean, deviation, largest;
};

static struct spread spread_of(const double *values, size_t count)
{
    struct spread s = {0};

    for (size_t i = 0; i < count; i++) {
        s.mean += values[i] / (double)count;
        s.deviation += values[i] * values[i] / (double)count;
        s.largest = fmax(s.largest, fabs(values[i]));
    }
    s.deviation = sqrt(s.deviation - s.mean * s.mean);
    return s;
}

/* Within five standard errors of what it should be. */
static void check(const char *what, const double *values, size_t count, double deviation)
{
    struct spread s = spread_of(values, count);
    double        root = sqrt((double)count);

    if (!(fabs(s.mean) <= 5 * deviation / root) ||
        !(fabs(s.deviation / deviation - 1) <= 5 / sqrt(2) / root))
        fail_msg("%s: mean %g, deviation %g, not %g", what, s.mean, s.deviation, deviation);
}

/* One dense layer or convolution behind a flat head, its weight and bias as drawn. */
static void check_rule(int init, int64_t groups, double deviation, double largest, double bias)
{
    cull_model   *m = NULL;
    cull_params  *params = NULL;
    const double *value = NULL;
    int           x = 0;

    assert_ok(cull_nn_model_create("one", IN, 8, 8, &m));
    x = cull_model_conv(m, 0, "conv",
                        &(cull_conv){.out = OUT, .kernel = KERNEL, .pad = 1, .groups = groups});
    m->node[x].init = init;
    if (init == CULL_INIT_NORMAL) m->node[x].init_value = deviation;
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    assert_ok(cull_nn_model_finish(m, cull_model_dense(m, x, "fc", &(cull_dense){.out = 2})));
    assert_ok(cull_nn_params_create(plain_backend(), m, CULL_F64, &params));
    cull_nn_params_init(params, m, 4);
    value = params->value;
    check("weight", value, m->node[1].param_count[0], deviation);
    if (largest > 0) assert_true(spread_of(value, m->node[1].param_count[0]).largest <= largest);
    if (bias > 0)
        check("bias", value + m->node[1].param_at[1], OUT, bias / sqrt(3));
    else
        assert_true(spread_of(value + m->node[1].param_at[1], OUT).largest == 0);
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(m);
}

static void weights_and_biases_follow_their_rules(void **state)
{
    const double area = KERNEL * KERNEL, bound = 1 / sqrt(IN * area);

    (void)state;
    check_rule(CULL_INIT_TORCH, 1, bound / sqrt(3), bound, bound);
    check_rule(CULL_INIT_UNIFORM, 1, bound / sqrt(3), bound, 0);
    check_rule(CULL_INIT_HE_IN, 1, sqrt(2 / (IN * area)), 0, bound);
    check_rule(CULL_INIT_HE_OUT, 1, sqrt(2 / (OUT * area)), 0, 0);
    check_rule(CULL_INIT_NORMAL, 1, 0.01, 0, 0);
    /* in groups fan-in counts one group, and fan-out, as PyTorch counts it, all of them */
    check_rule(CULL_INIT_HE_IN, IN, sqrt(2 / area), 0, 1 / sqrt(area));
    check_rule(CULL_INIT_HE_OUT, IN, sqrt(2 / (OUT * area)), 0, 0);
}

static void norms_start_as_identity(void **state)
{
    cull_model_options options = {.channels = 3, .height = 32, .width = 32, .classes = 10};
    cull_model        *m = NULL;
    cull_params       *params = NULL;

    (void)state;
    assert_ok(cull_nn_model_by_name("resnet20", &options, &m));
    assert_ok(cull_nn_params_create(plain_backend(), m, CULL_F32, &params));
    cull_nn_params_init(params, m, 4);
    for (int k = 1; k < m->nodes; k++) {
        const cull_node *node = &m->node[k];
        const float     *value = params->value, *running = params->running;

        for (size_t i = 0; i < node->running_count / 2; i++) {
            assert_true(value[node->param_at[0] + i] == 1 && value[node->param_at[1] + i] == 0);
            assert_true(running[node->running_at + i] == 0);
            assert_true(running[node->running_at + node->running_count / 2 + i] == 1);
        }
    }
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(m);
}

static void a_seed_is_a_start(void **state)
{
    cull_model_options options = {.channels = 1, .height = 8, .width = 8, .classes = 3};
    cull_model        *m = NULL;
    cull_params       *a = NULL, *b = NULL;

    (void)state;
    assert_ok(cull_nn_model_by_name("mlp", &options, &m));
    assert_ok(cull_nn_params_create(plain_backend(), m, CULL_F32, &a));
    assert_ok(cull_nn_params_create(plain_backend(), m, CULL_F32, &b));
    cull_nn_params_init(a, m, 1);
    cull_nn_params_init(b, m, 1);
    assert_memory_equal(a->value, b->value, a->count * sizeof(float));
    cull_nn_params_init(b, m, 2);
    assert_memory_not_equal(a->value, b->value, a->count * sizeof(float));
    cull_nn_params_destroy(a);
    cull_nn_params_destroy(b);
    cull_nn_model_destroy(m);
}

static void creating_survives_every_allocation_failure(void **state)
{
    cull_model_options options = {.channels = 1, .height = 8, .width = 8, .classes = 3};
    cull_model        *m = NULL;
    cull_status        status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_nn_model_by_name("mlp", &options, &m));
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_params *params = NULL;

        fail_nth_alloc(n);
        status = cull_nn_params_create(plain_backend(), m, CULL_F32, &params);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !params));
        cull_nn_params_destroy(params);
    }
    cull_nn_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_and_biases_follow_their_rules),
        cmocka_unit_test(norms_start_as_identity),
        cmocka_unit_test(a_seed_is_a_start),
        cmocka_unit_test(creating_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
