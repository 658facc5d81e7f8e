/* tests/counted.h - how many bytes a piece of code asks for. */
#ifndef CULL_TESTS_COUNTED_H
#define CULL_TESTS_COUNTED_H

#include <stdlib.h>

#include "base/status.h"

static size_t allocated;

static void *counted_allocate(void *context, size_t bytes)
{
    (void)context;
    allocated += bytes;
    return malloc(bytes);
}

static void *counted_reallocate(void *context, void *data, size_t bytes)
{
    (void)context;
    allocated += bytes;
    return realloc(data, bytes);
}

static void counted_release(void *context, void *data)
{
    (void)context;
    free(data);
}

static inline void begin_counting(void)
{
    static const cull_allocator counted = {counted_allocate, counted_reallocate, counted_release,
                                           NULL};

    allocated = 0;
    cull_allocator_set(&counted);
}

static inline size_t end_counting(void)
{
    cull_allocator_set(NULL);
    return allocated;
}

#endif
