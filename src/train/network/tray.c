/* train/network/tray.c - the arrays of a batch, on the host and on a backend. */
#include "train/network/tray.h"

static cull_status make(cull_backend *backend, size_t count, size_t row, cull_tray_rows *rows)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_allocate(backend, count, row, "a batch", &rows->inputs));
    TRY(cull_backend_allocate(backend, count, sizeof *rows->label, "a batch", &rows->label));
    TRY(cull_backend_allocate(backend, count, sizeof *rows->weight, "a batch", &rows->weight));
    TRY(cull_backend_allocate(backend, count, sizeof *rows->place, "a batch", &rows->place));
done:
    return status;
}

static void drop(cull_backend *backend, const cull_tray_rows *rows)
{
    cull_backend_release(backend, rows->inputs);
    cull_backend_release(backend, rows->label);
    cull_backend_release(backend, rows->weight);
    cull_backend_release(backend, rows->place);
}

void cull_tray_clear(cull_tray *tray)
{
    if (!tray->backend) return;
    drop(cull_backend_host(tray->backend), &tray->here);
    if (!cull_backend_on_host(tray->backend)) drop(tray->backend, &tray->there);
    *tray = (cull_tray){.backend = tray->backend, .row = tray->row};
}

cull_status cull_tray_room(cull_tray *tray, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= tray->room) goto done;
    cull_tray_clear(tray);
    TRY(make(cull_backend_host(tray->backend), count, tray->row, &tray->here));
    if (cull_backend_on_host(tray->backend))
        tray->there = tray->here;
    else
        TRY(make(tray->backend, count, tray->row, &tray->there));
    tray->room = count;
done:
    return status;
}

cull_status cull_tray_send(const cull_tray *tray, size_t count, cull_batch *batch)
{
    cull_status           status = CULL_OK;
    const cull_tray_rows *from = &tray->here, *to = &tray->there;

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
