/* tests/unit/test_frame.c - the frame around a strategy: when it runs, how much, what it refuses.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "select/select.h"
#include "tensor/tensor.h"

enum { POOL = 100, BATCH = 20, STEPS = POOL / BATCH, EPOCHS = 10 };

static double loss[POOL];

static int fill_losses(void **state)
{
    (void)state;
    for (size_t i = 0; i < POOL; i++) loss[i] = random_uniform(1, i);
    return 0;
}

static cull_setting run(void)
{
    return (cull_setting){.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 2};
}

static cull_selector *selector_of(const char *strategy, const char *options)
{
    cull_setting setting = run();
    return make_selector(strategy, options, &setting);
}

static cull_signals signals_of(size_t count, uint64_t step)
{
    return (cull_signals){.count = count,
                          .step = step,
                          .epoch = step / STEPS,
                          .loss = cull_vector(loss, CULL_F64, count)};
}

/* ---- budgets ---- */

static void a_budget_is_the_floor_of_its_share(void **state)
{
    static const struct {
        double keep;
        size_t count, budget;
    } cases[] = {{.29, 100, 29}, {.3, 128, 38}, {.1, 128, 12},  {.5, 1, 1},
                 {1e-9, 50, 1},  {1, 77, 77},   {.7, 10, 7},    {.57, 100, 57},
                 {.999, 10, 9},  {.333, 3, 1},  {1. / 3, 3, 1}, {.5, 0, 0},
                 {NAN, 5, 1},    {2, 5, 5},     {.07, 100, 7},  {.29, 1281100, 371519}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cases[i].budget, cull_budget(cases[i].keep, cases[i].count));
    for (size_t m = 1; m <= 1000; m++) /* every share of 1000 in thousandths */
        assert_int_equal(m, cull_budget((double)m / 1000, 1000));
}

static void class_shares_are_by_largest_remainder(void **state)
{
    static const struct {
        size_t total, size[4], share[4];
    } cases[] = {
        {10, {50, 30, 15, 5}, {5, 3, 2, 0}},   /* 5 3 1.5 .5: the tie to the lower class */
        {7, {10, 10, 10, 0}, {3, 2, 2, 0}},    /* an empty class gets nothing */
        {100, {10, 20, 3, 1}, {10, 20, 3, 1}}, /* never more than there is */
        {0, {1, 2, 3, 4}, {0, 0, 0, 0}},       {3, {1, 1, 1, 1}, {1, 1, 1, 0}},
        {1, {1, 1, 1, 1000}, {0, 0, 0, 1}},    {5, {0, 0, 0, 0}, {0, 0, 0, 0}},
    };
    static const size_t large[2] = {2000000000, 2000000000};
    size_t              share[4] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_budget_split(cases[i].total, cases[i].size, 4, share);
        assert_memory_equal(cases[i].share, share, sizeof share);
    }
    cull_budget_split(3999999999, large, 2, share);
    assert_int_equal(2000000000, share[0]);
    assert_int_equal(1999999999, share[1]);
    for (uint64_t trial = 0; trial < 500; trial++) {
        size_t size[4], sum = 0, given = 0, total;

        for (size_t c = 0; c < 4; c++) sum += size[c] = (size_t)(40 * random_uniform(trial, c));
        total = (size_t)((double)sum * random_uniform(trial, 9));
        cull_budget_split(total, size, 4, share);
        for (size_t c = 0; c < 4; c++) {
            double exact = sum ? (double)total * (double)size[c] / (double)sum : 0;

            given += share[c];
            assert_true(share[c] <= size[c] && fabs((double)share[c] - exact) < 1);
        }
        assert_int_equal(total, given);
    }
}

static void scaled_batches_are_wider_and_keep_a_batch(void **state)
{
    static const struct {
        const char *options;
        size_t      candidates, budget, of_short; /* budget of a short batch of 10 */
    } cases[] = {{"keep=0.3", BATCH, 6, 3},
                 {"keep=0.3 mode=scaled", 67, BATCH, 3}, /* round(20 / .3) */
                 {"keep=0.5 mode=scaled", 40, BATCH, 5},
                 {"keep=0.01 mode=scaled", POOL, BATCH, 1}, /* as wide as the pool allows */
                 {"keep=1 mode=scaled", BATCH, BATCH, 10}};
    cull_subset subset = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_selector *selector = selector_of("top-loss", cases[i].options);
        cull_needs     needs = {0};
        cull_signals   signals;

        assert_ok(cull_selector_needs(selector, 0, 0, &needs));
        assert_int_equal(cases[i].candidates, needs.candidates);
        assert_int_equal(cases[i].budget, needs.budget);
        signals = signals_of(needs.candidates, 0);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(cases[i].budget, subset.count);
        signals = signals_of(10, 0);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(cases[i].of_short, subset.count);
        signals = signals_of(10, 0);
        assert_ok(cull_select(selector, &signals, 7, &subset)); /* the caller's own */
        assert_int_equal(7, subset.count);
        cull_selector_destroy(selector);
    }
    cull_subset_clear(&subset);
}

