/*
 * select/standing.c - where each place of the pool stood, by remembered loss, at the start of an
 * epoch.
 *
 *     percentile = (#smaller + 1/2 #equal) / N      over all N places, the place itself among the
 *                                                   equal; never trained: above all others, in
 *                                                   random order
 *
 * Taken once an epoch, by whichever call comes first, before it changes a loss. A new standing
 * replaces the old only when the call that needed it has succeeded.
 */
#include <math.h>

#include "select/select.h"

cull_status cull_sel_standing_create(size_t pool, cull_sel_standing *out)
{
    cull_status status = CULL_OK;

    out->pool = pool;
    TRY(cull_base_alloc(pool, sizeof *out->at, "percentiles of the pool", &out->at));
    TRY(cull_base_alloc(pool, sizeof *out->next, "percentiles of the pool", &out->next));
    TRY(cull_base_alloc(pool, sizeof *out->score, "percentiles of the pool", &out->score));
    TRY(cull_base_alloc(pool, sizeof *out->unseen, "percentiles of the pool", &out->unseen));
done:
    return status;
}

void cull_sel_standing_clear(cull_sel_standing *standing)
{
    cull_op_destroy(standing->rank);
    cull_base_free(standing->at);
    cull_base_free(standing->next);
    cull_base_free(standing->score);
    cull_base_free(standing->unseen);
    *standing = (cull_sel_standing){0};
}

cull_status cull_sel_standing_take(cull_sel_standing *standing, const cull_sel_losses *losses,
                                   cull_backend *backend, cull_key key, uint64_t epoch,
                                   const double **out)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {0};

    standing->waits = false;
    *out = standing->at;
    if (standing->taken && standing->epoch == epoch) return CULL_OK;
    for (size_t i = 0; i < standing->pool; i++)
        standing->unseen[i] = !cull_sel_losses_at(losses, i, &standing->score[i]);
    cull_sel_unseen_first(standing->score, standing->unseen, standing->pool, key, epoch, NULL);
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_RANK, .rows = standing->pool},
                      &standing->rank));
    args.rank.rows = standing->pool;
    args.rank.x = standing->score;
    args.rank.percentile = standing->next;
    TRY(cull_op_run(standing->rank, &args));
    for (size_t i = 0; i < standing->pool; i++)
        if (standing->unseen[i]) standing->next[i] = -standing->next[i];
    standing->waits = true;
    standing->next_epoch = epoch;
    *out = standing->next;
done:
    return status;
}

void cull_sel_standing_keep(cull_sel_standing *standing)
{
    double *before = standing->at;

    if (!standing->waits) return;
    standing->at = standing->next;
    standing->next = before;
    standing->epoch = standing->next_epoch;
    standing->taken = true;
    standing->waits = false;
}

cull_status cull_sel_standing_save(const cull_sel_standing *standing, cull_writer *writer)
{
    cull_status status = CULL_OK;
    uint64_t    head[2] = {standing->taken, standing->epoch};

    TRY(cull_write(writer, head, sizeof head));
    if (standing->taken)
        TRY(cull_write(writer, standing->at, standing->pool * sizeof *standing->at));
done:
    return status;
}

cull_status cull_sel_standing_restore(cull_sel_standing *standing, cull_reader *reader)
{
    cull_status status = CULL_OK;
    uint64_t    head[2] = {0};

    TRY(cull_read(reader, head, sizeof head));
    if (head[0] > 1) FAIL(CULL_BAD_STATE, "saved state says neither yes nor no to percentiles");
    standing->taken = head[0] == 1;
    standing->epoch = head[1];
    if (!standing->taken) return CULL_OK;
    TRY(cull_read(reader, standing->at, standing->pool * sizeof *standing->at));
    for (size_t i = 0; i < standing->pool; i++)
        if (!(fabs(standing->at[i]) > 0 && fabs(standing->at[i]) < 1))
            FAIL(CULL_BAD_STATE, "saved state has no sound percentile of place %zu", i);
done:
    return status;
}
