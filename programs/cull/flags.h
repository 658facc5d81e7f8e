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

/* A command to its reader. The usage lines, as the values of flags, are read by completion too:
 * pages/pages.h says which words it knows. */
typedef struct command {
    const char *name, *usage;
    void (*more)(FILE *to);     /* prints what stands below the flags; NULL: nothing      */
    const char *missing, *give; /* where one word must be given: a complaint, and its hint */
    bool        recipe_keys;    /* every key of a recipe stands below the flags           */
} command;

/* A line that begins so asks for the command's tables, and nothing is done. */
#define TABLES       "--tables"
#define TABLES_PRINT "man"
#define TABLES_OFFER "complete"

enum { GO_ON = -1 };

/* Parse a command line against a table, to which --help is added; the *count words that are no
 * flags move to its front. GO_ON, or the exit status of a command that is over: its help was asked
 * for, or flags are unknown or repeated, values missing or numbers bad. */
int take_line(const command *self, flag *flags, int argc, char **argv, size_t *count);

/* Of a recipe's key: the values that are possible. */
void describe_option(const cull_option_spec *option, char *out, size_t room);
void print_recipe_keys(FILE *to);

#endif
