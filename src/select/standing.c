/*
 * select/standing.c - where each place of the pool stood, by remembered loss, at the start of an
 * epoch.
 *
 *     percentile = (#smaller + 1/2 #equal) / N      over all N places, the place itself among the
 *                                                   equal; never trained: above all others, in
 *                                                   random order
 *
 * Taken once an epoch, by whichever call comes first, before it changes a loss. A new standing
 * replaces the old only when the call that needed it has succeeded; it is copied to where the old
 * one lay, so that recorded steps find it.
 */
#include <math.h>

#include "select/select.h"

cull_status cull_sel_standing_create(cull_self *self, cull_sel_standing *out)
{
    static const char what[] = "percentiles of the pool";
    cull_status       status = CULL_OK;
    cull_kit         *kit = cull_sel_kit(self);
    size_t            pool = self->setting->pool;

    out->backend = kit->backend;
    out->pool = pool;
    TRY(cull_kit_allocate(kit, pool, sizeof *out->now.at, what, &out->now.at));
    TRY(cull_kit_allocate(kit, pool, sizeof *out->now.fresh, what, &out->now.fresh));
    TRY(cull_kit_allocate(kit, pool, sizeof *out->next.at, what, &out->next.at));
    TRY(cull_kit_allocate(kit, pool, sizeof *out->next.fresh, what, &out->next.fresh));
    TRY(cull_kit_allocate(kit, pool, sizeof *out->x, what, &out->x));
done:
    return status;
}

cull_status cull_sel_standing_take(cull_sel_standing *standing, cull_self *self, uint64_t epoch,
                                   const cull_sel_look **out)
{
    cull_status          status = CULL_OK;
    const cull_sel_look *next = &standing->next;
    const cull_sel_watch now = {0};
    size_t               pool = standing->pool;
    cull_op_args         score = {.score = {.rows = pool,
                                            .loss = cull_vector(standing->x, CULL_F64, pool),
                                            .unseen = next->fresh,
                                            .key = cull_key_make(self->setting->seed, "unseen"),
                                            .step = epoch,
                                            .out = standing->x}};
    cull_op_args         rank = {.rank = {.rows = pool, .x = standing->x, .percentile = next->at}};

    standing->waits = false;
    *out = &standing->now;
    if (standing->taken && standing->epoch == epoch) return CULL_OK;
    TRY(cull_sel_losses_recall(self->losses, NULL, pool, epoch, &now, standing->x, next->fresh));
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_SCORE, 0, &score));
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_RANK, pool, &rank));
    standing->waits = true;
    standing->next_epoch = epoch;
    *out = next;
done:
    return status;
}

cull_status cull_sel_standing_keep(cull_sel_standing *standing)
{
    cull_status          status = CULL_OK;
    const cull_sel_look *now = &standing->now, *next = &standing->next;
    size_t               pool = standing->pool;

    if (!standing->waits) return CULL_OK;
    TRY(cull_backend_copy(standing->backend, now->at, next->at, pool * sizeof *now->at));
    TRY(cull_backend_copy(standing->backend, now->fresh, next->fresh, pool * sizeof *now->fresh));
    standing->epoch = standing->next_epoch;
    standing->taken = true;
    standing->waits = false;
done:
    return status;
}

/* Saved as one number a place: below 0 where it was never trained, the size is the percentile. */
cull_status cull_sel_standing_save(const cull_sel_standing *standing, cull_writer *writer)
{
    cull_status          status = CULL_OK;
    const cull_sel_look *now = &standing->now;
    uint64_t             head[2] = {standing->taken, standing->epoch};
    size_t               pool = standing->pool;
    double              *at = NULL;
    uint8_t             *fresh = NULL;

    TRY(cull_write(writer, head, sizeof head));
    if (!standing->taken) goto done;
    TRY(cull_base_alloc(pool, sizeof *at, "percentiles", &at));
    TRY(cull_base_alloc(pool, sizeof *fresh, "percentiles", &fresh));
    TRY(cull_backend_download(standing->backend, at, now->at, pool * sizeof *at));
    TRY(cull_backend_download(standing->backend, fresh, now->fresh, pool * sizeof *fresh));
    for (size_t i = 0; i < pool; i++)
        if (fresh[i]) at[i] = -at[i];
    TRY(cull_write(writer, at, pool * sizeof *at));
done:
    cull_base_free(at);
    cull_base_free(fresh);
    return status;
}

static cull_status restore_look(cull_sel_standing *standing, cull_reader *reader, double *at,
                                uint8_t *fresh)
{
    cull_status          status = CULL_OK;
    const cull_sel_look *now = &standing->now;
    size_t               pool = standing->pool;

    TRY(cull_read(reader, at, pool * sizeof *at));
    for (size_t i = 0; i < pool; i++) {
        if (!(fabs(at[i]) > 0 && fabs(at[i]) < 1))
            FAIL(CULL_BAD_STATE, "saved state has no sound percentile of place %zu", i);
        fresh[i] = at[i] < 0;
        at[i] = fabs(at[i]);
    }
    TRY(cull_backend_upload(standing->backend, now->at, at, pool * sizeof *at));
    TRY(cull_backend_upload(standing->backend, now->fresh, fresh, pool * sizeof *fresh));
done:
    return status;
}

cull_status cull_sel_standing_restore(cull_sel_standing *standing, cull_reader *reader)
{
    cull_status status = CULL_OK;
    uint64_t    head[2] = {0};
    double     *at = NULL;
    uint8_t    *fresh = NULL;

    TRY(cull_read(reader, head, sizeof head));
    if (head[0] > 1) FAIL(CULL_BAD_STATE, "saved state says neither yes nor no to percentiles");
    standing->taken = head[0] == 1;
    standing->epoch = head[1];
    if (!standing->taken) goto done;
    TRY(cull_base_alloc(standing->pool, sizeof *at, "percentiles", &at));
    TRY(cull_base_alloc(standing->pool, sizeof *fresh, "percentiles", &fresh));
    TRY(restore_look(standing, reader, at, fresh));
done:
    cull_base_free(at);
    cull_base_free(fresh);
    return status;
}
