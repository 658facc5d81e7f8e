/* fuzz/fuzz_picture.h - any bytes as a picture of one kind: pixels, or a sentence. */
#ifndef CULL_TESTS_FUZZ_PICTURE_H
#define CULL_TESTS_FUZZ_PICTURE_H

#include <stdlib.h>

#include "base/alloc.h"
#include "data/picture.h"
#include "fuzz.h"

/* Larger ones only take longer. */
enum { FUZZ_PIXELS = 1 << 16, FUZZ_SIDE = 24 };

/* Every pixel that was promised is there. */
static inline void read_picture(const cull_picture_kind *kind, const cull_picture_file *file,
                                const cull_picture_head *head, unsigned shrink)
{
    cull_picture p = {0};
    uint64_t     sum = 0;

    if (kind->read(file, head, shrink, &p) != CULL_OK) {
        if (p.pixels || cull_last_error()[0] == '\0') abort();
        return;
    }
    if (p.channels != (head->grey ? 1 : 3)) abort();
    if (p.width != (head->width + shrink - 1) / shrink) abort();
    if (p.height != (head->height + shrink - 1) / shrink) abort();
    for (size_t i = 0; i < p.width * p.height * p.channels; i++) sum += p.pixels[i];
    if (sum > 255 * (uint64_t)(p.width * p.height * p.channels)) abort();
    cull_base_free(p.pixels);
}

/* Two numbers choose the frame; the rest is the file. */
static inline int fuzz_picture(const cull_picture_kind *kind, const uint8_t *data, size_t size)
{
    struct bytes       input = {data, size};
    size_t             side = 1 + take_below(&input, FUZZ_SIDE), way = take_below(&input, 12);
    cull_picture_file  file = {.name = "fuzz", .data = input.data, .size = input.left};
    cull_picture_frame frame = {.channels = 3, .height = side, .width = side, .scaled = true};
    cull_picture_head  head = {0};
    uint8_t            out[3 * FUZZ_SIDE * FUZZ_SIDE];

    if (!kind->begins(file.data, file.size)) return 0;
    if (kind->look(&file, &head) != CULL_OK) {
        if (cull_last_error()[0] == '\0') abort();
        return 0;
    }
    if (head.turn < 1 || head.turn > 8 || head.width == 0 || head.height == 0) abort();
    if (head.width > CULL_PICTURE_MOST_PIXELS / head.height) abort();
    if (head.width > FUZZ_PIXELS / head.height) return 0;
    read_picture(kind, &file, &head, kind->shrinks ? 1u << way % 4 : 1);
    frame.fit = (cull_data_fit)(way % 3);
    frame.exact = way < 6;
    if (cull_data_picture_make(&file, &frame, out) != CULL_OK && cull_last_error()[0] == '\0')
        abort();
    return 0;
}

#endif
