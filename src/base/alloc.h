/* base/alloc.h - the one door to the heap, so that tests can make it fail. */
#ifndef CULL_BASE_ALLOC_H
#define CULL_BASE_ALLOC_H

#include "base/status.h"

/* Zeroed room for count elements of `size` bytes; a product that overflows or a count of
 * zero is fine. *out is NULL on failure; `what` completes "no memory for ...". */
cull_status cull_base_alloc(size_t count, size_t size, const char *what, void *out);

/* As realloc: what was there survives, the new rest is not zeroed. *data is untouched on
 * failure. */
cull_status cull_base_grow(size_t count, size_t size, const char *what, void *data);

/* Zeroed room that starts on a 64-byte border, for vector code; ends with
 * cull_base_free_aligned(). */
cull_status cull_base_alloc_aligned(size_t count, size_t size, const char *what, void *out);
void        cull_base_free_aligned(void *data);

void cull_base_free(void *data);

/* How many allocations this process has made here: a warm step must not add to it. */
size_t cull_base_alloc_count(void);

#endif