/* ---- windows ---- */

static void selection_runs_inside_its_window_only(void **state)
{
    static const struct {
        const char *options;
        uint64_t    first, last, every;
    } cases[] = {{"", 0, 50, 1},
                 {"start=0.2", 10, 50, 1},
                 {"end=0.5", 0, 25, 1},
                 {"start=0.14 end=0.28", 7, 14, 1}, /* .14 * 50 is just above 7 */
                 {"start=0.13 end=0.27", 7, 14, 1}, /* 6.5 and 13.5: the steps behind them */
                 {"start=0.2 end=0.9 every=3", 10, 45, 3},
                 {"every=7", 0, 50, 7}};
    cull_subset subset = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_selector *selector = selector_of("top-loss", cases[i].options);

        for (uint64_t step = 0; step < STEPS * EPOCHS; step++) {
            bool runs = step >= cases[i].first && step < cases[i].last &&
                        (step - cases[i].first) % cases[i].every == 0;
            cull_needs   needs = {0};
            cull_signals signals = signals_of(BATCH, step);

            assert_ok(cull_selector_needs(selector, step, step / STEPS, &needs));
            assert_int_equal(runs ? CULL_SELECT_BATCH : CULL_TRAIN_ALL, needs.action);
            assert_int_equal(runs ? CULL_SIGNAL_LOSS : 0, needs.signals);
            assert_int_equal(BATCH, needs.candidates);
            assert_int_equal(runs ? BATCH / 2 : BATCH, needs.budget);
            if (!runs) signals.loss = (cull_tensor){0};
            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(needs.budget, subset.count);
        }
        cull_selector_destroy(selector);
    }
    cull_subset_clear(&subset);
}

/* Steps in a window of scaled batches take several batches, and an epoch ends with a short one:
 * whatever their sizes, a window is a share of the examples met. */
static void a_window_of_scaled_batches_is_a_share_of_the_run(void **state)
{
    static const struct {
        const char *options;
        double      start, end;
    } cases[] = {{"keep=0.3 mode=scaled start=0.5", .5, 1},
                 {"keep=0.3 mode=scaled end=0.5", 0, .5},
                 {"keep=0.3 mode=scaled start=0.24 end=0.77", .24, .77},
                 {"keep=0.45 mode=scaled start=0.1 end=0.9 every=2", .1, .9},
                 {"keep=0.4 mode=scaled end=0.63 every=5", 0, .63},
                 {"keep=0.01 mode=scaled start=0.3 end=0.7", .3, .7}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_setting   setting = {.pool = 97, .batch = 10, .epochs = 7, .seed = 2};
        cull_selector *selector = make_selector("sb", cases[i].options, &setting);
        cull_needs     needs = {0};
        double         all = 7 * 100; /* a short batch is a step too */
        uint64_t       step = 0, chosen = 0;

        for (uint64_t epoch = 0; epoch < 7; epoch++)
            for (size_t at = 0; at < 97; at += needs.candidates, step++) {
                double now = (double)(epoch * 100 + at) / all;

                assert_ok(cull_selector_needs(selector, step, epoch, &needs));
                chosen += needs.action == CULL_SELECT_BATCH;
                if (needs.action == CULL_SELECT_BATCH)
                    assert_true(now > cases[i].start - 1e-9 && now < cases[i].end);
                else if (!strstr(cases[i].options, "every"))
                    assert_true(now < cases[i].start || now > cases[i].end - 10 / all);
            }
        assert_true(chosen > 1);
        cull_selector_destroy(selector);
    }
}

