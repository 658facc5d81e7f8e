/* test_reproduce.c - the papers' figures and tables: all of the list are there, and all of them can
 * be run. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull_lab.h"
#include "files.h"
#include "lab/compare/arms.h"
#include "lab/recipe/recipe.h"
#include "select/select.h"

#define RECIPES CULL_SOURCE_DIR "/recipes/reproduce"
#define LIST    CULL_SOURCE_DIR "/docs/figures.txt"

enum { MOST = 32, TEXT = 1024 };

static const cull_reproduction_scale whole = {1, 1, 0, 0};

/* Changes to a recipe, one behind the other. */
struct words {
    cull_option option[MOST];
    char        text[TEXT];
    size_t      count, at;
};

static void add(struct words *w, const char *key, const char *value)
{
    size_t room = strlen(key) + strlen(value) + 2;

    assert_true(w->count < MOST && w->at + room <= TEXT);
    (void)snprintf(w->text + w->at, room, "%s%c%s", key, '\0', value);
    w->option[w->count++] = (cull_option){w->text + w->at, w->text + w->at + strlen(key) + 1};
    w->at += room;
}

/* "a=b c=d", each key behind a prefix; words without '=' go into rest. */
static void add_all(struct words *w, const char *prefix, const char *text, char *rest)
{
    char copy[TEXT], key[128], *save = NULL;

    assert_true(strlen(text) < sizeof copy);
    memcpy(copy, text, strlen(text) + 1);
    rest[0] = '\0';
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');

        if (!equals) {
            (void)snprintf(rest + strlen(rest), 64, "%s%s", rest[0] ? " " : "", word);
            continue;
        }
        *equals = '\0';
        (void)snprintf(key, sizeof key, "%s%s", prefix, word);
        add(w, key, equals + 1);
    }
}

static cull_status try_recipe(const cull_reproduction *r, const char *strategy)
{
    struct words w = {0};
    char         path[256], name[128] = "", none[128] = "", keep[16] = "";
    cull_recipe *recipe = NULL;
    cull_status  status = CULL_OK;

    (void)snprintf(path, sizeof path, "%s/%s", RECIPES, r->recipe);
    if (r->changes) add_all(&w, "", r->changes, none);
    assert_string_equal(none, "");
    if (strategy) {
        add_all(&w, "select.", strategy, name);
        add(&w, "select.strategy", name);
        if (r->keep) {
            (void)snprintf(keep, sizeof keep, "%.*s", (int)strcspn(r->keep, ","), r->keep);
            add(&w, "select.keep", keep);
        }
    }
    status = cull_recipe_open(path, w.option, w.count, &recipe);
    cull_recipe_close(recipe);
    return status;
}

