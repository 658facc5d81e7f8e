/* fuzz/fuzz_svhn.c - any bytes as SVHN's .mat file: a set, or a sentence. */
#include <stdlib.h>

#include "data/reader.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_data_source source = cull_data_source_memory("fuzz", data, size);
    cull_dataset    *set = NULL;
    uint64_t         sum = 0;

    if (cull_data_create("fuzz", &set) != CULL_OK) return 0;
    if (cull_data_svhn_parse(&source, set) != CULL_OK) {
        if (set->count || cull_last_error()[0] == '\0') abort();
    } else {
        if (set->count == 0) abort();
        for (size_t i = 0; i < set->count * 3072; i++)
            sum += ((const uint8_t *)cull_data_base(set))[i];
        for (size_t i = 0; i < set->count; i++)
            if (cull_data_labels(set)[i] < 0 || cull_data_labels(set)[i] > 9) abort();
        if (sum > 255 * (uint64_t)(set->count * 3072)) abort();
    }
    cull_data_close(set);
    return 0;
}
