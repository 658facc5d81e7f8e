/* tests/unit/test_losses.c - where losses come from: stale, predicted, remembered. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "select/select.h"

enum { POOL = 64, BATCH = 16, STEPS = POOL / BATCH };

static double   loss[POOL]; /* by place */
static double   batch_loss[BATCH];
static uint32_t batch_place[BATCH];

static void fill_losses(uint64_t seed)
{
    for (size_t i = 0; i < POOL; i++) loss[i] = random_uniform(seed, i);
}

/* A batch in an order that changes from epoch to epoch, with or without its losses. */
static cull_signals batch_at(uint64_t epoch, uint64_t step, bool scored)
{
    cull_signals signals = {
        .count = BATCH, .place = batch_place, .step = epoch * STEPS + step, .epoch = epoch};

    for (size_t i = 0; i < BATCH; i++) {
        batch_place[i] = (uint32_t)((step * BATCH + i) * (2 * epoch + 1) % POOL);
        batch_loss[i] = loss[batch_place[i]];
    }
    if (scored) signals.loss = cull_vector(batch_loss, CULL_F64, BATCH);
    return signals;
}

static cull_signals pool_at(uint64_t epoch, bool scored)
{
    cull_signals signals = {.count = POOL, .step = epoch * STEPS, .epoch = epoch};

    if (scored) signals.loss = cull_vector(loss, CULL_F64, POOL);
    return signals;
}

static cull_selector *selector_of(const char *strategy, const char *options)
{
    cull_setting setting = {.pool = POOL, .batch = BATCH, .epochs = 40, .seed = 12};
    return make_selector(strategy, options, &setting);
}

/* ---- stale ---- */

static void stale_every_epoch_is_the_plain_rule(void **state)
{
    static const char *const names[][2] = {{"sb", "sb stale"}, {"top-loss", "top-loss stale"}};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_selector *plain = selector_of(names[k][0], "keep=0.3");
        cull_selector *stale = selector_of(names[k][1], "keep=0.3 stale-every=1");
        cull_subset    a = {0}, b = {0};

        assert_string_equal(names[k][1], cull_selector_name(stale));
        for (uint64_t epoch = 0; epoch < 5; epoch++) {
            fill_losses(epoch);
            for (uint64_t step = 0; step < STEPS; step++) {
                cull_signals signals = batch_at(epoch, step, true);

                assert_ok(cull_select(plain, &signals, 0, &a));
                assert_ok(cull_select(stale, &signals, 0, &b));
                assert_int_equal(a.count, b.count);
                assert_memory_equal(a.index, b.index, a.count * sizeof *a.index);
            }
        }
        cull_subset_clear(&a);
        cull_subset_clear(&b);
        cull_selector_destroy(plain);
        cull_selector_destroy(stale);
    }
}

static void losses_are_scored_only_every_nth_epoch(void **state)
{
    static const struct {
        const char *options;
        uint64_t    first, every; /* first epoch of the rhythm */
    } cases[] = {{"", 0, 2},
                 {"stale-every=3", 0, 3},
                 {"stale-every=4 start=0.25", 10, 4},
                 {"stale-every=2 start=0.26", 11, 2}}; /* opens inside epoch 10, which scores */

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cull_selector *selector = selector_of("sb stale", cases[k].options);
        cull_needs     needs = {0};

        for (uint64_t epoch = 0; epoch < 40; epoch++) {
            bool scored = epoch < cases[k].first || (epoch - cases[k].first) % cases[k].every == 0;

            assert_ok(cull_selector_needs(selector, (epoch + 1) * STEPS - 1, epoch, &needs));
            if (epoch + 1 < cases[k].first) {
                assert_int_equal(CULL_TRAIN_ALL, needs.action);
                assert_int_equal(0, needs.signals);
            } else {
                assert_int_equal(epoch + 1 == cases[k].first && cases[k].first == 10
                                     ? CULL_TRAIN_ALL
                                     : CULL_SELECT_BATCH,
                                 needs.action);
                if (needs.action == CULL_SELECT_BATCH)
                    assert_int_equal(scored ? CULL_SIGNAL_LOSS : 0, needs.signals);
            }
            assert_int_equal(0, needs.observe);
        }
        cull_selector_destroy(selector);
    }
}

