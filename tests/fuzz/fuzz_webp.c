/* fuzz/fuzz_webp.c - any bytes as a WebP picture: pixels, or a sentence. */
#include "fuzz_picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_picture(&cull_picture_webp, data, size);
}
