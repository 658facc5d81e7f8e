/* fuzz/fuzz_safetensors.c - any bytes as weights: tensors that lie inside the file and are written
 * to an equal list, or a sentence. */
#include <stdlib.h>

#include "fuzz.h"
#include "records/safetensors.h"

static bool same_texts(const cull_texts *a, const cull_texts *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->text[i], b->text[i]) != 0) return false;
    return a->count == b->count;
}

static bool same_cards(const cull_card *a, const cull_card *b)
{
    if (a->channels != b->channels || a->height != b->height || a->width != b->width ||
        a->dtype != b->dtype || a->vocabulary != b->vocabulary || a->target != b->target ||
        a->outputs != b->outputs || !a->target_mean != !b->target_mean)
        return false;
    for (size_t c = 0; c < a->channels; c++)
        if (a->mean[c] != b->mean[c] || a->deviation[c] != b->deviation[c] || a->deviation[c] <= 0)
            return false;
    for (size_t k = 0; a->target_mean && k < a->outputs; k++)
        if (a->target_mean[k] != b->target_mean[k] || a->target_deviation[k] <= 0) return false;
    return same_texts(&a->class_names, &b->class_names) &&
           same_texts(&a->feature_names, &b->feature_names) &&
           same_texts(&a->label_names, &b->label_names);
}

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
    if (!same_cards(&tensors.card, &again.card)) abort();
    for (size_t i = 0; i < tensors.count; i++)
        if (!cull_safetensors_find(&again, tensors.tensor[i].name)) abort();
    cull_safetensors_clear(&tensors);
    cull_safetensors_clear(&again);
    cull_writer_clear(&bytes);
    return 0;
}
