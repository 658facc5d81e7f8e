/*
 * backend/sums.c - what a step says of itself: sums over its examples, and counts by place.
 *
 * Losses are added one by one in the order of the rows, so that a sum over many batches is the same
 * whatever they were cut into.
 */
#include <math.h>

#include "backend/backend.h"

/* The first class that is as large as the largest (values.h), with the target's share added again;
 * what is no number is no choice. */
#define CHOICE(name, T, as_large)                                                                  \
    static size_t name(const T *p, size_t classes, size_t label, double share)                     \
    {                                                                                              \
        double most = -INFINITY;                                                                   \
                                                                                                   \
        for (size_t k = 0; k < classes; k++) {                                                     \
            double x = (double)p[k] + (k == label ? share : 0);                                    \
            if (x > most) most = x;                                                                \
        }                                                                                          \
        for (size_t k = 0; k < classes; k++)                                                       \
            if ((double)p[k] + (k == label ? share : 0) >= most - (as_large)) return k;            \
        return 0;                                                                                  \
    }

CHOICE(choice_f32, float, CULL_AS_LARGE_F32)
CHOICE(choice_f64, double, CULL_AS_LARGE_F64)

static size_t count_correct(const cull_op_args *args)
{
    size_t correct = 0, classes = args->summary.classes;
    double share = 1 - args->summary.of.smoothing;

    for (size_t i = 0; i < args->summary.rows; i++) {
        size_t label = (size_t)((const int32_t *)args->summary.target)[i];

        correct += label == (args->summary.dtype == CULL_F32
                                 ? choice_f32((const float *)args->summary.p + i * classes, classes,
                                              label, share)
                                 : choice_f64((const double *)args->summary.p + i * classes,
                                              classes, label, share));
    }
    return correct;
}

static cull_status summary(cull_op *op, const cull_op_args *args)
{
    cull_seen    *out = args->summary.out + (args->summary.now ? args->summary.now->slot : 0);
    cull_trouble *trouble = args->summary.trouble;
    double        sum = args->summary.add ? out->loss : 0;
    size_t        first = 0;

    (void)op;
    if (!args->summary.add) *out = (cull_seen){0};
    for (size_t i = 0; i < args->summary.rows; i++) {
        sum += args->summary.loss[i];
        if (isfinite(sum)) first = i + 1;
    }
    out->loss = sum;
    out->count += args->summary.rows;
    if (args->summary.p && args->summary.of.kind == CULL_LOSS_CROSS_ENTROPY)
        out->correct += count_correct(args);
    if (args->summary.became)
        args->summary.outcomes[out - args->summary.out] = *args->summary.became;
    if (trouble && !trouble->what && !isfinite(sum))
        *trouble = (cull_trouble){.what = CULL_WRONG_LOSS,
                                  .row = first,
                                  .place = args->summary.place[first],
                                  .step = args->summary.now ? args->summary.now->step : 0,
                                  .epoch = args->summary.now ? args->summary.now->epoch : 0};
    return CULL_OK;
}

static cull_status tally(cull_op *op, const cull_op_args *args)
{
    (void)op;
    for (size_t i = 0; i < args->tally.rows; i++) {
        uint32_t place = args->tally.place[i];

        args->tally.count[place]++;
        args->tally.weights[place] += args->tally.weight ? args->tally.weight[i] : 1;
        args->tally.latest[place] = (float)args->tally.loss[i];
        if (args->tally.first[place] < 0)
            args->tally.first[place] = (int32_t)args->tally.now->epoch;
    }
    return CULL_OK;
}

const cull_op_class cull_host_summary = {cull_host_create, summary, cull_host_destroy};
const cull_op_class cull_host_tally = {cull_host_create, tally, cull_host_destroy};
