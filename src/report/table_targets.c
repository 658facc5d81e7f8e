/* report/table_targets.c - how many times sooner than full training strategies come to an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/view.h"

static const double factor[] = {1.1, 1.2, 1.4};
enum { FACTORS = sizeof factor / sizeof *factor };

/* Seconds until an error, mean over the runs that come to it. */
static cull_rep_mean reach(const cull_rep_view *view, const cull_rep_view_arm *arm, double error)
{
    cull_rep_mean m = {0};

    for (size_t r = 0; r < arm->is->runs; r++) {
        const cull_records_line *look =
            arm->run[r].there ? cull_along_reach(&arm->run[r].record, view->by, error) : NULL;

        if (!look) continue;
        m.mean += cull_along_seconds(look);
        m.runs++;
    }
    m.mean = m.runs ? m.mean / (double)m.runs : NAN;
    return m;
}

static void put_times(cull_rep_page *page, const cull_rep_view *view, const cull_rep_view_arm *arm,
                      const cull_rep_view_arm *full, double error)
{
    cull_rep_text *cell = cull_rep_cell(page);
    cull_rep_mean  mine = reach(view, arm, error), whole = reach(view, full, error);

    if (!mine.runs || cull_rep_view_begins_at(view, full, error)) {
        cull_rep_put(cell, mine.runs ? "–" : "never");
        return;
    }
    cull_rep_print(cell, "%.2f×", whole.mean / mine.mean);
    if (mine.runs < arm->there)
        cull_rep_print(cell, " <small>(%zu of %zu runs)</small>", mine.runs, arm->there);
}

static void put_value(cull_rep_page *page, const cull_rep_view *view, double value)
{
    char words[CULL_REP_NAME];

    cull_rep_value(view->by, value, words);
    cull_rep_put(cull_rep_cell(page), isfinite(value) ? words : "–");
}

cull_status cull_rep_table_targets(cull_rep_page *page, const cull_rep_view *view)
{
    static const cull_rep_column columns[] = {
        {"Strategy", "and its value or share, where it has several", true},
        {"Full training ends at", "error on the test set, mean over seeds", false},
        {"Ends at", "the strategy’s own last error", false},
        {"To × 1.1",
         "how many times sooner than full training the strategy comes to 1.1 times that error; "
         "below 1: later; never: no run of it does; –: full training is there at its first look, "
         "which tells nothing",
         false},
        {"To × 1.2", NULL, false},
        {"To × 1.4", NULL, false},
    };

    cull_rep_table_begin(page, "Speed-up to errors", columns, sizeof columns / sizeof *columns,
                         true);
    for (size_t i = 0; i < view->arms; i++) {
        const cull_rep_view_arm *arm = &view->arm[i], *full = cull_rep_view_full(view, arm);
        double                   error = cull_rep_view_error(view, full);
        char                     name[CULL_REP_NAME];

        if (arm->is->full || !arm->there || isnan(error)) continue;
        cull_rep_view_told(view, arm, name);
        cull_rep_name_cell(page, &arm->style, name);
        put_value(page, view, error);
        put_value(page, view, cull_yardstick_error(view->by, cull_rep_view_end(arm).mean));
        for (int f = 0; f < FACTORS; f++) put_times(page, view, arm, full, factor[f] * error);
    }
    cull_rep_table_end(page);
    return page->html.status;
}
