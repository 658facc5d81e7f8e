/* data/order.c - Fisher-Yates by counted randomness, and an epoch's batches. */
#include "data/order.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

void cull_data_shuffle(cull_key key, uint64_t step, uint32_t *numbers, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t   j = (size_t)cull_base_below(key, step, i, i);
        uint32_t held = numbers[i - 1];
        numbers[i - 1] = numbers[j];
        numbers[j] = held;
    }
}

void cull_data_choose(cull_key key, uint64_t step, size_t count, size_t chosen, uint32_t *scratch,
                      uint32_t *out)
{
    size_t at = 0;

    memset(scratch, 0, count * sizeof *scratch);
    /* Floyd: the i-th draw is from the first count-chosen+i+1; a number met again stands for
     * the newest one. */
    for (size_t i = count - chosen; i < count; i++) {
        size_t j = (size_t)cull_base_below(key, step, i, i + 1);
        scratch[scratch[j] ? i : j] = 1;
    }
    for (size_t i = 0; i < count; i++)
        if (scratch[i]) out[at++] = (uint32_t)i;
}

cull_status cull_data_order_init(cull_data_order *order, size_t pool, size_t batch, bool drop_short,
                                 uint64_t seed)
{
    cull_status status = CULL_OK;

    *order = (cull_data_order){.pool = pool,
                               .batch = batch,
                               .drop_short = drop_short,
                               .key = cull_key_make(seed, "order")};
    if (batch < 1 || batch > pool || pool > UINT32_MAX - 1)
        FAIL(CULL_BAD_ARGUMENT, "batches of %zu from a pool of %zu", batch, pool);
    TRY(cull_base_alloc(pool, sizeof *order->place, "the order of an epoch", &order->place));
done:
    return status;
}

void cull_data_order_clear(cull_data_order *order)
{
    cull_base_free(order->place);
    *order = (cull_data_order){0};
}

void cull_data_order_epoch(cull_data_order *order, uint64_t epoch, const uint32_t *places,
                           size_t count)
{
    order->count = places ? count : order->pool;
    for (size_t i = 0; i < order->count; i++) order->place[i] = places ? places[i] : (uint32_t)i;
    cull_data_shuffle(order->key, epoch, order->place, order->count);
}

size_t cull_data_order_batches(const cull_data_order *order)
{
    return order->count / order->batch + (!order->drop_short && order->count % order->batch);
}

const uint32_t *cull_data_order_batch(const cull_data_order *order, size_t i, size_t *count)
{
    size_t first = i * order->batch;

    *count = order->count - first < order->batch ? order->count - first : order->batch;
    return order->place + first;
}
