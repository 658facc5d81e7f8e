/* fuzz/fuzz_wordpiece.c - bytes as a vocabulary, or as a text by one: numbers that the vocabulary
 * has, a mark at both ends, the same when it is asked for less. */
#include <stdlib.h>

#include "data/wordpiece.h"
#include "fuzz.h"

enum { ROOM = 1 << 16, SOME = 9 };

static const char vocabulary[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nb\n##b\nab\n##ab\n"
                                 "c\xcc\xa7\n\xe4\xb8\xad\n.\n##\n";
static int32_t    all[ROOM], some[SOME];

static void encode(const cull_wordpiece *pieces, const char *text, size_t size)
{
    size_t count = 0, fewer = 0, whole = 0, again = 0;

    if (cull_wordpiece_encode(pieces, text, size, ROOM, all, &count, &whole) != CULL_OK) abort();
    if (cull_wordpiece_encode(pieces, text, size, SOME, some, &fewer, &again) != CULL_OK) abort();
    if (again != whole || count > whole || fewer > count || count < 2) abort();
    if (all[0] != cull_wordpiece_find(pieces, "[CLS]")) abort();
    if (all[count - 1] != cull_wordpiece_find(pieces, "[SEP]")) abort();
    for (size_t i = 0; i < count; i++)
        if (all[i] < 0 || (size_t)all[i] >= cull_wordpiece_count(pieces)) abort();
    if (memcmp(all, some, (fewer - 1) * sizeof *all) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_wordpiece *pieces = NULL;

    if (cull_wordpiece_parse("fuzz", vocabulary, sizeof vocabulary - 1, &pieces) != CULL_OK)
        abort();
    encode(pieces, (const char *)data, size);
    cull_wordpiece_close(pieces);
    pieces = NULL;
    if (cull_wordpiece_parse("fuzz", data, size, &pieces) != CULL_OK) {
        if (pieces || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    encode(pieces, "ab c [SEP]", 10);
    cull_wordpiece_close(pieces);
    return 0;
}
