/* backend/cuda/nn_time.c - how long something takes: recorded several times over, and replayed. */
#include <math.h>

#include "backend/cuda/nn_state.h"

enum { TOGETHER = 8, ROUNDS = 7 };

/* What cannot go on stays a failure; what merely cannot be done is told by INFINITY. */
static cull_status settle(cull_backend *backend, cull_status status)
{
    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    return cull_backend_wait(backend); /* a device that is lost says so again */
}

/* A recording is always ended, so that the stream is as before. */
static cull_status record(cull_backend *backend, cull_status (*run)(void *context), void *context,
                          cull_recording **out)
{
    const cull_queue_class *queue = backend->class->queue;
    cull_status             status = CULL_OK, ended = CULL_OK;

    TRY(queue->record(backend));
    for (int i = 0; i < TOGETHER && status == CULL_OK; i++) status = run(context);
    ended = queue->recorded(backend, out);
    if (status == CULL_OK) status = ended;
    if (status != CULL_OK) {
        queue->forget(backend, *out);
        *out = NULL;
    }
done:
    return status;
}

static void insert(double *sorted, int count, double x)
{
    int i = count;

    for (; i > 0 && sorted[i - 1] > x; i--) sorted[i] = sorted[i - 1];
    sorted[i] = x;
}

static cull_status replay(cull_backend *backend, const cull_recording *recording, double *seconds)
{
    const cull_queue_class *queue = backend->class->queue;
    cull_status             status = CULL_OK;
    cull_mark              *begin = NULL, *end = NULL;
    double                  sorted[ROUNDS] = {0}, once = 0;

    TRY(queue->replay(backend, recording)); /* warm-up */
    for (int i = 0; i < ROUNDS; i++) {
        TRY(queue->mark(backend, &begin));
        TRY(queue->replay(backend, recording));
        TRY(queue->mark(backend, &end));
        TRY(queue->elapsed(backend, begin, end, &once));
        insert(sorted, i, once / TOGETHER);
    }
    *seconds = sorted[ROUNDS / 2];
done:
    queue->unmark(backend, begin);
    queue->unmark(backend, end);
    return status;
}

cull_status cull_nn_time(cull_backend *backend, cull_status (*run)(void *context), void *context,
                         double *seconds)
{
    cull_status     status = CULL_OK;
    cull_recording *recording = NULL;

    *seconds = (double)INFINITY;
    status = run(context); /* kernels are loaded outside of recordings */
    if (status == CULL_OK) status = cull_backend_wait(backend);
    if (status == CULL_OK) status = record(backend, run, context, &recording);
    if (status == CULL_OK) status = replay(backend, recording, seconds);
    TRY(settle(backend, status));
done:
    if (recording) backend->class->queue->forget(backend, recording);
    return status;
}
