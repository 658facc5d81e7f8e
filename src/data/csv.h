/*
 * data/csv.h - the records of a table as text, one after the other.
 *
 * A record is a line of fields with one of , ; or tab between them (RFC 4180): a field in quotes
 * may hold any of them, ends of lines, and quotes doubled. Which it is, the first line tells. The
 * file may be packed with gzip.
 */
#ifndef CULL_DATA_CSV_H
#define CULL_DATA_CSV_H

#include "data/stream.h"

enum {
    CULL_CSV_FIELD = 1 << 16,  /* bytes of the longest field, unless the reader allows more */
    CULL_CSV_FIELDS = 1 << 16, /* of the longest record           */
    CULL_CSV_RECORD = 1 << 24  /* its bytes                       */
};

typedef struct cull_csv_field {
    const char *text; /* not ended by a zero; without its quotes, or spaces around it */
    size_t      length;
    bool        quoted;
} cull_csv_field;

typedef struct cull_csv {
    const char      *name; /* begins every sentence; borrowed */
    cull_data_stream stream;
    char             separator;
    size_t           most;  /* bytes of a field: CULL_CSV_FIELD, until a reader allows more */
    uint64_t         line;  /* where the record begins, the first being 1 */
    cull_csv_field  *field; /* [fields] of the record; until the next one */
    size_t           fields;

    /* the reader's own */
    char    *window; /* of the file: from `at`, the next record, to `end` */
    size_t   at, end, room, field_room;
    uint64_t next_line;
    bool     ended;
} cull_csv;

/* Borrows the source. Closed also after a failure. CULL_BAD_FILE when it is no text, or its first
 * line does not tell what is between fields. */
cull_status cull_csv_open(const cull_data_source *source, cull_csv *csv);
void        cull_csv_close(cull_csv *csv);

/* The next record, empty lines aside (two quotes are a field of nothing); *more is false where
 * there is none. */
cull_status cull_csv_next(cull_csv *csv, bool *more);

#endif
