/* data/zip_write.c - writing zip archives: stored members, zip64 fields throughout, no dates. */
#include <string.h>

#include "base/alloc.h"
#include "data/zip.h"

enum { VERSION = 45, UTF8 = 1 << 11, DATE = 1 << 5 | 1, MOST_FIXED = 64, CRC_AT = 14 };

/* The fields of a record, one after the other. */
struct record {
    unsigned char bytes[MOST_FIXED * 2];
    size_t        size;
};

static void put(struct record *r, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) r->bytes[r->size++] = (unsigned char)(value >> 8 * i);
}

/* A member's local header, or its entry of the directory. Sizes and place stand behind the name,
 * where they have eight bytes. */
static cull_status write_member(cull_data_sink *sink, const cull_data_member *member, bool entry)
{
    cull_status   status = CULL_OK;
    struct record r = {0}, extra = {0};

    put(&extra, 1, 2);
    put(&extra, entry ? 24 : 16, 2);
    put(&extra, member->size, 8);
    put(&extra, member->size, 8);
    if (entry) put(&extra, member->header, 8);
    put(&r, entry ? 0x02014b50 : 0x04034b50, 4);
    if (entry) put(&r, VERSION | 3 << 8, 2); /* made on Unix */
    put(&r, VERSION, 2);
    put(&r, UTF8, 2);
    put(&r, 0, 2);    /* stored */
    put(&r, 0, 2);    /* midnight ... */
    put(&r, DATE, 2); /* ... of 1980-01-01 */
    put(&r, member->crc, 4);
    put(&r, UINT32_MAX, 4);
    put(&r, UINT32_MAX, 4);
    put(&r, strlen(member->name), 2);
    put(&r, extra.size, 2);
    if (entry) {
        put(&r, 0, 2);                       /* comment               */
        put(&r, 0, 2);                       /* disk                  */
        put(&r, 0, 2);                       /* internal attributes   */
        put(&r, (uint64_t)0100644 << 16, 4); /* a plain file, rw-r--r-- */
        put(&r, UINT32_MAX, 4);
    }
    TRY(cull_data_sink_write(sink, r.bytes, r.size));
    TRY(cull_data_sink_write(sink, member->name, strlen(member->name)));
    TRY(cull_data_sink_write(sink, extra.bytes, extra.size));
done:
    return status;
}

cull_status cull_data_zip_begin_member(cull_data_sink *sink, cull_data_member *member)
{
    cull_status status = CULL_OK;

    member->header = sink->at;
    TRY(write_member(sink, member, false));
    member->start = sink->at;
done:
    return status;
}

cull_status cull_data_zip_patch_crc(cull_data_sink *sink, const cull_data_member *member)
{
    struct record r = {0};

    put(&r, member->crc, 4);
    return cull_data_sink_patch(sink, member->header + CRC_AT, r.bytes, r.size);
}

cull_status cull_data_zip_finish(cull_data_sink *sink, const cull_data_member *members,
                                 size_t count)
{
    cull_status   status = CULL_OK;
    struct record r = {0};
    uint64_t      start = sink->at, end = 0;

    for (size_t i = 0; i < count; i++) TRY(write_member(sink, &members[i], true));
    end = sink->at;
    put(&r, 0x06064b50, 4);
    put(&r, 44, 8); /* bytes of this record that follow */
    put(&r, VERSION | 3 << 8, 2);
    put(&r, VERSION, 2);
    put(&r, 0, 4);
    put(&r, 0, 4);
    put(&r, count, 8);
    put(&r, count, 8);
    put(&r, end - start, 8);
    put(&r, start, 8);
    put(&r, 0x07064b50, 4);
    put(&r, 0, 4);
    put(&r, end, 8);
    put(&r, 1, 4);
    put(&r, 0x06054b50, 4);
    put(&r, 0, 4);
    put(&r, UINT16_MAX, 2);
    put(&r, UINT16_MAX, 2);
    put(&r, UINT32_MAX, 4);
    put(&r, UINT32_MAX, 4);
    put(&r, 0, 2);
    TRY(cull_data_sink_write(sink, r.bytes, r.size));
done:
    return status;
}
