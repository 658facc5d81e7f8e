/* report/plot_arms.c - figures with a mark or a bar for every arm. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/bars.h"

enum { MOST_ROWS = CULL_REP_BARS };

double cull_rep_step(double low, double high)
{
    double rough = (high - low) / 5, ten = 0;

    if (!(rough > 0) || !isfinite(rough)) return 1;
    ten = pow(10, floor(log10(rough)));
    return rough < 1.5 * ten   ? ten
           : rough < 3.5 * ten ? 2 * ten
           : rough < 7.5 * ten ? 5 * ten
                               : 10 * ten;
}

static void plot_difference(cull_rep_figure *f, const cull_yardstick *by, const cull_rep_arm *arm,
                            size_t row)
{
    const cull_adjusted *a = &arm->adjusted;
    double               difference = cull_records_primary(arm->is)->difference;
    bool                 whiskers = isfinite(a->low) && isfinite(a->high);
    char                 name[CULL_REP_NAME], mark[CULL_REP_MARK];

    cull_rep_arm_name(arm, CULL_REP_NAME, name);
    if (whiskers)
        (void)snprintf(mark, sizeof mark, "%s: %+.*g %s, %.3g %% interval %+.3g to %+.3g", name,
                       by->digits + 1, difference, by->points, 100 * a->level, a->low, a->high);
    else
        (void)snprintf(mark, sizeof mark, "%s: %+.*g %s", name, by->digits + 1, difference,
                       by->points);
    cull_rep_figure_rows(f);
    cull_rep_print(&f->script, "%.9g %zu %.9g %.9g\n", difference, row,
                   whiskers ? a->low : difference, whiskers ? a->high : difference);
    cull_rep_print(cull_rep_figure_plot_rows(f, mark),
                   "using 1:2:3:4 with xerrorbars lw 2 pt %d ps 1 lc rgb '#0102%02x'",
                   cull_rep_marker(&arm->style), CULL_REP_SERIES + arm->style.colour);
}

cull_status cull_rep_draw_differences(cull_rep_page *page, const cull_rep_comparison *c)
{
    const cull_rep_arm *row[MOST_ROWS];
    char                names[MOST_ROWS][CULL_REP_NAME];
    size_t              rows = 0;
    double              low = 0, high = 0;
    char                axis[CULL_REP_NAME];
    cull_rep_figure     f = {0};

    if (isfinite(c->is.margin)) low = -c->is.margin, high = c->is.margin;
    for (size_t i = 0; i < c->arms && rows < MOST_ROWS; i++) {
        const cull_records_versus *v = cull_records_primary(c->arm[i].is);

        if (!v || !isfinite(v->difference)) continue;
        cull_rep_arm_name(&c->arm[i], CULL_REP_LABEL, names[rows]);
        row[rows++] = &c->arm[i];
        low = fmin(low, fmin(c->arm[i].adjusted.low, v->difference));
        high = fmax(high, fmax(c->arm[i].adjusted.high, v->difference));
    }
    (void)snprintf(axis, sizeof axis, "%s above uniform at the same cost", c->by->points);
    cull_rep_figure_begin(&f, axis, "", cull_rep_rows_height(rows));
    cull_rep_rows_begin(&f, rows);
    for (size_t i = 0; i < rows; i++) cull_rep_row_name(&f, i, names[i]);
    cull_rep_rows_end(&f);
    if (isfinite(c->is.margin))
        cull_rep_print(&f.script,
                       "set object 1 rectangle from %.6g, graph 0 to %.6g, graph 1 behind fc rgb "
                       "'#0102%02x' fs solid noborder\n",
                       -c->is.margin, c->is.margin, CULL_REP_SHADE);
    cull_rep_print(&f.script,
                   "set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb '#0102%02x'\n"
                   "set xtics %.6g\n",
                   CULL_REP_AXIS, cull_rep_step(low, high));
    cull_rep_figure_range(&f, 'x', low - .06 * (high - low), high + .06 * (high - low));
    for (size_t i = 0; i < rows; i++) plot_difference(&f, c->by, row[i], i + 1);
    return cull_rep_figure_draw(
        page, &f, "Difference of each arm to uniform sampling at the same cost, with its interval",
        "<b>Does it beat uniform at the same cost?</b> Mean difference, pair by pair; right of "
        "zero "
        "is better. Intervals are at the level at which Holm’s procedure tests each arm, so that "
        "one leaves zero out exactly where the adjusted p is below .05. Inside the shaded margin a "
        "difference counts as none.");
}

/* What bars are of: seconds, or joules where the machine counts them. */
typedef struct spent {
    bool        energy;
    const char *unit, *axis, *share, *arms, *arms_caption, *runs, *runs_caption;
} spent;

