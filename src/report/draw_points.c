/* report/draw_points.c - figures whose points no run's own files hold: lines, side by side for each
 * panel, and bars made of their series. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "records/points.h"
#include "report/bars.h"
#include "report/view.h"

enum { MOST_PANELS = 24, MOST_LINES = 48, MOST_BANDS = 5 }; /* more bands hide each other */

/* Different texts of the points of a panel, in the order they come. */
struct texts {
    const char *of[MOST_LINES];
    size_t      count;
};

static size_t find_text(struct texts *texts, const char *text)
{
    size_t i = 0;

    while (i < texts->count && strcmp(texts->of[i], text) != 0) i++;
    if (i == texts->count && i < MOST_LINES) texts->of[texts->count++] = text;
    return i;
}

static bool is_of(const cull_records_point *point, const char *panel)
{
    return strcmp(point->panel, panel) == 0;
}

/* ---- lines ---- */

/* Numbers lie along x, or words do, in the order they come. */
static void set_places(const cull_records_points *points, const char *panel, cull_rep_chart *chart)
{
    struct texts places = {.count = 0};

    for (size_t i = 0; i < points->count; i++) {
        const cull_records_point *p = &points->point[i];

        if (is_of(p, panel) && !isfinite(p->x)) (void)find_text(&places, p->value);
    }
    for (size_t i = 0; i < places.count && i < CULL_REP_PLACES; i++)
        chart->x.place[chart->x.places++] = places.of[i];
}

static double place_of(const cull_rep_chart *chart, const cull_records_point *p)
{
    if (!chart->x.places) return p->x;
    for (size_t i = 0; i < chart->x.places; i++)
        if (strcmp(chart->x.place[i], p->value) == 0) return (double)i + 1;
    return NAN;
}

static cull_status add_line(const cull_records_points *points, const char *panel,
                            const char *series, bool band, unsigned *taken, cull_rep_names *names,
                            cull_rep_chart *chart)
{
    cull_status    status = CULL_OK;
    cull_rep_style style = {.colour = 0};
    char           says[CULL_REP_MARK];
    size_t         count = 0;
    cull_rep_line *line = NULL;

    TRY(cull_rep_names_style(names, series, *taken, &style));
    *taken |= 1U << style.colour;
    for (size_t i = 0; i < points->count; i++)
        count += is_of(&points->point[i], panel) && strcmp(points->point[i].series, series) == 0;
    line = cull_rep_chart_line(chart, series, &style);
    line->band = band;
    line->marks = count > 40 ? CULL_REP_MARK_SOME : CULL_REP_MARK_EACH;
    for (size_t i = 0; i < points->count; i++) {
        const cull_records_point *p = &points->point[i];

        if (!is_of(p, panel) || strcmp(p->series, series) != 0) continue;
        if (chart->x.places)
            (void)snprintf(says, sizeof says, "%.90s at %.60s: %.4g", series, p->value, p->y);
        else
            (void)snprintf(says, sizeof says, "%.90s at %.4g: %.4g", series, p->x, p->y);
        cull_rep_chart_spot(chart, place_of(chart, p), p->y, p->low, p->high, says);
    }
done:
    return status;
}

static cull_status draw_lines(cull_rep_page *page, const cull_rep_view *view, cull_rep_names *names,
                              const cull_records_points *points, const struct texts *panels,
                              size_t turn)
{
    cull_status    status = CULL_OK;
    const char    *panel = panels->of[turn];
    struct texts   series = {.count = 0};
    cull_rep_chart chart = {.x.log = false};
    char           what[CULL_REP_MARK];
    unsigned       taken = 0;

    set_places(points, panel, &chart);
    cull_rep_axis_of(view->is->x, turn, chart.x.title);
    cull_rep_axis_of(view->is->y, turn, chart.y.title);
    (void)snprintf(chart.about, sizeof chart.about, "%s", panel);
    for (size_t i = 0; i < points->count; i++)
        if (is_of(&points->point[i], panel)) (void)find_text(&series, points->point[i].series);
    for (size_t i = 0; i < series.count; i++) taken |= cull_rep_names_taken(names, series.of[i]);
    for (size_t i = 0; i < series.count; i++)
        TRY(add_line(points, panel, series.of[i], series.count <= MOST_BANDS, &taken, names,
                     &chart));
    (void)snprintf(what, sizeof what, "%s%s%.60s: %.120s", view->is->number, panel[0] ? ", " : "",
                   panel, view->is->title);
    status = cull_rep_chart_draw(page, &chart, what, "");
done:
    cull_rep_chart_clear(&chart);
    return status;
}

