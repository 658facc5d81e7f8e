/* report/plot_histograms.c - how gradient errors and numbers of picks are spread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/figure.h"
#include "report/probes.h"

enum { MOST_KEEPS = 4, LOG_BINS = 28 };

static void plot_steps(cull_rep_figure *f, size_t block, const char *name,
                       const cull_rep_style *style)
{
    int colour = CULL_REP_SERIES + style->colour;

    cull_rep_print(cull_rep_figure_plot(f, -1),
                   "$d%zu using 1:2 with filledcurves y=0 fs transparent solid .12 noborder lc rgb "
                   "'#0102%02x'",
                   block, colour);
    cull_rep_print(cull_rep_figure_plot(f, cull_rep_figure_label(f, name, true)),
                   "$d%zu using 1:2 with lines lw 2 lc rgb '#0102%02x'%s", block, colour,
                   style->hollow ? " dt (8,5)" : "");
    cull_rep_figure_key(
        f, name,
        &(cull_rep_key){.style = *style, .line = true, .dashed = style->hollow, .phase = -1});
}

static void plot_errors(cull_rep_figure *f, const cull_rep_probe_group *g, double low, double high)
{
    double bin[LOG_BINS] = {0}, width = (high - low) / LOG_BINS;
    size_t block = 0;

    for (size_t i = 0; i < g->count; i++) {
        double at = (log10(g->error[i]) - low) / width;
        bin[at < 0 ? 0 : at >= LOG_BINS ? LOG_BINS - 1 : (size_t)at] += 100 / (double)g->count;
    }
    block = cull_rep_figure_rows(f);
    for (int i = 0; i < LOG_BINS; i++)
        cull_rep_print(&f->script, "%.6g %.6g\n%.6g %.6g\n", pow(10, low + i * width), bin[i],
                       pow(10, low + (i + 1) * width), bin[i]);
    cull_rep_figure_end_rows(f);
    plot_steps(f, block, g->strategy, &g->style);
}

cull_status cull_rep_draw_probes(cull_rep_page *page, const cull_rep_probe_group *groups,
                                 size_t count)
{
    cull_status status = CULL_OK;

    for (size_t first = 0, end = 0, drawn = 0; first < count && drawn < MOST_KEEPS;
         first = end, drawn++) {
        double          low = INFINITY, high = -INFINITY;
        char            caption[300];
        cull_rep_figure f = {0};

        for (end = first; end < count && groups[end].keep == groups[first].keep; end++)
            for (size_t i = 0; i < groups[end].count; i++) {
                low = fmin(low, log10(groups[end].error[i]));
                high = fmax(high, log10(groups[end].error[i]));
            }
        if (high - low < 1e-3) high = low + 1e-3;
        cull_rep_figure_begin(&f, "squared gradient error, log scale", "minibatches (%)", 0);
        cull_rep_put(&f.script, "set logscale x\nset format x '%g'\nset yrange [0:*]\n");
        for (size_t i = first; i < end; i++) plot_errors(&f, &groups[i], low, high);
        (void)snprintf(caption, sizeof caption,
                       "<b>Gradient error, ρ = %.3g.</b> Squared distance of the subset’s gradient "
                       "to the full-data gradient, minibatch by minibatch; further left is better.",
                       groups[first].keep);
        TRY(cull_rep_figure_draw(page, &f, "Histogram of squared gradient errors by strategy",
                                 caption));
    }
done:
    return status;
}

static size_t plot_picks(cull_rep_figure *f, const cull_rep_audit *a)
{
    size_t block = cull_rep_figure_rows(f), bins = a->most / a->width + 1;

    for (size_t i = 0; i < bins; i++) {
        double share = 100 * a->bin[i] / (double)a->examples / (double)a->width;
        double from = (double)(i * a->width) - .5;

        cull_rep_print(&f->script, "%.6g %.6g\n%.6g %.6g\n", from, share, from + (double)a->width,
                       share);
    }
    cull_rep_figure_end_rows(f);
    return block;
}

static void begin_picks(cull_rep_figure *f, size_t most)
{
    cull_rep_figure_begin(f, "times trained", "examples (%) per count", 0);
    cull_rep_print(&f->script,
                   "set xrange [-.5:*]\nset xtics 0,%.6g\nset yrange [0:*]\n"
                   "set offsets 0, 0, graph .05, 0\n",
                   fmax(1, cull_rep_step(0, (double)most)));
}

static cull_status draw_picks(cull_rep_page *page, const cull_rep_comparison *c, double keep)
{
    char            caption[300];
    size_t          most = 0;
    cull_rep_figure f = {0};

    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_audit *audit = cull_rep_first_audit(&c->arm[i]);

        if (cull_rep_is_arm(&c->arm[i]) && c->arm[i].keep == keep && audit && audit->most > most)
            most = audit->most;
    }
    begin_picks(&f, most);
    for (size_t i = 0; i < c->arms && f.plots < CULL_REP_LABELS / 2; i++) {
        const cull_rep_audit *audit = cull_rep_first_audit(&c->arm[i]);
        char                  name[CULL_REP_NAME];

        if (!cull_rep_is_arm(&c->arm[i]) || c->arm[i].keep != keep || !audit) continue;
        (void)snprintf(name, sizeof name, "%.80s%s", c->arm[i].strategy,
                       strcmp(c->arm[i].pass, "reuse") == 0 ? " reuse" : "");
        plot_steps(&f, plot_picks(&f, audit), name, &c->arm[i].style);
    }
    (void)snprintf(caption, sizeof caption,
                   "<b>How often examples were trained, ρ = %.3g.</b> First seed; at 0 stand those "
                   "never picked.",
                   keep);
    return cull_rep_figure_draw(page, &f, "Histogram of how often each example was trained",
                                caption);
}

cull_status cull_rep_draw_picks(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;
    double      keep[MOST_KEEPS];
    size_t      count = 0;

    for (size_t i = 0; i < c->arms && count < MOST_KEEPS; i++) {
        bool again = !cull_rep_is_arm(&c->arm[i]) || !cull_rep_first_audit(&c->arm[i]);

        for (size_t j = 0; j < count; j++) again = again || keep[j] == c->arm[i].keep;
        if (!again) keep[count++] = c->arm[i].keep;
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
        if (runs[i].run.audit.most > most) most = runs[i].run.audit.most;
    begin_picks(&f, most);
    for (size_t i = 0; i < count && i < 12; i++) {
        cull_rep_style style = {.colour = 2 + (int)i % 6, .marker = ((int)i + 1) % 6};

        if (!runs[i].run.audit.there) continue;
        plot_steps(&f, plot_picks(&f, &runs[i].run.audit), runs[i].folder, &style);
    }
    return cull_rep_figure_draw(page, &f, "Histogram of how often each example was trained",
                                "<b>How often examples were trained.</b> At 0 stand those never "
                                "picked.");
}

const cull_rep_audit *cull_rep_first_audit(const cull_rep_arm *arm)
{
    for (size_t i = 0; i < arm->runs; i++)
        if (arm->run[i].audit.there) return &arm->run[i].audit;
    return NULL;
}
