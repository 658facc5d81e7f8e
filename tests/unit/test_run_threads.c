/* test_run_threads.c - a short run with loaders and threads at once, for the thread sanitizer too:
 * how many there are changes no bit of the weights. */
#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 48, SIDE = 16, CLASSES = 3 };

static void train(const char *folder, const char *out, const char *threads, const char *workers,
                  cull_run_result *result)
{
    char             set[128], test[128];
    cull_recipe     *recipe = NULL;
    cull_option      changes[] = {{"data.name", set},        {"data.test", test},
                                  {"data.workers", workers}, {"train.threads", threads},
                                  {"model.name", "lenet5"},  {"augment.crop", "2"},
                                  {"augment.flip", "true"},  {"train.batch", "20"},
                                  {"train.epochs", "2"},     {"train.evaluate_batch", "20"},
                                  {"optim.clip", "1"}};
    cull_run_options options = {.folder = path_in(folder, out)};

    (void)snprintf(set, sizeof set, "%s/set.npz", folder);
    (void)snprintf(test, sizeof test, "%s/test.npz", folder);
    assert_ok(cull_recipe_open(NULL, changes, sizeof changes / sizeof *changes, &recipe));
    assert_ok(cull_train(recipe, &options, result));
    cull_recipe_close(recipe);
}

static void threads_and_loaders_do_not_race(void **state)
{
    char            folder[] = FOLDER_TEMPLATE;
    cull_dataset   *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);
    cull_run_result alone = {0}, many = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_both(set, path_in(folder, "set.npz"), path_in(folder, "test.npz"));
    cull_data_close(set);
    train(folder, "alone", "1", "0", &alone);
    train(folder, "many", "3", "2", &many);
    assert_string_equal(alone.weights, many.weights); /* their names hold their hash */
    assert_true(alone.accuracy == many.accuracy && alone.loss == many.loss);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_loaders_do_not_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
