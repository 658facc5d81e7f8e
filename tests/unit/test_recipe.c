/* test_recipe.c - recipes: what they may say, what is refused with file and line, and the text. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/recipe/recipe.h"
#include "support.h"

static cull_status read_recipe(const char *yaml, cull_recipe **out)
{
    return cull_recipe_parse("r.yaml", yaml, strlen(yaml), NULL, 0, out);
}

static void an_empty_recipe_is_all_defaults(void **state)
{
    static const char *const empty[] = {"", "# nothing\n", "---\n", "{}\n", "---\n...\n"};

    (void)state;
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        cull_recipe *recipe = NULL;
        assert_ok(read_recipe(empty[i], &recipe));
        for (size_t k = 0; cull_recipe_option_at(k); k++)
            assert_string_equal(cull_recipe_option_at(k)->fallback,
                                cull_recipe_value(recipe, cull_recipe_option_at(k)->key));
        assert_null(cull_recipe_value(recipe, "no.such"));
        cull_recipe_close(recipe);
    }
}

static void values_are_taken_from_mappings_and_dotted_keys(void **state)
{
    cull_recipe *recipe = NULL;

    (void)state;
    assert_ok(read_recipe("optim: {lr: 0.1, nesterov: true}\n"
                          "schedule:\n  name: multi-step\n  milestones: [3, 5.5]\n"
                          "train.epochs: 7\n"
                          "data:\n  name: \"a b's.npz\"\n",
                          &recipe));
    assert_true(recipe->setup.schedule.rate == .1);
    assert_true(recipe->setup.optim.nesterov);
    assert_int_equal(7, recipe->setup.epochs);
    assert_int_equal(2, recipe->setup.schedule.milestones);
    assert_true(recipe->setup.schedule.milestone[1] == 5.5);
    assert_string_equal("a b's.npz", recipe->setup.data);
    cull_recipe_close(recipe);
}

static void the_text_of_a_recipe_is_the_same_recipe(void **state)
{
    cull_recipe *a = NULL, *b = NULL;

    (void)state;
    assert_ok(read_recipe("data: {name: \"it's - #1: [x].npz\", root: '-'}\n"
                          "schedule: {name: multi-step, milestones: [1, 2]}\n",
                          &a));
    assert_ok(read_recipe(cull_recipe_text(a), &b));
    assert_null(cull_recipe_difference(a, b));
    assert_string_equal(cull_recipe_text(a), cull_recipe_text(b));
    cull_recipe_close(a);
    cull_recipe_close(b);
}

static void changes_take_the_place_of_the_file(void **state)
{
    static const char yaml[] = "optim: {lr: 0.1}\nschedule: {name: multi-step, milestones: [1]}\n";
    cull_option       changes[] = {{"optim.lr", "0.2"}, {"schedule.milestones", "[2,3]"}};
    cull_recipe      *recipe = NULL;

    (void)state;
    assert_ok(cull_recipe_parse("r.yaml", yaml, strlen(yaml), changes, 2, &recipe));
    assert_true(recipe->setup.schedule.rate == .2);
    assert_int_equal(2, recipe->setup.schedule.milestones);
    cull_recipe_close(recipe);
}

/* The page writes [60, 120]; a shell hands it on as it stands. */
static void lists_are_taken_as_the_page_writes_them(void **state)
{
    static const char *const texts[] = {"[60, 120]",  "60,120",       "[60,120]",
                                        "60, 120",    "[ 60 , 120 ]", " [60, 120] ",
                                        "[60, 120,]", "[60,\t120, ]"};
    static const char *const wrong[] = {"[60, 1 20]",  "[60,, 120]", "[60 120]", "60,120,",  "[,]",
                                        "[[60], 120]", "[60, 120",   "60, 120]", "[60; 120]"};
    cull_option              change[] = {{"schedule.milestones", NULL}, {"train.epochs", "200"}};
    cull_recipe             *recipe = NULL, *file = NULL;
    static const char        yaml[] = "train: {epochs: 200}\nschedule: {milestones: [60, 120]}\n";

    (void)state;
    assert_ok(cull_recipe_parse("r.yaml", yaml, strlen(yaml), NULL, 0, &file));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        change[0].value = texts[i];
        assert_ok(cull_recipe_parse("r.yaml", NULL, 0, change, 2, &recipe));
        assert_string_equal(cull_recipe_text(file), cull_recipe_text(recipe));
        cull_recipe_close(recipe);
        recipe = NULL;
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        change[0].value = wrong[i];
        assert_fails(CULL_BAD_OPTION, "command line: schedule.milestones=",
                     cull_recipe_parse("r.yaml", NULL, 0, change, 2, &recipe));
    }
    change[0] = (cull_option){"train.evaluate_at", "[0.5, 1, 2.25]"};
    assert_ok(cull_recipe_parse("r.yaml", NULL, 0, change, 2, &recipe));
    assert_int_equal(3, recipe->setup.moments);
    assert_true(recipe->setup.moment[2] == 2.25);
    cull_recipe_close(recipe);
    recipe = NULL;
    change[0] = (cull_option){"train.evaluate_at", "[]"};
    assert_ok(cull_recipe_parse("r.yaml", NULL, 0, change, 2, &recipe));
    assert_int_equal(0, recipe->setup.moments);
    cull_recipe_close(recipe);
    recipe = NULL;
    change[0] = (cull_option){"optim.lr", "[0.1]"};
    assert_fails(CULL_BAD_OPTION, "command line: optim.lr=[0.1] is not a number",
                 cull_recipe_parse("r.yaml", NULL, 0, change, 2, &recipe));
    cull_recipe_close(file);
}

