/*
 * records/along.h - a run along its training, as figures and claims read it: what had been spent
 * at each look at the test set, when a target was met, and who is on a frontier.
 */
#ifndef CULL_RECORDS_ALONG_H
#define CULL_RECORDS_ALONG_H

#include "records/run.h"

/* Of a look, in the unit of the yardstick: percent of error. */
double cull_along_error(const cull_yardstick *by, const cull_records_line *look);
/* Spent by then: seconds of the phases that are cost (all of them where phases are not told apart),
 * joules of the same, updates of the weights. NaN: the run does not tell. */
double cull_along_seconds(const cull_records_line *look);
double cull_along_joules(const cull_records_line *look);
double cull_along_updates(const cull_records_line *look);

/* The first look at the test set whose error is no larger; NULL: there is none. */
const cull_records_line *cull_along_reach(const cull_records_run *run, const cull_yardstick *by,
                                          double error);

/* A point of many, less being better on both axes. */
typedef struct cull_along_point {
    double x, y;
    size_t whose; /* a group of the caller's */
    bool   front; /* nobody is as good at both, and better at one */
} cull_along_point;

/* Sorts the points by x, and tells who is on the frontier; of equal points the first is. */
void cull_along_front(cull_along_point *point, size_t count);
/* The share of the frontier's points that are `whose`; NaN: there are none. */
double cull_along_share(const cull_along_point *point, size_t count, size_t whose);

#endif
