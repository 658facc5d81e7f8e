/* tests/far/far_queue.c - what backend.h asks of a queue, each call a thing for the log. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "far.h"

struct cull_mark {
    double seconds;
    bool   passed;
};

struct moved {
    struct far_work work;
    void           *to;
    const void     *from; /* of copy */
    size_t          bytes;
    int             byte; /* of fill; the bytes of upload lie behind */
};

struct marked {
    struct far_work work;
    cull_mark      *mark;
};

/* ---- memory ---- */

static cull_status far_allocate(cull_backend *backend, size_t bytes, void **out)
{
    struct far *far = far_enter(backend);
    cull_status status = CULL_OK;

    far_insist(!far->recording, "memory made inside a recording");
    /* Zeroed at once, which is in order: what had this memory waited for its work. */
    status = far_memory_take(&far->memory, bytes, out);
    far_leave(far);
    return status;
}

static void far_release(cull_backend *backend, void *data)
{
    struct far *far = far_enter(backend);

    far_settle(far);
    far_memory_give(&far->memory, data);
    far_leave(far);
}

static cull_status check(const struct far *far, const void *data, size_t bytes, const char *what)
{
    cull_status status = CULL_OK;

    if (!far_memory_holds(&far->memory, data, bytes))
        FAIL(CULL_BAD_ARGUMENT, "far: %s of %zu bytes that are not in an array of this backend",
             what, bytes);
done:
    return status;
}

static cull_status do_upload(struct far_work *work)
{
    struct moved *moved = (struct moved *)work;

    if (moved->bytes) memcpy(moved->to, moved + 1, moved->bytes);
    return CULL_OK;
}

static cull_status do_copy(struct far_work *work)
{
    struct moved *moved = (struct moved *)work;

    if (moved->bytes) memcpy(moved->to, moved->from, moved->bytes);
    return CULL_OK;
}

static cull_status do_fill(struct far_work *work)
{
    struct moved *moved = (struct moved *)work;

    if (moved->bytes) memset(moved->to, moved->byte, moved->bytes);
    return CULL_OK;
}

atomic_size_t far_crossings;

static cull_status far_upload(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status   status = CULL_OK;
    struct far   *far = far_enter(backend);
    struct moved *moved = NULL;

    atomic_fetch_add(&far_crossings, 1);
    far_insist(!far->recording, "an upload inside a recording, which would bring the same again");
    TRY(check(far, to, bytes, "an upload"));
    TRY(far_ask(far, do_upload, sizeof *moved + bytes, &moved));
    moved->to = to;
    moved->bytes = bytes;
    if (bytes) memcpy(moved + 1, from, bytes);
done:
    far_leave(far);
    return status;
}

static cull_status far_download(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;
    struct far *far = far_enter(backend);

    atomic_fetch_add(&far_crossings, 1);
    far_settle(far);
    TRY(far_tell(far));
    TRY(check(far, from, bytes, "a download"));
    if (bytes == 0) goto done;
    far_memory_touch(&far->memory, from, bytes, true);
    memcpy(to, from, bytes);
    far_memory_touch(&far->memory, from, bytes, false);
done:
    far_leave(far);
    return status;
}

static cull_status far_copy(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status   status = CULL_OK;
    struct far   *far = far_enter(backend);
    struct moved *moved = NULL;

    TRY(check(far, to, bytes, "a copy"));
    TRY(check(far, from, bytes, "a copy"));
    TRY(far_ask(far, do_copy, sizeof *moved, &moved));
    moved->to = to;
    moved->from = from;
    moved->bytes = bytes;
done:
    far_leave(far);
    return status;
}

static cull_status far_fill(cull_backend *backend, void *to, int byte, size_t bytes)
{
    cull_status   status = CULL_OK;
    struct far   *far = far_enter(backend);
    struct moved *moved = NULL;

    TRY(check(far, to, bytes, "a fill"));
    TRY(far_ask(far, do_fill, sizeof *moved, &moved));
    moved->to = to;
    moved->byte = byte;
    moved->bytes = bytes;
done:
    far_leave(far);
    return status;
}

static cull_status far_wait(cull_backend *backend)
{
    cull_status status = CULL_OK;
    struct far *far = far_enter(backend);

    far_settle(far);
    status = far_tell(far);
    far_leave(far);
    return status;
}

/* ---- marks ---- */

static cull_status do_mark(struct far_work *work)
{
    cull_mark *mark = ((struct marked *)work)->mark;

    mark->seconds = cull_base_seconds();
    mark->passed = true;
    return CULL_OK;
}

static cull_status far_mark(cull_backend *backend, cull_mark **mark)
{
    cull_status    status = CULL_OK;
    struct far    *far = far_enter(backend);
    cull_mark     *fresh = NULL;
    struct marked *marked = NULL;

    if (!*mark) TRY(cull_base_alloc(1, sizeof *fresh, "a mark", &fresh));
    TRY(far_ask(far, do_mark, sizeof *marked, &marked));
    if (fresh) *mark = fresh;
    fresh = NULL;
    marked->mark = *mark;
    (*mark)->passed = false;
done:
    cull_base_free(fresh);
    far_leave(far);
    return status;
}

static cull_status far_elapsed(cull_backend *backend, const cull_mark *from, const cull_mark *to,
                               double *seconds)
{
    cull_status status = CULL_OK;
    struct far *far = far_enter(backend);

    far_settle(far);
    TRY(far_tell(far));
    if (!from->passed || !to->passed)
        FAIL(CULL_BAD_ARGUMENT, "far: the time between marks that were not passed");
    *seconds = to->seconds - from->seconds;
done:
    far_leave(far);
    return status;
}

static void far_unmark(cull_backend *backend, cull_mark *mark)
{
    struct far *far = far_enter(backend);

    far_settle(far); /* which may still have it to pass */
    cull_base_free(mark);
    far_leave(far);
}

/* ---- recorded steps ---- */

atomic_size_t far_replays;

static cull_status far_record(cull_backend *backend)
{
    struct far *far = far_enter(backend);
    cull_status status = CULL_OK;

    far_insist(!far->recording, "a recording inside a recording");
    status = cull_base_alloc(1, sizeof *far->recording, "a recording", &far->recording);
    far_leave(far);
    return status;
}

static cull_status far_recorded(cull_backend *backend, cull_recording **out)
{
    struct far *far = far_enter(backend);

    far_insist(far->recording, "the end of a recording that was not begun");
    *out = far->recording;
    far->recording = NULL;
    far_leave(far);
    return CULL_OK;
}

static cull_status far_replay(cull_backend *backend, const cull_recording *recording)
{
    struct far *far = far_enter(backend);
    cull_status status = CULL_OK;

    far_insist(!far->recording, "a recording done again inside another");
    atomic_fetch_add(&far_replays, 1);
    status = far_ask_again(far, &recording->log);
    far_leave(far);
    return status;
}

static void far_forget(cull_backend *backend, cull_recording *recording)
{
    (void)backend;
    if (!recording) return;
    cull_base_free(recording->log.bytes);
    cull_base_free(recording);
}

const cull_queue_class far_queue = {
    .allocate = far_allocate,
    .release = far_release,
    .upload = far_upload,
    .download = far_download,
    .copy = far_copy,
    .fill = far_fill,
    .wait = far_wait,
    .mark = far_mark,
    .elapsed = far_elapsed,
    .unmark = far_unmark,
    .record = far_record,
    .recorded = far_recorded,
    .replay = far_replay,
    .forget = far_forget,
};
