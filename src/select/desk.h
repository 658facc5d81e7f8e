/*
 * select/desk.h - where a rule works that looks at small things itself and leaves large ones to its
 * backend: arrays that are on the host and, where the backend's memory is elsewhere, there too.
 *
 * On the host both are one array, and nothing is moved.
 */
#ifndef CULL_SELECT_DESK_H
#define CULL_SELECT_DESK_H

#include "select/select.h"

typedef struct cull_sel_desk {
    cull_backend *backend;
    cull_kit      there, here; /* on the host `there` is all */
} cull_sel_desk;

typedef struct cull_sel_both {
    void  *there, *here;
    size_t size; /* of an element */
} cull_sel_both;

void cull_sel_desk_open(cull_sel_desk *desk, cull_backend *backend);
void cull_sel_desk_clear(cull_sel_desk *desk); /* a zeroed one too */

static inline bool cull_sel_desk_apart(const cull_sel_desk *desk)
{
    return !cull_backend_on_host(desk->backend);
}

/* The kit whose arrays are on the host. */
static inline cull_kit *cull_sel_desk_host(cull_sel_desk *desk)
{
    return cull_sel_desk_apart(desk) ? &desk->here : &desk->there;
}

cull_status cull_sel_desk_allocate(cull_sel_desk *desk, size_t count, size_t size, const char *what,
                                   cull_sel_both *out);
/* The same around an array that is on the host already. */
cull_status cull_sel_desk_copy(cull_sel_desk *desk, void *here, size_t count, size_t size,
                               const char *what, cull_sel_both *out);
/* Elements first .. first+count-1, to the backend, or from it; the latter waits. */
cull_status cull_sel_desk_send(const cull_sel_desk *desk, const cull_sel_both *both, size_t first,
                               size_t count);
cull_status cull_sel_desk_fetch(const cull_sel_desk *desk, const cull_sel_both *both, size_t first,
                                size_t count);

/* Rows of a vector or matrix of the backend's, on the host; and its array of places, or NULL. */
cull_status cull_sel_desk_bring(cull_sel_desk *desk, const cull_tensor *from, size_t rows,
                                cull_tensor *out);
cull_status cull_sel_desk_places(cull_sel_desk *desk, const cull_signals *signals,
                                 const uint32_t **out);

#endif
