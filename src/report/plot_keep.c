/* report/plot_keep.c - results against the kept share: a line for every strategy and its
 * options. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_ARMS = 512, MOST_KEEPS = 64 };

/* Where shares lie on the axis. Strategies that keep the same share stand side by side, so that
 * their marks and whiskers can be told apart. */
struct axis {
    double low, high;
    bool   log;    /* shares that differ much */
    size_t beside; /* strategies              */
};

/* A share of something is no more than all, and not of a size that only a damaged file has. */
static bool shown(const cull_rep_arm *arm)
{
    return arm->style.colour != 1 && arm->is->keep > 1e-9 && arm->is->keep <= 1 &&
           isfinite(arm->is->mean) && (cull_rep_is_uniform(arm) || cull_rep_is_arm(arm));
}

/* What all is measured against; uniform choice of a user's own options is one of the others. */
static bool in_the_middle(const cull_rep_arm *arm)
{
    return cull_rep_is_uniform(arm) && strcmp(arm->series, arm->is->strategy) == 0;
}

static double place(const struct axis *axis, double keep, double turn)
{
    double step = fmin(.022, .2 / (double)(axis->beside + 1));
    double shift = (turn - .5 * ((double)axis->beside - 1)) * step;

    if (axis->log) return 100 * keep * pow(axis->high / axis->low, shift);
    return 100 * (keep + shift * (axis->high - axis->low));
}

/* The arms of one line, by rising keep. */
static size_t gather_line(const cull_rep_comparison *c, size_t first, bool *taken,
                          const cull_rep_arm **out)
{
    const cull_rep_arm *head = &c->arm[first];
    size_t              count = 0;

    for (size_t i = first; i < c->arms && i < MOST_ARMS && count < MOST_KEEPS; i++) {
        const cull_rep_arm *arm = &c->arm[i];
        size_t              at = count;

        if (taken[i] || !shown(arm) || strcmp(arm->series, head->series) != 0) continue;
        if (cull_rep_is_uniform(head) != cull_rep_is_uniform(arm)) continue;
        if (!cull_rep_is_uniform(head) && strcmp(arm->is->pass, head->is->pass) != 0) continue;
        taken[i] = true;
        for (; at > 0 && out[at - 1]->is->keep > arm->is->keep; at--) out[at] = out[at - 1];
        out[at] = arm;
        count++;
    }
    return count;
}

/* A line with its marks; around uniform sampling, what all is measured against, a band. */
static void plot_series(cull_rep_figure *f, const cull_yardstick *by, const struct axis *axis,
                        const cull_rep_arm **arm, size_t count, double turn)
{
    char           name[CULL_REP_NAME], mark[CULL_REP_MARK];
    cull_rep_style style = arm[0]->style;
    bool           band = cull_rep_is_of_batches(arm[0]);
    int            colour = 0;

    if (style.colour == 0) style.hollow = false;
    colour = CULL_REP_SERIES + style.colour;
    cull_rep_series_name(arm[0], name);
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < count; i++)
        cull_rep_print(&f->script, "%.9g %.9g %.9g %.9g\n", place(axis, arm[i]->is->keep, turn),
                       arm[i]->is->mean, isfinite(arm[i]->low) ? arm[i]->low : arm[i]->is->mean,
                       isfinite(arm[i]->high) ? arm[i]->high : arm[i]->is->mean);
    if (band)
        cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                       "using 1:3:4 with filledcurves fs transparent solid .16 noborder lc "
                       "rgb '#0102%02x'",
                       colour);
    else
        cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                       "using 1:2:3:4 with yerrorbars lw 1 pt 0 lc rgb '#0102%02x'", colour);
    cull_rep_print(cull_rep_figure_plot_rows(f, name),
                   "using 1:2 with lines lw %s lc rgb '#0102%02x'%s", band ? "2" : "1.2", colour,
                   style.hollow ? " dt (8,5)" : "");
    for (size_t i = 0; i < count && f->plots < CULL_REP_LABELS / 2; i++) {
        cull_rep_mark_name(by, arm[i], mark);
        cull_rep_print(cull_rep_figure_plot_rows(f, mark),
                       "using 1:2 every ::%zu::%zu with points pt %d ps .9 lc rgb '#0102%02x'", i,
                       i, cull_rep_marker(&style), colour);
    }
    cull_rep_figure_key(
        f, name,
        &(cull_rep_key){.style = style, .line = true, .dashed = style.hollow, .phase = -1});
}

