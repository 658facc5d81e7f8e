/*
 * tests/unit/test_policy_losses.c - runs by other losses than cross-entropy: every strategy that
 * needs no class, what they are judged by, stopped and resumed, and what is refused.
 */
#include "policy_support.h"

static const char *const losses[] = {"squared-error", "binary-cross-entropy"};

/* With the loss, and a folder's worth of options behind it. */
static const char *with(const char *loss, const char *changes)
{
    static char words[400];

    (void)snprintf(words, sizeof words, "model.loss=%s %s", loss, changes);
    return words;
}

static void strategies_that_need_no_class_train(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=random select.keep=0.5",
        "select.strategy=top-loss select.keep=0.5",
        "select.strategy=sb select.keep=0.5",
        "select.strategy=sb select.keep=0.5 score.pass=reuse",
        "select.strategy=sb select.keep=0.5 score.pipelined=true",
        "select.strategy=sb select.keep=0.5 score.proxy=mlp model.name=lenet5",
        "select.strategy=sb+stale select.keep=0.5",
        "select.strategy=sb+remembered select.keep=0.5 select.scope=pool",
        "select.strategy=sb-stream select.history=40 train.epochs=3",
        "select.strategy=kath18 select.keep=0.5 select.variable=false",
        "select.strategy=gradmatch select.keep=0.5",
        "select.strategy=gradmatch select.keep=0.5 select.match=validation data.validation=0.3",
        "select.strategy=divbs select.keep=0.5",
        "select.strategy=infobatch train.epochs=4",
        "select.strategy=grad-match select.keep=0.5 select.scope=all select.period=1",
        "select.strategy=grad-match select.keep=0.5 select.scope=batch select.period=1",
        "select.strategy=craig select.keep=0.5 select.scope=batch select.period=1",
        "select.strategy=adaptive-random select.keep=0.5 select.period=1",
        "select.strategy=full data.duplicates=2 data.subset=0.8",
    };

    for (int l = 0; l < 2; l++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            cull_run_result r = result_of(*state, with(losses[l], kinds[k]));

            assert_true(isfinite(r.test) && r.test <= 1 && isfinite(r.test_loss) && r.trained > 0);
            assert_string_equal(l ? "map" : "r2", r.metric);
        }
}

static void rho_goes_by_losses_of_any_kind(void **state)
{
    const struct world *w = *state;

    for (int l = 0; l < 2; l++) {
        char words[300];

        (void)snprintf(words, sizeof words,
                       "model.loss=%s select.strategy=rho select.keep=0.5 "
                       "score.irreducible=%s/irreducible.npz",
                       losses[l], w->folder);
        assert_true(isfinite(result_of(w, words).test));
    }
}

/* Both sets show their targets in the images, so that there is something to learn. */
static void a_run_learns_what_the_images_show(void **state)
{
    cull_run_result real =
        result_of(*state, "model.loss=squared-error augment.crop=0 train.epochs=12");
    cull_run_result many =
        result_of(*state, "model.loss=binary-cross-entropy augment.crop=0 train.epochs=12");

    assert_true(real.test > 0.9 && real.test_loss < 0.1);
    assert_true(many.test > 0.95);
}

