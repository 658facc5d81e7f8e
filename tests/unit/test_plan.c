/*
 * tests/unit/test_plan.c - plans on the reference backend: gradients, kept rows, statistics.
 *
 * Networks are small and in double, with GELU in place of ReLU where a derivative is taken, so
 * that finite differences are good to about 1e-8.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "nn/nn.h"
#include "support.h"
#include "tensor/tensor.h"

enum { CLASSES = 5, BATCH = 6 };

struct net {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    double       *inputs;
    int32_t       label[BATCH];
    uint32_t      place[BATCH];
    double        weight[BATCH];
    cull_batch    batch;
};

static struct net *make(const char *name, int64_t channels, int64_t extent, double dropout)
{
    struct net        *n = calloc(1, sizeof *n);
    cull_model_options options = {.channels = channels,
                                  .height = extent,
                                  .width = extent,
                                  .classes = CLASSES,
                                  .dropout = dropout,
                                  .activation = CULL_GELU};

    assert_non_null(n);
    assert_ok(cull_backend_open("ref", 1, &n->backend));
    assert_ok(cull_nn_model_by_name(name, &options, &n->model));
    assert_ok(cull_nn_params_create(n->model, CULL_F64, &n->params));
    cull_nn_params_init(n->params, n->model, 7);
    n->inputs = normals_f64(11, (size_t)(BATCH * channels * extent * extent));
    for (int i = 0; i < BATCH; i++) {
        n->label[i] = i % CLASSES;
        n->place[i] = (uint32_t)(100 + 3 * i);
        n->weight[i] = 0.25 + 0.5 * i;
    }
    n->batch = (cull_batch){.count = BATCH,
                            .inputs = n->inputs,
                            .label = n->label,
                            .weight = n->weight,
                            .place = n->place,
                            .step = 3,
                            .key = cull_key_make(1, "dropout")};
    return n;
}

static void drop(struct net *n)
{
    free(n->inputs);
    cull_nn_params_destroy(n->params);
    cull_nn_model_destroy(n->model);
    cull_backend_close(n->backend);
    free(n);
}

static cull_plan *plan_of(struct net *n, cull_plan_mode mode, size_t batch)
{
    cull_plan *plan = NULL;

    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, mode, batch, 0.1, &plan));
    return plan;
}

static double weighted_loss(cull_plan *plan, const struct net *n)
{
    cull_signals seen;
    double       sum = 0;

    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    for (size_t i = 0; i < BATCH; i++) sum += n->weight[i] * cull_tensor_get(&seen.loss, i);
    return sum / BATCH;
}

/* Directional derivatives along random directions over all parameters at once. */
static void check_gradient(const char *name, int64_t channels, int64_t extent, double dropout)
{
    struct net *n = make(name, channels, extent, dropout);
    cull_plan  *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    double     *value = n->params->value, *gradient = n->params->gradient;
    size_t      count = n->params->count;
    double     *start = malloc(count * sizeof *start), *g = malloc(count * sizeof *g);

    (void)weighted_loss(plan, n);
    memcpy(start, value, count * sizeof *start);
    memcpy(g, gradient, count * sizeof *g);
    for (uint64_t trial = 0; trial < 3; trial++) {
        const double step = 1e-5;
        double       slope = 0, length = 0, ahead = 0, behind = 0;

        for (size_t i = 0; i < count; i++) {
            double v = random_normal(50 + trial, i);
            slope += v * g[i];
            length += v * v;
        }
        length = sqrt(length);
        for (size_t i = 0; i < count; i++)
            value[i] = start[i] + step * random_normal(50 + trial, i) / length;
        ahead = weighted_loss(plan, n);
        for (size_t i = 0; i < count; i++)
            value[i] = start[i] - step * random_normal(50 + trial, i) / length;
        behind = weighted_loss(plan, n);
        memcpy(value, start, count * sizeof *start);
        slope /= length;
        if (fabs((ahead - behind) / (2 * step) - slope) > 1e-7 * (1 + fabs(slope)))
            fail_msg("%s: slope %.12g, differences say %.12g", name, slope,
                     (ahead - behind) / (2 * step));
    }
    free(start);
    free(g);
    cull_nn_plan_destroy(plan);
    drop(n);
}

