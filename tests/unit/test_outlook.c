/* test_outlook.c - what a run says of itself before it begins, and after its first steps. */
#include <math.h>

#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 64, TEST = 64, SIDE = 6, CLASSES = 3, BATCH = 16, MOST = 8 };

struct world {
    char             folder[64];
    cull_run_outlook told[MOST];
    size_t           count, steps_before[MOST], steps;
    char             words[128]; /* the texts of the first */
    bool             stop;
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

static void foresee(void *context, const cull_run_outlook *outlook)
{
    struct world *w = context;

    assert_int_equal(sizeof *outlook, outlook->size);
    assert_true(w->count < MOST);
    w->steps_before[w->count] = w->steps;
    if (w->count == 0)
        (void)snprintf(w->words, sizeof w->words, "%s %s %s", outlook->data, outlook->model,
                       outlook->strategy);
    w->told[w->count++] = *outlook;
}

static void count_steps(void *context, const cull_run_news *news)
{
    ((struct world *)context)->steps += !news->epoch_end;
}

static bool asked_to_stop(void *context)
{
    return ((struct world *)context)->stop;
}

/* A run of "key=value" words, in a folder of its own unless it goes on with the last. */
static cull_status run(struct world *w, const char *words, bool resume)
{
    char             yaml[1024], copy[512], *rest = NULL;
    cull_option      change[16];
    size_t           count = 0;
    cull_recipe     *recipe = NULL;
    cull_run_result  result = {0};
    cull_run_options options = {.folder = path_in(w->folder, "run"),
                                .resume = resume,
                                .tell = count_steps,
                                .stop = asked_to_stop,
                                .context = w,
                                .foresee = foresee};
    cull_status      status = CULL_OK;

    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: %s/set.npz, test: %s/test.npz}\nmodel: {name: mlp}\n"
                   "train: {batch: %d, threads: 1}\n",
                   w->folder, w->folder, BATCH);
    (void)snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');

        *equals = '\0';
        change[count++] = (cull_option){word, equals + 1};
    }
    if (!resume) remove_folder(options.folder);
    w->count = w->steps = 0;
    assert_ok(cull_recipe_parse("r", yaml, strlen(yaml), change, count, &recipe));
    status = cull_train(recipe, &options, &result);
    cull_recipe_close(recipe);
    return status;
}

static void a_run_is_described_before_its_first_step(void **state)
{
    struct world           *w = *state;
    const cull_run_outlook *o = w->told;

    assert_ok(run(w, "train.epochs=3 data.validation=0.25", false));
    assert_true(w->count >= 1 && w->steps_before[0] == 0);
    assert_string_equal("set.npz mlp full", w->words);
    assert_int_equal(48, o->train);
    assert_int_equal(16, o->validation);
    assert_int_equal(63, o->test);
    assert_int_equal(CLASSES, o->classes);
    assert_true(o->channels == 1 && o->height == SIDE && o->width == SIDE);
    assert_true(o->parameters > 1000);
    assert_int_equal(3, o->epochs);
    assert_int_equal(9, o->steps);
    assert_int_equal(BATCH, o->batch);
    assert_int_equal(0, o->done);
    assert_true(o->keep == 1 && o->counted == 1 && isnan(o->predicted) && isnan(o->seconds));
}

/* Shares of full training's work, by hand. */
static void work_is_counted_as_the_referee_counts_it(void **state)
{
    static const struct {
        const char *words;
        double      keep, counted;
    } cases[] = {
        {"select.strategy=random select.keep=0.25", .25, .25},
        {"select.strategy=sb select.keep=0.25", .25, (1 + 3 * .25) / 3},
        {"select.strategy=sb select.keep=0.25 score.pass=reuse", .25, (1 + 2 * .25) / 3},
        {"select.strategy=full train.shorten=0.5", 1, .5},
        {"select.strategy=random select.keep=0.5 train.shorten=0.5", .5, .25},
        {"select.strategy=grad-match select.keep=0.25 select.period=2", .25, .25 + .5 / 3},
        {"select.strategy=sb-stream", NAN, NAN},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256];

        (void)snprintf(words, sizeof words, "train.epochs=4 %s", cases[i].words);
        assert_ok(run(w, words, false));
        if (isnan(cases[i].keep)) {
            assert_true(isnan(w->told[0].keep) && isnan(w->told[0].counted));
            continue;
        }
        assert_true(w->told[0].keep == cases[i].keep);
        if (fabs(w->told[0].counted - cases[i].counted) > 1e-12)
            fail_msg("%s: %g, not %g", words, w->told[0].counted, cases[i].counted);
    }
}

static void the_first_steps_tell_what_it_will_take(void **state)
{
    struct world *w = *state;

    assert_ok(run(w, "train.epochs=40 select.strategy=sb select.keep=0.25", false));
    assert_int_equal(2, w->count);
    assert_true(w->steps_before[1] >= 10 && w->steps_before[1] < 160);
    assert_true(w->told[1].predicted > 0 && w->told[1].predicted < 10);
    assert_true(w->told[1].seconds > 0 && w->told[1].seconds < 600);
    assert_true(w->told[1].counted == w->told[0].counted);
    /* a rule that decides how many has shown it by then */
    assert_ok(run(w, "train.epochs=40 select.strategy=sb-stream", false));
    assert_int_equal(2, w->count);
    assert_true(w->told[1].counted > 1. / 3 && w->told[1].counted < 4. / 3);
    assert_true(w->told[1].predicted > 0);
}

/* Full training by its own steps costs what full training costs. */
static void full_training_is_predicted_to_cost_itself(void **state)
{
    struct world *w = *state;

    assert_ok(run(w, "train.epochs=40", false));
    assert_int_equal(2, w->count);
    assert_true(fabs(w->told[1].predicted - 1) < 1e-9);
    assert_ok(run(w, "train.epochs=80 train.shorten=0.5", false));
    assert_true(fabs(w->told[1].predicted - .5) < 1e-9);
}

static void a_run_that_goes_on_says_from_where_and_one_that_ended_says_nothing(void **state)
{
    struct world *w = *state;

    w->stop = true;
    assert_ok(run(w, "train.epochs=3", false));
    w->stop = false;
    assert_int_equal(1, w->count);
    assert_ok(run(w, "train.epochs=3", true));
    assert_true(w->count >= 1 && w->told[0].done == 1 && w->told[0].steps == 12);
    assert_ok(run(w, "train.epochs=3", true));
    assert_int_equal(0, w->count);
}

/* Of so many steps not all are walked through. */
static void a_very_long_run_is_foreseen_all_the_same(void **state)
{
    struct world *w = *state;

    w->stop = true;
    assert_ok(run(w, "train.epochs=1000000 select.strategy=sb select.keep=0.25", false));
    w->stop = false;
    assert_int_equal(4000000, w->told[0].steps);
    assert_true(fabs(w->told[0].counted - 1.75 / 3) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_described_before_its_first_step),
        cmocka_unit_test(work_is_counted_as_the_referee_counts_it),
        cmocka_unit_test(the_first_steps_tell_what_it_will_take),
        cmocka_unit_test(full_training_is_predicted_to_cost_itself),
        cmocka_unit_test(a_run_that_goes_on_says_from_where_and_one_that_ended_says_nothing),
        cmocka_unit_test(a_very_long_run_is_foreseen_all_the_same),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
