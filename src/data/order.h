/*
 * data/order.h - in which order an epoch meets the pool, cut into candidate batches.
 *
 * The order is a function of (seed, epoch) alone: Fisher-Yates with counted randomness, so
 * a resumed run meets the same batches.
 */
#ifndef CULL_DATA_ORDER_H
#define CULL_DATA_ORDER_H

#include "base/status.h"

/* Permute `count` numbers in place, by (key, step). */
void cull_data_shuffle(cull_key key, uint64_t step, uint32_t *numbers, size_t count);

/* Choose `chosen` of 0 .. count-1 uniformly, without replacement, ascending, into out.
 * scratch has room for `count`. chosen <= count. */
void cull_data_choose(cull_key key, uint64_t step, size_t count, size_t chosen, uint32_t *scratch,
                      uint32_t *out);

typedef struct cull_data_order {
    size_t    pool, batch;
    bool      drop_short; /* leave out a last batch that is not full */
    cull_key  key;
    size_t    count; /* examples of the current epoch */
    uint32_t *place; /* [count], room for pool        */
} cull_data_order;

/* 1 <= batch <= pool <= 2^32-2. Ends with cull_data_order_clear(). */
cull_status cull_data_order_init(cull_data_order *order, size_t pool, size_t batch, bool drop_short,
                                 uint64_t seed);
void        cull_data_order_clear(cull_data_order *order);

/* Begin an epoch over the whole pool, or over the `count` places given (copied; at most
 * pool). Allocates nothing. */
void cull_data_order_epoch(cull_data_order *order, uint64_t epoch, const uint32_t *places,
                           size_t count);

/* Batches of the current epoch. A subset smaller than a batch is one short batch, dropped
 * only if drop_short says so. */
size_t cull_data_order_batches(const cull_data_order *order);

/* Batch i: its places, valid until the next epoch begins, and how many they are. */
const uint32_t *cull_data_order_batch(const cull_data_order *order, size_t i, size_t *count);

#endif
