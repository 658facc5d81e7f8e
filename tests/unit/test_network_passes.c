/*
 * test_network_passes.c - what a loop of one's own reaches besides score, learn and step: gradients
 * and parameters by name, float64, logits by either statistics, int8, and passes that are kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/layer.h"
#include "base/alloc.h"
#include "files.h"
#include "nn/plan.h"
#include "tensor/tensor.h"
#include "train/network/network.h"

enum { COUNT = 24, SIDE = 6, CHANNELS = 2, ROW = CHANNELS * SIDE * SIDE, CLASSES = 3, SOME = 5 };

#define DIFFERENCE_ERROR 1e-6  /* central differences in double, steps of 1e-5, as a share */
#define SAME_ERROR       1e-12 /* double, sums in another order                            */
#define FLOAT_ERROR      1e-4  /* float32 beside double through a few layers               */

static double         pixels[300 * ROW];
static int32_t        labels[300];
static const uint32_t rows[SOME] = {1, 4, 7, 8, 22};
static const double   weights[SOME] = {0.5, 2, 0.25, 1, 0};

static int make_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < 300; i++) {
        labels[i] = (int32_t)(i % CLASSES);
        for (size_t j = 0; j < ROW; j++)
            pixels[i * ROW + j] =
                0.3 * random_normal(3, i * ROW + j) + (j % CLASSES == i % CLASSES ? 1. : 0.);
    }
    return 0;
}

static cull_examples examples(size_t count)
{
    return (cull_examples){.inputs = cull_images(pixels, CULL_F64, count, CHANNELS, SIDE, SIDE),
                           .label = cull_vector(labels, CULL_I32, count),
                           .step = 3,
                           .epoch = 1};
}

static cull_subset some(void)
{
    static uint32_t index[SOME];
    static double   weight[SOME];

    memcpy(index, rows, sizeof index);
    memcpy(weight, weights, sizeof weight);
    return (cull_subset){.count = SOME, .index = index, .weight = weight};
}

static cull_model *model_of(bool batchnorm)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("small", CHANNELS, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = 4, .kernel = 3, .pad = 1});
    if (batchnorm) x = cull_model_batchnorm(m, x, "bn");
    x = cull_model_activate(m, x, CULL_GELU);
    x = cull_model_flatten(m, cull_model_pool(m, x, &(cull_pool){.kernel = 2}));
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static cull_network *network_of(bool batchnorm, const char *dtype)
{
    cull_option   options[] = {{"dtype", dtype}, {"train.seed", "7"}};
    cull_model   *m = model_of(batchnorm);
    cull_network *n = NULL;

    assert_ok(cull_network_create(m, NULL, options, 2, &n));
    cull_model_destroy(m);
    return n;
}

static size_t numbers(const cull_tensor *t)
{
    size_t count = 1;

    for (int d = 0; d < t->dims; d++) count *= (size_t)t->shape[d];
    return count;
}

static double at(const cull_tensor *t, size_t i)
{
    return t->dtype == CULL_F32 ? (double)((const float *)t->data)[i] : ((double *)t->data)[i];
}

/* A copy of the whole gradient. */
static double *gradient_of(const cull_network *n, size_t *count)
{
    cull_tensor all = {0};
    double     *copy = NULL;

    assert_ok(cull_network_gradient(n, NULL, &all));
    *count = numbers(&all);
    copy = malloc(*count * sizeof *copy);
    for (size_t i = 0; i < *count; i++) copy[i] = at(&all, i);
    return copy;
}

static void check_near(const double *a, const double *b, size_t count, double most)
{
    double apart = 0, size = 0;

    for (size_t i = 0; i < count; i++) {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    if (!(sqrt(apart) <= most * sqrt(size))) fail_msg("apart by %g", sqrt(apart / size));
    assert_true(size > 0);
}

/* ---- gradients ---- */

/* (1/m) sum w*loss of the subset, by a pass over it. */
static double loss_of(cull_network *n, const cull_subset *s)
{
    static double x[SOME * ROW];
    int32_t       y[SOME];
    double        sum = 0;
    cull_signals  seen = {0};
    cull_examples e = {.inputs = cull_images(x, CULL_F64, SOME, CHANNELS, SIDE, SIDE),
                       .label = cull_vector(y, CULL_I32, SOME)};

    for (size_t i = 0; i < s->count; i++) {
        memcpy(x + i * ROW, pixels + s->index[i] * ROW, ROW * sizeof *x);
        y[i] = labels[s->index[i]];
    }
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &seen));
    for (size_t i = 0; i < s->count; i++) sum += s->weight[i] * cull_tensor_get(&seen.loss, i);
    return sum / (double)s->count;
}

