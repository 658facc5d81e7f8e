/* data/inflate.c - reading what may be packed, by zlib, every promise checked. */
#include "data/inflate.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"

enum { GROWTH = 1032, SLACK = 1024 }; /* the most that deflate can grow to */

/* zlib's memory comes through our door too, so that tests can make it fail. */
static voidpf allocate(voidpf context, uInt count, uInt size)
{
    void *data = NULL;

    (void)context;
    return cull_base_alloc(count, size, "unpacking", &data) ? NULL : data;
}

static void release(voidpf context, voidpf data)
{
    (void)context;
    cull_base_free(data);
}

bool cull_data_gzip_begins(const unsigned char *bytes, size_t count)
{
    return count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

cull_status cull_data_inflate_begin(const cull_data_source *source, uint64_t at, uint64_t bytes,
                                    cull_data_packing packing, cull_data_inflate *out)
{
    cull_status status = CULL_OK;
    int         window = packing == CULL_DATA_GZIP ? MAX_WBITS + 16 : MAX_WBITS;

    out->source = source;
    out->at = at;
    out->end = at + bytes;
    out->bytes = bytes;
    out->packed = out->ended = false;
    if (packing == CULL_DATA_PLAIN) goto done;
    out->z = (z_stream){.zalloc = allocate, .zfree = release};
    if (inflateInit2(&out->z, window) != Z_OK) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    out->packed = true;
done:
    return status;
}

bool cull_data_inflate_can_hold(const cull_data_inflate *inflater, uint64_t bytes)
{
    if (!inflater->packed) return bytes <= inflater->bytes;
    return bytes <= SLACK || (bytes - SLACK) / GROWTH <= inflater->bytes;
}

static cull_status inflate_some(cull_data_inflate *f)
{
    cull_status status = CULL_OK;
    uint64_t    left = f->end - f->at;
    size_t      some = sizeof f->chunk;
    int         code = Z_OK;

    if (f->z.avail_in == 0 && left > 0) {
        if (some > left) some = (size_t)left;
        TRY(cull_data_source_read(f->source, f->at, f->chunk, some));
        f->at += some;
        left -= some;
        f->z.next_in = f->chunk;
        f->z.avail_in = (uInt)some;
    }
    code = inflate(&f->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        FAIL(CULL_BAD_FILE, "%s: the packed data is damaged", f->source->name);
    if (code == Z_BUF_ERROR && left == 0 && f->z.avail_in == 0)
        FAIL(CULL_BAD_FILE, "%s: the packed data is cut short", f->source->name);
    f->ended = code == Z_STREAM_END;
done:
    return status;
}

cull_status cull_data_inflate_read(cull_data_inflate *inflater, void *dst, size_t bytes)
{
    cull_status    status = CULL_OK;
    unsigned char *next = dst;

    if (!inflater->packed) {
        if (bytes > inflater->end - inflater->at)
            FAIL(CULL_BAD_FILE, "%s: cut short, %zu bytes are promised where %llu are left",
                 inflater->source->name, bytes, (unsigned long long)(inflater->end - inflater->at));
        TRY(cull_data_source_read(inflater->source, inflater->at, dst, bytes));
        inflater->at += bytes;
        goto done;
    }
    while (bytes > 0) {
        uInt   room = bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
        size_t got = 0;
        if (inflater->ended)
            FAIL(CULL_BAD_FILE, "%s: unpacks to fewer bytes than its header promises",
                 inflater->source->name);
        inflater->z.next_out = next;
        inflater->z.avail_out = room;
        TRY(inflate_some(inflater));
        got = room - inflater->z.avail_out;
        next += got;
        bytes -= got;
    }
done:
    return status;
}

cull_status cull_data_inflate_finish(cull_data_inflate *inflater)
{
    cull_status   status = CULL_OK;
    unsigned char spare = 0;
    uint64_t      left = 0;

    while (inflater->packed && !inflater->ended) {
        inflater->z.next_out = &spare;
        inflater->z.avail_out = 1;
        TRY(inflate_some(inflater));
        if (inflater->z.avail_out == 0)
            FAIL(CULL_BAD_FILE, "%s: unpacks to more bytes than its header promises",
                 inflater->source->name);
    }
    left = inflater->end - inflater->at + (inflater->packed ? inflater->z.avail_in : 0);
    if (left)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes too many", inflater->source->name,
             (unsigned long long)left);
done:
    return status;
}

void cull_data_inflate_end(cull_data_inflate *inflater)
{
    if (inflater->packed) (void)inflateEnd(&inflater->z);
    inflater->packed = false;
}
