/* train/network/tray.c - the arrays of a batch, on the host and on a backend. */
#include "train/network/tray.h"

void cull_tray_clear(cull_tray *tray)
{
    if (!tray->backend) return;
    if (!cull_backend_on_host(tray->backend)) cull_rows_clear(tray->backend, &tray->there);
    cull_rows_clear(cull_backend_host(tray->backend), &tray->here);
    tray->there = tray->here;
}

cull_status cull_tray_room(cull_tray *tray, size_t count)
{
    cull_status status = CULL_OK;

    TRY(cull_rows_make(cull_backend_host(tray->backend), count, tray->row, &tray->here));
    if (!cull_backend_on_host(tray->backend))
        TRY(cull_rows_make(tray->backend, count, tray->row, &tray->there));
done:
    if (cull_backend_on_host(tray->backend)) tray->there = tray->here;
    return status;
}

cull_status cull_tray_send(const cull_tray *tray, size_t count, cull_batch *batch)
{
    cull_status      status = CULL_OK;
    const cull_rows *from = &tray->here, *to = &tray->there;

    if (!cull_backend_on_host(tray->backend)) {
        TRY(cull_backend_upload(tray->backend, to->inputs, from->inputs, count * tray->row));
        TRY(cull_backend_upload(tray->backend, to->label, from->label, count * sizeof *to->label));
        TRY(cull_backend_upload(tray->backend, to->weight, from->weight,
                                count * sizeof *to->weight));
        TRY(cull_backend_upload(tray->backend, to->place, from->place, count * sizeof *to->place));
    }
    batch->count = count;
    batch->inputs = to->inputs;
    batch->label = to->label;
    batch->weight = to->weight;
    batch->place = to->place;
done:
    return status;
}
