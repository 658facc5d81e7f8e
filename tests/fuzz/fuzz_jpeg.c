/* fuzz/fuzz_jpeg.c - any bytes as a JPEG picture: pixels, or a sentence. */
#include "fuzz_picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_picture(&cull_picture_jpeg, data, size);
}
