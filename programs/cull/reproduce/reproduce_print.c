/* reproduce_print.c - comparison.json as the figures and tables of the papers have it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/compare_parts.h"
#include "reproduce/reproduce_parts.h"

enum { PHASES = 5, NAME = 44 };

static const char *const phase_names[PHASES] = {"load", "score", "select", "learn", "optim"};

static void print_head(unsigned shows)
{
    (void)printf("%-*s %9s %9s %9s", NAME, "arm (accuracies in percent)", "cost", "end", "sd");
    if (shows & CULL_SHOW_BEST) (void)printf(" %9s %9s %9s", "maximum", "lowest", "highest");
    if (shows & CULL_SHOW_SPEED) (void)printf(" %9s %9s %9s", "to x1.1", "to x1.2", "to x1.4");
    if (shows & CULL_SHOW_PHASES)
        for (size_t i = 0; i < PHASES; i++) (void)printf(" %7s s", phase_names[i]);
    if (shows & CULL_SHOW_ENERGY) (void)printf(" %9s", "joules");
    if (shows & CULL_SHOW_PARETO) (void)printf("  frontier");
    (void)printf("\n");
}

static void print_arm(unsigned shows, const cull_compare_arm *arm, const cull_compare_arm *full)
{
    compare_put_name(arm->name, NAME);
    compare_put(arm->cost, 9, 3, "");
    compare_put(arm->mean, 9, 2, "");
    compare_put(arm->sd, 9, 2, "");
    if (shows & CULL_SHOW_BEST) {
        compare_put(arm->best, 9, 2, "");
        compare_put(arm->low, 9, 2, "");
        compare_put(arm->high, 9, 2, "");
    }
    for (size_t i = 0; (shows & CULL_SHOW_SPEED) && i < 3; i++)
        compare_put(full->to_error[i] / arm->to_error[i], 9, 2, "");
    for (size_t i = 0; (shows & CULL_SHOW_PHASES) && i < PHASES; i++)
        compare_put(arm->seconds[i], 9, 1, "");
    if (shows & CULL_SHOW_ENERGY) compare_put(arm->joules, 9, 0, "");
    if (shows & CULL_SHOW_PARETO) (void)printf("  %s", arm->pareto ? "yes" : "no");
    (void)printf("\n");
}

/* The referee's word on each arm, and the signed-rank test where there are pairs enough. */
static void print_verdicts(const cull_compare_record *record)
{
    cull_compare_arm arm = {0};

    for (size_t i = 0; cull_compare_record_arm(record, i, &arm); i++) {
        if (!arm.sentence[0]) continue;
        (void)printf("%s", arm.sentence);
        if (!isnan(arm.wilcoxon))
            (void)printf(" Wilcoxon's signed-rank test: p = %.3g.", arm.wilcoxon);
        (void)printf("\n");
    }
}

static void print_all(const reproduction *r, const cull_compare_record *record)
{
    unsigned         shows = r->entry->shows;
    cull_compare_arm arm = {0}, full = {.to_error = {NAN, NAN, NAN}};

    for (size_t i = 0; cull_compare_record_arm(record, i, &arm); i++)
        if (strcmp(arm.role, "full") == 0) full = arm;
    (void)printf("\n");
    print_head(shows);
    for (size_t i = 0; cull_compare_record_arm(record, i, &arm); i++) print_arm(shows, &arm, &full);
    if (shows & CULL_SHOW_SPEED)
        (void)printf(
            "to x1.1: how many times cheaper than full training the arm comes to 1.1 times "
            "the error that full training ends at; -: never\n");
    (void)printf("\n");
    print_verdicts(record);
    (void)printf("here: %s\nthe paper: %s\n", cull_compare_record_verdict(record), r->entry->claim);
}

int print_comparison(const reproduction *r, const char *folder)
{
    cull_compare_record *record = NULL;

    if (cull_compare_record_open(folder, &record) != CULL_OK)
        return complain_last(END_FAILED, "Run it again: finished runs are not repeated.");
    print_all(r, record);
    (void)printf("curves and tables: cull report %s\n", folder);
    cull_compare_record_close(record);
    return END_WELL;
}
