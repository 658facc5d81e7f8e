/* data/buckets.c - counting sort by length, window by window, and batches shuffled. */
#include "data/buckets.h"

#include <string.h>

#include "base/alloc.h"
#include "data/order.h"
#include "data/tokens.h"

cull_status cull_data_buckets_make(const cull_dataset *set, uint8_t **out)
{
    cull_status status = CULL_OK;
    uint8_t    *bucket = NULL;
    void       *buffer = NULL;
    const void *row = NULL;

    *out = NULL;
    if (!set->vocabulary) return CULL_OK;
    TRY(cull_base_alloc(set->count, sizeof *bucket, "lengths of texts", &bucket));
    if (!cull_data_base(set)) TRY(cull_base_alloc(1, cull_data_row_bytes(set), "a text", &buffer));
    for (size_t i = 0; i < set->count; i++) {
        size_t count = 0;

        TRY(cull_data_row_at(set, i, buffer, &row));
        count = cull_data_tokens(row, set->height);
        bucket[i] = (uint8_t)(count ? (count + CULL_BUCKET - 1) / CULL_BUCKET : 1);
    }
    *out = bucket;
    bucket = NULL;
done:
    cull_base_free(buffer);
    cull_base_free(bucket);
    return status;
}

/* Numbers first .. first+count-1 by their bucket, into from. */
static void sort(const uint8_t *bucket, size_t first, size_t count, uint32_t *from)
{
    size_t at[CULL_BUCKETS + 2] = {0};

    for (size_t i = first; i < first + count; i++) at[bucket[i] + 1]++;
    for (size_t b = 1; b < CULL_BUCKETS + 2; b++) at[b] += at[b - 1];
    for (size_t i = first; i < first + count; i++) from[at[bucket[i]]++] = (uint32_t)i;
}

void cull_data_buckets_sort(const uint8_t *bucket, size_t count, uint32_t *from)
{
    sort(bucket, 0, count, from);
}

void cull_data_buckets_order(cull_key key, uint64_t epoch, const uint8_t *bucket, size_t count,
                             size_t unit, uint32_t *scratch, uint32_t *from)
{
    size_t batches = count / unit, window = unit * CULL_BUCKET_WINDOW;

    for (size_t i = batches * unit; i < count; i++) from[i] = (uint32_t)i;
    for (size_t i = 0; i < batches; i++) from[i] = (uint32_t)i;
    cull_data_shuffle(key, epoch, from, batches);
    for (size_t at = 0; at < batches * unit; at += window)
        sort(bucket, at, batches * unit - at < window ? batches * unit - at : window, scratch + at);
    /* Batch b comes from batch from[b]: from the last on, since what is written lies behind what is
     * still to be read. */
    for (size_t b = batches; b-- > 0;)
        memcpy(from + b * unit, scratch + from[b] * unit, unit * sizeof *from);
}
