/* select_parts.h - the parts of cull select besides its arrays: list, hints, output. */
#ifndef CULL_SELECT_PARTS_H
#define CULL_SELECT_PARTS_H

#include "select_inputs.h"

/* select_list.c: every strategy (or only one) with its options. */
int select_list(const char *only, bool json);

/* select_hints.c: complaints that name what was probably meant. */
int select_unknown_strategy(const char *name);
int select_bad_option(const char *strategy, const cull_option *options, size_t count);

/* What was decided, and what there is to say about it. */
typedef struct decision {
    const cull_selector  *selector;
    const cull_signals   *signals;
    const cull_subset    *subset;
    const cull_diagnosis *diagnosis; /* NULL: not asked for         */
    bool                  plain;     /* nothing was to be selected  */
} decision;

/* select_output.c */
int select_print_text(const decision *d);
int select_print_json(const decision *d);
int select_write_json(const decision *d, const char *path);
int select_write_npz(const decision *d, const char *path);

#endif
