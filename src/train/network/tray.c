/* train/network/tray.c - the arrays of a batch, on the host and on a backend. */
#include "train/network/tray.h"

#include "tensor/tensor.h"

void cull_tray_clear(cull_tray *tray)
{
    if (!tray->backend) return;
    if (!cull_backend_on_host(tray->backend)) cull_rows_clear(tray->backend, &tray->there);
    cull_rows_clear(cull_backend_host(tray->backend), &tray->here);
    tray->there = tray->here;
}

static size_t target_bytes(const cull_tray *tray)
{
    return cull_loss_target(tray->loss, tray->outputs, tray->dtype);
}

void cull_tray_aim(const cull_tray *tray, size_t i, size_t k, double number)
{
    void  *target = tray->here.target;
    size_t at = i * tray->outputs + k;

    if (tray->loss == CULL_LOSS_CROSS_ENTROPY)
        ((int32_t *)target)[i] = (int32_t)number;
    else if (tray->loss == CULL_LOSS_BINARY)
        ((uint8_t *)target)[at] = (uint8_t)number;
    else if (tray->dtype == CULL_F32)
        ((float *)target)[at] = (float)number;
    else
        ((double *)target)[at] = number;
}

void cull_tray_aim_at(const cull_tray *tray, size_t i, const cull_dataset *set, size_t place)
{
    cull_tensor row =
        cull_vector(cull_data_target_at(set, place), set->target.dtype, set->target.width);

    for (size_t k = 0; k < set->target.width; k++)
        cull_tray_aim(tray, i, k, cull_tensor_get(&row, k));
}

cull_status cull_tray_room(cull_tray *tray, size_t count)
{
    cull_status status = CULL_OK;

    TRY(cull_rows_make(cull_backend_host(tray->backend), count, tray->row, target_bytes(tray),
                       &tray->here));
    if (!cull_backend_on_host(tray->backend))
        TRY(cull_rows_make(tray->backend, count, tray->row, target_bytes(tray), &tray->there));
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
        TRY(cull_backend_upload(tray->backend, to->target, from->target,
                                count * target_bytes(tray)));
        TRY(cull_backend_upload(tray->backend, to->weight, from->weight,
                                count * sizeof *to->weight));
        TRY(cull_backend_upload(tray->backend, to->place, from->place, count * sizeof *to->place));
    }
    batch->count = count;
    batch->inputs = to->inputs;
    batch->target = to->target;
    batch->weight = to->weight;
    batch->place = to->place;
done:
    return status;
}
