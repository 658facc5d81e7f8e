/*
 * tests/far/test_far_probe.c - probes, audits and networks of a recipe whose backend's memory is
 * elsewhere give what they give on `ref`, bit for bit.
 */
#include <math.h>

#include "cull_lab.h"
#include "files.h"
#include "tensor/tensor.h"

enum { POOL = 96, SIDE = 6, CHANNELS = 2, CLASSES = 3, BATCHES = 3 };

static const char *const strategies[] = {"random", "sb", "gradmatch", "top-loss", "full"};
static const double      keeps[] = {.25, .5};

/* The same recipe on ref and on far. */
struct world {
    char         folder[64], set[128], test[128], weights[128];
    cull_recipe *recipe[2];
};

static cull_model *make_model(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("small", CHANNELS, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = 4, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_flatten(m, cull_model_pool(m, x, &(cull_pool){.kernel = 2}));
    x = cull_model_dropout(m, x, 0.25);
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static cull_recipe *open_recipe(const struct world *w, const char *backend)
{
    const cull_option options[] = {{"data.name", w->set},        {"data.test", w->test},
                                   {"train.batch", "16"},        {"train.backend", backend},
                                   {"data.label_noise", "0.25"}, {"train.evaluate_batch", "40"},
                                   {"train.threads", "1"}};
    cull_model       *m = make_model();
    cull_recipe      *recipe = NULL;

    assert_ok(cull_recipe_open(NULL, options, sizeof options / sizeof *options, &recipe));
    assert_ok(cull_recipe_set_model(recipe, m));
    cull_model_destroy(m);
    return recipe;
}

/* Averages that are not those of the start. */
static void write_weights(const struct world *w)
{
    cull_dataset *set = random_set(CULL_U8, POOL, CLASSES, CHANNELS, SIDE, SIDE);
    cull_network *n = NULL;
    cull_examples e = {.inputs = cull_images(row_of(set, 0), CULL_U8, 32, CHANNELS, SIDE, SIDE),
                       .label = cull_vector(cull_data_labels(set), CULL_I32, 32)};

    assert_ok(cull_network_open(w->recipe[0], NULL, &n));
    for (int step = 0; step < 3; step++) {
        assert_ok(cull_network_learn(n, &e, NULL, NULL));
        assert_ok(cull_network_step(n, 0.1));
    }
    assert_ok(cull_network_write(n, w->weights));
    cull_network_destroy(n);
    cull_data_close(set);
}

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    cull_dataset *set = random_set(CULL_U8, POOL, CLASSES, CHANNELS, SIDE, SIDE);

    assert_non_null(w);
    memcpy(w->folder, FOLDER_TEMPLATE, sizeof FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->set, sizeof w->set, "%s/set.npz", w->folder);
    (void)snprintf(w->test, sizeof w->test, "%s/test.npz", w->folder);
    (void)snprintf(w->weights, sizeof w->weights, "%s/weights.safetensors", w->folder);
    write_both(set, w->set, w->test);
    cull_data_close(set);
    w->recipe[0] = open_recipe(w, "ref");
    w->recipe[1] = open_recipe(w, "far");
    write_weights(w);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 2; i++) cull_recipe_close(w->recipe[i]);
    remove_folder(w->folder);
    free(w);
    return 0;
}

static void same_results(const cull_probe_result *a, const cull_probe_result *b)
{
    assert_int_equal(a->parameters, b->parameters);
    assert_int_equal(a->batches, b->batches);
    assert_int_equal(a->arms, b->arms);
    assert_memory_equal(&a->full, &b->full, sizeof a->full);
    assert_memory_equal(&a->whole, &b->whole, sizeof a->whole);
    assert_memory_equal(&a->whole_error, &b->whole_error, sizeof a->whole_error);
    for (size_t i = 0; i < a->arms; i++) {
        const cull_probe_arm *x = &a->arm[i], *y = &b->arm[i];

        assert_string_equal(x->strategy, y->strategy);
        assert_memory_equal(x->pick, y->pick, a->batches * sizeof *x->pick);
        assert_memory_equal(x->error, y->error, sizeof x->error);
        assert_memory_equal(x->last, y->last, sizeof x->last);
        assert_memory_equal(x->weight, y->weight, sizeof x->weight);
    }
}

static void probe_alike(const struct world *w, const cull_probe_options *options)
{
    cull_probe_result r[2] = {{0}};

    for (int i = 0; i < 2; i++) assert_ok(cull_probe(w->recipe[i], options, &r[i]));
    assert_int_equal(BATCHES, r[0].batches);
    assert_true(r[0].batchnorm);
    same_results(&r[0], &r[1]);
    for (int i = 0; i < 2; i++) cull_probe_clear(&r[i]);
}

static cull_probe_options ask(void)
{
    return (cull_probe_options){.strategy = strategies,
                                .strategies = sizeof strategies / sizeof *strategies,
                                .keep = keeps,
                                .keeps = 2,
                                .batches = BATCHES};
}

static void a_probe_is_the_same(void **state)
{
    const struct world *w = *state;
    cull_probe_options  options = ask();

    probe_alike(w, &options);
    options.weights = w->weights;
    options.exact = true;
    probe_alike(w, &options);
}

static void a_probe_of_picks_is_the_same(void **state)
{
    cull_probe_options options = ask();

    options.picks = true;
    probe_alike(*state, &options);
    options.exact = true;
    probe_alike(*state, &options);
}

static void an_audit_is_the_same(void **state)
{
    const struct world *w = *state;
    cull_audit_result   r[2] = {{0}};
    cull_audit_options  options = {.weights = w->weights};

    for (int i = 0; i < 2; i++) assert_ok(cull_audit(w->recipe[i], &options, &r[i]));
    assert_int_equal(POOL, r[0].count);
    assert_true(r[0].accuracy == r[1].accuracy && r[0].loss == r[1].loss);
    assert_memory_equal(r[0].confidence, r[1].confidence, sizeof r[0].confidence);
    assert_memory_equal(r[0].tenth, r[1].tenth, sizeof r[0].tenth);
    assert_memory_equal(&r[0].wrong_hard, &r[1].wrong_hard, sizeof r[0].wrong_hard);
}

static void a_network_of_the_recipe_is_the_same(void **state)
{
    const struct world *w = *state;
    cull_dataset       *set = random_set(CULL_U8, POOL, CLASSES, CHANNELS, SIDE, SIDE);
    cull_tensor         x = cull_images(row_of(set, 0), CULL_U8, POOL, CHANNELS, SIDE, SIDE);
    const char         *weights[] = {NULL, w->weights};
    float               z[2][POOL * CLASSES];

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 2; i++) {
            cull_network *n = NULL;

            assert_ok(cull_network_open(w->recipe[i], weights[k], &n));
            assert_ok(cull_network_predict(n, &x, z[i], NULL));
            cull_network_destroy(n);
        }
        assert_memory_equal(z[0], z[1], sizeof z[0]);
    }
    cull_data_close(set);
}

static void a_benchmark_runs(void **state)
{
    const struct world *w = *state;
    cull_bench_result   r = {0};

    assert_ok(cull_bench(w->recipe[1], 2, &r));
    assert_int_equal(16, r.batch);
    assert_true(r.load > 0 && r.score > 0 && r.learn > 0 && r.optim > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_probe_is_the_same),
        cmocka_unit_test(a_probe_of_picks_is_the_same),
        cmocka_unit_test(an_audit_is_the_same),
        cmocka_unit_test(a_network_of_the_recipe_is_the_same),
        cmocka_unit_test(a_benchmark_runs),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
