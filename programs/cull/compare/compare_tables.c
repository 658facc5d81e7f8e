/* compare_tables.c - a comparison's plan and result on a terminal of 80 columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/compare_parts.h"

enum { NAME = 34, WIDE = 78 };

#define BUSY .2 /* share of the time that others had */

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* A number of `digits` behind the point, or a dash. */
static void put(double value, int width, int digits, const char *sign)
{
    char form[16];

    if (!isfinite(value)) {
        (void)printf(" %*s", width, "-");
        return;
    }
    (void)snprintf(form, sizeof form, " %%%s%d.%df", sign, width, digits);
    (void)printf(form, value);
}

static json_t *parse(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

void compare_clock(double seconds, char *out, size_t room)
{
    if (seconds < 90)
        (void)snprintf(out, room, "%.0f second%s", fmax(1, seconds), seconds < 1.5 ? "" : "s");
    else if (seconds < 5400)
        (void)snprintf(out, room, "%.0f minutes", seconds / 60);
    else
        (void)snprintf(out, room, "%.1f hours", seconds / 3600);
}

static void print_total(const json_t *plan)
{
    char   time[40];
    double bytes = number(plan, "bytes");

    compare_clock(number(plan, "seconds"), time, sizeof time);
    (void)printf("%.0f runs, %.0f at a time on %.0f thread%s each: about %s, %.0f %s on disk\n",
                 number(plan, "runs"), number(plan, "jobs"), number(plan, "threads"),
                 number(plan, "threads") > 1 ? "s" : "", time,
                 bytes < 1e9 ? fmax(1, bytes / 1e6) : bytes / 1e9, bytes < 1e9 ? "MB" : "GB");
}

/* Words of at most WIDE columns a line. */
static void wrap(const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");

        if (column && column + 1 + length > WIDE) {
            (void)putchar('\n');
            column = 0;
        }
        (void)printf("%s%.*s", column ? " " : "", (int)length, text);
        column += length + (column > 0);
        text += length;
        while (*text == ' ') text++;
    }
    (void)putchar('\n');
}

/* Names that are too long have a line of their own. */
static void put_name(const char *name)
{
    if (strlen(name) <= NAME)
        (void)printf("%-*s", NAME, name);
    else
        (void)printf("%s\n%*s", name, NAME, "");
}

/* "what: a, b" of all arms that are so. */
static void print_arms(const json_t *arms, bool (*are)(const json_t *), const char *what)
{
    size_t        i = 0, length = 0;
    const json_t *arm = NULL;
    char          text[4096];

    json_array_foreach(arms, i, arm)
    {
        if (strcmp(word(arm, "role"), "arm") != 0 || !are(arm) || length >= sizeof text) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                   length ? ", " : what, word(arm, "name"));
    }
    if (length) wrap(text);
}

static bool is_guess(const json_t *arm)
{
    return json_is_true(json_object_get(arm, "guess"));
}

static bool is_dear(const json_t *arm)
{
    return number(arm, "cost") >= 1 && !is_guess(arm) &&
           !json_is_true(json_object_get(arm, "uniform"));
}

static void print_problems(const json_t *from)
{
    size_t        i = 0;
    const json_t *problem = NULL;

    json_array_foreach(json_object_get(from, "problems"), i, problem)(void)
        printf("problem: %s\n", json_string_value(problem));
}

int compare_print_plan(const cull_comparison *comparison, bool whole)
{
    json_t       *plan = parse(cull_comparison_plan(comparison));
    size_t        i = 0;
    const json_t *arm = NULL;

    if (!plan) return complain(END_FAILED, "Give fewer strategies.", "no memory for the plan");
    (void)printf("%s\n", word(plan, "title"));
    if (whole) {
        (void)printf("\n%-*s %-13s %6s %7s %5s\n", NAME, "", "", "cost", "counted", "runs");
        json_array_foreach(json_object_get(plan, "arms"), i, arm)
        {
            put_name(word(arm, "name"));
            (void)printf(" %-13s", word(arm, "role"));
            put(number(arm, "cost"), 6, 3, "");
            put(number(arm, "counted"), 7, 3, "");
            (void)printf(" %5.0f\n", number(arm, "runs"));
        }
        (void)puts("\ncost: share of full training's time, by the table measured just now;\n"
                   "counted: its share of counted work, forward 1/3 and backward 2/3\n");
    }
    print_arms(json_object_get(plan, "arms"), is_dear,
               "Costs no less than full training, and is held against that: ");
    print_arms(json_object_get(plan, "arms"), is_guess,
               "Cost is a guess, since the rule decides how many it keeps; controls are made when "
               "its runs are done, for what they took: ");
    print_problems(plan);
    print_total(plan);
    if (number(plan, "waited") > BUSY)
        (void)printf(
            "Other programs had %.0f %% of the time while costs were measured, which makes "
            "them\nless exact, and the time to come longer.\n",
            100 * number(plan, "waited"));
    json_decref(plan);
    return end_output(END_WELL);
}

static const json_t *primary(const json_t *arm)
{
    size_t        i = 0;
    const json_t *versus = NULL;

    json_array_foreach(json_object_get(arm, "versus"), i, versus)
    {
        if (strcmp(word(versus, "kind"), "whole-budget") == 0) return versus;
    }
    return NULL;
}

static void print_arm(const json_t *arm)
{
    const json_t *versus = primary(arm);
    double        more = number(versus, "more_seeds");

    put_name(word(arm, "name"));
    put(number(arm, "cost"), 6, 3, "");
    put(number(arm, "mean"), 7, 2, "");
    put(number(arm, "sd"), 5, 2, "");
    put(number(versus, "difference"), 6, 2, "+");
    if (word(arm, "verdict")[0]) (void)printf(" %s", word(arm, "verdict"));
    if (isfinite(more)) (void)printf(" +%.0f", more);
    (void)putchar('\n');
}

int compare_print_result(const cull_comparison *comparison)
{
    json_t       *result = parse(cull_comparison_text(comparison));
    size_t        i = 0;
    const json_t *arm = NULL;

    if (!result) return complain(END_FAILED, "Give fewer strategies.", "no memory for the result");
    (void)printf("\n%-*s %6s %7s %5s %6s %s\n", NAME, "", "cost", "mean %", "sd", "diff",
                 "against uniform");
    json_array_foreach(json_object_get(result, "arms"), i, arm) print_arm(arm);
    (void)puts("\ncost: share of full training's time; diff: points over uniform choice with the\n"
               "same budget; +n: about n more seeds needed");
    print_arms(json_object_get(result, "arms"), is_dear,
               "Costs no less than full training, and is held against that: ");
    print_problems(result);
    (void)putchar('\n');
    wrap(word(result, "verdict"));
    json_decref(result);
    return end_output(END_WELL);
}