/* ---- bars ---- */

/* Parts that are phases keep their colours; others take turns. */
static int colour_of(const char *part, size_t turn)
{
    for (int p = 0; p < CULL_PHASES_OF_COST; p++)
        if (strcmp(part, cull_phase_name((cull_phase)p)) == 0) return CULL_REP_PHASE + p;
    if (strcmp(part, "forward") == 0) return CULL_REP_PHASE + CULL_PHASE_LEARN;
    if (strcmp(part, "backward") == 0) return CULL_REP_PHASE + CULL_PHASE_OPTIM;
    return CULL_REP_SERIES + 2 + (int)turn % 6;
}

static cull_status draw_bars(cull_rep_page *page, const cull_rep_view *view,
                             const cull_records_points *points, const struct texts *panels,
                             size_t turn)
{
    struct texts  value = {.count = 0}, part = {.count = 0};
    const char   *panel = panels->of[turn];
    char          what[CULL_REP_MARK], axis[CULL_REP_NAME];
    cull_rep_text caption = {0};
    cull_status   status = CULL_OK;
    cull_rep_bars bars = {.axis = axis, .unit = "", .fine = true};

    cull_rep_axis_of(view->is->x[0] ? view->is->x : view->is->y, turn, axis);
    for (size_t i = 0; i < points->count; i++) {
        const cull_records_point *p = &points->point[i];
        size_t                    row = is_of(p, panel) ? find_text(&value, p->value) : MOST_LINES;
        size_t column = row < MOST_LINES ? find_text(&part, p->series) : MOST_LINES;

        if (row >= CULL_REP_BARS || column >= CULL_REP_PARTS) continue;
        if (row == bars.bars) (void)cull_rep_bars_add(&bars, p->value);
        bars.bar[row].part[column] = p->y;
    }
    bars.parts = part.count < CULL_REP_PARTS ? part.count : CULL_REP_PARTS;
    for (size_t i = 0; i < bars.parts; i++) {
        bars.part[i] = part.of[i];
        bars.colour[i] = colour_of(part.of[i], i);
    }
    (void)snprintf(what, sizeof what, "%s%s%.60s: %.120s", view->is->number, panel[0] ? ", " : "",
                   panel, view->is->title);
    cull_rep_put(&caption, "<b>");
    cull_rep_escape(&caption, panel, CULL_REP_NAME);
    cull_rep_put(&caption, "</b>");
    TRY(caption.status);
    status = cull_rep_bars_draw(page, &bars, what, panel[0] ? caption.data : "");
done:
    cull_rep_text_clear(&caption);
    return status;
}

cull_status cull_rep_draw_points(cull_rep_page *page, const cull_rep_view *view,
                                 cull_rep_names *names)
{
    cull_status         status = CULL_OK;
    cull_records_points points = {0};
    struct texts        panels = {.count = 0};
    bool                there = false;

    TRY(cull_rep_forgive(
        cull_records_points_read(view->is->folder, &points, &there, view->problems),
        view->problems));
    for (size_t i = 0; i < points.count; i++) (void)find_text(&panels, points.point[i].panel);
    for (size_t i = 0; i < panels.count && i < MOST_PANELS; i++)
        if (view->is->drawing == CULL_DRAW_BARS)
            TRY(draw_bars(page, view, &points, &panels, i));
        else
            TRY(draw_lines(page, view, names, &points, &panels, i));
done:
    cull_records_points_clear(&points);
    return status;
}