static void gradients_match_finite_differences(void **state)
{
    (void)state;
    check_gradient("mlp", 2, 5, 0);
    check_gradient("lenet5", 1, 16, 0);
    check_gradient("resnet20", 3, 8, 0);
    check_gradient("wrn-10-1", 3, 8, 0.3);
    check_gradient("densenet-bc-10-4", 3, 8, 0);
    check_gradient("mobilenetv2", 3, 8, 0);
}

static void compare(const double *a, const double *b, size_t count, double tolerance,
                    const char *what)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < count; i++) {
        error += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    if (!(sqrt(error) <= tolerance * sqrt(norm)))
        fail_msg("%s: relative error %g", what, sqrt(error / norm));
}

/* Rows 1, 2 and 4 with unequal weights, by way of the scoring pass's own activations. */
static double *kept_gradient(struct net *n, const uint32_t *row, const double *weight, size_t m)
{
    cull_plan   *score = plan_of(n, CULL_PLAN_SCORE_AND_KEEP, BATCH);
    cull_plan   *learn = plan_of(n, CULL_PLAN_LEARN_FROM_KEPT, m);
    cull_subset  subset = {0};
    cull_signals seen, trained;
    double      *g = malloc(n->params->count * sizeof *g);

    assert_ok(cull_subset_resize(&subset, m));
    memcpy(subset.index, row, m * sizeof *row);
    memcpy(subset.weight, weight, m * sizeof *weight);
    assert_ok(cull_nn_score(score, &n->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
    assert_ok(cull_nn_learn_kept(learn, score, &subset, &trained));
    for (size_t i = 0; i < m; i++)
        assert_true(cull_tensor_get(&trained.loss, i) == cull_tensor_get(&seen.loss, row[i]));
    memcpy(g, n->params->gradient, n->params->count * sizeof *g);
    cull_subset_clear(&subset);
    cull_nn_plan_destroy(score);
    cull_nn_plan_destroy(learn);
    return g;
}

static void kept_rows_give_the_gradient_of_a_separate_pass(void **state)
{
    static const char *const names[] = {"mlp", "lenet5"};
    const uint32_t           row[] = {1, 2, 4};
    const double             weight[] = {0.5, 2, 0.25};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct net  *n = make(names[k], 1, 16, 0);
        double      *kept = kept_gradient(n, row, weight, 3);
        cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, 3);
        double      *inputs = malloc(3 * 256 * sizeof *inputs);
        int32_t      label[3];
        cull_batch   batch = {.count = 3, .label = label, .weight = weight};
        cull_signals seen;

        for (size_t i = 0; i < 3; i++) {
            memcpy(inputs + i * 256, n->inputs + row[i] * 256, 256 * sizeof *inputs);
            label[i] = n->label[row[i]];
        }
        batch.inputs = inputs;
        assert_ok(cull_nn_learn(plan, &batch, &seen));
        compare(kept, n->params->gradient, n->params->count, 1e-12, names[k]);
        free(inputs);
        free(kept);
        cull_nn_plan_destroy(plan);
        drop(n);
    }
}

static void keeping_everything_is_plain_training(void **state)
{
    static const char *const names[] = {"resnet20", "wrn-10-1", "densenet-bc-10-4", "mobilenetv2"};
    const uint32_t           row[] = {0, 1, 2, 3, 4, 5};
    const double             one[] = {1, 1, 1, 1, 1, 1};

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct net  *n = make(names[k], 3, 8, k == 1 ? 0.4 : 0);
        double      *kept = kept_gradient(n, row, one, BATCH);
        cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
        cull_signals seen;

        n->batch.weight = NULL;
        assert_ok(cull_nn_learn(plan, &n->batch, &seen));
        compare(kept, n->params->gradient, n->params->count, 1e-13, names[k]);
        free(kept);
        cull_nn_plan_destroy(plan);
        drop(n);
    }
}

