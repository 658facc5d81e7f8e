/* test_own.c - runs with a model and data of the program's own: trained, resumed, refused, used. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 40, SIDE = 6, CLASSES = 2, ROW = SIDE * SIDE };

static uint8_t images[COUNT][ROW];
static int64_t labels[COUNT];
static char    folder[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, FOLDER_TEMPLATE);
    for (size_t i = 0; i < COUNT; i++) {
        labels[i] = (int64_t)(i % CLASSES);
        for (size_t j = 0; j < ROW; j++)
            images[i][j] = (uint8_t)(100 * random_uniform(2, i * ROW + j) +
                                     ((j % SIDE < SIDE / 2) == (i % CLASSES == 0) ? 150 : 0));
    }
    return !mkdtemp(folder);
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

static cull_model *half_model(int64_t hidden, cull_activation activation)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("halves", 1, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = hidden, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), activation);
    x = cull_model_dense(m, cull_model_flatten(m, x), "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    return m;
}

/* A recipe of a few small epochs, with the model and the images in it. */
static cull_recipe *own_recipe(const cull_model *m, const char *epochs)
{
    cull_option  changes[] = {{"train.epochs", epochs},
                              {"train.batch", "8"},
                              {"train.evaluate_batch", "16"},
                              {"data.workers", "0"},
                              {"train.threads", "1"}};
    cull_tensor  x = cull_images(images, CULL_U8, COUNT, 1, SIDE, SIDE);
    cull_tensor  y = cull_vector(labels, CULL_I64, COUNT);
    cull_recipe *recipe = NULL;

    assert_ok(cull_recipe_open(NULL, changes, 5, &recipe));
    assert_ok(cull_recipe_set_model(recipe, m));
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TEST, &x, &y));
    return recipe;
}

static bool stop_at(void *context)
{
    return --*(int *)context == 0;
}

static void an_own_model_on_own_arrays_is_trained_evaluated_and_predicts(void **state)
{
    cull_model     *m = half_model(4, CULL_RELU);
    cull_recipe    *recipe = own_recipe(m, "4");
    cull_run_result result = {0};
    cull_evaluation e = {0};
    cull_network   *network = NULL;
    cull_tensor     x = cull_images(images, CULL_U8, COUNT, 1, SIDE, SIDE);
    char            run[128], weights[256];
    float           share[COUNT * CLASSES];
    size_t          right = 0;
    double          loss = 0;

    (void)state;
    (void)snprintf(run, sizeof run, "%s/run", folder);
    cull_model_destroy(m); /* it was copied */
    assert_ok(cull_train(recipe, &(cull_run_options){.folder = run}, &result));
    assert_true(result.test > 0.9);
    (void)snprintf(weights, sizeof weights, "%s/%s", run, result.weights);
    assert_ok(cull_evaluate(recipe, weights, "test", &e));
    assert_true(e.accuracy == result.test && e.loss == result.test_loss);
    assert_ok(cull_network_open(recipe, weights, &network));
    assert_ok(cull_network_predict(network, &x, NULL, share));
    for (size_t i = 0; i < COUNT; i++) {
        right += share[i * CLASSES + (size_t)labels[i]] > 0.5f;
        loss -= log((double)share[i * CLASSES + (size_t)labels[i]]) / COUNT;
    }
    /* the network reads raw images as the run read them */
    assert_int_equal((size_t)lround(e.accuracy * COUNT), right);
    assert_true(fabs(loss - e.loss) < 1e-5);
    cull_network_destroy(network);
    cull_recipe_close(recipe);
}

static void a_stopped_run_goes_on_to_the_same_weights(void **state)
{
    cull_model     *m = half_model(4, CULL_RELU);
    cull_recipe    *recipe = own_recipe(m, "2"), *again = own_recipe(m, "2");
    cull_run_result whole = {0}, part = {0};
    int             steps = 4;

    (void)state;
    assert_ok(cull_train(recipe, &(cull_run_options){.folder = path_in(folder, "a")}, &whole));
    assert_ok(cull_train(
        recipe,
        &(cull_run_options){.folder = path_in(folder, "b"), .stop = stop_at, .context = &steps},
        &part));
    assert_int_equal(CULL_RUN_STOPPED, part.end);
    assert_ok(cull_train(again, &(cull_run_options){.folder = path_in(folder, "b"), .resume = true},
                         &part));
    assert_true(part.resumed);
    assert_string_equal(whole.weights, part.weights); /* the name has their hash */
    cull_recipe_close(recipe);
    cull_recipe_close(again);
    cull_model_destroy(m);
}

