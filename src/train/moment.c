/*
 * train/moment.c - where in the run a step is.
 *
 * The schedule has S = ceil(N/batch) positions an epoch, one a step of full training. With e the
 * epoch, a the examples met in it and B the training batches it is made of,
 *
 *     scored     e S + (a / batch) (S / B)      a whole number a step for batches of the usual size
 *     trained    S (examples trained) / N
 *
 * so an epoch over a subset, or one of scaled batches, passes over the same stretch of the
 * schedule as a full one. A shortened run ends at the position that its schedule ends at. What is
 * still held when the steps are over is trained at the last one's position: at the end itself the
 * rate may be zero.
 */
#include <math.h>

#include "train/train.h"

/* In ordinary steps, counted by what was met. */
static double scored(const cull_position *p)
{
    double steps = (double)p->steps_per_epoch;

    return (double)p->progress->epoch * steps + cull_sel_course_position(&p->course, steps);
}

double cull_position_scheduled(const cull_position *p, const cull_schedule *schedule,
                               uint64_t trained, size_t pool)
{
    double position = scored(p), end = (double)schedule->steps;

    if (p->setup->count_trained) return (double)trained * (double)p->steps_per_epoch / (double)pool;
    return position < end ? position : end - 1;
}

double cull_position_epochs(const cull_position *p)
{
    return scored(p) / (double)p->steps_per_epoch;
}

/* Epochs done, and half the way that a step goes in this one: what lies before is nearest to this
 * step or an earlier one. */
static double nearest(const cull_position *p)
{
    double now = cull_position_epochs(p);

    if (p->progress->batch == 0) return now;
    return now + (now - (double)p->progress->epoch) / (double)p->progress->batch / 2;
}

bool cull_position_complete(const cull_position *p, double length)
{
    return p->setup->shorten < 1 && p->progress->step > 0 && nearest(p) > length;
}

bool cull_position_moment(const cull_position *p, uint64_t *moments)
{
    bool due = false;

    *moments = p->progress->moments;
    while (*moments < p->setup->moments && p->setup->moment[*moments] <= nearest(p)) {
        due = true;
        ++*moments;
    }
    return due;
}
