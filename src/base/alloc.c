/* base/alloc.c - allocation through a replaceable hook, counted and overflow-checked. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static void *plain_allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void *plain_reallocate(void *context, void *data, size_t bytes)
{
    (void)context;
    return realloc(data, bytes);
}

static void plain_release(void *context, void *data)
{
    (void)context;
    free(data);
}

static const cull_allocator plain = {plain_allocate, plain_reallocate, plain_release, NULL};
static cull_allocator       hook = {plain_allocate, plain_reallocate, plain_release, NULL};
static atomic_size_t        allocations;

void cull_allocator_set(const cull_allocator *allocator)
{
    hook = allocator ? *allocator : plain;
}

size_t cull_base_alloc_count(void)
{
    return atomic_load(&allocations);
}

static cull_status byte_count(size_t count, size_t size, size_t extra, const char *what,
                              size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) ||
        __builtin_add_overflow(*bytes, extra, bytes) || *bytes > PTRDIFF_MAX)
        return cull_fail(CULL_NO_MEMORY, "no memory for %s: %zu times %zu bytes", what, count,
                         size);
    if (*bytes == 0) *bytes = 1;
    return CULL_OK;
}

cull_status cull_base_alloc(size_t count, size_t size, const char *what, void *out)
{
    cull_status status = CULL_OK;
    size_t      bytes = 0;
    void       *data = NULL;

    TRY(byte_count(count, size, 0, what, &bytes));
    atomic_fetch_add(&allocations, 1);
    data = hook.allocate(hook.context, bytes);
    if (!data) FAIL(CULL_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    memset(data, 0, bytes);
done:
    memcpy(out, &data, sizeof data); /* any object pointer may hide behind out */
    return status;
}

cull_status cull_base_grow(size_t count, size_t size, const char *what, void *data)
{
    cull_status status = CULL_OK;
    size_t      bytes = 0;
    void       *old = NULL, *grown = NULL;

    TRY(byte_count(count, size, 0, what, &bytes));
    atomic_fetch_add(&allocations, 1);
    memcpy(&old, data, sizeof old);
    grown = hook.reallocate(hook.context, old, bytes);
    if (!grown) FAIL(CULL_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    memcpy(data, &grown, sizeof grown);
done:
    return status;
}

/* The address malloc gave is kept in the word before the aligned block. */
cull_status cull_base_alloc_aligned(size_t count, size_t size, const char *what, void *out)
{
    cull_status status = CULL_OK;
    size_t      bytes = 0;
    char       *raw = NULL, *data = NULL;

    TRY(byte_count(count, size, ALIGNMENT + sizeof(void *), what, &bytes));
    atomic_fetch_add(&allocations, 1);
    raw = hook.allocate(hook.context, bytes);
    if (!raw) FAIL(CULL_NO_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    memset(raw, 0, bytes);
    data = raw + sizeof(void *);
    data += (ALIGNMENT - (uintptr_t)data % ALIGNMENT) % ALIGNMENT;
    memcpy(data - sizeof(void *), &raw, sizeof(void *));
done:
    memcpy(out, &data, sizeof data); /* any object pointer may hide behind out */
    return status;
}

void cull_base_free_aligned(void *data)
{
    void *raw = NULL;

    if (!data) return;
    memcpy(&raw, (char *)data - sizeof(void *), sizeof(void *));
    hook.release(hook.context, raw);
}

void cull_base_free(void *data)
{
    if (data) hook.release(hook.context, data);
}
