/* train/recorder.c - kinds of steps, and their recordings. */
#include "train/recorder.h"

#include <stdio.h>

static bool is_same(const cull_step_kind *one, const cull_step_kind *other)
{
    const cull_needs *a = &one->asked.needs, *b = &other->asked.needs;

    return one->part == other->part && one->from == other->from && one->to == other->to &&
           one->late == other->late && one->weighs == other->weighs &&
           one->length == other->length && one->asked.count == other->asked.count &&
           a->action == b->action && a->signals == b->signals && a->target == b->target &&
           a->observe == b->observe && a->running == b->running && a->candidates == b->candidates &&
           a->budget == b->budget;
}

static void forget(cull_recorder *r, cull_recorded *kind)
{
    if (kind->recording) r->backend->class->queue->forget(r->backend, kind->recording);
    if (kind->plain) r->backend->class->queue->forget(r->backend, kind->plain);
    kind->recording = kind->plain = NULL;
    kind->turns = 0;
}

void cull_recorder_clear(cull_recorder *r)
{
    for (size_t i = 0; i < r->count; i++) {
        forget(r, &r->kind[i]);
        cull_laps_clear(&r->kind[i].laps, r->backend);
    }
    r->count = 0;
}

static cull_recorded *find(cull_recorder *r, const cull_step_kind *kind)
{
    for (size_t i = 0; i < r->count; i++)
        if (is_same(&r->kind[i].is, kind)) return &r->kind[i];
    return NULL;
}

cull_recorded *cull_recorder_find(cull_recorder *r, const cull_step_kind *kind)
{
    cull_recorded *found = find(r, kind);

    if (!found || found->ended != cull_backend_ended(r->backend)) return NULL;
    found->found = ++r->finds;
    return found;
}

/* Room for another. */
static cull_recorded *take(cull_recorder *r)
{
    size_t         most = r->lengths ? CULL_RECORDER_LENGTHS : CULL_RECORDER_KINDS;
    cull_recorded *oldest = &r->kind[0];

    if (r->count < most) return &r->kind[r->count++];
    for (size_t i = 1; i < r->count; i++)
        if (r->kind[i].found < oldest->found) oldest = &r->kind[i];
    return oldest;
}

void cull_recorder_ran(cull_recorder *r, const cull_step_kind *kind)
{
    cull_recorded *known = find(r, kind);

    if (!known) known = take(r);
    forget(r, known);
    known->is = *kind;
    known->found = ++r->finds;
    known->ended = cull_backend_ended(r->backend);
}

cull_status cull_recorder_begin(cull_recorder *r)
{
    return r->backend->class->queue->record(r->backend);
}

/* The end of a recording that has failed fails too, and says less of why. */
static void drop_failed(cull_recorder *r)
{
    cull_recording *recording = NULL;
    char            why[512], subject[128];

    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    (void)snprintf(subject, sizeof subject, "%s", cull_last_subject());
    if (r->backend->class->queue->recorded(r->backend, &recording) == CULL_OK)
        r->backend->class->queue->forget(r->backend, recording);
    (void)cull_fail_about(CULL_DEVICE, subject, "%s", why);
}

cull_status cull_recorder_end(cull_recorder *r, cull_recorded *kind, bool failed)
{
    cull_status      status = CULL_OK;
    cull_recording  *recording = NULL;
    cull_recording **to = kind->recording ? &kind->plain : &kind->recording;

    if (failed) {
        drop_failed(r);
        return CULL_OK;
    }
    TRY(r->backend->class->queue->recorded(r->backend, &recording));
    *to = recording;
    recording = NULL;
    TRY(r->backend->class->queue->replay(r->backend, *to));
done:
    if (recording) r->backend->class->queue->forget(r->backend, recording);
    return status;
}

cull_status cull_recorder_again(cull_recorder *r, cull_recorded *kind)
{
    bool marked = kind->turns++ % CULL_RECORDER_MARKED == CULL_RECORDER_MARKED - 1;

    return r->backend->class->queue->replay(r->backend, marked ? kind->recording : kind->plain);
}
