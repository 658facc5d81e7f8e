/* report/measured.c - what the numbers of a page are of, in words: the one place that knows. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

/* Of runs that are judged by different things. */
static const cull_yardstick several = {
    .name = "result", .unit = "%", .points = "points", .error = "error", .scale = 100, .digits = 2};

const cull_yardstick *cull_rep_yardstick(const char *metric)
{
    const cull_yardstick *by = cull_yardstick_find(metric);

    return by ? by : &cull_yardstick_accuracy;
}

const cull_yardstick *cull_rep_yardstick_of(const cull_rep_single *runs, size_t count)
{
    const cull_yardstick *by = count ? cull_rep_yardstick(runs[0].run.record.info.metric) : NULL;

    for (size_t i = 1; i < count; i++)
        if (cull_rep_yardstick(runs[i].run.record.info.metric) != by) return &several;
    return by ? by : &cull_yardstick_accuracy;
}

/* "test accuracy (%)" */
void cull_rep_axis_of(const char *titles, size_t i, char out[CULL_REP_NAME])
{
    const char *end = NULL;

    while ((end = strstr(titles, "; ")) && i-- > 0) titles = end + 2;
    (void)snprintf(out, CULL_REP_NAME, "%.*s", end ? (int)(end - titles) : 100, titles);
}

void cull_rep_axis(const cull_yardstick *by, const char *before, char out[CULL_REP_NAME])
{
    (void)snprintf(out, CULL_REP_NAME, "%s%s%s%s%s", before, by->name, by->unit[0] ? " (" : "",
                   by->unit, by->unit[0] ? ")" : "");
}

/* "accuracy" begins a sentence with "A", "mAP" as it is. */
void cull_rep_capital(char *words)
{
    if (islower((unsigned char)words[0]) && !isupper((unsigned char)words[1]))
        words[0] = (char)toupper((unsigned char)words[0]);
}

/* "Accuracy %" */
void cull_rep_column_name(const cull_yardstick *by, char out[CULL_REP_NAME])
{
    (void)snprintf(out, CULL_REP_NAME, "%s%s%s", by->name, by->unit[0] ? " " : "", by->unit);
    cull_rep_capital(out);
}

void cull_rep_value(const cull_yardstick *by, double value, char out[CULL_REP_NAME])
{
    (void)snprintf(out, CULL_REP_NAME, fabs(value) < 1e9 ? "%.*f%s%s" : "%.*g%s%s", by->digits,
                   value, by->unit[0] ? " " : "", by->unit);
}

void cull_rep_mark_name(const cull_yardstick *by, const cull_rep_arm *arm, char out[CULL_REP_MARK])
{
    char name[CULL_REP_NAME], value[CULL_REP_NAME];

    cull_rep_arm_name(arm, CULL_REP_NAME, name);
    cull_rep_value(by, arm->is->mean, value);
    if (isfinite(arm->is->mean) && isfinite(arm->is->cost))
        (void)snprintf(out, CULL_REP_MARK, "%s: %.40s at %.3g %% of the cost", name, value,
                       100 * arm->is->cost);
    else
        (void)snprintf(out, CULL_REP_MARK, "%s", name);
}
