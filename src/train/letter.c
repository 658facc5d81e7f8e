/* train/letter.c - the block that is sent before a step. */
#include "train/letter.h"

#include <string.h>

#include "base/alloc.h"

enum { BORDER = 64 };

static size_t rounded(size_t bytes)
{
    return (bytes + BORDER - 1) / BORDER * BORDER;
}

/* In this order: what most steps write comes first. */
static size_t places_at(void)
{
    return rounded(sizeof(cull_moment));
}

static size_t aims_at(const cull_letter *l)
{
    return places_at() + rounded(l->examples * sizeof(uint32_t));
}

static size_t weights_at(const cull_letter *l)
{
    return aims_at(l) + rounded(l->aims * sizeof(uint32_t));
}

cull_status cull_letter_room(cull_letter *l, size_t examples, size_t aims)
{
    cull_status status = CULL_OK;
    bool        host = cull_backend_on_host(l->backend);

    if (l->there && examples <= l->examples && aims <= l->aims) return CULL_OK;
    if (examples < l->examples) examples = l->examples;
    if (aims < l->aims) aims = l->aims;
    cull_letter_clear(l);
    l->examples = examples;
    l->aims = aims;
    l->bytes = weights_at(l) + examples * sizeof(double);
    TRY(cull_backend_allocate(l->backend, l->bytes, 1, "a step", &l->there));
    if (host)
        l->here = l->there;
    else
        TRY(cull_base_alloc_aligned(l->bytes, 1, "a step", &l->here));
done:
    if (status != CULL_OK) cull_letter_clear(l);
    return status;
}

void cull_letter_clear(cull_letter *l)
{
    if (!l->backend) return;
    if (l->here != l->there) cull_base_free_aligned(l->here);
    cull_backend_release(l->backend, l->there);
    *l = (cull_letter){.backend = l->backend};
}

cull_moment *cull_letter_moment(const cull_letter *l)
{
    return (cull_moment *)(void *)l->there;
}

uint32_t *cull_letter_places(const cull_letter *l)
{
    return (uint32_t *)(void *)(l->there + places_at());
}

uint32_t *cull_letter_aims(const cull_letter *l)
{
    return (uint32_t *)(void *)(l->there + aims_at(l));
}

double *cull_letter_weights(const cull_letter *l)
{
    return (double *)(void *)(l->there + weights_at(l));
}

void cull_letter_write(cull_letter *l, const void *part, const void *from, size_t bytes)
{
    size_t at = (size_t)((const char *)part - l->there);

    memcpy(l->here + at, from, bytes);
    if (l->to == 0 || at < l->from) l->from = at;
    if (at + bytes > l->to) l->to = at + bytes;
}

cull_status cull_letter_send(cull_letter *l)
{
    cull_status status = CULL_OK;

    if (l->to && l->here != l->there)
        TRY(cull_backend_upload(l->backend, l->there + l->from, l->here + l->from,
                                l->to - l->from));
    l->to = 0;
done:
    return status;
}
