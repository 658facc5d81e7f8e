/* select_parts.h - the parts of cull select besides its arrays: list, hints, output. */
#ifndef CULL_SELECT_PARTS_H
#define CULL_SELECT_PARTS_H

#include "select/select_inputs.h"

/* select_list.c: every strategy (or only one) with its options. */
int select_list(const char *only, bool json);

/* select_hints.c: complaints that name what was probably meant. */
bool select_is_word(const char *word, const char *const *words); /* words end with NULL */
int  select_unknown_strategy(const char *name);
int  select_complain(const char *strategy, cull_status status); /* else as complain_status() */

/* select_reads.c: `reads` as cull_selector_reads() has it. A flag of path[] that is none of them,
 * nor of the signals in `also`, is a complaint. */
int select_refuse_unread(const char *name, const cull_needs *reads, unsigned also,
                         const char *const path[INPUTS]);
/* A --signals file may hold more than that, but neither only what is none of them nor a target
 * where there is none to match. */
int select_refuse_bundle(const char *name, const cull_needs *reads, unsigned also,
                         const inputs *in);
/* What training saw must be asked for, and be there. */
int select_check_trained(const char *name, const cull_needs *reads, const inputs *in,
                         const char *file);

/* What was decided, and what there is to say about it. */
typedef struct decision {
    const cull_selector  *selector;
    const cull_signals   *signals;
    const cull_subset    *subset;
    const cull_diagnosis *diagnosis; /* NULL: not asked for         */
    bool                  plain;     /* nothing was to be selected  */
    bool                  flushed;   /* this is what was left over  */
} decision;

/* select_output.c */
int select_print_text(const decision *d);
int select_print_json(const decision *d);
int select_write_json(const decision *d, const char *path);
int select_write_npz(const decision *d, const char *path);

#endif
