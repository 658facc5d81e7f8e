/* test_network.c - networks outside of runs: the loop, predictions, saving, and misuse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "files.h"

enum { COUNT = 24, SIDE = 6, CHANNELS = 2, ROW = CHANNELS * SIDE * SIDE, CLASSES = 3 };

static float   pixels[COUNT * ROW];
static int32_t labels[COUNT];

/* The label is where the light is, so that there is something to learn. */
static int make_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        labels[i] = (int32_t)(i % CLASSES);
        for (size_t j = 0; j < ROW; j++)
            pixels[i * ROW + j] = (float)(0.3 * random_normal(3, i * ROW + j)) +
                                  (j % CLASSES == i % CLASSES ? 1.0f : 0.0f);
    }
    return 0;
}

static cull_examples examples(void)
{
    return (cull_examples){.inputs = cull_images(pixels, CULL_F32, COUNT, CHANNELS, SIDE, SIDE),
                           .label = cull_vector(labels, CULL_I32, COUNT)};
}

static cull_model *small_model(int64_t hidden)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("small", CHANNELS, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = hidden, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_flatten(m, cull_model_pool(m, x, &(cull_pool){.kernel = 2}));
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static cull_network *small_network(int64_t hidden)
{
    static const cull_option options[] = {{"optim.momentum", "0.5"}, {"train.seed", "7"}};
    cull_model              *m = small_model(hidden);
    cull_network            *n = NULL;

    assert_ok(cull_network_create(m, NULL, options, 2, &n));
    cull_model_destroy(m); /* it was copied */
    return n;
}

/* Steps of training with the hardest half, as the guide has it; the mean loss of the last. */
static double train(cull_network *n, size_t steps)
{
    cull_setting   setting = {.pool = COUNT, .batch = COUNT, .seed = 1};
    cull_option    keep = {"keep", "0.5"};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_signals   signals = {0}, trained = {0};
    double         mean = 0;

    assert_ok(cull_selector_create("top-loss", &keep, 1, &setting, &selector));
    for (size_t s = 0; s < steps; s++) {
        cull_examples e = examples();

        e.step = s;
        assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &signals));
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(COUNT / 2, subset.count);
        assert_ok(cull_network_learn(n, &e, &subset, &trained));
        assert_int_equal(subset.count, trained.count);
        assert_memory_equal(subset.place, trained.place, subset.count * sizeof *subset.place);
        assert_ok(cull_network_step(n, 0.05));
    }
    for (size_t i = 0; i < COUNT; i++) mean += ((const double *)signals.loss.data)[i] / COUNT;
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return mean;
}

static void a_loop_with_a_selector_learns(void **state)
{
    cull_network *n = small_network(4);
    cull_tensor   x = examples().inputs;
    float         logits[COUNT * CLASSES], share[COUNT * CLASSES];
    size_t        right = 0;

    (void)state;
    assert_true(train(n, 60) < 0.2);
    assert_ok(cull_network_predict(n, &x, logits, share));
    for (size_t i = 0; i < COUNT; i++) {
        double sum = 0, total = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            sum += (double)share[i * CLASSES + k];
            total += exp((double)logits[i * CLASSES + k]);
        }
        assert_true(fabs(sum - 1) < 1e-6);
        for (size_t k = 0; k < CLASSES; k++)
            assert_true(fabs(exp((double)logits[i * CLASSES + k]) / total -
                             (double)share[i * CLASSES + k]) < 1e-6);
        right += share[i * CLASSES + (size_t)labels[i]] > 0.5f;
    }
    assert_int_equal(COUNT, right);
    cull_network_destroy(n);
}

