/* test_reproduce.c - the papers' figures and tables: all there, and all of them can be run. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull_lab.h"
#include "lab/compare/arms.h"
#include "lab/recipe/recipe.h"
#include "select/select.h"
#include "support.h"

enum { MOST = 32, TEXT = 1024 };

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

static cull_status try_recipe(const cull_reproduction *r, const char *strategy, const char *vary)
{
    struct words w = {0};
    char         path[256], name[128] = "", none[128] = "", keep[16] = "";
    cull_recipe *recipe = NULL;
    cull_status  status = CULL_OK;

    (void)snprintf(path, sizeof path, CULL_SOURCE_DIR "/recipes/reproduce/%s", r->recipe);
    if (r->changes) add_all(&w, "", r->changes, none);
    if (vary) add_all(&w, "", vary, none);
    assert_string_equal(none, "");
    if (strategy) {
        add_all(&w, "select.", strategy, name);
        add(&w, "select.strategy", name);
        if (r->keep && r->kind != CULL_REPRODUCE_COMPARE) {
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

/* "key=a,b" as "key=a" and "key=b"; colons stand for the commas of a list. */
static bool value_of(const char *vary, size_t i, char *out, size_t room)
{
    char value[64];
    int  key = (int)strcspn(vary, "=");

    if (!part(vary + key + 1, i, value, sizeof value)) return false;
    for (char *c = value; *c; c++)
        if (*c == ':') *c = ',';
    (void)snprintf(out, room, "%.*s=%s", key, vary, value);
    return true;
}

static void every_recipe_is_valid_with_every_strategy(void **state)
{
    const cull_reproduction *r = NULL;
    char                     strategy[128], vary[128];

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        if (r->kind == CULL_REPRODUCE_NOT) continue;
        if (try_recipe(r, NULL, NULL) != CULL_OK) fail_msg("%s: %s", r->name, cull_last_error());
        for (size_t s = 0; r->strategies && part(r->strategies, s, strategy, sizeof strategy);
             s++) {
            bool full = strcmp(strategy, "full") == 0;
            if (!full && try_recipe(r, strategy, NULL) != CULL_OK)
                fail_msg("%s: %s: %s", r->name, strategy, cull_last_error());
        }
        for (size_t v = 0; r->vary && value_of(r->vary, v, vary, sizeof vary); v++)
            if (try_recipe(r, NULL, vary) != CULL_OK)
                fail_msg("%s: %s: %s", r->name, vary, cull_last_error());
    }
}

/* As the program hands them to the referee, which takes a share for all strategies alike. */
static void every_comparison_is_one_that_the_referee_takes(void **state)
{
    const cull_reproduction *r = NULL;
    char                     path[256], vary[128], none[128] = "";

    (void)state;
    for (size_t i = 0; (r = cull_reproduction_at(i)); i++) {
        size_t v = 0;

        if (r->kind != CULL_REPRODUCE_COMPARE) continue;
        (void)snprintf(path, sizeof path, CULL_SOURCE_DIR "/recipes/reproduce/%s", r->recipe);
        do {
            struct words  w = {0};
            cull_arms     arms = {0};
            cull_arm_wish wish = {r->strategies, r->keep ? r->keep : "0.3", "separate", true};

            if (r->changes) add_all(&w, "", r->changes, none);
            if (r->vary) {
                assert_true(value_of(r->vary, v, vary, sizeof vary));
                add_all(&w, "", vary, none);
            }
            if (cull_arms_open(&(cull_arm_base){path, w.option, w.count, 1}, &wish, &arms))
                fail_msg("%s: %s", r->name, cull_last_error());
            assert_true(arms.count > 1);
            cull_arms_close(&arms);
        } while (r->vary && value_of(r->vary, ++v, vary, sizeof vary));
    }
}

/* What METHODS lists under "What the papers measured". */
static void every_figure_and_table_is_there(void **state)
{
    static const char *const names[] = {
        "balles2023/fig1",          "balles2023/fig2",       "balles2023/fig3",
        "balles2023/fig4",          "balles2023/fig5",       "balles2023/table1",
        "balles2023/fig1-cifar100", "balles2023/fig1-svhn",  "balles2023/fig1-imagenet32",
        "balles2023/fig1-imdb",     "jiang2019/fig1",        "jiang2019/fig2",
        "jiang2019/fig5",           "jiang2019/fig6",        "jiang2019/fig7",
        "jiang2019/fig8",           "jiang2019/fig9",        "jiang2019/fig10",
        "jiang2019/fig11",          "jiang2019/fig12",       "jiang2019/fig13",
        "jiang2019/fig14",          "jiang2019/fig15",       "jiang2019/fig16",
        "jiang2019/fig17",          "jiang2019/fig18",       "jiang2019/table1",
        "killamsetty2021/fig1",     "killamsetty2021/fig3a", "killamsetty2021/fig3b",
        "killamsetty2021/fig3c",    "killamsetty2021/fig3d", "killamsetty2021/fig3e",
        "killamsetty2021/fig3f",    "killamsetty2021/fig3g", "killamsetty2021/fig3h",
        "killamsetty2021/fig3i",    "killamsetty2021/fig3j", "killamsetty2021/fig3k",
        "killamsetty2021/fig3l",    "killamsetty2021/fig4a", "killamsetty2021/fig4b",
        "killamsetty2021/fig4c",    "killamsetty2021/fig4d", "killamsetty2021/fig4e",
        "killamsetty2021/fig4f",    "killamsetty2021/fig4g", "killamsetty2021/wilcoxon",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!cull_reproduction_find(names[i])) fail_msg("%s is not there", names[i]);
    assert_null(cull_reproduction_find("balles2023/fig6"));
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
        if (!isupper((unsigned char)r->claim[0]) || r->claim[length - 1] != '.')
            fail_msg("%s: the claim is no sentence", r->name);
        if ((r->kind == CULL_REPRODUCE_NOT) != (r->missing != NULL))
            fail_msg("%s: missing or not?", r->name);
        if (r->kind != CULL_REPRODUCE_NOT && (!r->recipe || r->seeds == 0 || r->shows == 0))
            fail_msg("%s: how is it done?", r->name);
        if (r->kind == CULL_REPRODUCE_COMPARE && !r->strategies)
            fail_msg("%s: what is compared?", r->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recipe_is_valid_with_every_strategy),
        cmocka_unit_test(every_comparison_is_one_that_the_referee_takes),
        cmocka_unit_test(every_figure_and_table_is_there),
        cmocka_unit_test(every_entry_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
