/*
 * backend/ledger.c - record and recall: losses kept by place, and what they say of a later epoch.
 *
 *     last      the loss last recorded
 *     average   s <- s + 1/2 (loss - s), s the first loss to begin with
 *     trend     last loss + slope * epochs since, at least 0; slope per epoch between the last
 *               two recordings of different epochs; the loss alone while only one is known
 */
#include <float.h>
#include <math.h>

#include "backend/backend.h"
#include "tensor/tensor.h"

#define AVERAGE_RATE 0.5

/* Differences of two losses near the end of double's range would not be finite. */
static double bounded(double x)
{
    return fmin(fmax(x, -DBL_MAX), DBL_MAX);
}

static void record(const cull_ledger *l, size_t place, double loss, uint64_t epoch)
{
    double before = l->value[place];
    bool   known = l->known[place] != 0;

    if (l->predict == CULL_PREDICT_AVERAGE && known)
        loss = bounded(before + AVERAGE_RATE * (loss - before));
    if (l->predict == CULL_PREDICT_TREND) {
        if (known && epoch > l->epoch[place]) {
            l->slope[place] = bounded((loss - before) / (double)(epoch - l->epoch[place]));
            l->known[place] = 2;
        }
        l->epoch[place] = epoch;
    }
    l->value[place] = loss;
    if (!known) l->known[place] = 1;
}

static cull_status run_record(cull_op *op, const cull_op_args *args)
{
    uint64_t epoch = args->record.now ? *args->record.now : args->record.epoch;

    (void)op;
    if (args->record.trouble && args->record.trouble->what != CULL_WRONG_NOTHING) return CULL_OK;
    for (size_t i = 0; i < args->record.rows; i++) {
        size_t place = args->record.place ? args->record.place[i] : i;

        if (args->record.unseen && args->record.unseen[i]) continue;
        record(&args->record.ledger, place, cull_tensor_get(&args->record.loss, i), epoch);
    }
    return CULL_OK;
}

static double predict(const cull_ledger *l, size_t place, uint64_t epoch)
{
    double loss = l->value[place], since = 0;

    if (l->known[place] < 2 || epoch <= l->epoch[place]) return loss;
    since = (double)(epoch - l->epoch[place]);
    return bounded(fmax(0, loss + l->slope[place] * since));
}

static cull_status run_recall(cull_op *op, const cull_op_args *args)
{
    const cull_ledger *l = &args->recall.ledger;
    uint64_t           epoch = args->recall.now ? *args->recall.now : args->recall.epoch;

    (void)op;
    for (size_t i = 0; i < args->recall.rows; i++) {
        size_t place = args->recall.place ? args->recall.place[i] : i;
        bool   known = place < l->pool && l->known[place];

        args->recall.unseen[i] = !known;
        args->recall.loss[i] = known ? predict(l, place, epoch) : 0;
    }
    return CULL_OK;
}

const cull_op_class cull_host_record = {cull_host_create, run_record, cull_host_destroy};
const cull_op_class cull_host_recall = {cull_host_create, run_recall, cull_host_destroy};
