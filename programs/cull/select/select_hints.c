/* select_hints.c - what was probably meant by a wrong strategy or option. */
#include <string.h>

#include "select/select_parts.h"

static const char *where(const search *s)
{
    return s->best ? "cull select --list" : "cull select --list for every strategy and its options";
}

int select_unknown_strategy(const char *name)
{
    search s = nearest_strategy(name);

    return complain_near(&s, "", where(&s), "no strategy is called '%s'", name);
}

bool select_is_word(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* The library has said what is wrong; an unknown key also gets its nearest neighbour. */
int select_complain(const char *strategy, cull_status status)
{
    search               s = {.wrong = cull_last_subject()};
    const cull_strategy *found = status == CULL_UNKNOWN_OPTION ? cull_strategy_of(strategy) : NULL;
    const cull_option_spec *option = NULL;

    if (status != CULL_BAD_OPTION && status != CULL_UNKNOWN_OPTION &&
        status != CULL_UNKNOWN_STRATEGY)
        return complain_status(status);
    if (status == CULL_UNKNOWN_STRATEGY) return select_unknown_strategy(s.wrong);
    for (size_t i = 0; found && (option = cull_strategy_option_at(found, i)); i++)
        try_word(&s, option->key);
    return complain_near(&s, "", where(&s), "%s", cull_last_error());
}
