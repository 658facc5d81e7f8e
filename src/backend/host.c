/* backend/host.c - what memory on the host is; and a backend's memory as bytes of a saved state. */
#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/clock.h"

cull_status cull_backend_save(cull_backend *backend, const void *data, size_t bytes,
                              cull_writer *writer)
{
    cull_status status = CULL_OK;
    void       *copy = NULL;

    if (cull_backend_on_host(backend)) return cull_write(writer, data, bytes);
    TRY(cull_base_alloc(bytes, 1, "a saved state", &copy));
    TRY(cull_backend_download(backend, copy, data, bytes));
    TRY(cull_write(writer, copy, bytes));
done:
    cull_base_free(copy);
    return status;
}

cull_status cull_backend_restore(cull_backend *backend, void *data, size_t bytes,
                                 cull_reader *reader)
{
    cull_status status = CULL_OK;
    void       *copy = NULL;

    if (cull_backend_on_host(backend)) return cull_read(reader, data, bytes);
    TRY(cull_base_alloc(bytes, 1, "a saved state", &copy));
    TRY(cull_read(reader, copy, bytes));
    TRY(cull_backend_upload(backend, data, copy, bytes));
done:
    cull_base_free(copy);
    return status;
}

/* ---- the host: done when asked for ---- */

struct cull_mark {
    double seconds;
};

static cull_status host_allocate(cull_backend *backend, size_t bytes, void **out)
{
    (void)backend;
    return cull_base_alloc_aligned(bytes, 1, "an array", out);
}

static void host_release(cull_backend *backend, void *data)
{
    (void)backend;
    cull_base_free_aligned(data);
}

static cull_status host_copy(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (bytes) memcpy(to, from, bytes);
    return CULL_OK;
}

static cull_status host_fill(cull_backend *backend, void *to, int byte, size_t bytes)
{
    (void)backend;
    if (bytes) memset(to, byte, bytes);
    return CULL_OK;
}

static cull_status host_wait(cull_backend *backend)
{
    (void)backend;
    return CULL_OK;
}

static cull_status host_mark(cull_backend *backend, cull_mark **mark)
{
    cull_status status = CULL_OK;

    (void)backend;
    if (!*mark) TRY(cull_base_alloc(1, sizeof **mark, "a mark", mark));
    (*mark)->seconds = cull_base_seconds();
done:
    return status;
}

static cull_status host_elapsed(cull_backend *backend, const cull_mark *from, const cull_mark *to,
                                double *seconds)
{
    (void)backend;
    *seconds = to->seconds - from->seconds;
    return CULL_OK;
}

static void host_unmark(cull_backend *backend, cull_mark *mark)
{
    (void)backend;
    cull_base_free(mark);
}

const cull_queue_class cull_queue_host = {
    .allocate = host_allocate,
    .release = host_release,
    .upload = host_copy,
    .download = host_copy,
    .copy = host_copy,
    .fill = host_fill,
    .wait = host_wait,
    .mark = host_mark,
    .elapsed = host_elapsed,
    .unmark = host_unmark,
};
