/*
 * tests/far/far.c - `far`, a backend for tests, whose memory nobody else can touch.
 *
 * It computes with `ref`, to the bit, but as a device would that lies elsewhere:
 *
 *   - Its arrays lie in one mapping that no one may read or write outside of its own calls: an
 *     access from outside ends in SIGSEGV. What is released is overwritten with 0xff (NaN), and so
 *     is what lies between arrays; whoever wrote there is caught when the array is released.
 *   - Nothing is done when it is asked for, but when it is waited for (wait, download, elapsed,
 *     release, the end of an operation): then all of it, in order. So an argument that was not
 *     copied at the call, or a result that is read too early, shows.
 *   - Addresses are checked at the call: an operation that is given an array on the host fails with
 *     CULL_BAD_ARGUMENT, where `ref` could have worked with it.
 *   - Waiting between record and recorded ends the process (SIGABRT), and so do uploads and new
 *     memory there: done again they would not be what was meant.
 *
 * How to use it. It is in no library. A test's program gets it, as a backend called "far", with
 * cull_with_far(NAME) in far.cmake; build/tests/cull_far is the program `cull` with it, where
 * train.backend may be `far`. A new kind of operation or layer needs nothing here, except where its
 * arguments point at something that is no array: then a line in far_ops.c.
 */
#include "far.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

struct far *far_enter(const cull_backend *backend)
{
    struct far *far = backend->device;

    far_insist(pthread_mutex_lock(&far->lock) == 0, "a call inside one that never ended");
    return far;
}

void far_leave(struct far *far)
{
    (void)pthread_mutex_unlock(&far->lock);
}

void far_insist(bool holds, const char *what)
{
    if (holds) return;
    (void)fprintf(stderr, "far: %s\n", what);
    abort();
}

static void close_far(cull_backend *backend)
{
    struct far *far = backend->device;

    if (!far) return;
    if (far->recording) cull_base_free(far->recording->log.bytes);
    cull_base_free(far->recording);
    far->recording = NULL;
    far_settle(far);
    cull_base_free(far->asked.bytes);
    far_memory_close(&far->memory);
    (void)pthread_mutex_destroy(&far->lock);
    cull_base_free(far);
}

/* One that tells where a test left a call by longjmp, out of a signal, instead of hanging. */
static void make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;

    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    (void)pthread_mutex_init(lock, &kind);
    (void)pthread_mutexattr_destroy(&kind);
}

static cull_status open_far(cull_backend *backend)
{
    cull_status status = CULL_OK;
    struct far *far = NULL;

    TRY(cull_base_alloc(1, sizeof *far, "a backend", &far));
    make_lock(&far->lock);
    backend->device = far; /* close_far ends it, also when the rest fails */
    TRY(far_memory_open(&far->memory));
done:
    return status;
}

/* Whatever kinds there are: a list of them would be one more place to add a kind to. */
#pragma GCC diagnostic   push
#pragma GCC diagnostic   ignored "-Wpedantic"
const cull_backend_class cull_backend_far = {
    .name = "far",
    .device = 12, /* kDLExtDev */
    .host = "ref",
    .queue = &far_queue,
    .op = {[0 ... CULL_OP_KINDS - 1] = &far_op},
    .open = open_far,
    .close = close_far,
};
#pragma GCC diagnostic pop
