/* select_hints.c - what was probably meant by a wrong strategy or option. */
#include <stdio.h>
#include <string.h>

#include "select/select_parts.h"

enum { MOST_WORDS = 128, MOST_HINT = 160 };

static void did_you_mean(char *hint, size_t room, const char *near)
{
    if (near)
        (void)snprintf(hint, room, "Did you mean %s? See cull select --list.", near);
    else
        (void)snprintf(hint, room, "See cull select --list for every strategy and its options.");
}

int select_unknown_strategy(const char *name)
{
    const char          *words[MOST_WORDS] = {NULL};
    char                 hint[MOST_HINT];
    const cull_strategy *strategy = NULL;

    for (size_t i = 0; i < MOST_WORDS - 1 && (strategy = cull_strategy_at(i)); i++)
        words[i] = strategy->name;
    did_you_mean(hint, sizeof hint, nearest(name, words));
    return complain(END_USAGE, hint, "no strategy is called '%s'", name);
}

bool select_is_word(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* The library has said what is wrong; an unknown key also gets its nearest neighbour. */
int select_bad_option(const char *strategy, const cull_option *options, size_t count)
{
    const char             *words[MOST_WORDS] = {NULL}, *near = NULL;
    char                    hint[MOST_HINT], name[40];
    const cull_strategy    *found = NULL;
    const cull_option_spec *option = NULL;

    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(strategy, " +"), strategy);
    if (strchr(strategy, '/')) return complain_status(CULL_BAD_OPTION);
    found = cull_strategy_find(name);
    if (!found) return select_unknown_strategy(name);
    for (size_t i = 0; i < MOST_WORDS - 1 && (option = cull_strategy_option_at(found, i)); i++)
        words[i] = option->key;
    for (size_t i = 0; i < count && !near; i++)
        if (!select_is_word(options[i].key, words)) near = nearest(options[i].key, words);
    did_you_mean(hint, sizeof hint, near);
    return complain(END_USAGE, hint, "%s", cull_last_error());
}
