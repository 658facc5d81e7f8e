/* select/catalog.c - the built-in strategies, by number and by name. */
#include <string.h>

#include "select/select.h"

#define ADDRESS(name) &cull_strategy_##name,
static const cull_strategy *const catalog[] = {CULL_STRATEGY_MAP(ADDRESS)};

const cull_strategy *cull_strategy_at(size_t i)
{
    return i < sizeof catalog / sizeof *catalog ? catalog[i] : NULL;
}

static const cull_strategy *find(const char *name, size_t length)
{
    const cull_strategy *strategy = NULL;

    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++)
        if (strlen(strategy->name) == length && memcmp(strategy->name, name, length) == 0)
            return strategy;
    return NULL;
}

const cull_strategy *cull_strategy_find(const char *name)
{
    return name ? find(name, strlen(name)) : NULL;
}

const cull_strategy *cull_strategy_of(const char *text)
{
    text += strspn(text, " \t");
    return find(text, strcspn(text, " \t+"));
}