static void the_gradient_of_a_weighted_batch_is_that_of_differences(void **state)
{
    const double  step = 1e-5;
    cull_network *n = network_of(true, "float64");
    cull_examples e = examples(COUNT);
    cull_subset   s = some();
    size_t        count = 0;
    double       *told = NULL, *found = NULL;
    cull_tensor   all = {0};

    (void)state;
    assert_ok(cull_network_learn(n, &e, &s, NULL));
    told = gradient_of(n, &count);
    found = malloc(count * sizeof *found);
    assert_ok(cull_network_parameter(n, NULL, &all));
    assert_int_equal(count, numbers(&all));
    for (size_t i = 0; i < count; i++) {
        double *number = (double *)all.data + i, here = *number, up = 0;

        *number = here + step;
        up = loss_of(n, &s);
        *number = here - step;
        found[i] = (up - loss_of(n, &s)) / (2 * step);
        *number = here;
    }
    check_near(told, found, count, DIFFERENCE_ERROR);
    free(told);
    free(found);
    cull_network_destroy(n);
}

static void tensors_by_name_lie_one_behind_the_other(void **state)
{
    static const char *const names[] = {"conv.weight", "conv.bias",     "bn.weight",
                                        "bn.bias",     "logits.weight", "logits.bias"};
    cull_network            *n = network_of(true, "float32");
    cull_examples            e = examples(COUNT);
    cull_tensor              whole[2] = {{0}}, one[2] = {{0}};
    size_t                   from = 0;

    (void)state;
    assert_ok(cull_network_learn(n, &e, NULL, NULL));
    assert_ok(cull_network_parameter(n, NULL, &whole[0]));
    assert_ok(cull_network_gradient(n, NULL, &whole[1]));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(names[i], cull_network_parameter_at(n, i));
        assert_ok(cull_network_parameter(n, names[i], &one[0]));
        assert_ok(cull_network_gradient(n, names[i], &one[1]));
        for (int k = 0; k < 2; k++) {
            assert_int_equal(CULL_F32, one[k].dtype);
            assert_ptr_equal((float *)whole[k].data + from, one[k].data);
        }
        from += numbers(&one[0]);
    }
    assert_null(cull_network_parameter_at(n, sizeof names / sizeof *names));
    assert_int_equal(numbers(&whole[0]), from);
    assert_int_equal(from, cull_model_parameters(n->model));
    assert_ok(cull_network_gradient(n, "conv.weight", &one[0]));
    assert_true(one[0].dims == 4 && one[0].shape[0] == 4 && one[0].shape[1] == CHANNELS);
    assert_fails(CULL_BAD_ARGUMENT, "no parameter is called 'bn.running_mean'",
                 cull_network_parameter(n, "bn.running_mean", &one[0]));
    assert_ok(cull_network_step(n, 0.1));
    assert_fails(CULL_BAD_ARGUMENT, "there is no gradient",
                 cull_network_gradient(n, "conv.bias", &one[0]));
    cull_network_destroy(n);
}

static void looking_at_a_gradient_leaves_no_trace(void **state)
{
    cull_network *n = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_subset   s = some();
    void         *bytes[3];
    size_t        size[3], count = 0;
    double       *looked = NULL, *learned = NULL;

    (void)state;
    assert_ok(cull_network_save(n, &bytes[0], &size[0]));
    assert_ok(cull_network_look(n, &e, &s, NULL));
    looked = gradient_of(n, &count);
    assert_ok(cull_network_save(n, &bytes[1], &size[1]));
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    assert_ok(cull_network_learn(n, &e, &s, NULL));
    learned = gradient_of(n, &count);
    assert_ok(cull_network_save(n, &bytes[2], &size[2]));
    assert_memory_equal(looked, learned, count * sizeof *looked);
    assert_memory_not_equal(bytes[0], bytes[2], size[0]);
    for (int i = 0; i < 3; i++) cull_bytes_release(bytes[i]);
    free(looked);
    free(learned);
    cull_network_destroy(n);
}

