/* tests/unit/test_loader.c - properties of the loader: threads change nothing but the clock. */
#include "data/loader.h"

#include "base/alloc.h"
#include "files.h"

enum { COUNT = 200, BATCH = 16, ROW = 3 * 8 * 8, STEPS = 60 };

static const cull_data_augment augment = {.pad = 2, .flip = true, .cutout = 3, .seed = 5};

static cull_loader_options options_for(const cull_dataset *set, unsigned threads, size_t depth)
{
    return (cull_loader_options){.set = set,
                                 .augment = &augment,
                                 .form = {CULL_F32, false},
                                 .batch = BATCH,
                                 .depth = depth,
                                 .threads = threads};
}

/* Request k: some places, of a length that changes, now and then without augmentation. */
static size_t request(uint64_t k, uint32_t *places)
{
    size_t count = 1 + (size_t)(random_uniform(7, k) * BATCH);

    for (size_t i = 0; i < count; i++)
        places[i] = (uint32_t)(COUNT * random_uniform(8, k * BATCH + i));
    return count;
}

static void submit(cull_loader *loader, uint64_t k)
{
    uint32_t places[BATCH];
    size_t   count = request(k, places);

    assert_ok(cull_data_loader_submit(loader, places, count, k / 10, k % 3 != 0));
}

/* What is taken is what was asked for, made by hand. */
static void take(cull_loader *loader, const cull_dataset *set, uint64_t k)
{
    uint32_t        places[BATCH];
    size_t          count = request(k, places);
    float           expected[BATCH * ROW];
    cull_data_batch batch = {0};

    assert_ok(cull_data_loader_take(loader, &batch));
    assert_int_equal(count, batch.count);
    assert_int_equal(k / 10, batch.epoch);
    assert_int_equal(k % 3 != 0, batch.augmented);
    assert_memory_equal(places, batch.places, count * sizeof *places);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cull_data_labels(set)[places[i]], batch.labels[i]);
    assert_ok(cull_data_transform(set, k % 3 ? &augment : NULL, (cull_data_form){CULL_F32, false},
                                  k / 10, places, count, expected));
    assert_memory_equal(expected, batch.inputs.data, count * ROW * sizeof *expected);
    assert_int_equal(0, (uintptr_t)batch.inputs.data % 64);
    assert_int_equal(count, batch.inputs.shape[0]);
}

static void batches_come_in_order_for_any_threads_and_depth(void **state)
{
    static const struct {
        unsigned threads;
        size_t   depth;
    } cases[] = {{0, 3}, {0, 5}, {1, 3}, {1, 4}, {3, 3}, {4, 7}};
    cull_dataset *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cull_loader_options options = options_for(set, cases[c].threads, cases[c].depth);
        cull_loader        *loader = NULL;
        uint64_t            asked = 0;
        size_t              before = 0;
        assert_ok(cull_data_loader_create(&options, &loader));
        assert_int_equal(cases[c].depth, cull_data_loader_room(loader));
        before = cull_base_alloc_count();
        for (uint64_t k = 0; k < STEPS; k++) {
            while (asked < STEPS && cull_data_loader_room(loader)) submit(loader, asked++);
            take(loader, set, k);
        }
        assert_int_equal(before, cull_base_alloc_count());
        cull_data_loader_destroy(loader);
    }
    cull_data_close(set);
}

static void room_counts_what_is_asked_for_and_what_is_lent(void **state)
{
    cull_dataset       *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);
    cull_loader_options options = options_for(set, 1, 4);
    cull_loader        *loader = NULL;
    uint32_t            place = 0;
    cull_data_batch     batch = {0};

    (void)state;
    assert_ok(cull_data_loader_create(&options, &loader));
    for (uint64_t k = 0; k < 4; k++) submit(loader, k);
    assert_int_equal(0, cull_data_loader_room(loader));
    assert_fails(CULL_BAD_ARGUMENT, "all 4 batches of the loader are under way or lent",
                 cull_data_loader_submit(loader, &place, 1, 0, false));
    take(loader, set, 0);
    assert_int_equal(0, cull_data_loader_room(loader)); /* the first is still in use */
    take(loader, set, 1);
    assert_int_equal(0, cull_data_loader_room(loader)); /* and beside the second too */
    take(loader, set, 2);
    assert_int_equal(1, cull_data_loader_room(loader));
    take(loader, set, 3);
    assert_int_equal(2, cull_data_loader_room(loader));
    assert_fails(CULL_BAD_ARGUMENT, "none can be taken", cull_data_loader_take(loader, &batch));
    assert_int_equal(2, cull_data_loader_room(loader));
    cull_data_loader_destroy(loader);
    cull_data_close(set);
}

