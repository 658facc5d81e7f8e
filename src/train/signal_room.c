/* train/signal_room.c - signals of many examples, put together batch by batch. */
#include "train/signal_room.h"

void cull_signal_room_clear(cull_signal_room *s)
{
    cull_kit_clear(&s->kit);
    *s = (cull_signal_room){0};
}

cull_status cull_signal_room_make(cull_backend *backend, const cull_model *m, bool labels,
                                  cull_dtype h, unsigned wanted, size_t count, cull_signal_room *s)
{
    cull_status status = CULL_OK;

    s->at = 0;
    if (s->array[0] && s->wanted == wanted && s->count == count && s->h == h) return CULL_OK;
    cull_signal_room_clear(s);
    s->kit.backend = backend;
    s->wanted = wanted;
    s->count = count;
    s->h = h;
    s->classes = m->classes;
    s->width = (size_t)cull_image_row(&m->node[m->node[m->last_dense].input[0]].desc.y);
    s->row[CULL_ROOM_LOSS] = sizeof(double);
    if (labels) s->row[CULL_ROOM_LABEL] = sizeof(int32_t);
    if (wanted & CULL_SIGNAL_H) s->row[CULL_ROOM_H] = s->width * cull_dtype_size(h);
    if (wanted & CULL_SIGNAL_P) s->row[CULL_ROOM_P] = s->classes * sizeof(float);
    if (wanted & CULL_SIGNAL_LOGITS) s->row[CULL_ROOM_LOGITS] = s->classes * sizeof(float);
    for (int i = 0; i < CULL_ROOMS; i++)
        if (s->row[i]) TRY(cull_kit_allocate(&s->kit, count, s->row[i], "signals", &s->array[i]));
done:
    if (status != CULL_OK) cull_signal_room_clear(s);
    return status;
}

/* Rows of a plan's are dense. */
cull_status cull_signal_room_put(cull_signal_room *s, const cull_plan *plan,
                                 const cull_signals *seen)
{
    cull_status status = CULL_OK;
    const void *from[CULL_ROOMS] = {seen->loss.data, cull_nn_plan_target(plan), seen->h.data,
                                    seen->p.data, cull_nn_plan_logits(plan)};

    for (int i = 0; i < CULL_ROOMS; i++)
        if (s->row[i])
            TRY(cull_backend_copy(s->kit.backend, (char *)s->array[i] + s->at * s->row[i], from[i],
                                  seen->count * s->row[i]));
    s->at += seen->count;
done:
    return status;
}

static cull_status sort_array(cull_signal_room *s, int which, const uint32_t *from)
{
    cull_status status = CULL_OK;
    void       *sorted = NULL;

    TRY(cull_kit_allocate(&s->kit, s->count, s->row[which], "signals", &sorted));
    TRY(cull_kit_run(&s->kit, CULL_OP_GATHER, 0,
                     &(cull_op_args){.gather = {.from = s->array[which],
                                                .to = sorted,
                                                .index = from,
                                                .rows = s->count,
                                                .held = s->count,
                                                .bytes = s->row[which]}}));
    s->array[which] = sorted;
done:
    return status;
}

cull_status cull_signal_room_sort(cull_signal_room *s, const uint32_t *from)
{
    cull_status status = CULL_OK;
    uint32_t   *there = NULL;

    TRY(cull_kit_allocate(&s->kit, s->count, sizeof *there, "signals", &there));
    TRY(cull_backend_upload(s->kit.backend, there, from, s->count * sizeof *there));
    for (int i = 0; i < CULL_ROOMS; i++)
        if (s->row[i]) TRY(sort_array(s, i, there));
done:
    return status;
}

static cull_tensor here(const cull_signal_room *s, cull_tensor tensor)
{
    tensor.device = cull_backend_device(s->kit.backend);
    return tensor.data ? tensor : (cull_tensor){0};
}

static cull_tensor rows_of(const cull_signal_room *s, int which, size_t width)
{
    return here(
        s, cull_matrix(s->array[which], which == CULL_ROOM_H ? s->h : CULL_F32, s->count, width));
}

void cull_signal_room_view(const cull_signal_room *s, cull_signals *out)
{
    if (!s->array[0]) return;
    out->loss = here(s, cull_vector(s->array[CULL_ROOM_LOSS], CULL_F64, s->count));
    out->h = rows_of(s, CULL_ROOM_H, s->width);
    out->p = rows_of(s, CULL_ROOM_P, s->classes);
}

void cull_signal_room_target(const cull_signal_room *s, cull_target *out)
{
    if (!s->array[0]) return;
    *out =
        (cull_target){.count = s->count,
                      .h = rows_of(s, CULL_ROOM_H, s->width),
                      .p = rows_of(s, CULL_ROOM_P, s->classes),
                      .logits = rows_of(s, CULL_ROOM_LOGITS, s->classes),
                      .label = here(s, cull_vector(s->array[CULL_ROOM_LABEL], CULL_I32, s->count))};
}

cull_status cull_signal_room_save(const cull_signal_room *s, cull_writer *out)
{
    cull_status status = CULL_OK;

    for (int i = 0; i < CULL_ROOMS; i++)
        TRY(cull_backend_save(s->kit.backend, s->array[i], s->count * s->row[i], out));
done:
    return status;
}

cull_status cull_signal_room_restore(cull_signal_room *s, cull_reader *in)
{
    cull_status status = CULL_OK;

    for (int i = 0; i < CULL_ROOMS; i++)
        TRY(cull_backend_restore(s->kit.backend, s->array[i], s->count * s->row[i], in));
done:
    return status;
}
