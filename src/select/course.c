/* select/course.c - what the steps of a run take, one after another. */
#include "select/course.h"

#include <math.h>

#include "select/frame.h"

static void ask(const cull_sel_course *c, cull_needs *out)
{
    cull_sel_needs(c->selector, c->imagined ? c->decided : c->selector->decided, c->step, c->epoch,
                   out);
}

void cull_sel_course_epoch(cull_sel_course *c, uint64_t epoch, cull_needs *needs)
{
    c->epoch = epoch;
    c->at = c->groups = 0;
    ask(c, needs);
    c->count = cull_sel_over_subset(needs) ? needs->budget : c->selector->setting.pool;
    if (needs->action == CULL_SELECT_POOL) c->decided = (cull_sel_decision){true, epoch};
}

/* What is not chosen from is trained, in ordinary batches. */
static size_t whole_step(const cull_sel_course *c, const cull_needs *needs)
{
    size_t batch = c->selector->setting.batch;

    return needs->action != CULL_SELECT_BATCH && needs->candidates > batch ? batch
                                                                           : needs->candidates;
}

/* Training batches of a subset that end at or before `at`. */
static size_t groups_done(const cull_sel_course *c)
{
    size_t low = 0, high = c->groups;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->end[middle] > c->at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool cull_sel_course_takes(const cull_sel_course *c, const cull_needs *needs, size_t *count)
{
    size_t whole = whole_step(c, needs), rest = c->count - c->at;

    if (c->at >= c->count) return false;
    if (c->groups)
        *count = c->end[groups_done(c)] - c->at;
    else
        *count = whole < rest ? whole : rest;
    return !(c->drop_short && !c->groups && c->at > 0 && rest < whole);
}

/* How many of a step's examples are trained. */
static size_t learns_of(const cull_selector *s, const cull_needs *needs, size_t count)
{
    if (needs->action != CULL_SELECT_BATCH) return count;
    if (needs->budget == 0) return 0;
    return count == needs->candidates ? needs->budget : cull_sel_own_budget(s, count);
}

bool cull_sel_course_peek(const cull_sel_course *c, cull_sel_step *step)
{
    *step = (cull_sel_step){0};
    ask(c, &step->needs);
    if (!cull_sel_course_takes(c, &step->needs, &step->count)) return false;
    step->learns = learns_of(c->selector, &step->needs, step->count);
    return true;
}

bool cull_sel_course_over(const cull_sel_course *c)
{
    if (c->at >= c->count || !c->drop_short) return c->at >= c->count;
    return !cull_sel_course_peek(c, &(cull_sel_step){0});
}

double cull_sel_course_position(const cull_sel_course *c, double steps)
{
    size_t batch = c->selector->setting.batch, batches = (c->count + batch - 1) / batch;
    double done = (double)c->at / (double)batch;

    if (cull_sel_course_over(c)) return steps;
    if (c->drop_short && c->count >= batch) batches = c->count / batch;
    if (c->groups) {
        batches = c->groups;
        done = (double)groups_done(c);
    }
    return fmin(done * (steps / (double)batches), steps);
}
