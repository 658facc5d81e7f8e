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

/* ---- what was asked for ---- */

/* In the order of the calls. Streams are told apart by their addresses, which nobody follows here.
 */
static struct entry {
    struct emu_work *work; /* NULL: the stream waits, and nothing else */
    const void      *stream;
    size_t           behind; /* which entry it waits for, from 1; 0: none but those before it */
} * asked;
static size_t askeds, asked_room, rounds = 1, waits;
static bool   settling;

size_t emu_waits(void)
{
    return waits;
}

static void add(struct emu_work *work, const void *stream, size_t behind)
{
    if (askeds == asked_room) {
        asked_room = 2 * asked_room + 64;
        asked = realloc(asked, asked_room * sizeof *asked);
        emu_insist(asked != NULL, "no memory");
    }
    if (work) work->holders++;
    asked[askeds++] = (struct entry){work, stream, behind};
}

enum { STREAMS = 64 };

/* Of a round's streams, where each of them is. */
struct turns {
    const void *stream[STREAMS];
    size_t      next[STREAMS]; /* its first entry that is not done; askeds: none */
    size_t      count;
};

/* The entry of that stream from `at` on. */
static size_t next_of(const void *stream, size_t at)
{
    while (at < askeds && asked[at].stream != stream) at++;
    return at;
}

static void find_streams(struct turns *turns)
{
    for (size_t i = 0; i < askeds; i++) {
        size_t k = 0;

        while (k < turns->count && turns->stream[k] != asked[i].stream) k++;
        if (k < turns->count) continue;
        emu_insist(k < STREAMS, "more streams at once than are kept in mind");
        turns->stream[k] = asked[i].stream;
        turns->next[k] = i;
        turns->count++;
    }
}

/* Of the streams that need not wait the one whose next entry was asked for last: only what an event
 * orders is in order. */
static size_t choose(const struct turns *turns, const bool *done)
{
    size_t best = turns->count;

    for (size_t k = 0; k < turns->count; k++) {
        size_t i = turns->next[k];

        if (i == askeds || (asked[i].behind && !done[asked[i].behind - 1])) continue;
        if (best == turns->count || i > turns->next[best]) best = k;
    }
    return best;
}

static void do_all(void)
{
    struct turns turns = {.count = 0};
    bool        *done = calloc(askeds, sizeof *done);

    emu_insist(done != NULL, "no memory");
    find_streams(&turns);
    for (size_t n = 0; n < askeds; n++) {
        size_t k = choose(&turns, done), i = 0;

        emu_insist(k < turns.count, "streams that wait for each other");
        i = turns.next[k];
        if (asked[i].work) {
            asked[i].work->run(asked[i].work);
            let_go(asked[i].work);
        }
        done[i] = true;
        turns.next[k] = next_of(turns.stream[k], i + 1);
    }
    free(done);
}

void emu_settle(void)
{
    emu_insist(!settling, "a call of the runtime inside a kernel, or behind one that never ended");
    if (askeds == 0) return;
    settling = true;
    waits++;
    emu_memory_open(true);
    do_all();
    emu_memory_open(false);
    askeds = 0;
    rounds++;
    settling = false;
}

static void push(struct emu_work *work, cudaStream_t stream)
{
    add(work, stream, 0);
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
        push(work, s);
    }
    if (error != cudaSuccess) free(work);
    return error;
}

void emu_ask_again(const struct emu_list *list, cudaStream_t stream)
{
    for (size_t i = 0; i < list->count; i++) push(list->work[i], emu_stream(stream));
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
    *least = 0;
    *greatest = -5;
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
    cudaError_t error = cudaStreamCreateWithFlags(out, flags);

    if (error == cudaSuccess) (*out)->priority = priority;
    return error;
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
    event->at = askeds;
    event->round = rounds;
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

static cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaStream_t s = emu_stream(stream);

    if (!event) return cudaErrorInvalidResourceHandle;
    if (flags & cudaEventWaitExternal) return s->capture ? cudaSuccess : cudaErrorIllegalState;
    if (s->capture || emu_event_captured(event)) return emu_capture_wait(s, event);
    if (event->recorded && event->round == rounds) add(NULL, s, event->at);
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