static void a_run_is_not_resumed_with_another_model_or_other_arrays(void **state)
{
    cull_model      *m = half_model(4, CULL_RELU), *wide = half_model(5, CULL_RELU);
    cull_model      *bent = half_model(4, CULL_GELU);
    cull_recipe     *recipe = own_recipe(m, "1"), *plain = NULL;
    cull_run_result  result = {0};
    char             run[128];
    cull_run_options again = {.folder = run, .resume = true};
    cull_tensor      x = cull_images(images, CULL_U8, COUNT, 1, SIDE, SIDE);
    cull_tensor      y = cull_vector(labels, CULL_I64, COUNT);

    (void)state;
    (void)snprintf(run, sizeof run, "%s/c", folder);
    assert_ok(cull_train(recipe, &(cull_run_options){.folder = run}, &result));
    assert_ok(cull_recipe_set_model(recipe, wide));
    assert_fails(CULL_DIFFERS, "has '1 conv conv of 0: 4x6x6", cull_train(recipe, &again, &result));
    assert_fails(CULL_DIFFERS, "given '1 conv conv of 0: 5x6x6",
                 cull_train(recipe, &again, &result));
    assert_ok(cull_recipe_set_model(recipe, bent)); /* the same weights, another function */
    assert_fails(CULL_DIFFERS, "has '3 relu", cull_train(recipe, &again, &result));
    assert_ok(cull_recipe_set_model(recipe, m));
    assert_ok(cull_train(recipe, &again, &result));
    images[3][3] ^= 1;
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_fails(CULL_DIFFERS, "data.name=own/", cull_train(recipe, &again, &result));
    images[3][3] ^= 1;
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_ok(cull_train(recipe, &again, &result));
    /* the folder's own recipe asks for what it cannot name */
    assert_ok(cull_recipe_open(path_in(run, "recipe.yaml"), NULL, 0, &plain));
    assert_fails(CULL_BAD_OPTION, "model.name=own/halves", cull_train(plain, &again, &result));
    cull_recipe_close(plain);
    cull_recipe_close(recipe);
    cull_model_destroy(m);
    cull_model_destroy(wide);
    cull_model_destroy(bent);
}

static void models_that_do_not_fit_the_data_are_refused(void **state)
{
    cull_model      *m = half_model(4, CULL_RELU);
    cull_recipe     *recipe = own_recipe(m, "1");
    cull_run_result  result = {0};
    cull_tensor      x = cull_images(images, CULL_U8, COUNT, 1, SIDE / 2, SIDE);
    cull_tensor      y = cull_vector(labels, CULL_I64, COUNT);
    cull_run_options fresh = {.folder = path_in(folder, "d")};
    cull_model      *open = NULL;

    (void)state;
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TEST, &x, &y));
    assert_fails(CULL_BAD_ARGUMENT, "halves takes inputs of 1x6x6",
                 cull_train(recipe, &fresh, &result));
    x = cull_images(images, CULL_U8, COUNT, 1, SIDE, SIDE);
    labels[7] = CLASSES;
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TEST, &x, &y));
    assert_fails(CULL_BAD_ARGUMENT, "halves tells 2 classes apart",
                 cull_train(recipe, &fresh, &result));
    labels[7] = 1;
    assert_true(access(fresh.folder, F_OK) != 0);
    assert_ok(cull_model_create("open", 1, SIDE, SIDE, &open));
    assert_fails(CULL_BAD_ARGUMENT, "not finished", cull_recipe_set_model(recipe, open));
    assert_string_equal("own/halves", cull_recipe_value(recipe, "model.name"));
    cull_model_destroy(open);
    cull_model_destroy(m);
    cull_recipe_close(recipe);
}

