/* data/stream.h - part of a source read in order, unpacked by zlib where it is packed. */
#ifndef CULL_DATA_STREAM_H
#define CULL_DATA_STREAM_H

#include <zlib.h>

#include "data/source.h"

/* How a part may be packed, as zlib numbers it. */
typedef enum cull_data_packing {
    CULL_DATA_DEFLATE = -MAX_WBITS,
    CULL_DATA_ZLIB = MAX_WBITS,
    CULL_DATA_GZIP = MAX_WBITS + 16
} cull_data_packing;

typedef struct cull_data_stream {
    const char             *name;    /* begins every sentence; borrowed                   */
    const cull_data_source *source;  /* borrowed                                          */
    uint64_t                at, end; /* next byte of the source, and where the part ends  */
    uint64_t                bytes;   /* of the part                                       */
    uint64_t                left;    /* of the content, where that is known before        */
    uint32_t                crc;     /* of what was read ...                              */
    bool                    summed;  /* ... where it is asked for                         */
    bool                    packed, ended;
    z_stream                z;
    unsigned char          *chunk;
} cull_data_stream;

/* `bytes` at `at`, as they are. */
cull_data_stream cull_data_part(const cull_data_source *source, uint64_t at, uint64_t bytes);

/* The part is packed, and what it unpacks to is read. `left` is not known until the caller sets it.
 * End it with cull_data_stream_end(), also after a failure; parts that are not packed need no end.
 */
cull_status cull_data_stream_unpack(cull_data_stream *stream, cull_data_packing packing);
void        cull_data_stream_end(cull_data_stream *stream);

/* All of a source, unpacked where it begins as a gzip file does; ended as above. */
cull_status cull_data_stream_open(const cull_data_source *source, cull_data_stream *out);

/* Up to `room` next bytes of content whose length is not known; none: it has ended well. */
cull_status cull_data_stream_some(cull_data_stream *stream, void *dst, size_t room, size_t *got);

/* The next `bytes` of the content; CULL_BAD_FILE when it ends before. */
cull_status cull_data_stream_read(cull_data_stream *stream, void *dst, size_t bytes);

/* The same without a copy: where they lie in a mapped file, on a border of so many bytes; NULL, and
 * nothing is read, where they do not. */
void *cull_data_stream_view(cull_data_stream *stream, size_t bytes, size_t border);

/* After the last byte: content and part end here, and zlib's checksum is right. */
cull_status cull_data_stream_finish(cull_data_stream *stream);

/* Can `bytes` more come out of the part? Asked before they are allocated. */
bool cull_data_stream_can_hold(const cull_data_stream *stream, uint64_t bytes);
bool cull_data_can_unpack(uint64_t packed, uint64_t bytes);

#endif