/* ---- float64 ---- */

static void float64_is_float64_from_inputs_to_steps(void **state)
{
    cull_network *n = network_of(true, "float64"), *single = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_signals  seen = {0}, coarse = {0};
    cull_tensor   weight = {0};
    double        before = 0, loss = 0;

    (void)state;
    assert_ok(
        cull_network_score(n, &e, CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P, true, &seen));
    assert_true(seen.h.dtype == CULL_F64 && seen.p.dtype == CULL_F64);
    assert_ok(cull_network_score(single, &e, CULL_SIGNAL_LOSS, true, &coarse));
    for (size_t i = 0; i < COUNT; i++)
        assert_true(fabs(cull_tensor_get(&seen.loss, i) - cull_tensor_get(&coarse.loss, i)) <
                    FLOAT_ERROR);
    /* what float32 could not tell apart */
    loss = cull_tensor_get(&seen.loss, 0);
    pixels[0] += 1e-11;
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, true, &seen));
    pixels[0] -= 1e-11;
    assert_true(cull_tensor_get(&seen.loss, 0) != loss);
    assert_true(fabs(cull_tensor_get(&seen.loss, 0) - loss) < 1e-9);
    assert_ok(cull_network_learn(n, &e, NULL, NULL));
    assert_ok(cull_network_parameter(n, "conv.weight", &weight));
    before = at(&weight, 0);
    assert_ok(cull_network_step(n, 1e-12));
    assert_true(at(&weight, 0) != before);
    cull_network_destroy(n);
    cull_network_destroy(single);
}

static void inputs_of_every_type_are_the_same_numbers_in_float64(void **state)
{
    static uint8_t bytes[COUNT * ROW];
    static float   floats[COUNT * ROW];
    static double  doubles[COUNT * ROW];
    cull_network  *n = network_of(true, "float64");
    cull_tensor    x[3] = {cull_images(bytes, CULL_U8, COUNT, CHANNELS, SIDE, SIDE),
                           cull_images(floats, CULL_F32, COUNT, CHANNELS, SIDE, SIDE),
                           cull_images(doubles, CULL_F64, COUNT, CHANNELS, SIDE, SIDE)};
    double         out[3][COUNT * CLASSES];

    (void)state;
    for (size_t i = 0; i < COUNT * ROW; i++) {
        bytes[i] = random_normal(5, i) > 0 ? 255 : 0; /* what all three have exactly */
        floats[i] = bytes[i] ? 1 : 0;
        doubles[i] = bytes[i] ? 1 : 0;
    }
    for (int k = 0; k < 3; k++) {
        cull_tensor to = cull_matrix(out[k], CULL_F64, COUNT, CLASSES);

        assert_ok(cull_network_logits(n, &x[k], true, &to));
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(out[0], out[2], sizeof out[0]);
    doubles[7] = INFINITY;
    assert_fails(CULL_NOT_FINITE, "number 7 of example 0",
                 cull_network_logits(n, &x[2], true,
                                     &(cull_tensor){.data = out[0],
                                                    .dtype = CULL_F64,
                                                    .dims = 2,
                                                    .shape = {COUNT, CLASSES},
                                                    .stride = {CLASSES, 1}}));
    cull_network_destroy(n);
}

static void a_float64_network_is_saved_and_goes_on(void **state)
{
    cull_network *n = network_of(true, "float64"), *other = network_of(true, "float64");
    cull_network *single = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    void         *bytes[2];
    size_t        size[2];

    (void)state;
    for (int step = 0; step < 2; step++) {
        assert_ok(cull_network_learn(n, &e, NULL, NULL));
        assert_ok(cull_network_step(n, 0.1));
        if (step == 1) break;
        assert_ok(cull_network_save(n, &bytes[0], &size[0]));
        assert_ok(cull_network_restore(other, bytes[0], size[0]));
        assert_fails(CULL_BAD_STATE, "float", cull_network_restore(single, bytes[0], size[0]));
        cull_bytes_release(bytes[0]);
    }
    assert_ok(cull_network_learn(other, &e, NULL, NULL));
    assert_ok(cull_network_step(other, 0.1));
    assert_ok(cull_network_save(n, &bytes[0], &size[0]));
    assert_ok(cull_network_save(other, &bytes[1], &size[1]));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; i++) cull_bytes_release(bytes[i]);
    cull_network_destroy(n);
    cull_network_destroy(other);
    cull_network_destroy(single);
}

