/*
 * tests/unit/test_network_losses.c - networks by squared error and by binary cross-entropy: what
 * they are given, what they see, learn and tell.
 */
#include <math.h>
#include <string.h>

#include "cull.h"
#include "support.h"

enum { COUNT = 6, WIDTH = 4, OUT = 3 };

static double  inputs[COUNT][WIDTH], numbers[COUNT][OUT];
static int64_t truths[COUNT][OUT];

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < WIDTH; j++) inputs[i][j] = random_normal(1, i * WIDTH + j);
        for (size_t k = 0; k < OUT; k++) {
            numbers[i][k] = random_normal(2, i * OUT + k); /* not rounded to float */
            truths[i][k] = (i + k) % 2;
        }
    }
    return 0;
}

static cull_network *make(const char *loss, const char *dtype, int64_t outputs)
{
    cull_option   options[] = {{"model.loss", loss}, {"dtype", dtype}, {"optim.momentum", "0"}};
    cull_model   *m = NULL;
    cull_network *n = NULL;
    int           x = 0;

    assert_ok(cull_model_create("small", WIDTH, 1, 1, &m));
    x = cull_model_activate(m, cull_model_dense(m, 0, "fc1", &(cull_dense){.out = 5}), CULL_GELU);
    assert_ok(cull_model_finish(m, cull_model_dense(m, x, "fc2", &(cull_dense){.out = outputs})));
    assert_ok(cull_network_create(m, NULL, options, 3, &n));
    cull_model_destroy(m);
    return n;
}

static cull_examples examples(bool many)
{
    return (cull_examples){.inputs = cull_matrix(inputs, CULL_F64, COUNT, WIDTH),
                           .target = many ? cull_matrix(truths, CULL_I64, COUNT, OUT)
                                          : cull_matrix(numbers, CULL_F64, COUNT, OUT)};
}

/* Losses and P from the logits, by their formulas. */
static void check_seen(cull_network *n, bool many, double error)
{
    cull_examples e = examples(many);
    cull_signals  seen = {0};
    double        logits[COUNT][OUT], loss[COUNT], p[COUNT][OUT];
    cull_tensor   out = cull_matrix(logits, CULL_F64, COUNT, OUT);

    assert_ok(cull_network_logits(n, &e.inputs, true, &out));
    assert_ok(cull_network_score(
        n, &e, CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL, true, &seen));
    assert_null(seen.label.data); /* there are no classes */
    for (size_t i = 0; i < COUNT; i++) {
        loss[i] = ((const double *)seen.loss.data)[i];
        for (size_t k = 0; k < OUT; k++) {
            double x = logits[i][k], t = many ? (double)truths[i][k] : numbers[i][k];

            p[i][k] = seen.p.dtype == CULL_F32 ? (double)((const float *)seen.p.data)[i * OUT + k]
                                               : ((const double *)seen.p.data)[i * OUT + k];
            p[i][k] -= many ? (1 / (1 + exp(-x)) - t) / OUT : 2 * (x - t) / OUT;
            loss[i] -= (many ? log(1 + exp(x)) - t * x : (x - t) * (x - t)) / OUT;
            assert_true(fabs(p[i][k]) <= error);
        }
        assert_true(fabs(loss[i]) <= error);
    }
}

static void losses_and_gradients_are_those_of_their_formulas(void **state)
{
    static const char *const losses[] = {"squared-error", "binary-cross-entropy"};

    (void)state;
    for (int many = 0; many < 2; many++) {
        cull_network *f64 = make(losses[many], "float64", OUT);
        cull_network *f32 = make(losses[many], "float32", OUT);

        check_seen(f64, many, 1e-14);
        check_seen(f32, many, 1e-5);
        cull_network_destroy(f64);
        cull_network_destroy(f32);
    }
}

/* A step down the gradient of the mean loss lowers it, and kept rows have the same gradient. */
static void steps_lower_the_loss_and_kept_rows_learn_the_same(void **state)
{
    static const char *const losses[] = {"squared-error", "binary-cross-entropy"};

    (void)state;
    for (int many = 0; many < 2; many++) {
        cull_network *n = make(losses[many], "float64", OUT);
        cull_examples e = examples(many);
        cull_signals  seen = {0};
        cull_tensor   gradient = {0};
        double        before = 0, after = 0, first[64];
        size_t        count = 0;

        assert_ok(cull_network_learn(n, &e, NULL, &seen));
        for (size_t i = 0; i < COUNT; i++) before += ((const double *)seen.loss.data)[i];
        assert_ok(cull_network_gradient(n, NULL, &gradient));
        count = (size_t)gradient.shape[0];
        assert_in_range(count, 1, 64);
        memcpy(first, gradient.data, count * sizeof *first);
        assert_ok(cull_network_score_as(n, &e, 0, &(cull_scoring){.keep = true}, &seen));
        assert_ok(cull_network_learn_kept(n, NULL, &seen));
        assert_ok(cull_network_gradient(n, NULL, &gradient));
        for (size_t i = 0; i < count; i++)
            assert_true(fabs(first[i] - ((const double *)gradient.data)[i]) < 1e-14);
        assert_ok(cull_network_step(n, 0.05));
        assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, true, &seen));
        for (size_t i = 0; i < COUNT; i++) after += ((const double *)seen.loss.data)[i];
        assert_true(after < before);
        cull_network_destroy(n);
    }
}