static void an_own_model_is_not_scored_at_another_size(void **state)
{
    cull_option     scale = {"score.scale", "0.5"};
    cull_model     *m = half_model(4, CULL_RELU);
    cull_recipe    *recipe = NULL;
    cull_run_result result = {0};

    (void)state;
    assert_ok(cull_recipe_open(NULL, &scale, 1, &recipe));
    assert_ok(cull_recipe_set_model(recipe, m));
    assert_fails(CULL_BAD_OPTION, "score.scale: a model of a program's own",
                 cull_train(recipe, &(cull_run_options){.folder = path_in(folder, "f")}, &result));
    cull_recipe_close(recipe);
    cull_model_destroy(m);
}

static void arrays_that_are_no_data_set_are_refused(void **state)
{
    cull_recipe *recipe = NULL;
    float        features[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 0, 1}};
    int32_t      classes[4] = {0, 1, 0, 1};
    cull_tensor  x = cull_matrix(features, CULL_F32, 4, 3), y = cull_vector(classes, CULL_I32, 4);
    cull_tensor  bad = y;
    cull_run_result result = {0};

    (void)state;
    assert_ok(cull_recipe_open(NULL, NULL, 0, &recipe));
    bad.shape[0] = 3;
    assert_fails(CULL_BAD_ARGUMENT, "4 inputs and 3 labels",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &bad));
    bad = (cull_tensor){0};
    assert_fails(CULL_BAD_ARGUMENT, "there are no labels",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &bad));
    bad = x;
    bad.stride[0] = 6;
    assert_fails(CULL_BAD_ARGUMENT, "not dense",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &bad, &y));
    bad = x;
    bad.dtype = (cull_dtype)77;
    assert_fails(CULL_BAD_ARGUMENT, "the inputs are of no type that is known",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &bad, &y));
    classes[2] = -1;
    assert_fails(CULL_BAD_ARGUMENT, "label -1 of example 2",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    classes[2] = 0;
    features[1][2] = INFINITY;
    assert_fails(CULL_BAD_ARGUMENT, "number 2 of example 1 is not finite",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_string_equal("fashion-mnist", cull_recipe_value(recipe, "data.name"));
    features[1][2] = 6;
    assert_ok(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &x, &y));
    assert_fails(CULL_BAD_OPTION, "data.test: arrays to train on bring no test set",
                 cull_train(recipe, &(cull_run_options){.folder = path_in(folder, "e")}, &result));
    cull_recipe_close(recipe);
}

static cull_status open_and_use(const cull_model *m, const cull_tensor *x, const cull_tensor *y)
{
    cull_status   status = CULL_OK;
    cull_recipe  *recipe = NULL;
    cull_network *network = NULL;
    cull_option   changes[] = {{"data.workers", "0"}, {"train.threads", "1"}};

    TRY(cull_recipe_open(NULL, changes, 2, &recipe));
    TRY(cull_recipe_set_model(recipe, m));
    TRY(cull_recipe_set_data(recipe, CULL_DATA_TRAIN, x, y));
    TRY(cull_recipe_set_data(recipe, CULL_DATA_TEST, x, y));
    TRY(cull_network_open(recipe, NULL, &network));
done:
    cull_network_destroy(network);
    cull_recipe_close(recipe);
    return status;
}

static void failing_allocations_are_survived(void **state)
{
    cull_model *m = half_model(4, CULL_RELU);
    cull_tensor x = cull_images(images, CULL_U8, COUNT, 1, SIDE, SIDE);
    cull_tensor y = cull_vector(labels, CULL_I64, COUNT);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    /* Reading a recipe allocates hundreds of times, and test_recipe.c fails each: so some here. */
    for (size_t n = 1; status != CULL_OK; n += 1 + n / 16) {
        fail_nth_alloc(n);
        status = open_and_use(m, &x, &y);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    cull_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_own_model_on_own_arrays_is_trained_evaluated_and_predicts),
        cmocka_unit_test(a_stopped_run_goes_on_to_the_same_weights),
        cmocka_unit_test(a_run_is_not_resumed_with_another_model_or_other_arrays),
        cmocka_unit_test(models_that_do_not_fit_the_data_are_refused),
        cmocka_unit_test(an_own_model_is_not_scored_at_another_size),
        cmocka_unit_test(arrays_that_are_no_data_set_are_refused),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