static void a_dtype_that_is_not_there_is_refused(void **state)
{
    cull_model   *m = model_of(false);
    cull_backend *cpu = NULL;
    cull_network *n = NULL;
    cull_examples e = examples(COUNT);
    cull_signals  seen = {0};

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &cpu));
    assert_fails(CULL_BAD_OPTION, "dtype=bfloat16: float32 or float64",
                 cull_network_create(m, NULL, &(cull_option){"dtype", "bfloat16"}, 1, &n));
    assert_fails(CULL_UNSUPPORTED, "float64",
                 cull_network_create(m, cpu, &(cull_option){"dtype", "float64"}, 1, &n));
    assert_null(n);
    assert_ok(cull_network_create(m, cpu, &(cull_option){"dtype", "float32"}, 1, &n));
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, true, &seen));
    cull_network_destroy(n);
    cull_backend_close(cpu);
    cull_model_destroy(m);
}

/* ---- logits ---- */

/* P is the softmax of the logits less the target, by whichever statistics. */
static void check_logits(cull_network *n, bool running)
{
    cull_examples e = examples(COUNT);
    double        z[COUNT][CLASSES];
    cull_tensor   out = cull_matrix(z, CULL_F64, COUNT, CLASSES);
    cull_signals  seen = {0};

    assert_ok(cull_network_logits(n, &e.inputs, running, &out));
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_P, running, &seen));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < CLASSES; k++) {
            double sum = 0;

            for (size_t j = 0; j < CLASSES; j++) sum += exp(z[i][j] - z[i][k]);
            assert_true(fabs(1 / sum - ((size_t)labels[i] == k) - at(&seen.p, i * CLASSES + k)) <
                        FLOAT_ERROR);
        }
}

static void logits_go_by_the_statistics_asked_for(void **state)
{
    static const char *const dtypes[] = {"float32", "float64"};

    (void)state;
    for (int d = 0; d < 2; d++) {
        cull_network *n = network_of(true, dtypes[d]);
        float         single[300 * CLASSES], z[300 * CLASSES];
        double        many[300 * CLASSES];
        cull_tensor   all = cull_images(pixels, CULL_F64, 300, CHANNELS, SIDE, SIDE);
        cull_tensor   out = cull_matrix(single, CULL_F32, 300, CLASSES);
        void         *bytes[2];
        size_t        size[2];

        assert_ok(cull_network_save(n, &bytes[0], &size[0]));
        check_logits(n, false);
        check_logits(n, true);
        assert_ok(cull_network_save(n, &bytes[1], &size[1]));
        assert_memory_equal(bytes[0], bytes[1], size[0]); /* averages stay */
        assert_ok(cull_network_predict(n, &all, z, NULL));
        assert_ok(cull_network_logits(n, &all, true, &out));
        assert_memory_equal(z, single, sizeof z);
        out = cull_matrix(many, CULL_F64, 300, CLASSES); /* one batch, whatever its size */
        assert_ok(cull_network_logits(n, &all, false, &out));
        assert_true(fabs(many[0] - (double)z[0]) > 1e-3);
        out.shape[1] = CLASSES + 1;
        assert_fails(CULL_BAD_ARGUMENT, "logits", cull_network_logits(n, &all, false, &out));
        for (int i = 0; i < 2; i++) cull_bytes_release(bytes[i]);
        cull_network_destroy(n);
    }
}

/* ---- int8 ---- */

