/* base/bytes.h - saved state as bytes: a growing block to write, a checked one to read. */
#ifndef CULL_BASE_BYTES_H
#define CULL_BASE_BYTES_H

#include "base/status.h"

struct cull_writer {
    unsigned char *data;
    size_t         size, room;
};

struct cull_reader {
    const unsigned char *data;
    size_t               size, at;
};

void cull_writer_clear(cull_writer *writer);

/* 64-bit FNV-1a, to notice damage (not malice). */
uint64_t cull_base_hash(const void *data, size_t bytes);

#endif
