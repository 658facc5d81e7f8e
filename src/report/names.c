/* report/names.c - what arms are called in figures, where there is less room than in tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_SHARE = 32, MOST_SERIES = CULL_REP_NAME - MOST_SHARE };

static void cut_out(char *at, size_t bytes)
{
    memmove(at, at + bytes, strlen(at + bytes) + 1);
}

/* Its strategy with the options, from the name: "sb beta=3 keep=0.25 separate" is "sb beta=3". */
static void put_options(cull_rep_arm *arm)
{
    size_t strategy = strlen(arm->is->strategy);
    char   pass[MOST_SHARE];
    char  *at = NULL;

    (void)snprintf(arm->series, sizeof arm->series, "%s", arm->is->strategy);
    if (!cull_rep_is_arm(arm) || strncmp(arm->is->name, arm->is->strategy, strategy) != 0 ||
        (arm->is->name[strategy] != ' ' && arm->is->name[strategy] != '\0'))
        return;
    (void)snprintf(arm->series, sizeof arm->series, "%s", arm->is->name);
    at = strstr(arm->series, " keep=");
    if (at) cut_out(at, 1 + strcspn(at + 1, " "));
    (void)snprintf(pass, sizeof pass, " %.20s", arm->is->pass);
    at = strstr(at ? at : arm->series, pass);
    if (at && (at[strlen(pass)] == ' ' || at[strlen(pass)] == '\0')) cut_out(at, strlen(pass));
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

static const char *reused(const cull_rep_arm *arm)
{
    return strcmp(arm->is->pass, "reuse") == 0 ? " reuse" : "";
}

/* In so many characters; options give way to the share, which tells bars of a series apart. */
static void put_name(const cull_rep_arm *arm, size_t most, char *out, size_t room)
{
    char series[MOST_SERIES], share[MOST_SHARE] = "";

    if (isnan(arm->is->keep))
        (void)snprintf(share, sizeof share, "%s", reused(arm));
    else
        (void)snprintf(share, sizeof share, " %.3g%s", arm->is->keep, reused(arm));
    cull_rep_shorten(arm->series, most - strlen(share), series, sizeof series);
    if (strcmp(arm->is->role, "full") == 0)
        (void)snprintf(out, room, "full training");
    else if (strcmp(arm->is->role, "shortened") == 0)
        (void)snprintf(out, room, "full, shortened");
    else if (strcmp(arm->is->role, "early-stop") == 0)
        (void)snprintf(out, room, "full, stopped early");
    else
        (void)snprintf(out, room, "%s%s", series, share);
}

void cull_rep_short_name(const cull_rep_arm *arm, char *out, size_t room)
{
    put_name(arm, CULL_REP_NAME, out, room);
}

void cull_rep_row_name(const cull_rep_arm *arm, char *out, size_t room)
{
    put_name(arm, CULL_REP_LABEL, out, room);
}

void cull_rep_line_name(const cull_rep_arm *arm, char *out, size_t room)
{
    char series[MOST_SERIES];

    cull_rep_shorten(arm->series, CULL_REP_NAME, series, sizeof series);
    (void)snprintf(out, room, "%s%s", series, reused(arm));
}

void cull_rep_series_name(const cull_rep_arm *arm, char *out, size_t room)
{
    char series[MOST_SERIES];

    cull_rep_shorten(arm->series, CULL_REP_NAME, series, sizeof series);
    if (cull_rep_is_uniform(arm))
        (void)snprintf(out, room, "uniform (%s)", series);
    else
        cull_rep_line_name(arm, out, room);
}
