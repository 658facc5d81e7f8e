/*
 * tests/emu/emu_graph.c - captures and graphs.
 *
 * A capture is a list of things to be done, in the order of the calls, whatever the stream. So that
 * a stream that was never joined is found, each of its streams has a clock: how much of each other
 * it has waited for.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emu_inside.h"

struct emu_capture {
    struct emu_capture        *next;
    size_t                     serial;
    enum cudaStreamCaptureMode mode;
    pthread_t                  thread;
    bool                       spoiled, mixed;    /* mixed: streams of several priorities */
    cudaStream_t               stream[EMU_FORKS]; /* the first is where it was begun */
    struct emu_clock           clock[EMU_FORKS];
    size_t                     streams;
    struct emu_list            list;
};

struct CUgraph_st {
    struct emu_list list;
    bool            mixed;
};

struct CUgraphExec_st {
    struct emu_list list;
};

static struct emu_capture *captures;
static size_t              serials, replays;

size_t emu_replays(void)
{
    return replays;
}

/* ---- who is in a capture ---- */

struct emu_capture *emu_capture_here(void)
{
    for (struct emu_capture *c = captures; c; c = c->next)
        if (c->mode != cudaStreamCaptureModeRelaxed &&
            (c->mode == cudaStreamCaptureModeGlobal || pthread_equal(c->thread, pthread_self())))
            return c;
    return NULL;
}

void emu_capture_spoil(struct emu_capture *capture)
{
    capture->spoiled = true;
}

cudaError_t emu_capture_state(cudaStream_t stream)
{
    return stream->capture->spoiled ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

void emu_capture_add(cudaStream_t stream, struct emu_work *work)
{
    struct emu_capture *c = stream->capture;

    emu_list_add(&c->list, work);
    c->clock[stream->place].count[stream->place]++;
}

bool emu_event_captured(const struct CUevent_st *event)
{
    for (struct emu_capture *c = captures; c && event->capture; c = c->next)
        if (c == event->capture && c->serial == event->serial) return true;
    return false;
}

cudaError_t emu_capture_event(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = emu_capture_state(stream);

    if (error != cudaSuccess) return error;
    event->recorded = true;
    event->passed = false;
    event->capture = stream->capture;
    event->serial = stream->capture->serial;
    event->clock = stream->capture->clock[stream->place];
    return cudaSuccess;
}

static void join(struct emu_capture *capture, cudaStream_t stream)
{
    emu_insist(capture->streams < EMU_FORKS, "a capture of more streams than are kept in mind");
    stream->place = capture->streams++;
    stream->capture = capture;
    capture->stream[stream->place] = stream;
    capture->mixed |= stream->priority != capture->stream[0]->priority;
}

/* A stream outside of the capture comes in; an event of outside may not. */
cudaError_t emu_capture_wait(cudaStream_t stream, cudaEvent_t event)
{
    struct emu_capture *c = stream->capture;
    struct emu_clock   *clock = NULL;

    if (!emu_event_captured(event) || (c && c != event->capture)) {
        emu_capture_spoil(c ? c : event->capture);
        return cudaErrorStreamCaptureUnsupported; /* isolation, says CUDA */
    }
    if (!c) join(event->capture, stream);
    c = stream->capture;
    clock = &c->clock[stream->place];
    for (size_t i = 0; i < EMU_FORKS; i++)
        if (clock->count[i] < event->clock.count[i]) clock->count[i] = event->clock.count[i];
    return emu_capture_state(stream);
}

static void drop_capture(struct emu_capture *capture)
{
    struct emu_capture **at = &captures;

    for (size_t i = 0; i < capture->streams; i++)
        if (capture->stream[i]) capture->stream[i]->capture = NULL;
    while (*at != capture) at = &(*at)->next;
    *at = capture->next;
    emu_list_clear(&capture->list);
    free(capture);
}

void emu_capture_leave(cudaStream_t stream)
{
    struct emu_capture *c = stream->capture;

    c->stream[stream->place] = NULL;
    emu_capture_spoil(c);
    if (stream->place == 0) drop_capture(c);
}

/* ---- from begin to end ---- */

static cudaError_t begin(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct emu_capture *c = NULL;

    if (!stream || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture) return cudaErrorIllegalState;
    c = calloc(1, sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    c->serial = ++serials;
    c->mode = mode;
    c->thread = pthread_self();
    join(c, stream);
    c->next = captures;
    captures = c;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    EMU_CALL(begin(stream, mode));
}

static cudaError_t may_end(const struct emu_capture *c)
{
    if (c->spoiled) return cudaErrorStreamCaptureInvalidated;
    if (c->mode != cudaStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    for (size_t i = 1; i < c->streams; i++)
        if (c->clock[0].count[i] < c->clock[i].count[i]) return cudaErrorStreamCaptureUnjoined;
    return cudaSuccess;
}

static cudaError_t finish(cudaStream_t stream, cudaGraph_t *out, bool lost)
{
    cudaError_t         error = cudaSuccess;
    struct emu_capture *c = emu_stream(stream)->capture;

    *out = NULL;
    if (!c) return cudaErrorIllegalState;
    if (c->stream[0] != stream) return cudaErrorStreamCaptureUnmatched;
    error = may_end(c);
    if (error == cudaSuccess && !lost) *out = calloc(1, sizeof **out);
    if (*out) {
        (*out)->list = c->list;
        (*out)->mixed = c->mixed;
        c->list = (struct emu_list){0};
    }
    drop_capture(c);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    cudaError_t error = emu_enter(), found = finish(stream, out, error != cudaSuccess);

    return emu_leave(error == cudaSuccess ? found : error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    cudaStream_t s = emu_stream(stream);

    *status = cudaStreamCaptureStatusNone;
    if (s->capture)
        *status = s->capture->spoiled ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    EMU_CALL(cudaSuccess);
}

/* ---- graphs ---- */

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph)
{
    *out = NULL;
    if (!graph) return cudaErrorInvalidValue;
    *out = calloc(1, sizeof **out);
    if (!*out) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < graph->list.count; i++) emu_list_add(&(*out)->list, graph->list.work[i]);
    return cudaSuccess;
}

/* Nothing is ended here by what came first; a device would have been told to forget who does. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    emu_insist(!graph || !graph->mixed || flags & cudaGraphInstantiateFlagUseNodePriority,
               "what was captured in streams of several priorities is launched with one");
    EMU_CALL(instantiate(out, graph));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream)
{
    EMU_CALL(graph && !emu_stream(stream)->capture ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t launch(cudaGraphExec_t graph, cudaStream_t stream)
{
    if (!graph) return cudaErrorInvalidValue;
    if (emu_stream(stream)->capture) {
        emu_capture_spoil(emu_stream(stream)->capture);
        return cudaErrorStreamCaptureUnsupported;
    }
    replays++;
    emu_ask_again(&graph->list, stream);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    EMU_CALL(launch(graph, stream));
}

static cudaError_t end_graph(struct emu_list *list, void *graph)
{
    if (!graph) return cudaErrorInvalidValue;
    emu_list_clear(list);
    free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    EMU_CALL_ALWAYS(end_graph(graph ? &graph->list : NULL, graph));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    EMU_CALL_ALWAYS(end_graph(graph ? &graph->list : NULL, graph));
}
