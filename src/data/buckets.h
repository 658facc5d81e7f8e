/*
 * data/buckets.h - examples of several lengths in batches of one: an epoch's order that puts those
 * together which are about as long.
 *
 * A bucket is the tokens of an example in parts of 64, rounded up; a batch is as long as its
 * longest, so it has 64 times its highest bucket. Where an epoch meets n examples in shuffled
 * order, unit examples a batch,
 *
 *     the last n mod unit of them stay the last: no length is left out more often than another
 *     the others are cut into windows of 50 batches; each window is sorted by bucket, examples of
 *     one bucket as they were, and cut into batches
 *     all batches are shuffled
 *
 * A function of the order, the buckets, the key and the epoch alone.
 */
#ifndef CULL_DATA_BUCKETS_H
#define CULL_DATA_BUCKETS_H

#include "data/dataset.h"

enum {
    CULL_BUCKET = 64,
    CULL_BUCKET_WINDOW = 50,
    CULL_BUCKETS = CULL_DATA_MOST_SIDE / CULL_BUCKET
};

/* The bucket of every example of a set of texts, 1 .. CULL_BUCKETS, by place: *out is a new array,
 * released with cull_base_free(); NULL where examples are no tokens. */
cull_status cull_data_buckets_make(const cull_dataset *set, uint8_t **out);

/* As above. bucket: [count] of the examples as they are met. *from: [count] which of them comes
 * where. scratch: room for another count. */
void cull_data_buckets_order(cull_key key, uint64_t epoch, const uint8_t *bucket, size_t count,
                             size_t unit, uint32_t *scratch, uint32_t *from);

/* All places by bucket, those of one bucket in their order. */
void cull_data_buckets_sort(const uint8_t *bucket, size_t count, uint32_t *from);

#endif
