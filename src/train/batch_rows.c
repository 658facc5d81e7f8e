/* train/batch_rows.c - the arrays of a batch, in a backend's memory. */
#include "train/batch_rows.h"

cull_status cull_rows_make(cull_backend *backend, size_t count, size_t row, size_t target,
                           cull_rows *out)
{
    cull_status status = CULL_OK;

    if (count <= out->room) return CULL_OK;
    cull_rows_clear(backend, out);
    TRY(cull_backend_allocate(backend, count, row, "a batch", &out->inputs));
    TRY(cull_backend_allocate(backend, count, target, "a batch", &out->target));
    TRY(cull_backend_allocate(backend, count, sizeof *out->place, "a batch", &out->place));
    TRY(cull_backend_allocate(backend, count, sizeof *out->weight, "a batch", &out->weight));
    out->room = count;
done:
    return status;
}

void cull_rows_clear(cull_backend *backend, cull_rows *rows)
{
    cull_backend_release(backend, rows->inputs);
    cull_backend_release(backend, rows->target);
    cull_backend_release(backend, rows->place);
    cull_backend_release(backend, rows->weight);
    *rows = (cull_rows){0};
}
