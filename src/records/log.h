/*
 * records/log.h - a file that only grows, and is cut back to a checkpoint when a run is resumed.
 *
 * Every append is one write, so a run that is killed leaves at most one broken piece at the
 * end, which lies behind the checkpoint and is cut off.
 */
#ifndef CULL_TRAIN_LOG_H
#define CULL_TRAIN_LOG_H

#include "base/status.h"

typedef struct cull_train_log {
    char     path[1024];
    int      fd; /* -1: not open */
    uint64_t at; /* bytes so far */
} cull_train_log;

/* Open or create, lock, and cut to `keep` bytes. CULL_BAD_FILE when the file is shorter, CULL_IO
 * when another process has it. */
cull_status cull_train_log_open(cull_train_log *log, const char *folder, const char *name,
                                uint64_t keep);
cull_status cull_train_log_append(cull_train_log *log, const void *data, size_t bytes);
cull_status cull_train_log_sync(cull_train_log *log);
void        cull_train_log_close(cull_train_log *log);

#endif
