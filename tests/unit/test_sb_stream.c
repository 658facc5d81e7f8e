/* tests/unit/test_sb_stream.c - Selective-Backprop as a stream: rates, queue, carry-over. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { BATCH = 64, POOL = 64 * 50 };

static float    loss[BATCH];
static uint32_t place[BATCH];

/* The places of forward batch `step`, and distinct losses for them. */
static cull_signals forward(uint64_t step)
{
    for (size_t i = 0; i < BATCH; i++) {
        place[i] = (uint32_t)((step * BATCH + i) % POOL);
        loss[i] = (float)-log(random_uniform(21, step * BATCH + i));
    }
    return (cull_signals){.count = BATCH,
                          .place = place,
                          .step = step,
                          .epoch = step * BATCH / POOL,
                          .loss = cull_vector(loss, CULL_F32, BATCH)};
}

static cull_selector *stream(const char *options)
{
    cull_setting setting = {.pool = POOL, .batch = BATCH, .seed = 4};
    return make_selector("sb-stream", options, &setting);
}

/*
 * Percentiles of distinct losses against a long queue are nearly uniform, so about 1/(beta+1)
 * are kept. The mean of ((i+.5)/n)^beta over a queue is that to 1/n^2. N tosses have standard
 * error at most sqrt(r(1-r)/N), four are allowed; the percentiles themselves, of a batch of 64
 * fresh losses in a queue of 1024, only lessen the spread.
 */
