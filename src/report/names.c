/* report/names.c - what arms are called in figures, where there is less room than in tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_SHARE = 32, MOST_SERIES = CULL_REP_NAME - MOST_SHARE };

/* Its strategy with the options that were given to it. */
static void put_options(cull_rep_arm *arm)
{
    size_t room = sizeof arm->series;
    size_t length = (size_t)snprintf(arm->series, room, "%s", arm->is->strategy);

    for (size_t i = 0; i < arm->is->options && length < room; i++)
        length += (size_t)snprintf(arm->series + length, room - length, " %s=%s",
                                   arm->is->option[i].key, arm->is->option[i].value);
}

static bool are_of_one_strategy(const cull_rep_arm *a, const cull_rep_arm *b)
{
    return cull_rep_is_arm(a) && cull_rep_is_arm(b) &&
           strcmp(a->is->strategy, b->is->strategy) == 0;
}

void cull_rep_name_series(cull_rep_comparison *c)
{
    for (size_t i = 0; i < c->arms; i++) put_options(&c->arm[i]);
    for (size_t i = 0; i < c->arms; i++) {
        bool differ = false;

        for (size_t j = 0; j < c->arms && !differ; j++)
            differ = are_of_one_strategy(&c->arm[i], &c->arm[j]) &&
                     strcmp(c->arm[i].series, c->arm[j].series) != 0;
        for (size_t j = 0; j < c->arms && !differ; j++)
            if (are_of_one_strategy(&c->arm[i], &c->arm[j]))
                (void)snprintf(c->arm[j].series, sizeof c->arm[j].series, "%s",
                               c->arm[j].is->strategy);
    }
}

const cull_rep_arm *cull_rep_find_arm(const cull_rep_comparison *c, const char *name)
{
    for (size_t i = 0; i < c->arms; i++)
        if (strcmp(c->arm[i].is->name, name) == 0) return &c->arm[i];
    return NULL;
}

const char *cull_rep_role_words(const cull_rep_arm *arm)
{
    static const char *const words[][2] = {
        {"full", "full training"},        {"arm", "arm"},
        {"same-m", "uniform, same m"},    {"whole-budget", "uniform, whole budget"},
        {"shortened", "full, shortened"}, {"early-stop", "full, stopped early"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(arm->is->role, words[i][0]) == 0) return words[i][1];
    return NULL;
}

static const char *reused(const cull_rep_arm *arm)
{
    return strcmp(arm->is->pass, "reuse") == 0 ? " reuse" : "";
}

void cull_rep_arm_name(const cull_rep_arm *arm, size_t most, char out[CULL_REP_NAME])
{
    char series[MOST_SERIES], share[MOST_SHARE] = "";

    if (isnan(arm->is->keep))
        (void)snprintf(share, sizeof share, "%s", reused(arm));
    else
        (void)snprintf(share, sizeof share, " %.3g%s", arm->is->keep, reused(arm));
    cull_rep_shorten(arm->series, most - strlen(share), series, sizeof series);
    if (cull_rep_is_full(arm))
        (void)snprintf(out, CULL_REP_NAME, "%s", cull_rep_role_words(arm));
    else
        (void)snprintf(out, CULL_REP_NAME, "%s%s", series, share);
}

void cull_rep_line_name(const cull_rep_arm *arm, char out[CULL_REP_NAME])
{
    char series[MOST_SERIES];

    cull_rep_shorten(arm->series, CULL_REP_NAME, series, sizeof series);
    (void)snprintf(out, CULL_REP_NAME, "%s%s", series, reused(arm));
}

void cull_rep_series_name(const cull_rep_arm *arm, char out[CULL_REP_NAME])
{
    char series[MOST_SERIES];

    cull_rep_shorten(arm->series, CULL_REP_NAME, series, sizeof series);
    if (cull_rep_is_uniform(arm))
        (void)snprintf(out, CULL_REP_NAME, "uniform (%s)", series);
    else
        cull_rep_line_name(arm, out);
}
