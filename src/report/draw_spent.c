/*
 * report/draw_spent.c - what time went into until a target error, by phase.
 *
 *     target    a factor of the error that full training ends at, mean over its seeds
 *     forward   of learning: trained examples times what scoring one takes here (a forward pass and
 *               nothing else); where nothing scores, a third of learning
 *     backward  the rest of learning
 *
 * A run is at the target at the first look at the test set that is no worse. Bars are means over
 * the runs of an arm that come there; one that never does has none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/bars.h"
#include "report/view.h"

enum part { OTHER, TO_SCORE, TO_SELECT, FORWARD, BACKWARD, PARTS };

static const char *const names[PARTS] = {"load and update", "forward, to score", "select",
                                         "forward, to learn", "backward"};

/* Seconds that scoring an example takes, mean over all runs that score; NaN: none does. */
static double score_seconds(const cull_rep_view *view)
{
    double sum = 0;
    size_t count = 0;

    for (size_t a = 0; a < view->arms; a++)
        for (size_t r = 0; r < view->arm[a].is->runs; r++) {
            const cull_records_work *work = &view->arm[a].run[r].record.info.work;
            double                   each = work->seconds_by[CULL_PHASE_SCORE] / work->scored;

            if (!view->arm[a].run[r].there || !(work->scored > 0) || !(each > 0)) continue;
            sum += each;
            count++;
        }
    return count ? sum / (double)count : NAN;
}

static void add_parts(const cull_records_work *so_far, double score, double part[PARTS])
{
    const double *by = so_far->seconds_by;
    double        learn = by[CULL_PHASE_LEARN];
    double        forward = isnan(score) ? learn / 3 : fmin(score * so_far->trained, learn);

    part[OTHER] += by[CULL_PHASE_LOAD] + by[CULL_PHASE_OPTIM];
    part[TO_SCORE] += by[CULL_PHASE_SCORE];
    part[TO_SELECT] += by[CULL_PHASE_SELECT];
    part[FORWARD] += forward;
    part[BACKWARD] += learn - forward;
}

static double sum(const double part[PARTS])
{
    double all = 0;

    for (int p = 0; p < PARTS; p++) all += part[p];
    return all;
}

static void add_bar(const cull_rep_view *view, cull_rep_bars *bars, const cull_rep_view_arm *arm,
                    double score)
{
    double level = view->is->target * cull_rep_view_error(view, cull_rep_view_full(view, arm));
    double part[PARTS] = {0};
    size_t came = 0;
    char   name[CULL_REP_NAME];
    cull_rep_bar *bar = NULL;

    if (!arm->there || isnan(level)) return;
    for (size_t r = 0; r < arm->is->runs; r++) {
        const cull_records_line *look =
            arm->run[r].there ? cull_along_reach(&arm->run[r].record, view->by, level) : NULL;

        if (!look) continue;
        add_parts(&look->so_far, score, part);
        came++;
    }
    cull_rep_view_told(view, arm, name);
    bar = cull_rep_bars_add(bars, name);
    if (!bar) return;
    for (int p = 0; p < PARTS && came; p++) bar->part[p] = part[p] / (double)came;
    if (!came)
        (void)snprintf(bar->remark, sizeof bar->remark, "not reached");
    else if (came < arm->there)
        (void)snprintf(bar->remark, sizeof bar->remark, "%.3g s, %zu of %zu runs",
                       sum(part) / (double)came, came, arm->there);
}

/* "4.20 %", or how many there are. */
static void name_level(const cull_rep_view *view, char out[CULL_REP_NAME])
{
    double level = NAN;

    for (size_t i = 0; i < view->arms; i++) {
        double one =
            view->is->target * cull_rep_view_error(view, cull_rep_view_full(view, &view->arm[i]));

        if (i && one != level) {
            (void)snprintf(out, CULL_REP_NAME, "each value’s own");
            return;
        }
        level = one;
    }
    cull_rep_value(view->by, level, out);
}

/* Of any value. */
static bool begins_there(const cull_rep_view *view)
{
    bool begins = false;

    for (size_t i = 0; i < view->arms && !begins; i++) {
        const cull_rep_view_arm *full = cull_rep_view_full(view, &view->arm[i]);

        begins =
            cull_rep_view_begins_at(view, full, view->is->target * cull_rep_view_error(view, full));
    }
    return begins;
}

cull_status cull_rep_draw_spent(cull_rep_page *page, const cull_rep_view *view)
{
    double        score = score_seconds(view);
    char          what[CULL_REP_MARK], caption[700], level[CULL_REP_NAME] = "";
    cull_rep_bars bars = {
        .axis = "time to the target error (s)", .unit = " s", .parts = PARTS, .fine = true};

    for (int p = 0; p < PARTS; p++) {
        bars.part[p] = names[p];
        bars.colour[p] = CULL_REP_PHASE + p;
    }
    if (view->is->x[0]) bars.axis = view->is->x;
    for (size_t i = 0; i < view->arms; i++) add_bar(view, &bars, &view->arm[i], score);
    name_level(view, level);
    (void)snprintf(what, sizeof what, "%s: time until %.3g times full training’s error, by phase",
                   view->is->number, view->is->target);
    (void)snprintf(
        caption, sizeof caption,
        "<b>Where the time to the target goes.</b> Until a test %s of %.3g times the one "
        "full training ends at (%s), mean over the runs that come there. Learning is "
        "told apart by %s.%s",
        view->by->error, view->is->target, level,
        isnan(score) ? "counted work: a third forward, two backward"
                     : "what a forward pass takes where examples are scored",
        begins_there(view) ? " Full training is there at its first look: the bars do not tell who "
                             "is sooner."
                           : "");
    return cull_rep_bars_draw(page, &bars, what, caption);
}
