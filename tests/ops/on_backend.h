/*
 * tests/ops/on_backend.h - the backends that these tests compare, and an operation on any of them
 * whose arguments lie on the host: they are uploaded, it is run, its results are downloaded. Where
 * the backend's memory is the host's, the arrays are taken as they are, on whatever border they
 * begin and with nothing behind them that a sanitizer would not see.
 */
#ifndef CULL_TESTS_OPS_ON_BACKEND_H
#define CULL_TESTS_OPS_ON_BACKEND_H

#include "ops/on_args.h"

#include <stdlib.h>

/* ref is right; cpu comes near it, with one thread as with three; far equals ref (tests/far);
 * device is what CULL_TEST_ON names, else the CUDA backend's sources on the host (tests/emu), or
 * NULL where these are not built. */
static cull_backend *ref, *one, *three, *far, *device;

static inline cull_status open_device(void)
{
    const char *name = getenv("CULL_TEST_ON");
    cull_status status = cull_backend_open(name ? name : "emu", 1, &device);

    return name ? status : CULL_OK;
}

static inline int open_backends(void **state)
{
    (void)state;
    return cull_backend_open("ref", 1, &ref) || cull_backend_open("cpu", 1, &one) ||
           cull_backend_open("cpu", 3, &three) || cull_backend_open("far", 2, &far) ||
           open_device();
}

static inline int close_backends(void **state)
{
    (void)state;
    cull_backend_close(ref);
    cull_backend_close(one);
    cull_backend_close(three);
    cull_backend_close(far);
    cull_backend_close(device);
    return 0;
}

/* An operation for so many rows, prepared and run `times` times. */
static inline cull_status on_run(cull_backend *backend, cull_op_kind kind, size_t rows, int times,
                                 const cull_op_args *args)
{
    cull_status  status = CULL_OK;
    struct on    on = {.backend = backend};
    cull_op_args there = *args;
    cull_op     *op = NULL;

    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = kind, .rows = rows}, &op));
    TRY(on_args(&on, kind, &there));
    for (int i = 0; i < times; i++) TRY(cull_op_run(op, &there));
    TRY(cull_backend_wait(backend));
    on_report(&on, kind, args);
done:
    status = on_back(&on, status);
    cull_op_destroy(op);
    return status;
}

#endif
