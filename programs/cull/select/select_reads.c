/* select_reads.c - what a strategy reads, and complaints about input it will not read. */
#include <stdio.h>

#include "select/select_parts.h"

enum { MOST_FLAG_LIST = 256 };

/* Is an array of this kind read where these signals, of the examples and of the target, are? */
static bool is_read(int kind, unsigned signals, unsigned target)
{
    if (kind == IN_PLACES) return true;
    if (kind == IN_UNSEEN) return signals & CULL_SIGNAL_LOSS;
    return (input_kinds[kind].target ? target : signals) & input_kinds[kind].signal;
}

/* What the strategy reads, in words. */
static const char *words_of(const cull_needs *reads, char *flags, size_t room)
{
    inputs_flags(reads->signals, reads->target, flags, room);
    if (flags[0]) return flags;
    return reads->observe ? "what --observe tells it" : "no array";
}

int select_refuse_unread(const char *name, const cull_needs *reads, unsigned also,
                         const char *const path[INPUTS])
{
    char flags[MOST_FLAG_LIST];

    for (int i = 0; i < INPUTS; i++) {
        if (!path[i] || is_read(i, reads->signals | also, reads->target)) continue;
        return complain(END_USAGE, "Leave it out; --pool N can say how many examples there are.",
                        "%s will not read %s: it reads %s", name, input_kinds[i].flag,
                        words_of(reads, flags, sizeof flags));
    }
    return END_WELL;
}

int select_refuse_bundle(const char *name, const cull_needs *reads, unsigned also, const inputs *in)
{
    char flags[MOST_FLAG_LIST], held[MOST_FLAG_LIST];

    if (!reads->target && inputs_held(in, true, held, sizeof held))
        return complain(END_USAGE, "Leave them out, or give the option that has a target matched.",
                        "the --signals file holds %s, but %s matches no target with these "
                        "options: it reads %s",
                        held, name, words_of(reads, flags, sizeof flags));
    for (int i = 0; i < INPUTS; i++)
        if (i != IN_PLACES && inputs_holds(in, i) &&
            is_read(i, reads->signals | also, reads->target))
            return END_WELL;
    if (!inputs_held(in, false, held, sizeof held)) return END_WELL;
    return complain(END_USAGE, "Leave it out; --pool N can say how many examples there are.",
                    "the --signals file holds %s, of which %s reads nothing: it reads %s", held,
                    name, words_of(reads, flags, sizeof flags));
}

int select_check_trained(const char *name, const cull_needs *reads, const inputs *in,
                         const char *file)
{
    char missing[MOST_FLAG_LIST];

    if (!reads->observe)
        return complain(END_USAGE, "Leave --observe out.", "%s asks nothing of what training saw",
                        name);
    if (inputs_missing(in, reads->observe, 0, missing, sizeof missing))
        return complain(END_USAGE, "Name the arrays as in a --signals file; a .npy is losses.",
                        "%s: %s asks for %s of what was trained, which is not there", file, name,
                        missing);
    return END_WELL;
}
