/*
 * tests/unit/test_plan.c - plans on the reference backend: gradients, statistics, refusals.
 *
 * Networks are small and in double, with GELU in place of ReLU where a derivative is taken, so
 * that finite differences are good to about 1e-8.
 */
#include "plan_support.h"

static double weighted_loss(cull_plan *plan, const struct net *n)
{
    cull_signals seen;
    double       sum = 0;

    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    for (size_t i = 0; i < BATCH; i++) sum += n->weight[i] * cull_tensor_get(&seen.loss, i);
    return sum / BATCH;
}

/* Directional derivatives along random directions over all parameters at once. */
/* Ends the network. */
static void check_gradient_of(struct net *n, const char *name)
{
    cull_plan *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    double    *value = n->params->value, *gradient = n->params->gradient;
    size_t     count = n->params->count;
    double    *start = malloc(count * sizeof *start), *g = malloc(count * sizeof *g);

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

static void check_gradient(const char *name, int64_t channels, int64_t extent, double dropout)
{
    check_gradient_of(make(name, channels, extent, dropout), name);
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
    check_gradient_of(aim(make("mlp", 2, 5, 0), CULL_LOSS_SQUARED), "squared error");
    check_gradient_of(aim(make("wrn-10-1", 3, 8, 0.3), CULL_LOSS_SQUARED), "squared error");
    check_gradient_of(aim(make("mlp", 2, 5, 0), CULL_LOSS_BINARY), "binary");
    check_gradient_of(aim(make("wrn-10-1", 3, 8, 0.3), CULL_LOSS_BINARY), "binary");
}

/* What selectors work with: the last layer's gradient is the mean of w p (x) [h; 1]. */
static void check_factors(cull_loss_kind loss)
{
    struct net      *n = aim(make("mlp", 2, 5, 0), loss);
    cull_plan       *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    const cull_node *last = &n->model->node[n->model->last_dense];
    const double    *gradient = (const double *)n->params->gradient;
    cull_signals     seen;

    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    assert_true((seen.label.data != NULL) == (loss == CULL_LOSS_CROSS_ENTROPY));
    for (size_t k = 0; k < CLASSES; k++) {
        size_t width = (size_t)seen.h.shape[1];

        for (size_t j = 0; j <= width; j++) {
            double sum = 0, found = j < width ? gradient[last->param_at[0] + k * width + j]
                                              : gradient[last->param_at[1] + k];

            for (size_t i = 0; i < BATCH; i++)
                sum += n->weight[i] / BATCH * ((const double *)seen.p.data)[i * CLASSES + k] *
                       (j < width ? ((const double *)seen.h.data)[i * width + j] : 1);
            assert_true(fabs(sum - found) <= 1e-13);
        }
    }
    cull_nn_plan_destroy(plan);
    drop(n);
}

static void h_and_p_factorise_the_last_gradient_of_every_loss(void **state)
{
    (void)state;
    check_factors(CULL_LOSS_CROSS_ENTROPY);
    check_factors(CULL_LOSS_SQUARED);
    check_factors(CULL_LOSS_BINARY);
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

static void a_node_that_leads_nowhere_is_refused(void **state)
{
    cull_model *m = NULL;
    int         x = 0;

    (void)state;
    assert_ok(cull_nn_model_create("branch", 3, 4, 4, &m));
    x = cull_model_conv(
        m, 0, "conv",
        &(cull_conv){.out = 2, .kernel = 3, .pad = 1, .no_bias = true, .init = CULL_INIT_HE_IN});
    (void)cull_model_batchnorm(m, x, "aside");
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    x = cull_model_dense(m, x, "fc", &(cull_dense){.out = CLASSES});
    assert_fails(CULL_BAD_ARGUMENT, "batchnorm aside", cull_nn_model_finish(m, x));
    cull_nn_model_destroy(m);
}

/* features 2 -> dense 2 -> a join of the value with itself -> dense 2 */
static cull_model *joined_with_itself(int (*join)(cull_model *m, int x, int x2))
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("twice", 2, 1, 1, &m));
    x = cull_model_dense(m, 0, "one", &(cull_dense){.out = 2});
    x = join(m, x, x);
    x = cull_model_dense(m, x, "two", &(cull_dense){.out = 2});
    assert_ok(cull_nn_model_finish(m, x));
    return m;
}