static void int8_scores_as_a_run_scores(void **state)
{
    cull_model   *m = NULL;
    cull_network *n = NULL;
    cull_plan    *plan = NULL;
    cull_signals  seen = {0};
    cull_examples e = {.inputs = cull_images(pixels, CULL_F64, 16, 1, 16, 16),
                       .label = cull_vector(labels, CULL_I32, 16)};
    double        loss[16];

    (void)state;
    assert_ok(cull_model_named("resnet20", 1, 16, 16, 10, &m));
    assert_ok(cull_network_create(m, NULL, NULL, 0, &n));
    cull_model_destroy(m);
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &seen));
    for (size_t i = 0; i < 16; i++) loss[i] = cull_tensor_get(&seen.loss, i);
    if (!cull_layer_int8(n->backend)) {
        assert_fails(
            CULL_UNSUPPORTED, "int8",
            cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &(cull_scoring){.int8 = true}, &seen));
    } else {
        assert_ok(
            cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &(cull_scoring){.int8 = true}, &seen));
        for (size_t i = 0; i < 16; i++)
            assert_true(fabs(cull_tensor_get(&seen.loss, i) - loss[i]) < 0.2 * loss[i]);
        assert_ok(cull_network_plan(n, CULL_PLAN_SCORE_INT8, 16, &plan));
        assert_int_equal(1, plan->runs);
    }
    cull_network_destroy(n);
    n = network_of(true, "float64");
    e = examples(COUNT);
    assert_fails(
        CULL_UNSUPPORTED, "int8",
        cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &(cull_scoring){.int8 = true}, &seen));
    cull_network_destroy(n);
}

/* ---- passes that are kept ---- */

static const cull_scoring keeping = {.keep = true};

static void without_batchnorm_kept_rows_give_the_gradient_of_learning(void **state)
{
    static const char *const dtypes[] = {"float32", "float64"};

    (void)state;
    for (int d = 0; d < 2; d++) {
        cull_network *n = network_of(false, dtypes[d]);
        cull_examples e = examples(COUNT);
        cull_subset   s = some();
        cull_signals  seen = {0}, trained = {0};
        size_t        count = 0;
        double       *kept = NULL, *learned = NULL, h[SOME];

        assert_ok(cull_network_score_as(n, &e, CULL_SIGNAL_LOSS | CULL_SIGNAL_H, &keeping, &seen));
        for (size_t i = 0; i < SOME; i++) h[i] = at(&seen.h, rows[i] * (size_t)seen.h.shape[1] + 2);
        assert_ok(cull_network_learn_kept(n, &s, &trained));
        assert_true(trained.count == SOME && trained.step == 3 && trained.epoch == 1);
        for (size_t i = 0; i < SOME; i++) {
            assert_int_equal(rows[i], trained.place[i]);
            assert_true(at(&trained.h, i * (size_t)trained.h.shape[1] + 2) == h[i]);
        }
        kept = gradient_of(n, &count);
        assert_ok(cull_network_learn(n, &e, &s, NULL));
        learned = gradient_of(n, &count);
        check_near(kept, learned, count, d ? SAME_ERROR : FLOAT_ERROR);
        free(kept);
        free(learned);
        cull_network_destroy(n);
    }
}

static void keeping_all_rows_is_plain_training_with_batchnorm_too(void **state)
{
    cull_network *kept = network_of(true, "float64"), *plain = network_of(true, "float64");
    cull_examples e = examples(COUNT);
    cull_signals  seen = {0};
    double        z[2][COUNT * CLASSES];
    cull_tensor   out[2] = {cull_matrix(z[0], CULL_F64, COUNT, CLASSES),
                            cull_matrix(z[1], CULL_F64, COUNT, CLASSES)};

    (void)state;
    for (int step = 0; step < 3; step++) {
        assert_ok(cull_network_score_as(kept, &e, 0, &keeping, &seen));
        assert_ok(cull_network_learn_kept(kept, NULL, NULL));
        assert_ok(cull_network_step(kept, 0.1));
        assert_ok(cull_network_learn(plain, &e, NULL, NULL));
        assert_ok(cull_network_step(plain, 0.1));
    }
    /* by the averages, which have moved on alike */
    assert_ok(cull_network_logits(kept, &e.inputs, true, &out[0]));
    assert_ok(cull_network_logits(plain, &e.inputs, true, &out[1]));
    check_near(z[0], z[1], COUNT * CLASSES, SAME_ERROR);
    cull_network_destroy(kept);
    cull_network_destroy(plain);
}

