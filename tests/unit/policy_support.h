/* tests/unit/policy_support.h - small sets on disk, of targets for each loss, and runs on them by
 * "key=value key=value". */
#ifndef CULL_TESTS_POLICY_SUPPORT_H
#define CULL_TESTS_POLICY_SUPPORT_H

#include <math.h>

#include "files.h"
#include "lab/recipe/recipe.h"

enum { COUNT = 60, SIDE = 16, CLASSES = 3, BATCH = 16 };

struct world {
    char folder[64];
};

/* The same images with targets of their own: two numbers, and four labels that hold or not. */
static inline void write_others(const struct world *w, const char *name, const cull_dataset *set)
{
    char       path[64];
    float      number[COUNT][2];
    uint8_t    truth[COUNT][4];
    cull_array arrays[] = {
        {"x", cull_images(cull_data_base(set), CULL_U8, COUNT, 1, SIDE, SIDE)},
        {"y", cull_matrix(number, CULL_F32, COUNT, 2)},
    };

    for (size_t i = 0; i < COUNT; i++) {
        int32_t label = cull_data_labels(set)[i];

        number[i][0] = 100 + 20 * (float)label + (float)random_uniform(5, i);
        number[i][1] = label == 1 ? -3 : 1;
        for (int k = 0; k < 4; k++) truth[i][k] = k < 3 ? label == k : label > 0;
    }
    (void)snprintf(path, sizeof path, "real-%s", name);
    assert_ok(cull_arrays_write(path_in(w->folder, path), arrays, 2));
    arrays[1].tensor = cull_matrix(truth, CULL_U8, COUNT, 4);
    (void)snprintf(path, sizeof path, "several-%s", name);
    assert_ok(cull_arrays_write(path_in(w->folder, path), arrays, 2));
}

static inline void write_set(const struct world *w, const char *name, uint64_t seed)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);

    /* The label shows in one row of pixels, so that there is something to learn. */
    for (size_t i = 0; i < COUNT; i++)
        for (size_t x = 0; x < SIDE; x++)
            ((uint8_t *)cull_data_base(
                set))[i * SIDE * SIDE + (size_t)cull_data_labels(set)[i] * SIDE + x] =
                (uint8_t)(200 + 50 * random_uniform(seed, i));
    assert_ok(cull_data_write(set, path_in(w->folder, name)));
    write_others(w, name, set);
    cull_data_close(set);
}

/* Irreducible losses of every example, in the order of the file. */
static inline void write_losses(const struct world *w)
{
    double loss[COUNT];

    for (size_t i = 0; i < COUNT; i++) loss[i] = random_uniform(7, i);
    assert_ok(cull_arrays_write(path_in(w->folder, "irreducible.npz"),
                                &(cull_array){"loss", cull_vector(loss, CULL_F64, COUNT)}, 1));
}

static inline int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    write_set(w, "train.npz", 1);
    write_set(w, "test.npz", 2);
    write_losses(w);
    *state = w;
    return 0;
}

static inline int remove_world(void **state)
{
    struct world *w = *state;

    remove_folder(w->folder);
    free(w);
    return 0;
}

static const char base_recipe[] = "model: {name: mlp}\n"
                                  "augment: {crop: 1, flip: true}\n"
                                  "optim: {lr: 0.05, momentum: 0.9}\n"
                                  "train: {epochs: 2, batch: 16, threads: 1, log: 0}\n";

static inline cull_status try_recipe(const struct world *w, const char *changes, cull_recipe **out)
{
    char        train[128], test[128], words[1024];
    const char *kind = strstr(changes, "squared-error")          ? "real-"
                       : strstr(changes, "binary-cross-entropy") ? "several-"
                                                                 : "";
    cull_option option[24] = {{"data.name", train}, {"data.test", test}};
    size_t      count = 2;

    (void)snprintf(train, sizeof train, "%s/%strain.npz", w->folder, kind);
    (void)snprintf(test, sizeof test, "%s/%stest.npz", w->folder, kind);
    (void)snprintf(words, sizeof words, "%s", changes);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        option[count++] = (cull_option){word, equals + 1};
    }
    return cull_recipe_parse("test", base_recipe, strlen(base_recipe), option, count, out);
}

static inline cull_recipe *recipe_of(const struct world *w, const char *changes)
{
    cull_recipe *recipe = NULL;

    assert_ok(try_recipe(w, changes, &recipe));
    return recipe;
}

/* A whole run in folder `out`. */
static inline cull_run_result run_of(const struct world *w, const char *changes, const char *out)
{
    cull_recipe     *recipe = recipe_of(w, changes);
    cull_run_result  result = {0};
    cull_run_options options = {.folder = path_in(w->folder, out)};
    cull_status      status = cull_train(recipe, &options, &result);

    if (status != CULL_OK) fail_msg("%s: %s", changes, cull_last_error());
    cull_recipe_close(recipe);
    return result;
}

/* The same where only the result counts. */
static inline cull_run_result result_of(const struct world *w, const char *changes)
{
    cull_run_result result = run_of(w, changes, "run");

    remove_folder(path_in(w->folder, "run"));
    return result;
}

/* ---- a trainer step by step ---- */

static inline cull_needs begin_epoch(cull_trainer *t)
{
    cull_needs needs = {0};

    assert_ok(cull_train_begin_epoch(t, &needs));
    return needs;
}

static inline bool is_epoch_over(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);

    return cull_sel_course_over(&course);
}

static inline cull_step_values step_of(cull_trainer *t)
{
    cull_step_values values = {0};

    assert_ok(cull_train_step(t, &values));
    return values;
}

/* The next step's candidates and their signals, as a step has them; nothing is learned. */
static inline cull_step_values score_next(cull_trainer *t)
{
    cull_sel_course  course = cull_train_course(t);
    cull_pipeline   *ahead = t->scorer.pipeline;
    cull_step_values v = {0};

    assert_true(cull_sel_course_peek(&course, &v.asked));
    assert_ok(cull_train_make_letter(t, v.asked.count));
    cull_learner_enter(&t->learner, course.step, course.epoch, cull_train_rate(t));
    assert_ok(cull_feed_send(&t->feed, &v.asked, &course));
    assert_ok(cull_scorer_aim(&t->scorer, &v.asked.needs, course.step));
    assert_ok(cull_letter_send(&t->learner.letter));
    assert_ok(cull_feed_bring(&t->feed, &v.asked, &course, t->learner.now, ahead, &v.batch));
    if (ahead) cull_scorer_count(&t->scorer, cull_pipeline_wasted(ahead), 0, &t->books.meter);
    assert_ok(cull_scorer_score(&t->scorer, &v.asked.needs, &v.batch, &t->books.meter, &v.scored));
    return v;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, remove_world)

#endif
