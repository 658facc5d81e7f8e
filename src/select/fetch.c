/*
 * select/fetch.c - signals brought to where a rule works, and its subset to where they lay.
 *
 * A rule works with the arrays of one backend (cull_self's setting): the host's, where it asks for
 * that, else the selector's own. What lies there already is handed on as it is; the rest is copied,
 * as much of it as is read, into room that is kept.
 */
#include "select/frame.h"

cull_status cull_sel_run(cull_backend *backend, const cull_op_desc *desc, const cull_op_args *args,
                         cull_op **op)
{
    cull_status status = CULL_OK;

    TRY(cull_op_ready(backend, desc, op));
    TRY(cull_op_run(*op, args));
done:
    return status;
}

cull_status cull_sel_room(cull_backend *backend, size_t count, size_t size, size_t *room,
                          void *data)
{
    cull_status status = CULL_OK;
    void      **array = data;

    if (count <= *room) return CULL_OK;
    cull_backend_release(backend, *array);
    *array = NULL;
    *room = 0;
    TRY(cull_backend_allocate(backend, count, size, "a strategy's room", array));
    *room = count;
done:
    return status;
}

enum { BORDER = 64 }; /* where arrays begin */

/* What is on its way. */
struct load {
    cull_backend *home, *work;
    char         *block; /* NULL: it is only measured */
    size_t        at;
};

static cull_status carry(struct load *load, const void **array, size_t bytes)
{
    cull_status status = CULL_OK;
    void       *to = load->block ? load->block + load->at : NULL;

    if (!*array) return CULL_OK;
    load->at += (bytes + BORDER - 1) / BORDER * BORDER;
    if (!to) return CULL_OK;
    TRY(cull_backend_on_host(load->work) ? cull_backend_download(load->home, to, *array, bytes)
                                         : cull_backend_upload(load->work, to, *array, bytes));
    *array = to;
done:
    return status;
}

/* With what may lie between its rows. */
static size_t span(const cull_tensor *t)
{
    size_t rows = (size_t)t->shape[0], width = t->dims == 2 ? (size_t)t->shape[1] : 1;

    return rows ? ((rows - 1) * (size_t)t->stride[0] + width) * cull_dtype_size(t->dtype) : 0;
}

static cull_status carry_tensor(struct load *load, unsigned wanted, cull_tensor *t)
{
    cull_status status = CULL_OK;
    const void *data = t->data;

    if (!wanted) *t = (cull_tensor){0};
    if (!t->data) return CULL_OK;
    TRY(carry(load, &data, span(t)));
    t->data = (void *)(uintptr_t)data;
    t->device = cull_backend_device(load->work);
done:
    return status;
}

static cull_status carry_signals(struct load *load, const cull_needs *read, cull_signals *s)
{
    cull_status  status = CULL_OK;
    cull_target *target = &s->target;
    const void  *place = s->place;
    const void  *unseen = read->signals & CULL_SIGNAL_LOSS ? s->unseen : NULL;

    TRY(carry(load, &place, s->count * sizeof *s->place));
    TRY(carry(load, &unseen, s->count));
    s->place = place;
    s->unseen = unseen;
    TRY(carry_tensor(load, read->signals & CULL_SIGNAL_LOSS, &s->loss));
    TRY(carry_tensor(load, read->signals & CULL_SIGNAL_H, &s->h));
    TRY(carry_tensor(load, read->signals & CULL_SIGNAL_P, &s->p));
    TRY(carry_tensor(load, read->signals & CULL_SIGNAL_LABEL, &s->label));
    TRY(carry_tensor(load, read->signals & CULL_SIGNAL_IRREDUCIBLE, &s->irreducible));
    TRY(carry_tensor(load, read->target & CULL_SIGNAL_H, &target->h));
    TRY(carry_tensor(load, read->target & CULL_SIGNAL_P, &target->p));
    TRY(carry_tensor(load, read->target & CULL_SIGNAL_LABEL, &target->label));
    TRY(carry_tensor(load, read->target & CULL_SIGNAL_LOGITS, &target->logits));
    s->device = cull_backend_device(load->work);
done:
    return status;
}

/* What is read of signals that lie elsewhere: measured, then copied. */
static cull_status bring(cull_selector *s, const cull_signals *signals, const cull_needs *read)
{
    cull_status status = CULL_OK;
    struct load load = {.home = s->home, .work = s->setting.backend};

    s->seen = *signals;
    TRY(carry_signals(&load, read, &s->seen));
    TRY(cull_sel_room(load.work, load.at, 1, &s->fetched_room, &s->fetched));
    load.block = s->fetched;
    load.at = 0;
    s->seen = *signals;
    TRY(carry_signals(&load, read, &s->seen));
done:
    return status;
}

cull_status cull_sel_fetch(cull_selector *s, const cull_signals *signals, const cull_needs *read,
                           const cull_signals **out)
{
    bool here = cull_sel_is_here(s, signals->device);

    *out = here ? signals : &s->seen;
    return here ? CULL_OK : bring(s, signals, read);
}

cull_status cull_sel_deliver(cull_subset *from, cull_subset *out)
{
    const struct {
        const void *from;
        void      **to;
        size_t      size;
    } arrays[] = {{from->index, (void **)&out->index, sizeof *out->index},
                  {from->place, (void **)&out->place, sizeof *out->place},
                  {from->weight, (void **)&out->weight, sizeof *out->weight},
                  {from->group, (void **)&out->group, sizeof *out->group}};
    cull_status status = CULL_OK;

    TRY(cull_sel_subset_outcome(from));
    TRY(cull_subset_resize(out, from->count));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t bytes = from->count * arrays[i].size;

        TRY(out->backend
                ? cull_backend_upload(out->backend, *arrays[i].to, arrays[i].from, bytes)
                : cull_backend_download(from->backend, *arrays[i].to, arrays[i].from, bytes));
    }
    out->groups = from->groups;
    out->picked = from->picked;
    out->flags = from->flags;
done:
    return status;
}