/* R² by hand, from predictions in the data's own numbers. */
static void a_network_tells_numbers_as_the_data_counts_them(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = recipe_of(w, "model.loss=squared-error train.epochs=6");
    cull_run_result     result = {0};
    cull_run_options    options = {.folder = path_in(w->folder, "run")};
    cull_network       *network = NULL;
    cull_arrays        *arrays = NULL;
    cull_tensor         x = {0}, y = {0};
    cull_signals        seen = {0};
    char                weights[256];
    float               told[COUNT][2];
    double              r2 = 0, loss = 0, deviation[2], variance[2];

    assert_ok(cull_train(recipe, &options, &result));
    (void)snprintf(weights, sizeof weights, "%s/run/%s", w->folder, result.weights);
    assert_ok(cull_network_open(recipe, weights, &network));
    assert_ok(cull_arrays_open(path_in(w->folder, "real-test.npz"), &arrays));
    assert_ok(cull_arrays_get(arrays, "x", &x));
    assert_ok(cull_arrays_get(arrays, "y", &y));
    assert_ok(cull_network_predict(network, &x, told[0], NULL));
    for (int k = 0; k < 2; k++) { /* both sets have the same targets, so the same scale */
        double mean = 0;

        variance[k] = 0;
        for (size_t i = 0; i < COUNT; i++) mean += (double)((float *)y.data)[2 * i + (size_t)k];
        mean /= COUNT;
        for (size_t i = 0; i < COUNT; i++)
            variance[k] += pow((double)((float *)y.data)[2 * i + (size_t)k] - mean, 2) / COUNT;
        deviation[k] = sqrt(variance[k]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < 2; k++)
            loss +=
                pow(((double)told[i][k] - (double)((float *)y.data)[2 * i + k]) / deviation[k], 2) /
                2 / COUNT;
    r2 = 1 - loss;
    assert_true(fabs(loss - result.test_loss) < 1e-5 && fabs(r2 - result.test) < 1e-5);
    /* examples are given in the same numbers */
    assert_ok(cull_network_score(network, &(cull_examples){.inputs = x, .target = y},
                                 CULL_SIGNAL_LOSS, true, &seen));
    for (size_t i = 0; i < COUNT; i++) loss -= ((double *)seen.loss.data)[i] / COUNT;
    assert_true(fabs(loss) < 1e-5);
    assert_fails(CULL_BAD_ARGUMENT, "tells numbers, which have no probabilities",
                 cull_network_predict(network, &x, NULL, told[0]));
    cull_arrays_close(arrays);
    cull_network_destroy(network);
    cull_recipe_close(recipe);
}

static bool stops(void *context)
{
    return ++*(size_t *)context == 3;
}

static void a_stopped_run_goes_on_to_the_same_weights(void **state)
{
    static const char *const kinds[] = {"", "select.strategy=sb+remembered select.keep=0.5"};
    const struct world      *w = *state;

    for (int k = 0; k < 4; k++) {
        const char      *changes = with(losses[k % 2], kinds[k / 2]);
        cull_run_result  whole = run_of(w, changes, "whole"), part = {0};
        cull_recipe     *recipe = recipe_of(w, changes);
        size_t           steps = 0;
        cull_run_options options = {
            .folder = path_in(w->folder, "part"), .stop = stops, .context = &steps};

        assert_ok(cull_train(recipe, &options, &part));
        assert_int_equal(CULL_RUN_STOPPED, part.end);
        options = (cull_run_options){.folder = path_in(w->folder, "part"), .resume = true};
        assert_ok(cull_train(recipe, &options, &part));
        assert_string_equal(whole.weights, part.weights);
        assert_true(whole.test == part.test && whole.best == part.best);
        cull_recipe_close(recipe);
        remove_folder(path_in(w->folder, "whole"));
        remove_folder(path_in(w->folder, "part"));
    }
}

/* The accuracy that is asked for is what the loss is measured by. */
static void a_run_ends_at_its_target(void **state)
{
    cull_run_result r = result_of(
        *state, "model.loss=binary-cross-entropy augment.crop=0 train.epochs=30 train.target=0.9");

    assert_int_equal(CULL_RUN_TARGET, r.end);
    assert_true(r.accuracy >= 0.9 && r.epoch < 30);
}

static void what_goes_by_classes_is_refused_before_the_run(void **state)
{
    static const struct {
        const char *changes, *subject, *why;
    } cases[] = {
        {"model.smoothing=0.1", "model.smoothing",
         "smooths the labels of model.loss=cross-entropy"},
        {"data.label_noise=0.1", "data.label_noise", "makes wrong classes"},
        {"data.imbalance=0.5", "data.imbalance", "cuts classes"},
        {"select.strategy=grad-match select.keep=0.5", "select.scope",
         "grad-match goes by the class of each example"},
        {"select.strategy=grad-match select.keep=0.5 select.scope=class", "select.scope",
         "choose another scope"},
        {"select.strategy=craig select.keep=0.5", "select.scope", "craig goes by the class"},
        {"select.strategy=glister select.keep=0.5 data.validation=0.3", "select.strategy",
         "glister goes by the class of each example"},
    };

    for (int l = 0; l < 2; l++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            cull_recipe     *recipe = NULL;
            cull_run_result  result = {0};
            cull_run_options options = {.folder =
                                            path_in(((struct world *)*state)->folder, "none")};
            cull_status status = try_recipe(*state, with(losses[l], cases[k].changes), &recipe);

            if (status == CULL_OK) status = cull_train(recipe, &options, &result);
            assert_int_equal(CULL_BAD_OPTION, status);
            assert_string_equal(cases[k].subject, cull_last_subject());
            assert_non_null(strstr(cull_last_error(), cases[k].why));
            assert_int_not_equal(0, access(options.folder, F_OK));
            cull_recipe_close(recipe);
        }
}

/* Named sets have classes; files that have something else say which loss is of that. */
static void a_loss_of_other_targets_is_refused(void **state)
{
    const struct world *w = *state;
    cull_model         *m = NULL;
    cull_recipe        *recipe = recipe_of(w, "model.loss=squared-error");
    cull_run_result     result = {0};
    cull_run_options    options = {.folder = path_in(w->folder, "none")};
    static float        x[8][3];
    static int32_t      y[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cull_tensor         inputs = cull_matrix(x, CULL_F32, 8, 3), labels = {0};

    labels = cull_vector(y, CULL_I32, 8);
    assert_ok(cull_model_create("wide", 1, SIDE, SIDE, &m));
    assert_ok(cull_model_finish(
        m, cull_model_dense(m, cull_model_flatten(m, 0), "out", &(cull_dense){.out = 3})));
    assert_ok(cull_recipe_set_model(recipe, m));
    assert_fails(CULL_BAD_ARGUMENT, "wide has 3 outputs, targets of real-train.npz have 2 numbers",
                 cull_train(recipe, &options, &result));
    cull_recipe_close(recipe);
    recipe = recipe_of(w, "model.loss=binary-cross-entropy");
    assert_fails(CULL_BAD_ARGUMENT, "label 2 of example 2, class 0; each is 0 or 1",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &inputs, &labels));
    cull_recipe_close(recipe);
    cull_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strategies_that_need_no_class_train),
        TEST(rho_goes_by_losses_of_any_kind),
        TEST(a_run_learns_what_the_images_show),
        TEST(a_network_tells_numbers_as_the_data_counts_them),
        TEST(a_stopped_run_goes_on_to_the_same_weights),
        TEST(a_run_ends_at_its_target),
        TEST(what_goes_by_classes_is_refused_before_the_run),
        TEST(a_loss_of_other_targets_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
