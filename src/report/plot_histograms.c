/* report/plot_histograms.c - how gradient errors and numbers of picks are spread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/chart.h"
#include "report/probes.h"

enum { MOST_KEEPS = 4, LEAST_BINS = 8, MOST_BINS = 28 };

/* Bins of a histogram over powers of ten. */
struct powers {
    double low, high; /* log10 */
    size_t bins;
};

/* A line with marks, few enough to be told apart; `turn` moves them along it. */
static void plot_spread(cull_rep_figure *f, size_t rows, size_t turn, const char *name,
                        const cull_rep_style *style)
{
    int    colour = CULL_REP_SERIES + style->colour;
    size_t every = rows / 16 + 1;

    cull_rep_print(cull_rep_figure_plot_rows(f, name),
                   "using 1:2 with lines lw 1.5 lc rgb '#0102%02x'%s", colour,
                   style->hollow ? " dt (8,5)" : "");
    cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                   "using 1:2 every %zu::%zu with points pt %d ps .9 lc rgb '#0102%02x'", every,
                   turn % every, cull_rep_marker(style), colour);
    cull_rep_figure_key(
        f, name,
        &(cull_rep_key){.style = *style, .line = true, .dashed = style->hollow, .phase = -1});
}

/* Bins that are empty, and between empty ones, are left out: lines end on the ground. */
static void plot_errors(cull_rep_figure *f, const cull_rep_probe_group *g, size_t turn,
                        const struct powers *p)
{
    double bin[MOST_BINS + 2] = {0}, width = (p->high - p->low) / (double)p->bins;
    size_t rows = 0;

    if (!g->count) return;
    for (size_t i = 0; i < g->count; i++) {
        double at = (log10(g->error[i]) - p->low) / width;
        size_t last = p->bins - 1;
        bin[1 + (at < 0 ? 0 : at >= (double)last ? last : (size_t)at)] += 100 / (double)g->count;
    }
    cull_rep_figure_rows(f);
    for (size_t i = 1; i <= p->bins; i++) {
        if (bin[i - 1] == 0 && bin[i] == 0 && bin[i + 1] == 0) continue;
        cull_rep_print(&f->script, "%.6g %.6g\n", pow(10, p->low + ((double)i - .5) * width),
                       bin[i]);
        rows++;
    }
    plot_spread(f, rows, turn, g->strategy, &g->style);
}

/* The range of a figure, and bins as many as the minibatches bear (twice the cube root). */
static struct powers measure_powers(const cull_rep_probe_group *groups, size_t first, size_t end)
{
    struct powers p = {INFINITY, -INFINITY, LEAST_BINS};

    for (size_t g = first; g < end; g++) {
        double bear = ceil(2 * cbrt((double)groups[g].count));

        for (size_t i = 0; i < groups[g].count; i++) {
            p.low = fmin(p.low, log10(groups[g].error[i]));
            p.high = fmax(p.high, log10(groups[g].error[i]));
        }
        if (bear > (double)p.bins) p.bins = bear < MOST_BINS ? (size_t)bear : MOST_BINS;
    }
    if (p.high - p.low < 1e-3) p.high = p.low + 1e-3;
    return p;
}

cull_status cull_rep_draw_probes(cull_rep_page *page, const cull_rep_probe_group *groups,
                                 size_t count)
{
    cull_status status = CULL_OK;

    for (size_t first = 0, end = 0, drawn = 0; first < count && drawn < MOST_KEEPS;
         first = end, drawn++) {
        struct powers   powers = {0};
        char            caption[300], what[120];
        cull_rep_figure f = {0};

        for (end = first; end < count && groups[end].keep == groups[first].keep;) end++;
        powers = measure_powers(groups, first, end);
        if (!isfinite(powers.high - powers.low)) continue;
        cull_rep_figure_begin(&f, "squared gradient error, log scale", "minibatches (%)", 0);
        cull_rep_log_axis(&f, 'x', powers.low, powers.high);
        cull_rep_put(&f.script, "set yrange [0:*]\nset offsets 0, 0, graph .05, 0\n");
        for (size_t i = first; i < end; i++) plot_errors(&f, &groups[i], i - first, &powers);
        (void)snprintf(caption, sizeof caption,
                       "<b>Gradient error, ρ = %.3g.</b> Squared distance of the subset’s gradient "
                       "to the full-data gradient, minibatch by minibatch; further left is better.",
                       groups[first].keep);
        (void)snprintf(what, sizeof what,
                       "Histogram of squared gradient errors by strategy where %.3g %% are kept",
                       100 * groups[first].keep);
        TRY(cull_rep_figure_draw(page, &f, what, caption));
    }
done:
    return status;
}