/* Rows are told apart by place: dropout's masks, and what a selector is told of. */
static void rows_of_a_kept_pass_keep_their_places(void **state)
{
    cull_network *n = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_subset   s = some();
    cull_signals  seen = {0}, trained = {0};
    uint32_t      place[COUNT];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) place[i] = 1000 - 7 * i;
    e.place = place;
    assert_ok(cull_network_score_as(n, &e, 0, &keeping, &seen));
    for (int again = 0; again < 2; again++) {
        assert_ok(cull_network_learn_kept(n, NULL, &trained));
        assert_memory_equal(place, trained.place, sizeof place);
        assert_ok(cull_network_learn_kept(n, &s, &trained));
        for (size_t i = 0; i < SOME; i++) assert_int_equal(place[rows[i]], trained.place[i]);
    }
    cull_network_destroy(n);
}

/* More subsets, of more sizes, than stay prepared: each as if it were the first. */
static void many_subsets_may_be_learned_from_one_pass(void **state)
{
    cull_network *n = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_signals  seen = {0};
    uint32_t      index[COUNT];
    double        weight[COUNT];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        index[i] = i;
        weight[i] = 1 + i % 3;
    }
    assert_ok(cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &keeping, &seen));
    for (size_t count = 1; count <= COUNT; count++) {
        cull_subset   s = {.count = count, .index = index, .weight = weight};
        cull_network *fresh = network_of(true, "float32");
        size_t        size = 0;
        double       *a = NULL, *b = NULL;

        assert_ok(cull_network_learn_kept(n, &s, NULL));
        assert_ok(cull_network_score_as(fresh, &e, CULL_SIGNAL_LOSS, &keeping, &seen));
        assert_ok(cull_network_learn_kept(fresh, &s, NULL));
        a = gradient_of(n, &size);
        b = gradient_of(fresh, &size);
        assert_memory_equal(a, b, size * sizeof *a);
        free(a);
        free(b);
        cull_network_destroy(fresh);
    }
    cull_network_destroy(n);
}

static void keep(cull_network *n)
{
    cull_examples e = examples(COUNT);
    cull_signals  seen = {0};

    assert_ok(cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &keeping, &seen));
}

static void a_pass_is_kept_until_the_next(void **state)
{
    cull_network *n = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_subset   s = some();
    cull_signals  seen = {0};
    float         share[COUNT * CLASSES];
    void         *bytes = NULL;
    size_t        size = 0;

#define IS_GONE()                                                                                  \
    assert_fails(CULL_BAD_ARGUMENT, "no pass is kept", cull_network_learn_kept(n, &s, NULL))
    (void)state;
    IS_GONE();
    keep(n);
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &seen));
    IS_GONE();
    keep(n);
    assert_ok(cull_network_predict(n, &e.inputs, NULL, share));
    IS_GONE();
    keep(n);
    assert_ok(cull_network_learn(n, &e, NULL, NULL));
    IS_GONE();
    keep(n);
    assert_ok(cull_network_learn_kept(n, &s, NULL));
    assert_ok(cull_network_step(n, 0.1));
    IS_GONE();
    assert_ok(cull_network_save(n, &bytes, &size));
    keep(n);
    assert_ok(cull_network_restore(n, bytes, size));
    IS_GONE();
    cull_bytes_release(bytes);
    keep(n);
    s.index[2] = COUNT;
    assert_fails(CULL_BAD_ARGUMENT, "row 24", cull_network_learn_kept(n, &s, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "a kept pass",
                 cull_network_score_as(n, &e, CULL_SIGNAL_LOSS,
                                       &(cull_scoring){.keep = true, .running = true}, &seen));
    assert_fails(CULL_BAD_ARGUMENT, "a kept pass",
                 cull_network_score_as(n, &e, CULL_SIGNAL_LOSS,
                                       &(cull_scoring){.keep = true, .int8 = true}, &seen));
    cull_network_destroy(n);
}

