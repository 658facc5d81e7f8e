/* data/inflate.h - part of a source read in order, unpacked by zlib where it is packed. */
#ifndef CULL_DATA_INFLATE_H
#define CULL_DATA_INFLATE_H

#include <zlib.h>

#include "data/source.h"

typedef enum cull_data_packing {
    CULL_DATA_PLAIN,
    CULL_DATA_GZIP,
    CULL_DATA_ZLIB
} cull_data_packing;

typedef struct cull_data_inflate {
    const cull_data_source *source;  /* borrowed */
    uint64_t                at, end; /* next byte of the source, and where the part ends */
    uint64_t                bytes;   /* of the part */
    bool                    packed, ended;
    z_stream                z;
    unsigned char           chunk[1 << 14];
} cull_data_inflate;

/* Is this how a gzip file begins? */
bool cull_data_gzip_begins(const unsigned char *bytes, size_t count);

/* Begin to read `bytes` at `at`, which lie inside the source. `out` is zeros or was ended; end
 * it with cull_data_inflate_end(), also after a failure. */
cull_status cull_data_inflate_begin(const cull_data_source *source, uint64_t at, uint64_t bytes,
                                    cull_data_packing packing, cull_data_inflate *out);

/* The next `bytes` of the content; CULL_BAD_FILE when it ends before. */
cull_status cull_data_inflate_read(cull_data_inflate *inflater, void *dst, size_t bytes);

/* Can `bytes` in all come out of the part? Asked before they are allocated. */
bool cull_data_inflate_can_hold(const cull_data_inflate *inflater, uint64_t bytes);

/* After the last byte: content and part end here, and the checksum is right. */
cull_status cull_data_inflate_finish(cull_data_inflate *inflater);
void        cull_data_inflate_end(cull_data_inflate *inflater);

#endif
