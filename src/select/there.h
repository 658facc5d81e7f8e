/*
 * select/there.h - arrays that solvers are handed on a device, looked over where they lie.
 *
 * On the host they are looked at directly; elsewhere the device does it, and one word comes back.
 */
#ifndef CULL_SELECT_THERE_H
#define CULL_SELECT_THERE_H

#include "backend/backend.h"

/* Zeros but for the kit's backend, until cull_kit_clear(). */
typedef struct cull_sel_looks {
    cull_kit      kit;
    cull_trouble *word;
} cull_sel_looks;

/* Rows that are atoms: each below `rows`. */
cull_status cull_sel_look_rows(cull_sel_looks *looks, const uint32_t *row, size_t count,
                               size_t rows);
/* Every number of a matrix lies between two bounds, both inclusive; `which` says whose they are. */
cull_status cull_sel_look_values(cull_sel_looks *looks, const cull_tensor *x, double low,
                                 double high, uint64_t which);
/* The first that did not, all zeros where none was; waits. The next look begins anew. */
cull_status cull_sel_look_end(cull_sel_looks *looks, cull_trouble *out);

/* Of H and P, and of the rows of them that are atoms (or NULL): all in range, or a sentence that
 * begins with `problem` and its number. most: of H's numbers, exclusive. */
cull_status cull_sel_look_last_layer(cull_sel_looks *looks, const cull_tensor *h,
                                     const cull_tensor *p, const uint32_t *row, size_t count,
                                     double most, const char *problem);

/* Where a backend's arrays lie; NULL is the host's. */
static inline cull_device cull_sel_where(const cull_backend *backend)
{
    return backend ? cull_backend_device(backend) : (cull_device){0};
}

#endif