/* Part i of a list with commas; false when there are fewer. */
static bool part(const char *list, size_t i, char *out, size_t room)
{
    for (; i > 0; i--) {
        list = strchr(list, ',');
        if (!list) return false;
        list++;
    }
    (void)snprintf(out, room, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

static void every_recipe_is_valid_with_every_strategy(void **state)
{
    const cull_reproduction *r = NULL;
    char                     strategy[128];

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        if (r->kind == CULL_REPRODUCE_NOT || r->kind == CULL_REPRODUCE_TRAIN) continue;
        if (try_recipe(r, NULL) != CULL_OK) fail_msg("%s: %s", r->name, cull_last_error());
        for (size_t s = 0; r->strategies && part(r->strategies, s, strategy, sizeof strategy);
             s++) {
            bool full = strcmp(strategy, "full") == 0;
            if (!full && try_recipe(r, strategy) != CULL_OK)
                fail_msg("%s: %s: %s", r->name, strategy, cull_last_error());
        }
    }
}

/* The whole of a figure, and scaled down as far as it goes. */
static void every_figure_of_runs_has_arms_with_valid_recipes(void **state)
{
    static const cull_reproduction_scale tiny = {.001, .01, 1, 0};
    const cull_reproduction             *r = NULL;
    cull_figure                         *figure = NULL, *small = NULL;
    const cull_figure_arm               *arm = NULL;

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        size_t full = 0, arms = 0;

        if (r->kind != CULL_REPRODUCE_TRAIN) continue;
        if (cull_figure_open(r, &whole, RECIPES, "root", &figure))
            fail_msg("%s: %s", r->name, cull_last_error());
        if (cull_figure_open(r, &tiny, RECIPES, "root", &small))
            fail_msg("%s: %s", r->name, cull_last_error());
        for (; (arm = cull_figure_arm_at(figure, arms)); arms++) {
            assert_true(!arm->full || arms == full); /* full training first */
            full += arm->full;
            assert_true(arm->full == (strcmp(arm->series, "full") == 0));
            for (size_t k = 0; k < arms; k++)
                if (strcmp(cull_figure_arm_at(figure, k)->folder, arm->folder) == 0)
                    fail_msg("%s: %s twice", r->name, arm->folder);
        }
        if (full == 0 || arms == full) fail_msg("%s: %zu arms, %zu full", r->name, arms, full);
        assert_int_equal(r->seeds, cull_figure_seeds(figure));
        assert_int_equal(1, cull_figure_seeds(small));
        cull_figure_close(figure);
        cull_figure_close(small);
    }
}

static bool has_folder(const cull_figure *figure, const char *folder)
{
    const cull_figure_arm *arm = NULL;

    for (size_t i = 0; (arm = cull_figure_arm_at(figure, i)); i++)
        if (strcmp(arm->folder, folder) == 0) return true;
    return false;
}

/* Every run of the first is one of the second. */
static bool is_part_of(const char *one, const char *all)
{
    cull_figure           *a = NULL, *b = NULL;
    const cull_figure_arm *arm = NULL;
    bool                   whole_of_it = true;

    assert_ok(cull_figure_open(cull_reproduction_find(one), &whole, RECIPES, "r", &a));
    assert_ok(cull_figure_open(cull_reproduction_find(all), &whole, RECIPES, "r", &b));
    for (size_t i = 0; (arm = cull_figure_arm_at(a, i)); i++)
        whole_of_it = whole_of_it && has_folder(b, arm->folder);
    cull_figure_close(a);
    cull_figure_close(b);
    return whole_of_it;
}

