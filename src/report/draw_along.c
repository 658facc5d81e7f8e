/*
 * report/draw_along.c - error in the course of runs, over updates of the weights or over time; or
 * the result itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/view.h"

enum { MOST_PANELS = 12, MOST_BANDS = 6 }; /* more bands hide each other */

/* The mean of look i over the runs of an arm, and the least and the largest. */
struct look {
    double x, y, low, high;
};

static bool is_result(const cull_rep_view *view)
{
    return view->is->drawing == CULL_DRAW_COURSE;
}

static double height_of(const cull_rep_view *view, const cull_records_line *look)
{
    return is_result(view) ? view->by->scale * look->accuracy : cull_along_error(view->by, look);
}

static double place_of(const cull_rep_view *view, const cull_records_line *look)
{
    return view->is->drawing == CULL_DRAW_UPDATES ? cull_along_updates(look)
                                                  : cull_along_seconds(look);
}

/* Looks that all runs share. */
static size_t count_looks(const cull_rep_view_arm *arm)
{
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < arm->is->runs; i++) {
        size_t count = arm->run[i].record.curves.of[CULL_RECORDS_TEST].count;
        if (arm->run[i].there && count > 0 && count < least) least = count;
    }
    return least == SIZE_MAX ? 0 : least;
}

static struct look mean_look(const cull_rep_view *view, const cull_rep_view_arm *arm, size_t i)
{
    struct look at = {.low = INFINITY, .high = -INFINITY};
    size_t      count = 0;

    for (size_t r = 0; r < arm->is->runs; r++) {
        const cull_records_curve *curve = &arm->run[r].record.curves.of[CULL_RECORDS_TEST];
        double                    y = 0;

        if (!arm->run[r].there || curve->count <= i) continue;
        y = height_of(view, &curve->look[i]);
        at.x += place_of(view, &curve->look[i]);
        at.y += y;
        at.low = fmin(at.low, y);
        at.high = fmax(at.high, y);
        count++;
    }
    at.x /= (double)count;
    at.y /= (double)count;
    return at;
}

/* "sb: error 4.10 % after 23.1 s, the least 3.90 % after 20.2 s" */
static void say(const cull_rep_view *view, const char *name, const struct look *last,
                const struct look *best, char out[CULL_REP_MARK])
{
    const char *unit = view->is->drawing == CULL_DRAW_UPDATES ? "updates" : "s";
    bool        result = is_result(view);
    char        end[CULL_REP_NAME], top[CULL_REP_NAME];

    cull_rep_value(view->by, last->y, end);
    cull_rep_value(view->by, best->y, top);
    (void)snprintf(out, CULL_REP_MARK,
                   "%.70s: %.30s %.24s after %.4g %.7s, the %.5s %.24s after "
                   "%.4g %.7s",
                   name, result ? view->by->name : "error", end, last->x, unit,
                   result ? "best" : "least", top, best->x, unit);
}

static bool is_better(const cull_rep_view *view, const struct look *a, const struct look *b)
{
    if (isnan(b->y)) return true;
    return is_result(view) ? cull_yardstick_gain(view->by, a->y, b->y) > 0 : a->y < b->y;
}

static void add_line(const cull_rep_view *view, cull_rep_chart *chart, const cull_rep_view_arm *arm,
                     bool of_value, bool band, size_t turn)
{
    size_t         count = count_looks(arm);
    struct look    best = {.y = NAN}, last = {.y = NAN};
    char           name[CULL_REP_NAME], says[CULL_REP_MARK];
    cull_rep_line *line = NULL;

    if (of_value)
        cull_rep_view_called(arm, name);
    else
        cull_rep_view_told(view, arm, name);
    line = cull_rep_chart_line(chart, name, &arm->style);
    line->marks = CULL_REP_MARK_LAST;
    line->band = band && arm->there > 1;
    line->style.marker = (line->style.marker + (int)turn) % 6; /* values of one series */
    for (size_t i = 0; i < count; i++) {
        struct look look = mean_look(view, arm, i);

        if (!isfinite(look.x) || !(look.y > 0 || is_result(view))) continue;
        if (is_better(view, &look, &best)) best = look;
        last = look;
    }
    say(view, name, &last, &best, says);
    for (size_t i = 0; i < count; i++) {
        struct look look = mean_look(view, arm, i);

        cull_rep_chart_spot(chart, look.x, look.y, look.low, look.high,
                            look.x == last.x ? says : NULL);
    }
}

