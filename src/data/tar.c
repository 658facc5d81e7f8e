/*
 * data/tar.c - the headers of a tar archive (POSIX 1003.1, pax and ustar; GNU's long names).
 *
 *     header of 512 bytes | content, padded to 512 | header | ... | zeros
 *
 * A header of kind 'x' or 'L' says something of the file that the next one is about.
 */
#include "data/tar.h"

#include <string.h>

#include "base/alloc.h"

enum {
    BLOCK = 512,
    NAME = 100,
    SIZE_AT = 124,
    SUM_AT = 148,
    KIND_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX = 155,
    MOST_NAME = 4096,
    MOST_SAID = 1 << 20, /* bytes of an extended header */
    MOST_DIGITS = 20
};

static const uint64_t most_size = (uint64_t)1 << 62;

/* What is known of the file that the next header is about. */
struct next {
    char     name[MOST_NAME + 1];
    bool     named, sized, holes;
    uint64_t size;
};

struct walk {
    const cull_data_source *source;
    uint64_t                at; /* of the header */
    unsigned char           header[BLOCK];
    struct next             next;
};

void cull_data_tar_clear(cull_tar_list *list)
{
    cull_base_free(list->member);
    cull_base_free(list->text);
    *list = (cull_tar_list){0};
}

const char *cull_data_tar_name(const cull_tar_list *list, size_t i)
{
    return list->text + list->member[i].name;
}

static cull_status wrong(const struct walk *w, const char *what)
{
    return cull_fail(CULL_BAD_FILE, "%s: %s, in the header at byte %llu", w->source->name, what,
                     (unsigned long long)w->at);
}

/* Octal digits with spaces before and a space or zero behind, or the field is full; or GNU's form
 * for numbers beyond that: the first bit set, then the number itself. */
static bool read_octal(const unsigned char *field, size_t bytes, uint64_t *out)
{
    uint64_t value = 0;
    size_t   i = 0;

    if (field[0] & 0x80) {
        if (field[0] != 0x80) return false; /* negative, or beyond 2^88 */
        for (i = 1; i < bytes; i++) {
            if (value >> 54) return false;
            value = value << 8 | field[i];
        }
        *out = value;
        return true;
    }
    while (i < bytes && field[i] == ' ') i++;
    for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++)
        value = value << 3 | (field[i] - '0');
    if (i < bytes && field[i] != ' ' && field[i] != '\0') return false;
    *out = value;
    return true;
}

static bool is_zero(const unsigned char *header)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (header[i]) return false;
    return true;
}

/* Of all bytes, those of the sum itself as spaces; some programs took bytes for signed. */
static cull_status check_sum(const struct walk *w)
{
    uint64_t said = 0, sum = 0;
    int64_t  with_sign = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        bool          own = i >= SUM_AT && i < SUM_AT + 8;
        unsigned char byte = own ? ' ' : w->header[i];
        sum += byte;
        with_sign += (signed char)byte;
    }
    if (read_octal(w->header + SUM_AT, 8, &said) && (said == sum || (int64_t)said == with_sign))
        return CULL_OK;
    return w->at == 0 ? cull_fail(CULL_BAD_FILE, "%s: does not begin as a tar archive does",
                                  w->source->name)
                      : wrong(w, "a checksum is wrong");
}

/* ---- what is said beforehand ---- */

static cull_status take_name(struct walk *w, const char *name, size_t length)
{
    while (length && name[length - 1] == '\0') length--;
    if (length > MOST_NAME || memchr(name, '\0', length)) return wrong(w, "a name is too long");
    memcpy(w->next.name, name, length);
    w->next.name[length] = '\0';
    w->next.named = true;
    return CULL_OK;
}

