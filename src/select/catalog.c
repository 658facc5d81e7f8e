/* select/catalog.c - the built-in strategies, by number and by name. */
#include <string.h>

#include "select/select.h"

#define ADDRESS(name) &cull_strategy_##name,
static const cull_strategy *const catalog[] = {CULL_STRATEGY_MAP(ADDRESS)};

const cull_strategy *cull_strategy_at(size_t i)
{
    return i < sizeof catalog / sizeof *catalog ? catalog[i] : NULL;
}

const cull_strategy *cull_strategy_find(const char *name)
{
    const cull_strategy *strategy = NULL;

    for (size_t i = 0; name && (strategy = cull_strategy_at(i)); i++)
        if (strcmp(strategy->name, name) == 0) return strategy;
    return NULL;
}
