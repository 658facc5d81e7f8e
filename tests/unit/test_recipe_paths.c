/* test_recipe_paths.c - files that recipes name: beside the recipe, whole in its text, the same
 * when moved. */
#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 60, SIDE = 6, CLASSES = 3 };

struct world {
    char folder[64], before[1024];
};

/* The test's folder is the current one, with a folder "in" that holds recipe and set. */
static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    assert_non_null(getcwd(w->before, sizeof w->before));
    assert_int_equal(0, chdir(w->folder));
    assert_int_equal(0, mkdir("in", 0777));
    write_both(set, "in/set.npz", "in/test.npz");
    cull_data_close(set);
    *state = w;
    return 0;
}

static int remove_world(void **state)
{
    struct world *w = *state;

    assert_int_equal(0, chdir(w->before));
    remove_folder(w->folder);
    free(w);
    return 0;
}

static cull_recipe *read_as(const char *name, const char *yaml, const cull_option *changes,
                            size_t count)
{
    cull_recipe *recipe = NULL;

    assert_ok(cull_recipe_parse(name, yaml, strlen(yaml), changes, count, &recipe));
    return recipe;
}

static void assert_says(const cull_recipe *recipe, const char *before, const char *path,
                        const char *name)
{
    char line[512];

    (void)snprintf(line, sizeof line, "  %s: %s/%s\n", before, path, name);
    if (!strstr(cull_recipe_text(recipe), line)) fail_msg("no %s in %s", line, recipe->text);
}

static void files_of_a_recipe_lie_beside_it(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe =
        read_as("in/r.yaml",
                "data: {name: set.npz, test: more/set.npz, root: sets}\n"
                "train: {init: w.safetensors}\nscore: {irreducible: losses.npy}\n",
                NULL, 0);

    assert_string_equal("in/set.npz", recipe->setup.data);
    assert_string_equal("in/more/set.npz", recipe->setup.test);
    assert_string_equal("in/sets", recipe->setup.files.root);
    assert_string_equal("in/w.safetensors", recipe->setup.init);
    assert_string_equal("in/losses.npy", recipe->setup.score.irreducible);
    assert_says(recipe, "name", w->folder, "in/set.npz");
    assert_says(recipe, "test", w->folder, "in/more/set.npz");
    assert_says(recipe, "root", w->folder, "in/sets");
    assert_says(recipe, "init", w->folder, "in/w.safetensors");
    assert_says(recipe, "irreducible", w->folder, "in/losses.npy");
    cull_recipe_close(recipe);
}

static void files_of_a_command_line_lie_in_the_current_folder(void **state)
{
    const struct world *w = *state;
    cull_option         change[] = {{"data.name", "set.npz"}, {"train.init", "./w.safetensors"}};
    cull_recipe        *recipe = read_as("in/r.yaml", "data: {name: other.npz}\n", change, 2);

    assert_string_equal("set.npz", recipe->setup.data);
    assert_says(recipe, "name", w->folder, "set.npz");
    assert_says(recipe, "init", w->folder, "w.safetensors");
    cull_recipe_close(recipe);
}

/* As recipes and run folders had it before. */
static void what_is_not_beside_it_may_lie_in_the_current_folder(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;

    assert_int_equal(0, mkdir("run", 0777));
    recipe = read_as("run/recipe.yaml", "data: {name: in/set.npz}\n", NULL, 0);
    assert_string_equal("in/set.npz", recipe->setup.data);
    assert_says(recipe, "name", w->folder, "in/set.npz");
    cull_recipe_close(recipe);
    put_file("in/file", "", 0);
    recipe = read_as("in/r.yaml", "data: {name: file}\n", NULL, 0);
    assert_string_equal("in/file", recipe->setup.data);
    cull_recipe_close(recipe);
}

static void what_is_known_by_name_is_no_path(void **state)
{
    static const char *const names[] = {"mnist", "cifar10", "fashion-mnits",
                                        "own/00ff00ff00ff00ff"};

    (void)state;
    assert_int_equal(0, mkdir("in/mnist", 0777));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char         yaml[64], line[64];
        cull_recipe *recipe = NULL;

        (void)snprintf(yaml, sizeof yaml, "data: {name: %s}\n", names[i]);
        (void)snprintf(line, sizeof line, "  name: %s\n", names[i]);
        recipe = read_as("in/r.yaml", yaml, NULL, 0);
        assert_string_equal(names[i], recipe->setup.data);
        assert_non_null(strstr(cull_recipe_text(recipe), line));
        assert_non_null(strstr(cull_recipe_text(recipe), "  strategy: full\n"));
        cull_recipe_close(recipe);
    }
}

/* Only a hash behind "own/" is a program's own arrays. */
static void a_folder_called_own_is_one_like_any_other(void **state)
{
    static const char *const names[] = {"own/set.npz", "own/00ff", "own/00ff00ff00ff00ff0",
                                        "own/00FF00FF00FF00FF"};
    const struct world      *w = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cull_option  change = {"data.test", names[i]};
        cull_recipe *recipe = read_as("r.yaml", "", &change, 1);

        assert_says(recipe, "test", w->folder, names[i]);
        cull_recipe_close(recipe);
    }
}

