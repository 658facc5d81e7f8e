/*
 * tests/far/far_log.c - work that is asked for now and done when it is waited for.
 *
 * A log is bytes: one entry after the other, none with an address inside itself. So a recording is
 * a log, and doing it again is copying it to the end of what was asked for; and once a log has room
 * for a step, steps allocate nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "far.h"

enum { FIRST = 4096, KEPT = 16 << 20 }; /* bytes of a log: at the start, and over a wait */

static cull_status make_room(struct far_log *log, size_t bytes)
{
    cull_status status = CULL_OK;
    size_t      room = log->room ? log->room : FIRST;

    if (bytes > SIZE_MAX / 4 - log->used) FAIL(CULL_NO_MEMORY, "no memory for %zu bytes", bytes);
    while (room < log->used + bytes) room *= 2;
    if (room == log->room) goto done;
    TRY(cull_base_grow(room, 1, "work", &log->bytes));
    log->room = room;
done:
    return status;
}

cull_status far_ask(struct far *far, cull_status (*run)(struct far_work *work), size_t bytes,
                    void *out)
{
    cull_status      status = CULL_OK;
    struct far_log  *log = far->recording ? &far->recording->log : &far->asked;
    struct far_work *work = NULL;

    if (bytes < SIZE_MAX / 8) bytes += (FAR_STEP - bytes % FAR_STEP) % FAR_STEP;
    TRY(make_room(log, bytes));
    work = (struct far_work *)(void *)(log->bytes + log->used);
    memset(work, 0, bytes);
    *work = (struct far_work){bytes, run};
    log->used += bytes;
    memcpy(out, &work, sizeof work);
done:
    return status;
}

cull_status far_ask_again(struct far *far, const struct far_log *log)
{
    cull_status status = CULL_OK;

    if (log->used == 0) return CULL_OK;
    TRY(make_room(&far->asked, log->used));
    memcpy(far->asked.bytes + far->asked.used, log->bytes, log->used);
    far->asked.used += log->used;
done:
    return status;
}

static void do_all(struct far *far)
{
    struct far_log *log = &far->asked;

    far_memory_touch_all(&far->memory, true);
    for (size_t at = 0; at < log->used && far->failure == CULL_OK;) {
        struct far_work *work = (struct far_work *)(void *)(log->bytes + at);

        far->failure = work->run(work);
        at += work->bytes;
    }
    far_memory_touch_all(&far->memory, false);
    if (far->failure != CULL_OK)
        (void)snprintf(far->sentence, sizeof far->sentence, "%s", cull_last_error());
}

void far_settle(struct far *far)
{
    far_insist(!far->recording, "waiting inside a recording");
    if (far->asked.used && far->failure == CULL_OK) do_all(far);
    far->asked.used = 0;
    if (far->asked.room <= KEPT) return;
    cull_base_free(far->asked.bytes);
    far->asked = (struct far_log){0};
}

cull_status far_tell(struct far *far)
{
    cull_status status = far->failure;

    far->failure = CULL_OK;
    return status == CULL_OK ? status : cull_fail(status, "%s", far->sentence);
}
