/* data/unpack.c - the bytes of a zip member, inflated by zlib as they are read, CRC checked. */
#include <limits.h>

#include "base/alloc.h"
#include "data/zip.h"

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

static uint32_t add_crc(uint32_t crc, const unsigned char *data, size_t bytes)
{
    return (uint32_t)crc32_z(crc, data, bytes);
}

static cull_status read_stored(cull_data_stream *stream, void *dst, size_t bytes)
{
    cull_status       status = CULL_OK;
    cull_data_unpack *unpack = (cull_data_unpack *)stream;

    TRY(cull_data_source_read(unpack->source, unpack->at, dst, bytes));
    unpack->at += bytes;
    unpack->packed -= bytes;
    unpack->crc = add_crc(unpack->crc, dst, bytes);
done:
    return status;
}

/* One call of inflate, with fresh input when it has none. *ended: the data says it is over. */
static cull_status inflate_some(cull_data_unpack *unpack, bool *ended)
{
    cull_status status = CULL_OK;
    z_stream   *z = &unpack->z;
    int         code = Z_OK;

    if (z->avail_in == 0 && unpack->packed > 0) {
        size_t some = sizeof unpack->chunk;
        if (some > unpack->packed) some = (size_t)unpack->packed;
        TRY(cull_data_source_read(unpack->source, unpack->at, unpack->chunk, some));
        unpack->at += some;
        unpack->packed -= some;
        z->next_in = unpack->chunk;
        z->avail_in = (uInt)some;
    }
    code = inflate(z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        FAIL(CULL_BAD_FILE, "%s: the packed data is damaged", unpack->base.name);
    if (code == Z_BUF_ERROR && unpack->packed == 0 && z->avail_in == 0)
        FAIL(CULL_BAD_FILE, "%s: the packed data is cut short", unpack->base.name);
    *ended = code == Z_STREAM_END;
done:
    return status;
}

static cull_status read_deflated(cull_data_stream *stream, void *dst, size_t bytes)
{
    cull_status       status = CULL_OK;
    cull_data_unpack *unpack = (cull_data_unpack *)stream;
    unsigned char    *next = dst;
    bool              ended = false;

    while (bytes > 0) {
        uInt   room = bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
        size_t got = 0;
        unpack->z.next_out = next;
        unpack->z.avail_out = room;
        TRY(inflate_some(unpack, &ended));
        got = room - unpack->z.avail_out;
        unpack->crc = add_crc(unpack->crc, next, got);
        next += got;
        bytes -= got;
        if (ended && bytes > 0)
            FAIL(CULL_BAD_FILE, "%s: unpacks to fewer bytes than the archive says", stream->name);
    }
done:
    return status;
}

cull_status cull_data_unpack_begin(const cull_data_zip *zip, const cull_data_member *member,
                                   const char *name, cull_data_unpack *out)
{
    cull_status status = CULL_OK;

    out->base = (cull_data_stream){.name = name, .left = member->size, .read = read_stored};
    out->source = zip->source;
    out->member = member;
    out->at = member->start;
    out->packed = member->packed;
    out->crc = 0;
    out->deflated = false;
    if (member->method == 0) goto done;
    out->z = (z_stream){.zalloc = allocate, .zfree = release};
    if (inflateInit2(&out->z, -MAX_WBITS) != Z_OK) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    out->deflated = true;
    out->base.read = read_deflated;
done:
    return status;
}

/* At the last byte the end mark may have been met already, or be still to come: ask once
 * more (inflate repeats itself at its end). It must give nothing and leave nothing. */
static cull_status check_end(cull_data_unpack *unpack)
{
    cull_status   status = CULL_OK;
    unsigned char spare = 0;
    bool          ended = false;

    while (!ended) {
        unpack->z.next_out = &spare;
        unpack->z.avail_out = 1;
        TRY(inflate_some(unpack, &ended));
        if (unpack->z.avail_out == 0)
            FAIL(CULL_BAD_FILE, "%s: unpacks to more bytes than the archive says",
                 unpack->base.name);
    }
    if (unpack->z.avail_in || unpack->packed)
        FAIL(CULL_BAD_FILE, "%s: packed data left over", unpack->base.name);
done:
    return status;
}

cull_status cull_data_member_check(const cull_data_member *member, const char *name, uint32_t crc)
{
    if (crc == member->crc) return CULL_OK;
    return cull_fail(CULL_BAD_FILE, "%s: damaged: CRC-32 is %08x, the archive says %08x", name,
                     (unsigned)crc, (unsigned)member->crc);
}

cull_status cull_data_unpack_check(cull_data_unpack *unpack)
{
    cull_status status = CULL_OK;

    if (unpack->base.left)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes too many", unpack->base.name,
             (unsigned long long)unpack->base.left);
    if (unpack->deflated) TRY(check_end(unpack));
    TRY(cull_data_member_check(unpack->member, unpack->base.name, unpack->crc));
done:
    return status;
}

void cull_data_unpack_end(cull_data_unpack *unpack)
{
    if (unpack->deflated) (void)inflateEnd(&unpack->z);
    unpack->deflated = false;
}
