/* tests/unit/test_infobatch.c - InfoBatch: unbiased sums, the tail, the unseen. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { POOL = 200 };

static double loss[POOL];

static cull_signals pool_at(uint64_t epoch)
{
    return (cull_signals){.count = POOL, .epoch = epoch};
}

static cull_selector *trained_once(const char *options, uint64_t epochs)
{
    cull_setting   setting = {.pool = POOL, .batch = 20, .epochs = epochs, .seed = 9};
    cull_selector *selector = make_selector("infobatch", options, &setting);
    cull_signals   trained = pool_at(0);

    for (size_t i = 0; i < POOL; i++) loss[i] = exp(random_normal(2, i));
    trained.loss = cull_vector(loss, CULL_F64, POOL);
    assert_ok(cull_observe(selector, &trained));
    return selector;
}

static double mean_loss(void)
{
    double sum = 0;
    for (size_t i = 0; i < POOL; i++) sum += loss[i];
    return sum / POOL;
}

/*
 * The weighted sum of the kept losses estimates the sum of all. One epoch's estimate has
 * variance sum over the easy of l^2 r/(1-r) (a coin of probability 1-r at weight 1/(1-r)), so
 * the mean over E epochs may be off by 4.5 sqrt(that / E).
 */
static void the_weighted_sum_of_losses_is_unbiased(void **state)
{
    enum { EPOCHS = 4000 };
    static const char *const options[] = {"r=0.5 delta=1", "r=0.8 delta=1"};
    static const double      r[] = {0.5, 0.8};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_selector *selector = trained_once(options[k], 0);
        cull_subset    subset = {0};
        double         sum = 0, variance = 0, estimate = 0, mean = mean_loss();

        for (size_t i = 0; i < POOL; i++) {
            sum += loss[i];
            if (loss[i] < mean) variance += loss[i] * loss[i] * r[k] / (1 - r[k]);
        }
        for (uint64_t epoch = 1; epoch <= EPOCHS; epoch++) {
            cull_signals signals = pool_at(epoch);

            assert_ok(cull_select(selector, &signals, 0, &subset));
            for (size_t i = 0; i < subset.count; i++) {
                bool easy = loss[subset.index[i]] < mean;

                assert_true(subset.weight[i] == (easy ? 1 / (1 - r[k]) : 1));
                estimate += subset.weight[i] * loss[subset.index[i]] / EPOCHS;
            }
        }
        assert_true(variance > 0);
        assert_true(fabs(estimate - sum) < 4.5 * sqrt(variance / EPOCHS));
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

/* Which of the easy stay changes from epoch to epoch; the hard always do. */
static void easy_examples_are_left_out_by_independent_coins(void **state)
{
    enum { EPOCHS = 2000 };
    cull_selector *selector = trained_once("delta=1", 0);
    cull_subset    subset = {0};
    size_t         kept[POOL] = {0}, both = 0, easy[2] = {0}, easies = 0;

    (void)state;
    for (size_t i = 0; i < POOL; i++)
        if (loss[i] < mean_loss() && easies < 2) easy[easies++] = i;
    for (uint64_t epoch = 1; epoch <= EPOCHS; epoch++) {
        cull_signals signals = pool_at(epoch);
        unsigned     seen = 0;

        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < subset.count; i++) {
            kept[subset.index[i]]++;
            seen += subset.index[i] == easy[0] || subset.index[i] == easy[1];
        }
        both += seen == 2;
    }
    for (size_t i = 0; i < POOL; i++) {
        if (loss[i] < mean_loss())
            assert_true(fabs((double)kept[i] / EPOCHS - 0.5) < 4.5 * 0.5 / sqrt(EPOCHS));
        else
            assert_int_equal(EPOCHS, kept[i]);
    }
    assert_true(fabs((double)both / EPOCHS - 0.25) < 4.5 * sqrt(.25 * .75 / EPOCHS));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void the_last_epochs_use_everything_at_weight_one(void **state)
{
    static const struct {
        const char *options;
        uint64_t    epochs, tail;
    } cases[] = {
        {"", 8, 7},        {"", 10, 8}, /* .875 * 10 = 8.75: the last 1.25 epochs are two */
        {"", 1, 0},        {"delta=0.29", 100, 29}, /* .29 * 100 is 28.99... */
        {"delta=0", 5, 0}, {"delta=1", 5, UINT64_MAX}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cull_selector *selector = trained_once(cases[k].options, cases[k].epochs);
        cull_subset    subset = {0};
        cull_needs     needs = {0};

        for (uint64_t epoch = 0; epoch < cases[k].epochs; epoch++) {
            cull_signals signals = pool_at(epoch);

            assert_ok(cull_selector_needs(selector, epoch * 10, epoch, &needs));
            assert_int_equal(epoch < cases[k].tail ? CULL_SELECT_POOL : CULL_TRAIN_ALL,
                             needs.action);
            assert_int_equal(0, needs.signals);
            assert_int_equal(CULL_SIGNAL_LOSS, needs.observe);
            assert_int_equal(POOL, needs.candidates);
            assert_ok(cull_select(selector, &signals, 0, &subset));
            if (epoch < cases[k].tail) {
                assert_true(subset.count < POOL);
                continue;
            }
            assert_int_equal(POOL, subset.count);
            for (size_t i = 0; i < POOL; i++) assert_true(subset.weight[i] == 1);
        }
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void examples_never_trained_stay_and_the_last_loss_counts(void **state)
{
    cull_setting   setting = {.pool = 6, .batch = 3, .epochs = 1000, .seed = 9};
    cull_selector *selector = make_selector("infobatch", "r=0.99", &setting);
    cull_subset    subset = {0};
    uint32_t       place[] = {0, 1, 2, 3};
    double         before[] = {9, 9, 1, 1}, after[] = {1, 1, 9, 9};
    cull_signals   trained = {.count = 4, .place = place}, pool = {.count = 6};
    size_t         kept[6] = {0};

    (void)state;
    assert_ok(cull_select(selector, &pool, 0, &subset)); /* nothing known: everything */
    assert_int_equal(6, subset.count);
    trained.loss = cull_vector(before, CULL_F64, 4);
    assert_ok(cull_observe(selector, &trained));
    trained.loss = cull_vector(after, CULL_F64, 4);
    trained.epoch = 1;
    assert_ok(cull_observe(selector, &trained));
    for (pool.epoch = 2; pool.epoch < 202; pool.epoch++) {
        assert_ok(cull_select(selector, &pool, 0, &subset));
        for (size_t i = 0; i < subset.count; i++) kept[subset.index[i]]++;
    }
    for (size_t i = 0; i < 6; i++) {
        if (i < 2)
            assert_in_range(kept[i], 0, 20); /* one in a hundred */
        else
            assert_int_equal(200, kept[i]);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* The mean of equal losses, rounded, may lie above them all. */
static void equal_losses_are_not_below_their_mean(void **state)
{
    cull_setting   setting = {.pool = POOL, .epochs = 100};
    cull_selector *selector = make_selector("infobatch", "", &setting);
    cull_subset    subset = {0};
    cull_signals   signals = pool_at(0);

    (void)state;
    for (double value = 0.1; value < 1; value += 0.1) {
        for (size_t i = 0; i < POOL; i++) loss[i] = value;
        signals.loss = cull_vector(loss, CULL_F64, POOL);
        assert_ok(cull_observe(selector, &signals));
        signals.epoch++;
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(POOL, subset.count);
        assert_true(subset.weight[0] == 1);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* A window of epochs, every other one of it: the others keep all, and are learned from. */
static void plain_epochs_keep_everything_and_are_observed(void **state)
{
    static const bool selects[] = {false, false, true, false, true, false, false, false};
    cull_selector    *selector = trained_once("r=0.99 delta=1 start=0.25 end=0.75 every=2", 8);
    cull_subset       subset = {0};
    cull_needs        needs = {0};

    (void)state;
    for (uint64_t epoch = 0; epoch < 8; epoch++) {
        cull_signals signals = pool_at(epoch);

        assert_ok(cull_selector_needs(selector, 10 * epoch, epoch, &needs));
        assert_int_equal(selects[epoch] ? CULL_SELECT_POOL : CULL_TRAIN_ALL, needs.action);
        assert_int_equal(CULL_SIGNAL_LOSS, needs.observe);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        if (selects[epoch])
            assert_true(subset.count < POOL);
        else
            assert_int_equal(POOL, subset.count);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void the_runs_epochs_must_be_known(void **state)
{
    cull_setting   setting = {.pool = POOL};
    cull_selector *selector = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "delta needs the run's epochs",
                 try_selector("infobatch", "", &setting, &selector));
    assert_fails(CULL_BAD_OPTION, "r=1", try_selector("infobatch", "r=1", &setting, &selector));
    assert_fails(CULL_UNKNOWN_OPTION, "keep",
                 try_selector("infobatch", "keep=1", &setting, &selector));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weighted_sum_of_losses_is_unbiased),
        cmocka_unit_test(easy_examples_are_left_out_by_independent_coins),
        cmocka_unit_test(the_last_epochs_use_everything_at_weight_one),
        cmocka_unit_test(examples_never_trained_stay_and_the_last_loss_counts),
        cmocka_unit_test(equal_losses_are_not_below_their_mean),
        cmocka_unit_test(plain_epochs_keep_everything_and_are_observed),
        cmocka_unit_test(the_runs_epochs_must_be_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