static bool read_decimal(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;

    if (length == 0 || length > MOST_DIGITS) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

static cull_status take_record(struct walk *w, const char *key, size_t key_length,
                               const char *value, size_t length)
{
    cull_status status = CULL_OK;

    if (key_length == 4 && memcmp(key, "path", 4) == 0) TRY(take_name(w, value, length));
    if (key_length == 4 && memcmp(key, "size", 4) == 0) {
        if (!read_decimal(value, length, &w->next.size)) TRY(wrong(w, "a size is no number"));
        w->next.sized = true;
    }
    if (key_length >= 11 && memcmp(key, "GNU.sparse.", 11) == 0) w->next.holes = true;
done:
    return status;
}

/* "LENGTH KEY=VALUE\n", one behind the other; the length is that of all of it. */
static cull_status take_records(struct walk *w, const char *text, size_t bytes)
{
    cull_status status = CULL_OK;

    while (bytes > 0) {
        const char *space = memchr(text, ' ', bytes), *equals = NULL;
        uint64_t    length = 0;
        size_t      head = space ? (size_t)(space - text) : 0;

        if (!space || !read_decimal(text, head, &length) || length > bytes || length < head + 3 ||
            text[length - 1] != '\n')
            TRY(wrong(w, "an extended record is damaged"));
        equals = memchr(space + 1, '=', (size_t)length - head - 2);
        if (!equals) TRY(wrong(w, "an extended record is damaged"));
        TRY(take_record(w, space + 1, (size_t)(equals - space) - 1, equals + 1,
                        (size_t)(text + length - 1 - (equals + 1))));
        text += length;
        bytes -= (size_t)length;
    }
done:
    return status;
}

static cull_status take_said(struct walk *w, char kind, uint64_t size)
{
    cull_status status = CULL_OK;
    char       *text = NULL;

    if (size > MOST_SAID) TRY(wrong(w, "an extended header is too long"));
    TRY(cull_base_alloc((size_t)size, 1, "the header of an archive", &text));
    TRY(cull_data_source_read(w->source, w->at + BLOCK, text, (size_t)size));
    TRY(kind == 'L' ? take_name(w, text, (size_t)size) : take_records(w, text, (size_t)size));
done:
    cull_base_free(text);
    return status;
}

/* ---- files ---- */

static size_t length_in(const unsigned char *field, size_t bytes)
{
    const unsigned char *end = memchr(field, '\0', bytes);

    return end ? (size_t)(end - field) : bytes;
}

/* The name in the header itself, unless one was said beforehand. */
static void find_name(struct walk *w)
{
    const unsigned char *h = w->header;
    size_t               at = 0, length = length_in(h, NAME);

    if (w->next.named) return;
    if (memcmp(h + MAGIC_AT, "ustar", 6) == 0 && h[PREFIX_AT]) {
        at = length_in(h + PREFIX_AT, PREFIX);
        memcpy(w->next.name, h + PREFIX_AT, at);
        w->next.name[at++] = '/';
    }
    memcpy(w->next.name + at, h, length);
    w->next.name[at + length] = '\0';
}

static bool hides(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;

    return last[0] == '.' || last[0] == '\0';
}

static cull_status add_member(cull_tar_list *list, const char *name, cull_tar_member member)
{
    cull_status status = CULL_OK;
    size_t      length = strlen(name) + 1;

    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        TRY(cull_base_grow(room, sizeof *list->member, "an archive's list", &list->member));
        list->room = room;
    }
    if (list->text_room - list->text_size < length) {
        size_t room = 2 * list->text_room + length;
        TRY(cull_base_grow(room, 1, "an archive's list", &list->text));
        list->text_room = room;
    }
    member.name = list->text_size;
    memcpy(list->text + list->text_size, name, length);
    list->text_size += length;
    list->member[list->count++] = member;
done:
    return status;
}

static cull_status take_file(struct walk *w, uint64_t size, uint32_t archive, cull_tar_list *list)
{
    cull_status status = CULL_OK;
    const char *name = w->next.name;

    find_name(w);
    while (strncmp(name, "./", 2) == 0) name += 2;
    if (hides(name)) goto done;
    if (w->next.holes) TRY(wrong(w, "a file with holes, which are not read"));
    TRY(add_member(list, name,
                   (cull_tar_member){.at = w->at + BLOCK, .size = size, .archive = archive}));
done:
    return status;
}

/* One header; w->at moves behind what it is about. */
static cull_status take_header(struct walk *w, uint32_t archive, cull_tar_list *list)
{
    cull_status status = CULL_OK;
    char        kind = (char)w->header[KIND_AT];
    bool        said = kind == 'x' || kind == 'L', about = said || kind == 'g' || kind == 'K';
    uint64_t    size = 0;

    TRY(check_sum(w));
    if (!read_octal(w->header + SIZE_AT, 12, &size)) TRY(wrong(w, "a size is no number"));
    if (!about && w->next.sized) size = w->next.size;
    if (kind >= '1' && kind <= '6') size = 0; /* links, devices and folders have no content */
    if (size > most_size || size > w->source->size - w->at - BLOCK)
        FAIL(CULL_BAD_FILE, "%s: cut short: %llu bytes behind byte %llu are promised of %llu",
             w->source->name, (unsigned long long)size, (unsigned long long)w->at + BLOCK,
             (unsigned long long)w->source->size);
    if (said) TRY(take_said(w, kind, size));
    if (kind == 'S') TRY(wrong(w, "a file with holes, which are not read"));
    if (kind == '0' || kind == '\0' || kind == '7') TRY(take_file(w, size, archive, list));
    if (!about) w->next = (struct next){0};
    w->at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
done:
    return status;
}

/* Archives may have been put one behind the other, so that zeros end none of them. */
cull_status cull_data_tar_list(const cull_data_source *source, uint32_t archive,
                               cull_tar_list *list)
{
    cull_status  status = CULL_OK;
    struct walk *w = NULL;

    TRY(cull_base_alloc(1, sizeof *w, "an archive", &w));
    w->source = source;
    if (source->size < BLOCK)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, too short for a tar archive", source->name,
             (unsigned long long)source->size);
    while (w->at < source->size) {
        if (source->size - w->at < BLOCK)
            FAIL(CULL_BAD_FILE, "%s: cut short in the header at byte %llu", source->name,
                 (unsigned long long)w->at);
        TRY(cull_data_source_read(source, w->at, w->header, BLOCK));
        if (is_zero(w->header))
            w->at += BLOCK;
        else
            TRY(take_header(w, archive, list));
    }
done:
    cull_base_free(w);
    return status;
}
