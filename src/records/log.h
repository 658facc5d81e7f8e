/*
 * records/log.h - a file that only grows, and is cut back to a checkpoint when a run is resumed.
 *
 * Every append is one write, so a run that is killed leaves at most one broken piece at the
 * end, which lies behind the checkpoint and is cut off.
 */
#ifndef CULL_RECORDS_LOG_H
#define CULL_RECORDS_LOG_H

#include "records/json.h"

typedef struct cull_records_log {
    char     path[1024];
    int      fd; /* -1: not open */
    uint64_t at; /* bytes so far */
} cull_records_log;

/* Open or create, lock, and cut to `keep` bytes. CULL_BAD_FILE when the file is shorter, CULL_IO
 * when another process has it. */
cull_status cull_records_log_open(cull_records_log *log, const char *folder, const char *name,
                                  uint64_t keep);
cull_status cull_records_log_append(cull_records_log *log, const void *data, size_t bytes);
/* An object that was opened and filled, as a line. */
cull_status cull_records_log_line(cull_records_log *log, cull_json *json);
cull_status cull_records_log_sync(cull_records_log *log);
void        cull_records_log_close(cull_records_log *log);

#endif
