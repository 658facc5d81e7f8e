/*
 * backend/cuda/queue.c - memory, order, events and recorded steps: one stream, and its graphs.
 *
 * Uploads go through pinned memory in two halves: bytes are copied there and sent on, and a half is
 * written again when what was in it has left. So the caller's array is free at once and nobody
 * waits, unless more is sent than the halves hold.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

enum { HALF = CULL_CUDA_HALF };

struct cull_mark {
    cudaEvent_t event;
};

struct cull_recording {
    cudaGraphExec_t graph;
};

static cull_status allocate(cull_backend *backend, size_t bytes, void **out)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    void       *data = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    if (bytes == 0) bytes = 1;
    CUDA(cudaMalloc(&data, bytes));
    CUDA(cudaMemsetAsync(data, 0, bytes, cuda->stream));
    *out = data;
    data = NULL;
done:
    if (data) CUDA_QUIETLY(cudaFree(data));
    return status;
}

/* Whenever somebody's last reference goes, whatever device his thread is at. */
static void release(cull_backend *backend, void *data)
{
    cull_cuda *cuda = cull_cuda_of(backend);
    int        before = cull_cuda_current(cuda);

    CUDA_QUIETLY(cudaSetDevice(cuda->number));
    CUDA_QUIETLY(cudaStreamSynchronize(cuda->stream));
    CUDA_QUIETLY(cudaFree(data));
    cull_cuda_restore(cuda, before);
}

/* Room for up to `bytes` in the half that is being filled: where, and *room of them. */
static char *take_stage(cull_cuda *cuda, size_t bytes, size_t *room)
{
    size_t half = cuda->staged / HALF, left = HALF - cuda->staged % HALF;
    char  *to = cuda->stage + cuda->staged;

    *room = bytes < left ? bytes : left;
    cuda->staged += (*room + 15) / 16 * 16;
    if (cuda->staged == (half + 1) * HALF) cuda->staged = half ? 0 : HALF;
    return to;
}

static cull_status upload(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    for (size_t at = 0, room = 0; at < bytes; at += room) {
        size_t half = cuda->staged / HALF;
        char  *stage = take_stage(cuda, bytes - at, &room);

        memcpy(stage, (const char *)from + at, room);
        CUDA(cudaMemcpyAsync((char *)to + at, stage, room, cudaMemcpyHostToDevice, cuda->stream));
        if (cuda->staged / HALF == half) continue;
        CUDA(cudaEventRecord(cuda->left[half], cuda->stream));
        CUDA(cudaEventSynchronize(cuda->left[!half]));
    }
done:
    return status;
}

static cull_status download(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    int         before = cull_cuda_current(cull_cuda_of(backend));

    TRY(cull_cuda_enter(backend, &cuda));
    if (bytes) CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream));
    CUDA(cudaStreamSynchronize(cuda->stream));
done:
    cull_cuda_restore(cull_cuda_of(backend), before);
    return status;
}

static cull_status copy(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    if (bytes) CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda->stream));
done:
    return status;
}

static cull_status fill(cull_backend *backend, void *to, int byte, size_t bytes)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    if (bytes) CUDA(cudaMemsetAsync(to, byte, bytes, cuda->stream));
done:
    return status;
}

static cull_status wait_for(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cudaStreamSynchronize(cuda->stream));
done:
    return status;
}

/* ---- marks ---- */

static void unmark(cull_backend *backend, cull_mark *mark)
{
    if (!mark) return;
    CUDA_QUIETLY(cudaSetDevice(cull_cuda_of(backend)->number));
    if (mark->event) CUDA_QUIETLY(cudaEventDestroy(mark->event));
    cull_base_free(mark);
}

/* Inside a recording a mark is passed anew whenever that is done again. */
static cull_status mark(cull_backend *backend, cull_mark **out)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_mark  *fresh = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    if (!*out) {
        TRY(cull_base_alloc(1, sizeof *fresh, "a mark", &fresh));
        CUDA(cudaEventCreate(&fresh->event));
    }
    CUDA(cudaEventRecordWithFlags((fresh ? fresh : *out)->event, cuda->stream,
                                  cuda->recording ? cudaEventRecordExternal
                                                  : cudaEventRecordDefault));
    if (fresh) *out = fresh;
    fresh = NULL;
done:
    unmark(backend, fresh);
    return status;
}

static cull_status elapsed(cull_backend *backend, const cull_mark *from, const cull_mark *to,
                           double *seconds)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    float       milliseconds = 0;

    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cudaEventSynchronize(from->event));
    CUDA(cudaEventSynchronize(to->event));
    CUDA(cudaEventElapsedTime(&milliseconds, from->event, to->event));
    *seconds = (double)milliseconds * 1e-3;
done:
    return status;
}

/* ---- beside the stream ---- */

cull_status cull_cuda_fork(cull_cuda *cuda)
{
    cull_status status = CULL_OK;

    CUDA(cudaEventRecord(cuda->forked, cuda->stream));
    CUDA(cudaStreamWaitEvent(cuda->side, cuda->forked, 0));
    cuda->apart = true;
done:
    return status;
}

