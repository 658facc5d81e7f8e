/* tests/unit/test_run_data.c - what runs say of their data, what they split off, and that they go
 * on with the same data only. */
#include <jansson.h>

#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 120, CLASSES = 4, SIDE = 6, MOST_ALLOCATIONS = 5000 };

struct world {
    char folder[64], train[128], test[128];
};

/* Labels begin with `first`; seed tells sets apart. */
static void write_set(const char *path, size_t count, uint64_t seed, int32_t first)
{
    cull_dataset *set = random_set(CULL_U8, count, CLASSES, 1, SIDE, SIDE);

    for (size_t i = 0; i < count * SIDE * SIDE; i++)
        ((uint8_t *)cull_data_base(set))[i] = (uint8_t)(256 * random_uniform(seed, i));
    for (size_t i = 0; i < count; i++) cull_data_labels(set)[i] += first;
    assert_ok(cull_data_write(set, path));
    cull_data_close(set);
}

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    memcpy(w->folder, FOLDER_TEMPLATE, sizeof FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->train, sizeof w->train, "%s/train.npz", w->folder);
    (void)snprintf(w->test, sizeof w->test, "%s/test.npz", w->folder);
    write_set(w->train, COUNT, 1, 0);
    write_set(w->test, COUNT / 2, 2, 0);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;

    remove_folder(w->folder);
    free(w);
    return 0;
}

/* With one more option, or none; test NULL: none. */
static cull_recipe *open_recipe(const struct world *w, const char *test, const char *key,
                                const char *value)
{
    cull_recipe *recipe = NULL;
    cull_option  options[] = {{"data.name", w->train},
                              {"data.test", test ? test : ""},
                              {"model.name", "mlp"},
                              {"train.epochs", "2"},
                              {"train.batch", "20"},
                              {"train.threads", "1"},
                              {key, value}};

    assert_ok(cull_recipe_open(NULL, options, key ? 7 : 6, &recipe));
    return recipe;
}

struct heard {
    size_t count;
    char   said[8][256];
};

static void hear(void *context, const char *warning)
{
    struct heard *h = context;

    assert_true(h->count < 8);
    (void)snprintf(h->said[h->count++], sizeof h->said[0], "%s", warning);
}

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

static cull_status train(const struct world *w, const cull_recipe *recipe, const char *name,
                         struct heard *heard, bool stops)
{
    char             folder[200];
    cull_run_result  result = {0};
    cull_run_options options = {.folder = folder,
                                .resume = true,
                                .warn = heard ? hear : NULL,
                                .stop = stops ? stop_now : NULL,
                                .context = heard};

    (void)snprintf(folder, sizeof folder, "%s/%s", w->folder, name);
    return cull_train(recipe, &options, &result);
}

static json_t *read_info(const struct world *w, const char *run)
{
    char    path[200];
    json_t *info = NULL;

    (void)snprintf(path, sizeof path, "%s/%s/run.json", w->folder, run);
    info = json_load_file(path, 0, NULL);
    assert_non_null(info);
    return info;
}

static void warnings_are_told_and_recorded(void **state)
{
    static const char   says[] = "train.npz: labels run from 1 to 4, and class 0 has no example; "
                                 "subtract 1 from them, or it is trained in vain";
    const struct world *w = *state;
    struct heard        heard = {0};
    cull_recipe        *recipe = NULL;
    json_t             *info = NULL;
    const json_t       *all = NULL;

    write_set(w->train, COUNT, 1, 1);
    write_set(w->test, COUNT / 2, 2, 1);
    recipe = open_recipe(w, w->test, NULL, NULL);
    assert_ok(train(w, recipe, "run", &heard, false));
    assert_int_equal(2, heard.count);
    assert_string_equal(says, heard.said[0]);
    info = read_info(w, "run");
    all = json_object_get(info, "warnings");
    assert_int_equal(2, json_array_size(all));
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(heard.said[i], json_string_value(json_array_get(all, i)));
    json_decref(info);
    assert_ok(train(w, recipe, "unheard", NULL, false)); /* nobody has to listen */
    cull_recipe_close(recipe);
}

static void a_run_without_warnings_has_none(void **state)
{
    const struct world *w = *state;
    struct heard        heard = {0};
    cull_recipe        *recipe = open_recipe(w, w->test, NULL, NULL);
    json_t             *info = NULL;

    assert_ok(train(w, recipe, "run", &heard, false));
    assert_int_equal(0, heard.count);
    info = read_info(w, "run");
    assert_null(json_object_get(info, "warnings"));
    json_decref(info);
    cull_recipe_close(recipe);
}

