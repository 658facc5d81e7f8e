/* data/overlap.c - test examples that were trained on: looked for by hashes of their inputs. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "data/inspect.h"

enum { BLOCK = 8, BLOCKS = 8, BITS = 1 << 16 };

#define MOST_SEARCHED (1ULL << 30) /* bytes */
#define SOME          .02          /* share of them that is told */

/* Test examples that are looked for: a hash of a few bytes of each, by which most of the training
 * set's are passed over, and of the whole. */
struct wanted {
    struct pattern {
        uint64_t few, whole;
        bool     found;
    } * pattern; /* [count] by few */
    size_t  count, bytes, at[BLOCKS];
    uint8_t few[BITS / 8]; /* which low bits occur */
};

static void choose_blocks(size_t bytes, struct wanted *w)
{
    cull_key key = cull_key_make(0, "overlap");

    w->bytes = bytes;
    for (size_t i = 0; i < BLOCKS && bytes > BLOCK * BLOCKS; i++)
        w->at[i] = cull_base_below(key, 0, i, bytes - BLOCK);
}

static uint64_t hash_few(const struct wanted *w, const void *row)
{
    char few[BLOCKS][BLOCK];

    if (w->bytes <= sizeof few) return cull_base_hash(row, w->bytes);
    for (size_t i = 0; i < BLOCKS; i++) memcpy(few[i], (const char *)row + w->at[i], BLOCK);
    return cull_base_hash(few, sizeof few);
}

static int by_few(const void *a, const void *b)
{
    uint64_t x = ((const struct pattern *)a)->few, y = ((const struct pattern *)b)->few;

    return (x > y) - (x < y);
}

static cull_status list_wanted(const cull_dataset *test, struct wanted *w)
{
    cull_status             status = CULL_OK;
    const cull_data_sample *s = test->sample;
    const void             *row = NULL;
    void                   *buffer = NULL;

    choose_blocks(cull_data_row_bytes(test), w);
    w->count = s->count;
    TRY(cull_base_alloc(w->count, sizeof *w->pattern, "comparing sets", &w->pattern));
    if (!cull_data_base(test)) TRY(cull_base_alloc(1, w->bytes, "comparing sets", &buffer));
    for (size_t i = 0; i < w->count; i++) {
        uint64_t few = 0;

        TRY(cull_data_row_at(test, s->place[i], buffer, &row));
        few = hash_few(w, row);
        w->pattern[i] = (struct pattern){.few = few, .whole = s->hash[i]};
        w->few[few % BITS / 8] |= (uint8_t)(1u << few % 8);
    }
    qsort(w->pattern, w->count, sizeof *w->pattern, by_few);
done:
    cull_base_free(buffer);
    return status;
}

static void look_for(struct wanted *w, const void *row)
{
    struct pattern mine = {.few = hash_few(w, row)};
    size_t         low = 0, high = w->count;
    uint64_t       whole = 0;

    if (!(w->few[mine.few % BITS / 8] & (1u << mine.few % 8))) return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->pattern[middle].few < mine.few)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == w->count || w->pattern[low].few != mine.few) return;
    whole = cull_base_hash(row, w->bytes);
    for (; low < w->count && w->pattern[low].few == mine.few; low++)
        if (w->pattern[low].whole == whole) w->pattern[low].found = true;
}

cull_status cull_data_check_overlap(cull_dataset *test, const cull_dataset *train)
{
    cull_status    status = CULL_OK;
    struct wanted *w = NULL;
    const void    *row = NULL;
    void          *buffer = NULL;
    size_t         found = 0;
    double         bytes = (double)train->count * (double)cull_data_row_bytes(train);
    bool           lies = cull_data_base(train) != NULL;

    if ((!lies && !train->rows->class->ready) || bytes > (double)MOST_SEARCHED) goto done;
    if (!lies) TRY(cull_base_alloc(1, cull_data_row_bytes(train), "comparing sets", &buffer));
    if (!test->sample) TRY(cull_data_look(test));
    TRY(cull_base_alloc(1, sizeof *w, "comparing sets", &w));
    TRY(list_wanted(test, w));
    for (size_t i = 0; i < train->count; i++) {
        TRY(cull_data_row_at(train, i, buffer, &row));
        look_for(w, row);
    }
    for (size_t i = 0; i < w->count; i++) found += w->pattern[i].found;
    if ((double)found >= SOME * (double)w->count && found)
        TRY(cull_data_remark(test,
                             "%s: %zu of %zu test examples looked at are in the training set too, "
                             "input for input",
                             test->name, found, w->count));
done:
    if (w) cull_base_free(w->pattern);
    cull_base_free(w);
    cull_base_free(buffer);
    return status;
}