/* ... and nobody waits for more epochs than can be counted. */
static void windows_of_endless_runs_are_resolved_at_once(void **state)
{
    cull_setting   setting = {.pool = 97, .batch = 10, .epochs = UINT64_C(1) << 53, .seed = 2};
    cull_selector *selector = make_selector("sb", "keep=0.3 mode=scaled end=0.5 every=2", &setting);
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 1000, 100, &needs));
    assert_int_equal(CULL_SELECT_BATCH, needs.action);
    assert_ok(cull_selector_needs(selector, UINT64_C(1) << 60, UINT64_C(1) << 53, &needs));
    assert_int_equal(CULL_TRAIN_ALL, needs.action);
    cull_selector_destroy(selector);
}

static void plain_steps_of_scaled_batches_are_ordinary_batches(void **state)
{
    cull_selector *selector = selector_of("sb", "keep=0.25 mode=scaled every=2");
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 0, 0, &needs));
    assert_int_equal(80, needs.candidates);
    assert_ok(cull_selector_needs(selector, 1, 0, &needs));
    assert_int_equal(CULL_TRAIN_ALL, needs.action);
    assert_int_equal(BATCH, needs.candidates);
    cull_selector_destroy(selector);
}

static void windows_are_checked_before_the_first_step(void **state)
{
    static const struct {
        const char *options;
        uint64_t    epochs;
        const char *sentence;
    } bad[] = {{"start=0.5 end=0.5", EPOCHS, "from start=0.5 to end=0.5 is empty"},
               {"start=0.9 end=0.1", EPOCHS, "is empty"},
               {"start=0.001 end=0.002", EPOCHS, "is empty"}, /* no step lies in it */
               {"start=1", EPOCHS, "is empty"},
               {"start=0.1", 0, "need the run's epochs"},
               {"end=0.9", 0, "need the run's epochs"},
               {"every=0", EPOCHS, "every=0 is outside"},
               {"start=1.5", EPOCHS, "start=1.5 is outside"}};
    cull_selector *selector = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cull_setting setting = run();

        setting.epochs = bad[i].epochs;
        assert_fails(CULL_BAD_OPTION, bad[i].sentence,
                     try_selector("sb", bad[i].options, &setting, &selector));
    }
    assert_null(selector);
}

/* Also of somebody else's strategy: which options it gets follows from how often it runs. */
static void whatever_keeps_a_share_has_an_option_for_it(void **state)
{
    static const struct {
        cull_runs   runs;
        unsigned    traits;
        const char *keys;
    } cases[] = {{CULL_RUNS_STEP, 0, "keep mode start end every "},
                 {CULL_RUNS_STEP, CULL_NO_BUDGET, "start end every "},
                 {CULL_RUNS_EPOCH, 0, "keep start end every "},
                 {CULL_RUNS_EPOCH, CULL_NO_BUDGET, "start end every "},
                 {CULL_RUNS_PERIOD, 0, "keep period warm "},
                 {CULL_RUNS_ONCE, 0, "keep "}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_strategy           strategy = {.runs = cases[i].runs, .traits = cases[i].traits};
        const cull_option_spec *spec = NULL;
        char                    keys[200] = "";

        for (size_t j = 0; (spec = cull_strategy_option_at(&strategy, j)); j++)
            strcat(strcat(keys, spec->key), " ");
        assert_string_equal(cases[i].keys, keys);
    }
}

/* ---- pool rhythm and warm start ---- */

static void a_warm_start_trades_epochs_and_leaves_none_empty(void **state)
{
    static const struct {
        uint64_t epochs;
        double   keep, kappa;
        uint64_t full, subset;
    } cases[] = {{300, .1, .5, 15, 150}, {300, .3, .5, 45, 150}, {200, .05, .5, 5, 100},
                 {100, .1, .35, 4, 65},  {100, .1, 0, 0, 100},   {100, .1, 1, 10, 0},
                 {10, .01, .5, 1, 5}, /* .05 epochs are one */
                 {1, .5, .9, 1, 1},      {300, .3, .25, 23, 225}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t full = 99, subset = 99;

        cull_sel_warm_start(cases[i].epochs, cases[i].keep, cases[i].kappa, &full, &subset);
        assert_int_equal(cases[i].full, full);
        assert_int_equal(cases[i].subset, subset);
    }
}

