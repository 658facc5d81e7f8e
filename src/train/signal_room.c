/* train/signal_room.c - signals of many examples, put together batch by batch. */
#include "train/signal_room.h"

void cull_signal_room_clear(cull_signal_room *s)
{
    cull_backend_release(s->backend, s->h);
    cull_backend_release(s->backend, s->p);
    cull_backend_release(s->backend, s->logits);
    cull_backend_release(s->backend, s->loss);
    cull_backend_release(s->backend, s->label);
    *s = (cull_signal_room){0};
}

static cull_status make_arrays(cull_signal_room *s)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_allocate(s->backend, s->count, sizeof *s->loss, "signals", &s->loss));
    TRY(cull_backend_allocate(s->backend, s->count, sizeof *s->label, "signals", &s->label));
    if (s->wanted & CULL_SIGNAL_H)
        TRY(cull_backend_allocate(s->backend, s->count, s->width * sizeof *s->h, "signals", &s->h));
    if (s->wanted & CULL_SIGNAL_P)
        TRY(cull_backend_allocate(s->backend, s->count, s->classes * sizeof *s->p, "signals",
                                  &s->p));
    if (s->wanted & CULL_SIGNAL_LOGITS)
        TRY(cull_backend_allocate(s->backend, s->count, s->classes * sizeof *s->logits, "signals",
                                  &s->logits));
done:
    return status;
}

cull_status cull_signal_room_make(cull_backend *backend, const cull_model *m, unsigned wanted,
                                  size_t count, cull_signal_room *s)
{
    cull_status status = CULL_OK;

    s->at = 0;
    if (s->loss && s->wanted == wanted && s->count == count) return CULL_OK;
    cull_signal_room_clear(s);
    s->backend = backend;
    s->wanted = wanted;
    s->count = count;
    s->classes = m->classes;
    s->width = (size_t)cull_image_row(&m->node[m->node[m->last_dense].input[0]].desc.y);
    status = make_arrays(s);
    if (status != CULL_OK) cull_signal_room_clear(s);
    return status;
}

/* Rows of a plan's are dense. */
cull_status cull_signal_room_put(cull_signal_room *s, const cull_plan *plan,
                                 const cull_signals *seen, const int32_t *label)
{
    cull_status   status = CULL_OK;
    cull_backend *b = s->backend;
    size_t        n = seen->count, classes = s->classes;

    if (s->h)
        TRY(cull_backend_copy(b, s->h + s->at * s->width, seen->h.data,
                              n * s->width * sizeof *s->h));
    if (s->p)
        TRY(cull_backend_copy(b, s->p + s->at * classes, seen->p.data, n * classes * sizeof *s->p));
    if (s->logits)
        TRY(cull_backend_copy(b, s->logits + s->at * classes, cull_nn_plan_logits(plan),
                              n * classes * sizeof *s->logits));
    TRY(cull_backend_copy(b, s->loss + s->at, seen->loss.data, n * sizeof *s->loss));
    TRY(cull_backend_copy(b, s->label + s->at, label, n * sizeof *s->label));
    s->at += n;
done:
    return status;
}

static cull_tensor here(const cull_signal_room *s, cull_tensor tensor)
{
    tensor.device = cull_backend_device(s->backend);
    return tensor.data ? tensor : (cull_tensor){0};
}

static cull_tensor rows_of(const cull_signal_room *s, const float *data, size_t width)
{
    return here(s, cull_matrix(data, CULL_F32, s->count, width));
}

void cull_signal_room_view(const cull_signal_room *s, cull_signals *out)
{
    if (!s->loss) return;
    out->loss = here(s, cull_vector(s->loss, CULL_F64, s->count));
    out->h = rows_of(s, s->h, s->width);
    out->p = rows_of(s, s->p, s->classes);
}

void cull_signal_room_target(const cull_signal_room *s, cull_target *out)
{
    if (!s->loss) return;
    *out = (cull_target){.count = s->count,
                         .h = rows_of(s, s->h, s->width),
                         .p = rows_of(s, s->p, s->classes),
                         .logits = rows_of(s, s->logits, s->classes),
                         .label = here(s, cull_vector(s->label, CULL_I32, s->count))};
}

cull_status cull_signal_room_save(const cull_signal_room *s, cull_writer *out)
{
    cull_status   status = CULL_OK;
    cull_backend *b = s->backend;

    TRY(cull_backend_save(b, s->loss, s->count * sizeof *s->loss, out));
    TRY(cull_backend_save(b, s->label, s->count * sizeof *s->label, out));
    if (s->h) TRY(cull_backend_save(b, s->h, s->count * s->width * sizeof *s->h, out));
    if (s->p) TRY(cull_backend_save(b, s->p, s->count * s->classes * sizeof *s->p, out));
done:
    return status;
}

cull_status cull_signal_room_restore(cull_signal_room *s, cull_reader *in)
{
    cull_status   status = CULL_OK;
    cull_backend *b = s->backend;

    TRY(cull_backend_restore(b, s->loss, s->count * sizeof *s->loss, in));
    TRY(cull_backend_restore(b, s->label, s->count * sizeof *s->label, in));
    if (s->h) TRY(cull_backend_restore(b, s->h, s->count * s->width * sizeof *s->h, in));
    if (s->p) TRY(cull_backend_restore(b, s->p, s->count * s->classes * sizeof *s->p, in));
done:
    return status;
}
