/* fuzz/fuzz_idx.c - any bytes as a pair of idx files, plain or packed: a set, or a sentence. */
#include <stdlib.h>

#include "data/reader.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes     input = {data, size};
    size_t           cut = take_below(&input, 1 << 16);
    size_t           first = cut < input.left ? cut : input.left;
    cull_data_source files[2] = {
        cull_data_source_memory("images", input.data, first),
        cull_data_source_memory("labels", input.data + first, input.left - first)};
    cull_dataset *set = NULL;
    uint64_t      sum = 0;

    if (cull_data_create("fuzz", &set) != CULL_OK) return 0;
    if (cull_data_idx_parse(files, set) != CULL_OK) {
        if (set->count || cull_last_error()[0] == '\0') abort();
    } else {
        /* Every pixel and label is there. */
        for (size_t i = 0; i < set->count * cull_data_row(set); i++)
            sum += ((const uint8_t *)cull_data_base(set))[i];
        for (size_t i = 0; i < set->count; i++)
            if (cull_data_labels(set)[i] < 0 || cull_data_labels(set)[i] > 9) abort();
        if (sum > 255 * (uint64_t)(set->count * cull_data_row(set))) abort();
    }
    cull_data_close(set);
    return 0;
}
