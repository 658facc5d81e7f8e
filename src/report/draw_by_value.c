/*
 * report/draw_by_value.c - results against the share that is kept, or against a value that is
 * swept: numbers on a line, words side by side. Against the share, each value has a picture.
 *
 * Of each run the highest result counts, as the papers have it: its mean over seeds, and a band
 * from the least to the most. Where the same runs end is a second line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/view.h"

enum { LOG_FROM = 12, MOST_PANELS = 12 }; /* times the least: an axis of powers */

static bool by_share(const cull_rep_view *view)
{
    return view->is->drawing == CULL_DRAW_BY_KEEP;
}

/* Full training of no value, or in the picture of one: a level. */
static bool is_level(const cull_rep_view *view, const cull_rep_view_arm *arm)
{
    return cull_rep_view_common(view, arm) || (by_share(view) && arm->is->full);
}

/* ---- the axis ---- */

/* What lies along x. */
struct axis {
    bool   numbers;
    double low, least, high; /* least: above zero */
};

/* What stands at a place: of "absolute:0.5" the number. */
static const char *word_of(const cull_paper_arm *arm)
{
    const char *colon = strrchr(arm->value, ':');

    return colon && isfinite(arm->x) ? colon + 1 : arm->value;
}

static void add_place(cull_rep_scale *x, const char *words)
{
    for (size_t i = 0; i < x->places; i++)
        if (strcmp(x->place[i], words) == 0) return;
    if (x->places < CULL_REP_PLACES) x->place[x->places++] = words;
}

/* Numbers that span powers, and nothing among them, stand at their names. */
static bool are_places(const struct axis *axis)
{
    return !axis->numbers || (axis->low == 0 && axis->high >= LOG_FROM * axis->least);
}

static void set_axis(const cull_rep_view *view, cull_rep_chart *chart)
{
    struct axis axis = {true, INFINITY, INFINITY, -INFINITY};
    char        title[CULL_REP_NAME];

    cull_rep_axis_of(view->is->x[0]   ? view->is->x
                     : by_share(view) ? "kept share ρ"
                                      : "value",
                     0, title);
    for (size_t i = 0; i < view->arms; i++) {
        const cull_paper_arm *arm = view->arm[i].is;

        if (is_level(view, &view->arm[i]) || !view->arm[i].there) continue;
        axis.numbers = axis.numbers && isfinite(arm->x);
        axis.low = fmin(axis.low, arm->x);
        axis.high = fmax(axis.high, arm->x);
        if (arm->x > 0) axis.least = fmin(axis.least, arm->x);
    }
    for (size_t i = 0; are_places(&axis) && i < view->arms; i++)
        if (!is_level(view, &view->arm[i]) && view->arm[i].there)
            add_place(&chart->x, word_of(view->arm[i].is));
    chart->x.log = !chart->x.places && axis.low > 0 && axis.high >= LOG_FROM * axis.low;
    (void)snprintf(chart->x.title, sizeof chart->x.title, "%.90s%s%s", title,
                   by_share(view) ? " (%)" : "", chart->x.log ? ", log scale" : "");
}

/* Where an arm stands: percent of shares, numbers, or the place of its words. */
static double place(const cull_rep_view *view, const cull_rep_chart *chart,
                    const cull_rep_view_arm *arm)
{
    if (!chart->x.places) return by_share(view) ? 100 * arm->is->x : arm->is->x;
    for (size_t i = 0; i < chart->x.places; i++)
        if (strcmp(chart->x.place[i], word_of(arm->is)) == 0) return (double)i + 1;
    return NAN;
}

/* ---- lines ---- */

/* "sb at ρ = 0.1: maximum 93.10 %, 92.80 to 93.30 over 3 seeds" */
static void add_spot(const cull_rep_view *view, cull_rep_chart *chart, const cull_rep_view_arm *arm,
                     bool best)
{
    cull_rep_mean m = best ? cull_rep_view_best(arm) : cull_rep_view_end(arm);
    char          name[CULL_REP_NAME], value[CULL_REP_NAME], where[64] = "", says[CULL_REP_MARK];
    int           digits = view->by->digits;

    if (!m.runs) return;
    cull_rep_view_called(arm, name);
    cull_rep_value(view->by, m.mean, value);
    if (isfinite(arm->is->x) && by_share(view))
        (void)snprintf(where, sizeof where, " at ρ = %.3g", arm->is->x);
    else if (arm->is->value[0])
        (void)snprintf(where, sizeof where, " at %.50s", arm->is->value);
    else if (isfinite(arm->is->x))
        (void)snprintf(where, sizeof where, " at %.4g", arm->is->x);
    (void)snprintf(says, sizeof says, "%.80s%s: %s %.30s, %.*f to %.*f over %zu seed%s", name,
                   where, best ? "maximum" : "at the end", value, digits, m.low, digits, m.high,
                   m.runs, m.runs == 1 ? "" : "s");
    cull_rep_chart_spot(chart, is_level(view, arm) ? 1 : place(view, chart, arm), m.mean, m.low,
                        m.high, says);
}