static void figures_of_the_same_runs_have_the_same_folders(void **state)
{
    static const char *const pairs[][2] = {
        {"jiang2019/fig7", "jiang2019/fig6"},
        {"jiang2019/fig10", "jiang2019/fig6"},
        {"jiang2019/table1", "jiang2019/fig6"},
        {"jiang2019/fig1", "jiang2019/fig6-svhn"},
        {"jiang2019/fig6", "jiang2019/fig14"},
        {"jiang2019/fig17", "jiang2019/fig14"},
        {"killamsetty2021/fig3h", "killamsetty2021/fig3a"},
        {"killamsetty2021/fig3i", "killamsetty2021/fig3c"},
        {"killamsetty2021/fig3j", "killamsetty2021/fig3a"},
        {"killamsetty2021/fig1", "killamsetty2021/fig3c"},
        {"killamsetty2021/fig4d", "killamsetty2021/fig3a"},
        {"killamsetty2021/fig4c", "killamsetty2021/fig3a"},
        {"killamsetty2021/wilcoxon", "killamsetty2021/fig3c"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!is_part_of(pairs[i][0], pairs[i][1]))
            fail_msg("%s is no part of %s", pairs[i][0], pairs[i][1]);
    assert_false(is_part_of("jiang2019/fig6", "jiang2019/fig17"));
    assert_false(is_part_of("balles2023/fig1", "balles2023/fig2"));
}

static size_t count_full(const char *name)
{
    cull_figure           *figure = NULL;
    const cull_figure_arm *arm = NULL;
    size_t                 full = 0;

    assert_ok(cull_figure_open(cull_reproduction_find(name), &whole, RECIPES, "r", &figure));
    for (size_t i = 0; (arm = cull_figure_arm_at(figure, i)); i++) full += arm->full;
    cull_figure_close(figure);
    return full;
}

/* What varies is a strategy's, or lasts longer than full training, which then is there once. */
static void a_sweep_is_held_against_one_full_run_where_one_is_enough(void **state)
{
    (void)state;
    assert_int_equal(1, count_full("killamsetty2021/fig3k"));
    assert_int_equal(3, count_full("killamsetty2021/fig3l"));
    assert_int_equal(1, count_full("killamsetty2021/fig4g"));
    assert_int_equal(1, count_full("killamsetty2021/fig4f"));
    assert_int_equal(3, count_full("jiang2019/fig12"));
    assert_int_equal(2, count_full("jiang2019/fig14"));
}

static void a_scale_changes_epochs_milestones_and_periods(void **state)
{
    static const cull_reproduction_scale tenth = {.1, .5, 2, 0};
    cull_figure                         *figure = NULL;
    const cull_figure_arm               *arm = NULL;

    (void)state;
    assert_ok(
        cull_figure_open(cull_reproduction_find("jiang2019/fig17"), &tenth, RECIPES, "r", &figure));
    arm = cull_figure_arm_at(figure, 0);
    assert_string_equal("20", cull_recipe_value(arm->recipe, "train.epochs"));
    assert_string_equal("4.8,9.6,12.8", cull_recipe_value(arm->recipe, "schedule.milestones"));
    assert_string_equal("0.5", cull_recipe_value(arm->recipe, "data.subset"));
    cull_figure_close(figure);
    assert_ok(cull_figure_open(cull_reproduction_find("killamsetty2021/fig3k"), &tenth, RECIPES,
                               "r", &figure));
    arm = cull_figure_arm_at(figure, 3);
    assert_string_equal("35", cull_recipe_value(arm->recipe, "train.epochs"));
    assert_string_equal("2", cull_recipe_value(arm->recipe, "select.period"));
    assert_string_equal("350", arm->value);
    assert_true(arm->x == 350);
    cull_figure_close(figure);
}

/* Another seed is another folder of the same arm, and nothing else of the recipe. */
static void seeds_differ_in_their_seed_alone(void **state)
{
    cull_figure *figure = NULL;
    cull_recipe *recipe = NULL;
    char         folder[CULL_DATA_PATH];

    (void)state;
    assert_ok(
        cull_figure_open(cull_reproduction_find("balles2023/fig1"), &whole, RECIPES, "r", &figure));
    assert_ok(cull_figure_run(figure, 2, 3, &recipe, folder));
    assert_string_equal("train.seed",
                        cull_recipe_difference(recipe, cull_figure_arm_at(figure, 2)->recipe));
    assert_non_null(strstr(folder, "/seed-3"));
    cull_recipe_close(recipe);
    assert_fails(CULL_BAD_ARGUMENT, "no such run", cull_figure_run(figure, 2, 4, &recipe, folder));
    cull_figure_close(figure);
}

/* ---- what a figure takes ---- */

/* Costs of every set-up of a figure, as if measured on a part of its training set: a hundredth of a
 * second a step of 100. */
static size_t make_costs(const cull_figure *figure, double subset, size_t test,
                         cull_figure_costs costs[MOST])
{
    const cull_recipe *recipe = NULL;
    size_t             count = 0;

    for (; cull_figure_setup(figure, count, costs[count].setup, &recipe); count++) {
        assert_true(count < MOST - 1);
        costs[count].subset = subset;
        costs[count].is = (cull_measured){.pool = (size_t)(50000 * subset),
                                          .test = test,
                                          .classes = 10,
                                          .parameters = 1000,
                                          .learn = .01,
                                          .trained = 100,
                                          .scored = 100};
    }
    return count;
}

/* Seconds of an arm of an entry at a scale. */
static double price_of(const char *name, const cull_reproduction_scale *scale, size_t arm,
                       double measured, size_t test)
{
    cull_figure_costs costs[MOST];
    cull_figure      *figure = NULL;
    double            seconds = NAN;
    size_t            count = 0;

    assert_ok(cull_figure_open(cull_reproduction_find(name), scale, RECIPES, "r", &figure));
    count = make_costs(figure, measured, test, costs);
    assert_ok(cull_figure_price(figure, arm, costs, count, &seconds));
    cull_figure_close(figure);
    return seconds;
}

static void assert_near(double wanted, double got, double share)
{
    if (!(fabs(got - wanted) <= share * fabs(wanted))) fail_msg("%g, not %g", got, wanted);
}

static void hours_go_by_the_examples_that_are_there(void **state)
{
    static const cull_reproduction_scale tenth = {1, .1, 0, 0}, brief = {.1, 1, 0, 0};
    double                               all = price_of("jiang2019/fig6", &whole, 0, 1, 0);

    (void)state;
    assert_near(200 * 50000 * 1e-4, all, .01);
    assert_near(all / 10, price_of("jiang2019/fig6", &tenth, 0, 1, 0), .01);
    assert_near(all / 10, price_of("jiang2019/fig6", &brief, 0, 1, 0), .01);
    /* wherever it was measured */
    assert_near(all, price_of("jiang2019/fig6", &whole, 0, .1, 0), .01);
    assert_near(all / 10, price_of("jiang2019/fig6", &tenth, 0, .1, 0), .01);
    /* evaluation is no cost, and takes time */
    assert_near(all + 200 * 10000 * 1e-4 / 3, price_of("jiang2019/fig6", &whole, 0, 1, 10000), .01);
}

/* Looks at a run, minibatches of a probe, and steps that are timed, too. */
static void what_is_not_only_trained_takes_its_time(void **state)
{
    static const cull_reproduction_scale few = {1, 1, 0, 20};

    double each = 1e-4, epoch = 50000 * each, batch = 128 * each;
    double probed = 1 + 3 * (.9 + 3);

    (void)state;
    assert_near(100 * epoch * 4 / 3, price_of("jiang2019/fig15", &whole, 0, 1, 0), .01);
    assert_near(100 * (2 * epoch + 20 * batch * probed),
                price_of("jiang2019/fig5", &whole, 0, 1, 0), .01);
    assert_near(10 * epoch + 11 * 10000 * each / 3, price_of("jiang2019/fig8", &whole, 0, 1, 10000),
                .01);
    /* its batch is that of the measurement, 100 */
    assert_near(epoch + 200 * 100 * each * probed,
                price_of("balles2023/fig3-resnet18", &whole, 0, 1, 0), .01);
    assert_near(epoch + 20 * 100 * each * probed,
                price_of("balles2023/fig3-resnet18", &few, 0, 1, 0), .01);
    assert_near(6 * 5, price_of("balles2023/table1", &whole, 0, 1, 0), .01);
}

static void whatever_is_built_has_its_hours(void **state)
{
    static const cull_reproduction_scale brief = {.02, 1, 0, 0};
    const cull_reproduction             *r = NULL;

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        cull_figure_costs costs[MOST];
        cull_figure      *figure = NULL;
        size_t            count = 0;

        if (r->kind == CULL_REPRODUCE_NOT) continue;
        assert_ok(cull_figure_open(r, &brief, RECIPES, "r", &figure));
        count = make_costs(figure, 1, 10000, costs);
        for (size_t arm = 0; cull_figure_arm_at(figure, arm); arm++) {
            double seconds = NAN;

            assert_ok(cull_figure_price(figure, arm, costs, count, &seconds));
            if (!(seconds > 0)) fail_msg("%s: arm %zu takes %g s", r->name, arm, seconds);
        }
        cull_figure_close(figure);
    }
}

