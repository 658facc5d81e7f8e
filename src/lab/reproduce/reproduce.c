/* lab/reproduce/reproduce.c - the papers' figures and tables, found by number and by name. */
#include "lab/reproduce/reproduce.h"

#include <string.h>

enum { PROBE_BATCHES = 200, WATCH_BATCHES = 20 };

static const cull_reproduction *const papers[] = {cull_reproduce_balles, cull_reproduce_jiang,
                                                  cull_reproduce_killamsetty};

const cull_reproduction *cull_reproduction_at(size_t i)
{
    for (size_t p = 0; p < sizeof papers / sizeof *papers; p++)
        for (const cull_reproduction *r = papers[p]; r->name; r++)
            if (i-- == 0) return r;
    return NULL;
}

uint64_t cull_reproduction_batches(const cull_reproduction *entry)
{
    if (entry->kind == CULL_REPRODUCE_PROBE) return PROBE_BATCHES;
    return entry->look == CULL_LOOK_GRADIENTS ? WATCH_BATCHES : 0;
}

const cull_reproduction *cull_reproduction_find(const char *name)
{
    const cull_reproduction *r = NULL;

    for (size_t i = 0; (r = cull_reproduction_at(i)); i++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}
