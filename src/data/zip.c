/*
 * data/zip.c - reading and writing the directory of a zip archive (APPNOTE 6.3.x).
 *
 *     local header, data | ... | central directory | [zip64 end, locator] | end, comment
 *
 * The central directory is the authority. Nothing may overlap or lie between it and the
 * end, so every byte that is read has exactly one meaning.
 */
#include "data/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/stream.h"

enum {
    LOCAL = 30,
    CENTRAL = 46,
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    MOST_NAME = 1024,
    MOST_DIRECTORY = 1 << 23,
    MOST_COMMENT = 0xffff,
    ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8
};

static const uint32_t local_mark = 0x04034b50, central_mark = 0x02014b50, end_mark = 0x06054b50,
                      end64_mark = 0x06064b50, locator_mark = 0x07064b50;
static const uint32_t in_extra = UINT32_MAX; /* a field whose value is in the zip64 extra */

static uint16_t get16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const unsigned char *p)
{
    return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

bool cull_data_zip_begins(const unsigned char *bytes, size_t count)
{
    return count >= 4 && (get32(bytes) == local_mark || get32(bytes) == end_mark);
}

/* Where the directory is, as the end of the file says. */
struct directory {
    uint64_t at, size, count;
};

/* The end record: the last one whose comment reaches exactly to the end of the file. */
static cull_status find_end(const cull_data_source *source, unsigned char end[END], uint64_t *at)
{
    cull_status    status = CULL_OK;
    size_t         tail = MOST_COMMENT + END;
    unsigned char *bytes = NULL;

    if (source->size < END)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, too short for an archive", source->name,
             (unsigned long long)source->size);
    if (tail > source->size) tail = (size_t)source->size;
    TRY(cull_base_alloc(tail, 1, "the end of an archive", &bytes));
    TRY(cull_data_source_read(source, source->size - tail, bytes, tail));
    for (size_t i = tail - END + 1; i-- > 0;) {
        if (get32(bytes + i) != end_mark || i + END + get16(bytes + i + 20) != tail) continue;
        memcpy(end, bytes + i, END);
        *at = source->size - tail + i;
        goto done;
    }
    FAIL(CULL_BAD_FILE, "%s: the archive has no end record; it may be cut short", source->name);
done:
    cull_base_free(bytes);
    return status;
}

static cull_status find_directory(const cull_data_source *source, struct directory *out)
{
    cull_status   status = CULL_OK;
    unsigned char end[END] = {0}, locator[LOCATOR] = {0}, end64[END64] = {0};
    uint64_t      at = 0, behind = 0;
    uint32_t      disks = 0;

    TRY(find_end(source, end, &at));
    behind = at;
    disks = (uint32_t)get16(end + 4) | get16(end + 6);
    *out = (struct directory){
        .count = get16(end + 10), .size = get32(end + 12), .at = get32(end + 16)};
    if (at >= LOCATOR) TRY(cull_data_source_read(source, at - LOCATOR, locator, LOCATOR));
    if (get32(locator) == locator_mark) {
        uint64_t at64 = get64(locator + 8);
        TRY(cull_data_source_read(source, at64, end64, END64));
        if (get32(end64) != end64_mark || at64 + END64 != at - LOCATOR)
            FAIL(CULL_BAD_FILE, "%s: the archive's zip64 end record is damaged", source->name);
        behind = at64;
        disks = get32(end64 + 16) | get32(end64 + 20) | get32(locator + 4);
        *out = (struct directory){
            .count = get64(end64 + 32), .size = get64(end64 + 40), .at = get64(end64 + 48)};
    }
    if (disks) FAIL(CULL_BAD_FILE, "%s: an archive over several disks", source->name);
    if (out->count > CULL_DATA_ZIP_MEMBERS || out->size > MOST_DIRECTORY)
        FAIL(CULL_BAD_FILE, "%s: %llu members in %llu bytes of directory; %d in %d at most",
             source->name, (unsigned long long)out->count, (unsigned long long)out->size,
             CULL_DATA_ZIP_MEMBERS, MOST_DIRECTORY);
    if (out->at > behind || out->size != behind - out->at)
        FAIL(CULL_BAD_FILE, "%s: the archive's directory does not end where its end record begins",
             source->name);
done:
    return status;
}

