/*
 * select/losses.c - losses kept by place in the pool, and what they say of a later epoch.
 *
 *     last      the loss last recorded
 *     average   s <- s + 1/2 (loss - s), s the first loss to begin with
 *     trend     last loss + slope * epochs since, at least 0; slope per epoch between the last
 *               two recordings of different epochs; the loss alone while only one is known
 */
#include <float.h>
#include <math.h>

#include "select/select.h"

#define AVERAGE_RATE 0.5

struct cull_sel_losses {
    size_t           pool;
    cull_sel_predict predict;
    uint8_t         *known; /* [pool] 0: nothing, 1: a loss, 2: a slope too */
    double          *value; /* [pool] last loss, or the average */
    double          *slope; /* [pool] trend only                */
    uint64_t        *epoch; /* [pool] trend only: when `value` was seen */
};

cull_status cull_sel_losses_create(size_t pool, cull_sel_predict predict, cull_sel_losses **out)
{
    cull_status      status = CULL_OK;
    cull_sel_losses *losses = NULL;

    TRY(cull_base_alloc(1, sizeof *losses, "remembered losses", &losses));
    losses->pool = pool;
    losses->predict = predict;
    TRY(cull_base_alloc(pool, sizeof *losses->known, "remembered losses", &losses->known));
    TRY(cull_base_alloc(pool, sizeof *losses->value, "remembered losses", &losses->value));
    if (predict == CULL_PREDICT_TREND) {
        TRY(cull_base_alloc(pool, sizeof *losses->slope, "remembered losses", &losses->slope));
        TRY(cull_base_alloc(pool, sizeof *losses->epoch, "remembered losses", &losses->epoch));
    }
    *out = losses;
    losses = NULL;
done:
    cull_sel_losses_destroy(losses);
    return status;
}

void cull_sel_losses_destroy(cull_sel_losses *losses)
{
    if (!losses) return;
    cull_base_free(losses->known);
    cull_base_free(losses->value);
    cull_base_free(losses->slope);
    cull_base_free(losses->epoch);
    cull_base_free(losses);
}

/* Differences of two losses near the end of double's range would not be finite. */
static double bounded(double x)
{
    return fmin(fmax(x, -DBL_MAX), DBL_MAX);
}

static void record(cull_sel_losses *l, size_t place, double loss, uint64_t epoch)
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

void cull_sel_losses_record(cull_sel_losses *losses, const cull_signals *signals)
{
    for (size_t i = 0; i < signals->count; i++)
        if (!signals->unseen || !signals->unseen[i])
            record(losses, cull_sel_place(signals, i), cull_tensor_get(&signals->loss, i),
                   signals->epoch);
}

void cull_sel_losses_recall(const cull_sel_losses *losses, const cull_signals *signals,
                            double *loss, uint8_t *unseen)
{
    for (size_t i = 0; i < signals->count; i++) {
        size_t place = cull_sel_place(signals, i);

        unseen[i] = !losses->known[place];
        loss[i] = losses->value[place];
        if (losses->known[place] == 2 && signals->epoch > losses->epoch[place]) {
            double since = (double)(signals->epoch - losses->epoch[place]);
            loss[i] = bounded(fmax(0, loss[i] + losses->slope[place] * since));
        }
    }
}

bool cull_sel_losses_at(const cull_sel_losses *losses, size_t place, double *loss)
{
    *loss = losses->value[place];
    return losses->known[place] != 0;
}

/* The mean of equal numbers may be rounded above them; then none must lie below it. */
bool cull_sel_losses_mean(const cull_sel_losses *losses, double *mean)
{
    double sum = 0, largest = -DBL_MAX;
    size_t known = 0;

    for (size_t i = 0; i < losses->pool; i++) {
        if (!losses->known[i]) continue;
        sum += losses->value[i];
        largest = fmax(largest, losses->value[i]);
        known++;
    }
    *mean = known ? fmin(sum / (double)known, largest) : 0;
    return known > 0;
}

cull_status cull_sel_losses_save(const cull_sel_losses *losses, cull_writer *writer)
{
    cull_status status = CULL_OK;

    TRY(cull_write(writer, losses->known, losses->pool * sizeof *losses->known));
    TRY(cull_write(writer, losses->value, losses->pool * sizeof *losses->value));
    if (losses->predict == CULL_PREDICT_TREND) {
        TRY(cull_write(writer, losses->slope, losses->pool * sizeof *losses->slope));
        TRY(cull_write(writer, losses->epoch, losses->pool * sizeof *losses->epoch));
    }
done:
    return status;
}

static bool is_sound(const cull_sel_losses *l, size_t i)
{
    uint8_t most = l->predict == CULL_PREDICT_TREND ? 2 : 1;

    return l->known[i] <= most && isfinite(l->value[i]) && (!l->slope || isfinite(l->slope[i]));
}

cull_status cull_sel_losses_restore(cull_sel_losses *losses, cull_reader *reader)
{
    cull_status status = CULL_OK;

    TRY(cull_read(reader, losses->known, losses->pool * sizeof *losses->known));
    TRY(cull_read(reader, losses->value, losses->pool * sizeof *losses->value));
    if (losses->predict == CULL_PREDICT_TREND) {
        TRY(cull_read(reader, losses->slope, losses->pool * sizeof *losses->slope));
        TRY(cull_read(reader, losses->epoch, losses->pool * sizeof *losses->epoch));
    }
    for (size_t i = 0; i < losses->pool; i++)
        if (!is_sound(losses, i))
            FAIL(CULL_BAD_STATE, "saved state has no sound loss of place %zu", i);
done:
    return status;
}
