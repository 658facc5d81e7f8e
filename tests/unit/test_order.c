/* tests/unit/test_order.c - properties of shuffles, choices and an epoch's batches. */
#include "data/order.h"

#include <string.h>

#include "base/alloc.h"
#include "support.h"

enum { POOL = 103, BATCH = 10 };

static void a_shuffle_is_a_permutation_decided_by_key_and_step(void **state)
{
    cull_key key = cull_key_make(5, "test");
    uint32_t a[POOL], b[POOL], seen[POOL] = {0};

    (void)state;
    for (uint32_t i = 0; i < POOL; i++) a[i] = b[i] = i;
    cull_data_shuffle(key, 1, a, POOL);
    for (size_t i = 0; i < POOL; i++) seen[a[i]]++;
    for (size_t i = 0; i < POOL; i++) assert_int_equal(1, seen[i]);
    cull_data_shuffle(key, 1, b, POOL);
    assert_memory_equal(a, b, sizeof a);
    for (uint32_t i = 0; i < POOL; i++) b[i] = i;
    cull_data_shuffle(key, 2, b, POOL);
    assert_memory_not_equal(a, b, sizeof a);
    cull_data_shuffle(key, 1, b, 0);
    cull_data_shuffle(key, 1, NULL, 0);
}

/* 24 orders of four, 24000 shuffles: each within five standard deviations of 1000. */
static void every_order_is_as_likely(void **state)
{
    cull_key key = cull_key_make(1, "test");
    size_t   seen[256] = {0};

    (void)state;
    for (uint64_t step = 0; step < 24000; step++) {
        uint32_t n[4] = {0, 1, 2, 3};
        cull_data_shuffle(key, step, n, 4);
        seen[n[0] << 6 | n[1] << 4 | n[2] << 2 | n[3]]++;
    }
    for (size_t i = 0, orders = 0; i < 256; i++) {
        if (!seen[i]) continue;
        assert_in_range(seen[i], 845, 1155);
        assert_true(++orders <= 24);
    }
}

/* 4 of 10, 10000 times: each number 4000 times, within five standard deviations. */
static void a_choice_is_ascending_distinct_and_even(void **state)
{
    cull_key key = cull_key_make(2, "test");
    size_t   seen[10] = {0};
    uint32_t scratch[10], out[10];

    (void)state;
    for (uint64_t step = 0; step < 10000; step++) {
        cull_data_choose(key, step, 10, 4, scratch, out);
        for (size_t i = 0; i < 4; i++) {
            assert_true(i == 0 || out[i] > out[i - 1]);
            seen[out[i]]++;
        }
    }
    for (size_t i = 0; i < 10; i++) assert_in_range(seen[i], 3755, 4245);
    cull_data_choose(key, 0, 10, 10, scratch, out);
    for (uint32_t i = 0; i < 10; i++) assert_int_equal(i, out[i]);
    cull_data_choose(key, 0, 10, 0, scratch, out);
}

static void batches_cover_the_pool_once(void **state)
{
    (void)state;
    for (int drop = 0; drop < 2; drop++) {
        cull_data_order order = {0};
        uint32_t        seen[POOL] = {0};
        size_t          total = 0;
        assert_ok(cull_data_order_init(&order, POOL, BATCH, drop, 3));
        cull_data_order_epoch(&order, 4, NULL, 0);
        assert_int_equal(drop ? 10 : 11, cull_data_order_batches(&order));
        for (size_t i = 0; i < cull_data_order_batches(&order); i++) {
            size_t          count = 0;
            const uint32_t *place = cull_data_order_batch(&order, i, &count);
            assert_int_equal(i == 10 ? 3 : BATCH, count);
            for (size_t j = 0; j < count; j++) assert_int_equal(1, ++seen[place[j]]);
            total += count;
        }
        assert_int_equal(drop ? 100 : POOL, total);
        cull_data_order_clear(&order);
    }
}

static void an_epoch_is_the_same_whatever_came_before(void **state)
{
    cull_data_order a = {0}, b = {0};
    size_t          before = 0;

    (void)state;
    assert_ok(cull_data_order_init(&a, POOL, BATCH, false, 3));
    assert_ok(cull_data_order_init(&b, POOL, BATCH, false, 3));
    before = cull_base_alloc_count();
    for (uint64_t epoch = 0; epoch <= 6; epoch++) cull_data_order_epoch(&a, epoch, NULL, 0);
    cull_data_order_epoch(&b, 6, NULL, 0);
    assert_int_equal(before, cull_base_alloc_count());
    assert_memory_equal(a.place, b.place, POOL * sizeof *a.place);
    cull_data_order_epoch(&b, 7, NULL, 0);
    assert_memory_not_equal(a.place, b.place, POOL * sizeof *a.place);
    cull_data_order_clear(&a);
    assert_ok(cull_data_order_init(&a, POOL, BATCH, false, 4));
    cull_data_order_epoch(&a, 7, NULL, 0);
    assert_memory_not_equal(a.place, b.place, POOL * sizeof *a.place);
    cull_data_order_clear(&a);
    cull_data_order_clear(&b);
}

static void an_epoch_may_be_over_some_places(void **state)
{
    static const uint32_t some[] = {100, 7, 55};
    cull_data_order       order = {0};
    const uint32_t       *place = NULL;
    size_t                count = 0, sum = 0;

    (void)state;
    assert_ok(cull_data_order_init(&order, POOL, BATCH, false, 3));
    cull_data_order_epoch(&order, 0, some, 3);
    assert_int_equal(1, cull_data_order_batches(&order));
    place = cull_data_order_batch(&order, 0, &count);
    assert_int_equal(3, count);
    for (size_t i = 0; i < count; i++) sum += place[i];
    assert_int_equal(162, sum);
    order.drop_short = true;
    assert_int_equal(0, cull_data_order_batches(&order));
    cull_data_order_clear(&order);
}

static void impossible_batches_are_refused(void **state)
{
    cull_data_order order = {0};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "batches of 0", cull_data_order_init(&order, 5, 0, false, 1));
    assert_fails(CULL_BAD_ARGUMENT, "batches of 6 from a pool of 5",
                 cull_data_order_init(&order, 5, 6, false, 1));
    fail_nth_alloc(1);
    assert_int_equal(CULL_NO_MEMORY, cull_data_order_init(&order, 5, 5, false, 1));
    fail_nth_alloc(0);
    cull_data_order_clear(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shuffle_is_a_permutation_decided_by_key_and_step),
        cmocka_unit_test(every_order_is_as_likely),
        cmocka_unit_test(a_choice_is_ascending_distinct_and_even),
        cmocka_unit_test(batches_cover_the_pool_once),
        cmocka_unit_test(an_epoch_is_the_same_whatever_came_before),
        cmocka_unit_test(an_epoch_may_be_over_some_places),
        cmocka_unit_test(impossible_batches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
