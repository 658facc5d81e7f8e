/*
 * test_probe.c - gradients of subsets: what an independent computation says they are.
 *
 * Networks run on ref in double, so that tolerances are those of sums in another order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "lab/probe/probe.h"
#include "tensor/tensor.h"

enum { POOL = 60, SIDE = 6, CLASSES = 4, BATCH = 12 };
#define SMOOTHING 0.1
#define EXACT     1e-12 /* relative: the same numbers summed in another order */
#define NUDGE     1e-5  /* finite differences: their error is about its square */
#define NEAR      1e-7

struct ground {
    cull_backend *backend;
    cull_model   *model;
    cull_dataset *set;
    cull_params  *params;
    cull_prober   prober;
};

/* A network of features whose last layer has no biases. */
static cull_model *make_unbiased(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("unbiased", 1, SIDE, SIDE, &m));
    x = cull_model_activate(
        m, cull_model_dense(m, cull_model_flatten(m, 0), "first", &(cull_dense){.out = 5}),
        CULL_GELU);
    x = cull_model_dense(m, x, "last", &(cull_dense){.out = CLASSES, .no_bias = true});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static struct ground *make(const char *name, cull_dtype dtype, size_t pool)
{
    struct ground     *g = calloc(1, sizeof *g);
    cull_model_options options = {
        .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES, .activation = CULL_GELU};
    cull_probe_ground ground = {.batch = BATCH, .loss.smoothing = SMOOTHING, .seed = 3};

    assert_non_null(g);
    assert_ok(cull_backend_open("ref", 1, &g->backend));
    if (strcmp(name, "unbiased") == 0)
        g->model = make_unbiased();
    else
        assert_ok(cull_nn_model_by_name(name, &options, &g->model));
    g->set = random_set(CULL_U8, pool, CLASSES, 1, SIDE, SIDE);
    assert_ok(cull_nn_params_create(g->backend, g->model, dtype, &g->params));
    cull_nn_params_init(g->params, g->model, 7);
    ground.backend = g->backend;
    ground.model = g->model;
    ground.params = g->params;
    ground.set = g->set;
    assert_ok(cull_prober_init(&g->prober, &ground));
    return g;
}

static void drop(struct ground *g)
{
    cull_prober_clear(&g->prober);
    cull_nn_params_destroy(g->params);
    cull_data_close(g->set);
    cull_nn_model_destroy(g->model);
    cull_backend_close(g->backend);
    free(g);
}

/* Some rows at uneven weights. */
static void some_rows(cull_subset *subset)
{
    static const uint32_t rows[] = {0, 2, 3, 7, 11};

    assert_ok(cull_subset_resize(subset, 5));
    for (size_t i = 0; i < 5; i++) {
        subset->index[i] = rows[i];
        subset->weight[i] = 0.3 + 0.4 * (double)i;
    }
}

static void all_rows(cull_subset *subset)
{
    assert_ok(cull_subset_resize(subset, BATCH));
    for (uint32_t i = 0; i < BATCH; i++) subset->index[i] = i;
}

/* The inputs of some examples, one channel, as they are normalised. */
static double *inputs_of(const cull_dataset *set, const uint32_t *places, size_t count)
{
    size_t  row = cull_data_row(set);
    double *out = calloc(count * row, sizeof *out);

    assert_non_null(out);
    for (size_t i = 0; i < count * row; i++) {
        uint8_t pixel = ((const uint8_t *)cull_data_base(set))[places[i / row] * row + i % row];
        out[i] = (pixel / 255. - set->mean[0]) / set->deviation[0];
    }
    return out;
}

/* The gradient of one example, by a plan of its own. */
static void gradient_of(struct ground *g, uint32_t place, double *out)
{
    cull_plan   *plan = NULL;
    cull_signals trained = {0};
    double      *inputs = inputs_of(g->set, &place, 1);
    cull_batch   batch = {.count = 1, .inputs = inputs, .target = &cull_data_labels(g->set)[place]};

    assert_ok(cull_nn_plan_create(g->model, g->params, g->backend, CULL_PLAN_LEARN, 1,
                                  (cull_loss){.smoothing = SMOOTHING}, &plan));
    assert_ok(cull_nn_learn(plan, &batch, &trained));
    memcpy(out, g->params->gradient, g->params->count * sizeof *out);
    cull_nn_plan_destroy(plan);
    free(inputs);
}

static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0, scale = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        scale += b[i] * b[i];
    }
    return sqrt(sum / scale);
}

