/* fuzz/fuzz_npz.c - any bytes as a .npz archive; every array in it is unpacked. */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/npz.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_data_source source = cull_data_source_memory("fuzz", data, size);
    cull_data_zip    zip = {0};

    if (cull_data_zip_open(&source, &zip) != CULL_OK) {
        if (zip.member || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    for (size_t i = 0; i < zip.count; i++) {
        cull_tensor view = {0};
        if (cull_data_npz_name(&zip.member[i]) == 0) continue;
        if (cull_data_npz_read(&zip, &zip.member[i], &view) != CULL_OK && view.data) abort();
        cull_base_free_aligned(view.data);
    }
    cull_data_zip_close(&zip);
    return 0;
}
