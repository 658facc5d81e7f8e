/* select/losses.c - losses kept by place in the pool: their memory, and as a saved state. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "select/select.h"

struct cull_sel_losses {
    cull_kit    kit;
    cull_ledger ledger;
};

cull_status cull_sel_losses_create(cull_backend *backend, size_t pool, cull_predict predict,
                                   cull_sel_losses **out)
{
    static const char what[] = "remembered losses";
    cull_status       status = CULL_OK;
    cull_sel_losses  *losses = NULL;
    cull_ledger      *l = NULL;
    cull_kit         *kit = NULL;

    TRY(cull_base_alloc(1, sizeof *losses, what, &losses));
    losses->kit.backend = backend;
    kit = &losses->kit;
    l = &losses->ledger;
    *l = (cull_ledger){.pool = pool, .predict = predict};
    TRY(cull_kit_allocate(kit, pool, sizeof *l->known, what, &l->known));
    TRY(cull_kit_allocate(kit, pool, sizeof *l->value, what, &l->value));
    if (predict == CULL_PREDICT_TREND) {
        TRY(cull_kit_allocate(kit, pool, sizeof *l->slope, what, &l->slope));
        TRY(cull_kit_allocate(kit, pool, sizeof *l->epoch, what, &l->epoch));
    }
    TRY(cull_kit_ready(kit, CULL_OP_RECORD, 0));
    TRY(cull_kit_ready(kit, CULL_OP_RECALL, 0));
    *out = losses;
    losses = NULL;
done:
    cull_sel_losses_destroy(losses);
    return status;
}

void cull_sel_losses_destroy(cull_sel_losses *losses)
{
    if (!losses) return;
    cull_kit_clear(&losses->kit);
    cull_base_free(losses);
}

cull_status cull_sel_losses_record(cull_sel_losses *losses, const cull_signals *signals,
                                   const cull_sel_watch *watch)
{
    cull_op_args args = {.record = {.rows = signals->count,
                                    .place = signals->place,
                                    .loss = signals->loss,
                                    .unseen = signals->unseen,
                                    .ledger = losses->ledger,
                                    .epoch = signals->epoch,
                                    .now = watch->epoch,
                                    .trouble = watch->trouble}};

    return cull_kit_run(&losses->kit, CULL_OP_RECORD, 0, &args);
}

cull_status cull_sel_losses_recall(cull_sel_losses *losses, const uint32_t *place, size_t count,
                                   uint64_t epoch, const cull_sel_watch *watch, double *loss,
                                   uint8_t *unseen)
{
    cull_op_args args = {.recall = {.rows = count,
                                    .place = place,
                                    .ledger = losses->ledger,
                                    .epoch = epoch,
                                    .now = watch->epoch,
                                    .loss = loss,
                                    .unseen = unseen}};

    return cull_kit_run(&losses->kit, CULL_OP_RECALL, 0, &args);
}

bool cull_sel_losses_at(const cull_sel_losses *losses, size_t place, double *loss)
{
    *loss = losses->ledger.value[place];
    return losses->ledger.known[place] != 0;
}

/* The mean of equal numbers may be rounded above them; then none must lie below it. */
bool cull_sel_losses_mean(const cull_sel_losses *losses, double *mean)
{
    const cull_ledger *l = &losses->ledger;
    double             sum = 0, largest = -DBL_MAX;
    size_t             known = 0;

    for (size_t i = 0; i < l->pool; i++) {
        if (!l->known[i]) continue;
        sum += l->value[i];
        largest = fmax(largest, l->value[i]);
        known++;
    }
    *mean = known ? fmin(sum / (double)known, largest) : 0;
    return known > 0;
}

cull_status cull_sel_losses_save(const cull_sel_losses *losses, cull_writer *writer)
{
    cull_status        status = CULL_OK;
    const cull_ledger *l = &losses->ledger;
    cull_backend      *backend = losses->kit.backend;

    TRY(cull_backend_save(backend, l->known, l->pool * sizeof *l->known, writer));
    TRY(cull_backend_save(backend, l->value, l->pool * sizeof *l->value, writer));
    if (l->predict == CULL_PREDICT_TREND) {
        TRY(cull_backend_save(backend, l->slope, l->pool * sizeof *l->slope, writer));
        TRY(cull_backend_save(backend, l->epoch, l->pool * sizeof *l->epoch, writer));
    }
done:
    return status;
}

/* Place i of what was saved: known[pool], value[pool], slope[pool]. */
static bool is_sound(const cull_ledger *l, const char *saved, size_t i)
{
    uint8_t most = l->predict == CULL_PREDICT_TREND ? 2 : 1;
    double  value = 0, slope = 0;

    memcpy(&value, saved + l->pool + i * sizeof value, sizeof value);
    if (most == 2) memcpy(&slope, saved + l->pool * 9 + i * sizeof slope, sizeof slope);
    return (uint8_t)saved[i] <= most && isfinite(value) && isfinite(slope);
}

cull_status cull_sel_losses_restore(cull_sel_losses *losses, cull_reader *reader)
{
    cull_status        status = CULL_OK;
    const cull_ledger *l = &losses->ledger;
    cull_backend      *backend = losses->kit.backend;
    const char        *saved = (const char *)reader->data + reader->at;

    TRY(cull_backend_restore(backend, l->known, l->pool * sizeof *l->known, reader));
    TRY(cull_backend_restore(backend, l->value, l->pool * sizeof *l->value, reader));
    if (l->predict == CULL_PREDICT_TREND) {
        TRY(cull_backend_restore(backend, l->slope, l->pool * sizeof *l->slope, reader));
        TRY(cull_backend_restore(backend, l->epoch, l->pool * sizeof *l->epoch, reader));
    }
    for (size_t i = 0; i < l->pool; i++)
        if (!is_sound(l, saved, i))
            FAIL(CULL_BAD_STATE, "saved state has no sound loss of place %zu", i);
done:
    return status;
}
