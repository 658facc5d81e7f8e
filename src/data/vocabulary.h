/* data/vocabulary.h - pieces of words and their numbers, found by a hash that goes on byte by byte.
 */
#ifndef CULL_DATA_VOCABULARY_H
#define CULL_DATA_VOCABULARY_H

#include "base/status.h"

enum { CULL_VOCABULARY_MOST = 1 << 24 };

typedef struct cull_piece {
    const char *text;
    size_t      length;
    int32_t     number;
} cull_piece;

typedef struct cull_vocabulary {
    char       *bytes;   /* the pieces'                                         */
    cull_piece *slot;    /* [slots] by hash, .text NULL where empty             */
    size_t      slots;   /* a power of two, more than twice the pieces          */
    size_t      count;   /* every number is below                               */
    size_t      longest; /* bytes of a piece */
} cull_vocabulary;

/* Room for so many pieces of so many bytes together; into zeros, which clear ends, also after a
 * failure. */
cull_status cull_vocabulary_room(cull_vocabulary *v, size_t pieces, size_t bytes);
void        cull_vocabulary_clear(cull_vocabulary *v);

/* The text lies in v->bytes. *before: who has it already, and nothing is changed; NULL: nobody. */
void cull_vocabulary_add(cull_vocabulary *v, const char *text, size_t length, int32_t number,
                         const cull_piece **before);

/* NULL: there is none. */
const cull_piece *cull_vocabulary_find(const cull_vocabulary *v, const char *text, size_t length);

/* FNV-1a, so that a prefix's hash goes on to the next byte's. */
#define CULL_VOCABULARY_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t cull_vocabulary_on(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

/* The slot of a text with this hash: its own, or the empty one where it would be. */
cull_piece *cull_vocabulary_slot(const cull_vocabulary *v, uint64_t hash, const char *text,
                                 size_t length);

#endif
