/* base/sized.c - public structs as callers of other versions know them: shorter or longer. */
#include "base/sized.h"

#include <string.h>

#include "base/alloc.h"

/* The caller's own sizeof. */
static size_t size_of(const void *given, size_t here)
{
    size_t size = 0;

    memcpy(&size, given, sizeof size);
    return size ? size : here;
}

static cull_status read_one(const char *name, const void *given, size_t size, size_t here,
                            void *room)
{
    const unsigned char *byte = given;
    size_t               known = size < here ? size : here;

    if (size < sizeof size)
        return cull_fail(CULL_BAD_ARGUMENT, "%s: its size says %zu bytes", name, size);
    for (size_t i = here; i < size; i++)
        if (byte[i])
            return cull_fail(CULL_BAD_ARGUMENT,
                             "%s: %zu bytes, and this library, which knows %zu of them, is asked "
                             "for something beyond",
                             name, size, here);
    memset(room, 0, here);
    memcpy((char *)room + sizeof size, byte + sizeof size, known - sizeof size);
    return CULL_OK;
}

cull_status cull_sized_read(const char *name, const void *given, size_t here, void *room)
{
    return read_one(name, given, size_of(given, here), here, room);
}

static void give_one(void *given, size_t size, const void *result, size_t here)
{
    size_t known = size < here ? size : here;

    memcpy((char *)given + sizeof size, (const char *)result + sizeof size, known - sizeof size);
}

void cull_sized_give(void *given, const void *result, size_t here)
{
    if (given != result) give_one(given, size_of(given, here), result, here);
}

void cull_sized_clear(void *given, size_t here)
{
    size_t size = size_of(given, here);

    if (size > sizeof size)
        memset((char *)given + sizeof size, 0, (size < here ? size : here) - sizeof size);
}

cull_status cull_sized_read_all(const char *name, const void *given, size_t count, size_t here,
                                void *out)
{
    cull_status status = CULL_OK;
    size_t      size = count ? size_of(given, here) : here;
    char       *all = NULL;

    if (size != here) {
        TRY(cull_base_alloc(count, here, name, &all));
        for (size_t i = 0; i < count; i++)
            TRY(read_one(name, (const char *)given + i * size, size, here, all + i * here));
    }
    memcpy(out, &all, sizeof all);
    all = NULL;
done:
    cull_base_free(all);
    return status;
}

void cull_sized_give_all(void *given, const void *results, size_t count, size_t here)
{
    size_t size = 0;

    if (!results) return;
    size = size_of(given, here);
    for (size_t i = 0; i < count; i++)
        give_one((char *)given + i * size, size, (const char *)results + i * here, here);
}