/* Where gradients are looked at, one run is enough; where exponents are, too. */
static void what_is_looked_at_is_as_many_runs_as_the_program_makes(void **state)
{
    static const struct {
        const char *name;
        size_t      arms, full;
    } cases[] = {{"jiang2019/fig2", 1, 0},  {"jiang2019/fig4", 1, 0}, {"jiang2019/fig5", 1, 1},
                 {"jiang2019/fig15", 2, 1}, {"jiang2019/fig8", 2, 1}, {"jiang2019/fig18", 3, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_figure           *figure = NULL;
        const cull_figure_arm *arm = NULL;
        size_t                 arms = 0, full = 0;

        assert_ok(
            cull_figure_open(cull_reproduction_find(cases[i].name), &whole, RECIPES, "r", &figure));
        for (; (arm = cull_figure_arm_at(figure, arms)); arms++) full += arm->full;
        assert_int_equal(cases[i].arms, arms);
        assert_int_equal(cases[i].full, full);
        cull_figure_close(figure);
    }
    assert_fails(CULL_BAD_ARGUMENT, "is not built",
                 cull_figure_open(cull_reproduction_find("killamsetty2021/fig3e"), &whole, RECIPES,
                                  "r", &(cull_figure *){NULL}));
}

static void a_figure_survives_failing_allocations(void **state)
{
    cull_figure *figure = NULL;
    cull_status  status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_figure_open(cull_reproduction_find("jiang2019/fig12"), &whole, RECIPES, "r",
                                  &figure);
        fail_nth_alloc(0);
        if (status != CULL_OK) assert_int_equal(CULL_NO_MEMORY, status);
    }
    cull_figure_close(figure);
}