/* How many arms of its series came before. */
static size_t turn_of(const cull_rep_view *view, size_t i)
{
    size_t turn = 0;

    for (size_t j = 0; j < i; j++) turn += cull_rep_view_joined(&view->arm[i], &view->arm[j]);
    return turn;
}

/* Lines of a figure; value NULL: all arms. */
static size_t count_lines(const cull_rep_view *view, const char *value)
{
    size_t lines = 0;

    for (size_t i = 0; i < view->arms; i++)
        lines += !value || strcmp(value, view->arm[i].is->value) == 0;
    return lines;
}

/* value NULL: all arms in one figure. */
static cull_status draw(cull_rep_page *page, const cull_rep_view *view, const char *value)
{
    bool           updates = view->is->drawing == CULL_DRAW_UPDATES;
    bool           result = is_result(view), bands = count_lines(view, value) <= MOST_BANDS;
    cull_rep_chart chart = {.x.zero = true, .y.log = !result};
    const char    *name = result ? view->by->name : view->by->error;
    char           what[CULL_REP_MARK], caption[480];

    (void)snprintf(chart.x.title, sizeof chart.x.title, "%s",
                   view->is->x[0] ? view->is->x
                   : updates      ? "updates of the weights"
                                  : "time (s)");
    if (result)
        cull_rep_axis(view->by, "test ", chart.y.title);
    else
        (void)snprintf(chart.y.title, sizeof chart.y.title, "test %s%s%s%s, log scale",
                       view->by->error, view->by->unit[0] ? " (" : "", view->by->unit,
                       view->by->unit[0] ? ")" : "");
    if (value) (void)snprintf(chart.about, sizeof chart.about, "%s", value);
    for (size_t i = 0; i < view->arms; i++)
        if (!value || strcmp(value, view->arm[i].is->value) == 0)
            add_line(view, &chart, &view->arm[i], value != NULL, bands,
                     value ? 0 : turn_of(view, i));
    (void)snprintf(what, sizeof what, "%s: test %s against %s%s%.60s", view->is->number, name,
                   updates ? "updates" : "time", value ? ", " : "", value ? value : "");
    (void)snprintf(caption, sizeof caption,
                   "<b>Test %s against %s.</b> Mean over seeds%s; the mark is where a run ends. %s",
                   name, updates ? "updates" : "time",
                   bands ? ", bands from the least to the most" : "",
                   updates ? "An update is one step of the optimizer."
                           : "Seconds of loading, scoring, selecting and learning as they passed "
                             "here.");
    return cull_rep_chart_draw(page, &chart, what, caption);
}

/* Where every value has its full training, a figure for each; where one is common, one for all. */
cull_status cull_rep_draw_along(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status status = CULL_OK;
    const char *value[MOST_PANELS];
    size_t      count = 0;

    for (size_t i = 0; i < view->arms; i++) {
        bool again = !view->arm[i].is->full || !view->arm[i].is->value[0];

        for (size_t j = 0; j < count; j++)
            again = again || strcmp(value[j], view->arm[i].is->value) == 0;
        if (!again && count < MOST_PANELS) value[count++] = view->arm[i].is->value;
    }
    if (count < 2) return draw(page, view, NULL);
    for (size_t i = 0; i < count; i++) TRY(draw(page, view, value[i]));
done:
    return status;
}
