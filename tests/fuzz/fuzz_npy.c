/* fuzz/fuzz_npy.c - any bytes as a .npy file: a dense view of it all, or a sentence. */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/npy.h"
#include "fuzz.h"

/* The same bytes as texts. */
static void read_texts(const cull_data_source *source)
{
    cull_data_stream part = cull_data_part(source, 0, source->size);
    cull_tensor      view = {0};
    int64_t          sum = 0;

    if (cull_data_npy_letters(&part, &view) != CULL_OK) {
        if (view.data || cull_last_error()[0] == '\0') abort();
        return;
    }
    if (view.dims != 2 || view.dtype != CULL_I32) abort();
    for (int64_t i = 0; i < view.shape[0] * view.shape[1]; i++)
        sum += ((const int32_t *)view.data)[i];
    if (sum > INT64_MAX / 2) abort();
    cull_base_free_aligned(view.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_data_source source = cull_data_source_memory("fuzz", data, size);
    cull_data_stream part = cull_data_part(&source, 0, size);
    cull_tensor      view = {0};
    uint64_t         bytes = 0;
    unsigned char   *copy = NULL;

    read_texts(&source);
    if (cull_data_npy_read(&part, &view) != CULL_OK) {
        if (view.data || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    /* What was read can be written: every element is touched. */
    if (cull_data_npy_bytes(&view, "fuzz", &bytes) != CULL_OK || bytes > size) abort();
    copy = malloc(bytes + 1);
    if (copy) cull_data_npy_pack(&view, copy);
    if (copy && bytes && memcmp(copy, view.data, bytes) != 0) abort();
    free(copy);
    cull_base_free_aligned(view.data);
    return 0;
}
