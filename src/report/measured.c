/* report/measured.c - what the numbers of a page are of, in words: the one place that knows. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

const cull_yardstick *cull_rep_yardstick(void)
{
    return &cull_yardstick_accuracy;
}

/* "test accuracy (%)" */
void cull_rep_axis(const cull_yardstick *by, const char *before, char out[CULL_REP_NAME])
{
    (void)snprintf(out, CULL_REP_NAME, "%s%s%s%s%s", before, by->name, by->unit[0] ? " (" : "",
                   by->unit, by->unit[0] ? ")" : "");
}

/* "Accuracy %" */
void cull_rep_column_name(const cull_yardstick *by, char out[CULL_REP_NAME])
{
    (void)snprintf(out, CULL_REP_NAME, "%s%s%s", by->name, by->unit[0] ? " " : "", by->unit);
    out[0] = (char)toupper((unsigned char)out[0]);
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