static void the_same_inputs_in_any_type_and_view_give_the_same_logits(void **state)
{
    enum { WIDE = ROW + 5 };
    cull_network *n = small_network(4);
    float         want[COUNT * CLASSES], got[COUNT * CLASSES], as_float[COUNT * ROW];
    double        as_double[COUNT * ROW];
    uint8_t       bytes[COUNT * ROW];
    float        *strided = calloc(COUNT * WIDE, sizeof *strided);
    cull_tensor   x = examples().inputs, wide = cull_matrix(strided, CULL_F32, COUNT, ROW);

    (void)state;
    assert_non_null(strided);
    for (size_t i = 0; i < COUNT * ROW; i++) {
        as_double[i] = (double)pixels[i];
        strided[i / ROW * WIDE + i % ROW] = pixels[i];
        bytes[i] = (uint8_t)(i % 256);
        as_float[i] = (float)bytes[i] * (float)(1. / 255);
    }
    wide.stride[0] = WIDE;
    assert_ok(cull_network_predict(n, &x, want, NULL));
    x = cull_matrix(as_double, CULL_F64, COUNT, ROW);
    assert_ok(cull_network_predict(n, &x, got, NULL));
    assert_memory_equal(want, got, sizeof want);
    assert_ok(cull_network_predict(n, &wide, got, NULL));
    assert_memory_equal(want, got, sizeof want);
    x = cull_matrix(as_float, CULL_F32, COUNT, ROW);
    assert_ok(cull_network_predict(n, &x, want, NULL));
    x = cull_matrix(bytes, CULL_U8, COUNT, ROW);
    assert_ok(cull_network_predict(n, &x, got, NULL));
    for (size_t i = 0; i < COUNT * CLASSES; i++) assert_float_equal(want[i], got[i], 1e-5);
    free(strided);
    cull_network_destroy(n);
}

static void any_number_of_examples_is_predicted(void **state)
{
    enum { MANY = 600 };
    cull_network *n = small_network(4);
    float        *x = normals_f32(5, (size_t)MANY * ROW), all[MANY * CLASSES], one[CLASSES];
    cull_tensor   inputs = cull_matrix(x, CULL_F32, MANY, ROW);

    (void)state;
    assert_ok(cull_network_predict(n, &inputs, all, NULL));
    for (size_t i = 0; i < MANY; i += 199) {
        inputs = cull_matrix(x + i * ROW, CULL_F32, 1, ROW);
        assert_ok(cull_network_predict(n, &inputs, one, NULL));
        for (size_t k = 0; k < CLASSES; k++) assert_float_equal(all[i * CLASSES + k], one[k], 1e-4);
    }
    free(x);
    cull_network_destroy(n);
}

static void a_saved_network_goes_on_bit_for_bit(void **state)
{
    cull_network *a = small_network(4), *b = small_network(4);
    void         *bytes = NULL, *last[2] = {NULL};
    size_t        size = 0, sizes[2] = {0};

    (void)state;
    (void)train(a, 5);
    assert_ok(cull_network_save(a, &bytes, &size));
    assert_ok(cull_network_restore(b, bytes, size));
    (void)train(a, 5);
    (void)train(b, 5);
    assert_ok(cull_network_save(a, &last[0], &sizes[0]));
    assert_ok(cull_network_save(b, &last[1], &sizes[1]));
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(last[0], last[1], sizes[0]);
    cull_bytes_release(bytes);
    cull_bytes_release(last[0]);
    cull_bytes_release(last[1]);
    cull_network_destroy(a);
    cull_network_destroy(b);
}

static void damaged_states_and_those_of_others_change_nothing(void **state)
{
    cull_network *a = small_network(4), *other = small_network(5);
    void         *bytes = NULL, *before = NULL, *after = NULL;
    size_t        size = 0, sizes[2] = {0};

    (void)state;
    (void)train(a, 2);
    assert_ok(cull_network_save(a, &bytes, &size));
    assert_ok(cull_network_save(other, &before, &sizes[0]));
    assert_int_equal(CULL_BAD_STATE, cull_network_restore(other, bytes, size));
    for (size_t cut = 0; cut < size; cut += size / 23)
        assert_int_equal(CULL_BAD_STATE, cull_network_restore(a, bytes, cut));
    ((unsigned char *)bytes)[size / 2] ^= 1;
    assert_fails(CULL_BAD_STATE, "damaged", cull_network_restore(a, bytes, size));
    assert_ok(cull_network_save(other, &after, &sizes[1]));
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(before, after, sizes[0]);
    cull_bytes_release(bytes);
    cull_bytes_release(before);
    cull_bytes_release(after);
    cull_network_destroy(a);
    cull_network_destroy(other);
}

static void weights_are_written_and_read_and_those_of_another_model_refused(void **state)
{
    char          folder[] = FOLDER_TEMPLATE;
    cull_network *a = small_network(4), *b = small_network(4), *other = small_network(5);
    cull_tensor   x = examples().inputs;
    float         want[COUNT * CLASSES], got[COUNT * CLASSES];
    const char   *path = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = path_in(folder, "weights.safetensors");
    (void)train(a, 5);
    assert_ok(cull_network_write(a, path));
    assert_ok(cull_network_read(b, path));
    assert_ok(cull_network_predict(a, &x, want, NULL));
    assert_ok(cull_network_predict(b, &x, got, NULL));
    assert_memory_equal(want, got, sizeof want);
    assert_fails(CULL_BAD_FILE, "conv.weight has another shape", cull_network_read(other, path));
    assert_int_equal(CULL_IO, cull_network_read(b, path_in(folder, "none")));
    cull_network_destroy(a);
    cull_network_destroy(b);
    cull_network_destroy(other);
    remove_folder(folder);
}

