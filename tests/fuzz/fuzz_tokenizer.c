/* fuzz/fuzz_tokenizer.c - any bytes as a tokenizer.json: one that cuts a text into numbers it has,
 * or a sentence; and as the tokenizer_config.json beside a vocabulary. */
#include <stdlib.h>

#include "data/wordpiece_parts.h"
#include "fuzz.h"

enum { ROOM = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char    text[] = "[CLS]good Films, \xc3\xa9t\xc3\xa9 \xe4\xb8\xad [MASK] a\xff\0b";
    cull_data_source     source = cull_data_source_memory("fuzz", data, size);
    cull_wordpiece_rules rules = {0};
    cull_wordpiece      *w = NULL;
    int32_t              out[ROOM];
    size_t               count = 0, whole = 0;

    if (cull_tokenizer_config_parse(&source, &rules) != CULL_OK && cull_last_error()[0] == '\0')
        abort();
    if (cull_tokenizer_json_parse(&source, &w) != CULL_OK) {
        if (w || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    if (cull_wordpiece_encode(w, text, sizeof text - 1, ROOM, out, &count, &whole) != CULL_OK)
        abort();
    if (count < 2 || count > ROOM || whole < count) abort();
    for (size_t i = 0; i < count; i++)
        if (out[i] < 0 || (size_t)out[i] >= cull_wordpiece_count(w)) abort();
    cull_wordpiece_close(w);
    return 0;
}
