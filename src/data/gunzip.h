/* data/gunzip.h - a source read in order, unpacked on the way where it is gzip. */
#ifndef CULL_DATA_GUNZIP_H
#define CULL_DATA_GUNZIP_H

#include <zlib.h>

#include "data/source.h"

typedef struct cull_data_gunzip {
    const cull_data_source *source; /* borrowed */
    uint64_t                at;     /* next byte of the source */
    bool                    packed, ended;
    z_stream                z;
    unsigned char           chunk[1 << 14];
} cull_data_gunzip;

/* Look at the first bytes. End with cull_data_gunzip_end(), also after a failure. */
cull_status cull_data_gunzip_begin(const cull_data_source *source, cull_data_gunzip *out);

/* The next `bytes` of the content; CULL_BAD_FILE when it ends before. */
cull_status cull_data_gunzip_read(cull_data_gunzip *gunzip, void *dst, size_t bytes);

/* Can `bytes` in all come out of the source? Asked before they are allocated. */
bool cull_data_gunzip_can_hold(const cull_data_gunzip *gunzip, uint64_t bytes);

/* After the last byte: the content and the file end here, and the checksum is right. */
cull_status cull_data_gunzip_finish(cull_data_gunzip *gunzip);
void        cull_data_gunzip_end(cull_data_gunzip *gunzip);

#endif
