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
    bool        given; /* set by parse_flags */
} flag;

/* Parse a command line; the *count words that are no flags move to its front. Unknown and repeated
 * flags, missing values and bad numbers are complaints. Returns an exit status. */
int parse_flags(const char *command, flag *flags, int argc, char **argv, size_t *count);

/* One line per flag. */
void print_flags(FILE *to, const flag *flags);

#endif