static void wrong_changes_name_the_command_line(void **state)
{
    static const struct {
        cull_option change[2];
        size_t      count;
        const char *text;
    } cases[] = {
        {{{"optim.rate", "1"}}, 1, "command line: no option is called 'optim.rate'"},
        {{{"optim.lr", "fast"}}, 1, "command line: optim.lr=fast is not a number"},
        {{{"optim.lr", "1"}, {"optim.lr", "1"}}, 2, "command line: optim.lr is given twice"},
        {{{"train.evaluate_at", "0"}}, 1, "command line: train.evaluate_at: 0 comes before"},
        {{{"schedule.milestones", "1,x"}}, 1, "command line: schedule.milestones=x is not a"},
        {{{"schedule.milestones", "1,"}}, 1, "command line: schedule.milestones="},
        {{{"schedule.warmup", "5"}}, 1, "command line: schedule.warmup: 5 epochs in a run of 5"},
        {{{"data.name", "a\nb"}}, 1, "command line: data.name holds a control character"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *recipe = NULL;
        assert_fails(
            option_status(cases[i].text), cases[i].text,
            cull_recipe_parse("r.yaml", NULL, 0, cases[i].change, cases[i].count, &recipe));
        assert_string_equal(cases[i].change[0].key, cull_last_subject());
        assert_null(recipe);
    }
}

static void wrong_recipes_name_file_and_line(void **state)
{
    static const struct {
        const char *yaml, *text;
    } cases[] = {
        {"optim:\n  lr: 0.1\n  rate: 1\n", "r.yaml:3: no option is called 'optim.rate'"},
        {"nonsense: 1\n", "r.yaml:1: no option is called 'nonsense'"},
        {"optim: {lr: 0.1}\n\noptim.lr: 0.1\n",
         "r.yaml:3: optim.lr is given twice, first at r.yaml:1"},
        {"optim: {lr: 0.1, lr: 0.2}\n", "r.yaml:1: optim.lr is given twice"},
        {"train:\n  epochs: 3x\n", "r.yaml:2: train.epochs=3x is not a whole number"},
        {"train:\n  epochs: 1.5\n", "r.yaml:2: train.epochs=1.5 is not a whole number"},
        {"train:\n  epochs: 0\n", "r.yaml:2: train.epochs=0 is outside"},
        {"train: {epochs: \"3\"}\n", "r.yaml:1: train.epochs=\"3\" is a text in quotes"},
        {"train: {epochs: }\n", "r.yaml:1: train.epochs has no value"},
        {"train: {epochs: ~}\n", "r.yaml:1: train.epochs has no value"},
        {"train: {epochs: [1, 2]}\n", "r.yaml:1: train.epochs takes one value, not a list"},
        {"train: {epochs: {a: 1}}\n", "r.yaml:1: train.epochs takes one value"},
        {"select: {strategy: sbb}\n", "r.yaml:1: select.strategy: no strategy is called 'sbb'"},
        {"select: {strategy: sb old}\n", "r.yaml:1: select.strategy: 'old' is no modifier"},
        {"select: {strategy: full stale}\n", "r.yaml:1: select.strategy: full: no option is"},
        {"select:\n  kep: 1\n  strategy: sb\n", "r.yaml:2: no option is called 'select.kep'"},
        {"select:\n  keep: 2\n  strategy: sb\n", "r.yaml:2: select.keep=2 is outside"},
        {"select:\n  keep: '1'\n  strategy: sb\n", "r.yaml:2: select.keep=\"1\" is a text in"},
        {"select: {keep: 0.5}\n", "r.yaml:1: no option is called 'select.keep'"},
        {"select: {strategy: sb, keep: .5}\nselect.keep: 1\n",
         "r.yaml:2: select.keep is given twice"},
        {"select: {strategy: sb stale, losses: stale}\n", "no option is called 'select.losses'"},
        {"score:\n  pass: reuse\n  norm: running\n", "r.yaml:3: score.norm: score.pass=reuse"},
        {"score:\n  pass: reuse\n  scale: 0.5\n", "r.yaml:3: score.scale: score.pass=reuse"},
        {"score:\n  pass: reuse\n  augment: false\n", "r.yaml:3: score.augment: score.pass=reuse"},
        {"score:\n  pass: reuse\n  pipelined: true\n", "r.yaml:3: score.pipelined: score.pass"},
        {"score:\n  pass: reuse\n  proxy: mlp\n", "r.yaml:3: score.proxy: score.pass=reuse"},
        {"score:\n  proxy: mpl\n", "r.yaml:2: score.proxy: no model is called 'mpl'"},
        {"model:\n  dropout: 0.1\n", "r.yaml:2: model.dropout: lenet5 has none; wrn-D-K, "},
        {"model:\n  name: resnet20\n  stem: imagenet\n", "r.yaml:3: model.stem: resnet20 has one"},
        {"model:\n  norm_epsilon: 0.001\n", "r.yaml:2: model.norm_epsilon: lenet5 has no norms"},
        {"model:\n  name: mlp\n  norm_momentum: 0.2\n", "model.norm_momentum: mlp has no norms"},
        {"model:\n  name: bert\n", "model.path: model.name=bert has its sizes and weights in a"},
        {"model:\n  path: /tmp\n", "model.path: goes with model.name=bert alone"},
        {"model:\n  path: /tmp\n  layers: [flatten, dense]\n", "goes with model.name=bert alone"},
        {"schedule: {name: linear, low: 1}\n", "schedule.low: 1 is above optim.lr"},
        {"model:\n  name: resnet20\n  norm_momentum: 0\n",
         "r.yaml:3: model.norm_momentum=0 is outside"},
        {"model:\n  name: resnet20\n  norm_epsilon: 2\n",
         "r.yaml:3: model.norm_epsilon=2 is outside"},
        {"model:\n  width: 64\n", "r.yaml:2: model.width: only mlp has one to choose, lenet5 has"},
        {"model:\n  name: resnet20\n  depth: 3\n", "r.yaml:3: model.depth: only mlp has one"},
        {"model:\n  name: mlp\n  depth: 0\n", "r.yaml:3: model.depth=0 is outside 1 to 1000"},
        {"model:\n  name: mlp\n  width: 1e9\n", "r.yaml:3: model.width=1e9 is outside 1 to"},
        {"model:\n  name: own/mine\n  width: 64\n", "r.yaml:2: model.name: a program's own"},
        {"model:\n  name: own/mine\n  dropout: 0.1\n", "r.yaml:2: model.name: a program's own"},
        {"reuse: {batchnorm: constants}\n", "r.yaml:1: reuse.batchnorm: goes with score.pass"},
        {"train: {evaluate_at: [0, 1]}\n", "r.yaml:1: train.evaluate_at: 0 comes before the first"},
        {"train:\n  evaluate_at: [0]\n", "r.yaml:2: train.evaluate_at: 0 comes before the first"},
        {"train: {evaluate_at: [1, 0.5]}\n",
         "r.yaml:1: train.evaluate_at: 0.5 does not come after"},
        {"train:\n- 1\n", "r.yaml:1: no option is called 'train'"},
        {"optim: {nesterov: maybe}\n", "r.yaml:1: optim.nesterov=maybe is neither true nor false"},
        {"optim: {nesterov: yes}\n", "r.yaml:1: optim.nesterov=yes is neither true nor false"},
        {"optim: {name: sdg}\n", "r.yaml:1: optim.name=sdg is not one of sgd|adam|adamw"},
        {"optim:\n  lr: .inf\n", "r.yaml:2: optim.lr=.inf is not a number"},
        {"optim:\n  lr: 0x1\n", "r.yaml:2: optim.lr=0x1 is not a number"},
        {"schedule: {milestones: 3}\n", "r.yaml:1: schedule.milestones takes a list"},
        {"schedule: {milestones: [[3]]}\n", "r.yaml:1: schedule.milestones is a list of more"},
        {"schedule: {milestones: [a]}\n", "r.yaml:1: schedule.milestones=a is not a number"},
        {"schedule: {milestones: ['']}\n", "r.yaml:1: schedule.milestones= is not a number"},
        {"schedule:\n  milestones: [3, 2]\n  name: multi-step\n",
         "r.yaml:2: schedule.milestones: 2 does not come after 3"},
        {"schedule: {name: multi-step}\n", "r.yaml: schedule.milestones: multi-step needs"},
        {"schedule:\n  low: 9\n", "r.yaml:2: schedule.low: 9 is above optim.lr"},
        {"optim:\n  momentum: 0\n  nesterov: true\n", "r.yaml:3: optim.nesterov: needs"},
        {"model:\n  name: lenet6\n", "r.yaml:2: model.name: no model is called 'lenet6'"},
        {"model:\n  name: wrn-15-4\n", "r.yaml:2: model.name: 'wrn-15-4'"},
        {"a: &x 1\nb: *x\n", "r.yaml:1: anchors and tags are not for recipes"},
        {"a: *x\n", "r.yaml:1: aliases are not for recipes"},
        {"train: !!map {epochs: 1}\n", "r.yaml:1: anchors and tags"},
        {"train: {epochs: !!int 1}\n", "r.yaml:1: anchors and tags"},
        {"--- {}\n--- {}\n", "r.yaml:2: a second document"},
        {"just words\n", "r.yaml:1: a recipe is keys with values"},
        {"[1, 2]\n", "r.yaml:1: a recipe is keys with values"},
        {"optim.lr: 1: c\n", "r.yaml:1: not YAML"},
        {"\tx: 1\n", "r.yaml:1: not YAML"},
        {"{optim.lr: 1\n", "not YAML"},
        {"? {a: 1}\n: 2\n", "r.yaml:1: a key is a plain word"},
        {"a: {b: {c: {d: {e: {f: {g: {h: {i: {j: 1}}}}}}}}}\n", "mappings too deep"},
        {"data: {name: \"a\\0b\"}\n", "r.yaml:1: data.name holds a control character"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *recipe = NULL;
        assert_fails(option_status(cases[i].text), cases[i].text,
                     read_recipe(cases[i].yaml, &recipe));
        assert_null(recipe);
    }
}

static const char *value_of(const char *yaml, const char *key, char out[64])
{
    cull_recipe *recipe = NULL;

    assert_ok(read_recipe(yaml, &recipe));
    assert_non_null(cull_recipe_value(recipe, key));
    (void)snprintf(out, 64, "%s", cull_recipe_value(recipe, key));
    cull_recipe_close(recipe);
    return out;
}

static void options_of_the_strategy_are_keys(void **state)
{
    cull_recipe *recipe = NULL, *again = NULL;
    char         value[64];

    (void)state;
    assert_string_equal("0.25",
                        value_of("select: {keep: 0.25, strategy: sb}\n", "select.keep", value));
    assert_string_equal("0.5", value_of("select: {strategy: sb}\n", "select.keep", value));
    assert_string_equal("auto", value_of("select.strategy: sb remembered\n", "select.beta", value));
    assert_string_equal("20", value_of("select: {strategy: craig}\n", "select.period", value));
    assert_ok(
        read_recipe("select: {strategy: sb remembered, beta: balles, scope: pool}\n", &recipe));
    assert_null(cull_recipe_value(recipe, "select.losses")); /* the modifier says it */
    assert_ok(read_recipe(cull_recipe_text(recipe), &again));
    assert_null(cull_recipe_difference(recipe, again));
    for (size_t i = 0; i < recipe->setup.selects; i++)
        if (strcmp(recipe->setup.select[i].key, "scope") == 0)
            assert_string_equal("pool", recipe->setup.select[i].value);
    cull_recipe_close(again);
    assert_ok(read_recipe("select: {strategy: sb remembered, beta: 2, scope: pool}\n", &again));
    assert_string_equal("select.beta", cull_recipe_difference(recipe, again));
    cull_recipe_close(again);
    cull_recipe_close(recipe);
}

static void a_stretched_schedule_has_fewer_epochs_at_higher_rates(void **state)
{
    cull_recipe *recipe = NULL;

    (void)state;
    assert_ok(read_recipe("train: {epochs: 10}\noptim: {lr: 0.1}\nschedule: {name: multi-step, "
                          "milestones: [4, 8], warmup: 2, stretch: 2}\n",
                          &recipe));
    assert_int_equal(5, recipe->setup.epochs);
    assert_true(recipe->setup.schedule.rate == .2 && recipe->setup.warmup == 1);
    assert_true(recipe->setup.schedule.milestone[0] == 2 &&
                recipe->setup.schedule.milestone[1] == 4);
    cull_recipe_close(recipe);
}

static void a_difference_is_named_by_its_key(void **state)
{
    cull_recipe *a = NULL, *b = NULL;

    (void)state;
    assert_ok(read_recipe("optim: {lr: 0.1}\n", &a));
    assert_ok(read_recipe("optim: {lr: 0.10}\n", &b));
    assert_null(cull_recipe_difference(a, b));
    cull_recipe_close(b);
    assert_ok(read_recipe("optim: {lr: 0.1}\ntrain: {seed: 2}\n", &b));
    assert_string_equal("train.seed", cull_recipe_difference(a, b));
    cull_recipe_close(a);
    cull_recipe_close(b);
}

static void every_recipe_in_the_tree_is_right(void **state)
{
    glob_t found = {0};

    (void)state;
    assert_int_equal(0, glob(CULL_SOURCE_DIR "/recipes/*.yaml", 0, NULL, &found));
    assert_int_equal(
        0, glob(CULL_SOURCE_DIR "/recipes/reproduce/*/*.yaml", GLOB_APPEND, NULL, &found));
    assert_true(found.gl_pathc > 25);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        cull_recipe *recipe = NULL;

        if (cull_recipe_open(found.gl_pathv[i], NULL, 0, &recipe) != CULL_OK)
            fail_msg("%s: %s", found.gl_pathv[i], cull_last_error());
        cull_recipe_close(recipe);
    }
    globfree(&found);
}

static void the_table_is_sound(void **state)
{
    const cull_option_spec *spec = NULL;

    (void)state;
    for (size_t i = 0; (spec = cull_recipe_option_at(i)); i++) {
        assert_non_null(strchr(spec->key, '.'));
        assert_true(strlen(spec->key) < 60);
        assert_non_null(spec->doc);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(spec->key, cull_recipe_option_at(k)->key);
    }
}

/* A run's folder holds all of them, and every comparison reads many. */
static void reading_all_options_allocates_a_few_times_for_each(void **state)
{
    cull_recipe *a = NULL, *b = NULL;
    size_t       options = 0, before = 0;

    (void)state;
    assert_ok(read_recipe("", &a));
    while (cull_recipe_option_at(options)) options++;
    before = cull_base_alloc_count();
    assert_ok(read_recipe(cull_recipe_text(a), &b));
    assert_true(cull_base_alloc_count() - before < 10 * options);
    cull_recipe_close(a);
    cull_recipe_close(b);
}

static void reading_survives_failing_allocations(void **state)
{
    cull_status status = CULL_NO_MEMORY;
    cull_option change = {"optim.lr", "0.1"};

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        static const char yaml[] = "optim: {lr: 0.2}\nschedule: {milestones: [1]}\n";
        cull_recipe      *recipe = NULL;
        fail_nth_alloc(n);
        status = cull_recipe_parse("r", yaml, strlen(yaml), &change, 1, &recipe);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !recipe));
        cull_recipe_close(recipe);
    }
}

