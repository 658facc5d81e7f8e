/*
 * records/yardstick.h - what runs are judged by, as pages and sentences speak of it: one for each
 * loss.
 *
 *     cross-entropy          accuracy   share of the examples classified right
 *     squared-error          R²         1 - squared error / variance of the targets
 *     binary-cross-entropy   mAP        mean over the labels of their average precision
 *
 * Whoever shows a result takes its words, its unit and its direction from here. Values are those
 * of comparison.json (in percent); run.json and metrics.jsonl hold them divided by `scale`.
 */
#ifndef CULL_RECORDS_YARDSTICK_H
#define CULL_RECORDS_YARDSTICK_H

#include "base/status.h"

typedef struct cull_yardstick {
    const char *name;   /* "accuracy", as in "test accuracy"                          */
    const char *unit;   /* behind a value: "%"; "": none                              */
    const char *points; /* what differences come in: "points"                         */
    const char *error;  /* what is still to be gained, for curves that fall: "error"  */
    double      scale;  /* a value of comparison.json by that of a run                */
    double      best;   /* the best there can be: the error is the distance to it     */
    int         digits; /* behind the point                                           */
    bool        lower;  /* is better                                                  */
    bool        counts; /* a share of the test examples, so that it comes in steps    */

    const char *key;     /* what a run's files and TensorBoard's tags call it          */
    const char *what;    /* one line for whoever does not know it                      */
    bool        bounded; /* by 0 from below                                            */
} cull_yardstick;

extern const cull_yardstick cull_yardstick_accuracy, cull_yardstick_r2, cull_yardstick_map;

/* i = 0, 1, ... until NULL. */
const cull_yardstick *cull_yardstick_at(size_t i);
/* By its key; "": accuracy, which older files do not name. NULL: not known here. */
const cull_yardstick *cull_yardstick_find(const char *key);
/* "higher" or "lower": which is better. */
const char *cull_yardstick_way(const cull_yardstick *measure);

/* Can this be a run's value? */
bool cull_yardstick_can_be(const cull_yardstick *measure, double value);

/* How much better a is than b, in points: below 0 it is worse. */
double cull_yardstick_gain(const cull_yardstick *measure, double a, double b);

/* How far a value is from the best. */
double cull_yardstick_error(const cull_yardstick *measure, double value);

/* The steps that values of so many test examples come in; 0: none, or not known. */
double cull_yardstick_step(const cull_yardstick *measure, double examples);

#endif