static void a_strategy_in_a_shared_object_lies_beside_its_recipe(void **state)
{
    const struct world *w = *state;
    char                command[600];
    cull_recipe        *recipe = NULL, *again = NULL;

    (void)snprintf(command, sizeof command, "cp %s/tests/plugin_median.so in/", CULL_BINARY_DIR);
    assert_int_equal(0, system(command));
    recipe = read_as("in/r.yaml", "select: {strategy: ./plugin_median.so, keep: 0.25}\n", NULL, 0);
    assert_says(recipe, "strategy", w->folder, "in/./plugin_median.so");
    assert_int_equal(0, chdir("/"));
    again = read_as("recipe", cull_recipe_text(recipe), NULL, 0);
    assert_null(cull_recipe_difference(recipe, again));
    assert_int_equal(0, chdir(w->folder));
    cull_recipe_close(recipe);
    cull_recipe_close(again);
}

static void a_file_that_was_moved_makes_no_difference(void **state)
{
    static const struct {
        const char *one, *two, *key;
    } cases[] = {
        {"data: {name: /a/set.npz}\n", "data: {name: /b/c/set.npz}\n", NULL},
        {"data: {name: /a/set.npz}\n", "data: {name: set.npz}\n", NULL},
        {"data: {name: /a/set.npz}\n", "data: {name: /a/other.npz}\n", "data.name"},
        {"data: {name: mnist}\n", "data: {name: /a/mnist}\n", "data.name"},
        {"data: {name: mnist}\n", "data: {name: cifar10}\n", "data.name"},
        {"data: {root: /a/x}\n", "data: {root: /b/y}\n", NULL},
        {"data: {root: /a/x}\n", "{}\n", NULL},
        {"train: {init: /a/w.safetensors}\n", "train: {init: b/w.safetensors}\n", NULL},
        {"train: {init: /a/w.safetensors}\n", "{}\n", "train.init"},
        {"model: {name: mlp}\n", "model: {name: lenet5}\n", "model.name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *a = read_as("r", cases[i].one, NULL, 0);
        cull_recipe *b = read_as("r", cases[i].two, NULL, 0);
        const char  *key = cull_recipe_difference(a, b);

        if (cases[i].key)
            assert_string_equal(cases[i].key, key ? key : "none");
        else
            assert_null(key);
        cull_recipe_close(a);
        cull_recipe_close(b);
    }
}

static const char tiny[] = "data: {name: set.npz, test: test.npz}\nmodel: {name: mlp}\n"
                           "train: {epochs: 2, batch: 16, threads: 1}\n";

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

/* From another folder, after the data went elsewhere; from then on the run's own recipe knows. */
static void a_run_goes_on_where_its_data_was_moved_to(void **state)
{
    const struct world *w = *state;
    cull_run_options    options = {.folder = "run", .stop = stop_now};
    cull_run_result     result = {0};
    cull_recipe        *recipe = read_as("in/r.yaml", tiny, NULL, 0);

    assert_ok(cull_train(recipe, &options, &result));
    assert_int_equal(CULL_RUN_STOPPED, result.end);
    cull_recipe_close(recipe);
    recipe = NULL;
    assert_int_equal(0, rename("in", "moved"));
    assert_int_equal(0, chdir("/"));
    recipe = read_as(path_in(w->folder, "moved/r.yaml"), tiny, NULL, 0);
    options = (cull_run_options){.folder = path_in(w->folder, "run"), .resume = true};
    assert_ok(cull_train(recipe, &options, &result));
    assert_true(result.resumed && result.end == CULL_RUN_EPOCHS);
    cull_recipe_close(recipe);
    recipe = NULL;
    assert_ok(cull_recipe_open(path_in(w->folder, "run/recipe.yaml"), NULL, 0, &recipe));
    assert_says(recipe, "name", w->folder, "moved/set.npz");
    assert_int_equal(0, chdir(w->folder));
    cull_recipe_close(recipe);
}

static void placing_survives_failing_allocations(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_recipe *recipe = NULL;
        fail_nth_alloc(n);
        status = cull_recipe_parse("in/r.yaml", tiny, strlen(tiny), NULL, 0, &recipe);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !recipe));
        cull_recipe_close(recipe);
    }
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, remove_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(files_of_a_recipe_lie_beside_it),
        IN_WORLD(files_of_a_command_line_lie_in_the_current_folder),
        IN_WORLD(what_is_not_beside_it_may_lie_in_the_current_folder),
        IN_WORLD(what_is_known_by_name_is_no_path),
        IN_WORLD(a_folder_called_own_is_one_like_any_other),
        IN_WORLD(a_strategy_in_a_shared_object_lies_beside_its_recipe),
        IN_WORLD(a_file_that_was_moved_makes_no_difference),
        IN_WORLD(a_run_goes_on_where_its_data_was_moved_to),
        IN_WORLD(placing_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
