/* test_run_memory.c - the calls around a run with every allocation failing in turn: out of memory
 * is said, nothing is left behind, and at the end each succeeds. */
#include "cull_lab.h"
#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 40, SIDE = 6, CLASSES = 3, MOST_ALLOCATIONS = 5000 };

struct world {
    char         folder[64], set[128], recipe[128], weights[256], written[128];
    cull_recipe *open;
};

static void write_set(const char *path)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);
    cull_array    arrays[] = {
           {"x_train", cull_matrix(cull_data_base(set), CULL_U8, COUNT, (size_t)SIDE * SIDE)},
           {"y_train", cull_vector(cull_data_labels(set), CULL_I32, COUNT)},
           {"x_test", cull_matrix(cull_data_base(set), CULL_U8, COUNT - 1, (size_t)SIDE * SIDE)},
           {"y_test", cull_vector(cull_data_labels(set), CULL_I32, COUNT - 1)},
    };

    assert_ok(cull_arrays_write(path, arrays, sizeof arrays / sizeof *arrays));
    cull_data_close(set);
}

static int make_world(void **state)
{
    struct world    *w = calloc(1, sizeof *w);
    cull_run_result  result = {0};
    cull_run_options options = {0};
    char             text[512];

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->set, sizeof w->set, "%s/set.npz", w->folder);
    (void)snprintf(w->recipe, sizeof w->recipe, "%s/recipe.yaml", w->folder);
    (void)snprintf(w->written, sizeof w->written, "%s/written.npz", w->folder);
    write_set(w->set);
    (void)snprintf(text, sizeof text,
                   "data: {name: %s, validation: 0.2, label_noise: 0.1, duplicates: 2}\n"
                   "model: {name: mlp}\nschedule: {milestones: [1]}\n"
                   "train: {epochs: 1, batch: 16, threads: 2}\n",
                   w->set);
    put_file(w->recipe, text, strlen(text));
    assert_ok(cull_recipe_open(w->recipe, NULL, 0, &w->open));
    options.folder = path_in(w->folder, "run");
    assert_ok(cull_train(w->open, &options, &result));
    (void)snprintf(w->weights, sizeof w->weights, "%s/run/%s", w->folder, result.weights);
    *state = w;
    return 0;
}

static int remove_world(void **state)
{
    struct world *w = *state;

    cull_recipe_close(w->open);
    remove_folder(w->folder);
    free(w);
    return 0;
}

/* The call with allocation 1, 2, ... failing until none does; at least `fewest` were made. */
static void fail_each(const struct world *w, cull_status (*call)(const struct world *),
                      size_t              fewest)
{
    for (size_t n = 1; n < MOST_ALLOCATIONS; n++) {
        cull_status status = CULL_OK;

        fail_nth_alloc(n);
        status = call(w);
        if (!alloc_has_failed()) {
            fail_nth_alloc(0);
            if (status != CULL_OK) fail_msg("%s", cull_last_error());
            assert_true(n > fewest);
            return;
        }
        fail_nth_alloc(0);
        if (status != CULL_NO_MEMORY)
            fail_msg("allocation %zu: %s: %s", n, cull_status_name(status), cull_last_error());
    }
    fail_msg("no end after %d allocations", MOST_ALLOCATIONS);
}

static cull_status open_recipe(const struct world *w)
{
    cull_recipe *recipe = NULL;
    cull_option  changes[] = {{"optim.lr", "0.1"}, {"schedule.milestones", "[1,2]"}};
    cull_status  status = cull_recipe_open(w->recipe, changes, 2, &recipe);

    assert_true((status == CULL_OK) == (recipe != NULL));
    cull_recipe_close(recipe);
    return status;
}

static void a_recipe_opens_or_says_that_memory_ran_out(void **state)
{
    fail_each(*state, open_recipe, 10);
}

static cull_status evaluate(const struct world *w)
{
    cull_evaluation e = {0};

    return cull_evaluate(w->open, w->weights, "validation", &e);
}

static void weights_are_evaluated_or_it_is_said_that_memory_ran_out(void **state)
{
    fail_each(*state, evaluate, 30);
}

static cull_status bench(const struct world *w)
{
    cull_bench_result r = {0};

    return cull_bench(w->open, 1, &r);
}

static void a_benchmark_runs_or_says_that_memory_ran_out(void **state)
{
    fail_each(*state, bench, 30);
}

static cull_status summarise(const struct world *w)
{
    cull_data_summary s = {0};

    return cull_data_summarise(&(cull_data_request){.name = w->set, .role = CULL_DATA_TEST}, &s);
}

static void a_set_is_summarised_or_it_is_said_that_memory_ran_out(void **state)
{
    fail_each(*state, summarise, 5);
}

static cull_status convert(const struct world *w)
{
    cull_status status = cull_data_convert(&(cull_data_request){.name = w->set}, w->written, NULL);

    /* Whole, or not there at all. */
    assert_true((status == CULL_OK) == (access(w->written, F_OK) == 0));
    (void)unlink(w->written);
    return status;
}

static void a_set_is_written_whole_or_not_at_all(void **state)
{
    fail_each(*state, convert, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_opens_or_says_that_memory_ran_out),
        cmocka_unit_test(weights_are_evaluated_or_it_is_said_that_memory_ran_out),
        cmocka_unit_test(a_benchmark_runs_or_says_that_memory_ran_out),
        cmocka_unit_test(a_set_is_summarised_or_it_is_said_that_memory_ran_out),
        cmocka_unit_test(a_set_is_written_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