static const spent time_spent = {
    false,
    " s",
    "time (s)",
    "time (% of the full run)",
    "Time of each arm by phase",
    "<b>Where the time goes.</b> Measured, mean over seeds. Scoring and selecting are what a "
    "strategy must earn back.",
    "Time of each run by phase",
    "<b>Where the time goes.</b> Measured; evaluation and checkpoints are left out.",
};

static const spent energy_spent = {
    true,
    " J",
    "energy (J)",
    "energy (% of the full run)",
    "Energy of each arm by phase",
    "<b>Where the energy goes.</b> By the machine's counters, mean over seeds; what ran beside a "
    "run is in it.",
    "Energy of each run by phase",
    "<b>Where the energy goes.</b> By the machine's counters; evaluation and checkpoints are left "
    "out.",
};

/* Means of the phases over finished runs; false when some are not known. */
static bool mean_parts(const cull_rep_arm *arm, const spent *what, double out[CULL_PHASES_OF_COST])
{
    size_t count = 0;

    for (int p = 0; p < CULL_PHASES_OF_COST; p++) out[p] = 0;
    for (size_t i = 0; i < arm->is->runs; i++) {
        const cull_records_compared *run = &arm->is->run[i];

        if (!cull_rep_finished(arm, i)) continue;
        for (int p = 0; p < CULL_PHASES_OF_COST; p++)
            out[p] += what->energy ? run->joules[p] : run->seconds[p];
        count++;
    }
    for (int p = 0; p < CULL_PHASES_OF_COST; p++) {
        out[p] /= count ? (double)count : NAN;
        if (!isfinite(out[p]) || out[p] < 0) return false;
    }
    return true;
}

static double sum(const double *parts)
{
    double total = 0;

    for (int p = 0; p < CULL_PHASES_OF_COST; p++) total += parts[p];
    return total;
}

/* Phases are parts of bars. */
static void begin_bars(cull_rep_bars *bars, const char *axis, const char *unit)
{
    *bars = (cull_rep_bars){.axis = axis, .unit = unit, .parts = CULL_PHASES_OF_COST};
    for (int p = 0; p < CULL_PHASES_OF_COST; p++) {
        bars->part[p] = cull_phase_name((cull_phase)p);
        bars->colour[p] = CULL_REP_PHASE + p;
    }
}

static void add_bar(cull_rep_bars *bars, const char *name, const double *parts)
{
    cull_rep_bar *bar = cull_rep_bars_add(bars, name);

    if (bar) memcpy(bar->part, parts, CULL_PHASES_OF_COST * sizeof *parts);
}

cull_status cull_rep_draw_phases(cull_rep_page *page, const cull_rep_comparison *c, bool energy)
{
    const spent  *what = energy ? &energy_spent : &time_spent;
    double        parts[CULL_PHASES_OF_COST], full = NAN;
    char          name[CULL_REP_NAME];
    cull_rep_bars bars;

    begin_bars(&bars, what->axis, what->unit);
    for (size_t i = 0; i < c->arms; i++) {
        bool whole = strcmp(c->arm[i].is->role, "full") == 0;

        if ((!whole && !cull_rep_is_arm(&c->arm[i])) || !mean_parts(&c->arm[i], what, parts))
            continue;
        if (whole) full = sum(parts);
        cull_rep_arm_name(&c->arm[i], CULL_REP_LABEL, name);
        add_bar(&bars, name, parts);
    }
    if (full > 0) {
        bars.full = true;
        bars.axis = what->share;
        bars.unit = " %";
        bars.scale = 100 / full;
    }
    return cull_rep_bars_draw(page, &bars, what->arms, what->arms_caption);
}

static cull_status draw_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count,
                             const spent *what)
{
    char          name[CULL_REP_NAME];
    cull_rep_bars bars;

    begin_bars(&bars, what->axis, what->unit);
    for (size_t i = 0; i < count; i++) {
        const char              *slash = strrchr(runs[i].folder, '/');
        const cull_records_work *work = &runs[i].run.record.info.work;
        const double            *parts = what->energy ? work->joules_by : work->seconds_by;

        if (!isfinite(sum(parts))) continue;
        (void)snprintf(name, sizeof name, "%.100s", slash && slash[1] ? slash + 1 : runs[i].folder);
        add_bar(&bars, name, parts);
    }
    return cull_rep_bars_draw(page, &bars, what->runs, what->runs_caption);
}

cull_status cull_rep_draw_run_phases(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status status = draw_runs(page, runs, count, &time_spent);

    return status == CULL_OK ? draw_runs(page, runs, count, &energy_spent) : status;
}