cull_status cull_cuda_join(cull_cuda *cuda)
{
    cull_status status = CULL_OK;
    bool        apart = cuda->apart, aside = cuda->turned_aside;

    cuda->apart = cuda->turned_aside = false;
    if (apart) {
        CUDA(cudaEventRecord(cuda->joined, cuda->side));
        CUDA(cudaStreamWaitEvent(cuda->stream, cuda->joined, 0));
    }
    if (aside) {
        CUDA(cudaEventRecord(cuda->ended, cuda->third));
        CUDA(cudaStreamWaitEvent(cuda->stream, cuda->ended, 0));
    }
done:
    return status;
}

cull_status cull_cuda_turn_aside(cull_cuda *cuda)
{
    cull_status status = CULL_OK;

    CUDA(cudaEventRecord(cuda->forked, cuda->stream));
    CUDA(cudaStreamWaitEvent(cuda->third, cuda->forked, 0));
    if (cuda->apart) {
        CUDA(cudaEventRecord(cuda->joined, cuda->side));
        CUDA(cudaStreamWaitEvent(cuda->third, cuda->joined, 0));
    }
    cuda->turned_aside = true;
    cuda->main = cuda->stream;
    cuda->stream = cuda->third;
done:
    return status;
}

void cull_cuda_turn_back(cull_cuda *cuda)
{
    if (cuda->main) cuda->stream = cuda->main;
    cuda->main = NULL;
}

/* ---- recorded steps ---- */

static cull_status record(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal));
    cuda->recording = true;
done:
    return status;
}

static void forget(cull_backend *backend, cull_recording *recording)
{
    cull_cuda *cuda = cull_cuda_of(backend);

    if (!recording) return;
    CUDA_QUIETLY(cudaSetDevice(cuda->number));
    CUDA_QUIETLY(cudaStreamSynchronize(cuda->stream));
    if (recording->graph) CUDA_QUIETLY(cudaGraphExecDestroy(recording->graph));
    cull_base_free(recording);
}

/* By itself a graph has one priority, that of the stream it is launched in; so what goes beside the
 * rest would no longer come last. For benchmarks, CULL_CUDA_PRIORITY; 0: it does not. */
static unsigned long long priorities(void)
{
    const char *wanted = getenv("CULL_CUDA_PRIORITY");

    return wanted && *wanted == '0' ? 0 : cudaGraphInstantiateFlagUseNodePriority;
}

static cull_status recorded(cull_backend *backend, cull_recording **out)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cudaGraph_t     graph = NULL;
    cull_recording *recording = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    cuda->recording = false;
    (void)cull_cuda_join(cuda); /* where a step failed halfway: a capture ends with one stream */
    CUDA(cudaStreamEndCapture(cuda->stream, &graph));
    TRY(cull_base_alloc(1, sizeof *recording, "a recorded step", &recording));
    CUDA(cudaGraphInstantiate(&recording->graph, graph, priorities()));
    CUDA(cudaGraphUpload(recording->graph, cuda->stream));
    *out = recording;
    recording = NULL;
done:
    if (graph) CUDA_QUIETLY(cudaGraphDestroy(graph));
    forget(backend, recording);
    return status;
}

static cull_status replay(cull_backend *backend, const cull_recording *recording)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cudaGraphLaunch(recording->graph, cuda->stream));
done:
    return status;
}

/* ---- a stream of somebody else's ---- */

/* All that was asked for so far comes first; what was staged for uploads goes along. */
static cull_status turn_to(cull_cuda *cuda, cudaStream_t stream)
{
    cull_status status = CULL_OK;

    CUDA(cudaEventRecord(cuda->turned, cuda->stream));
    CUDA(cudaStreamWaitEvent(stream, cuda->turned, 0));
done:
    return status;
}

static cull_status follow(cull_backend *backend, void *stream)
{
    cull_status                  status = CULL_OK;
    cull_cuda                   *cuda = NULL;
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    int                          before = cull_cuda_current(cull_cuda_of(backend));

    TRY(cull_cuda_enter(backend, &cuda));
    if (cuda->stream != cuda->own || cuda->recording)
        FAIL(CULL_BAD_ARGUMENT, "%s is at work on another stream: leave that first",
             backend->description);
    CUDA(cudaStreamIsCapturing(stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        FAIL(CULL_UNSUPPORTED,
             "the stream is being captured into a graph, and a decision waits for "
             "what it finds: decide outside of the capture");
    TRY(turn_to(cuda, stream));
    cuda->stream = stream;
    cuda->before = before;
done:
    if (status != CULL_OK) cull_cuda_restore(cull_cuda_of(backend), before);
    return status;
}

/* Its own stream comes back whatever becomes of the order: then the device is lost. So does the
 * thread's device. */
static cull_status leave(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = cull_cuda_of(backend);

    if (cuda->stream == cuda->own) return CULL_OK;
    TRY(cull_cuda_enter(backend, &cuda));
    TRY(turn_to(cuda, cuda->own));
done:
    cuda->stream = cuda->own;
    cull_cuda_restore(cuda, cuda->before);
    return status;
}

const cull_queue_class cull_cuda_queue = {
    .allocate = allocate,
    .release = release,
    .upload = upload,
    .download = download,
    .copy = copy,
    .fill = fill,
    .wait = wait_for,
    .mark = mark,
    .elapsed = elapsed,
    .unmark = unmark,
    .record = record,
    .recorded = recorded,
    .replay = replay,
    .forget = forget,
    .follow = follow,
    .leave = leave,
};
