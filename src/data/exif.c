/*
 * data/exif.c - the one thing read of EXIF: which way up a picture is.
 *
 * A TIFF file in small: "II" or "MM" (the order of bytes), 42, where the first directory lies;
 * there a count and entries of 12 bytes: tag, type, number of values, values.
 */
#include <string.h>

#include "data/picture.h"

enum { TIFF = 42, ORIENTATION = 0x112, SHORT = 3, ENTRY = 12 };

struct block {
    const unsigned char *data;
    size_t               size;
    bool                 big; /* the large end first */
};

/* A number of 2 or 4 bytes; 0 where they are not all there. */
static uint32_t number(const struct block *b, size_t at, size_t bytes)
{
    uint32_t value = 0;

    if (at > b->size || bytes > b->size - at) return 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint32_t)b->data[at + i] << 8 * (b->big ? bytes - 1 - i : i);
    return value;
}

unsigned cull_data_exif_turn(const unsigned char *data, size_t size)
{
    static const char prefix[] = "Exif\0"; /* and its ending zero */
    struct block      b = {data, size, false};
    size_t            at = 0, entries = 0;

    if (size >= sizeof prefix && memcmp(data, prefix, sizeof prefix) == 0) {
        b.data += sizeof prefix;
        b.size -= sizeof prefix;
    }
    if (b.size < 8 || (memcmp(b.data, "II", 2) != 0 && memcmp(b.data, "MM", 2) != 0)) return 1;
    b.big = b.data[0] == 'M';
    if (number(&b, 2, 2) != TIFF) return 1;
    at = number(&b, 4, 4);
    entries = number(&b, at, 2);
    for (size_t i = 0; i < entries; i++) {
        size_t   entry = at + 2 + i * ENTRY;
        uint32_t turn = 0;

        if (number(&b, entry, 2) != ORIENTATION) continue;
        if (number(&b, entry + 2, 2) != SHORT || number(&b, entry + 4, 4) != 1) return 1;
        turn = number(&b, entry + 8, 2);
        return turn >= 1 && turn <= 8 ? turn : 1;
    }
    return 1;
}
