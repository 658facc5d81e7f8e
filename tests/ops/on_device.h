/*
 * tests/ops/on_device.h - the devices that operations are tested on: all that can be opened, or,
 * with CULL_TEST_ON=cuda, that one alone.
 */
#ifndef CULL_TESTS_OPS_ON_DEVICE_H
#define CULL_TESTS_OPS_ON_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

static inline bool is_tested(const char *name)
{
    const char *on = getenv("CULL_TEST_ON");

    return !on || strcmp(on, name) == 0;
}

/* At a test's beginning: it is skipped where the device that was asked for is not here. */
static inline void open_or_skip(void)
{
    const char   *on = getenv("CULL_TEST_ON");
    cull_backend *backend = NULL;

    if (on && cull_backend_open(on, 1, &backend) != CULL_OK) {
        (void)printf("skipped: no GPU (%s)\n", cull_last_error());
        exit(77);
    }
    cull_backend_close(backend);
}

#endif