/* Fields that are all ones are, in this order, in the extra field with the number 1. */
static cull_status read_extra(const char *name, const unsigned char *extra, size_t bytes,
                              cull_data_member *member)
{
    cull_status status = CULL_OK;
    uint64_t   *field[] = {&member->size, &member->packed, &member->header};

    while (bytes >= 4 && get16(extra) != 1) {
        size_t skip = 4 + (size_t)get16(extra + 2);
        if (skip > bytes) break;
        extra += skip;
        bytes -= skip;
    }
    if (bytes >= 4 && get16(extra) == 1 && get16(extra + 2) <= bytes - 4) {
        bytes = get16(extra + 2);
        extra += 4;
    } else {
        bytes = 0;
    }
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        if (*field[i] != in_extra) continue;
        if (bytes < 8) FAIL(CULL_BAD_FILE, "%s: %s lacks its zip64 sizes", name, member->name);
        *field[i] = get64(extra);
        extra += 8;
        bytes -= 8;
    }
done:
    return status;
}

static cull_status check_name(const char *archive, const unsigned char *name, size_t length)
{
    cull_status status = CULL_OK;

    if (length == 0 || length > MOST_NAME)
        FAIL(CULL_BAD_FILE, "%s: a member's name of %zu bytes; 1 to %d are read", archive, length,
             MOST_NAME);
    for (size_t i = 0; i < length; i++)
        if (name[i] < 0x20 || name[i] == 0x7f)
            FAIL(CULL_BAD_FILE, "%s: a member's name has a control character", archive);
done:
    return status;
}

/* One entry of the central directory; *used is its length. */
static cull_status read_entry(const char *archive, const unsigned char *entry, size_t left,
                              cull_data_member *out, size_t *used)
{
    cull_status status = CULL_OK;
    size_t      name = 0, extra = 0;

    if (left < CENTRAL || get32(entry) != central_mark)
        FAIL(CULL_BAD_FILE, "%s: the archive's directory is damaged", archive);
    name = get16(entry + 28);
    extra = get16(entry + 30);
    *used = CENTRAL + name + extra + get16(entry + 32);
    if (*used > left) FAIL(CULL_BAD_FILE, "%s: the archive's directory is cut short", archive);
    TRY(check_name(archive, entry + CENTRAL, name));
    TRY(cull_base_alloc(name + 1, 1, "a member's name", &out->name));
    memcpy(out->name, entry + CENTRAL, name);
    out->method = get16(entry + 10);
    out->crc = get32(entry + 16);
    out->packed = get32(entry + 20);
    out->size = get32(entry + 24);
    out->header = get32(entry + 42);
    if (get16(entry + 8) & ENCRYPTED)
        FAIL(CULL_BAD_FILE, "%s: %s is encrypted", archive, out->name);
    if (out->method != STORED && out->method != DEFLATED)
        FAIL(CULL_BAD_FILE, "%s: %s is packed by method %d; stored and deflated are read", archive,
             out->name, out->method);
    TRY(read_extra(archive, entry + CENTRAL + name, extra, out));
    if (out->method == STORED && out->packed != out->size)
        FAIL(CULL_BAD_FILE, "%s: %s is stored, but in another size than its own", archive,
             out->name);
    if (out->method == DEFLATED && !cull_data_can_unpack(out->packed, out->size))
        FAIL(CULL_BAD_FILE, "%s: %s: %llu bytes cannot unpack to %llu", archive, out->name,
             (unsigned long long)out->packed, (unsigned long long)out->size);
done:
    return status;
}

