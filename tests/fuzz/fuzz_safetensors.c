/* fuzz/fuzz_safetensors.c - any bytes as weights: tensors that lie inside the file and are written
 * to an equal list, or a sentence. */
#include <stdlib.h>

#include "fuzz.h"
#include "records/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_safetensors tensors = {0}, again = {0};
    cull_writer      bytes = {0};

    if (cull_safetensors_parse("fuzz", data, size, &tensors) != CULL_OK) {
        if (tensors.tensor || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    /* Every byte of every tensor is touched. */
    if (cull_safetensors_encode(tensors.tensor, tensors.count, "fuzz", &tensors.card, &bytes) !=
        CULL_OK)
        abort();
    if (cull_safetensors_parse("again", bytes.data, bytes.size, &again) != CULL_OK) abort();
    if (tensors.count != again.count) abort();
    if (tensors.card.channels != again.card.channels ||
        tensors.card.class_names.count != again.card.class_names.count)
        abort();
    for (size_t c = 0; c < tensors.card.channels; c++)
        if (tensors.card.mean[c] != again.card.mean[c]) abort();
    for (size_t i = 0; i < tensors.count; i++)
        if (!cull_safetensors_find(&again, tensors.tensor[i].name)) abort();
    cull_safetensors_clear(&tensors);
    cull_safetensors_clear(&again);
    cull_writer_clear(&bytes);
    return 0;
}