/* Batches that are kept beside a copy of what they were when taken. */
struct kept {
    cull_data_batch batch;
    float           inputs[BATCH * ROW];
    int32_t         labels[BATCH];
    uint32_t        places[BATCH];
};

static void keep(cull_loader *loader, struct kept *k)
{
    assert_ok(cull_data_loader_take(loader, &k->batch));
    memcpy(k->inputs, k->batch.inputs.data, k->batch.count * ROW * sizeof *k->inputs);
    memcpy(k->labels, k->batch.labels, k->batch.count * sizeof *k->labels);
    memcpy(k->places, k->batch.places, k->batch.count * sizeof *k->places);
}

static void assert_unwritten(const struct kept *k)
{
    assert_memory_equal(k->inputs, k->batch.inputs.data, k->batch.count * ROW * sizeof *k->inputs);
    assert_memory_equal(k->labels, k->batch.labels, k->batch.count * sizeof *k->labels);
    assert_memory_equal(k->places, k->batch.places, k->batch.count * sizeof *k->places);
}

/* The loader is kept full and as busy as it can be, and now and then what it was asked for is
 * dropped, which must not move what is lent. */
static void a_batch_stays_as_it_is_until_the_next_but_one(void **state)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);

    (void)state;
    for (unsigned threads = 0; threads < 4; threads++)
        for (size_t depth = 3; depth < 7; depth++) {
            cull_loader_options options = options_for(set, threads, depth);
            cull_loader        *loader = NULL;
            struct kept         kept[2] = {{{0}, {0}, {0}, {0}}};
            uint64_t            asked = 0;

            assert_ok(cull_data_loader_create(&options, &loader));
            for (uint64_t k = 0; k < STEPS; k++) {
                if (k % 5 == 4) cull_data_loader_drop(loader);
                while (cull_data_loader_room(loader)) submit(loader, asked++);
                keep(loader, &kept[k % 2]);
                while (cull_data_loader_room(loader)) submit(loader, asked++);
                if (k % 7 == 6) cull_data_loader_drop(loader);
                if (k) assert_unwritten(&kept[(k + 1) % 2]);
                assert_unwritten(&kept[k % 2]);
            }
            cull_data_loader_destroy(loader);
        }
    cull_data_close(set);
}

/* Memory of a caller's own, counted; the nth is refused, or lies off its border by so much. */
struct owner {
    size_t made, ended, refuse, off;
};

static cull_status own_allocate(void *context, size_t bytes, void **out)
{
    struct owner *owner = context;
    char         *block = NULL;

    if (++owner->made == owner->refuse) return cull_fail(CULL_UNSUPPORTED, "no more of this");
    assert_int_equal(0, posix_memalign((void **)&block, 64, bytes + 64));
    *out = block + owner->off;
    return CULL_OK;
}

static void own_release(void *context, void *data)
{
    struct owner *owner = context;

    owner->ended++;
    free((char *)data - owner->off);
}

static void inputs_lie_in_the_memory_that_is_given(void **state)
{
    cull_dataset       *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);
    struct owner        owner = {0};
    cull_loader_options options = options_for(set, 2, 5);
    cull_loader        *loader = NULL;

    (void)state;
    options.memory = (cull_loader_memory){own_allocate, own_release, &owner};
    assert_ok(cull_data_loader_create(&options, &loader));
    for (uint64_t k = 0; k < 9; k++) {
        submit(loader, k);
        take(loader, set, k);
    }
    cull_data_loader_destroy(loader);
    assert_int_equal(5, owner.made);
    assert_int_equal(5, owner.ended);
    owner = (struct owner){.refuse = 4};
    assert_fails(CULL_UNSUPPORTED, "no more of this", cull_data_loader_create(&options, &loader));
    assert_int_equal(3, owner.ended);
    owner = (struct owner){.off = 32};
    assert_fails(CULL_BAD_ARGUMENT, "not on a border of 64 bytes",
                 cull_data_loader_create(&options, &loader));
    assert_int_equal(1, owner.ended);
    cull_data_close(set);
}

