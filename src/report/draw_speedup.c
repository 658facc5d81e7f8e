/*
 * report/draw_speedup.c - what is gained against what is given up, both by powers.
 *
 *     gained     time, or energy, of full training / that of the arm; means over seeds
 *     given up   result of full training - result of the arm, in points
 *
 * A series runs from its largest share on the left to its smallest on the right. What gives nothing
 * up has no logarithm: it stands on the lowest line, and is counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/view.h"

#define LEAST .01 /* points; less is nothing */

static double seconds_of(const cull_rep_seen *run, const void *context)
{
    double spent = cull_records_spent(&run->record.info.work);

    (void)context;
    return isnan(spent) ? run->record.info.work.seconds : spent;
}

static double joules_of(const cull_rep_seen *run, const void *context)
{
    double sum = 0;

    (void)context;
    for (int i = 0; i < CULL_PHASES_OF_COST; i++) sum += run->record.info.work.joules_by[i];
    return sum > 0 ? sum : NAN; /* 0: nothing is counted */
}

/* One arm held against full training; NaN: not known. */
struct trade {
    double gained, given_up;
};

static struct trade trade_of(const cull_rep_view *view, const cull_rep_view_arm *arm)
{
    const cull_rep_view_arm *full = cull_rep_view_full(view, arm);
    cull_rep_number_of       spent = view->is->drawing == CULL_DRAW_ENERGY ? joules_of : seconds_of;

    if (!full || arm->is->full) return (struct trade){NAN, NAN};
    return (struct trade){
        cull_rep_view_mean(full, spent, NULL).mean / cull_rep_view_mean(arm, spent, NULL).mean,
        cull_yardstick_gain(view->by, cull_rep_view_end(full).mean, cull_rep_view_end(arm).mean)};
}

/* Half of the least that is given up. */
static double find_ground(const cull_rep_view *view)
{
    double least = 1;

    for (size_t i = 0; i < view->arms; i++) {
        struct trade trade = trade_of(view, &view->arm[i]);

        if (trade.given_up >= LEAST) least = fmin(least, trade.given_up);
    }
    return least / 2;
}

/* "grad-match, 0.3: 3.05 times faster, 0.81 points given up" */
static void add_spot(const cull_rep_view *view, cull_rep_chart *chart, const cull_rep_view_arm *arm,
                     double ground)
{
    struct trade trade = trade_of(view, arm);
    char         name[CULL_REP_NAME], says[CULL_REP_MARK];

    cull_rep_view_named(arm, name);
    (void)snprintf(says, sizeof says, "%s: %.3g times %s, %.*f %s %s", name, trade.gained,
                   view->is->drawing == CULL_DRAW_ENERGY ? "less energy" : "faster",
                   view->by->digits, fabs(trade.given_up), view->by->points,
                   trade.given_up >= 0 ? "given up" : "gained");
    cull_rep_chart_spot(chart, trade.gained, trade.given_up >= LEAST ? trade.given_up : ground, NAN,
                        NAN, isfinite(trade.given_up) ? says : NULL);
}

static int by_falling_x(const void *a, const void *b)
{
    const cull_rep_view_arm *const *x = a, *const *y = b;

    return ((*x)->is->x < (*y)->is->x) - ((*x)->is->x > (*y)->is->x);
}

static cull_status add_line(const cull_rep_view *view, cull_rep_chart *chart, size_t first,
                            double ground)
{
    cull_status               status = CULL_OK;
    const cull_rep_view_arm **joined = NULL;
    size_t                    count = 0;
    char                      name[CULL_REP_NAME];

    TRY(cull_base_alloc(view->arms, sizeof *joined, "a line", &joined));
    for (size_t i = first; i < view->arms; i++)
        if (cull_rep_view_joined(&view->arm[first], &view->arm[i])) joined[count++] = &view->arm[i];
    qsort((void *)joined, count, sizeof *joined, by_falling_x);
    cull_rep_view_called(&view->arm[first], name);
    (void)cull_rep_chart_line(chart, name, &view->arm[first].style);
    for (size_t i = 0; i < count; i++) add_spot(view, chart, joined[i], ground);
done:
    cull_base_free((void *)joined);
    return status;
}