static void about_one_in_beta_plus_one_is_kept(void **state)
{
    enum { CALLS = 1000 };
    static const char *const options[] = {"beta=1", "beta=2", "beta=3", "beta=0"};
    static const double      rate[] = {1. / 2, 1. / 3, 1. / 4, 1};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cull_selector *selector = stream(options[k]);
        cull_subset    subset = {0};
        size_t         kept = 0;
        double         total = (double)CALLS * BATCH;

        for (uint64_t step = 0; step < CALLS; step++) {
            cull_signals signals = forward(step);
            assert_ok(cull_select(selector, &signals, 0, &subset));
            kept += subset.count;
        }
        assert_ok(cull_flush(selector, &subset));
        kept += subset.count;
        if (fabs((double)kept / total - rate[k]) > 4 * sqrt(rate[k] * (1 - rate[k]) / total))
            fail_msg("%s: %.4f kept, expected %.4f", options[k], (double)kept / total, rate[k]);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

/* The queue's percentile is that of the last R losses, this batch among them: checked against
 * a plain count over all losses so far, with the same coins. */
static void percentiles_are_taken_over_the_last_losses(void **state)
{
    enum { CALLS = 40, HISTORY = 100 };
    cull_selector *selector = stream("history=100 beta=2");
    cull_subset    subset = {0};
    static float   all[CALLS * BATCH];
    static uint8_t due[POOL], came[POOL];
    cull_key       key = cull_key_make(4, "sb-stream");

    (void)state;
    for (uint64_t step = 0; step < CALLS; step++) {
        cull_signals signals = forward(step);
        size_t       end = (size_t)(step + 1) * BATCH, begin = end > HISTORY ? end - HISTORY : 0;

        memcpy(all + step * BATCH, loss, sizeof loss);
        for (size_t i = 0; i < BATCH; i++) {
            double smaller = 0, equal = 0;

            for (size_t j = begin; j < end; j++) {
                smaller += all[j] < loss[i];
                equal += all[j] == loss[i];
            }
            double percentile = (smaller + 0.5 * equal) / (double)(end - begin);
            due[place[i]] = cull_key_uniform(key, step, place[i]) < pow(percentile, 2);
        }
        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < subset.count; i++) came[subset.place[i]]++;
    }
    assert_ok(cull_flush(selector, &subset));
    for (size_t i = 0; i < subset.count; i++) came[subset.place[i]]++;
    assert_memory_equal(due, came, sizeof due);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* Whole batches or nothing; rows of earlier calls are marked, the others ascend. */
static void kept_examples_carry_over_until_a_batch_is_full(void **state)
{
    cull_selector *selector = stream("beta=3");
    cull_subset    subset = {0};
    size_t         carried = 0, empty = 0;

    (void)state;
    for (uint64_t step = 0; step < 120; step++) {
        cull_signals signals = forward(step);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(0, subset.count % BATCH);
        assert_int_equal(subset.count / BATCH, subset.groups);
        empty += subset.count == 0;
        for (size_t i = 0; i < subset.count; i++) {
            assert_int_equal(i / BATCH, subset.group[i]);
            assert_true(subset.weight[i] == 1);
            if (subset.index[i] == CULL_NO_ROW)
                carried++;
            else
                assert_int_equal(place[subset.index[i]], subset.place[i]);
            if (i && subset.group[i] == subset.group[i - 1] && subset.index[i] != CULL_NO_ROW)
                assert_true(subset.index[i] > subset.index[i - 1]);
        }
    }
    assert_true(carried > 0 && empty > 60);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void what_waits_at_the_end_of_an_epoch_is_trained_in_the_next(void **state)
{
    cull_selector *selector = stream("beta=1");
    cull_subset    subset = {0};
    size_t         late = 0;

    (void)state;
    for (uint64_t step = 0; step < 52; step++) {
        cull_signals signals = forward(step);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        if (step < 50) continue;
        for (size_t i = 0; i < subset.count; i++)
            late += subset.index[i] == CULL_NO_ROW && subset.place[i] >= POOL / 2;
    }
    assert_true(late > 0);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void one_forward_batch_can_fill_several_training_batches(void **state)
{
    enum { SMALL = 8, LARGE = 40 };
    cull_setting   setting = {.pool = POOL, .batch = SMALL, .seed = 4};
    cull_selector *selector = make_selector("sb-stream", "beta=0", &setting);
    cull_subset    subset = {0};
    cull_signals   signals = forward(0);

    (void)state;
    signals.count = SMALL - 3; /* five wait */
    signals.loss = cull_vector(loss, CULL_F32, signals.count);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(0, subset.count);
    assert_int_equal(0, subset.groups);
    signals = forward(1);
    signals.count = LARGE;
    signals.loss = cull_vector(loss, CULL_F32, LARGE);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(40, subset.count); /* 45 kept: five whole batches, five wait */
    assert_int_equal(5, subset.groups);
    for (size_t i = 0; i < 40; i++) assert_int_equal(i / SMALL, subset.group[i]);
    /* Within the first group: rows 0 1 2, then the five that waited, by place. */
    for (size_t i = 0; i < SMALL; i++) {
        assert_int_equal(i < 3 ? i : CULL_NO_ROW, subset.index[i]);
        assert_int_equal(i < 3 ? BATCH + i : i - 3, subset.place[i]);
    }
    assert_ok(cull_flush(selector, &subset));
    assert_int_equal(5, subset.count);
    assert_int_equal(1, subset.groups);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(CULL_NO_ROW, subset.index[i]);
        assert_int_equal(BATCH + LARGE - 5 + i, subset.place[i]);
    }
    assert_ok(cull_flush(selector, &subset));
    assert_int_equal(0, subset.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* With "strictly smaller" none of them would ever be kept. */
static void equal_losses_still_fill_batches(void **state)
{
    enum { CALLS = 400 };
    cull_selector *selector = stream("beta=1");
    cull_subset    subset = {0};
    size_t         kept = 0;

    (void)state;
    for (uint64_t step = 0; step < CALLS; step++) {
        cull_signals signals = forward(step);

        for (size_t i = 0; i < BATCH; i++) loss[i] = 0.25f;
        assert_ok(cull_select(selector, &signals, 0, &subset));
        kept += subset.count;
    }
    /* Percentile 1/2 each: a fair coin, less at most a batch that still waits. */
    assert_true(fabs((double)kept / (CALLS * BATCH) - 0.5) <
                4 * 0.5 / sqrt(CALLS * BATCH) + 1. / CALLS);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void a_primed_first_epoch_keeps_all(void **state)
{
    cull_selector *selector = stream("prime=true beta=3");
    cull_subset    subset = {0};
    size_t         later = 0;

    (void)state;
    for (uint64_t step = 0; step < 100; step++) {
        cull_signals signals = forward(step);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        if (step >= 50) {
            later += subset.count;
            continue;
        }
        assert_int_equal(BATCH, subset.count);
        for (size_t i = 0; i < BATCH; i++) assert_int_equal(i, subset.index[i]);
    }
    assert_true(later > 0 && later < 50 * BATCH / 3);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* Unseen rows are kept, and their losses, whatever they are, join no queue. */
static void unseen_examples_are_kept_and_not_queued(void **state)
{
    cull_setting   setting = {.pool = POOL, .batch = 1, .seed = 4};
    cull_selector *selector = make_selector("sb-stream", "beta=100 history=64", &setting);
    cull_subset    subset = {0};
    uint8_t        unseen[BATCH];
    cull_signals   signals = forward(0);

    (void)state;
    memset(unseen, 1, sizeof unseen);
    for (size_t i = 0; i < BATCH; i++) loss[i] = (float)NAN;
    signals.unseen = unseen;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(BATCH, subset.count);
    memset(unseen, 0, sizeof unseen);
    for (size_t i = 0; i < BATCH; i++) loss[i] = 1; /* percentile 1/2, to the power 100 */
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(0, subset.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* A row number is no place: what carries over from a part of the pool could not be found again. */
static void a_part_of_the_pool_must_say_its_places(void **state)
{
    cull_setting   small = {.pool = BATCH, .batch = 8};
    cull_setting   run = {.pool = POOL, .batch = BATCH, .epochs = 20};
    cull_selector *part = stream(""), *whole = make_selector("sb-stream", "", &small);
    cull_selector *later = make_selector("sb-stream", "start=0.5", &run);
    cull_subset    subset = {0};
    cull_signals   signals = forward(0);

    (void)state;
    signals.place = NULL;
    assert_fails(CULL_BAD_ARGUMENT,
                 "sb-stream keeps examples by place, but 64 examples of a pool of 3200 came "
                 "without places",
                 cull_select(part, &signals, 0, &subset));
    assert_int_equal(0, subset.count);
    assert_ok(cull_flush(part, &subset));
    assert_int_equal(0, subset.count);
    assert_ok(cull_select(whole, &signals, 0, &subset));
    assert_ok(cull_select(later, &signals, 0, &subset)); /* a plain step carries nothing */
    assert_int_equal(BATCH, subset.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(part);
    cull_selector_destroy(whole);
    cull_selector_destroy(later);
}

static void a_history_shorter_than_a_batch_is_refused(void **state)
{
    cull_setting   setting = {.pool = POOL, .batch = BATCH};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_signals   signals = forward(0);

    (void)state;
    assert_fails(CULL_BAD_OPTION, "history=63 is shorter than a batch of 64",
                 try_selector("sb-stream", "history=63", &setting, &selector));
    setting.batch = 0;
    assert_fails(CULL_BAD_OPTION, "history=1024",
                 try_selector("sb-stream", "", &setting, &selector));
    setting.batch = 8;
    selector = make_selector("sb-stream", "history=32", &setting);
    assert_fails(CULL_BAD_ARGUMENT, "64 examples, but history=32",
                 cull_select(selector, &signals, 0, &subset));
    assert_fails(CULL_BAD_ARGUMENT, "not a budget of 3",
                 (signals.count = 8, signals.loss.shape[0] = 8,
                  cull_select(selector, &signals, 3, &subset)));
    cull_selector_destroy(selector);
}

static void a_warm_decision_allocates_nothing(void **state)
{
    cull_selector *selector = stream("beta=0");
    cull_subset    subset = {0};
    size_t         before = 0;

    (void)state;
    for (uint64_t step = 0; step < 60; step++) {
        cull_signals signals = forward(step);

        if (step == 2) before = cull_base_alloc_count();
        assert_ok(cull_select(selector, &signals, 0, &subset));
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(about_one_in_beta_plus_one_is_kept),
        cmocka_unit_test(percentiles_are_taken_over_the_last_losses),
        cmocka_unit_test(kept_examples_carry_over_until_a_batch_is_full),
        cmocka_unit_test(what_waits_at_the_end_of_an_epoch_is_trained_in_the_next),
        cmocka_unit_test(one_forward_batch_can_fill_several_training_batches),
        cmocka_unit_test(equal_losses_still_fill_batches),
        cmocka_unit_test(a_primed_first_epoch_keeps_all),
        cmocka_unit_test(unseen_examples_are_kept_and_not_queued),
        cmocka_unit_test(a_part_of_the_pool_must_say_its_places),
        cmocka_unit_test(a_history_shorter_than_a_batch_is_refused),
        cmocka_unit_test(a_warm_decision_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
