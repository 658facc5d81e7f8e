/* records/files.h - what readers share: whole files, arrays, lists that grow, and sentences that
 * are gathered on the way. */
#ifndef CULL_RECORDS_FILES_H
#define CULL_RECORDS_FILES_H

#include "base/status.h"

/* Room in a list for one more than `count`: it doubles where it is full. */
cull_status cull_records_room(size_t count, size_t *room, size_t size, const char *what,
                              void *list);

bool cull_records_has_array(const cull_arrays *arrays, const char *name);

/* The whole of a file, or *data NULL when there is none. CULL_IO: it cannot be read;
 * CULL_TOO_LARGE: above 1 GiB. */
cull_status cull_records_file(const char *folder, const char *name, void **data, size_t *bytes);

/* Sentences, in the order they came; owned. */
typedef struct cull_records_list {
    char **text;
    size_t count, room;
    size_t most, unsaid; /* no more are kept (0: all are), and so many were not */
} cull_records_list;

/* Sentences of somebody else, in their order; what is beyond the room is left out. */
enum { CULL_RECORDS_TEXTS = 64 };
typedef struct cull_records_texts {
    const char *text[CULL_RECORDS_TEXTS];
    size_t      count;
} cull_records_texts;

/* One that is there already is not added again. */
void cull_records_texts_add(cull_records_texts *texts, const char *text);
/* Do two sentences say the same, "sets/a.npz: ..." and "/home/me/sets/a.npz: ...", so that they are
 * one where both are about the same files? */
bool cull_records_texts_alike(const char *a, const char *b);

cull_status cull_records_say(cull_records_list *list, const char *format, ...) CULL_PRINTF(2, 3);
void        cull_records_list_clear(cull_records_list *list);

#endif
