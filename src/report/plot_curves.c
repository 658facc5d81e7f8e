/* report/plot_curves.c - figures of what happened in the course of runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/chart.h"

enum { MOST_KEEPS = 4, MOST_SHARES = 64, MOST_LINES = 12 };

/* Comparisons are about the test set alone. */
static const cull_records_curve *tested(const cull_rep_run *run)
{
    return &run->record.curves.of[CULL_RECORDS_TEST];
}

/* What had passed by then; all of it where phases are not told apart. */
static double seconds_at(const cull_records_line *look)
{
    double spent = cull_records_spent(&look->so_far);

    return isnan(spent) ? look->so_far.seconds : spent;
}

/* Looks that all finished runs of an arm share. */
static size_t looks(const cull_rep_arm *arm)
{
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < arm->is->runs; i++) {
        size_t count = tested(&arm->run[i])->count;
        if (cull_rep_finished(arm, i) && count > 0 && count < least) least = count;
    }
    return least == SIZE_MAX ? 0 : least;
}

/* Mean place and error of look i over the runs that have one. */
static bool mean_look(const cull_rep_arm *arm, const cull_yardstick *by, size_t i, bool time,
                      double none, double *x, double *error)
{
    size_t count = 0;

    *x = *error = 0;
    for (size_t r = 0; r < arm->is->runs; r++) {
        const cull_records_curve *curve = tested(&arm->run[r]);
        const cull_records_line  *look = NULL;

        if (!cull_rep_finished(arm, r) || curve->count <= i) continue;
        look = &curve->look[i];
        *x += time ? seconds_at(look)
                   : 100 * arm->is->cost * look->so_far.thirds /
                         curve->look[curve->count - 1].so_far.thirds;
        *error += cull_yardstick_error(by, by->scale * look->accuracy);
        count++;
    }
    *x /= (double)count;
    *error /= (double)count;
    if (*error == 0) *error = none;
    return count && isfinite(*x) && *x >= 0 && isfinite(*error) && *error > 0;
}

/* The least and the largest error of a figure so far, the farthest place, and where no error at all
 * is drawn, as logarithms have no zero; NaN: nowhere. */
struct range {
    double low, high, far, none;
};

static void plot_line(cull_rep_figure *f, const cull_rep_arm *arm, const cull_yardstick *by,
                      bool time, const char *key, struct range *range)
{
    size_t count = looks(arm), rows = 0, row = 0, drawn = 0;
    double x = 0, error = 0;
    char   name[CULL_REP_MARK];
    int    colour = CULL_REP_SERIES + arm->style.colour;
    bool   main_line = cull_rep_is_arm(arm) || arm->style.colour == 1;

    for (size_t i = 0; i < count; i++) rows += mean_look(arm, by, i, time, range->none, &x, &error);
    if (rows == 0) return;
    cull_rep_mark_name(by, arm, name);
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < count; i++) {
        if (!mean_look(arm, by, i, time, range->none, &x, &error)) continue;
        range->low = fmin(range->low, error);
        range->high = fmax(range->high, error);
        range->far = fmax(range->far, x);
        if (row++ % cull_rep_figure_stride(rows) && row < rows) continue;
        cull_rep_print(&f->script, "%.9g %.9g\n", x, error);
        drawn++;
    }
    cull_rep_print(cull_rep_figure_plot_rows(f, name),
                   "using 1:2 with lines lw %s lc rgb '#0102%02x'%s", main_line ? "2" : "1", colour,
                   arm->style.hollow ? " dt (8,5)" : "");
    cull_rep_print(cull_rep_figure_plot_rows(f, name),
                   "using 1:2 every ::%zu with points pt %d ps 1 lc rgb '#0102%02x'", drawn - 1,
                   cull_rep_marker(&arm->style), colour);
    cull_rep_figure_key(
        f, key,
        &(cull_rep_key){
            .style = arm->style, .line = true, .dashed = arm->style.hollow, .phase = -1});
}

/* What decides itself how many it keeps has no share, and stands beside every other arm. */
static bool is_drawn(const cull_rep_arm *arm, double keep)
{
    return cull_rep_is_arm(arm) && (isnan(arm->is->keep) || arm->is->keep == keep);
}

/* The arms that keep this share, their controls of the same cost, and full training. */
static void plot_keep(cull_rep_figure *f, const cull_rep_comparison *c, double keep, bool time,
                      struct range *range)
{
    const cull_rep_arm *drawn[64];
    size_t              count = 0;

