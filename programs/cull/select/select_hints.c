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
    char hint[MOST_HINT];

    did_you_mean(hint, sizeof hint, nearest_strategy(name));
    return complain(END_USAGE, hint, "no strategy is called '%s'", name);
}

bool select_is_word(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

bool select_is_option(cull_status status)
{
    return status == CULL_BAD_OPTION || status == CULL_UNKNOWN_OPTION ||
           status == CULL_UNKNOWN_STRATEGY;
}

/* The library has said what is wrong; an unknown key also gets its nearest neighbour. */
int select_bad_option(const char *strategy, cull_status status)
{
    const char             *words[MOST_WORDS] = {NULL}, *near = NULL;
    char                    hint[MOST_HINT];
    const cull_strategy    *found = cull_strategy_of(strategy);
    const cull_option_spec *option = NULL;

    if (status == CULL_UNKNOWN_STRATEGY) return select_unknown_strategy(cull_last_subject());
    for (size_t i = 0; found && i < MOST_WORDS - 1 && (option = cull_strategy_option_at(found, i));
         i++)
        words[i] = option->key;
    if (status == CULL_UNKNOWN_OPTION) near = nearest(cull_last_subject(), words);
    did_you_mean(hint, sizeof hint, near);
    return complain(END_USAGE, hint, "%s", cull_last_error());
}