static void scoring_leaves_running_averages_alone(void **state)
{
    struct net  *n = make("resnet20", 3, 8, 0);
    cull_plan   *score = plan_of(n, CULL_PLAN_SCORE, BATCH);
    cull_plan   *learn = plan_of(n, CULL_PLAN_LEARN, BATCH);
    size_t       bytes = n->params->running_count * sizeof(double);
    double      *before = malloc(bytes), mean = 0;
    cull_signals seen, trained;

    (void)state;
    memcpy(before, n->params->running, bytes);
    assert_ok(cull_nn_score(score, &n->batch, CULL_STATS_BATCH,
                            CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P, &seen));
    assert_memory_equal(before, n->params->running, bytes);
    assert_int_equal(64, seen.h.shape[1]);
    assert_int_equal(CLASSES, seen.p.shape[1]);
    assert_ok(cull_nn_learn(learn, &n->batch, &trained));
    for (size_t i = 0; i < BATCH; i++)
        assert_true(fabs(cull_tensor_get(&seen.loss, i) - cull_tensor_get(&trained.loss, i)) <
                    1e-13);
    assert_memory_not_equal(before, n->params->running, bytes);
    mean = ((double *)n->params->running)[0];
    assert_ok(cull_nn_learn(learn, &n->batch, &trained));
    /* one update with momentum .1 from zero, then a second of the same batch: 1.9 times */
    assert_true(fabs(((double *)n->params->running)[0] - 1.9 * mean) <= 1e-12 * fabs(mean));
    free(before);
    cull_nn_plan_destroy(score);
    cull_nn_plan_destroy(learn);
    drop(n);
}

static void a_warm_step_allocates_nothing(void **state)
{
    struct net  *n = make("resnet20", 3, 8, 0);
    cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    cull_signals seen;
    size_t       before = 0;

    (void)state;
    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    before = cull_base_alloc_count();
    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    assert_int_equal(before, cull_base_alloc_count());
    cull_nn_plan_destroy(plan);
    drop(n);
}

static void wrong_batches_are_refused(void **state)
{
    struct net  *n = make("mlp", 1, 4, 0);
    cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    cull_signals seen;

    (void)state;
    n->batch.count = BATCH - 1;
    assert_fails(CULL_BAD_ARGUMENT, "is given 5", cull_nn_learn(plan, &n->batch, &seen));
    n->batch.count = BATCH;
    n->label[2] = CLASSES;
    assert_fails(CULL_BAD_ARGUMENT, "place 106", cull_nn_learn(plan, &n->batch, &seen));
    assert_fails(CULL_BAD_ARGUMENT, "does not score",
                 cull_nn_score(plan, &n->batch, CULL_STATS_BATCH, 0, &seen));
    cull_nn_plan_destroy(plan);
    drop(n);
}

static void planning_survives_every_allocation_failure(void **state)
{
    struct net *n = make("lenet5", 1, 16, 0);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t k = 1; status != CULL_OK; k++) {
        cull_plan *plan = NULL;

        fail_nth_alloc(k);
        status = cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, 2, 0, &plan);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !plan));
        cull_nn_plan_destroy(plan);
    }
    drop(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_finite_differences),
        cmocka_unit_test(kept_rows_give_the_gradient_of_a_separate_pass),
        cmocka_unit_test(keeping_everything_is_plain_training),
        cmocka_unit_test(scoring_leaves_running_averages_alone),
        cmocka_unit_test(a_warm_step_allocates_nothing),
        cmocka_unit_test(wrong_batches_are_refused),
        cmocka_unit_test(planning_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
