/* fuzz/fuzz_cifar.c - any bytes as a CIFAR file: exactly its records, or a sentence. */
#include <stdlib.h>

#include "data/reader.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool             hundred = size > 0 && data[0] & 1;
    size_t           bytes = size ? size - 1 : 0;
    cull_data_source source = cull_data_source_memory("fuzz", data + (size > 0), bytes);
    cull_dataset    *set = NULL;

    if (cull_data_create("fuzz", &set) != CULL_OK) return 0;
    if ((hundred ? cull_data_cifar100_parse : cull_data_cifar10_parse)(&source, set) != CULL_OK) {
        if (cull_last_error()[0] == '\0') abort();
    } else {
        size_t record = hundred ? 3074 : 3073;
        if (set->count * record != bytes) abort();
        for (size_t i = 0; i < set->count; i++) {
            const uint8_t *from = data + 1 + (i + 1) * record - 3072;
            if (memcmp((const uint8_t *)cull_data_base(set) + i * 3072, from, 3072) != 0) abort();
            if (cull_data_labels(set)[i] != from[-1] ||
                cull_data_labels(set)[i] >= (int32_t)set->classes)
                abort();
        }
    }
    cull_data_close(set);
    return 0;
}