static void pool_strategies_decide_at_the_first_subset_epoch_and_then_every_period(void **state)
{
    cull_setting   setting = run();
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_needs     needs = {0};
    uint64_t       decisions = 0;

    (void)state;
    setting.epochs = 60; /* kappa .5, keep .2: 6 full epochs, then 30 on the subset */
    selector = make_selector("adaptive-random", "keep=0.2 period=10 warm=0.5", &setting);
    assert_int_equal(36, cull_selector_epochs(selector));
    for (uint64_t epoch = 0; epoch < 36; epoch++) {
        cull_signals signals = {.count = POOL, .epoch = epoch};

        assert_ok(cull_selector_needs(selector, epoch * STEPS, epoch, &needs));
        if (epoch < 6) {
            assert_int_equal(CULL_TRAIN_ALL, needs.action);
            assert_int_equal(POOL, needs.candidates);
            assert_int_equal(POOL, needs.budget);
            assert_ok(cull_select(selector, &signals, 0, &subset)); /* and it is all, if asked */
            assert_int_equal(POOL, subset.count);
            continue;
        }
        assert_int_equal((epoch - 6) % 10 == 0 ? CULL_SELECT_POOL : CULL_KEEP_SUBSET, needs.action);
        if (needs.action != CULL_SELECT_POOL) continue;
        assert_int_equal(20, needs.budget);
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(20, subset.count);
        decisions++;
        assert_ok(cull_selector_needs(selector, epoch * STEPS, epoch, &needs));
        assert_int_equal(CULL_KEEP_SUBSET, needs.action);
    }
    assert_int_equal(3, decisions);
    cull_selector_destroy(selector);
    setting.epochs = 0;
    assert_fails(CULL_BAD_OPTION, "warm needs the run's epochs",
                 try_selector("adaptive-random", "warm=0.5", &setting, &selector));
    selector = make_selector("fixed-random", "", &setting);
    for (uint64_t epoch = 3; epoch < 40; epoch++) {
        cull_signals signals = {.count = POOL, .epoch = epoch};

        assert_ok(cull_selector_needs(selector, 0, epoch, &needs));
        assert_int_equal(epoch == 3 ? CULL_SELECT_POOL : CULL_KEEP_SUBSET, needs.action);
        if (epoch == 3) assert_ok(cull_select(selector, &signals, 0, &subset));
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* A period missed (the caller came late) is made good at once, and the rhythm stays. */
static void a_missed_period_is_made_good(void **state)
{
    cull_selector *selector = selector_of("adaptive-random", "period=10");
    cull_subset    subset = {0};
    cull_needs     needs = {0};
    cull_signals   signals = {.count = POOL, .epoch = 13};

    (void)state;
    assert_ok(cull_selector_needs(selector, 0, 13, &needs));
    assert_int_equal(CULL_SELECT_POOL, needs.action);
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_ok(cull_selector_needs(selector, 0, 19, &needs));
    assert_int_equal(CULL_KEEP_SUBSET, needs.action);
    assert_ok(cull_selector_needs(selector, 0, 20, &needs));
    assert_int_equal(CULL_SELECT_POOL, needs.action);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* ---- what comes in ---- */

static void keeping_everything_is_exactly_full_training(void **state)
{
    static const char *const names[] = {"full", "random", "top-loss", "sb", "rho", "fixed-random"};
    cull_subset              subset = {0};

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        cull_selector *selector = selector_of(names[k], k ? "keep=1" : "");
        cull_signals   signals = {.count = BATCH}; /* nothing to rank is needed */

        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(BATCH, subset.count);
        for (size_t i = 0; i < BATCH; i++)
            assert_true(subset.index[i] == i && subset.place[i] == i && subset.weight[i] == 1);
        cull_selector_destroy(selector);
    }
    /* But what is there must be sound. */
    cull_selector *selector = selector_of("sb", "keep=1");
    cull_signals   signals = signals_of(BATCH, 0);
    loss[4] = NAN;
    assert_fails(CULL_NOT_FINITE, "example 4", cull_select(selector, &signals, 0, &subset));
    fill_losses(NULL);
    cull_selector_destroy(selector);
    cull_subset_clear(&subset);
}

static void bad_arguments_are_named_and_change_nothing(void **state)
{
    cull_selector *selector = selector_of("sb", "");
    cull_subset    subset = {0}, again = {0};
    uint32_t       place[BATCH] = {0};
    cull_signals   good = signals_of(BATCH, 3), bad = good;

    (void)state;
    assert_ok(cull_select(selector, &good, 0, &subset));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_select(NULL, &good, 0, &again));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_select(selector, NULL, 0, &again));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_select(selector, &good, 0, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "a budget of 21 for 20 examples",
                 cull_select(selector, &good, BATCH + 1, &again));
    bad.count = 0;
    assert_fails(CULL_BAD_ARGUMENT, "no examples", cull_select(selector, &bad, 0, &again));
    bad = signals_of(POOL, 0), bad.count = POOL + 1;
    assert_fails(CULL_BAD_ARGUMENT, "101 examples", cull_select(selector, &bad, 0, &again));
    bad = good, bad.place = place, place[7] = POOL;
    assert_fails(CULL_BAD_ARGUMENT, "example 7 has place 100",
                 cull_select(selector, &bad, 0, &again));
    bad = good, bad.loss.data = NULL;
    assert_fails(CULL_BAD_ARGUMENT, "loss is missing", cull_select(selector, &bad, 0, &again));
    bad = good, bad.loss.shape[0] = 7;
    assert_fails(CULL_BAD_ARGUMENT, "7 rows, 20", cull_select(selector, &bad, 0, &again));
    bad = good, bad.loss.dtype = CULL_I32;
    assert_fails(CULL_BAD_ARGUMENT, "loss is int32", cull_select(selector, &bad, 0, &again));
    assert_int_equal(0, again.count);
    assert_ok(cull_select(selector, &good, 0, &again));
    assert_memory_equal(subset.index, again.index, subset.count * sizeof *subset.index);
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_observe(NULL, &good));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_observe(selector, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_flush(NULL, &again));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_flush(selector, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_selector_needs(selector, 0, 0, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_selector_save(selector, NULL, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_selector_restore(selector, NULL, 3));
    cull_selector_destroy(NULL);
    cull_subset_clear(NULL);
    cull_bytes_release(NULL);
    cull_subset_clear(&subset);
    cull_subset_clear(&again);
    cull_selector_destroy(selector);
}

static void what_cannot_be_a_selector_is_refused(void **state)
{
    static const struct {
        const char  *strategy, *options;
        cull_setting setting;
        cull_status  status;
        const char  *sentence;
    } bad[] = {
        {"sbb", "", {.pool = 9}, CULL_UNKNOWN_STRATEGY, "no strategy is called 'sbb'"},
        {"", "", {.pool = 9}, CULL_BAD_OPTION, "name is needed"},
        {"sb", "keep=0", {.pool = 9}, CULL_BAD_OPTION, "keep=0 is outside"},
        {"sb", "keep=1.01", {.pool = 9}, CULL_BAD_OPTION, "keep=1.01 is outside"},
        {"sb", "keep=half", {.pool = 9}, CULL_BAD_OPTION, "keep=half is not a number"},
        {"sb", "kepe=0.3", {.pool = 9}, CULL_UNKNOWN_OPTION, "no option is called 'kepe'"},
        {"full", "keep=0.3", {.pool = 9}, CULL_UNKNOWN_OPTION, "no option is called 'keep'"},
        {"sb", "", {.pool = 0}, CULL_BAD_ARGUMENT, "the pool has 0"},
        {"sb", "", {.pool = UINT32_MAX}, CULL_BAD_ARGUMENT, "the pool has 4294967295"},
        {"sb", "", {.pool = 9, .batch = 10}, CULL_BAD_ARGUMENT, "batch of 10 is larger"},
        {"sb", "", {.pool = 9, .epochs = UINT64_MAX}, CULL_BAD_ARGUMENT, "can be counted"},
        {"./no/such.so", "", {.pool = 9}, CULL_BAD_FILE, "cannot be loaded"},
    };
    cull_selector *selector = NULL;
    cull_setting   setting = run();

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(bad[i].status, bad[i].sentence,
                     try_selector(bad[i].strategy, bad[i].options, &bad[i].setting, &selector));
    assert_fails(CULL_BAD_OPTION, "name is needed",
                 cull_selector_create(NULL, NULL, 0, &setting, &selector));
    assert_fails(CULL_BAD_ARGUMENT, "the pool",
                 cull_selector_create("sb", NULL, 0, NULL, &selector));
    assert_fails(CULL_BAD_ARGUMENT, "3 options promised",
                 cull_selector_create("sb", NULL, 3, &setting, &selector));
    assert_fails(CULL_BAD_ARGUMENT, "a place", cull_selector_create("sb", NULL, 0, &setting, NULL));
    assert_null(selector);
}

/* A saved state goes with the values of the options, not with how they were written. */
static void a_state_fits_options_that_are_written_otherwise(void **state)
{
    static const struct {
        const char *saved, *restored;
        bool        fits;
    } cases[] = {
        {"keep=0.3", "keep=0.30", true},
        {"keep=0.3", "keep=3e-1 start=0.0", true},
        {"keep=0.5", "", true},
        {"beta=auto", "beta=balles", false},
        {"beta=2 keep=.3", "beta=2.0 keep=0.3", true},
        {"keep=0.3", "keep=0.31", false},
        {"every=2", "every=02", true},
        {"every=2 keep=0.3", "every=3 keep=0.3", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_selector *first = selector_of("sb", cases[i].saved);
        cull_selector *second = selector_of("sb", cases[i].restored);
        void          *bytes = NULL;
        size_t         size = 0;

        assert_ok(cull_selector_save(first, &bytes, &size));
        if (cases[i].fits)
            assert_ok(cull_selector_restore(second, bytes, size));
        else
            assert_fails(CULL_BAD_STATE, "another strategy, options",
                         cull_selector_restore(second, bytes, size));
        cull_bytes_release(bytes);
        cull_selector_destroy(first);
        cull_selector_destroy(second);
    }
}

/* Its fingerprint was made in another way: not of another strategy, but of another version. */
static void a_state_of_an_earlier_version_is_named_as_one(void **state)
{
    cull_selector *selector = selector_of("sb", "");
    unsigned char *bytes = NULL;
    size_t         size = 0;

    (void)state;
    assert_ok(cull_selector_save(selector, (void **)&bytes, &size));
    assert_memory_equal("CULLSEL2", bytes, 8);
    bytes[7] = '1';
    assert_fails(CULL_BAD_STATE, "saved by an earlier version",
                 cull_selector_restore(selector, bytes, size));
    bytes[7] = '3';
    assert_fails(CULL_BAD_STATE, "not a selector's saved state",
                 cull_selector_restore(selector, bytes, size));
    cull_bytes_release(bytes);
    cull_selector_destroy(selector);
}

/* What a new selector may ever read, wherever its window lies and however it begins. */
static void a_new_selector_says_what_it_may_read(void **state)
{
    static const struct {
        const char *strategy, *options;
        unsigned    signals, target, observe;
    } cases[] = {
        {"random", "", 0, 0, 0},
        {"sb", "start=0.5", CULL_SIGNAL_LOSS, 0, 0},
        {"sb stale", "", CULL_SIGNAL_LOSS, 0, 0},
        {"sb remembered", "", 0, 0, CULL_SIGNAL_LOSS},
        {"infobatch", "", 0, 0, CULL_SIGNAL_LOSS},
        {"rho remembered", "", CULL_SIGNAL_IRREDUCIBLE, 0, CULL_SIGNAL_LOSS},
        {"kath18", "", CULL_SIGNAL_P, 0, CULL_SIGNAL_P},
        {"kath18", "score=gnorm-last variable=false", CULL_SIGNAL_P | CULL_SIGNAL_H, 0, 0},
        {"kath18 remembered", "score=loss", 0, 0, CULL_SIGNAL_LOSS},
        {"gradmatch", "match=validation every=2", CULL_SIGNAL_P | CULL_SIGNAL_H,
         CULL_SIGNAL_P | CULL_SIGNAL_H, 0},
        {"grad-match", "warm=0.5", CULL_SIGNAL_P | CULL_SIGNAL_H | CULL_SIGNAL_LABEL, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_selector *selector = selector_of(cases[i].strategy, cases[i].options);
        cull_needs     reads = {0};

        assert_ok(cull_selector_reads(selector, &reads));
        if (reads.signals != cases[i].signals || reads.target != cases[i].target ||
            reads.observe != cases[i].observe)
            fail_msg("%s %s reads %u %u %u", cases[i].strategy, cases[i].options, reads.signals,
                     reads.target, reads.observe);
        cull_selector_destroy(selector);
    }
    assert_fails(CULL_BAD_ARGUMENT, "a selector and a place",
                 cull_selector_reads(NULL, &(cull_needs){0}));
}

static void a_selector_says_what_it_is(void **state)
{
    cull_selector *selector = selector_of("sb", "losses=remembered keep=0.3");

    (void)state;
    assert_string_equal("sb remembered", cull_selector_name(selector));
    assert_string_equal("beta=auto percentile=batch trim=0 trim-weight=0.05 losses=remembered "
                        "stale-every=2 predict=last scope=batch keep=0.3 mode=fixed start=0 end=1 "
                        "every=1",
                        cull_selector_options(selector));
    assert_int_equal(EPOCHS, cull_selector_epochs(selector));
    cull_selector_destroy(selector);
}

/* bfloat16 is read as the float32 it stands for. */
static void narrow_signals_are_what_they_stand_for(void **state)
{
    enum { ROWS = 24, D = 6, C = 3 };
    static const char *const strategies[] = {"gradmatch", "sb", "top-loss"};
    static uint16_t          h16[ROWS * D], p16[ROWS * C], loss16[ROWS];
    static float             h[ROWS * D], p[ROWS * C], losses[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS * D; i++)
        h[i] = cull_bf16_wide(h16[i] = cull_bf16_of((float)random_uniform(5, i) - 0.5f));
    for (size_t i = 0; i < ROWS * C; i++)
        p[i] = cull_bf16_wide(p16[i] = cull_bf16_of((float)random_uniform(6, i) - 0.5f));
    for (size_t i = 0; i < ROWS; i++)
        losses[i] = cull_bf16_wide(loss16[i] = cull_bf16_of((float)random_uniform(7, i)));
    for (size_t k = 0; k < sizeof strategies / sizeof *strategies; k++) {
        cull_setting setting = {.pool = ROWS, .batch = ROWS, .seed = 3};
        cull_subset  subset[2] = {{0}, {0}};

        for (int narrow = 0; narrow < 2; narrow++) {
            cull_selector *selector = make_selector(strategies[k], "keep=0.4", &setting);
            cull_signals   s = {.count = ROWS,
                                .loss = narrow ? cull_vector(loss16, CULL_BF16, ROWS)
                                               : cull_vector(losses, CULL_F32, ROWS),
                                .h = narrow ? cull_matrix(h16, CULL_BF16, ROWS, D)
                                            : cull_matrix(h, CULL_F32, ROWS, D),
                                .p = narrow ? cull_matrix(p16, CULL_BF16, ROWS, C)
                                            : cull_matrix(p, CULL_F32, ROWS, C)};

            assert_ok(cull_select(selector, &s, 0, &subset[narrow]));
            cull_selector_destroy(selector);
        }
        assert_int_equal(subset[0].count, subset[1].count);
        assert_memory_equal(subset[0].index, subset[1].index,
                            subset[0].count * sizeof *subset[0].index);
        assert_memory_equal(subset[0].weight, subset[1].weight,
                            subset[0].count * sizeof *subset[0].weight);
        cull_subset_clear(&subset[0]);
        cull_subset_clear(&subset[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_is_the_floor_of_its_share),
        cmocka_unit_test(class_shares_are_by_largest_remainder),
        cmocka_unit_test(scaled_batches_are_wider_and_keep_a_batch),
        cmocka_unit_test(selection_runs_inside_its_window_only),
        cmocka_unit_test(a_window_of_scaled_batches_is_a_share_of_the_run),
        cmocka_unit_test(windows_of_endless_runs_are_resolved_at_once),
        cmocka_unit_test(plain_steps_of_scaled_batches_are_ordinary_batches),
        cmocka_unit_test(windows_are_checked_before_the_first_step),
        cmocka_unit_test(whatever_keeps_a_share_has_an_option_for_it),
        cmocka_unit_test(a_warm_start_trades_epochs_and_leaves_none_empty),
        cmocka_unit_test(pool_strategies_decide_at_the_first_subset_epoch_and_then_every_period),
        cmocka_unit_test(a_missed_period_is_made_good),
        cmocka_unit_test(keeping_everything_is_exactly_full_training),
        cmocka_unit_test(bad_arguments_are_named_and_change_nothing),
        cmocka_unit_test(what_cannot_be_a_selector_is_refused),
        cmocka_unit_test(a_state_fits_options_that_are_written_otherwise),
        cmocka_unit_test(a_state_of_an_earlier_version_is_named_as_one),
        cmocka_unit_test(a_new_selector_says_what_it_may_read),
        cmocka_unit_test(a_selector_says_what_it_is),
        cmocka_unit_test(narrow_signals_are_what_they_stand_for),
    };
    return cmocka_run_group_tests(tests, fill_losses, NULL);
}
