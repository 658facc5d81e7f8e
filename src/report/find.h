/*
 * report/find.h - what lies in a folder and below it, of what a page can be about.
 *
 * A folder with comparison.json is a comparison, one with run.json a run, one with probe.jsonl
 * alone a probe; what lies below one of those belongs to it. Other folders are looked through, in
 * the order of their names; hidden ones and links are passed over.
 */
#ifndef CULL_REPORT_FIND_H
#define CULL_REPORT_FIND_H

#include <sys/types.h>

#include "records/files.h"

enum { CULL_REP_DEPTH = 6, CULL_REP_FOUND = 400 }; /* levels below a folder; folders on a page */

typedef enum cull_rep_kind { CULL_REP_COMPARISON, CULL_REP_RUN, CULL_REP_PROBE } cull_rep_kind;

typedef struct cull_rep_found {
    char         *folder; /* owned */
    cull_rep_kind kind;
    dev_t         device; /* what tells it from others, under whatever names */
    ino_t         inode;
} cull_rep_found;

typedef struct cull_rep_finds {
    cull_rep_found *found; /* [count] */
    size_t          count, room;
} cull_rep_finds;

/*
 * Add what lies in `folder` and below it; one that was found already is not added again. `notes`
 * gets a sentence where something was passed over or could be taken for two things.
 *
 * CULL_IO: there is no such folder, or nothing in it or below it. CULL_NO_MEMORY. Clear the finds
 * also after a failure.
 */
cull_status cull_rep_find(const char *folder, cull_rep_finds *out, cull_records_list *notes);
void        cull_rep_finds_clear(cull_rep_finds *finds);

#endif
