/* base/bytes.c - the writer and reader behind save and restore. */
#include "base/bytes.h"

#include <string.h>

#include "base/alloc.h"

cull_status cull_write(cull_writer *writer, const void *data, size_t bytes)
{
    cull_status status = CULL_OK;

    if (bytes > SIZE_MAX / 4 - writer->size) FAIL(CULL_NO_MEMORY, "no memory for a saved state");
    if (writer->size + bytes > writer->room) {
        size_t room = (writer->size + bytes) * 2;
        TRY(cull_base_grow(room, 1, "a saved state", &writer->data));
        writer->room = room;
    }
    if (bytes) memcpy(writer->data + writer->size, data, bytes);
    writer->size += bytes;
done:
    return status;
}

cull_status cull_read(cull_reader *reader, void *data, size_t bytes)
{
    if (bytes > reader->size - reader->at)
        return cull_fail(CULL_BAD_STATE, "saved state ends at byte %zu, %zu more expected",
                         reader->size, bytes);
    if (bytes) memcpy(data, reader->data + reader->at, bytes);
    reader->at += bytes;
    return CULL_OK;
}

void cull_writer_clear(cull_writer *writer)
{
    cull_base_free(writer->data);
    *writer = (cull_writer){0};
}

uint64_t cull_base_hash(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t             hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++) {
        hash ^= p[i];
        hash *= 0x100000001b3u;
    }
    return hash;
}