static void without_norm_a_subsets_gradient_is_the_sum_of_its_examples(void **state)
{
    struct ground *g = make("mlp", CULL_F64, POOL);
    size_t         count = g->params->count;
    double        *one = calloc(count, sizeof *one), *sum = calloc(count, sizeof *sum);
    cull_subset    subset = {0};

    (void)state;
    some_rows(&subset);
    cull_prober_go(&g->prober, 1);
    for (size_t i = 0; i < subset.count; i++) {
        gradient_of(g, g->prober.places[subset.index[i]], one);
        for (size_t k = 0; k < count; k++)
            sum[k] += subset.weight[i] * one[k] / (double)subset.count;
    }
    for (int way = 0; way < CULL_PROBE_WAYS; way++) {
        assert_ok(cull_prober_part(&g->prober, &subset, way));
        assert_true(distance(g->prober.part, sum, count) < EXACT);
    }
    cull_subset_clear(&subset);
    free(one);
    free(sum);
    drop(g);
}

/* (1/m) sum w loss of the subset, with BatchNorm's statistics of `rows` of the batch. */
static double loss_of(struct ground *g, cull_plan *plan, const uint32_t *rows, size_t count,
                      const double *weight)
{
    uint32_t     place[BATCH] = {0};
    int32_t      label[BATCH] = {0};
    double      *inputs = NULL, sum = 0;
    cull_signals signals = {0};

    for (size_t i = 0; i < count; i++) {
        place[i] = g->prober.places[rows[i]];
        label[i] = cull_data_labels(g->set)[place[i]];
    }
    inputs = inputs_of(g->set, place, count);
    assert_ok(cull_nn_score(plan, &(cull_batch){.count = count, .inputs = inputs, .target = label},
                            CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &signals));
    for (size_t i = 0; i < count; i++) sum += weight[i] * cull_tensor_get(&signals.loss, i);
    free(inputs);
    return sum;
}

/* Both kinds of gradient against differences of losses, for parameters all over the network. */
static void with_norm_both_gradients_are_slopes_of_the_loss(void **state)
{
    struct ground *g = make("resnet20", CULL_F64, POOL);
    cull_subset    subset = {0};
    uint32_t       all[BATCH];
    double        *value = g->params->value;

    (void)state;
    some_rows(&subset);
    cull_prober_go(&g->prober, 0);
    for (int way = 0; way < CULL_PROBE_WAYS; way++) {
        bool       whole = way == CULL_PROBE_OF_BATCH;
        size_t     rows = whole ? BATCH : subset.count;
        double     weight[BATCH] = {0};
        cull_plan *plan = NULL;

        for (uint32_t i = 0; i < BATCH; i++) all[i] = i;
        for (size_t i = 0; i < subset.count; i++)
            weight[whole ? subset.index[i] : i] = subset.weight[i] / (double)subset.count;
        assert_ok(cull_prober_part(&g->prober, &subset, way));
        assert_ok(cull_nn_plan_create(g->model, g->params, g->backend, CULL_PLAN_SCORE, rows,
                                      (cull_loss){.smoothing = SMOOTHING}, &plan));
        for (size_t at = 11; at < g->params->count; at += g->params->count / 9) {
            double kept = value[at], up = 0, down = 0;

            value[at] = kept + NUDGE;
            up = loss_of(g, plan, whole ? all : subset.index, rows, weight);
            value[at] = kept - NUDGE;
            down = loss_of(g, plan, whole ? all : subset.index, rows, weight);
            value[at] = kept;
            assert_true(fabs((up - down) / (2 * NUDGE) - g->prober.part[at]) < NEAR);
        }
        cull_nn_plan_destroy(plan);
    }
    cull_subset_clear(&subset);
    drop(g);
}

static void keeping_all_leaves_no_error_against_the_batch(void **state)
{
    static const char *const names[] = {"mlp", "resnet20"};
    cull_subset              subset = {0};

    (void)state;
    all_rows(&subset);
    for (size_t n = 0; n < 2; n++) {
        struct ground *g = make(names[n], CULL_F32, POOL);

        cull_prober_go(&g->prober, 2);
        assert_ok(cull_prober_whole(&g->prober));
        for (int way = 0; way < CULL_PROBE_WAYS; way++) {
            cull_probe_gap gap = {0};

            assert_ok(cull_prober_part(&g->prober, &subset, way));
            gap = cull_probe_compare(g->prober.part, g->prober.whole, g->params->count);
            assert_true(gap.error == 0);
            assert_true(fabs(gap.cosine - 1) < EXACT);
            assert_true(gap.sign == 1);
        }
        drop(g);
    }
    cull_subset_clear(&subset);
}