static void several_labels_have_probabilities_each(void **state)
{
    cull_network *n = make("binary-cross-entropy", "float32", OUT);
    cull_tensor   x = cull_matrix(inputs, CULL_F64, COUNT, WIDTH);
    float         logits[COUNT * OUT], share[COUNT * OUT];

    (void)state;
    assert_ok(cull_network_predict(n, &x, logits, share));
    for (size_t i = 0; i < (size_t)COUNT * OUT; i++)
        assert_true(fabs((double)share[i] - 1 / (1 + exp(-(double)logits[i]))) < 1e-7);
    cull_network_destroy(n);
}

static void one_output_takes_a_vector(void **state)
{
    cull_network *n = make("squared-error", "float32", 1);
    cull_examples e = {.inputs = cull_matrix(inputs, CULL_F64, COUNT, WIDTH),
                       .target = cull_vector(numbers, CULL_F64, COUNT)};
    cull_signals  seen = {0};
    double        one = 0;

    (void)state;
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, true, &seen));
    one = ((const double *)seen.loss.data)[3];
    e.target = cull_matrix(numbers, CULL_F64, COUNT, 1);
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, true, &seen));
    assert_true(one == ((const double *)seen.loss.data)[3]);
    cull_network_destroy(n);
}

static void targets_that_the_loss_has_not_are_refused(void **state)
{
    cull_network *real = make("squared-error", "float32", OUT);
    cull_network *many = make("binary-cross-entropy", "float32", OUT);
    cull_examples e = examples(false);
    cull_signals  seen = {0};
    int32_t       labels[COUNT] = {0};
    double        broken[COUNT][OUT] = {{0}};

    (void)state;
    e.target = (cull_tensor){0};
    e.label = cull_vector(labels, CULL_I32, COUNT);
    assert_fails(CULL_BAD_ARGUMENT, "target is missing",
                 cull_network_score(real, &e, CULL_SIGNAL_LOSS, true, &seen));
    e.target = cull_matrix(numbers, CULL_F64, COUNT, OUT - 1);
    assert_fails(CULL_BAD_ARGUMENT, "target has 2 columns, small has 3 outputs",
                 cull_network_score(real, &e, CULL_SIGNAL_LOSS, true, &seen));
    e.target = cull_matrix(truths, CULL_I64, COUNT, OUT);
    assert_fails(CULL_BAD_ARGUMENT, "target is int64, float32 or float64 expected",
                 cull_network_score(real, &e, CULL_SIGNAL_LOSS, true, &seen));
    broken[4][1] = INFINITY;
    e.target = cull_matrix(broken, CULL_F64, COUNT, OUT);
    assert_fails(CULL_NOT_FINITE, "target: number 1 of example 4 is not finite",
                 cull_network_learn(real, &e, NULL, &seen));
    e.target = cull_matrix(numbers, CULL_F64, COUNT, OUT);
    assert_fails(CULL_BAD_ARGUMENT, "target is float64, an integer type expected",
                 cull_network_score(many, &e, CULL_SIGNAL_LOSS, true, &seen));
    truths[5][2] = 2;
    e = examples(true);
    assert_fails(CULL_BAD_ARGUMENT, "example 5 has 2 for label 2; 0 and 1 are possible",
                 cull_network_score(many, &e, CULL_SIGNAL_LOSS, true, &seen));
    truths[5][2] = 1;
    cull_network_destroy(real);
    cull_network_destroy(many);
}

static void smoothing_goes_with_cross_entropy_alone(void **state)
{
    cull_option   options[] = {{"model.loss", "squared-error"}, {"model.smoothing", "0.1"}};
    cull_model   *m = NULL;
    cull_network *n = NULL;

    (void)state;
    assert_ok(cull_model_create("small", 2, 1, 1, &m));
    assert_ok(cull_model_finish(m, cull_model_dense(m, 0, "fc", &(cull_dense){.out = 1})));
    assert_fails(CULL_BAD_OPTION, "model.smoothing: smooths the labels",
                 cull_network_create(m, NULL, options, 2, &n));
    assert_null(n);
    cull_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_gradients_are_those_of_their_formulas),
        cmocka_unit_test(steps_lower_the_loss_and_kept_rows_learn_the_same),
        cmocka_unit_test(several_labels_have_probabilities_each),
        cmocka_unit_test(one_output_takes_a_vector),
        cmocka_unit_test(targets_that_the_loss_has_not_are_refused),
        cmocka_unit_test(smoothing_goes_with_cross_entropy_alone),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
