/* data/vocabulary.c - an open hash of pieces. */
#include "data/vocabulary.h"

#include <string.h>

#include "base/alloc.h"

cull_status cull_vocabulary_room(cull_vocabulary *v, size_t pieces, size_t bytes)
{
    cull_status status = CULL_OK;

    for (v->slots = 16; v->slots < 3 * pieces;) v->slots *= 2;
    TRY(cull_base_alloc(bytes, 1, "a vocabulary", &v->bytes));
    TRY(cull_base_alloc(v->slots, sizeof *v->slot, "a vocabulary", &v->slot));
done:
    return status;
}

void cull_vocabulary_clear(cull_vocabulary *v)
{
    cull_base_free(v->slot);
    cull_base_free(v->bytes);
    *v = (cull_vocabulary){0};
}

cull_piece *cull_vocabulary_slot(const cull_vocabulary *v, uint64_t hash, const char *text,
                                 size_t length)
{
    size_t at = (size_t)(hash ^ hash >> 29) & (v->slots - 1);

    while (v->slot[at].text &&
           (v->slot[at].length != length || memcmp(v->slot[at].text, text, length) != 0))
        at = (at + 1) & (v->slots - 1);
    return &v->slot[at];
}

static cull_piece *look_up(const cull_vocabulary *v, const char *text, size_t length)
{
    uint64_t hash = CULL_VOCABULARY_START;

    for (size_t i = 0; i < length; i++) hash = cull_vocabulary_on(hash, text[i]);
    return cull_vocabulary_slot(v, hash, text, length);
}

const cull_piece *cull_vocabulary_find(const cull_vocabulary *v, const char *text, size_t length)
{
    const cull_piece *slot = look_up(v, text, length);

    return slot->text ? slot : NULL;
}

void cull_vocabulary_add(cull_vocabulary *v, const char *text, size_t length, int32_t number,
                         const cull_piece **before)
{
    cull_piece *slot = look_up(v, text, length);

    *before = slot->text ? slot : NULL;
    if (*before) return;
    *slot = (cull_piece){text, length, number};
    if ((size_t)number >= v->count) v->count = (size_t)number + 1;
    if (length > v->longest) v->longest = length;
}