/* ---- resuming ---- */

static void a_run_goes_on_with_its_own_data_only(void **state)
{
    static const struct {
        size_t      train, test;
        uint64_t    seed[2];
        int32_t     first;
        const char *says; /* NULL: nothing has changed */
    } cases[] = {
        {COUNT, COUNT / 2, {1, 2}, 0, NULL},
        {COUNT - 20, COUNT / 2, {1, 2}, 0, "train.npz has another number of examples now"},
        {COUNT, COUNT / 2, {3, 2}, 0, "train.npz has other inputs now"},
        {COUNT, COUNT / 2, {1, 2}, 1, "train.npz has other labels now"},
        {COUNT, COUNT / 2, {1, 3}, 0, "test.npz has other inputs now"},
        {COUNT, COUNT / 3, {1, 2}, 0, "test.npz has another number of examples now"},
    };
    const struct world *w = *state;
    cull_recipe        *recipe = open_recipe(w, w->test, NULL, NULL);

    assert_ok(train(w, recipe, "run", NULL, true));
    for (size_t i = 1; i < sizeof cases / sizeof *cases; i++) {
        write_set(w->train, cases[i].train, cases[i].seed[0], cases[i].first);
        write_set(w->test, cases[i].test, cases[i].seed[1], cases[i].first);
        assert_fails(CULL_DIFFERS, cases[i].says, train(w, recipe, "run", NULL, false));
        assert_string_equal(strncmp(cases[i].says, "test", 4) == 0 ? "data.test" : "data.name",
                            cull_last_subject());
    }
    write_set(w->train, cases[0].train, cases[0].seed[0], 0);
    write_set(w->test, cases[0].test, cases[0].seed[1], 0);
    assert_ok(train(w, recipe, "run", NULL, false));
    cull_recipe_close(recipe);
}

/* Runs of before fingerprints were written down say nothing of their data. */
static void an_older_run_goes_on(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = open_recipe(w, w->test, NULL, NULL);
    json_t             *info = NULL, *data = NULL;
    char                path[200];

    assert_ok(train(w, recipe, "run", NULL, true));
    info = read_info(w, "run");
    data = json_object_get(info, "data");
    assert_int_equal(0, json_object_del(data, "fingerprint"));
    assert_int_equal(0, json_object_del(data, "test_fingerprint"));
    (void)snprintf(path, sizeof path, "%s/run/run.json", w->folder);
    assert_int_equal(0, json_dump_file(info, path, 0));
    json_decref(info);
    write_set(w->train, COUNT, 3, 0);
    assert_ok(train(w, recipe, "run", NULL, true));
    write_set(w->train, COUNT, 1, 0); /* but from now on it is known */
    assert_fails(CULL_DIFFERS, "train.npz has other inputs now",
                 train(w, recipe, "run", NULL, false));
    cull_recipe_close(recipe);
}

/* ---- splitting ---- */

static void open_sets(const struct world *w, const char *seed, const char *key, const char *value,
                      cull_train_sets *out)
{
    cull_recipe *recipe = NULL;
    cull_option  options[] = {
         {"data.name", w->train}, {"data.split", "0.1"}, {"train.seed", seed}, {key, value}};

    *out = (cull_train_sets){0};
    assert_ok(cull_recipe_open(NULL, options, key ? 4 : 3, &recipe));
    assert_ok(cull_train_open_data(&recipe->setup, out));
    cull_recipe_close(recipe);
}

static void the_split_is_the_same_for_every_seed_and_before_all_else(void **state)
{
    static const char *const more[][2] = {{"data.validation", "0.25"},
                                          {"data.subset", "0.5"},
                                          {"data.label_noise", "0.5"},
                                          {"data.imbalance", "0.5"},
                                          {"data.duplicates", "3"}};
    const struct world      *w = *state;
    cull_train_sets          plain, other;

    open_sets(w, "1", NULL, NULL, &plain);
    assert_int_equal(COUNT / 10, plain.test->count);
    assert_int_equal(COUNT - COUNT / 10, plain.train->count);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        uint8_t tested[COUNT] = {0};

        open_sets(w, "7", more[i][0], more[i][1], &other);
        assert_same_set(plain.test, other.test);
        for (size_t k = 0; k < other.test->count; k++) tested[other.test->origin[k]] = 1;
        for (size_t k = 0; k < other.train->count; k++)
            assert_false(tested[other.train->origin[k]]);
        for (size_t k = 0; other.validation && k < other.validation->count; k++)
            assert_false(tested[other.validation->origin[k]]);
        assert_string_equal(plain.print[CULL_DATA_TRAIN], other.print[CULL_DATA_TRAIN]);
        assert_string_equal("", other.print[CULL_DATA_TEST]);
        cull_train_close_data(&other);
    }
    cull_train_close_data(&plain);
}

