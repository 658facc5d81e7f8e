/* tests/unit/compare_support.h - a comparison on a machine and with runs that are made up. */
#ifndef CULL_TESTS_COMPARE_SUPPORT_H
#define CULL_TESTS_COMPARE_SUPPORT_H

#include <jansson.h>
#include <math.h>

#include "files.h"
#include "lab/compare/compare.h"

static const cull_option changes[] = {{"model.name", "mlp"},
                                      {"train.epochs", "4"},
                                      {"train.batch", "128"},
                                      {"data.name", "made-up.npz"}};

static inline cull_compare_options options(const char *strategies)
{
    return (cull_compare_options){.changes = changes,
                                  .count = 4,
                                  .strategies = strategies,
                                  .keep = "0.25",
                                  .pass = "separate",
                                  .seeds = 3,
                                  .threads = 1,
                                  .jobs = 2,
                                  .margin = .5};
}

/* Tokens that an example has in its batch; 0: examples are no texts. */
static double texts_have;

/* A machine on which a step of m examples takes 1 + m ms. */
static inline cull_measured measured(const cull_recipe *recipe)
{
    const char   *strategy = recipe->setup.strategy;
    double        batch = (double)recipe->setup.batch;
    bool          full = strcmp(strategy, "full") == 0, random = strcmp(strategy, "random") == 0;
    const char   *keep = cull_recipe_value(recipe, "select.keep");
    cull_measured m = {.pool = 1280, .test = 10000, .classes = 10, .parameters = 1000, .steps = 9};

    m.trained = !keep ? batch / 2 : (double)cull_budget(strtod(keep, NULL), recipe->setup.batch);
    if (full) m.trained = batch;
    m.learn = 1e-3 * (1 + m.trained);
    m.load = 1e-5;
    m.optim = 5e-4;
    m.start = .1;
    m.tokens = texts_have;
    if (full || random) return m;
    m.decide = 2e-4;
    if (strstr(strategy, "remembered")) return m;
    m.scored = batch;
    m.score = batch * 3e-4;
    return m;
}

/* Hand in both processes' measurements until nothing is asked for. */
static inline void measure_all(cull_comparison *c)
{
    size_t rounds = 0;

    while (cull_comparison_unmeasured(c, 0)) {
        cull_measured all[2 * 64];
        size_t        count = 0;

        for (; cull_comparison_unmeasured(c, count); count++) {
            all[2 * count] = all[2 * count + 1] = measured(cull_comparison_unmeasured(c, count));
            all[2 * count].learn *= 1.1; /* the middle of the two is what counts */
            all[2 * count + 1].learn *= .9;
        }
        assert_ok(cull_comparison_measured(c, all, count, 2));
        assert_true(++rounds <= 5);
    }
}

static inline cull_comparison *make(const char *strategies)
{
    cull_compare_options o = options(strategies);
    cull_comparison     *c = NULL;

    assert_ok(cull_comparison_create(&o, &c));
    return c;
}

static inline cull_comparison *begin(const char *strategies, const char *folder)
{
    cull_comparison *c = make(strategies);

    assert_ok(cull_comparison_folder(c, folder, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    return c;
}

/* A run as the trainer would leave it: accuracy on the way and at the end. */
static inline void leave_run(const cull_comparison *c, const cull_compare_run *run, const char *how,
                             double accuracy)
{
    char   text[2048], path[CULL_DATA_PATH + 32];
    double thirds = 0;

    for (size_t i = 0; i < c->arms.count; i++)
        if (strcmp(c->arms.arm[i].name, run->name) == 0) thirds = c->arms.arm[i].price.thirds;

    (void)snprintf(text, sizeof text, "mkdir -p '%s'", run->folder);
    assert_int_equal(0, system(text));
    (void)snprintf(text, sizeof text,
                   "{\"status\":\"%s\",\"test\":%.4f,\"best\":%.4f,\"scored\":0,\"trained\":3840,"
                   "\"thirds\":%.0f,\"seconds_by_phase\":{\"load\":1,\"score\":1,\"select\":1,"
                   "\"learn\":1,\"optim\":1,\"evaluate\":1,\"checkpoint\":1}}\n",
                   how, accuracy, accuracy + .01, thirds);
    (void)snprintf(path, sizeof path, "%s/run.json", run->folder);
    put_file(path, text, strlen(text));
    (void)snprintf(text, sizeof text,
                   "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":10,\"accuracy\":%.4f}\n"
                   "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":17,\"accuracy\":%.4f}\n"
                   "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":40,\"accuracy\":%.4f}\n",
                   accuracy - .2, accuracy - .1, accuracy);
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", run->folder);
    put_file(path, text, strlen(text));
}

/* Selection is a point above all controls, seeds differ by a little. */
static inline double accuracy_of(const cull_compare_run *run)
{
    double seed = .001 * (double)run->seed;

    if (strncmp(run->name, "sb", 2) == 0) return .91 + seed + .0001 * (double)(run->seed % 2);
    return .90 + seed;
}

static inline json_t *judge(cull_comparison *c)
{
    json_t *out = NULL;

    assert_ok(cull_comparison_judge(c));
    out = json_loads(cull_comparison_text(c), 0, NULL);
    assert_non_null(out);
    return out;
}

static inline const json_t *arm_of(const json_t *comparison, const char *name)
{
    size_t        i = 0;
    const json_t *arm = NULL;

    json_array_foreach(json_object_get(comparison, "arms"), i, arm)
    {
        if (strcmp(json_string_value(json_object_get(arm, "name")), name) == 0) return arm;
    }
    fail_msg("no arm is called %s", name);
    return NULL;
}

static inline const json_t *versus_of(const json_t *arm, const char *kind)
{
    size_t        i = 0;
    const json_t *versus = NULL;

    json_array_foreach(json_object_get(arm, "versus"), i, versus)
    {
        if (strcmp(json_string_value(json_object_get(versus, "kind")), kind) == 0) return versus;
    }
    fail_msg("there is no %s", kind);
    return NULL;
}

static inline double number(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static inline int make_folder(void **state)
{
    char *folder = strdup(FOLDER_TEMPLATE);

    assert_non_null(mkdtemp(folder));
    *state = folder;
    return 0;
}

static inline int drop_folder(void **state)
{
    remove_folder(*state);
    free(*state);
    return 0;
}

/* Judged, the comparison names a problem with these words in it; NULL: and none with those. */
static inline void assert_problem(cull_comparison *c, const char *words, const char *none)
{
    json_t *result = judge(c);
    char   *said = json_dumps(json_object_get(result, "problems"), JSON_ENCODE_ANY);

    assert_non_null(said);
    if (!strstr(said, words)) fail_msg("no '%s' in %s", words, said);
    if (none && strstr(said, none)) fail_msg("'%s' in %s", none, said);
    free(said);
    json_decref(result);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)

#endif
