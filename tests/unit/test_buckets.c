/* tests/unit/test_buckets.c - an epoch's order by length, beside a plain statement of it. */
#include "base/alloc.h"
#include "base/rng.h"
#include "data/buckets.h"
#include "data/order.h"
#include "files.h"

enum { MOST = 4000 };

struct drawn {
    uint8_t  bucket[MOST];
    uint32_t from[MOST], scratch[MOST];
};

static struct drawn *draw(size_t count, size_t unit, size_t buckets, uint64_t epoch)
{
    struct drawn *d = calloc(1, sizeof *d);

    assert_non_null(d);
    for (size_t i = 0; i < count; i++)
        d->bucket[i] = (uint8_t)(1 + (size_t)(random_uniform(9, i) * (double)buckets));
    cull_data_buckets_order(cull_key_make(3, "lengths"), epoch, d->bucket, count, unit, d->scratch,
                            d->from);
    return d;
}

static const struct {
    size_t count, unit, buckets;
} sizes[] = {{1, 1, 1},     {5, 7, 3},     {7, 7, 3},    {100, 1, 8},   {101, 4, 8},
             {3200, 64, 8}, {3999, 32, 8}, {4000, 2, 2}, {3300, 66, 64}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void an_order_is_a_permutation_whose_rest_stays_the_last(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIZES; k++) {
        size_t        count = sizes[k].count, whole = count / sizes[k].unit * sizes[k].unit;
        struct drawn *d = draw(count, sizes[k].unit, sizes[k].buckets, 1);
        bool          met[MOST] = {false};

        for (size_t i = 0; i < count; i++) {
            assert_true(d->from[i] < count && !met[d->from[i]]);
            met[d->from[i]] = true;
            if (i >= whole) assert_int_equal(i, d->from[i]);
        }
        free(d);
    }
}

/* What is to come where, said as it is in the header: each window sorted by insertion, its batches
 * numbered on, and all of them drawn one after the other as a shuffle draws them. */
static void state_order(const uint8_t *bucket, size_t count, size_t unit, uint64_t epoch,
                        uint32_t *out)
{
    size_t    batches = count / unit, window = CULL_BUCKET_WINDOW * unit;
    uint32_t *sorted = calloc(count, sizeof *sorted), *batch = calloc(batches + 1, sizeof *batch);
    cull_key  key = cull_key_make(3, "lengths");

    assert_non_null(sorted);
    assert_non_null(batch);
    for (size_t i = 0; i < batches * unit; i++) {
        size_t first = i / window * window, at = i;

        for (; at > first && bucket[sorted[at - 1]] > bucket[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = (uint32_t)i;
    }
    for (size_t b = 0; b < batches; b++) batch[b] = (uint32_t)b;
    for (size_t b = batches; b > 1; b--) {
        size_t   other = (size_t)cull_base_below(key, epoch, b, b);
        uint32_t held = batch[b - 1];

        batch[b - 1] = batch[other];
        batch[other] = held;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = i < batches * unit ? sorted[batch[i / unit] * unit + i % unit] : (uint32_t)i;
    free(sorted);
    free(batch);
}

static void an_order_is_what_is_stated(void **state)
{
    uint32_t stated[MOST];

    (void)state;
    for (size_t k = 0; k < SIZES; k++)
        for (uint64_t epoch = 0; epoch < 2; epoch++) {
            struct drawn *d = draw(sizes[k].count, sizes[k].unit, sizes[k].buckets, epoch);

            state_order(d->bucket, sizes[k].count, sizes[k].unit, epoch, stated);
            assert_memory_equal(stated, d->from, sizes[k].count * sizeof *stated);
            free(d);
        }
}

static void batches_have_about_one_length_and_epochs_differ(void **state)
{
    struct drawn *a = draw(3200, 32, 8, 0), *b = draw(3200, 32, 8, 1);
    size_t        mixed = 0, padded = 0, real = 0;

    (void)state;
    for (size_t batch = 0; batch < 100; batch++) {
        uint8_t low = UINT8_MAX, high = 0;

        for (size_t i = batch * 32; i < batch * 32 + 32; i++) {
            uint8_t of = a->bucket[a->from[i]];

            low = of < low ? of : low;
            high = of > high ? of : high;
            real += of;
        }
        mixed += low != high;
        padded += (size_t)high * 32;
    }
    /* of each window's 50 batches no more are mixed than it has borders between buckets */
    assert_true(mixed <= 2 * 7);
    assert_true((double)padded < 1.05 * (double)real);
    assert_memory_not_equal(a->from, b->from, sizeof a->from);
    free(a);
    free(b);
}

static cull_dataset *texts(size_t count, size_t length)
{
    cull_dataset *set = NULL;

    assert_ok(cull_data_create("texts", &set));
    assert_ok(cull_data_shape(set, "texts", CULL_I32, 1, length, 1));
    assert_ok(cull_data_extend(set, "texts", count));
    set->vocabulary = 5;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < length; t++)
            ((int32_t *)cull_data_base(set))[i * length + t] = t <= i ? 1 : -1;
    set->count = count;
    return set;
}

static void buckets_are_tokens_in_parts_of_64(void **state)
{
    cull_dataset *set = texts(200, 200), *part = NULL;
    uint8_t      *bucket = NULL;
    uint32_t      from[200];
    size_t        at = 0;

    (void)state;
    assert_ok(cull_data_buckets_make(set, &bucket));
    for (size_t i = 0; i < 200; i++) assert_int_equal((i + 1 + 63) / 64, bucket[i]);
    cull_data_buckets_sort(bucket, 200, from);
    for (size_t i = 0; i < 200; i++) assert_int_equal(i, from[i]);
    cull_base_free(bucket);
    assert_ok(cull_data_gather(set, (const uint32_t[]){150, 3, 64, 63}, 4, &part));
    assert_ok(cull_data_buckets_make(part, &bucket)); /* by place, whatever the row */
    assert_memory_equal(bucket, ((const uint8_t[]){3, 1, 2, 1}), 4);
    cull_data_buckets_sort(bucket, 4, from);
    assert_memory_equal(from, ((const uint32_t[]){1, 3, 2, 0}), 4 * sizeof *from);
    cull_base_free(bucket);
    cull_data_close(part);
    for (cull_status status = CULL_NO_MEMORY; status != CULL_OK;) {
        fail_nth_alloc(++at);
        status = cull_data_buckets_make(set, &bucket);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : bucket == NULL);
    }
    cull_base_free(bucket);
    cull_data_close(set);
    set = random_set(CULL_U8, 4, 2, 1, 8, 8);
    assert_ok(cull_data_buckets_make(set, &bucket));
    assert_null(bucket);
    cull_data_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_a_permutation_whose_rest_stays_the_last),
        cmocka_unit_test(an_order_is_what_is_stated),
        cmocka_unit_test(batches_have_about_one_length_and_epochs_differ),
        cmocka_unit_test(buckets_are_tokens_in_parts_of_64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
