/* fuzz/fuzz_state.c - any bytes as a run's state, also with a right checksum: the same bytes again,
 * or a sentence. */
#include <stdlib.h>

#include "fuzz.h"
#include "train/folder/run_state.h"

static void check(const uint8_t *data, size_t size)
{
    cull_run_state state = {0};
    cull_writer    bytes = {0};

    if (cull_run_state_decode("fuzz", data, size, &state) != CULL_OK) {
        if (cull_last_error()[0] == '\0') abort();
        return;
    }
    if (cull_run_state_encode(&state, &bytes) != CULL_OK) abort();
    if (bytes.size != size || memcmp(bytes.data, data, size) != 0) abort();
    cull_writer_clear(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = cull_base_hash(data, size);
    uint8_t *signed_data = malloc(size + sizeof hash);

    check(data, size);
    if (!signed_data) return 0;
    if (size) memcpy(signed_data, data, size);
    memcpy(signed_data + size, &hash, sizeof hash);
    check(signed_data, size + sizeof hash);
    free(signed_data);
    return 0;
}
