/*
 * report/plot_cost.c - what a cost buys: results against cost.
 *
 * Controls are drawn first, small and joined by thin lines; full training and the arms lie above
 * them. The axis is made for the arms: controls far below are left out, and counted.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_MARKS = 128 };
#define NARROW .01 /* points */
#define HALF   .5

struct axes {
    double low, high; /* of results          */
    size_t left;      /* controls outside    */
};

static bool is_known(const cull_rep_arm *arm)
{
    return isfinite(arm->is->cost) && isfinite(arm->is->mean);
}

static bool is_full(const cull_rep_arm *arm)
{
    return strcmp(arm->is->role, "full") == 0;
}

/* Drawn as a control, on a line with its like. */
static bool is_joined(const cull_rep_arm *arm)
{
    return is_known(arm) && !is_full(arm) && (!cull_rep_is_arm(arm) || cull_rep_is_uniform(arm));
}

static bool is_above(const cull_rep_arm *arm)
{
    return is_known(arm) && !is_joined(arm);
}

static bool are_joined(const cull_rep_arm *a, const cull_rep_arm *b)
{
    if (cull_rep_is_uniform(a) || cull_rep_is_uniform(b))
        return cull_rep_is_uniform(a) && cull_rep_is_uniform(b) &&
               strcmp(a->series, b->series) == 0;
    return strcmp(a->is->role, b->is->role) == 0;
}

static void stretch(struct axes *axes, double value)
{
    if (!isfinite(value)) return;
    axes->low = fmin(axes->low, value);
    axes->high = fmax(axes->high, value);
}

/* Of the arms and full training with their whiskers; of all where there are none. */
static struct axes measure_axes(const cull_rep_comparison *c)
{
    struct axes axes = {INFINITY, -INFINITY, 0};
    bool        arms = false;

    for (size_t i = 0; i < c->arms; i++)
        arms = arms || (is_above(&c->arm[i]) && !is_full(&c->arm[i]));
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm *arm = &c->arm[i];

        if (arms ? is_above(arm) : is_known(arm)) {
            stretch(&axes, arm->is->mean);
            stretch(&axes, arm->low);
            stretch(&axes, arm->high);
        }
    }
    for (size_t i = 0; i < c->arms; i++) /* whoever is better is always in */
        if (is_joined(&c->arm[i]) && c->arm[i].is->mean > axes.high) axes.high = c->arm[i].is->mean;
    if (axes.high - axes.low < NARROW) { /* ticks would differ in digits that are not shown */
        axes.low -= HALF;
        axes.high += HALF;
    }
    axes.low -= .06 * (axes.high - axes.low);
    axes.high += .06 * (axes.high - axes.low);
    for (size_t i = 0; i < c->arms; i++)
        axes.left += is_joined(&c->arm[i]) && !(c->arm[i].is->mean >= axes.low);
    return axes;
}

static void name_key(const cull_rep_arm *arm, char out[CULL_REP_NAME])
{
    const char *words = cull_rep_role_words(arm);

    if (cull_rep_is_uniform(arm) || cull_rep_is_arm(arm))
        cull_rep_series_name(arm, out);
    else
        (void)snprintf(out, CULL_REP_NAME, "%s", words ? words : "full training");
}

/* Those that are joined with the first, by rising cost. */
static size_t gather(const cull_rep_comparison *c, size_t first, bool *taken,
                     const cull_rep_arm **out)
{
    size_t count = 0;

    for (size_t i = first; i < c->arms && i < 4 * MOST_MARKS && count < MOST_MARKS; i++) {
        const cull_rep_arm *arm = &c->arm[i];
        size_t              at = count;

        if (taken[i] || !is_joined(arm) || !are_joined(arm, &c->arm[first])) continue;
        taken[i] = true;
        for (; at > 0 && out[at - 1]->is->cost > arm->is->cost; at--) out[at] = out[at - 1];
        out[at] = arm;
        count++;
    }
    return count;
}