/* The strategies with what varies, as the program hands them to the referee. */
static void write_strategies(const cull_reproduction *r, const char *vary, char out[TEXT])
{
    size_t own = strlen("select.");
    bool   varies = vary && strncmp(vary, "select.", own) == 0;
    char   strategy[128];

    out[0] = '\0';
    for (size_t s = 0; part(r->strategies, s, strategy, sizeof strategy); s++)
        (void)snprintf(out + strlen(out), TEXT - strlen(out), "%s%s%s%s", s ? "," : "", strategy,
                       varies ? " " : "", varies ? vary + own : "");
}

static void every_comparison_is_one_that_the_referee_takes(void **state)
{
    const cull_reproduction *r = NULL;
    char                     path[256], value[64], vary[160], none[128] = "", strategies[TEXT];

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        size_t v = 0;

        if (r->kind != CULL_REPRODUCE_TRAIN) continue;
        (void)snprintf(path, sizeof path, "%s/%s", RECIPES, r->recipe);
        do {
            struct words  w = {0};
            cull_arms     arms = {0};
            cull_arm_wish wish = {strategies, r->keep ? r->keep : "0.3", "separate", true};

            if (r->changes) add_all(&w, "", r->changes, none);
            vary[0] = '\0';
            if (r->vary && part(strchr(r->vary, '=') + 1, v, value, sizeof value)) {
                (void)snprintf(vary, sizeof vary, "%.*s=%s", (int)strcspn(r->vary, "="), r->vary,
                               value);
                for (char *c = vary; *c; c++)
                    if (*c == '+') *c = ',';
                if (strncmp(vary, "select.", strlen("select.")) != 0) add_all(&w, "", vary, none);
            }
            write_strategies(r, vary, strategies);
            if (cull_arms_open(&(cull_arm_base){path, w.option, w.count, 1}, &wish, &arms))
                fail_msg("%s: %s", r->name, cull_last_error());
            assert_true(arms.count > 1);
            cull_arms_close(&arms);
            v++;
        } while (r->vary && part(strchr(r->vary, '=') + 1, v, value, sizeof value));
    }
}

/* ---- claims ---- */

