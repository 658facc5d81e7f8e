/*
 * backend/cpu/facility_greedy.c - picking atoms by gain: naive, lazy and stochastic greedy.
 *
 * Lazy greedy keeps the candidates in a heap by the gain last computed, ties to the lower
 * index. Gains never grow (every term falls as best rises, and sums in a fixed order are
 * monotone in their terms, roundings included), so a candidate on top whose gain is fresh
 * would win over all others: the picks are exactly those of naive greedy.
 */
#include <float.h>

#include "backend/cpu/facility.h"

enum { LANES = 16, AHEAD = 24 };

static double gain_of(size_t n, const float *near, const double *best)
{
    double lane[LANES] = {0}, sum = 0;
    size_t j = 0;

    for (; j + LANES <= n; j += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            double more = (double)near[j + l] - best[j + l];
            lane[l] += more > 0 ? more : 0;
        }
    }
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    for (; j < n; j++) {
        double more = (double)near[j] - best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

struct job {
    const cull_near *near;
    cull_picker     *picker;
    const uint32_t  *atom;
};

static void gain_task(void *context, size_t task, unsigned worker)
{
    struct job *job = context;
    uint32_t    atom = job->atom[task];

    (void)worker;
    job->picker->gain[atom] =
        gain_of(job->near->n, cull_cpu_near_row(job->near, atom), job->picker->best);
}

/* Gains of these atoms, for the pick at hand. */
static void evaluate(cull_near *near, cull_picker *picker, const uint32_t *atom, size_t count,
                     size_t pick)
{
    size_t batch = cull_cpu_near_batch(near);

    for (size_t first = 0; first < count; first += batch) {
        size_t     some = count - first < batch ? count - first : batch;
        struct job job = {near, picker, atom + first};

        cull_cpu_near_need(near, atom + first, some);
        if (near->team && some > 1)
            cull_team_run(near->team, some, gain_task, &job);
        else
            for (size_t i = 0; i < some; i++) gain_task(&job, i, 0);
        for (size_t i = 0; i < some; i++) picker->fresh[atom[first + i]] = (uint32_t)pick;
    }
}

static bool before(const cull_picker *picker, uint32_t a, uint32_t b)
{
    if (picker->gain[a] != picker->gain[b]) return picker->gain[a] > picker->gain[b];
    return a < b;
}

static void take(cull_near *near, cull_picker *picker, cull_facility_problem *problem, size_t pick,
                 uint32_t atom)
{
    const float *row = NULL;

    cull_cpu_near_need(near, &atom, 1);
    row = cull_cpu_near_row(near, atom);
    problem->index[pick] = atom;
    problem->weight[pick] = 0;
    for (size_t j = 0; j < near->n; j++) {
        if ((double)row[j] <= picker->best[j]) continue;
        picker->best[j] = (double)row[j];
        picker->owner[j] = (uint32_t)pick;
    }
}

/* Naive and stochastic: look at all candidates, or at a sample of them, before each pick. */
static void pick_plainly(cull_near *near, cull_picker *picker, cull_facility_problem *problem,
                         const cull_facility_options *options)
{
    size_t n = near->n, left = n;
    size_t sample = cull_facility_sample_size(n, problem->budget, options->sample);

    for (size_t pick = 0; pick < problem->budget; pick++) {
        size_t   looked = left, chosen = 0;
        uint32_t atom = 0;

        if (options->greedy == CULL_GREEDY_STOCHASTIC) {
            looked = sample < left ? sample : left;
            cull_facility_sample(options, n, pick, picker->candidate, left, looked);
        }
        evaluate(near, picker, picker->candidate, looked, pick);
        for (size_t c = 1; c < looked; c++)
            if (before(picker, picker->candidate[c], picker->candidate[chosen])) chosen = c;
        atom = picker->candidate[chosen];
        picker->candidate[chosen] = picker->candidate[--left];
        take(near, picker, problem, pick, atom);
    }
}

static void sink(cull_picker *picker, size_t size, size_t at)
{
    uint32_t *heap = picker->candidate, atom = heap[at];

    for (size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && before(picker, heap[child + 1], heap[child])) child++;
        if (!before(picker, heap[child], atom)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = atom;
}

static void rise(cull_picker *picker, size_t at)
{
    uint32_t *heap = picker->candidate, atom = heap[at];

    while (at > 0 && before(picker, atom, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = atom;
}

static uint32_t pop(cull_picker *picker, size_t *size)
{
    uint32_t top = picker->candidate[0];

    picker->candidate[0] = picker->candidate[--*size];
    if (*size > 0) sink(picker, *size, 0);
    return top;
}

/* Bounds to begin with. From row sums, which round in another order than gains do, they
 * need some slack to stay above. */
static void first_bounds(cull_near *near, cull_picker *picker)
{
    double n = (double)near->n;

    if (near->all) {
        evaluate(near, picker, picker->candidate, near->n, 0);
        return;
    }
    for (size_t i = 0; i < near->n; i++) {
        double whole = n * fabs(near->floor) + fabs(near->sum[i]);
        picker->gain[i] = near->sum[i] - n * near->floor + 8 * n * DBL_EPSILON * whole;
        picker->fresh[i] = UINT32_MAX;
    }
}

/* With rows at hand one candidate is looked at again at a time; where they must be made,
 * making some together is quicker, and looking at too many changes nothing. */
static void pick_lazily(cull_near *near, cull_picker *picker, cull_facility_problem *problem)
{
    size_t   size = near->n, batch = cull_cpu_near_batch(near);
    uint32_t stale[AHEAD];

    if (near->all) batch = 1;
    if (batch > AHEAD) batch = AHEAD;
    first_bounds(near, picker);
    for (size_t i = size / 2; i-- > 0;) sink(picker, size, i);
    for (size_t pick = 0; pick < problem->budget; pick++) {
        while (picker->fresh[picker->candidate[0]] != pick) {
            size_t count = 0;
            while (count < batch && size > 0 && picker->fresh[picker->candidate[0]] != pick)
                stale[count++] = pop(picker, &size);
            evaluate(near, picker, stale, count, pick);
            for (size_t i = 0; i < count; i++) {
                picker->candidate[size] = stale[i];
                rise(picker, size++);
            }
        }
        take(near, picker, problem, pick, pop(picker, &size));
    }
}

void cull_cpu_pick(cull_near *near, cull_picker *picker, cull_facility_problem *problem,
                   const cull_facility_options *options)
{
    for (size_t j = 0; j < near->n; j++) {
        picker->best[j] = near->floor;
        picker->owner[j] = 0;
        picker->candidate[j] = (uint32_t)j;
    }
    if (options->greedy == CULL_GREEDY_LAZY)
        pick_lazily(near, picker, problem);
    else
        pick_plainly(near, picker, problem, options);
    problem->value = 0;
    for (size_t j = 0; j < near->n; j++) {
        problem->weight[picker->owner[j]] += 1;
        problem->value += picker->best[j] - near->floor;
    }
    problem->value = ldexp(problem->value, near->exponent);
}
