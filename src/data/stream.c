/* data/stream.c - reading what may be packed, by zlib, every promise checked. */
#include "data/stream.h"

#include <limits.h>

#include "base/alloc.h"

enum { CHUNK = 1 << 14 };

/* zlib's memory comes through our door too, so that tests can make it fail. */
static voidpf allocate_for_zlib(voidpf context, uInt count, uInt size)
{
    void *data = NULL;

    (void)context;
    return cull_base_alloc(count, size, "unpacking", &data) ? NULL : data;
}

static void release_for_zlib(voidpf context, voidpf data)
{
    (void)context;
    cull_base_free(data);
}

cull_data_stream cull_data_part(const cull_data_source *source, uint64_t at, uint64_t bytes)
{
    return (cull_data_stream){.name = source->name,
                              .source = source,
                              .at = at,
                              .end = at + bytes,
                              .bytes = bytes,
                              .left = bytes};
}

cull_status cull_data_stream_unpack(cull_data_stream *s, cull_data_packing packing)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(CHUNK, 1, "unpacking", &s->chunk));
    s->z = (z_stream){.zalloc = allocate_for_zlib, .zfree = release_for_zlib};
    if (inflateInit2(&s->z, packing) != Z_OK) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    s->packed = true;
    s->left = UINT64_MAX;
done:
    return status;
}

cull_status cull_data_stream_open(const cull_data_source *source, cull_data_stream *out)
{
    cull_status   status = CULL_OK;
    unsigned char first[2] = {0};

    *out = cull_data_part(source, 0, source->size);
    if (source->size >= sizeof first) TRY(cull_data_source_read(source, 0, first, sizeof first));
    if (first[0] == 0x1f && first[1] == 0x8b) TRY(cull_data_stream_unpack(out, CULL_DATA_GZIP));
done:
    return status;
}

void cull_data_stream_end(cull_data_stream *s)
{
    if (s->packed) (void)inflateEnd(&s->z);
    cull_base_free(s->chunk);
    *s = (cull_data_stream){0};
}

/* Deflate codes 258 bytes in 2 bits at best. */
bool cull_data_can_unpack(uint64_t packed, uint64_t bytes)
{
    return bytes <= 1024 || (bytes - 1024) / 1032 <= packed;
}

bool cull_data_stream_can_hold(const cull_data_stream *s, uint64_t bytes)
{
    return bytes <= s->left && (!s->packed || cull_data_can_unpack(s->bytes, bytes));
}

/* One call of inflate, with fresh input when it has none. */
static cull_status inflate_some(cull_data_stream *s)
{
    cull_status status = CULL_OK;
    int         code = Z_OK;

    if (s->z.avail_in == 0 && s->at < s->end) {
        size_t some = s->end - s->at < CHUNK ? (size_t)(s->end - s->at) : CHUNK;
        TRY(cull_data_source_read(s->source, s->at, s->chunk, some));
        s->at += some;
        s->z.next_in = s->chunk;
        s->z.avail_in = (uInt)some;
    }
    code = inflate(&s->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) FAIL(CULL_NO_MEMORY, "no memory for unpacking");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        FAIL(CULL_BAD_FILE, "%s: the packed data is damaged", s->name);
    if (code == Z_BUF_ERROR && s->at == s->end && s->z.avail_in == 0)
        FAIL(CULL_BAD_FILE, "%s: the packed data is cut short", s->name);
    s->ended = code == Z_STREAM_END;
done:
    return status;
}

static cull_status unpack(cull_data_stream *s, unsigned char *next, size_t bytes)
{
    cull_status status = CULL_OK;

    while (bytes > 0) {
        uInt   room = bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
        size_t got = 0;
        if (s->ended)
            FAIL(CULL_BAD_FILE, "%s: unpacks to fewer bytes than its header promises", s->name);
        s->z.next_out = next;
        s->z.avail_out = room;
        TRY(inflate_some(s));
        got = room - s->z.avail_out;
        next += got;
        bytes -= got;
    }
done:
    return status;
}

cull_status cull_data_stream_read(cull_data_stream *s, void *dst, size_t bytes)
{
    cull_status status = CULL_OK;

    if (bytes > s->left)
        FAIL(CULL_BAD_FILE, "%s: cut short, %zu bytes are promised where %llu are left", s->name,
             bytes, (unsigned long long)s->left);
    if (s->packed) {
        TRY(unpack(s, dst, bytes));
    } else {
        TRY(cull_data_source_read(s->source, s->at, dst, bytes));
        s->at += bytes;
    }
    s->left -= bytes;
    if (s->summed) s->crc = (uint32_t)crc32_z(s->crc, dst, bytes);
done:
    return status;
}

cull_status cull_data_stream_some(cull_data_stream *s, void *dst, size_t room, size_t *got)
{
    cull_status status = CULL_OK;

    *got = 0;
    if (!s->packed) {
        *got = s->left < room ? (size_t)s->left : room;
        TRY(cull_data_stream_read(s, dst, *got));
    }
    while (s->packed && !s->ended && *got < room) {
        size_t more = room - *got < UINT_MAX ? room - *got : UINT_MAX;
        s->z.next_out = (unsigned char *)dst + *got;
        s->z.avail_out = (uInt)more;
        TRY(inflate_some(s));
        *got += more - s->z.avail_out;
    }
    if (*got == 0) TRY(cull_data_stream_finish(s));
done:
    return status;
}

void *cull_data_stream_view(cull_data_stream *s, size_t bytes, size_t border)
{
    unsigned char *data = s->source->map;

    if (!data || s->packed || !bytes || bytes > s->left) return NULL;
    data += s->at;
    if ((uintptr_t)data % border) return NULL;
    s->at += bytes;
    s->left -= bytes;
    if (s->summed) s->crc = (uint32_t)crc32_z(s->crc, data, bytes);
    return data;
}

cull_status cull_data_stream_finish(cull_data_stream *s)
{
    cull_status   status = CULL_OK;
    unsigned char spare = 0;
    uint64_t      over = 0;

    while (s->packed && !s->ended) {
        s->z.next_out = &spare;
        s->z.avail_out = 1;
        TRY(inflate_some(s));
        if (s->z.avail_out == 0)
            FAIL(CULL_BAD_FILE, "%s: unpacks to more bytes than its header promises", s->name);
    }
    over = s->end - s->at + s->z.avail_in;
    if (over) FAIL(CULL_BAD_FILE, "%s: %llu bytes too many", s->name, (unsigned long long)over);
done:
    return status;
}