/* The rows that hold the largest of value[] among this batch's places. */
static void assert_top(const cull_subset *subset, const double *value)
{
    for (size_t i = 0; i < BATCH; i++) {
        size_t better = 0;
        bool   chosen = false;

        for (size_t j = 0; j < BATCH; j++) better += value[batch_place[j]] > value[batch_place[i]];
        for (size_t j = 0; j < subset->count; j++) chosen |= subset->index[j] == i;
        assert_int_equal(better < subset->count, chosen);
    }
}

static void stored_losses_drive_stale_epochs_and_training_leaves_them_alone(void **state)
{
    cull_selector *selector = selector_of("top-loss stale", "keep=0.25 stale-every=3");
    cull_subset    subset = {0};
    double         stored[POOL];

    (void)state;
    for (uint64_t epoch = 0; epoch < 7; epoch++) {
        fill_losses(100 + epoch);
        if (epoch % 3 == 0) memcpy(stored, loss, sizeof stored);
        for (uint64_t step = 0; step < STEPS; step++) {
            /* Losses that come with a stale epoch are not looked at. */
            cull_signals signals = batch_at(epoch, step, epoch % 3 == 0 || step % 2);

            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(BATCH / 4, subset.count);
            assert_top(&subset, stored);
            signals.loss = cull_vector(batch_loss, CULL_F64, BATCH);
            assert_ok(cull_observe(selector, &signals));
        }
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* A step outside the window asks for nothing, needs nothing and stores nothing. */
static void plain_steps_of_a_scoring_epoch_need_no_losses(void **state)
{
    cull_selector *selector = selector_of("top-loss stale", "keep=0.25 every=2");
    cull_subset    subset = {0};
    cull_signals   signals = batch_at(0, 1, false);
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 1, 0, &needs));
    assert_int_equal(CULL_TRAIN_ALL, needs.action);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(BATCH, subset.count);
    signals = batch_at(0, 2, false);
    assert_fails(CULL_BAD_ARGUMENT, "loss is missing", cull_select(selector, &signals, 0, &subset));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* With all of a batch kept, a scoring epoch still fills the store. */
static void keeping_all_still_stores_losses(void **state)
{
    cull_selector *selector = selector_of("top-loss stale", "keep=0.25");
    cull_subset    subset = {0};
    cull_signals   signals;

    (void)state;
    fill_losses(1);
    for (uint64_t step = 0; step < STEPS; step++) {
        signals = batch_at(0, step, true);
        assert_ok(cull_select(selector, &signals, BATCH, &subset));
        assert_int_equal(BATCH, subset.count);
    }
    signals = batch_at(1, 0, false);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_top(&subset, loss);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* ---- predictors ---- */

static void record_one(cull_sel_losses *losses, uint64_t epoch, double value)
{
    uint32_t     place = 2;
    cull_signals signals = {.count = 1, .place = &place, .epoch = epoch};

    signals.loss = cull_vector(&value, CULL_F64, 1);
    assert_ok(cull_sel_losses_record(losses, &signals, &(cull_sel_watch){0}));
}

static double recall_one(cull_sel_losses *losses, uint64_t epoch)
{
    uint32_t place = 2;
    double   value = 0;
    uint8_t  unseen = 0;

    assert_ok(
        cull_sel_losses_recall(losses, &place, 1, epoch, &(cull_sel_watch){0}, &value, &unseen));
    return unseen ? (double)NAN : value;
}

static void predictors_give_their_formulas_exactly(void **state)
{
    cull_sel_losses *last = NULL, *average = NULL, *trend = NULL;
    cull_backend    *backend = NULL;
    double           mean = 0;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    assert_ok(cull_sel_losses_create(backend, 4, CULL_PREDICT_LAST, &last));
    assert_ok(cull_sel_losses_create(backend, 4, CULL_PREDICT_AVERAGE, &average));
    assert_ok(cull_sel_losses_create(backend, 4, CULL_PREDICT_TREND, &trend));
    assert_true(isnan(recall_one(last, 0)) && isnan(recall_one(trend, 0)));
    assert_false(cull_sel_losses_mean(last, &mean));
    record_one(last, 0, 8), record_one(average, 0, 8), record_one(trend, 0, 8);
    assert_true(recall_one(last, 5) == 8);
    assert_true(recall_one(average, 5) == 8);
    assert_true(recall_one(trend, 5) == 8); /* one loss alone has no slope */
    record_one(last, 2, 6), record_one(average, 2, 6), record_one(trend, 2, 6);
    assert_true(recall_one(last, 3) == 6);
    assert_true(recall_one(average, 3) == 7); /* 8 + .5 (6 - 8) */
    assert_true(recall_one(trend, 3) == 5);   /* 6 - 1 an epoch */
    assert_true(recall_one(trend, 7) == 1);
    assert_true(recall_one(trend, 9) == 0); /* at least 0 */
    assert_true(recall_one(trend, 2) == 6);
    record_one(average, 4, 3), record_one(trend, 4, 3);
    assert_true(recall_one(average, 5) == 5); /* 7 + .5 (3 - 7) */
    assert_true(recall_one(trend, 5) == 1.5); /* 3 - 1.5 */
    record_one(trend, 4, 4);                  /* the same epoch again: the loss, not the slope */
    assert_true(recall_one(trend, 5) == 2.5);
    assert_true(cull_sel_losses_mean(last, &mean) && mean == 6);
    cull_sel_losses_destroy(last);
    cull_sel_losses_destroy(average);
    cull_sel_losses_destroy(trend);
    cull_backend_close(backend);
}

static void predictions_stay_finite(void **state)
{
    cull_sel_losses *trend = NULL, *average = NULL;
    cull_backend    *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    assert_ok(cull_sel_losses_create(backend, 4, CULL_PREDICT_TREND, &trend));
    assert_ok(cull_sel_losses_create(backend, 4, CULL_PREDICT_AVERAGE, &average));
    record_one(trend, 0, -1.7e308), record_one(average, 0, -1.7e308);
    assert_true(recall_one(trend, 9) == -1.7e308); /* alone, even below 0 */
    record_one(trend, 1, 1.7e308), record_one(average, 1, 1.7e308);
    assert_true(isfinite(recall_one(trend, 9)) && isfinite(recall_one(average, 9)));
    cull_sel_losses_destroy(trend);
    cull_sel_losses_destroy(average);
    cull_backend_close(backend);
}

/* Two scoring epochs (0 and 2), then a stale one (3): the rule sees the predicted losses. */
static void a_stale_epoch_uses_its_predictor(void **state)
{
    static const char *const options[] = {"predict=last", "predict=average", "predict=trend"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        cull_selector *selector = selector_of("top-loss stale", options[k]);
        cull_subset    subset = {0};
        double         before[POOL], expected[POOL];
        cull_signals   signals;

        fill_losses(7);
        memcpy(before, loss, sizeof before);
        for (uint64_t epoch = 0; epoch < 3; epoch += 2) {
            if (epoch == 2) fill_losses(8);
            for (uint64_t step = 0; step < STEPS; step++) {
                signals = batch_at(epoch, step, true);
                assert_ok(cull_select(selector, &signals, 0, &subset));
            }
        }
        for (size_t i = 0; i < POOL; i++) {
            expected[i] = loss[i];
            if (k == 1) expected[i] = before[i] + 0.5 * (loss[i] - before[i]);
            if (k == 2) expected[i] = loss[i] + (loss[i] - before[i]) / 2;
            if (k == 2 && expected[i] < 0) expected[i] = 0;
        }
        for (uint64_t step = 0; step < STEPS; step++) {
            signals = batch_at(3, step, false);
            assert_ok(cull_select(selector, &signals, 3, &subset));
            assert_top(&subset, expected);
        }
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

/* ---- remembered ---- */

static void train(cull_selector *selector, const cull_signals *signals, const cull_subset *subset)
{
    double       value[POOL];
    cull_signals trained = {.count = subset->count,
                            .place = subset->place,
                            .step = signals->step,
                            .epoch = signals->epoch};

    for (size_t i = 0; i < subset->count; i++) value[i] = loss[subset->place[i]];
    trained.loss = cull_vector(value, CULL_F64, subset->count);
    assert_ok(cull_observe(selector, &trained));
}

static void remembered_never_scores(void **state)
{
    static const char *const names[] = {"sb remembered", "top-loss remembered", "rho remembered",
                                        "kath18 remembered"};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cull_selector *selector = selector_of(names[k], k == 3 ? "score=loss" : "");
        cull_needs     needs = {0};

        for (uint64_t step = 0; step < 40 * STEPS; step++) {
            assert_ok(cull_selector_needs(selector, step, step / STEPS, &needs));
            assert_int_equal(0, needs.signals & ~(unsigned)CULL_SIGNAL_IRREDUCIBLE);
            assert_int_equal(CULL_SIGNAL_LOSS, needs.observe);
        }
        cull_selector_destroy(selector);
    }
}

/* At keep = 1/4 of each batch four epochs cover the pool exactly once, for every rule that
 * ranks strictly, because the never-trained always come first. */
static void never_trained_examples_come_first_in_random_order(void **state)
{
    cull_selector *selector = selector_of("top-loss remembered", "keep=0.25");
    cull_subset    subset = {0};
    size_t         times[POOL] = {0}, first_rows = 0;

    (void)state;
    fill_losses(3);
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        for (uint64_t step = 0; step < STEPS; step++) {
            cull_signals signals = batch_at(0, step, false); /* the same batches each epoch */

            signals.epoch = epoch;
            signals.step = epoch * STEPS + step;
            assert_ok(cull_select(selector, &signals, 0, &subset));
            for (size_t i = 0; i < subset.count; i++) {
                times[subset.place[i]]++;
                first_rows += epoch == 0 && subset.index[i] < BATCH / 4;
            }
            train(selector, &signals, &subset);
        }
    }
    for (size_t i = 0; i < POOL; i++) assert_int_equal(1, times[i]);
    assert_true(first_rows < BATCH); /* all of them, were ties left to row order */
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void each_places_own_last_loss_counts(void **state)
{
    cull_selector *selector = selector_of("top-loss remembered", "keep=0.25");
    cull_subset    subset = {0};
    double         last[POOL];

    (void)state;
    for (uint64_t epoch = 0; epoch < 6; epoch++) {
        for (uint64_t step = 0; step < STEPS; step++) {
            cull_signals signals = batch_at(epoch, step, false);

            fill_losses(epoch * STEPS + step); /* what training sees differs each step */
            if (epoch == 0) {                  /* a plain epoch trains all */
                assert_ok(cull_select(selector, &signals, BATCH, &subset));
            } else {
                assert_ok(cull_select(selector, &signals, 0, &subset));
                assert_top(&subset, last);
            }
            train(selector, &signals, &subset);
            for (size_t i = 0; i < subset.count; i++) last[subset.place[i]] = loss[subset.place[i]];
        }
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void plain_steps_are_remembered_too(void **state)
{
    cull_selector *selector = selector_of("top-loss remembered", "keep=0.25 start=0.5");
    cull_subset    subset = {0};
    cull_needs     needs = {0};

    (void)state;
    fill_losses(5);
    for (uint64_t step = 0; step < STEPS; step++) {
        cull_signals signals = batch_at(0, step, false);

        assert_ok(cull_selector_needs(selector, signals.step, 0, &needs));
        assert_int_equal(CULL_TRAIN_ALL, needs.action);
        assert_int_equal(CULL_SIGNAL_LOSS, needs.observe);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        train(selector, &signals, &subset);
    }
    cull_signals signals = batch_at(20, 0, false);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(BATCH / 4, subset.count);
    assert_top(&subset, loss);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void over_the_pool_one_draw_serves_an_epoch(void **state)
{
    cull_selector *selector = selector_of("sb remembered", "keep=0.3 scope=pool end=0.5");
    cull_subset    subset = {0}, before = {0};
    cull_needs     needs = {0};
    size_t         never = POOL, times[POOL] = {0};

    (void)state;
    fill_losses(4);
    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        cull_signals signals = pool_at(epoch, false);

        signals.step = 0; /* callers need not count steps to get new draws */
        assert_ok(cull_selector_needs(selector, epoch * STEPS, epoch, &needs));
        assert_int_equal(CULL_SELECT_POOL, needs.action);
        assert_int_equal(0, needs.signals);
        assert_int_equal(POOL, needs.candidates);
        assert_int_equal(19, needs.budget);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(19, subset.count);
        if (epoch) assert_memory_not_equal(before.index, subset.index, 19 * sizeof *subset.index);
        assert_ok(cull_selector_needs(selector, epoch * STEPS + 1, epoch, &needs));
        assert_int_equal(CULL_KEEP_SUBSET, needs.action);
        assert_int_equal(CULL_SIGNAL_LOSS, needs.observe);
        train(selector, &signals, &subset);
        for (size_t i = 0; i < subset.count; i++) never -= times[subset.place[i]]++ == 0;
        cull_subset swap = before;
        before = subset;
        subset = swap;
    }
    assert_true(never < POOL / 8); /* the first epochs covered most of the pool */
    assert_ok(cull_selector_needs(selector, 20 * STEPS, 20, &needs));
    assert_int_equal(CULL_TRAIN_ALL, needs.action); /* behind the window, in epochs */
    assert_int_equal(POOL, needs.candidates);
    cull_subset_clear(&subset);
    cull_subset_clear(&before);
    cull_selector_destroy(selector);
}

/* Losses are kept by place: a batch that does not say where it is from would take the first ones'.
 */
static void a_batch_without_places_is_refused(void **state)
{
    static const char *const names[] = {"sb remembered", "top-loss stale", "infobatch"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        cull_selector *selector = selector_of(names[k], "");
        cull_subset    subset = {0};
        cull_signals   signals = batch_at(0, 1, true), whole = pool_at(1, true);
        void          *bytes[2] = {NULL, NULL};
        size_t         size[2] = {0};

        assert_ok(cull_selector_save(selector, &bytes[0], &size[0]));
        signals.place = NULL;
        assert_fails(CULL_BAD_ARGUMENT, "16 examples of a pool of 64 came without places",
                     cull_select(selector, &signals, 0, &subset));
        if (k != 1)
            assert_fails(CULL_BAD_ARGUMENT, "came without places",
                         cull_observe(selector, &signals));
        assert_ok(cull_selector_save(selector, &bytes[1], &size[1]));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        assert_ok(cull_select(selector, &whole, 0, &subset)); /* a whole pool is in its places */
        assert_ok(cull_observe(selector, &whole));
        cull_bytes_release(bytes[0]);
        cull_bytes_release(bytes[1]);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void options_of_another_source_are_refused(void **state)
{
    static const struct {
        const char *strategy, *options, *sentence;
    } bad[] = {
        {"sb", "stale-every=3", "stale-every goes with losses=stale only"},
        {"sb remembered", "predict=trend", "predict goes with losses=stale only"},
        {"sb stale", "scope=pool", "scope goes with losses=remembered only"},
        {"sb remembered", "scope=pool mode=scaled", "mode goes with scope=batch only"},
        {"sb remembered", "losses=stale", "given twice"},
        {"rho stale", "", "losses=stale is not one of"},
        {"random stale", "", "no option is called 'losses'"},
        {"sb forgotten", "", "'forgotten' is no modifier"},
        {"kath18 remembered", "", "score=loss only"},
    };
    cull_setting   setting = {.pool = POOL, .batch = BATCH};
    cull_selector *selector = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(option_status(bad[i].sentence), bad[i].sentence,
                     try_selector(bad[i].strategy, bad[i].options, &setting, &selector));
    /* Resolved options may be given back whole. */
    selector = make_selector("sb", "stale-every=2 predict=last scope=batch", &setting);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stale_every_epoch_is_the_plain_rule),
        cmocka_unit_test(losses_are_scored_only_every_nth_epoch),
        cmocka_unit_test(stored_losses_drive_stale_epochs_and_training_leaves_them_alone),
        cmocka_unit_test(plain_steps_of_a_scoring_epoch_need_no_losses),
        cmocka_unit_test(keeping_all_still_stores_losses),
        cmocka_unit_test(predictors_give_their_formulas_exactly),
        cmocka_unit_test(predictions_stay_finite),
        cmocka_unit_test(a_stale_epoch_uses_its_predictor),
        cmocka_unit_test(remembered_never_scores),
        cmocka_unit_test(never_trained_examples_come_first_in_random_order),
        cmocka_unit_test(each_places_own_last_loss_counts),
        cmocka_unit_test(plain_steps_are_remembered_too),
        cmocka_unit_test(over_the_pool_one_draw_serves_an_epoch),
        cmocka_unit_test(a_batch_without_places_is_refused),
        cmocka_unit_test(options_of_another_source_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
