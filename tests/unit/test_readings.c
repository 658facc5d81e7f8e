/* test_readings.c - docs/readings.md: what it says a run does, recipes, strategies and entries do.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull_lab.h"
#include "files.h"
#include "lab/recipe/recipe.h"

#define PAGE    CULL_SOURCE_DIR "/docs/readings.md"
#define RECIPES CULL_SOURCE_DIR "/recipes/reproduce"

enum { LINE = 2048, TEXT = 512, COLUMNS = 4 };

static const char *const papers[] = {"Balles et al. 2023", "Jiang et al. 2019",
                                     "Killamsetty et al. 2021"};

enum { PAPERS = sizeof papers / sizeof *papers };

/* A line of a paper's table; "\|" is no border. */
typedef struct reading {
    size_t paper;
    char   text[LINE], *column[COLUMNS]; /* where, what is open, what is done, so */
} reading;

static bool split(reading *r)
{
    char  *at = r->text;
    size_t count = 0;

    if (strncmp(at, "| ", 2) != 0) return false;
    for (at += 2; count < COLUMNS; at += 2) {
        r->column[count++] = at;
        while (*at && !(*at == '|' && at[-1] == ' ')) at++;
        if (!*at) break;
        at[-1] = '\0';
        if (!at[1] || at[1] == '\n') break;
    }
    return count == COLUMNS;
}

static void each_reading(void (*look)(const reading *r, void *context), void *context)
{
    FILE   *file = fopen(PAGE, "r");
    reading r = {.paper = PAPERS};
    bool    table = false;

    assert_non_null(file);
    while (fgets(r.text, sizeof r.text, file)) {
        assert_non_null(strchr(r.text, '\n')); /* none is cut */
        for (size_t i = 0; i < PAPERS; i++)
            if (strncmp(r.text, "## ", 3) == 0 && strstr(r.text, papers[i])) r.paper = i;
        if (r.text[0] != '|') {
            table = false;
            continue;
        }
        if (strncmp(r.text, "|---", 4) == 0) {
            table = true;
            continue;
        }
        if (!table) continue; /* what stands above the columns */
        if (!split(&r)) fail_msg("no line of %d columns: %.100s", COLUMNS, r.text);
        assert_true(r.paper < PAPERS);
        look(&r, context);
    }
    (void)fclose(file);
}

/* ---- every line says something ---- */

static void check_words(const reading *r, void *context)
{
    for (size_t i = 0; i < COLUMNS - 1; i++)
        if (strlen(r->column[i]) < 1) fail_msg("%s: an empty column", r->column[0]);
    if (strlen(r->column[1]) < 8 || strlen(r->column[2]) < 3)
        fail_msg("%s: what is open, or what is done?", r->column[0]);
    ++*((size_t *)context + r->paper);
}

static void every_paper_has_its_readings(void **state)
{
    size_t count[PAPERS] = {0};

    (void)state;
    each_reading(check_words, count);
    for (size_t i = 0; i < PAPERS; i++)
        if (count[i] < 15) fail_msg("%s: %zu lines", papers[i], count[i]);
}

/* ---- what they name holds ---- */

static bool same_value(const char *a, const char *b)
{
    char  *end_a = NULL, *end_b = NULL;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);

    if (strcmp(a, b) == 0) return true;
    return end_a != a && end_b != b && !*end_a && !*end_b && x == y;
}

/* "PAPER/FILE.yaml KEY=VALUE" */
static void check_recipe(const char *file, const char *key, const char *value)
{
    char         path[TEXT];
    const char  *is = NULL;
    cull_recipe *recipe = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", RECIPES, file);
    if (cull_recipe_open(path, NULL, 0, &recipe) != CULL_OK)
        fail_msg("%s: %s", file, cull_last_error());
    is = cull_recipe_value(recipe, key);
    if (!is || !same_value(is, value))
        fail_msg("%s: %s is %s, not %s", file, key, is ? is : "no key", value);
    cull_recipe_close(recipe);
}

