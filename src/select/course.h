/*
 * select/course.h - the course of a run: what each of its steps takes, as the selector needs it.
 *
 * A course says where a walk over a run is, and is asked what comes next. Training asks it step by
 * step; what a run is expected to do, and what it costs, are the same walk made beforehand, with
 * nobody choosing:
 *
 *     cull_sel_course course = {.selector = s, .drop_short = ..., .imagined = true};
 *
 *     for (uint64_t epoch = 0; epoch < cull_selector_epochs(s); epoch++) {
 *         cull_sel_course_epoch(&course, epoch, &needs);
 *         for (; cull_sel_course_peek(&course, &step); cull_sel_course_pass(&course, step.count))
 *             ... step.count examples are met, step.learns of them trained ...
 *     }
 *
 * It is a value: a copy looks ahead and leaves the walk where it is.
 */
#ifndef CULL_SELECT_COURSE_H
#define CULL_SELECT_COURSE_H

#include "select/select.h"

/* The latest choice from the pool. */
typedef struct cull_sel_decision {
    bool     made;
    uint64_t epoch;
} cull_sel_decision;

typedef struct cull_sel_course {
    const cull_selector *selector;
    bool                 drop_short; /* what fills no step at an epoch's end is left out         */
    bool                 imagined;   /* a subset of the pool counts as chosen as soon as it is due;
                                        else it is chosen when the selector has chosen it        */
    cull_sel_decision decided;       /* imagined: when that was                                  */

    uint64_t      step, epoch; /* the next step, and its epoch                             */
    size_t        at, count;   /* examples of this epoch that were met, and all it has     */
    const size_t *end;         /* [groups] ends of the training batches that a subset is made of */
    size_t        groups;      /* 0: any batches will do                                   */
} cull_sel_course;

typedef struct cull_sel_step {
    cull_needs needs;
    size_t     count;  /* examples it meets                        */
    size_t     learns; /* of them trained; 0: the rule says how many */
} cull_sel_step;

/* Is an epoch with these needs one over a subset of the pool? */
static inline bool cull_sel_over_subset(const cull_needs *needs)
{
    return needs->action == CULL_SELECT_POOL || needs->action == CULL_KEEP_SUBSET;
}

/*
 * Go to the beginning of an epoch. *needs: what it begins with, a choice from the pool where one
 * is due. course->count becomes what the epoch has as far as the selector can tell: the pool, or
 * the subset's budget, which is 0 where the rule says how many; who knows better sets it.
 */
void cull_sel_course_epoch(cull_sel_course *course, uint64_t epoch, cull_needs *needs);

/* The next step; false: the epoch has none left. */
bool cull_sel_course_peek(const cull_sel_course *course, cull_sel_step *step);

/* Where steps of several sizes take turns, whether what is left is a step or left out is known only
 * when it comes. */
bool cull_sel_course_over(const cull_sel_course *course);

/* How many examples a step with these needs would meet now; false: the epoch has none left. */
bool cull_sel_course_takes(const cull_sel_course *course, const cull_needs *needs, size_t *count);

/* A step that met so many is done. */
static inline void cull_sel_course_pass(cull_sel_course *course, size_t count)
{
    course->step++;
    course->at += count;
}

/* How far the walk is into an epoch that has so many steps on a schedule, `steps` at its end. The
 * schedule passes with training batches, in parts of one where steps are of other sizes; a short
 * one that is left out is none. */
double cull_sel_course_position(const cull_sel_course *course, double steps);

#endif
