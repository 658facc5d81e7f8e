/* select/desk.c - arrays that are on the host and with a backend. */
#include "select/desk.h"

void cull_sel_desk_open(cull_sel_desk *desk, cull_backend *backend)
{
    *desk = (cull_sel_desk){
        .backend = backend, .there.backend = backend, .here.backend = cull_backend_host(backend)};
}

void cull_sel_desk_clear(cull_sel_desk *desk)
{
    cull_kit_clear(&desk->there);
    cull_kit_clear(&desk->here);
}

cull_status cull_sel_desk_allocate(cull_sel_desk *desk, size_t count, size_t size, const char *what,
                                   cull_sel_both *out)
{
    cull_status status = CULL_OK;

    *out = (cull_sel_both){.size = size};
    TRY(cull_kit_allocate(&desk->there, count, size, what, &out->there));
    out->here = out->there;
    if (cull_sel_desk_apart(desk))
        TRY(cull_kit_allocate(&desk->here, count, size, what, &out->here));
done:
    return status;
}

cull_status cull_sel_desk_copy(cull_sel_desk *desk, void *here, size_t count, size_t size,
                               const char *what, cull_sel_both *out)
{
    cull_status status = CULL_OK;

    *out = (cull_sel_both){here, here, size};
    if (!cull_sel_desk_apart(desk)) return CULL_OK;
    TRY(cull_kit_allocate(&desk->there, count, size, what, &out->there));
    TRY(cull_sel_desk_send(desk, out, 0, count));
done:
    return status;
}

cull_status cull_sel_desk_send(const cull_sel_desk *desk, const cull_sel_both *both, size_t first,
                               size_t count)
{
    size_t at = first * both->size;

    if (both->there == both->here) return CULL_OK;
    return cull_backend_upload(desk->backend, (char *)both->there + at, (char *)both->here + at,
                               count * both->size);
}

cull_status cull_sel_desk_fetch(const cull_sel_desk *desk, const cull_sel_both *both, size_t first,
                                size_t count)
{
    size_t at = first * both->size;

    if (both->there == both->here) return CULL_OK;
    return cull_backend_download(desk->backend, (char *)both->here + at, (char *)both->there + at,
                                 count * both->size);
}

cull_status cull_sel_desk_bring(cull_sel_desk *desk, const cull_tensor *from, size_t rows,
                                cull_tensor *out)
{
    cull_status status = CULL_OK;
    size_t      width = from->dims == 2 ? (size_t)from->shape[1] : 1;
    size_t      count = rows ? (rows - 1) * (size_t)from->stride[0] + width : 0;
    size_t      size = cull_dtype_size(from->dtype);
    void       *here = NULL;

    *out = *from;
    if (!cull_sel_desk_apart(desk) || !from->data) return CULL_OK;
    TRY(cull_kit_allocate(&desk->here, count, size, "signals", &here));
    TRY(cull_backend_download(desk->backend, here, from->data, count * size));
    out->data = here;
    out->device = (cull_device){0};
done:
    return status;
}

cull_status cull_sel_desk_places(cull_sel_desk *desk, const cull_signals *signals,
                                 const uint32_t **out)
{
    cull_status status = CULL_OK;
    uint32_t   *here = NULL;

    *out = signals->place;
    if (!cull_sel_desk_apart(desk) || !signals->place) return CULL_OK;
    TRY(cull_kit_allocate(&desk->here, signals->count, sizeof *here, "places", &here));
    TRY(cull_backend_download(desk->backend, here, signals->place, signals->count * sizeof *here));
    *out = here;
done:
    return status;
}