/* What H and P say of the last layer is what a backward pass finds there. */
static void the_last_layers_error_is_that_of_its_signals(void **state)
{
    static const char *const models[] = {"mlp", "resnet20"};
    cull_subset              subset = {0};

    (void)state;
    some_rows(&subset);
    for (size_t m = 0; m < 2; m++) {
        struct ground   *g = make(models[m], CULL_F64, POOL);
        const cull_node *last = &g->model->node[g->model->last_dense];
        cull_signals     signals = {0};
        size_t           size = last->param_count[0] + last->param_count[1], d = 0, c = 0;
        double          *part = calloc(size, sizeof *part), *whole = calloc(size, sizeof *whole);

        assert_ok(cull_prober_score(&g->prober, true, &signals));
        d = (size_t)signals.h.shape[1];
        c = (size_t)signals.p.shape[1];
        assert_int_equal(size, c * (d + 1));
        for (size_t i = 0; i < BATCH; i++)
            for (size_t k = 0; k < size; k++) {
                double weight = 0, p = ((const double *)signals.p.data)[i * c + k / (d + 1)];
                double h =
                    k % (d + 1) < d ? ((const double *)signals.h.data)[i * d + k % (d + 1)] : 1;

                for (size_t j = 0; j < subset.count; j++)
                    if (subset.index[j] == i) weight = subset.weight[j] / (double)subset.count;
                part[k] += weight * p * h;
                whole[k] += p * h / BATCH;
            }
        assert_ok(cull_prober_whole(&g->prober));
        assert_ok(cull_prober_part(&g->prober, &subset, CULL_PROBE_OF_BATCH));
        assert_true(fabs(cull_probe_relative(g->prober.part + last->param_at[0],
                                             g->prober.whole + last->param_at[0], size) /
                             cull_probe_relative(part, whole, size) -
                         1) < EXACT);
        free(part);
        free(whole);
        drop(g);
    }
    cull_subset_clear(&subset);
}

/* Without a pass, over the parameters that the last layer has. */
static void the_last_layers_error_needs_no_pass(void **state)
{
    static const char *const models[] = {"mlp", "resnet20", "unbiased"};
    cull_subset              subset = {0};

    (void)state;
    some_rows(&subset);
    for (size_t m = 0; m < 3; m++) {
        struct ground   *g = make(models[m], CULL_F64, POOL);
        const cull_node *last = &g->model->node[g->model->last_dense];
        cull_signals     signals = {0};
        double           told = 0, found = 0;
        size_t           at = last->param_at[0], size = last->param_count[0];

        assert_int_equal(strcmp(models[m], "unbiased") == 0 ? 1 : 2, last->params);
        if (last->params > 1) size += last->param_count[1];
        assert_ok(cull_prober_score(&g->prober, true, &signals));
        told = cull_prober_last(&g->prober, &signals, &subset);
        assert_ok(cull_prober_whole(&g->prober));
        assert_ok(cull_prober_part(&g->prober, &subset, CULL_PROBE_OF_BATCH));
        found = cull_probe_relative(g->prober.part + at, g->prober.whole + at, size);
        assert_true(fabs(told / found - 1) < EXACT);
        drop(g);
    }
    cull_subset_clear(&subset);
}

static void running_averages_and_weights_stay_as_they_were(void **state)
{
    struct ground *g = make("resnet20", CULL_F32, POOL);
    size_t         values = g->params->count * sizeof(float);
    size_t         averages = g->params->running_count * sizeof(float);
    void          *value = malloc(values), *running = malloc(averages);
    cull_subset    subset = {0};
    cull_signals   signals = {0};

    (void)state;
    some_rows(&subset);
    for (size_t i = 0; i < g->params->running_count; i++)
        ((float *)g->params->running)[i] = (float)random_uniform(5, i);
    memcpy(value, g->params->value, values);
    memcpy(running, g->params->running, averages);
    assert_ok(cull_prober_score(&g->prober, false, &signals));
    assert_ok(cull_prober_add(&g->prober));
    assert_ok(cull_prober_whole(&g->prober));
    for (int way = 0; way < CULL_PROBE_WAYS; way++)
        assert_ok(cull_prober_part(&g->prober, &subset, way));
    assert_memory_equal(value, g->params->value, values);
    assert_memory_equal(running, g->params->running, averages);
    cull_subset_clear(&subset);
    free(value);
    free(running);
    drop(g);
}

/* E|g(S) - g(B)|^2 = (1/m - 1/M) sum |g_i - g(B)|^2 / (M - 1) over uniform S of m without
 * replacement. */
