/* reproduce_print.c - comparison.json as the figures and tables of the papers have it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/reproduce_parts.h"

enum { PHASES = 5, NAME = 44 };

static const char *const phase_names[PHASES] = {"load", "score", "select", "learn", "optim"};

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value ? value : "";
}

static void put(double value, const char *format)
{
    if (isnan(value))
        (void)printf(" %9s", "-");
    else
        (void)printf(format, value);
}

/* Mean over the finished runs of a number of theirs, or of a part of it. */
static double mean_of(const json_t *arm, const char *key, const char *part)
{
    const json_t *run = NULL;
    size_t        i = 0;
    double        sum = 0, count = 0;

    json_array_foreach(json_object_get(arm, "runs"), i, run)
    {
        const json_t *value = json_object_get(run, key);
        double        x = part ? number(value, part) : number(run, key);

        if (strcmp(text(run, "status"), "finished") != 0 || isnan(x)) continue;
        sum += x;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

static void range_of(const json_t *arm, const char *key, double *low, double *high)
{
    const json_t *run = NULL;
    size_t        i = 0;

    *low = *high = NAN;
    json_array_foreach(json_object_get(arm, "runs"), i, run)
    {
        *low = fmin(*low, number(run, key));
        *high = fmax(*high, number(run, key));
    }
}

static double to_error(const json_t *arm, double factor)
{
    const json_t *point = NULL;
    size_t        i = 0;

    json_array_foreach(json_object_get(arm, "to_error"), i, point)
    {
        if (fabs(number(point, "factor") - factor) < 1e-9) return number(point, "cost");
    }
    return NAN;
}

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

static double joules_of(const json_t *arm)
{
    double sum = 0;

    for (size_t i = 0; i < PHASES; i++) sum += mean_of(arm, "joules", phase_names[i]);
    return sum;
}

static void print_arm(unsigned shows, const json_t *arm, const json_t *full)
{
    static const double factors[] = {1.1, 1.2, 1.4};
    double              low = 0, high = 0;

    if (strlen(text(arm, "name")) > NAME)
        (void)printf("%s\n%*s", text(arm, "name"), NAME, "");
    else
        (void)printf("%-*s", NAME, text(arm, "name"));
    put(number(arm, "cost"), " %9.3f");
    put(number(arm, "mean"), " %9.2f");
    put(number(arm, "sd"), " %9.2f");
    range_of(arm, "best", &low, &high);
    if (shows & CULL_SHOW_BEST) {
        put(number(arm, "best_mean"), " %9.2f");
        put(low, " %9.2f");
        put(high, " %9.2f");
    }
    for (size_t i = 0; (shows & CULL_SHOW_SPEED) && i < 3; i++)
        put(to_error(full, factors[i]) / to_error(arm, factors[i]), " %9.2f");
    for (size_t i = 0; (shows & CULL_SHOW_PHASES) && i < PHASES; i++)
        put(mean_of(arm, "seconds", phase_names[i]), " %9.1f");
    if (shows & CULL_SHOW_ENERGY) put(joules_of(arm), " %9.0f");
    if (shows & CULL_SHOW_PARETO)
        (void)printf("  %s", json_is_true(json_object_get(arm, "pareto")) ? "yes" : "no");
    (void)printf("\n");
}

/* The referee's word on each arm, and the signed-rank test where there are pairs enough. */
static void print_verdicts(const json_t *arms)
{
    const json_t *arm = NULL, *versus = NULL;
    size_t        i = 0, j = 0;

    json_array_foreach(arms, i, arm) json_array_foreach(json_object_get(arm, "versus"), j, versus)
    {
        double p = number(versus, "wilcoxon");

        if (text(versus, "verdict")[0] == '\0') continue;
        (void)printf("%s", text(versus, "sentence"));
        if (!isnan(p)) (void)printf(" Wilcoxon's signed-rank test: p = %.3g.", p);
        (void)printf("\n");
    }
}

static void print_all(const reproduction *r, const json_t *root)
{
    const json_t *arms = json_object_get(root, "arms"), *arm = NULL, *full = NULL;
    unsigned      shows = r->entry->shows;
    size_t        i = 0;

    json_array_foreach(arms, i, arm) if (strcmp(text(arm, "role"), "full") == 0) full = arm;
    (void)printf("\n");
    print_head(shows);
    json_array_foreach(arms, i, arm) print_arm(shows, arm, full);
    if (shows & CULL_SHOW_SPEED)
        (void)printf(
            "to x1.1: how many times cheaper than full training the arm comes to 1.1 times "
            "the error that full training ends at; -: never\n");
    (void)printf("\n");
    print_verdicts(arms);
    (void)printf("here: %s\nthe paper: %s\n", text(root, "verdict"), r->entry->claim);
}

int print_comparison(const reproduction *r, const char *folder)
{
    char         path[MOST_WORD + 32];
    json_error_t error;
    json_t      *root = NULL;

    (void)snprintf(path, sizeof path, "%.1100s/comparison.json", folder);
    root = json_load_file(path, 0, &error);
    if (!root)
        return complain(END_FAILED, "Run it again: finished runs are not repeated.", "%s: %s", path,
                        json_trouble(path, &error));
    print_all(r, root);
    (void)printf("curves and tables: cull report %s\n", folder);
    json_decref(root);
    return END_WELL;
}