/* "STRATEGY OPTION=DEFAULT" */
static void check_strategy(const char *name, const char *option, const char *value)
{
    const cull_strategy    *strategy = cull_strategy_find(name);
    const cull_option_spec *spec = strategy ? cull_strategy_option(strategy, option) : NULL;

    if (!spec) fail_msg("there is no option %s of '%s'", option, name);
    if (!same_value(spec->fallback, value))
        fail_msg("%s: %s is %s, not %s", name, option, spec->fallback, value);
}

static void check_name(char *name)
{
    char *blank = strchr(name, ' '), *equals = blank ? strchr(blank, '=') : NULL;

    if (!blank) {
        if (!cull_reproduction_find(name)) fail_msg("there is no entry '%s'", name);
        return;
    }
    if (!equals) fail_msg("'%s' says nothing", name);
    *blank = *equals = '\0';
    if (strstr(name, ".yaml"))
        check_recipe(name, blank + 1, equals + 1);
    else
        check_strategy(name, blank + 1, equals + 1);
}

static void check_names(const reading *r, void *context)
{
    char  copy[LINE], *at = copy;
    char *end = NULL;

    (void)snprintf(copy, sizeof copy, "%s", r->column[COLUMNS - 1]);
    while ((at = strchr(at, '`'))) {
        end = strchr(at + 1, '`');
        if (!end) fail_msg("%s: a ` too many", r->column[0]);
        *end = '\0';
        check_name(at + 1);
        ++*(size_t *)context;
        at = end + 1;
    }
}

static void what_a_reading_names_is_so(void **state)
{
    size_t names = 0;

    (void)state;
    each_reading(check_names, &names);
    assert_true(names > 90);
}

/* ---- nothing of what is known to be open is left out ---- */

/* Words of one line of a paper. */
typedef struct subject {
    size_t      paper;
    const char *word[3];
    bool        found;
} subject;

static void find_subject(const reading *r, void *context)
{
    for (subject *s = context; s->word[0]; s++) {
        bool all = s->paper == r->paper;

        for (size_t w = 0; w < 3 && s->word[w]; w++)
            all = all && (strstr(r->column[0], s->word[w]) || strstr(r->column[1], s->word[w]) ||
                          strstr(r->column[2], s->word[w]));
        s->found = s->found || all;
    }
}

static void what_is_known_to_be_open_has_a_line(void **state)
{
    subject subjects[] = {
        {0, {"crop", "flip"}, false},
        {1, {"augmentation", "crop", "flip"}, false},
        {2, {"crop", "flip"}, false},
        {1, {"12 hours", "epochs"}, false}, /* run lengths */
        {2, {"κ", "warm share"}, false},    /* and T_s     */
        {2, {"T_s", "T_f"}, false},
        {2, {"first subset"}, false},
        {0, {"α\\|", "signed"}, false},
        {2, {"α\\|"}, false},
        {0, {"original t"}, false},
        {0, {"mean of 1"}, false},
        {2, {"mean of 1"}, false},
        {2, {"λ", "relative", "absolute"}, false},
        {2, {"ε", "absolute", "share"}, false},
        {1, {"WRN-16-8", "dropout .4", "WRN-28-10"}, false},
        {2, {"Figure 4e", "caption", "text"}, false},
        {1, {"1.72 %", "final error", "1.2 times"}, false},
        {1, {"A.3", "60 and 120", "48 and 96"}, false},
        {.word = {NULL}},
    };

    (void)state;
    each_reading(find_subject, subjects);
    for (const subject *s = subjects; s->word[0]; s++)
        if (!s->found) fail_msg("%s: no line about '%s'", papers[s->paper], s->word[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_paper_has_its_readings),
        cmocka_unit_test(what_a_reading_names_is_so),
        cmocka_unit_test(what_is_known_to_be_open_has_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
