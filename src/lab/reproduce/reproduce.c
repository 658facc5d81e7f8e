/* lab/reproduce/reproduce.c - the papers' figures and tables, found by number and by name. */
#include "lab/reproduce/reproduce.h"

#include <string.h>

static const cull_reproduction *const papers[] = {cull_reproduce_balles, cull_reproduce_jiang,
                                                  cull_reproduce_killamsetty};

const cull_reproduction *cull_reproduction_at(size_t i)
{
    for (size_t p = 0; p < sizeof papers / sizeof *papers; p++)
        for (const cull_reproduction *r = papers[p]; r->name; r++)
            if (i-- == 0) return r;
    return NULL;
}

const cull_reproduction *cull_reproduction_find(const char *name)
{
    const cull_reproduction *r = NULL;

    for (size_t i = 0; (r = cull_reproduction_at(i)); i++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}
