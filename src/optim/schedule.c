/* optim/schedule.c - the learning rate as a pure function of the step; formulas in optim.h. */
#include <math.h>

#include "optim/optim.h"

#define PI 3.14159265358979323846

cull_status cull_schedule_check(const cull_schedule *s)
{
    cull_status status = CULL_OK;

    if (s->steps < 1 || s->steps_per_epoch < 1) FAIL(CULL_BAD_ARGUMENT, "a schedule over no steps");
    if (!(s->rate > 0)) FAIL(CULL_BAD_ARGUMENT, "a learning rate of %g", s->rate);
    if (s->warmup >= s->steps)
        FAIL(CULL_BAD_ARGUMENT, "a warm-up of %llu steps in a run of %llu",
             (unsigned long long)s->warmup, (unsigned long long)s->steps);
    for (size_t i = 1; i < s->milestones; i++)
        if (!(s->milestone[i] > s->milestone[i - 1]))
            FAIL(CULL_BAD_ARGUMENT, "milestone %g does not come after %g", s->milestone[i],
                 s->milestone[i - 1]);
    if (s->shape == CULL_SCHEDULE_COSINE && s->low > s->rate)
        FAIL(CULL_BAD_ARGUMENT, "a cosine from %g down to %g", s->rate, s->low);
    if (s->shape == CULL_SCHEDULE_LINEAR && s->low > s->rate)
        FAIL(CULL_BAD_ARGUMENT, "a line from %g down to %g", s->rate, s->low);
done:
    return status;
}

static double half_cosine(double from, double to, double part)
{
    return to + (from - to) / 2 * (1 + cos(PI * part));
}

static double multi_step(const cull_schedule *s, double step)
{
    double epoch = step / (double)s->steps_per_epoch, rate = s->rate;

    for (size_t i = 0; i < s->milestones && s->milestone[i] <= epoch; i++) rate *= s->gamma;
    return rate;
}

/* Phases end at pct T - 1 and T - 1; in a run so short that the first would end before it
 * begins, there is only the second. */
static double one_cycle(const cull_schedule *s, double t, double total)
{
    double start = s->rate / s->divide, end = start / s->final_divide;
    double top = s->peak * total - 1, last = total - 1;

    if (top > 0 && t <= top) return half_cosine(start, s->rate, t / top);
    if (top < 0) top = 0;
    return last > top ? half_cosine(s->rate, end, fmin(1, (t - top) / (last - top))) : s->rate;
}

double cull_schedule_rate_at(const cull_schedule *s, double position)
{
    double t = position - (double)s->warmup, total = (double)(s->steps - s->warmup);

    if (t < 0)
        return s->rate * (s->warmup_start + (1 - s->warmup_start) * position / (double)s->warmup);
    switch (s->shape) {
    case CULL_SCHEDULE_CONSTANT: return s->rate;
    case CULL_SCHEDULE_MULTI_STEP: return multi_step(s, position);
    case CULL_SCHEDULE_COSINE: return half_cosine(s->rate, s->low, fmin(1, t / total));
    case CULL_SCHEDULE_LINEAR: return s->low + (s->rate - s->low) * fmax(0, 1 - t / total);
    case CULL_SCHEDULE_ONE_CYCLE: return one_cycle(s, t, total);
    }
    return s->rate;
}

double cull_schedule_rate(const cull_schedule *s, uint64_t step)
{
    return cull_schedule_rate_at(s, (double)step);
}