static void targets_of_any_kind_are_carried(void **state)
{
    cull_dataset       *set = NULL;
    cull_loader_options options = {0};
    cull_loader        *loader = NULL;
    cull_data_batch     batch = {0};
    uint32_t            places[] = {4, 1, 4};

    (void)state;
    assert_ok(cull_data_create("reals", &set));
    assert_ok(cull_data_shape(set, "reals", CULL_F32, 2, 1, 1));
    cull_data_aim(set, CULL_TARGET_REAL, 3);
    assert_ok(cull_data_extend(set, "reals", 5));
    memset(cull_data_base(set), 0, 5 * cull_data_row_bytes(set));
    for (size_t i = 0; i < 15; i++) ((float *)set->target.data)[i] = (float)i / 4;
    set->count = 5;
    assert_ok(cull_data_measure(set));
    options = options_for(set, 1, 3);
    options.augment = NULL;
    assert_ok(cull_data_loader_create(&options, &loader));
    assert_ok(cull_data_loader_submit(loader, places, 3, 0, false));
    assert_ok(cull_data_loader_take(loader, &batch));
    assert_null(batch.labels);
    assert_int_equal(CULL_F32, batch.target.dtype);
    assert_memory_equal(((int64_t[]){3, 3}), batch.target.shape, 2 * sizeof(int64_t));
    for (size_t i = 0; i < 9; i++)
        assert_true(((float *)batch.target.data)[i] == (float)(3 * places[i / 3] + i % 3) / 4);
    cull_data_loader_destroy(loader);
    cull_data_close(set);
}

static void a_failure_reaches_whoever_takes_and_harms_no_other(void **state)
{
    static const uint32_t bad[] = {3, COUNT};
    cull_dataset         *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);

    (void)state;
    for (unsigned threads = 0; threads < 3; threads++) {
        cull_loader_options options = options_for(set, threads, 5);
        cull_loader        *loader = NULL;
        cull_data_batch     batch = {0};
        assert_ok(cull_data_loader_create(&options, &loader));
        for (int round = 0; round < 3; round++) {
            submit(loader, 0);
            assert_ok(cull_data_loader_submit(loader, bad, 2, 0, true));
            submit(loader, 2);
            take(loader, set, 0);
            assert_fails(CULL_BAD_ARGUMENT, "random: place 200 of a pool of 200",
                         cull_data_loader_take(loader, &batch));
            assert_int_equal(0, batch.count);
            take(loader, set, 2);
        }
        cull_data_loader_destroy(loader);
    }
    cull_data_close(set);
}

static void what_was_asked_for_can_be_dropped(void **state)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);

    (void)state;
    for (unsigned threads = 0; threads < 4; threads++) {
        cull_loader_options options = options_for(set, threads, 5);
        cull_loader        *loader = NULL;
        cull_data_batch     batch = {0};
        assert_ok(cull_data_loader_create(&options, &loader));
        for (uint64_t round = 0; round < 20; round++) {
            for (uint64_t k = 0; k < 1 + round % 3; k++) submit(loader, k);
            if (round % 3 == 0) take(loader, set, 0);
            cull_data_loader_drop(loader);
            assert_int_equal(round == 0 ? 4 : 3, cull_data_loader_room(loader));
            submit(loader, round);
            take(loader, set, round);
        }
        cull_data_loader_drop(loader);
        assert_fails(CULL_BAD_ARGUMENT, "none can be taken", cull_data_loader_take(loader, &batch));
        cull_data_loader_destroy(loader);
    }
    cull_data_close(set);
}

static void it_ends_at_any_moment(void **state)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);

    (void)state;
    for (uint64_t round = 0; round < 60; round++) {
        cull_loader_options options = options_for(set, (unsigned)(round % 4), 6);
        cull_loader        *loader = NULL;
        assert_ok(cull_data_loader_create(&options, &loader));
        for (uint64_t k = 0; k < round % 7; k++) submit(loader, k);
        for (uint64_t k = 0; k < round % 7 && k < round % 3; k++) take(loader, set, k);
        cull_data_loader_destroy(loader);
    }
    cull_data_loader_destroy(NULL);
    cull_data_close(set);
}