static void plot_picks(cull_rep_figure *f, const cull_records_picks *a, size_t turn,
                       const char *name, const cull_rep_style *style)
{
    size_t bins = a->most / a->width + 1;

    cull_rep_figure_rows(f);
    for (size_t i = 0; i < bins; i++)
        cull_rep_print(&f->script, "%.6g %.6g\n",
                       (double)(i * a->width) + .5 * (double)(a->width - 1),
                       100 * a->bin[i] / (double)a->examples / (double)a->width);
    plot_spread(f, bins, turn, name, style);
}

static void begin_picks(cull_rep_figure *f, size_t most)
{
    cull_rep_figure_begin(f, "times trained", "examples (%) per count", 0);
    cull_rep_figure_range(f, 'x', -.04 * (double)most - .1, 1.04 * (double)most + .1);
    cull_rep_print(&f->script,
                   "set xtics 0,%.6g\nset yrange [0:*]\nset offsets 0, 0, graph .05, 0\n",
                   fmax(1, cull_rep_step(0, (double)most)));
}

static cull_status draw_picks(cull_rep_page *page, const cull_rep_comparison *c, double keep)
{
    char            caption[300], what[120];
    size_t          most = 0, turn = 0;
    cull_rep_figure f = {0};

    for (size_t i = 0; i < c->arms; i++) {
        const cull_records_picks *picks = cull_rep_first_picks(c->arm[i].run, c->arm[i].is->runs);

        if (cull_rep_is_arm(&c->arm[i]) && c->arm[i].is->keep == keep && picks &&
            picks->most > most)
            most = picks->most;
    }
    begin_picks(&f, most);
    for (size_t i = 0; i < c->arms && f.plots < CULL_REP_LABELS / 2; i++) {
        const cull_records_picks *picks = cull_rep_first_picks(c->arm[i].run, c->arm[i].is->runs);
        char                      name[CULL_REP_NAME];

        if (!cull_rep_is_arm(&c->arm[i]) || c->arm[i].is->keep != keep || !picks) continue;
        cull_rep_line_name(&c->arm[i], name);
        plot_picks(&f, picks, turn++, name, &c->arm[i].style);
    }
    (void)snprintf(
        caption, sizeof caption,
        "<b>How often examples were trained, ρ = %.3g.</b> First seed; the table counts those "
        "never picked.",
        keep);
    (void)snprintf(what, sizeof what,
                   "Histogram of how often each example was trained where %.3g %% are kept",
                   100 * keep);
    return cull_rep_figure_draw(page, &f, what, caption);
}

cull_status cull_rep_draw_picks(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;
    double      keep[MOST_KEEPS];
    size_t      count = 0;

    for (size_t i = 0; i < c->arms && count < MOST_KEEPS; i++) {
        bool again = !cull_rep_is_arm(&c->arm[i]) ||
                     !cull_rep_first_picks(c->arm[i].run, c->arm[i].is->runs);

        for (size_t j = 0; j < count; j++) again = again || keep[j] == c->arm[i].is->keep;
        if (!again) keep[count++] = c->arm[i].is->keep;
    }
    for (size_t i = 0; i < count; i++) TRY(draw_picks(page, c, keep[i]));
done:
    return status;
}

cull_status cull_rep_draw_run_picks(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    size_t          most = 0;
    cull_rep_figure f = {0};

    for (size_t i = 0; i < count; i++)
        if (runs[i].run.picks.most > most) most = runs[i].run.picks.most;
    begin_picks(&f, most);
    for (size_t i = 0; i < count && i < 12; i++) {
        cull_rep_style style = {.colour = 2 + (int)i % 6, .marker = ((int)i + 1) % 6};

        if (!runs[i].run.picks.there) continue;
        plot_picks(&f, &runs[i].run.picks, i, runs[i].folder, &style);
    }
    return cull_rep_figure_draw(page, &f, "Histogram of how often each example was trained",
                                "<b>How often examples were trained.</b> The table counts those "
                                "never picked.");
}