static cull_status read_entries(cull_data_zip *zip, const struct directory *directory)
{
    cull_status    status = CULL_OK;
    const char    *archive = zip->source->name;
    unsigned char *bytes = NULL;
    size_t         at = 0, left = (size_t)directory->size, count = (size_t)directory->count;

    TRY(cull_base_alloc(left, 1, "an archive's directory", &bytes));
    TRY(cull_data_source_read(zip->source, directory->at, bytes, left));
    TRY(cull_base_alloc(count, sizeof *zip->member, "an archive's directory", &zip->member));
    zip->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t used = 0;
        TRY(read_entry(archive, bytes + at, left, &zip->member[i], &used));
        at += used;
        left -= used;
        for (size_t j = 0; j < i; j++)
            if (strcmp(zip->member[j].name, zip->member[i].name) == 0)
                FAIL(CULL_BAD_FILE, "%s: two members are called %s", archive, zip->member[i].name);
    }
    if (left) FAIL(CULL_BAD_FILE, "%s: the archive's directory has bytes to spare", archive);
done:
    cull_base_free(bytes);
    return status;
}

/* The local header says where the data begins, and must be about the same member. */
static cull_status read_local(const cull_data_zip *zip, cull_data_member *member, uint64_t limit)
{
    cull_status   status = CULL_OK;
    const char   *archive = zip->source->name;
    unsigned char local[LOCAL] = {0};
    char          name[MOST_NAME] = {0};
    size_t        length = strlen(member->name);

    if (limit < LOCAL || member->header > limit - LOCAL)
        FAIL(CULL_BAD_FILE, "%s: %s overlaps what follows it", archive, member->name);
    TRY(cull_data_source_read(zip->source, member->header, local, LOCAL));
    if (get32(local) != local_mark)
        FAIL(CULL_BAD_FILE, "%s: %s is not where the directory says", archive, member->name);
    if (get16(local + 6) & ENCRYPTED)
        FAIL(CULL_BAD_FILE, "%s: %s is encrypted", archive, member->name);
    if (get16(local + 8) != member->method || get16(local + 26) != length)
        FAIL(CULL_BAD_FILE, "%s: %s: local header and directory disagree", archive, member->name);
    TRY(cull_data_source_read(zip->source, member->header + LOCAL, name, length));
    if (memcmp(name, member->name, length) != 0)
        FAIL(CULL_BAD_FILE, "%s: %s: local header and directory disagree", archive, member->name);
    member->start = member->header + LOCAL + length + get16(local + 28);
    if (member->start > limit || member->packed > limit - member->start)
        FAIL(CULL_BAD_FILE, "%s: %s overlaps what follows it", archive, member->name);
done:
    return status;
}

static int by_offset(const void *a, const void *b)
{
    uint64_t x = ((const cull_data_member *)a)->header, y = ((const cull_data_member *)b)->header;
    return (x > y) - (x < y);
}

cull_status cull_data_zip_open(const cull_data_source *source, cull_data_zip *out)
{
    cull_status      status = CULL_OK;
    cull_data_zip    zip = {.source = source};
    struct directory directory = {0};

    TRY(find_directory(source, &directory));
    TRY(read_entries(&zip, &directory));
    if (zip.count) qsort(zip.member, zip.count, sizeof *zip.member, by_offset);
    for (size_t i = 0; i < zip.count; i++)
        TRY(read_local(&zip, &zip.member[i],
                       i + 1 < zip.count ? zip.member[i + 1].header : directory.at));
    *out = zip;
    zip = (cull_data_zip){0};
done:
    cull_data_zip_close(&zip);
    return status;
}

void cull_data_zip_close(cull_data_zip *zip)
{
    for (size_t i = 0; i < zip->count; i++) cull_base_free(zip->member[i].name);
    cull_base_free(zip->member);
    *zip = (cull_data_zip){0};
}
