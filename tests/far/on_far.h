/* tests/far/on_far.h - what the tests of the backend `far` share, some of which `emu` passes too.
 */
#ifndef CULL_TESTS_FAR_ON_FAR_H
#define CULL_TESTS_FAR_ON_FAR_H

#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

enum { N = 100, BYTES = N * sizeof(double) };

static inline int open_far(void **state)
{
    return cull_backend_open("far", 2, (cull_backend **)state) != CULL_OK;
}

/* Of the builds that have it. */
static inline int open_emu(void **state)
{
    return cull_backend_open("emu", 2, (cull_backend **)state) != CULL_OK;
}

static inline int close_far(void **state)
{
    cull_backend_close(*state);
    return 0;
}

static inline void *take(cull_backend *far, size_t bytes)
{
    void *data = NULL;

    assert_ok(cull_backend_allocate(far, bytes, 1, "a test", &data));
    assert_true(data && (uintptr_t)data % 64 == 0);
    return data;
}

/* A new array with these bytes. */
static inline void *put(cull_backend *far, const void *from, size_t bytes)
{
    void *data = take(far, bytes);

    assert_ok(cull_backend_upload(far, data, from, bytes));
    return data;
}

static inline void assert_bytes(cull_backend *far, const void *data, int byte, size_t bytes)
{
    unsigned char *here = malloc(bytes);

    assert_ok(cull_backend_download(far, here, data, bytes));
    for (size_t i = 0; i < bytes; i++) assert_int_equal(byte, here[i]);
    free(here);
}

/* What holds on any backend whose memory lies elsewhere: on far, and on emu. */
static inline bool has_emu(void)
{
    for (size_t i = 0; cull_backend_name_at(i); i++)
        if (strcmp(cull_backend_name_at(i), "emu") == 0) return true;
    return false;
}

static inline cull_op *ready(cull_backend *far, cull_op_kind kind)
{
    cull_op *op = NULL;

    assert_ok(cull_op_ready(far, &(cull_op_desc){.kind = kind, .rows = N}, &op));
    return op;
}

#endif
