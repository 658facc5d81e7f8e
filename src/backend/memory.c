/* backend/memory.c - memory of a backend by count and size. */
#include "backend/backend.h"

cull_status cull_backend_allocate(cull_backend *backend, size_t count, size_t size,
                                  const char *what, void *out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;

    if (size && count > SIZE_MAX / size) FAIL(CULL_NO_MEMORY, "no memory for %s", what);
    status = backend->class->queue->allocate(backend, count * size, &data);
    if (status == CULL_NO_MEMORY)
        FAIL(CULL_NO_MEMORY, "no memory for %s: %zu bytes on %s", what, count * size,
             backend->class->name);
done:
    *(void **)out = data;
    return status;
}

void cull_backend_release(cull_backend *backend, void *data)
{
    if (!data) return;
    atomic_fetch_add(&backend->ended, 1);
    backend->class->queue->release(backend, data);
}