/* A dashed line at the accuracy of full training. */
static void plot_full(cull_rep_figure *f, const cull_rep_comparison *c)
{
    char mark[CULL_REP_MARK];

    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm *arm = &c->arm[i];

        if (strcmp(arm->is->role, "full") != 0 || !isfinite(arm->is->mean)) continue;
        cull_rep_mark_name(c->by, arm, mark);
        cull_rep_print(cull_rep_figure_plot(f, mark),
                       "%.9g with lines lw 2 dt (3,4) lc rgb '#0102%02x'", arm->is->mean,
                       CULL_REP_SERIES + arm->style.colour);
        cull_rep_figure_key(
            f, "full training, cost 100 %",
            &(cull_rep_key){.style = arm->style, .line = true, .dashed = true, .phase = -1});
        return;
    }
}

static void set_axis(cull_rep_figure *f, const struct axis *axis)
{
    double margin = .05 + .011 * (double)(axis->beside < 9 ? axis->beside : 9);

    if (axis->log) {
        cull_rep_put(&f->script, "set logscale x\nset xtics (.1,.2,.5,1,2,3,5,7,10,20,30,50,70,"
                                 "100)\n");
        cull_rep_figure_range(f, 'x', 100 * axis->low * pow(axis->high / axis->low, -margin),
                              100 * axis->high * pow(axis->high / axis->low, margin));
    } else if (axis->high > axis->low) {
        margin *= axis->high - axis->low;
        cull_rep_figure_range(f, 'x', 100 * (axis->low - margin), 100 * (axis->high + margin));
    }
}

cull_status cull_rep_draw_keep(cull_rep_page *page, const cull_rep_comparison *c)
{
    const cull_rep_arm *arm[MOST_KEEPS];
    bool                taken[MOST_ARMS] = {false};
    struct axis         axis = {.low = INFINITY, .high = -INFINITY};
    double              turn = 0;
    char                words[CULL_REP_NAME], what[160], caption[480];
    cull_rep_figure     f = {0};

    cull_rep_axis(c->by, "test ", words);
    cull_rep_figure_begin(&f, "kept share ρ (%)", words, 0);
    cull_rep_put(&f.script, "set offsets 0, 0, graph .05, graph .05\n");
    for (size_t i = 0; i < c->arms && i < MOST_ARMS; i++) {
        if (!shown(&c->arm[i])) continue;
        axis.low = fmin(axis.low, c->arm[i].is->keep);
        axis.high = fmax(axis.high, c->arm[i].is->keep);
        if (!taken[i] && gather_line(c, i, taken, arm)) axis.beside += !in_the_middle(&c->arm[i]);
    }
    axis.log = axis.high >= 3 * axis.low;
    set_axis(&f, &axis);
    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < c->arms && i < MOST_ARMS; i++) {
        bool   middle = in_the_middle(&c->arm[i]);
        size_t count = 0;

        if (taken[i] || !shown(&c->arm[i])) continue;
        count = gather_line(c, i, taken, arm);
        plot_series(&f, c->by, &axis, arm, count, middle ? .5 * (double)axis.beside - .5 : turn);
        turn += !middle;
    }
    if (f.plots) plot_full(&f, c);
    (void)snprintf(what, sizeof what,
                   "Test %s against the kept share of every minibatch, one line a strategy",
                   c->by->name);
    (void)snprintf(caption, sizeof caption,
                   "<b>Test %s against ρ.</b> Mean over seeds; band and whiskers: least to most. "
                   "Strategies at one ρ stand side by side. They differ in cost, so this is not "
                   "yet a fair comparison.",
                   c->by->name);
    return cull_rep_figure_draw(page, &f, what, caption);
}
