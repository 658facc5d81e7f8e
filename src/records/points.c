/* records/points.c - points.jsonl, written as a whole and read back line by line. */
#include "records/points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "records/fields.h"

enum { MOST_POINTS = 200000 };

/* A line; texts are borrowed from the JSON, or from the point. */
struct line {
    const char *kind, *panel, *series, *value;
    double      x, y, low, high;
};

// clang-format off
#define F(kind, name) CULL_FIELD(struct line, #name, kind, name)

static const cull_records_field fields[] = {
    F(TEXT, kind), F(TEXT_IF, panel), F(TEXT, series), F(TEXT_IF, value),
    F(NUMBER, x), F(NUMBER, y), F(NUMBER, low), F(NUMBER, high),
};
// clang-format on

cull_status cull_records_points_add(cull_records_points *points, const cull_records_point *point)
{
    cull_status status = CULL_OK;

    TRY(cull_records_room(points->count, &points->room, sizeof *points->point, "points",
                          &points->point));
    points->point[points->count++] = *point;
done:
    return status;
}

static void put_point(cull_json *json, const cull_records_point *p)
{
    struct line line = {"point", p->panel, p->series, p->value, p->x, p->y, p->low, p->high};

    cull_json_open(json, NULL, '{');
    cull_records_put(json, CULL_FIELDS(fields), &line);
    cull_json_close(json, '}');
    cull_json_line(json);
}

cull_status cull_records_points_write(const char *folder, const cull_records_points *points)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};
    char        path[CULL_DATA_PATH];

    for (size_t i = 0; i < points->count; i++) put_point(&json, &points->point[i]);
    TRY(json.status);
    TRY(cull_base_join(folder, "points.jsonl", path));
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size));
done:
    cull_json_clear(&json);
    return status;
}

/* ---- reading ---- */

static cull_status take_point(const json_t *from, cull_records_points *out)
{
    cull_status        status = CULL_OK;
    struct line        line = {0};
    cull_records_point p = {.panel = ""};

    cull_records_take(from, CULL_FIELDS(fields), &line);
    if (strcmp(line.kind, "point") != 0 || out->count >= MOST_POINTS) goto done;
    if (isnan(line.y) || (isnan(line.x) && !line.value[0])) goto done; /* it is nowhere */
    (void)snprintf(p.panel, sizeof p.panel, "%s", line.panel);
    (void)snprintf(p.series, sizeof p.series, "%s", line.series);
    (void)snprintf(p.value, sizeof p.value, "%s", line.value);
    p.x = line.x;
    p.y = line.y;
    p.low = line.low;
    p.high = line.high;
    TRY(cull_records_points_add(out, &p));
done:
    return status;
}

cull_status cull_records_points_decode(const char *name, const void *data, size_t bytes,
                                       cull_records_points *out, cull_records_list *problems)
{
    cull_status        status = CULL_OK;
    cull_records_lines lines = {.at = data, .end = data ? (const char *)data + bytes : NULL};

    while (cull_records_next(&lines))
        if (lines.line) TRY(take_point(lines.line, out));
    TRY(lines.status);
    if (lines.broken)
        TRY(cull_records_say(problems, "%s: %zu line%s from line %zu on %s no JSON; skipped", name,
                             lines.broken, lines.broken == 1 ? "" : "s", lines.first,
                             lines.broken == 1 ? "is" : "are"));
done:
    cull_records_lines_clear(&lines);
    return status;
}

cull_status cull_records_points_read(const char *folder, cull_records_points *out, bool *there,
                                     cull_records_list *problems)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/points.jsonl", folder);
    TRY(cull_records_file(folder, "points.jsonl", &data, &bytes));
    if (data) *there = true;
    TRY(cull_records_points_decode(name, data, bytes, out, problems));
done:
    cull_bytes_release(data);
    return status;
}

void cull_records_points_clear(cull_records_points *points)
{
    cull_base_free(points->point);
    *points = (cull_records_points){0};
}

/* ---- for programs ---- */

static bool is_same_place(const cull_records_point *a, const cull_records_point *b)
{
    return strcmp(a->panel, b->panel) == 0 && strcmp(a->series, b->series) == 0 &&
           strcmp(a->value, b->value) == 0 && (a->x == b->x || (isnan(a->x) && isnan(b->x)));
}

cull_status cull_points_write(const char *folder, const cull_point *point, size_t count, bool anew)
{
    cull_status         status = CULL_OK;
    cull_records_points all = {0};
    cull_records_list   problems = {0};
    bool                there = false;

    if (!anew) TRY(cull_records_points_read(folder, &all, &there, &problems));
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        while (at < all.count && !is_same_place(&all.point[at], &point[i])) at++;
        if (at == all.count)
            TRY(cull_records_points_add(&all, &point[i]));
        else
            all.point[at] = point[i];
    }
    TRY(cull_records_points_write(folder, &all));
done:
    cull_records_list_clear(&problems);
    cull_records_points_clear(&all);
    return status;
}