static void wrong_examples_are_named(void **state)
{
    cull_network *n = small_network(4);
    cull_examples e = examples();
    cull_signals  signals = {0};
    int32_t       wrong[COUNT] = {0};
    float         x[COUNT * ROW];

    (void)state;
    e.inputs = cull_matrix(pixels, CULL_F32, COUNT, ROW - 1);
    assert_fails(CULL_BAD_ARGUMENT, "another size than the 2x6x6",
                 cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &signals));
    e.inputs = cull_matrix(pixels, CULL_I32, COUNT, ROW);
    assert_fails(CULL_BAD_ARGUMENT, "float32, float64 or uint8",
                 cull_network_learn(n, &e, NULL, NULL));
    e.inputs = cull_images(pixels, CULL_F32, COUNT, CHANNELS, SIDE, SIDE);
    e.inputs.stride[3] = 2;
    assert_fails(CULL_BAD_ARGUMENT, "not dense", cull_network_learn(n, &e, NULL, NULL));
    e.inputs = (cull_tensor){0};
    assert_fails(CULL_BAD_ARGUMENT, "none", cull_network_predict(n, &e.inputs, x, NULL));
    e = examples();
    e.label = cull_vector(labels, CULL_I32, COUNT - 1);
    assert_fails(CULL_BAD_ARGUMENT, "label", cull_network_learn(n, &e, NULL, NULL));
    wrong[5] = CLASSES;
    e.label = cull_vector(wrong, CULL_I32, COUNT);
    assert_fails(CULL_BAD_ARGUMENT, "example 5 has label 3", cull_network_learn(n, &e, NULL, NULL));
    e = examples();
    assert_fails(CULL_BAD_ARGUMENT, "nothing else",
                 cull_network_score(n, &e, CULL_SIGNAL_IRREDUCIBLE, false, &signals));
    memcpy(x, pixels, sizeof x);
    x[4 * ROW + 2] = NAN;
    e.inputs = cull_images(x, CULL_F32, COUNT, CHANNELS, SIDE, SIDE);
    assert_fails(CULL_NOT_FINITE, "number 2 of example 4", cull_network_learn(n, &e, NULL, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "learn first", cull_network_step(n, 0.1));
    cull_network_destroy(n);
}

static void wrong_subsets_steps_and_options_are_named(void **state)
{
    cull_network *n = small_network(4), *none = NULL;
    cull_model   *m = small_model(4), *open = NULL;
    cull_examples e = examples();
    uint32_t      rows[2] = {0, COUNT}, group[2] = {0, 1};
    double        weights[2] = {1, 1};
    cull_subset   s = {.count = 2, .index = rows, .weight = weights, .group = group};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "row 24", cull_network_learn(n, &e, &s, NULL));
    rows[1] = CULL_NO_ROW;
    assert_fails(CULL_BAD_ARGUMENT, "is not among", cull_network_learn(n, &e, &s, NULL));
    rows[1] = 1;
    s.groups = 2;
    assert_fails(CULL_BAD_ARGUMENT, "2 groups", cull_network_learn(n, &e, &s, NULL));
    s.groups = 0;
    weights[0] = -1;
    assert_fails(CULL_NOT_FINITE, "weight of row 0", cull_network_learn(n, &e, &s, NULL));
    weights[0] = 1;
    assert_ok(cull_network_learn(n, &e, &s, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "a rate of", cull_network_step(n, -1));
    assert_ok(cull_network_step(n, 0));
    assert_fails(CULL_BAD_ARGUMENT, "learn first", cull_network_step(n, 0));
    assert_fails(CULL_BAD_OPTION, "takes no option 'data.name'",
                 cull_network_create(m, NULL, &(cull_option){"data.name", "x"}, 1, &none));
    assert_fails(CULL_BAD_OPTION, "optim.momentum",
                 cull_network_create(m, NULL, &(cull_option){"optim.momentum", "2"}, 1, &none));
    assert_ok(cull_model_create("open", 1, 1, 1, &open));
    assert_fails(CULL_BAD_ARGUMENT, "not finished",
                 cull_network_create(open, NULL, NULL, 0, &none));
    assert_null(none);
    cull_model_destroy(open);
    cull_model_destroy(m);
    cull_network_destroy(n);
}

