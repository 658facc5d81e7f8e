/*
 * select/losses.c - losses kept by place in the pool, and what they say of a later epoch.
 *
 *     last      the loss last recorded
 *     average   s <- s + 1/2 (loss - s), s the first loss to begin with
 *     trend     last loss + slope * epochs since, at least 0; slope per epoch between the last
 *               two recordings of different epochs; the loss alone while only one is known
 */
#include "select/select.h"

#define AVERAGE_RATE 0.5

struct cull_sel_losses {
    size_t           pool;
    cull_sel_predict predict;
    uint8_t         *known; /* [pool] */
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

static void record(cull_sel_losses *l, size_t place, double loss, uint64_t epoch)
{
    if (l->predict == CULL_PREDICT_AVERAGE && l->known[place])
        loss = l->value[place] + AVERAGE_RATE * (loss - l->value[place]);
    if (l->predict == CULL_PREDICT_TREND) {
        if (l->known[place] && epoch > l->epoch[place])
            l->slope[place] = (loss - l->value[place]) / (double)(epoch - l->epoch[place]);
        l->epoch[place] = epoch;
    }
    l->value[place] = loss;
    l->known[place] = 1;
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
        if (losses->predict == CULL_PREDICT_TREND && signals->epoch > losses->epoch[place]) {
            loss[i] += losses->slope[place] * (double)(signals->epoch - losses->epoch[place]);
            if (loss[i] < 0) loss[i] = 0;
        }
    }
}

bool cull_sel_losses_mean(const cull_sel_losses *losses, double *mean)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < losses->pool; i++) {
        if (!losses->known[i]) continue;
        sum += losses->value[i];
        known++;
    }
    *mean = known ? sum / (double)known : 0;
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

cull_status cull_sel_losses_restore(cull_sel_losses *losses, cull_reader *reader)
{
    cull_status status = CULL_OK;

    TRY(cull_read(reader, losses->known, losses->pool * sizeof *losses->known));
    TRY(cull_read(reader, losses->value, losses->pool * sizeof *losses->value));
    if (losses->predict == CULL_PREDICT_TREND) {
        TRY(cull_read(reader, losses->slope, losses->pool * sizeof *losses->slope));
        TRY(cull_read(reader, losses->epoch, losses->pool * sizeof *losses->epoch));
    }
done:
    return status;
}
