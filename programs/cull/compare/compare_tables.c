/* compare_tables.c - a comparison's plan and result on a terminal of 80 columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/compare_parts.h"

enum { NAME = 34, WIDE = 78 };

#define BUSY .2 /* share of the time that others had */

void compare_put(double value, int width, int digits, const char *sign)
{
    char form[16];

    if (!isfinite(value)) {
        (void)printf(" %*s", width, "-");
        return;
    }
    (void)snprintf(form, sizeof form, " %%%s%d.%df", sign, width, digits);
    (void)printf(form, value);
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

static void print_total(const cull_compare_outlook *all)
{
    char time[40];

    compare_clock(all->seconds, time, sizeof time);
    (void)printf("%zu runs, %u at a time on %u thread%s each: about %s, %.0f %s on disk\n",
                 all->runs, all->jobs, all->threads, all->threads > 1 ? "s" : "", time,
                 all->bytes < 1e9 ? fmax(1, all->bytes / 1e6) : all->bytes / 1e9,
                 all->bytes < 1e9 ? "MB" : "GB");
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

void compare_put_name(const char *name, int width)
{
    if (strlen(name) <= (size_t)width)
        (void)printf("%-*s", width, name);
    else
        (void)printf("%s\n%*s", name, width, "");
}

/* "what: a, b" of all arms that are guesses; or that cost no less than full training. */
static void print_arms(const cull_comparison *c, bool guesses, const char *what)
{
    size_t           length = 0;
    cull_compare_arm arm = {0};
    char             text[4096];

    for (size_t i = 0; cull_comparison_arm(c, i, &arm) && length < sizeof text; i++) {
        bool dear = arm.cost >= 1 && !arm.guess && !arm.uniform;

        if (strcmp(arm.role, "arm") == 0 && (guesses ? arm.guess : dear))
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       length ? ", " : what, arm.name);
    }
    if (length) wrap(text);
}

static void print_dear(const cull_comparison *c)
{
    print_arms(c, false, "Costs no less than full training, and is held against that: ");
}

static void print_problems(const cull_comparison *c)
{
    const char *problem = NULL;

    for (size_t i = 0; (problem = cull_comparison_problem(c, i)); i++)
        (void)printf("problem: %s\n", problem);
}

static void print_planned(const cull_comparison *c)
{
    cull_compare_arm arm = {0};

    (void)printf("\n%-*s %-13s %6s %7s %5s\n", NAME, "", "", "cost", "counted", "runs");
    for (size_t i = 0; cull_comparison_arm(c, i, &arm); i++) {
        compare_put_name(arm.name, NAME);
        (void)printf(" %-13s", arm.role);
        compare_put(arm.cost, 6, 3, "");
        compare_put(arm.counted, 7, 3, "");
        (void)printf(" %5zu\n", arm.runs);
    }
    (void)puts("\ncost: share of full training's time, by the table measured just now;\n"
               "counted: its share of counted work, forward 1/3 and backward 2/3\n");
}

int compare_print_plan(const cull_comparison *c, bool whole)
{
    cull_compare_outlook all = {0};

    (void)cull_comparison_outlook(c, &all);
    (void)printf("%s\n", all.title);
    if (whole) print_planned(c);
    if (all.tokens > 0)
        (void)printf("Work is counted and matched in tokens, padding included: an example is %.0f "
                     "of them.\n",
                     all.tokens);
    print_dear(c);
    print_arms(c, true,
               "Cost is a guess, since the rule decides how many it keeps; controls are made when "
               "its runs are done, for what they took: ");
    print_problems(c);
    print_total(&all);
    if (all.waited > BUSY)
        (void)printf(
            "Other programs had %.0f %% of the time while costs were measured, which makes "
            "them\nless exact, and the time to come longer.\n",
            100 * all.waited);
    return end_output(END_WELL);
}

static void print_arm(const cull_compare_arm *arm)
{
    compare_put_name(arm->name, NAME);
    compare_put(arm->cost, 6, 3, "");
    compare_put(arm->mean, 7, 2, "");
    compare_put(arm->sd, 5, 2, "");
    compare_put(arm->difference, 6, 2, "+");
    if (arm->verdict[0]) (void)printf(" %s", arm->verdict);
    if (isfinite(arm->more_seeds)) (void)printf(" +%.0f", arm->more_seeds);
    (void)putchar('\n');
}

int compare_print_result(const cull_comparison *c)
{
    cull_compare_outlook all = {0};
    cull_compare_arm     arm = {0};

    (void)cull_comparison_outlook(c, &all);
    (void)printf("\n%-*s %6s %7s %5s %6s %s\n", NAME, "", "cost", "mean %", "sd", "diff",
                 "against uniform");
    for (size_t i = 0; cull_comparison_arm(c, i, &arm); i++) print_arm(&arm);
    (void)puts("\ncost: share of full training's time; diff: points over uniform choice with the\n"
               "same budget; +n: about n more seeds needed");
    if (strcmp(all.metric, "accuracy") != 0)
        (void)printf("mean: test %s in percent, of which higher is better\n",
                     cull_metric_name(all.metric));
    print_dear(c);
    print_problems(c);
    (void)putchar('\n');
    wrap(all.verdict);
    (void)putchar('\n');
    wrap(all.advice);
    return end_output(END_WELL);
}
