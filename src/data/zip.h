/* data/zip.h - zip archives: what members there are, and where each lies. */
#ifndef CULL_DATA_ZIP_H
#define CULL_DATA_ZIP_H

#include "data/sink.h"
#include "data/source.h"

enum { CULL_DATA_ZIP_MEMBERS = 4096 }; /* most in one archive */

typedef struct cull_data_member {
    char    *name;
    uint64_t packed, size;  /* bytes in the archive, and unpacked       */
    uint64_t header, start; /* offsets of its local header and its data */
    uint32_t crc;
    uint16_t method;
} cull_data_member;

typedef struct cull_data_zip {
    const cull_data_source *source; /* borrowed */
    cull_data_member       *member; /* [count], in the order they lie in the file */
    size_t                  count;
} cull_data_zip;

/* Does a file that begins like this claim to be an archive? */
bool cull_data_zip_begins(const unsigned char *bytes, size_t count);

/* Read and check the directory and every local header; no member's data yet. */
cull_status cull_data_zip_open(const cull_data_source *source, cull_data_zip *out);
void        cull_data_zip_close(cull_data_zip *zip);

/* Writing: begin a stored member, whose `size` bytes the caller then writes to the sink;
 * after the last member, the directory. header and start are filled in. */
cull_status cull_data_zip_begin_member(cull_data_sink *sink, cull_data_member *member);

/* A member's checksum, where it was not known when it began. Not for devices and pipes. */
cull_status cull_data_zip_patch_crc(cull_data_sink *sink, const cull_data_member *member);
cull_status cull_data_zip_finish(cull_data_sink *sink, const cull_data_member *members,
                                 size_t count);

#endif