static void a_split_run_is_resumed_and_evaluated(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = open_recipe(w, NULL, "data.split", "0.2");
    json_t             *info = NULL;

    assert_ok(train(w, recipe, "run", NULL, true));
    assert_ok(train(w, recipe, "run", NULL, false));
    info = read_info(w, "run");
    assert_true(json_number_value(json_object_get(json_object_get(info, "data"), "test")) ==
                COUNT / 5);
    json_decref(info);
    cull_recipe_close(recipe);
}

static void a_split_of_doubles_is_remarked_on(void **state)
{
    const struct world *w = *state;
    cull_dataset       *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);
    cull_train_sets     sets;

    for (size_t i = COUNT / 2; i < COUNT; i++)
        memcpy(row_of(set, i), row_of(set, i - COUNT / 2), (size_t)SIDE * SIDE);
    assert_ok(cull_data_write(set, w->train));
    cull_data_close(set);
    open_sets(w, "1", NULL, NULL, &sets);
    assert_int_equal(1, sets.warnings.count);
    assert_non_null(strstr(sets.warnings.text[0], "are in the training set too"));
    cull_train_close_data(&sets);
}

static void what_cannot_be_meant_is_refused(void **state)
{
    const struct world *w = *state;
    cull_dataset       *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);
    cull_recipe        *recipe = NULL;
    cull_option both[] = {{"data.name", w->train}, {"data.test", w->test}, {"data.split", "0.1"}};
    cull_array  arrays[] = {
         {"x_train", cull_matrix(cull_data_base(set), CULL_U8, 80, (size_t)SIDE * SIDE)},
         {"y_train", cull_vector(cull_data_labels(set), CULL_I32, 80)},
         {"x_test", cull_matrix(row_of(set, 80), CULL_U8, 40, (size_t)SIDE * SIDE)},
         {"y_test", cull_vector(cull_data_labels(set) + 80, CULL_I32, 40)},
    };

    recipe = open_recipe(w, NULL, NULL, NULL);
    assert_fails(CULL_BAD_FILE,
                 "train.npz: holds no test set (x_test and y_test); name one with data.test, or "
                 "let data.split: 0.1 set a tenth of the examples aside",
                 train(w, recipe, "run", NULL, false));
    assert_string_equal("data.test", cull_last_subject());
    cull_recipe_close(recipe);
    recipe = open_recipe(w, w->train, NULL, NULL);
    assert_fails(CULL_BAD_OPTION, "data.test: train.npz is the training set",
                 train(w, recipe, "run", NULL, false));
    cull_recipe_close(recipe);
    recipe = NULL;
    assert_fails(CULL_BAD_OPTION, "is the test set already",
                 cull_recipe_open(NULL, both, 3, &recipe));
    assert_ok(cull_arrays_write(w->train, arrays, 4));
    recipe = open_recipe(w, NULL, "data.split", "0.1");
    assert_fails(CULL_BAD_OPTION,
                 "data.split: train.npz brings a test set, of 40 examples; leave the split out",
                 train(w, recipe, "run", NULL, false));
    cull_recipe_close(recipe);
    assert_int_not_equal(0, access(path_in(w->folder, "run"), F_OK));
    cull_data_close(set);
}

static void failing_allocations_are_survived(void **state)
{
    const struct world *w = *state;

    for (int way = 0; way < 2; way++) {
        cull_recipe *recipe =
            open_recipe(w, way ? NULL : w->test, way ? "data.split" : NULL, "0.25");
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK && n < MOST_ALLOCATIONS; n++) {
            cull_train_sets sets = {0};

            fail_nth_alloc(n);
            status = cull_train_open_data(&recipe->setup, &sets);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
            cull_train_close_data(&sets);
        }
        assert_int_equal(CULL_OK, status);
        cull_recipe_close(recipe);
    }
}

#define IN_WORLD(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(warnings_are_told_and_recorded),
        IN_WORLD(a_run_without_warnings_has_none),
        IN_WORLD(a_run_goes_on_with_its_own_data_only),
        IN_WORLD(an_older_run_goes_on),
        IN_WORLD(the_split_is_the_same_for_every_seed_and_before_all_else),
        IN_WORLD(a_split_run_is_resumed_and_evaluated),
        IN_WORLD(a_split_of_doubles_is_remarked_on),
        IN_WORLD(what_cannot_be_meant_is_refused),
        IN_WORLD(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
