/* data/sink.h - a file that appears whole or not at all: temporary name, sync, rename. */
#ifndef CULL_DATA_SINK_H
#define CULL_DATA_SINK_H

#include "base/status.h"

typedef struct cull_data_sink {
    const char *path;      /* borrowed                                              */
    char       *target;    /* what the path stands for, links followed             */
    char       *temporary; /* NULL: writing straight to a device or pipe            */
    int         fd;        /* -1: not open                                          */
    uint64_t    at;        /* bytes written so far                                  */
} cull_data_sink;

cull_status cull_data_sink_open(const char *path, cull_data_sink *out);
cull_status cull_data_sink_write(cull_data_sink *sink, const void *data, size_t bytes);

/* Write over what was written at `at`. Not for devices and pipes. */
cull_status cull_data_sink_patch(cull_data_sink *sink, uint64_t at, const void *data, size_t bytes);

/* Sync and rename: from here on the file is there. */
cull_status cull_data_sink_commit(cull_data_sink *sink);

/* Give up what was not committed. Zeros and a committed sink are fine. */
void cull_data_sink_close(cull_data_sink *sink);

#endif