static void plot_mark(cull_rep_figure *f, const cull_rep_comparison *c, const cull_rep_arm *arm,
                      const cull_rep_style *style, bool small)
{
    char mark[CULL_REP_MARK];

    cull_rep_mark_name(c->by, arm, mark);
    cull_rep_figure_rows(f);
    cull_rep_print(&f->script, "%.9g %.9g %.9g %.9g\n", 100 * arm->is->cost, arm->is->mean,
                   isfinite(arm->low) ? arm->low : arm->is->mean,
                   isfinite(arm->high) ? arm->high : arm->is->mean);
    cull_rep_print(cull_rep_figure_plot_rows(f, mark), "%s pt %d ps %s lc rgb '#0102%02x'",
                   small ? "using 1:2 with points lw 1" : "using 1:2:3:4 with yerrorbars lw 1.2",
                   cull_rep_marker(style), small ? ".65" : "1.15", CULL_REP_SERIES + style->colour);
}

static void plot_line(cull_rep_figure *f, const cull_rep_comparison *c, const cull_rep_arm **arm,
                      size_t count)
{
    cull_rep_style style = arm[0]->style;
    bool           uniform = cull_rep_is_uniform(arm[0]);
    char           key[CULL_REP_NAME];

    style.hollow = true;
    name_key(arm[0], key);
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < count; i++)
        cull_rep_print(&f->script, "%.9g %.9g\n", 100 * arm[i]->is->cost, arm[i]->is->mean);
    cull_rep_print(cull_rep_figure_plot_rows(f, key),
                   "using 1:2 with lines lw 1 lc rgb '#0102%02x'%s", CULL_REP_SERIES + style.colour,
                   uniform ? "" : " dt (4,4)");
    for (size_t i = 0; i < count && f->plots < CULL_REP_LABELS / 2; i++)
        plot_mark(f, c, arm[i], &style, true);
    cull_rep_figure_key(
        f, key, &(cull_rep_key){.style = style, .line = true, .dashed = !uniform, .phase = -1});
}

static void plot_all(cull_rep_figure *f, const cull_rep_comparison *c)
{
    const cull_rep_arm *arm[MOST_MARKS];
    bool                taken[4 * MOST_MARKS] = {false};

    for (size_t i = 0; i < c->arms && i < 4 * MOST_MARKS; i++) {
        if (taken[i] || !is_joined(&c->arm[i]) || f->plots >= CULL_REP_LABELS / 2) continue;
        plot_line(f, c, arm, gather(c, i, taken, arm));
    }
    for (size_t i = 0; i < c->arms && f->plots < CULL_REP_LABELS / 2; i++) {
        char key[CULL_REP_NAME];

        if (!is_above(&c->arm[i])) continue;
        plot_mark(f, c, &c->arm[i], &c->arm[i].style, false);
        name_key(&c->arm[i], key);
        cull_rep_figure_key(f, key, &(cull_rep_key){.style = c->arm[i].style, .phase = -1});
    }
}

cull_status cull_rep_draw_cost(cull_rep_page *page, const cull_rep_comparison *c)
{
    struct axes     axes = measure_axes(c);
    char            axis[CULL_REP_NAME], what[160], caption[480], left[80] = "";
    cull_rep_figure f = {0};

    cull_rep_axis(c->by, "test ", axis);
    cull_rep_figure_begin(&f, "cost (% of the full run)", axis, 0);
    cull_rep_put(&f.script, "set offsets graph .05, graph .05, 0, 0\n");
    cull_rep_figure_full_cost(&f);
    if (isfinite(axes.low) && isfinite(axes.high))
        cull_rep_figure_range(&f, 'y', axes.low, axes.high);
    plot_all(&f, c);
    if (axes.left)
        (void)snprintf(left, sizeof left, " %zu control%s lower still and not shown.", axes.left,
                       axes.left == 1 ? " is" : "s are");
    (void)snprintf(what, sizeof what, "Test %s against cost, one mark an arm or control",
                   c->by->name);
    (void)snprintf(caption, sizeof caption,
                   "<b>What a cost buys.</b> Mean over seeds, of arms with the least and the most. "
                   "Thin lines join controls: a strategy that pays lies above them. Right of the "
                   "upright line a run costs more than full training.%s",
                   left);
    return cull_rep_figure_draw(page, &f, what, caption);
}