/* Signals of one pass are no more those of their examples after another. */
static void a_selector_refuses_signals_of_an_earlier_pass(void **state)
{
    cull_network  *n = network_of(true, "float32");
    cull_setting   setting = {.pool = COUNT, .batch = COUNT, .seed = 1};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_examples  e = examples(COUNT);
    cull_signals   batch = {0}, target = {0};

    (void)state;
    assert_ok(cull_selector_create("gradmatch", NULL, 0, &setting, &selector));
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_H | CULL_SIGNAL_P, false, &batch));
    assert_ok(cull_select(selector, &batch, 0, &subset));
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_H | CULL_SIGNAL_P, false, &target));
    assert_fails(CULL_BAD_ARGUMENT, "has overwritten them",
                 cull_select(selector, &batch, 0, &subset));
    assert_ok(cull_select(selector, &target, 0, &subset));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    cull_network_destroy(n);
}

static void warm_passes_allocate_nothing(void **state)
{
    cull_network *n = network_of(true, "float32");
    cull_examples e = examples(COUNT);
    cull_subset   s = some();
    cull_signals  seen = {0};
    double        z[COUNT * CLASSES];
    cull_tensor   out = cull_matrix(z, CULL_F64, COUNT, CLASSES);
    size_t        before = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        before = cull_base_alloc_count();
        assert_ok(cull_network_score_as(n, &e, CULL_SIGNAL_LOSS, &keeping, &seen));
        assert_ok(cull_network_learn_kept(n, &s, NULL));
        assert_ok(cull_network_step(n, 0.1));
        assert_ok(cull_network_look(n, &e, &s, NULL));
        assert_ok(cull_network_logits(n, &e.inputs, false, &out));
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_network_destroy(n);
}

static cull_status whole_life(const cull_model *m, const cull_examples *e)
{
    cull_status   status = CULL_OK;
    cull_network *n = NULL;
    cull_signals  seen = {0};
    cull_subset   s = some();
    double        z[COUNT * CLASSES];
    cull_tensor   out = cull_matrix(z, CULL_F64, COUNT, CLASSES);

    TRY(cull_network_create(m, NULL, &(cull_option){"dtype", "float64"}, 1, &n));
    TRY(cull_network_score_as(n, e, CULL_SIGNAL_LOSS, &keeping, &seen));
    TRY(cull_network_learn_kept(n, &s, NULL));
    TRY(cull_network_look(n, e, NULL, NULL));
    TRY(cull_network_logits(n, &e->inputs, false, &out));
done:
    cull_network_destroy(n);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    cull_model   *m = model_of(true);
    cull_examples e = examples(COUNT);
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = whole_life(m, &e);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    cull_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_of_a_weighted_batch_is_that_of_differences),
        cmocka_unit_test(tensors_by_name_lie_one_behind_the_other),
        cmocka_unit_test(looking_at_a_gradient_leaves_no_trace),
        cmocka_unit_test(float64_is_float64_from_inputs_to_steps),
        cmocka_unit_test(inputs_of_every_type_are_the_same_numbers_in_float64),
        cmocka_unit_test(a_float64_network_is_saved_and_goes_on),
        cmocka_unit_test(a_dtype_that_is_not_there_is_refused),
        cmocka_unit_test(logits_go_by_the_statistics_asked_for),
        cmocka_unit_test(int8_scores_as_a_run_scores),
        cmocka_unit_test(without_batchnorm_kept_rows_give_the_gradient_of_learning),
        cmocka_unit_test(keeping_all_rows_is_plain_training_with_batchnorm_too),
        cmocka_unit_test(rows_of_a_kept_pass_keep_their_places),
        cmocka_unit_test(many_subsets_may_be_learned_from_one_pass),
        cmocka_unit_test(a_pass_is_kept_until_the_next),
        cmocka_unit_test(a_selector_refuses_signals_of_an_earlier_pass),
        cmocka_unit_test(warm_passes_allocate_nothing),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, make_examples, NULL);
}
