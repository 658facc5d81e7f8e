/*
 * tests/emu/emu_memory.c - the device's memory, pinned memory, and copies.
 *
 * The device's is that of tests/far: one mapping, closed while nothing is done, with poison between
 * its arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "emu_inside.h"
#include "far/far.h"

static struct far_memory memory;
static size_t            mallocs, fail_at; /* 0: not planned */
static size_t            fetched;

static struct pinned {
    struct pinned *next;
    char          *data;
    size_t         bytes;
} * pinned;

void emu_fail_malloc(size_t nth)
{
    fail_at = nth ? mallocs + nth : 0;
}

size_t emu_mallocs(void)
{
    return mallocs;
}

size_t emu_fetched(void)
{
    size_t bytes = fetched;

    fetched = 0;
    return bytes;
}

void emu_memory_open(bool may)
{
    if (memory.used) far_memory_touch_all(&memory, may);
}

/* ---- the device's ---- */

static cudaError_t make(void **out, size_t bytes)
{
    cudaError_t error = emu_may_wait();

    *out = NULL;
    mallocs++;
    if (error != cudaSuccess || bytes == 0) return error;
    if (fail_at && mallocs >= fail_at) return cudaErrorMemoryAllocation;
    if (!memory.base && far_memory_open(&memory) != CULL_OK) return cudaErrorMemoryAllocation;
    if (far_memory_take(&memory, bytes, out) != CULL_OK) return cudaErrorMemoryAllocation;
    far_memory_touch(&memory, *out, bytes, true);
    memset(*out, 0xff, bytes); /* nobody said zero */
    far_memory_touch(&memory, *out, bytes, false);
    return cudaSuccess;
}

static size_t all_bytes(void)
{
    const char *said = getenv("CULL_EMU_MEMORY");

    return said ? strtoul(said, NULL, 10) : (size_t)8 << 30;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    size_t all = all_bytes(), used = memory.used < all ? memory.used : all;

    EMU_CALL(bytes > all - used ? cudaErrorMemoryAllocation : make(out, bytes));
}

static cudaError_t end(void *data)
{
    cudaError_t error = data ? emu_may_wait() : cudaSuccess;

    if (!data || error != cudaSuccess) return error;
    if (!far_memory_holds(&memory, data, 1)) return cudaErrorInvalidValue;
    emu_settle();
    far_memory_give(&memory, data);
    return cudaSuccess;
}

cudaError_t cudaFree(void *data)
{
    EMU_CALL_ALWAYS(end(data));
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    *all = all_bytes();
    *left = *all > memory.used ? *all - memory.used : 0;
    EMU_CALL(cudaSuccess);
}

/* ---- pinned ---- */

static const struct pinned *find_pinned(const void *data, size_t bytes)
{
    for (const struct pinned *p = pinned; p; p = p->next)
        if ((const char *)data >= p->data && (const char *)data + bytes <= p->data + p->bytes)
            return p;
    return NULL;
}

static cudaError_t pin(void **out, size_t bytes)
{
    cudaError_t    error = emu_may_wait();
    struct pinned *fresh = NULL;

    *out = NULL;
    if (error != cudaSuccess || bytes == 0) return error;
    fresh = malloc(sizeof *fresh);
    if (fresh) *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!*out) {
        free(fresh);
        return cudaErrorMemoryAllocation;
    }
    memset(*out, 0xff, bytes);
    *fresh = (struct pinned){pinned, *out, bytes};
    pinned = fresh;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    EMU_CALL(pin(out, bytes));
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    EMU_CALL(pin(out, bytes));
}

static cudaError_t unpin(void *data)
{
    cudaError_t error = data ? emu_may_wait() : cudaSuccess;

    if (!data || error != cudaSuccess) return error;
    emu_settle();
    for (struct pinned **p = &pinned; *p; p = &(*p)->next)
        if ((*p)->data == data) {
            struct pinned *old = *p;

            *p = old->next;
            free(old->data);
            free(old);
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

cudaError_t cudaFreeHost(void *data)
{
    EMU_CALL_ALWAYS(unpin(data));
}

static bool on_device(const void *data, size_t bytes)
{
    return memory.base && far_memory_holds(&memory, data, bytes ? bytes : 1);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *data)
{
    *attributes = (struct cudaPointerAttributes){.device = -1, .hostPointer = (void *)data};
    if (on_device(data, 1))
        *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeDevice,
                                                     .devicePointer = (void *)data};
    else if (find_pinned(data, 1))
        *attributes = (struct cudaPointerAttributes){
            .type = cudaMemoryTypeHost, .devicePointer = (void *)data, .hostPointer = (void *)data};
    EMU_CALL(cudaSuccess);
}

/* ---- copies ---- */

struct moved {
    struct emu_work work;
    void           *to;
    const void     *from;
    size_t          bytes;
    int             byte;
};

static void do_copy(struct emu_work *work)
{
    struct moved *m = (struct moved *)work;

    memcpy(m->to, m->from, m->bytes);
}

static void do_fill(struct emu_work *work)
{
    struct moved *m = (struct moved *)work;

    memset(m->to, m->byte, m->bytes);
}

/* Bytes of the host's that the copy brings along. */
static struct moved *make_moved(void (*run)(struct emu_work *), void *to, size_t bytes,
                                const void *from, bool along)
{
    struct moved *m = malloc(sizeof *m + (along ? bytes : 0));

    emu_insist(m != NULL, "no memory");
    *m = (struct moved){
        .work = {run, NULL, 0}, .to = to, .from = along ? m + 1 : from, .bytes = bytes};
    if (along) memcpy(m + 1, from, bytes);
    return m;
}

static bool sides_hold(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    bool there = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_there = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

    if (kind == cudaMemcpyDefault) return true;
    return on_device(to, bytes) == there && on_device(from, bytes) == from_there;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t stream)
{
    bool        to_host = !on_device(to, bytes), from_host = !on_device(from, bytes);
    bool        along = from_host && !find_pinned(from, bytes);
    bool        waits = to_host && !find_pinned(to, bytes);
    cudaError_t error = cudaSuccess;

    if (bytes == 0) return cudaSuccess;
    if (!sides_hold(to, from, bytes, kind)) return cudaErrorInvalidValue;
    if (emu_stream(stream)->capture && (along || waits)) {
        emu_capture_spoil(emu_stream(stream)->capture);
        return cudaErrorStreamCaptureUnsupported;
    }
    if (to_host && !from_host && bytes > fetched) fetched = bytes;
    error = emu_ask(stream, &make_moved(do_copy, to, bytes, from, along)->work);
    if (waits && error == cudaSuccess) emu_settle();
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    EMU_CALL(copy(to, from, bytes, kind, stream));
}

static cudaError_t fill(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    struct moved *m = NULL;

    if (bytes == 0) return cudaSuccess;
    if (!on_device(to, bytes)) return cudaErrorInvalidValue;
    m = make_moved(do_fill, to, bytes, NULL, false);
    m->byte = byte;
    return emu_ask(stream, &m->work);
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    EMU_CALL(fill(to, byte, bytes, stream));
}

static cudaError_t copy_now(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = emu_may_wait();

    if (error == cudaSuccess) error = copy(to, from, bytes, kind, NULL);
    if (error == cudaSuccess) emu_settle();
    return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    EMU_CALL(copy_now(to, from, bytes, kind));
}

static cudaError_t fill_now(void *to, int byte, size_t bytes)
{
    cudaError_t error = emu_may_wait();

    return error == cudaSuccess ? fill(to, byte, bytes, NULL) : error;
}

cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    EMU_CALL(fill_now(to, byte, bytes));
}