static void signals_asked_for_by_nobody_cost_no_forward_pass(void **state)
{
    cull_network *n = small_network(4);
    cull_examples e = examples();
    cull_signals  s = {0};

    (void)state;
    e.step = 3;
    assert_ok(cull_network_score(n, &e, 0, false, &s));
    assert_true(s.count == COUNT && s.step == 3 && !s.loss.data && !s.h.data);
    assert_ok(cull_network_score(n, &e, CULL_SIGNAL_H | CULL_SIGNAL_P, true, &s));
    assert_true(s.h.shape[1] == 4 * 9 && s.p.shape[1] == CLASSES && !s.loss.data);
    cull_network_destroy(n);
}

/* More sizes than stay prepared, each as if it were the first. */
static void many_batch_sizes_give_what_a_fresh_network_gives(void **state)
{
    cull_network *n = small_network(4);
    uint32_t      rows[COUNT];
    double        weights[COUNT];
    cull_examples e = examples();

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        rows[i] = i;
        weights[i] = 1;
    }
    for (size_t round = 0; round < 2; round++)
        for (size_t count = 1; count <= COUNT; count++) {
            cull_subset   s = {.count = count, .index = rows, .weight = weights};
            cull_network *fresh = small_network(4);
            cull_signals  a = {0}, b = {0};

            assert_ok(cull_network_learn(n, &e, &s, &a));
            assert_ok(cull_network_learn(fresh, &e, &s, &b));
            assert_memory_equal(a.loss.data, b.loss.data, count * sizeof(double));
            cull_network_destroy(fresh);
        }
    cull_network_destroy(n);
}

static void a_warm_step_allocates_nothing(void **state)
{
    cull_network *n = small_network(4);
    cull_examples e = examples();
    cull_signals  signals = {0};
    size_t        before = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        before = cull_base_alloc_count();
        assert_ok(cull_network_score(n, &e, CULL_SIGNAL_LOSS, false, &signals));
        assert_ok(cull_network_learn(n, &e, NULL, &signals));
        assert_ok(cull_network_step(n, 0.1));
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_network_destroy(n);
}

static cull_status whole_life(const cull_model *m, const cull_examples *e, const char *path)
{
    cull_status   status = CULL_OK;
    cull_network *n = NULL;
    cull_signals  signals = {0};
    float         share[COUNT * CLASSES];
    void         *bytes = NULL;
    size_t        size = 0;

    TRY(cull_network_create(m, NULL, NULL, 0, &n));
    TRY(cull_network_score(n, e, CULL_SIGNAL_LOSS, false, &signals));
    TRY(cull_network_learn(n, e, NULL, &signals));
    TRY(cull_network_step(n, 0.1));
    TRY(cull_network_predict(n, &e->inputs, NULL, share));
    TRY(cull_network_write(n, path));
    TRY(cull_network_read(n, path));
    TRY(cull_network_save(n, &bytes, &size));
    TRY(cull_network_restore(n, bytes, size));
done:
    cull_bytes_release(bytes);
    cull_network_destroy(n);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    char          folder[] = FOLDER_TEMPLATE;
    cull_model   *m = small_model(4);
    cull_examples e = examples();
    cull_status   status = CULL_NO_MEMORY;
    const char   *path = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = path_in(folder, "w.safetensors");
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = whole_life(m, &e, path);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    cull_model_destroy(m);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_with_a_selector_learns),
        cmocka_unit_test(the_same_inputs_in_any_type_and_view_give_the_same_logits),
        cmocka_unit_test(any_number_of_examples_is_predicted),
        cmocka_unit_test(a_saved_network_goes_on_bit_for_bit),
        cmocka_unit_test(damaged_states_and_those_of_others_change_nothing),
        cmocka_unit_test(weights_are_written_and_read_and_those_of_another_model_refused),
        cmocka_unit_test(wrong_examples_are_named),
        cmocka_unit_test(wrong_subsets_steps_and_options_are_named),
        cmocka_unit_test(signals_asked_for_by_nobody_cost_no_forward_pass),
        cmocka_unit_test(many_batch_sizes_give_what_a_fresh_network_gives),
        cmocka_unit_test(a_warm_step_allocates_nothing),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_examples, NULL);
}
