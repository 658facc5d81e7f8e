/* data/source.h - where bytes come from: a file or memory, by offset. */
#ifndef CULL_DATA_SOURCE_H
#define CULL_DATA_SOURCE_H

#include "base/status.h"

/* Bytes of known number at known offsets. */
typedef struct cull_data_source {
    const char          *name; /* begins every sentence; borrowed            */
    int                  fd;   /* -1: in memory                              */
    const unsigned char *memory;
    void                *owned; /* the memory, where this source took it      */
    void                *map;   /* or where it is the file itself, mapped     */
    uint64_t             size;
} cull_data_source;

/* Opens a file. One that cannot be sought in (a pipe) is read into memory here. */
cull_status cull_data_source_open(const char *path, cull_data_source *out);
void        cull_data_source_close(cull_data_source *source);

/* Make an open file memory without reading it, where the system can; else it stays as it is.
 * Whoever shortens or rewrites the file in place then changes, or takes away, what is read. */
void cull_data_source_map(cull_data_source *source);

/* Rows of a mapped file are wanted one here, one there: what lies around them is not read along.
 * False, and nothing is changed, where memory will hold most of it before long. */
bool cull_data_source_scatter(const cull_data_source *source);

/* Bytes of a mapped file are wanted soon: begin to bring them. */
void cull_data_source_ahead(const cull_data_source *source, const void *data, size_t bytes);

/* Does this lie in the mapped file? */
bool cull_data_source_holds(const cull_data_source *source, const void *data);

/* Borrows the bytes. */
cull_data_source cull_data_source_memory(const char *name, const void *data, size_t bytes);

/* All of at .. at+bytes, or CULL_BAD_FILE when it reaches past the end. */
cull_status cull_data_source_read(const cull_data_source *source, uint64_t at, void *dst,
                                  size_t bytes);

#endif
