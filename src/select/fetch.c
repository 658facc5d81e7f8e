/*
 * select/fetch.c - signals brought to where a rule works, and its subset to where they lay.
 *
 * A rule works with the arrays of one backend (cull_self's setting): the host's, where it asks for
 * that, else the selector's own. What lies there already is handed on as it is; the rest is copied,
 * as much of it as is read, into room that is kept. On the host nobody computes with bfloat16: it
 * becomes float32 on the way, also where it lay there before.
 */
#include <string.h>

#include "select/frame.h"

enum { BORDER = 64 }; /* where arrays begin */

/* What is on its way; not moved yet, it is only measured. */
struct way {
    const cull_sel_load *load;
    bool                 moves, stays; /* stays: on the host */
    size_t               at;
};

/* Forward is well: what is written never lies before what is to be read. */
static void widen(float *to, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = cull_bf16_wide(from[i]);
}

/* widens: bfloat16, which takes twice the room and first comes to lie in its second half. */
static cull_status carry(struct way *way, const void **array, size_t bytes, bool widens)
{
    cull_status          status = CULL_OK;
    const cull_sel_load *load = way->load;
    size_t               room = widens ? 2 * bytes : bytes;
    char                *to = way->moves ? (char *)load->block + way->at : NULL;
    char                *at = to && widens ? to + bytes : to;

    if (!*array) return CULL_OK;
    way->at += (room + BORDER - 1) / BORDER * BORDER;
    if (!to) return CULL_OK;
    if (way->stays)
        memcpy(at, *array, bytes);
    else
        TRY(cull_backend_on_host(load->work) ? cull_backend_download(load->home, at, *array, bytes)
                                             : cull_backend_upload(load->work, at, *array, bytes));
    if (widens) widen((float *)(void *)to, (const uint16_t *)(void *)at, bytes / sizeof(uint16_t));
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

static cull_status carry_tensor(struct way *way, bool wanted, cull_tensor *t)
{
    cull_status status = CULL_OK;
    const void *data = t->data;
    bool        widens = t->dtype == CULL_BF16 && cull_backend_on_host(way->load->work);

    if (!wanted) *t = (cull_tensor){0};
    if (!t->data) return CULL_OK;
    TRY(carry(way, &data, span(t), widens));
    if (widens) t->dtype = CULL_F32;
    t->data = (void *)(uintptr_t)data;
    t->device = cull_backend_device(way->load->work);
done:
    return status;
}

static cull_status carry_signals(struct way *way, const cull_needs *read, cull_signals *s)
{
    cull_status status = CULL_OK;
    const void *place = s->place;
    const void *unseen = read->signals & CULL_SIGNAL_LOSS ? s->unseen : NULL;

    TRY(carry(way, &place, s->count * sizeof *s->place, false));
    TRY(carry(way, &unseen, s->count, false));
    s->place = place;
    s->unseen = unseen;
    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++)
        TRY(carry_tensor(way, cull_sel_array_read(a, read), (cull_tensor *)((char *)s + a->at)));
    s->device = cull_backend_device(way->load->work);
done:
    return status;
}

/* Is there anything in a type that the host does not compute with? */
static bool is_narrow(const cull_needs *read, const cull_signals *s)
{
    if (!cull_device_same(s->device, (cull_device){0})) return false;
    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++) {
        const cull_tensor *t = (const cull_tensor *)((const char *)s + a->at);

        if (cull_sel_array_read(a, read) && t->data && t->dtype == CULL_BF16) return true;
    }
    return false;
}

cull_status cull_sel_carry(cull_sel_load *load, const cull_needs *read, cull_signals *signals)
{
    cull_status  status = CULL_OK;
    bool         there = cull_device_same(signals->device, cull_backend_device(load->work));
    struct way   measured = {.load = load}, way = {.load = load, .moves = true, .stays = there};
    cull_signals copy = *signals;

    if (there && !is_narrow(read, signals)) return CULL_OK;
    TRY(carry_signals(&measured, read, &copy));
    if (measured.at > load->room) {
        cull_sel_load_clear(load);
        TRY(cull_backend_allocate(load->work, measured.at, 1, "signals", &load->block));
        load->room = measured.at;
    }
    TRY(carry_signals(&way, read, signals));
done:
    return status;
}

void cull_sel_load_clear(cull_sel_load *load)
{
    cull_backend_release(load->work, load->block);
    load->block = NULL;
    load->room = 0;
}

cull_status cull_sel_fetch(cull_selector *s, const cull_signals *signals, const cull_needs *read,
                           const cull_signals **out)
{
    *out = signals;
    if (cull_sel_is_here(s, signals->device) && !is_narrow(read, signals)) return CULL_OK;
    s->seen = *signals;
    *out = &s->seen;
    s->fetched.home = s->home;
    s->fetched.work = s->setting.backend;
    return cull_sel_carry(&s->fetched, read, &s->seen);
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

cull_status cull_sel_subset_bring(cull_subset *from, cull_subset *out)
{
    cull_subset before = *out;

    if (from->backend) return cull_sel_deliver(from, out);
    *out = *from;
    *from = before;
    return CULL_OK;
}

cull_status cull_sel_subset_group(const cull_subset *subset, size_t from, size_t *to)
{
    cull_status status = CULL_OK;
    uint32_t   *there = NULL;
    uint32_t   *group = subset->group;

    *to = subset->count;
    if (subset->groups <= 1) goto done;
    if (subset->backend) {
        TRY(cull_base_alloc(subset->count, sizeof *there, "a subset", &there));
        TRY(cull_backend_download(subset->backend, there, group, subset->count * sizeof *there));
        group = there;
    }
    for (*to = from; *to < subset->count && group[*to] == group[from];) ++*to;
done:
    cull_base_free(there);
    return status;
}