static void backends_are_those_that_are_registered(void **state)
{
    const cull_option_spec *spec = cull_recipe_option("train.backend");
    const char             *name = NULL;
    char                    words[128] = "auto";

    (void)state;
    for (size_t i = 0; (name = cull_backend_name_at(i)); i++) {
        bool          device = strcmp(name, "cuda") == 0;
        cull_backend *backend = NULL;

        strcat(strcat(words, "|"), name);
        if (device) strcat(words, "[:n]");
        if (device) continue; /* not every machine has one */
        assert_ok(cull_backend_open(name, 1, &backend));
        cull_backend_close(backend);
    }
    assert_string_equal(words, spec->words);
    assert_null(cull_recipe_option("train.backends"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_are_those_that_are_registered),
        cmocka_unit_test(an_empty_recipe_is_all_defaults),
        cmocka_unit_test(values_are_taken_from_mappings_and_dotted_keys),
        cmocka_unit_test(the_text_of_a_recipe_is_the_same_recipe),
        cmocka_unit_test(changes_take_the_place_of_the_file),
        cmocka_unit_test(lists_are_taken_as_the_page_writes_them),
        cmocka_unit_test(wrong_changes_name_the_command_line),
        cmocka_unit_test(wrong_recipes_name_file_and_line),
        cmocka_unit_test(options_of_the_strategy_are_keys),
        cmocka_unit_test(a_stretched_schedule_has_fewer_epochs_at_higher_rates),
        cmocka_unit_test(a_difference_is_named_by_its_key),
        cmocka_unit_test(every_recipe_in_the_tree_is_right),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(reading_all_options_allocates_a_few_times_for_each),
        cmocka_unit_test(reading_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