    for (size_t i = 0; i < c->arms; i++)
        if (strcmp(c->arm[i].is->role, "full") == 0)
            plot_line(f, &c->arm[i], c->by, time, "full training", range);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_records_versus *v = cull_records_primary(c->arm[i].is);
        const cull_rep_arm *control = v && v->control[0] ? cull_rep_find_arm(c, v->control) : NULL;
        bool                again = false;

        if (!is_drawn(&c->arm[i], keep) || !control) continue;
        for (size_t j = 0; j < count; j++) again = again || drawn[j] == control;
        if (again || count == sizeof drawn / sizeof *drawn || cull_rep_is_arm(control)) continue;
        drawn[count++] = control;
        plot_line(f, control, c->by, time, "uniform, whole budget", range);
    }
    for (size_t i = 0; i < c->arms && f->plots < CULL_REP_LABELS / 2; i++) {
        char key[CULL_REP_NAME];

        if (!is_drawn(&c->arm[i], keep)) continue;
        cull_rep_line_name(&c->arm[i], key);
        plot_line(f, &c->arm[i], c->by, time, key, range);
    }
}

/* Half of what one wrong answer in all runs of an arm makes. */
static double place_of_none(const cull_rep_comparison *c)
{
    double step = cull_yardstick_step(c->by, c->is.test);

    return step > 0 ? step / (2 * fmax(1, (double)c->is.seeds)) : NAN;
}

/* keep is NaN where every arm decides itself how many it keeps; free: some do. */
static cull_status draw_keep(cull_rep_page *page, const cull_rep_comparison *c, double keep,
                             bool time, bool free)
{
    char            caption[560], what[160], share[40] = "", who[80], axis[CULL_REP_NAME];
    char            none[80] = "";
    struct range    range = {INFINITY, -INFINITY, 0, place_of_none(c)};
    cull_rep_figure f = {0};

    (void)snprintf(axis, sizeof axis, "test %s%s%s%s, log scale", c->by->error,
                   c->by->unit[0] ? " (" : "", c->by->unit, c->by->unit[0] ? ")" : "");
    cull_rep_figure_begin(&f, time ? "time (s)" : "cost (% of the full run)", axis, 0);
    plot_keep(&f, c, keep, time, &range);
    if (f.plots) cull_rep_log_axis(&f, 'y', log10(range.low * .93), log10(range.high * 1.07));
    cull_rep_print(&f.script,
                   "set xrange [0:*] noextend\nset offsets 0, graph .03, 0, 0\n"
                   "set xtics %.6g\n",
                   cull_rep_step(0, range.far));
    (void)snprintf(who, sizeof who, "decide how many they keep");
    if (!isnan(keep)) {
        (void)snprintf(share, sizeof share, ", ρ = %.3g", keep);
        (void)snprintf(who, sizeof who, "keep %.3g %%%s", 100 * keep,
                       free ? ", or decide how many" : "");
    }
    (void)snprintf(what, sizeof what, "Test error against %s for the arms that %s",
                   time ? "time" : "cost", who);
    if (range.low == range.none)
        (void)snprintf(none, sizeof none, " No error at all lies at %.2g, as there is no zero.",
                       range.none);
    (void)snprintf(
        caption, sizeof caption,
        time ? "<b>Error against time%s.</b> Seconds of loading, scoring, selecting and "
               "learning as they passed here, mean over seeds.%s%s"
             : "<b>Error against cost%s.</b> Mean over seeds; lower and further left is "
               "better. Inside a run cost grows with counted work.%s%s",
        share,
        free && !isnan(keep) ? " Strategies that decide how many they keep are in it too." : "",
        none);
    return cull_rep_figure_draw(page, &f, what, caption);
}

cull_status cull_rep_draw_errors(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;
    double      keep[MOST_SHARES];
    size_t      count = 0;
    bool        free = false;

    for (size_t i = 0; i < c->arms && count < MOST_SHARES; i++) {
        bool again = !cull_rep_is_arm(&c->arm[i]) || !isfinite(c->arm[i].is->keep);

        free = free || (cull_rep_is_arm(&c->arm[i]) && isnan(c->arm[i].is->keep));
        for (size_t j = 0; j < count; j++) again = again || keep[j] == c->arm[i].is->keep;
        if (!again) keep[count++] = c->arm[i].is->keep;
    }
    if (count == 0 && free) keep[count++] = NAN;
    for (size_t i = 0; i < count && i < MOST_KEEPS; i++) {
        TRY(draw_keep(page, c, keep[i], false, free));
        TRY(draw_keep(page, c, keep[i], true, free));
    }
    if (count > MOST_KEEPS)
        cull_rep_print(&page->html,
                       "<p class=\"small\">Curves are drawn for the first %d of %zu shares ρ.</p>",
                       MOST_KEEPS, count);
done:
    return status;
}