static int by_x(const void *a, const void *b)
{
    const cull_rep_view_arm *const *x = a, *const *y = b;

    return ((*x)->is->x > (*y)->is->x) - ((*x)->is->x < (*y)->is->x);
}

/* Is an arm in the picture of a value, or in the one that there is? */
static bool is_of(const cull_rep_view *view, size_t i, const char *value)
{
    return !value || strcmp(view->arm[i].is->value, value) == 0;
}

/* One line: the arms that are joined with this one, by rising x; words stay in their order. */
static cull_status add_line(const cull_rep_view *view, cull_rep_chart *chart, size_t first,
                            const char *value, bool best)
{
    cull_status               status = CULL_OK;
    const cull_rep_view_arm  *head = &view->arm[first];
    const cull_rep_view_arm **joined = NULL;
    size_t                    count = 0;
    char                      name[CULL_REP_NAME];
    cull_rep_line            *line = NULL;

    TRY(cull_base_alloc(view->arms, sizeof *joined, "a line", &joined));
    for (size_t i = first; i < view->arms; i++)
        if (is_of(view, i, value) && cull_rep_view_joined(head, &view->arm[i]) &&
            is_level(view, head) == is_level(view, &view->arm[i]))
            joined[count++] = &view->arm[i];
    if (!chart->x.places) qsort((void *)joined, count, sizeof *joined, by_x);
    cull_rep_view_called(head, name);
    line = cull_rep_chart_line(chart, best ? name : "", &head->style);
    line->band = best;
    line->dotted = !best;
    line->across = is_level(view, head);
    for (size_t i = 0; i < count; i++) add_spot(view, chart, joined[i], best);
done:
    cull_base_free((void *)joined);
    return status;
}

static bool is_first(const cull_rep_view *view, size_t i, const char *value)
{
    for (size_t j = 0; j < i; j++)
        if (is_of(view, j, value) && cull_rep_view_joined(&view->arm[j], &view->arm[i]) &&
            is_level(view, &view->arm[j]) == is_level(view, &view->arm[i]))
            return false;
    return true;
}

/* "share of wrong labels 0.1" */
static void name_panel(const cull_rep_view *view, const char *value, char out[CULL_REP_NAME])
{
    char name[CULL_REP_NAME];

    cull_rep_axis_of(view->is->x, 1, name);
    (void)snprintf(out, CULL_REP_NAME, "%.70s %.40s", name, value);
}

/* value NULL: all arms. */
static cull_status draw(cull_rep_page *page, const cull_rep_view *view, const char *value)
{
    cull_status    status = CULL_OK;
    cull_rep_chart chart = {.y.log = false};
    char           what[CULL_REP_MARK], caption[600];

    set_axis(view, &chart);
    if (value) name_panel(view, value, chart.about);
    if (view->is->y[0])
        (void)snprintf(chart.y.title, sizeof chart.y.title, "%.100s", view->is->y);
    else
        cull_rep_axis(view->by, "test ", chart.y.title);
    for (int best = 0; best < 2; best++) /* what the paper draws lies above */
        for (size_t i = 0; i < view->arms; i++)
            if (is_of(view, i, value) && is_first(view, i, value))
                TRY(add_line(view, &chart, i, value, best));
    (void)snprintf(what, sizeof what, "%s: highest test %s of each run against %.60s%s%.60s",
                   view->is->number, view->by->name, chart.x.title, value ? ", " : "",
                   value ? chart.about : "");
    (void)snprintf(
        caption, sizeof caption,
        "<b>Highest test %s.</b> The best look of each run, mean over seeds; %s from the "
        "least to the most. %s: where the same runs end.",
        view->by->name, chart.x.places ? "whiskers" : "bands",
        chart.x.places ? "Small marks" : "Dotted, small marks");
    status = cull_rep_chart_draw(page, &chart, what, caption);
done:
    cull_rep_chart_clear(&chart);
    return status;
}

cull_status cull_rep_draw_by_value(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status status = CULL_OK;
    const char *value[MOST_PANELS];
    size_t      count = 0;

    for (size_t i = 0; by_share(view) && i < view->arms; i++) {
        bool again = !view->arm[i].is->value[0];

        for (size_t j = 0; j < count; j++)
            again = again || strcmp(value[j], view->arm[i].is->value) == 0;
        if (!again && count < MOST_PANELS) value[count++] = view->arm[i].is->value;
    }
    if (count < 2) return draw(page, view, NULL);
    for (size_t i = 0; i < count; i++) TRY(draw(page, view, value[i]));
done:
    return status;
}
