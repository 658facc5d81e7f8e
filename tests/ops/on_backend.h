/*
 * tests/ops/on_backend.h - the backends that these tests compare, and an operation on any of them
 * whose arguments lie on the host: they are uploaded, it is run, its results are downloaded. Where
 * the backend's memory is the host's, the arrays are taken as they are, on whatever border they
 * begin and with nothing behind them that a sanitizer would not see.
 */
#ifndef CULL_TESTS_OPS_ON_BACKEND_H
#define CULL_TESTS_OPS_ON_BACKEND_H

#include "ops/on_args.h"
#include "ops/on_device.h"

/* ref is right; cpu comes near it, with one thread as with three; far equals ref (tests/far). Those
 * of devices come as near as cpu: emu (tests/emu), and cuda where it can be opened. */
static cull_backend *ref, *one, *three, *far, *device[2];

static inline int open_backends(void **state)
{
    static const char *const names[] = {"emu", "cuda"};

    (void)state;
    open_or_skip();
    for (size_t i = 0; i < 2; i++)
        if (is_tested(names[i])) (void)cull_backend_open(names[i], 1, &device[i]);
    return cull_backend_open("ref", 1, &ref) || cull_backend_open("cpu", 1, &one) ||
           cull_backend_open("cpu", 3, &three) || cull_backend_open("far", 2, &far);
}

static inline int close_backends(void **state)
{
    (void)state;
    cull_backend_close(ref);
    cull_backend_close(one);
    cull_backend_close(three);
    cull_backend_close(far);
    for (size_t i = 0; i < 2; i++) cull_backend_close(device[i]);
    return 0;
}

/* The devices of which each has the operation. */
static inline cull_backend *device_with(size_t i, cull_op_kind kind)
{
    return device[i] && device[i]->class->op[kind] ? device[i] : NULL;
}

#define EACH_DEVICE(backend, kind)                                                                 \
    for (size_t device_ = 0; device_ < 2; device_++)                                               \
        for (cull_backend *backend = device_with(device_, kind); backend; backend = NULL)

/* All of them. */
static inline cull_backend *backend_at(size_t i, cull_op_kind kind)
{
    cull_backend *all[] = {ref, one, three, far};

    return i < 4 ? all[i] : device_with(i - 4, kind);
}

#define EACH(backend, kind)                                                                        \
    for (size_t each_ = 0; each_ < 6; each_++)                                                     \
        for (cull_backend *backend = backend_at(each_, kind); backend; backend = NULL)

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
