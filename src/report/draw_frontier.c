/*
 * report/draw_frontier.c - every point along training of every run, error over time: who is on the
 * frontier, and each group's share of it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/view.h"

enum { LOG_FROM = 12 };

/* All points; `whose` is an arm. */
struct cloud {
    cull_along_point *point;
    size_t            count;
};

static cull_status gather(const cull_rep_view *view, struct cloud *cloud)
{
    cull_status status = CULL_OK;
    size_t      room = 0;

    for (size_t a = 0; a < view->arms; a++)
        for (size_t r = 0; r < view->arm[a].is->runs; r++) {
            const cull_rep_seen      *run = &view->arm[a].run[r];
            const cull_records_curve *curve = &run->record.curves.of[CULL_RECORDS_TEST];

            for (size_t i = 0; run->there && i < curve->count; i++) {
                cull_along_point p = {.x = cull_along_seconds(&curve->look[i]),
                                      .y = cull_along_error(view->by, &curve->look[i]),
                                      .whose = a};

                if (!isfinite(p.x) || !(p.x > 0) || !isfinite(p.y)) continue;
                TRY(cull_records_room(cloud->count, &room, sizeof *cloud->point, "a frontier",
                                      &cloud->point));
                cloud->point[cloud->count++] = p;
            }
        }
    cull_along_front(cloud->point, cloud->count);
done:
    return status;
}

static bool is_first(const cull_rep_view *view, size_t a)
{
    for (size_t b = 0; b < a; b++)
        if (cull_rep_view_joined(&view->arm[b], &view->arm[a])) return false;
    return true;
}

/* The points of one series: those on the frontier, or all of the others. */
static void add_series(const cull_rep_view *view, cull_rep_chart *chart, const struct cloud *cloud,
                       size_t first, bool front)
{
    char           name[CULL_REP_NAME], said[CULL_REP_NAME], value[CULL_REP_NAME];
    cull_rep_line *line = NULL;

    cull_rep_view_called(&view->arm[first], name);
    line = cull_rep_chart_line(chart, name, &view->arm[first].style);
    line->bare = true;
    line->faint = !front;
    for (size_t i = 0; i < cloud->count; i++) {
        const cull_along_point  *p = &cloud->point[i];
        const cull_rep_view_arm *arm = &view->arm[p->whose];
        char                     says[CULL_REP_MARK];

        if (p->front != front || !cull_rep_view_joined(&view->arm[first], arm)) continue;
        cull_rep_view_named(arm, said);
        cull_rep_value(view->by, p->y, value);
        (void)snprintf(says, sizeof says, "%s: error %.30s after %.4g s", said, value, p->x);
        cull_rep_chart_spot(chart, p->x, p->y, NAN, NAN, front ? says : NULL);
    }
}

/* From point to point of the frontier. */
static void add_edge(cull_rep_chart *chart, const struct cloud *cloud)
{
    cull_rep_line *line = cull_rep_chart_line(chart, "", &(cull_rep_style){.colour = 0});

    line->quiet = true;
    line->marks = CULL_REP_MARK_NONE;
    for (size_t i = 0; i < cloud->count; i++)
        if (cloud->point[i].front)
            cull_rep_chart_spot(chart, cloud->point[i].x, cloud->point[i].y, NAN, NAN, NULL);
}

/* ---- the table ---- */

static const char *group_of(const cull_rep_view_arm *arm)
{
    return arm->is->group[0] ? arm->is->group : arm->is->full ? "full training" : arm->is->series;
}

static void put_group(cull_rep_page *page, const cull_rep_view *view, const struct cloud *cloud,
                      size_t first)
{
    size_t all = 0, mine = 0, points = 0;

    for (size_t i = 0; i < cloud->count; i++) {
        bool of =
            strcmp(group_of(&view->arm[cloud->point[i].whose]), group_of(&view->arm[first])) == 0;

        points += of;
        all += cloud->point[i].front;
        mine += of && cloud->point[i].front;
    }
    cull_rep_name_cell(page, NULL, group_of(&view->arm[first]));
    cull_rep_count(cull_rep_cell(page), (double)points);
    cull_rep_count(cull_rep_cell(page), (double)mine);
    cull_rep_print(cull_rep_cell(page), "%.1f %%", 100 * (double)mine / (double)all);
}

static void put_shares(cull_rep_page *page, const cull_rep_view *view, const struct cloud *cloud)
{
    static const cull_rep_column columns[] = {
        {"Group", "strategies whose points count together", true},
        {"Points", "looks at the test set, of all their runs", false},
        {"On the frontier", "those with no other point as early and as good", false},
        {"Share", "of all points on the frontier", false},
    };

    cull_rep_table_begin(page, "Shares of the frontier", columns, sizeof columns / sizeof *columns,
                         false);
    for (size_t a = 0; a < view->arms; a++) {
        bool again = false;

        for (size_t b = 0; b < a; b++)
            again = again || strcmp(group_of(&view->arm[a]), group_of(&view->arm[b])) == 0;
        if (!again) put_group(page, view, cloud, a);
    }
    cull_rep_table_end(page);
}

static void set_axes(const cull_rep_view *view, const struct cloud *cloud, cull_rep_chart *chart)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < cloud->count; i++) {
        low = fmin(low, cloud->point[i].x);
        high = fmax(high, cloud->point[i].x);
    }
    chart->x.log = high >= LOG_FROM * low;
    chart->y.log = true;
    (void)snprintf(chart->x.title, sizeof chart->x.title, "%.90s%s",
                   view->is->x[0] ? view->is->x : "time (s)", chart->x.log ? ", log scale" : "");
    (void)snprintf(chart->y.title, sizeof chart->y.title, "test %s%s%s%s, log scale",
                   view->by->error, view->by->unit[0] ? " (" : "", view->by->unit,
                   view->by->unit[0] ? ")" : "");
}

cull_status cull_rep_draw_frontier(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status    status = CULL_OK;
    struct cloud   cloud = {0};
    cull_rep_chart chart = {.x.zero = false};
    char           what[CULL_REP_MARK];

    TRY(gather(view, &cloud));
    if (!cloud.count) goto done;
    set_axes(view, &cloud, &chart);
    for (size_t a = 0; a < view->arms; a++)
        if (is_first(view, a)) add_series(view, &chart, &cloud, a, false);
    add_edge(&chart, &cloud);
    for (size_t a = 0; a < view->arms; a++)
        if (is_first(view, a)) add_series(view, &chart, &cloud, a, true);
    (void)snprintf(what, sizeof what, "%s: the frontier of time and error", view->is->number);
    TRY(cull_rep_chart_draw(
        page, &chart, what,
        "<b>The frontier of time and error.</b> Small: every look of every run at the test set. "
        "Large, on the thin line: those that no other is as early and as good as."));
    put_shares(page, view, &cloud);
done:
    cull_base_free(cloud.point);
    cull_rep_chart_clear(&chart);
    return status;
}
