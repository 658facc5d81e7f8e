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
static double scored_position(const cull_trainer *t)
{
    cull_sel_course course = cull_train_course(t);
    double          steps = (double)t->schedule.steps_per_epoch;

    return (double)t->progress.epoch * steps + cull_sel_course_position(&course, steps);
}

double cull_train_position(const cull_trainer *t)
{
    double position = scored_position(t), end = (double)t->schedule.steps;

    if (t->setup->count_trained)
        return (double)t->meter.trained * (double)t->schedule.steps_per_epoch /
               (double)t->train->count;
    return position < end ? position : end - 1;
}

double cull_train_epochs_done(const cull_trainer *t)
{
    return scored_position(t) / (double)t->schedule.steps_per_epoch;
}

/* Epochs done, and half the way that a step goes in this one: what lies before is nearest to this
 * step or an earlier one. */
static double nearest(const cull_trainer *t)
{
    double now = cull_train_epochs_done(t);

    if (t->progress.batch == 0) return now;
    return now + (now - (double)t->progress.epoch) / (double)t->progress.batch / 2;
}

bool cull_train_complete(const cull_trainer *t)
{
    return t->setup->shorten < 1 && t->progress.step > 0 && nearest(t) > t->length;
}

bool cull_train_moment(cull_trainer *t)
{
    bool due = false;

    while (t->progress.moments < t->setup->moments &&
           t->setup->moment[t->progress.moments] <= nearest(t)) {
        due = true;
        t->progress.moments++;
    }
    return due;
}

uint64_t cull_train_steps(const cull_trainer *t)
{
    return (uint64_t)fmax(1, round(t->expected.steps * t->length / (double)t->epochs));
}