static bool has_series(const cull_figure *figure, const char *series, const char *at, bool group)
{
    const cull_figure_arm *arm = NULL;
    char                   keep[24];

    for (size_t i = 0; (arm = cull_figure_arm_at(figure, i)); i++) {
        (void)snprintf(keep, sizeof keep, "%g", arm->keep);
        if (strcmp(group ? arm->group : arm->series, series) == 0 &&
            (!at || strcmp(at, arm->value) == 0 || strcmp(at, keep) == 0))
            return true;
    }
    return false;
}

static void check_sides(const cull_reproduction *r, const cull_figure *figure,
                        const cull_claim *rule)
{
    char        right[128];
    const char *at = NULL;

    if (!has_series(figure, rule->left, rule->at, rule->of == CULL_CLAIM_FRONT))
        fail_msg("%s: nobody is called '%s' at %s", r->name, rule->left, rule->at);
    if (!rule->right || strcmp(rule->right, "full-earlystop") == 0) return;
    (void)snprintf(right, sizeof right, "%.*s", (int)strcspn(rule->right, "@"), rule->right);
    at = strchr(rule->right, '@');
    if (!has_series(figure, right, at ? at + 1 : NULL, false))
        fail_msg("%s: nobody is called '%s'", r->name, rule->right);
}

static void every_claim_is_about_what_its_figure_has(void **state)
{
    const cull_reproduction *r = NULL;

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        cull_figure *figure = NULL;

        if (r->kind == CULL_REPRODUCE_NOT) continue;
        if (r->rule[0].of == CULL_CLAIM_NONE && r->look != CULL_LOOK_EXAMPLES)
            fail_msg("%s: nothing judges its claim", r->name);
        if (r->kind == CULL_REPRODUCE_TRAIN)
            assert_ok(cull_figure_open(r, &whole, RECIPES, "r", &figure));
        for (size_t k = 0; k < CULL_CLAIMS && r->rule[k].of != CULL_CLAIM_NONE; k++) {
            const cull_claim *rule = &r->rule[k];
            bool              own = rule->of == CULL_CLAIM_POINTS || rule->of == CULL_CLAIM_BARS ||
                       rule->of == CULL_CLAIM_WINS;

            assert_true(own == (r->kind != CULL_REPRODUCE_TRAIN));
            if (rule->of == CULL_CLAIM_SOONER || rule->of == CULL_CLAIM_UPDATES ||
                rule->of == CULL_CLAIM_TRAINED)
                assert_true(rule->target >= 1);
            if (figure) check_sides(r, figure, rule);
        }
        cull_figure_close(figure);
    }
}

/* ---- the list ---- */

/* "balles2023 | Figure 1 | words | name name"; the last may be "not: a sentence." */
static void split(char *line, char *field[4])
{
    for (int i = 0; i < 4; i++) {
        char *bar = strstr(line, " | ");

        field[i] = line;
        if (i == 3) break;
        assert_non_null(bar);
        *bar = '\0';
        line = bar + 3;
    }
    line[strcspn(line, "\n")] = '\0';
}

static void each_line(void (*look)(char *field[4]))
{
    FILE  *file = fopen(LIST, "r");
    char   line[1024];
    size_t lines = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *field[4];

        if (line[0] == '#' || line[0] == '\n') continue;
        split(line, field);
        look(field);
        lines++;
    }
    (void)fclose(file);
    assert_true(lines > 60);
}

