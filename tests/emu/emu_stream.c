/* tests/emu/emu_stream.c - what was asked for and nobody has waited for yet; streams and events. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "emu_inside.h"

/* ---- lists of things to be done ---- */

void emu_list_add(struct emu_list *list, struct emu_work *work)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->work = realloc(list->work, list->room * sizeof(struct emu_work *));
        emu_insist(list->work != NULL, "no memory");
    }
    work->holders++;
    list->work[list->count++] = work;
}

static void let_go(struct emu_work *work)
{
    if (--work->holders == 0) free(work);
}

void emu_list_clear(struct emu_list *list)
{
    for (size_t i = 0; i < list->count; i++) let_go(list->work[i]);
    free(list->work);
    *list = (struct emu_list){0};
}

static struct emu_list asked; /* of all streams, in the order of the calls */
static bool            settling;

void emu_settle(void)
{
    emu_insist(!settling, "a call of the runtime inside a kernel, or behind one that never ended");
    if (asked.count == 0) return;
    settling = true;
    emu_memory_open(true);
    for (size_t i = 0; i < asked.count; i++) {
        asked.work[i]->run(asked.work[i]);
        let_go(asked.work[i]);
    }
    emu_memory_open(false);
    asked.count = 0;
    settling = false;
}

static void push(struct emu_work *work)
{
    emu_list_add(&asked, work);
    if (work->ask) work->ask(work);
}

cudaError_t emu_ask(cudaStream_t stream, struct emu_work *work)
{
    cudaStream_t s = emu_stream(stream);
    cudaError_t  error = cudaSuccess;

    if (s->capture) {
        error = emu_capture_state(s);
        if (error == cudaSuccess) emu_capture_add(s, work);
    } else if (!stream && emu_capture_here()) {
        emu_capture_spoil(emu_capture_here());
        error = cudaErrorStreamCaptureImplicit;
    } else {
        push(work);
    }
    if (error != cudaSuccess) free(work);
    return error;
}

void emu_ask_again(const struct emu_list *list)
{
    for (size_t i = 0; i < list->count; i++) push(list->work[i]);
}

cudaError_t emu_may_wait(void)
{
    struct emu_capture *capture = emu_capture_here();

    if (!capture) return cudaSuccess;
    emu_capture_spoil(capture);
    return cudaErrorStreamCaptureUnsupported;
}

/* ---- streams ---- */

cudaStream_t emu_stream(cudaStream_t stream)
{
    static struct CUstream_st plain;

    return stream && stream != cudaStreamLegacy ? stream : &plain;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    (void)flags;
    *out = calloc(1, sizeof **out);
    EMU_CALL(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithFlags(out, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    (void)priority;
    return cudaStreamCreateWithFlags(out, flags);
}

static cudaError_t end_stream(cudaStream_t stream)
{
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) emu_capture_leave(stream);
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    EMU_CALL_ALWAYS(end_stream(stream));
}

static cudaError_t wait_for_stream(cudaStream_t stream)
{
    if (emu_stream(stream)->capture) {
        emu_capture_spoil(emu_stream(stream)->capture);
        return cudaErrorStreamCaptureUnsupported;
    }
    emu_settle();
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    EMU_CALL(wait_for_stream(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    EMU_CALL(wait_for_stream(stream));
}

static cudaError_t wait_for_all(void)
{
    cudaError_t error = emu_may_wait();

    if (error == cudaSuccess) emu_settle();
    return error;
}

cudaError_t cudaDeviceSynchronize(void)
{
    EMU_CALL(wait_for_all());
}

/* ---- events ---- */

struct marked {
    struct emu_work work;
    cudaEvent_t     event;
};

static void ask_mark(struct emu_work *work)
{
    cudaEvent_t event = ((struct marked *)work)->event;

    event->recorded = true;
    event->passed = false;
    event->capture = NULL;
}

static void do_mark(struct emu_work *work)
{
    cudaEvent_t event = ((struct marked *)work)->event;

    event->seconds = cull_base_seconds();
    event->passed = true;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->timed = !(flags & cudaEventDisableTiming);
    EMU_CALL(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, cudaEventDefault);
}

static cudaError_t end_event(cudaEvent_t event)
{
    if (!event) return cudaErrorInvalidResourceHandle;
    emu_settle(); /* it may be about to pass */
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    EMU_CALL_ALWAYS(end_event(event));
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    cudaStream_t   s = emu_stream(stream);
    bool           outside = flags & cudaEventRecordExternal;
    struct marked *m = NULL;

    if (!event) return cudaErrorInvalidResourceHandle;
    if (s->capture && !outside) return emu_capture_event(event, s);
    if (!s->capture && outside) return cudaErrorIllegalState;
    m = malloc(sizeof *m);
    emu_insist(m != NULL, "no memory");
    *m = (struct marked){{do_mark, ask_mark, 0}, event};
    return emu_ask(stream, &m->work);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    EMU_CALL(record(event, stream, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    EMU_CALL(record(event, stream, cudaEventRecordDefault));
}

/* What was asked for earlier is done earlier: only captures must know who waits for whom. */
static cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaStream_t s = emu_stream(stream);

    if (!event) return cudaErrorInvalidResourceHandle;
    if (flags & cudaEventWaitExternal) return s->capture ? cudaSuccess : cudaErrorIllegalState;
    if (s->capture || emu_event_captured(event)) return emu_capture_wait(s, event);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    EMU_CALL(wait_for_event(stream, event, flags));
}

static cudaError_t look_at_event(cudaEvent_t event)
{
    if (!event) return cudaErrorInvalidResourceHandle;
    if (emu_event_captured(event)) {
        emu_capture_spoil(event->capture);
        return cudaErrorCapturedEvent;
    }
    if (event->recorded && !event->passed) emu_settle();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    EMU_CALL(look_at_event(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    EMU_CALL(look_at_event(event));
}

static cudaError_t measure(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (!from || !to || !from->timed || !to->timed || !from->recorded || !to->recorded)
        return cudaErrorInvalidResourceHandle;
    if (emu_event_captured(from) || emu_event_captured(to)) return cudaErrorCapturedEvent;
    if (!from->passed || !to->passed) return cudaErrorNotReady;
    *milliseconds = (float)((to->seconds - from->seconds) * 1e3);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    EMU_CALL(measure(milliseconds, from, to));
}
