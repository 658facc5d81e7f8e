/* fuzz/fuzz.h - what the fuzz targets share: the entry, and choices taken from the input. */
#ifndef CULL_TESTS_FUZZ_H
#define CULL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of the input not used yet; past the end come zeros. */
struct bytes {
    const uint8_t *data;
    size_t         left;
};

static inline void take_bytes(struct bytes *b, void *out, size_t count)
{
    size_t have = count < b->left ? count : b->left;

    memset(out, 0, count);
    if (have) memcpy(out, b->data, have);
    b->data += have;
    b->left -= have;
}

/* 0 .. bound-1 */
static inline size_t take_below(struct bytes *b, size_t bound)
{
    uint16_t value = 0;

    take_bytes(b, &value, sizeof value);
    return value % bound;
}

#endif