static void check_line(char *field[4])
{
    char *save = NULL;

    if (strncmp(field[3], "not: ", strlen("not: ")) == 0) {
        assert_int_equal('.', field[3][strlen(field[3]) - 1]);
        return;
    }
    for (char *word = strtok_r(field[3], " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        const cull_reproduction *r = NULL;
        char                     name[128];

        (void)snprintf(name, sizeof name, "%s/%s", field[0], word);
        r = cull_reproduction_find(name);
        if (!r) fail_msg("%s, %s: there is no %s", field[0], field[1], name);
        /* "Figure 3a" and "Figure 3" are told apart by the list alone */
        if (strncmp(r->number, field[1], strlen(r->number)) != 0)
            fail_msg("%s is called %s, in the list %s", name, r->number, field[1]);
    }
}

static void every_figure_and_table_of_the_list_has_an_entry_or_a_reason(void **state)
{
    (void)state;
    each_line(check_line);
}

static const char *wanted;
static bool        is_listed;

static void look_for(char *field[4])
{
    char *save = NULL, name[128];

    for (char *word = strtok_r(field[3], " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        (void)snprintf(name, sizeof name, "%s/%s", field[0], word);
        is_listed = is_listed || strcmp(name, wanted) == 0;
    }
}

static void every_entry_is_on_the_list(void **state)
{
    const cull_reproduction *r = NULL;

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        wanted = r->name;
        is_listed = false;
        each_line(look_for);
        if (!is_listed) fail_msg("%s is not on the list", r->name);
    }
}

/* ---- the papers themselves, where they are ---- */

static struct {
    char   paper[32], number[24];
    size_t words;
} numbers[128];
static size_t number_count;

static void take_number(char *field[4])
{
    (void)snprintf(numbers[number_count].paper, sizeof numbers->paper, "%s", field[0]);
    (void)snprintf(numbers[number_count++].number, sizeof numbers->number, "%.23s", field[1]);
}

static bool has_number(const char *paper, const char *kind, long number)
{
    char name[48];

    for (size_t i = 0; i < number_count; i++) {
        size_t length = (size_t)snprintf(name, sizeof name, "%s %ld", kind, number);

        if (strcmp(numbers[i].paper, paper) == 0 && strncmp(numbers[i].number, name, length) == 0 &&
            !isdigit((unsigned char)numbers[i].number[length]))
            return true;
    }
    return false;
}

/* "Figure 3a" of the list, or "Figure 3" for all of its parts. */
static bool has_part(const char *paper, long number, char letter)
{
    char part[24], all[24];

    (void)snprintf(part, sizeof part, "Figure %ld%c", number, letter);
    (void)snprintf(all, sizeof all, "Figure %ld", number);
    for (size_t i = 0; i < number_count; i++)
        if (strcmp(numbers[i].paper, paper) == 0 &&
            (strcmp(numbers[i].number, part) == 0 || strcmp(numbers[i].number, all) == 0))
            return true;
    return false;
}

/* "Figures 3a,3b", "Fig. 5b", "Figure.3l": what sentences cite. Returns how many. */
static size_t check_citations(const char *paper, const char *line)
{
    size_t found = 0;

    for (const char *at = strstr(line, "Fig"); at; at = strstr(at, "Fig")) {
        bool more = true;

        at += strlen("Fig");
        at += strspn(at, "ures");
        at += strspn(at, ". ");
        while (more && isdigit((unsigned char)*at)) {
            char *end = NULL;
            long  number = strtol(at, &end, 10);
            bool  letter = islower((unsigned char)*end) && !isalnum((unsigned char)end[1]);

            if (letter ? !has_part(paper, number, *end) : !has_number(paper, "Figure", number))
                fail_msg("%s: Figure %ld%.1s is cited and not on the list", paper, number,
                         letter ? end : "");
            found++;
            at = end + letter;
            more = *at == ',' && isdigit((unsigned char)at[1 + strspn(at + 1, " ")]);
            if (more) at += 1 + strspn(at + 1, " ");
        }
    }
    return found;
}

/* Captions: "Figure 7:", "Figure 3. ", "Table 1:" at the beginning of a line. */
static void check_paper(const char *folder, const char *file, size_t least, size_t citations)
{
    static const char *const kinds[] = {"Figure", "Table"};
    char                     path[512], paper[32], line[4096];
    FILE                    *text = NULL;
    size_t                   found = 0, cited = 0;

    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    (void)snprintf(paper, sizeof paper, "%.*s", (int)strcspn(file, "-"), file);
    text = fopen(path, "r");
    assert_non_null(text);
    while (fgets(line, sizeof line, text)) {
        const char *at = line + strspn(line, " \f");

        cited += check_citations(paper, line);
        for (int k = 0; k < 2; k++) {
            char *end = NULL;
            long  number = 0;

            if (strncmp(at, kinds[k], strlen(kinds[k])) != 0) continue;
            number = strtol(at + strlen(kinds[k]), &end, 10);
            if (number < 1 || (*end != ':' && *end != '.')) continue;
            found++;
            if (!has_number(paper, kinds[k], number))
                fail_msg("%s: %s %ld is not on the list", file, kinds[k], number);
        }
    }
    (void)fclose(text);
    assert_true(found >= least && cited >= citations);
}

static void the_list_has_what_the_papers_caption_and_cite(void **state)
{
    static const struct {
        const char *file;
        size_t      least, citations;
    } files[] = {{"balles2023-negative-result.md", 5, 8},
                 {"jiang2019-selective-backprop.txt", 12, 30},
                 {"killamsetty2021-grad-match.txt", 4, 20}};
    const char *folder = getenv("CULL_PAPERS");

    (void)state;
    if (!folder) {
        print_message("CULL_PAPERS names no folder of papers: the list is not held against them\n");
        skip();
        return;
    }
    number_count = 0;
    each_line(take_number);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_paper(folder, files[i].file, files[i].least, files[i].citations);
}

static void every_entry_says_what_it_is(void **state)
{
    const cull_reproduction *r = NULL, *other = NULL;

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        size_t length = strlen(r->claim);

        for (size_t j = 0; j < i; j++) {
            other = cull_reproduction_at(j);
            if (strcmp(r->name, other->name) == 0) fail_msg("%s is there twice", r->name);
        }
        if (strlen(r->title) > 80 || strlen(r->name) > 40) fail_msg("%s is too long", r->name);
        if (!r->number) fail_msg("%s has no number", r->name);
        if (!isupper((unsigned char)r->claim[0]) || r->claim[length - 1] != '.')
            fail_msg("%s: the claim is no sentence", r->name);
        if ((r->kind == CULL_REPRODUCE_NOT) != (r->missing != NULL))
            fail_msg("%s: missing or not?", r->name);
        if ((r->kind == CULL_REPRODUCE_WATCH) != (r->look != CULL_LOOK_NOT))
            fail_msg("%s: looked at or not?", r->name);
        if (r->kind != CULL_REPRODUCE_NOT && (!r->recipe || r->seeds == 0))
            fail_msg("%s: how is it done?", r->name);
        if (r->kind == CULL_REPRODUCE_TRAIN && !r->strategies)
            fail_msg("%s: what is compared?", r->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recipe_is_valid_with_every_strategy),
        cmocka_unit_test(every_figure_of_runs_has_arms_with_valid_recipes),
        cmocka_unit_test(figures_of_the_same_runs_have_the_same_folders),
        cmocka_unit_test(a_sweep_is_held_against_one_full_run_where_one_is_enough),
        cmocka_unit_test(a_scale_changes_epochs_milestones_and_periods),
        cmocka_unit_test(seeds_differ_in_their_seed_alone),
        cmocka_unit_test(hours_go_by_the_examples_that_are_there),
        cmocka_unit_test(what_is_not_only_trained_takes_its_time),
        cmocka_unit_test(whatever_is_built_has_its_hours),
        cmocka_unit_test(what_is_looked_at_is_as_many_runs_as_the_program_makes),
        cmocka_unit_test(a_figure_survives_failing_allocations),
        cmocka_unit_test(every_comparison_is_one_that_the_referee_takes),
        cmocka_unit_test(every_claim_is_about_what_its_figure_has),
        cmocka_unit_test(every_figure_and_table_of_the_list_has_an_entry_or_a_reason),
        cmocka_unit_test(every_entry_is_on_the_list),
        cmocka_unit_test(the_list_has_what_the_papers_caption_and_cite),
        cmocka_unit_test(every_entry_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