static void rows_may_lie_channels_last_and_in_double(void **state)
{
    cull_dataset       *set = random_set(CULL_F32, COUNT, 10, 3, 8, 4);
    cull_loader_options options = options_for(set, 1, 3);
    cull_loader        *loader = NULL;
    cull_data_batch     batch = {0};
    uint32_t            places[] = {9, 8};
    double              expected[2 * 3 * 8 * 4];

    (void)state;
    options.form = (cull_data_form){CULL_F64, true};
    options.augment = NULL;
    assert_ok(cull_data_loader_create(&options, &loader));
    assert_fails(CULL_BAD_ARGUMENT, "made without augmentation",
                 cull_data_loader_submit(loader, places, 2, 0, true));
    assert_ok(cull_data_loader_submit(loader, places, 2, 0, false));
    assert_ok(cull_data_loader_take(loader, &batch));
    assert_ok(cull_data_transform(set, NULL, options.form, 0, places, 2, expected));
    assert_memory_equal(expected, batch.inputs.data, sizeof expected);
    assert_int_equal(CULL_F64, batch.inputs.dtype);
    assert_memory_equal(((int64_t[]){2, 8, 4, 3}), batch.inputs.shape, 4 * sizeof(int64_t));
    assert_memory_equal(((int64_t[]){96, 12, 3, 1}), batch.inputs.stride, 4 * sizeof(int64_t));
    cull_data_loader_destroy(loader);
    cull_data_close(set);
}

static void impossible_loaders_and_requests_are_refused(void **state)
{
    cull_dataset       *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);
    cull_loader_options good = options_for(set, 0, 3), bad = good;
    cull_loader        *loader = NULL;
    uint32_t            places[BATCH + 1] = {0};

    (void)state;
#define REFUSED(sentence, change)                                                                  \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.change;                                                                                \
        assert_fails(CULL_BAD_ARGUMENT, sentence, cull_data_loader_create(&bad, &loader));         \
    } while (0)
    REFUSED("without a data set", set = NULL);
    REFUSED("batches of 0", batch = 0);
    REFUSED("a loader of 2 batches; 3 to 1024", depth = 2);
    REFUSED("a loader of 1025 batches", depth = 1025);
    REFUSED("a loader of 257 threads", threads = 257);
    REFUSED("float32, float64 or bfloat16", form.dtype = CULL_U8);
    REFUSED("texts are needed", form.dtype = CULL_I32);
#undef REFUSED
    assert_ok(cull_data_loader_create(&good, &loader));
    assert_fails(CULL_BAD_ARGUMENT, "0 examples asked for in a batch of 1 to 16",
                 cull_data_loader_submit(loader, places, 0, 0, false));
    assert_fails(CULL_BAD_ARGUMENT, "17 examples asked for",
                 cull_data_loader_submit(loader, places, BATCH + 1, 0, false));
    cull_data_loader_destroy(loader);
    cull_data_close(set);
}

static void survives_every_allocation_failure(void **state)
{
    cull_dataset       *set = random_set(CULL_U8, COUNT, 10, 3, 8, 8);
    cull_loader_options options = options_for(set, 2, 3);
    cull_status         status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_loader *loader = NULL;
        fail_nth_alloc(n);
        status = cull_data_loader_create(&options, &loader);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_data_loader_destroy(loader);
    }
    cull_data_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_in_order_for_any_threads_and_depth),
        cmocka_unit_test(room_counts_what_is_asked_for_and_what_is_lent),
        cmocka_unit_test(a_batch_stays_as_it_is_until_the_next_but_one),
        cmocka_unit_test(inputs_lie_in_the_memory_that_is_given),
        cmocka_unit_test(targets_of_any_kind_are_carried),
        cmocka_unit_test(a_failure_reaches_whoever_takes_and_harms_no_other),
        cmocka_unit_test(what_was_asked_for_can_be_dropped),
        cmocka_unit_test(it_ends_at_any_moment),
        cmocka_unit_test(rows_may_lie_channels_last_and_in_double),
        cmocka_unit_test(impossible_loaders_and_requests_are_refused),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