/* Those that stand on the lowest line. */
static size_t count_grounded(const cull_rep_view *view)
{
    size_t count = 0;

    for (size_t i = 0; i < view->arms; i++) {
        struct trade trade = trade_of(view, &view->arm[i]);

        count += isfinite(trade.gained) && trade.given_up < LEAST;
    }
    return count;
}

/* Of a machine that counts no energy: why, in place of the drawing; NULL: something is counted. */
static const char *why_nothing_is_counted(const cull_rep_view *view)
{
    const char *why = NULL;

    for (size_t a = 0; a < view->arms; a++)
        for (size_t r = 0; r < view->arm[a].is->runs; r++) {
            const cull_rep_seen *run = &view->arm[a].run[r];

            if (!run->there) continue;
            if (!isnan(joules_of(run, NULL))) return NULL;
            if (run->record.info.no_energy && run->record.info.no_energy[0])
                why = run->record.info.no_energy;
        }
    return why;
}

static cull_status put_why(cull_rep_page *page, const char *why)
{
    char words[CULL_REP_MARK];

    (void)snprintf(words, sizeof words, "Energy is %.200s.", why);
    cull_rep_put(&page->html, "<p class=\"note\">");
    cull_rep_sentence(&page->html, words, sizeof words);
    cull_rep_put(&page->html, "</p>\n");
    return page->html.status;
}

cull_status cull_rep_draw_speedup(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status    status = CULL_OK;
    bool           energy = view->is->drawing == CULL_DRAW_ENERGY;
    const char    *why = energy ? why_nothing_is_counted(view) : NULL;
    double         ground = find_ground(view);
    size_t         grounded = count_grounded(view);
    cull_rep_chart chart = {.x.log = true, .y.log = true};
    char           what[CULL_REP_MARK], caption[600], none[100] = "";
    bool           shares = true;

    if (why) return put_why(page, why);
    (void)snprintf(chart.x.title, sizeof chart.x.title, "%s",
                   view->is->x[0] ? view->is->x
                   : energy       ? "times less energy than full training, log scale"
                                  : "times faster than full training, log scale");
    if (view->is->y[0])
        (void)snprintf(chart.y.title, sizeof chart.y.title, "%.100s", view->is->y);
    else
        (void)snprintf(chart.y.title, sizeof chart.y.title, "%s given up, log scale",
                       view->by->points);
    for (size_t i = 0; i < view->arms; i++) {
        bool again = view->arm[i].is->full;

        shares = shares && (again || !view->arm[i].is->value[0]);
        for (size_t j = 0; j < i; j++)
            again = again || cull_rep_view_joined(&view->arm[j], &view->arm[i]);
        if (!again) TRY(add_line(view, &chart, i, ground));
    }
    if (grounded)
        (void)snprintf(none, sizeof none, " %zu mark%s on the lowest line give%s nothing up.",
                       grounded, grounded == 1 ? "" : "s", grounded == 1 ? "s" : "");
    (void)snprintf(what, sizeof what, "%s: %s against what is given up", view->is->number,
                   energy ? "energy saved" : "speed-up");
    (void)snprintf(caption, sizeof caption,
                   "<b>%s against what it gives up.</b> Further right and lower is better%s. "
                   "%s over all of a run, selection included, mean over seeds; "
                   "points of test %s below full training at the end.%s",
                   energy ? "Energy saved" : "Speed-up", shares ? "; small shares lie right" : "",
                   energy ? "Joules" : "Seconds", view->by->name, none);
    status = cull_rep_chart_draw(page, &chart, what, caption);
done:
    cull_rep_chart_clear(&chart);
    return status;
}
