/* test_run_budget.c - a run that is killed between its last step and its end is over when it is
 * resumed: what was used up stays used up. */
#include <sys/stat.h>

#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 60, SIDE = 6, CLASSES = 3 };

struct world {
    char folder[64], command[256];
    bool copied;
};

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    write_both(set, path_in(w->folder, "set.npz"), path_in(w->folder, "test.npz"));
    cull_data_close(set);
    *state = w;
    return 0;
}

static int remove_world(void **state)
{
    struct world *w = *state;

    remove_folder(w->folder);
    free(w);
    return 0;
}

/* What a kill at the end of the last epoch leaves: steps are committed, their end is not. */
static void copy_at_end(void *context, const cull_run_news *news)
{
    struct world *w = context;

    if (!news->epoch_end || w->copied) return;
    w->copied = true;
    (void)snprintf(w->command, sizeof w->command, "cp -r %s/run %s/killed", w->folder, w->folder);
    assert_int_equal(0, system(w->command));
}

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

static void a_used_up_budget_stays_used_up_after_a_kill(void **state)
{
    struct world    *w = *state;
    char             set[128], test[128];
    cull_recipe     *recipe = NULL;
    cull_run_result  whole = {0}, resumed = {0};
    cull_option      changes[] = {{"data.name", set},     {"data.test", test},
                                  {"model.name", "mlp"},  {"train.batch", "16"},
                                  {"train.threads", "1"}, {"train.checkpoint_steps", "1"},
                                  {"train.cost", "30"},   {"train.epochs", "9"}};
    cull_run_options options = {.folder = path_in(w->folder, "run"), .tell = copy_at_end};

    (void)snprintf(set, sizeof set, "%s/set.npz", w->folder);
    (void)snprintf(test, sizeof test, "%s/test.npz", w->folder);
    options.context = w;
    assert_ok(cull_recipe_open(NULL, changes, sizeof changes / sizeof *changes, &recipe));
    assert_ok(cull_train(recipe, &options, &whole));
    assert_int_equal(CULL_RUN_BUDGET, whole.end);
    assert_int_equal(2, whole.step);
    options = (cull_run_options){.folder = path_in(w->folder, "killed"), .resume = true};
    assert_ok(cull_train(recipe, &options, &resumed));
    assert_true(resumed.resumed);
    assert_int_equal(CULL_RUN_BUDGET, resumed.end);
    assert_int_equal(whole.step, resumed.step);
    assert_int_equal(whole.trained, resumed.trained);
    assert_string_equal(whole.weights, resumed.weights);
    cull_recipe_close(recipe);
}

/* Seconds as a slow machine would have spent them in one phase, before the first step. */
static cull_run_result run_with(const struct world *w, cull_phase phase, bool resumes)
{
    char             set[128], test[128];
    cull_recipe     *recipe = NULL;
    cull_trainer    *t = NULL;
    cull_run_result  result = {0};
    cull_option      changes[] = {{"data.name", set},          {"data.test", test},
                                  {"data.validation", "0.2"},  {"model.name", "mlp"},
                                  {"train.batch", "16"},       {"train.threads", "1"},
                                  {"train.seconds", "100000"}, {"train.epochs", "2"}};
    cull_run_options options = {.folder = path_in(w->folder, "timed"), .stop = stop_now};

    (void)snprintf(set, sizeof set, "%s/set.npz", w->folder);
    (void)snprintf(test, sizeof test, "%s/test.npz", w->folder);
    assert_ok(cull_recipe_open(NULL, changes, sizeof changes / sizeof *changes, &recipe));
    if (!resumes) options.stop = NULL;
    (void)mkdir(options.folder, 0777);
    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    t->books.meter.seconds[phase] = 1e6;
    assert_ok(cull_trainer_run(t, &options, &result));
    cull_trainer_destroy(t);
    t = NULL;
    if (resumes) {
        assert_int_equal(CULL_RUN_STOPPED, result.end);
        options = (cull_run_options){.folder = path_in(w->folder, "timed"), .resume = true};
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        assert_ok(cull_trainer_run(t, &options, &result));
        assert_true(t->books.meter.seconds[phase] >= 1e6);
        cull_trainer_destroy(t);
    }
    cull_recipe_close(recipe);
    remove_folder(path_in(w->folder, "timed"));
    return result;
}

static void evaluating_takes_nothing_off_the_seconds(void **state)
{
    const struct world *w = *state;

    for (int resumes = 0; resumes < 2; resumes++) {
        cull_run_result result = run_with(w, CULL_PHASE_EVALUATE, resumes);

        assert_int_equal(CULL_RUN_EPOCHS, result.end);
        assert_int_equal(6, result.step);
        assert_true(result.seconds >= 1e6); /* the record still has them */
    }
    for (cull_phase phase = CULL_PHASE_LOAD; phase < CULL_PHASES; phase++) {
        cull_run_result result = {0};

        if (phase == CULL_PHASE_EVALUATE) continue;
        result = run_with(w, phase, false);
        assert_int_equal(CULL_RUN_BUDGET, result.end);
        assert_int_equal(1, result.step);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_used_up_budget_stays_used_up_after_a_kill),
        cmocka_unit_test(evaluating_takes_nothing_off_the_seconds),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