/* by NULL: the loss. */
static double value_of(const cull_records_line *look, const cull_yardstick *by)
{
    if (isnan(look->epoch)) return NAN;
    return by ? by->scale * look->accuracy : look->loss;
}

static void plot_curve(cull_rep_figure *f, const cull_records_curve *curve, const char *name,
                       int turn, const cull_yardstick *by)
{
    cull_rep_style style = {.colour = 2 + turn % 6, .marker = (turn + 1 + turn / 6) % 6};
    size_t         rows = 0, row = 0, drawn = 0;

    for (size_t i = 0; i < curve->count; i++) rows += isfinite(value_of(&curve->look[i], by)) != 0;
    if (rows == 0) return;
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < curve->count; i++) {
        double y = value_of(&curve->look[i], by);
        if (!isfinite(y) || (row++ % cull_rep_figure_stride(rows) && row < rows)) continue;
        cull_rep_print(&f->script, "%.9g %.9g\n", curve->look[i].epoch, y);
        drawn++;
    }
    cull_rep_print(cull_rep_figure_plot_rows(f, name),
                   "using 1:2 with linespoints lw 2 pt %d ps .9 pi %zu lc rgb '#0102%02x'",
                   cull_rep_marker(&style), drawn / 20 + 1, CULL_REP_SERIES + style.colour);
    cull_rep_figure_key(f, name, &(cull_rep_key){.style = style, .line = true, .phase = -1});
}

/* The set whose curve stands for a run among others. */
static const cull_records_curve *shown(const cull_rep_run *run)
{
    const cull_records_curve *test = tested(run);
    const cull_records_curve *validation = &run->record.curves.of[CULL_RECORDS_VALIDATION];

    return test->count > 1 || validation->count == 0 ? test : validation;
}

static cull_status draw_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count,
                             bool loss)
{
    static const char *const sets[] = {"training", "validation", "test"};

    const cull_yardstick *by = cull_rep_yardstick_of(runs, count);
    char                  axis[CULL_REP_NAME], name[CULL_REP_NAME], what[160], caption[320];
    cull_rep_figure       f = {0};

    cull_rep_axis(by, "", axis);
    cull_rep_figure_begin(&f, "epoch", loss ? "loss" : axis, 0);
    cull_rep_put(&f.script,
                 loss ? "set yrange [0:*]\nset xrange [0:*] noextend\nset offsets 0, graph .03, "
                        "graph .05, 0\n"
                      : "set xrange [0:*] noextend\nset offsets 0, graph .03, graph .05, graph "
                        ".05\n");
    for (int s = 0; count == 1 && s < CULL_RECORDS_SETS; s++)
        plot_curve(&f, &runs[0].run.record.curves.of[s], sets[s], s, loss ? NULL : by);
    for (size_t i = 0; count > 1 && i < count && i < MOST_LINES; i++) {
        plot_curve(&f, shown(&runs[i].run), runs[i].folder, (int)i, loss ? NULL : by);
    }
    (void)snprintf(name, sizeof name, "%s", loss ? "loss" : by->name);
    cull_rep_capital(name);
    (void)snprintf(what, sizeof what, "%s by epoch", name);
    (void)snprintf(caption, sizeof caption, "<b>%s</b>%s", name,
                   count > 1 ? " on the test set (validation where that alone was read)."
                   : loss    ? ": training as a mean over the epoch's examples, the sets when they "
                               "were looked at."
                             : ": training while it was learning, the sets when they were looked "
                               "at.");
    return cull_rep_figure_draw(page, &f, what, caption);
}

cull_status cull_rep_draw_run_curves(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status status = CULL_OK;

    TRY(draw_runs(page, runs, count, false));
    TRY(draw_runs(page, runs, count, true));
    if (count > MOST_LINES)
        cull_rep_print(&page->html,
                       "<p class=\"small\">Curves are drawn for the first %d of %zu runs.</p>",
                       MOST_LINES, count);
done:
    return status;
}
