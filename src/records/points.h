/*
 * records/points.h - points.jsonl: the points of a figure that no run's own files hold, a line
 * each. docs/reproduce.md names the fields.
 */
#ifndef CULL_RECORDS_POINTS_H
#define CULL_RECORDS_POINTS_H

#include "cull_lab.h"
#include "records/files.h"
#include "records/json.h"

typedef cull_point cull_records_point;

typedef struct cull_records_points {
    cull_records_point *point; /* [count] in the order they were written */
    size_t              count, room;
} cull_records_points;

cull_status cull_records_points_add(cull_records_points *points, const cull_records_point *point);

/* Write FOLDER/points.jsonl by one rename. */
cull_status cull_records_points_write(const char *folder, const cull_records_points *points);

/* Lines behind those that are there; those that are no point are named, `name` beginning the
 * sentence. */
cull_status cull_records_points_decode(const char *name, const void *data, size_t bytes,
                                       cull_records_points *out, cull_records_list *problems);
/* Of a folder; *there stays false where it has no such file. */
cull_status cull_records_points_read(const char *folder, cull_records_points *out, bool *there,
                                     cull_records_list *problems);
void        cull_records_points_clear(cull_records_points *points);

#endif
