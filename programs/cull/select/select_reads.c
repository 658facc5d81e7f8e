/* select_reads.c - what a strategy reads, and complaints about input it will not read. */
#include <stdio.h>

#include "select/select_parts.h"

enum { MOST_FLAG_LIST = 256 };

/* Kinds of arrays that are read; also: signals that are read besides. */
static unsigned kinds_read(const cull_needs *reads, unsigned also)
{
    unsigned signals = reads->signals | also, unseen = signals & CULL_SIGNAL_LOSS ? 1 : 0;

    return inputs_of(signals, reads->target) | 1u << IN_PLACES | unseen << IN_UNSEEN;
}

/* What the strategy reads, in words. */
static const char *words_of(const cull_needs *reads, char *flags, size_t room)
{
    if (inputs_words(inputs_of(reads->signals, reads->target), true, flags, room)) return flags;
    return reads->observe ? "what --observe tells it" : "no array";
}

int select_refuse_unread(const char *name, const cull_needs *reads, unsigned also,
                         const char *const path[INPUTS])
{
    char flags[MOST_FLAG_LIST];

    for (int i = 0; i < INPUTS; i++)
        if (path[i] && !(kinds_read(reads, also) >> i & 1))
            return complain(END_USAGE,
                            "Leave it out; --pool N can say how many examples there are.",
                            "%s will not read %s: it reads %s", name, input_kinds[i].flag,
                            words_of(reads, flags, sizeof flags));
    return END_WELL;
}

int select_refuse_bundle(const char *name, const cull_needs *reads, unsigned also, const inputs *in)
{
    unsigned held = inputs_held(in) & ~(1u << IN_PLACES), targets = inputs_of(0, ~0u);
    char     flags[MOST_FLAG_LIST], words[MOST_FLAG_LIST];

    if (!reads->target && inputs_words(held & targets, false, words, sizeof words))
        return complain(END_USAGE, "Leave them out, or give the option that has a target matched.",
                        "the --signals file holds %s, but %s matches no target with these "
                        "options: it reads %s",
                        words, name, words_of(reads, flags, sizeof flags));
    if (held & kinds_read(reads, also)) return END_WELL;
    if (!inputs_words(held & ~targets, false, words, sizeof words)) return END_WELL;
    return complain(END_USAGE, "Leave it out; --pool N can say how many examples there are.",
                    "the --signals file holds %s, of which %s reads nothing: it reads %s", words,
                    name, words_of(reads, flags, sizeof flags));
}

int select_check_trained(const char *name, const cull_needs *reads, const inputs *in,
                         const char *file)
{
    unsigned missing = inputs_of(reads->observe, 0) & ~inputs_given(in);
    char     words[MOST_FLAG_LIST];

    if (!reads->observe)
        return complain(END_USAGE, "Leave --observe out.", "%s asks nothing of what training saw",
                        name);
    if (inputs_words(missing, true, words, sizeof words))
        return complain(END_USAGE, "Name the arrays as in a --signals file; a .npy is losses.",
                        "%s: %s asks for %s of what was trained, which is not there", file, name,
                        words);
    return END_WELL;
}
