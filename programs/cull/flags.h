/* flags.h - a command's flags: one table that is parsed against and printed as help. */
#ifndef CULL_FLAGS_H
#define CULL_FLAGS_H

#include <stdio.h>

#include "program.h"

typedef enum flag_kind { FLAG_SWITCH, FLAG_TEXT, FLAG_NUMBER } flag_kind;

typedef struct flag {
    const char *name; /* "--loss"; NULL ends a table */
    flag_kind   kind;
    const char *value; /* how help calls it; NULL for a switch */
    const char *doc;
    void       *out;   /* bool *, const char ** or uint64_t *; untouched when not given */
    bool        given; /* set by take_line */
} flag;

/* A command to its reader. */
typedef struct command {
    const char *name, *usage;
    void (*more)(void);         /* prints what stands below the flags; NULL: nothing      */
    const char *missing, *give; /* where one word must be given: a complaint, and its hint */
} command;

enum { GO_ON = -1 };

/* Parse a command line against a table, to which --help is added; the *count words that are no
 * flags move to its front. GO_ON, or the exit status of a command that is over: its help was asked
 * for, or flags are unknown or repeated, values missing or numbers bad. */
int take_line(const command *self, flag *flags, int argc, char **argv, size_t *count);

#endif