static void random_errs_as_sampling_without_replacement_does(void **state)
{
    enum { DRAWS = 400, KEPT = 3 };
    struct ground *g = make("mlp", CULL_F64, POOL);
    cull_setting   setting = {.pool = POOL, .batch = BATCH, .seed = 9, .backend = g->backend};
    cull_selector *selector = make_selector("random", "keep=0.25", &setting);
    cull_subset    subset = {0};
    size_t         count = g->params->count;
    double        *one = calloc(count, sizeof *one);
    double         spread = 0, sum = 0, squares = 0, law = 0, mean = 0;

    (void)state;
    assert_ok(cull_prober_whole(&g->prober));
    for (size_t i = 0; i < BATCH; i++) {
        gradient_of(g, g->prober.places[i], one);
        spread += cull_probe_compare(one, g->prober.whole, count).error;
    }
    law = (1. / KEPT - 1. / BATCH) * spread / (BATCH - 1);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        cull_signals signals = {.count = BATCH, .place = g->prober.places, .step = draw};
        double       error = 0;

        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(KEPT, subset.count);
        assert_ok(cull_prober_part(&g->prober, &subset, CULL_PROBE_TRAINED));
        error = cull_probe_compare(g->prober.part, g->prober.whole, count).error;
        sum += error;
        squares += error * error;
    }
    mean = sum / DRAWS;
    /* within three standard errors of the mean, which themselves are small */
    assert_true(fabs(mean - law) < 3 * sqrt((squares / DRAWS - mean * mean) / DRAWS));
    assert_true(sqrt((squares / DRAWS - mean * mean) / DRAWS) < 0.04 * law);
    cull_selector_destroy(selector);
    cull_subset_clear(&subset);
    free(one);
    drop(g);
}

/* 60 examples in batches of 12 leave none over: without norm the mean of the batches is the
 * mean of the examples. */
static void the_data_sets_gradient_is_the_mean_over_its_batches(void **state)
{
    struct ground *g = make("mlp", CULL_F64, POOL);
    size_t         count = g->params->count, batches = cull_prober_batches(&g->prober);
    double        *one = calloc(count, sizeof *one), *sum = calloc(count, sizeof *sum);

    (void)state;
    assert_int_equal(POOL / BATCH, batches);
    for (size_t b = 0; b < batches; b++) {
        cull_prober_go(&g->prober, b);
        assert_ok(cull_prober_add(&g->prober));
    }
    cull_prober_divide(&g->prober, batches);
    for (uint32_t i = 0; i < POOL; i++) {
        gradient_of(g, i, one);
        for (size_t k = 0; k < count; k++) sum[k] += one[k] / POOL;
    }
    assert_true(distance(g->prober.full, sum, count) < EXACT);
    free(one);
    free(sum);
    drop(g);
}

static void batches_go_on_into_the_next_epoch_and_leave_short_ones_out(void **state)
{
    struct ground *g = make("mlp", CULL_F32, POOL - 1);
    uint32_t       first[BATCH];

    (void)state;
    assert_int_equal(4, cull_prober_batches(&g->prober));
    memcpy(first, g->prober.places, sizeof first);
    cull_prober_go(&g->prober, 4);
    assert_int_equal(1, g->prober.epoch);
    assert_memory_not_equal(first, g->prober.places, sizeof first);
    cull_prober_go(&g->prober, 0);
    assert_memory_equal(first, g->prober.places, sizeof first);
    drop(g);
}

static void any_number_of_examples_can_be_kept(void **state)
{
    struct ground *g = make("mlp", CULL_F32, POOL);
    cull_subset    subset = {0};

    (void)state;
    assert_ok(cull_prober_whole(&g->prober));
    for (int round = 0; round < 2; round++)
        for (size_t m = 1; m <= BATCH; m++) {
            assert_ok(cull_subset_resize(&subset, m));
            for (uint32_t i = 0; i < m; i++) subset.index[i] = i;
            assert_ok(cull_prober_part(&g->prober, &subset, CULL_PROBE_TRAINED));
        }
    assert_true(cull_probe_compare(g->prober.part, g->prober.whole, g->params->count).error == 0);
    assert_ok(cull_subset_resize(&subset, 0));
    assert_fails(CULL_BAD_ARGUMENT, "0 examples",
                 cull_prober_part(&g->prober, &subset, CULL_PROBE_TRAINED));
    assert_ok(cull_subset_resize(&subset, 1));
    subset.index[0] = BATCH;
    assert_fails(CULL_BAD_ARGUMENT, "row 12",
                 cull_prober_part(&g->prober, &subset, CULL_PROBE_TRAINED));
    cull_subset_clear(&subset);
    drop(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_norm_a_subsets_gradient_is_the_sum_of_its_examples),
        cmocka_unit_test(with_norm_both_gradients_are_slopes_of_the_loss),
        cmocka_unit_test(keeping_all_leaves_no_error_against_the_batch),
        cmocka_unit_test(the_last_layers_error_is_that_of_its_signals),
        cmocka_unit_test(the_last_layers_error_needs_no_pass),
        cmocka_unit_test(running_averages_and_weights_stay_as_they_were),
        cmocka_unit_test(random_errs_as_sampling_without_replacement_does),
        cmocka_unit_test(the_data_sets_gradient_is_the_mean_over_its_batches),
        cmocka_unit_test(batches_go_on_into_the_next_epoch_and_leave_short_ones_out),
        cmocka_unit_test(any_number_of_examples_can_be_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