static void a_value_joined_with_itself_has_both_gradients_in_every_type(void **state)
{
    int (*const joins[])(cull_model *, int, int) = {cull_model_add, cull_model_concat};

    (void)state;
    for (size_t j = 0; j < sizeof joins / sizeof *joins; j++) {
        static const char *const backends[] = {"ref", "ref", "cpu"};
        double                  *right = NULL;

        for (int i = 0; i < 3; i++) {
            struct net *n =
                net_of(joined_with_itself(joins[j]), backends[i], i == 0 ? CULL_F64 : CULL_F32);
            cull_plan   *plan = NULL;
            cull_signals seen;
            double      *g = NULL;

            for (int k = 0; k < BATCH; k++) n->label[k] = k % 2;
            plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
            assert_ok(cull_nn_learn(plan, &n->batch, &seen));
            g = gradient_of(n);
            if (right) compare(g, right, n->params->count, 1e-6, backends[i]);
            if (right)
                free(g);
            else
                right = g;
            cull_nn_plan_destroy(plan);
            drop(n);
        }
        free(right);
    }
}

/* conv 2x2 of 2x2 -> batchnorm of one pixel -> relu -> dense */
static cull_model *one_pixel(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("pixel", 3, 2, 2, &m));
    x = cull_model_conv(
        m, 0, "conv",
        &(cull_conv){.out = 4, .kernel = 2, .no_bias = true, .init = CULL_INIT_HE_IN});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "norm"), CULL_RELU);
    x = cull_model_dense(m, x, "fc", &(cull_dense){.out = CLASSES});
    assert_ok(cull_nn_model_finish(m, x));
    return m;
}

static void statistics_of_one_value_a_channel_are_refused(void **state)
{
    static const char *const backends[] = {"ref", "cpu"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct net  *n = net_of(one_pixel(), backends[i], CULL_F32);
        cull_plan   *plan = NULL, *kept = NULL;
        cull_signals seen;
        uint32_t     row = 4;
        double       weight = 1;
        cull_subset  one = {.count = 1, .index = &row, .weight = &weight};

        assert_fails(CULL_BAD_ARGUMENT, "norm",
                     cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, 1,
                                         (cull_loss){0}, &plan));
        assert_fails(CULL_BAD_ARGUMENT, "at least 2 examples",
                     cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_SCORE_AND_KEEP,
                                         1, (cull_loss){0}, &plan));
        assert_null(plan);

        plan = plan_of(n, CULL_PLAN_SCORE, 1);
        n->batch.count = 1;
        assert_fails(CULL_BAD_ARGUMENT, "norm",
                     cull_nn_score(plan, &n->batch, CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &seen));
        assert_ok(cull_nn_score(plan, &n->batch, CULL_STATS_RUNNING, CULL_SIGNAL_LOSS, &seen));
        cull_nn_plan_destroy(plan);

        /* one row of a batch that has statistics is fine */
        n->batch.count = BATCH;
        kept = plan_of(n, CULL_PLAN_SCORE_AND_KEEP, BATCH);
        plan = plan_of(n, CULL_PLAN_LEARN_FROM_KEPT, 1);
        assert_ok(cull_nn_score(kept, &n->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
        assert_ok(cull_nn_learn_kept(plan, kept, &one, &seen));
        cull_nn_plan_destroy(kept);
        cull_nn_plan_destroy(plan);
        drop(n);
    }
}

static void planning_survives_every_allocation_failure(void **state)
{
    struct net *n = make("lenet5", 1, 16, 0);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t k = 1; status != CULL_OK; k++) {
        cull_plan *plan = NULL;

        fail_nth_alloc(k);
        status = cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, 2,
                                     (cull_loss){0}, &plan);
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
        cmocka_unit_test(h_and_p_factorise_the_last_gradient_of_every_loss),
        cmocka_unit_test(scoring_leaves_running_averages_alone),
        cmocka_unit_test(wrong_batches_are_refused),
        cmocka_unit_test(a_node_that_leads_nowhere_is_refused),
        cmocka_unit_test(a_value_joined_with_itself_has_both_gradients_in_every_type),
        cmocka_unit_test(statistics_of_one_value_a_channel_are_refused),
        cmocka_unit_test(planning_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
