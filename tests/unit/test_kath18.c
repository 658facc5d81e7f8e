/* tests/unit/test_kath18.c - importance sampling: unbiased, by the right scores, on when it pays.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { B = 30, SMALL = 10, POOL = 90, D = 4, C = 3, TRIALS = 4000 };

static double loss[POOL], h[POOL * D], p[POOL * C], value[POOL];

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < POOL; i++) {
        loss[i] = exp(random_normal(1, i));
        value[i] = random_normal(2, i) + 0.5;
        for (size_t j = 0; j < D; j++) h[i * D + j] = random_normal(3, i * D + j);
        for (size_t j = 0; j < C; j++)
            p[i * C + j] = exp(random_normal(4, i)) * random_normal(5, i * C + j);
    }
    return 0;
}

static cull_signals candidates(uint64_t step, size_t count)
{
    return (cull_signals){.count = count,
                          .step = step,
                          .loss = cull_vector(loss, CULL_F64, count),
                          .h = cull_matrix(h, CULL_F64, count, D),
                          .p = cull_matrix(p, CULL_F64, count, C)};
}

static double score(const char *name, size_t i)
{
    double p2 = 0, h2 = 0;

    for (size_t j = 0; j < C; j++) p2 += p[i * C + j] * p[i * C + j];
    for (size_t j = 0; j < D; j++) h2 += h[i * D + j] * h[i * D + j];
    if (strcmp(name, "loss") == 0) return loss[i];
    return strcmp(name, "gnorm") == 0 ? sqrt(p2) : sqrt(p2) * sqrt(1 + h2);
}

static cull_selector *sampler(const char *options)
{
    cull_setting setting = {.pool = POOL, .batch = SMALL, .seed = 31};
    return make_selector("kath18", options, &setting);
}

/*
 * Draw frequencies are the scores' shares q_i (4.5 standard errors sqrt(q(1-q)/n) each, n =
 * 40000 draws), and (1/b) sum w x estimates the mean of any x: one draw's w x has variance
 * sum q (x/(B q))^2 - mean^2, so the mean of n of them may be off by 4.5 sqrt(that/n).
 */
static void draws_follow_the_score_and_the_estimate_is_unbiased(void **state)
{
    static const char *const names[] = {"loss", "gnorm", "gnorm-last"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        char           options[64] = "variable=false score=";
        cull_selector *selector = NULL;
        cull_subset    subset = {0};
        double         sum = 0, mean = 0, variance = 0, estimate = 0, draws = TRIALS * SMALL;
        size_t         drawn[B] = {0};

        selector = sampler(strcat(options, names[k]));
        for (size_t i = 0; i < B; i++) sum += score(names[k], i);
        for (size_t i = 0; i < B; i++) {
            double q = score(names[k], i) / sum;

            mean += value[i] / B;
            variance += value[i] * value[i] / (B * q) / B;
        }
        variance -= mean * mean;
        for (uint64_t step = 0; step < TRIALS; step++) {
            cull_signals signals = candidates(step, B);

            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(SMALL, subset.count);
            for (size_t i = 0; i < SMALL; i++) {
                size_t row = subset.index[i];

                drawn[row]++;
                assert_true(fabs(subset.weight[i] * score(names[k], row) / (sum / B) - 1) < 1e-12);
                estimate += subset.weight[i] * value[row] / draws;
            }
        }
        for (size_t i = 0; i < B; i++) {
            double q = score(names[k], i) / sum;
            assert_true(fabs((double)drawn[i] / draws - q) < 4.5 * sqrt(q * (1 - q) / draws));
        }
        assert_true(fabs(estimate - mean) < 4.5 * sqrt(variance / draws));
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void unit_weights_are_one(void **state)
{
    cull_selector *selector = sampler("variable=false score=loss weights=unit");
    cull_subset    subset = {0};
    cull_signals   signals = candidates(0, B);

    (void)state;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    for (size_t i = 0; i < subset.count; i++) assert_true(subset.weight[i] == 1);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void zero_scores_are_never_drawn_and_all_zero_is_uniform(void **state)
{
    cull_selector *selector = sampler("variable=false");
    cull_subset    subset = {0};
    size_t         drawn[B] = {0};

    (void)state;
    for (size_t i = 0; i < B; i++)
        if (i % 3 != 1) memset(p + i * C, 0, C * sizeof *p);
    for (uint64_t step = 0; step < 200; step++) {
        cull_signals signals = candidates(step, B);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < SMALL; i++) assert_int_equal(1, subset.index[i] % 3);
    }
    memset(p, 0, sizeof p);
    for (uint64_t step = 0; step < TRIALS; step++) {
        cull_signals signals = candidates(step, B);

        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < SMALL; i++) {
            assert_true(subset.weight[i] == 1);
            drawn[subset.index[i]]++;
        }
    }
    for (size_t i = 0; i < B; i++) /* 40000 draws of 30 */
        assert_true(fabs((double)drawn[i] / (TRIALS * SMALL) - 1. / B) <
                    4.5 * sqrt(1. / B * (1 - 1. / B) / (TRIALS * SMALL)));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* ---- the switch ---- */

/* The moving average, as the saved state has it: magic, three words of the frame, tau. */
static double tau_of(const cull_selector *selector)
{
    void  *bytes = NULL;
    size_t size = 0;
    double tau = 0;

    assert_ok(cull_selector_save(selector, &bytes, &size));
    assert_true(size == 8 + 3 * 8 + 3 * 8 + 8);
    memcpy(&tau, (char *)bytes + 32, sizeof tau);
    cull_bytes_release(bytes);
    return tau;
}

static double tau_now(size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) sum += loss[i];
    for (size_t i = 0; i < n; i++) squares += loss[i] / sum * (loss[i] / sum);
    return sqrt((double)n * squares);
}

/* Twenty steps of skewed losses turn sampling on, flat ones off again, each at the step where
 * the average, computed here, crosses (B+3b)/3b = 2. */
static void sampling_is_on_while_the_average_of_tau_exceeds_its_threshold(void **state)
{
    cull_selector *selector = sampler("score=loss");
    cull_subset    subset = {0};
    cull_needs     needs = {0};
    double         tau = 0;
    size_t         on_steps = 0, switches = 0;
    bool           was_on = false;

    (void)state;
    for (uint64_t step = 0; step < 60; step++) {
        bool         on = tau > (B + 3. * SMALL) / (3. * SMALL);
        size_t       n = on ? B : SMALL;
        cull_signals signals = candidates(step, n);

        for (size_t i = 0; i < B; i++) loss[i] = step < 20 ? (i == step % SMALL ? 50 : .1) : 1;
        assert_true(fabs(tau - 2) > 1e-6); /* no step hangs on rounding */
        assert_ok(cull_selector_needs(selector, step, 0, &needs));
        assert_int_equal(on ? CULL_SELECT_BATCH : CULL_TRAIN_ALL, needs.action);
        assert_int_equal(on ? CULL_SIGNAL_LOSS : 0, needs.signals);
        assert_int_equal(on ? 0 : CULL_SIGNAL_LOSS, needs.observe);
        assert_int_equal(n, needs.candidates);
        assert_int_equal(SMALL, needs.budget);
        if (on) {
            assert_ok(cull_select(selector, &signals, 0, &subset));
            assert_int_equal(SMALL, subset.count);
        }
        /* A caller may always tell what it trained: after a draw it is not counted again. */
        assert_ok(cull_observe(selector, &signals));
        tau = 0.9 * tau + 0.1 * tau_now(n);
        assert_true(fabs(tau_of(selector) - tau) < 1e-12);
        on_steps += on;
        switches += on != was_on;
        was_on = on;
    }
    assert_int_equal(2, switches);
    assert_true(on_steps > 10 && !was_on);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* tau of equal scores is 1, of one among n zeros sqrt(n); all zero counts as equal. */
static void tau_has_its_limits(void **state)
{
    cull_selector *selector = sampler("score=loss");
    cull_signals   signals = candidates(0, SMALL);

    (void)state;
    memset(loss, 0, sizeof loss);
    assert_ok(cull_observe(selector, &signals));
    assert_true(fabs(tau_of(selector) - 0.1) < 1e-15);
    loss[3] = 7;
    signals.step = 1;
    assert_ok(cull_observe(selector, &signals));
    assert_true(fabs(tau_of(selector) - (0.09 + 0.1 * sqrt(SMALL))) < 1e-15);
    cull_selector_destroy(selector);
}

/* While off, examples brought to select are not drawn by score: b of them uniformly, all where
 * there are no more. */
static void while_off_the_choice_is_plain(void **state)
{
    cull_selector *selector = sampler("score=gnorm-last");
    cull_subset    subset = {0};
    cull_signals   signals = {.count = SMALL};
    cull_needs     needs = {0};

    (void)state;
    assert_ok(cull_selector_needs(selector, 0, 0, &needs));
    assert_int_equal(CULL_SIGNAL_P | CULL_SIGNAL_H, needs.observe);
    assert_ok(cull_select(selector, &signals, SMALL, &subset)); /* no signals needed */
    assert_int_equal(SMALL, subset.count);
    for (size_t i = 0; i < SMALL; i++) assert_true(subset.index[i] == i && subset.weight[i] == 1);
    for (signals.count = 1; signals.count <= SMALL; signals.count += 3) { /* a short last batch */
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(signals.count, subset.count);
    }
    signals.count = B;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(SMALL, subset.count);
    for (size_t i = 0; i < SMALL; i++) {
        assert_true(subset.weight[i] == 1);
        if (i) assert_true(subset.index[i] > subset.index[i - 1]);
    }
    assert_fails(CULL_BAD_ARGUMENT, "h is missing", cull_observe(selector, &signals));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void the_plan_is_three_batches_unless_asked_otherwise(void **state)
{
    static const struct {
        const char *options;
        size_t      batch, candidates, budget;
    } cases[] = {{"variable=false", 10, 30, 10},
                 {"variable=false", 29, 87, 29},
                 {"variable=false", 40, POOL, 40}, /* the pool is smaller than 3b */
                 {"variable=false mode=fixed", 30, 30, 10},
                 {"variable=false keep=0.5", 30, 60, 30}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cull_setting   setting = {.pool = POOL, .batch = cases[k].batch};
        cull_selector *selector = make_selector("kath18", cases[k].options, &setting);
        cull_needs     needs = {0};

        assert_ok(cull_selector_needs(selector, 0, 0, &needs));
        assert_int_equal(cases[k].candidates, needs.candidates);
        assert_int_equal(cases[k].budget, needs.budget);
        assert_int_equal(CULL_SIGNAL_P, needs.signals);
        cull_selector_destroy(selector);
    }
    for (size_t b = 1; b < 3000; b++) { /* B = 3b exactly */
        cull_setting   setting = {.pool = 9000, .batch = b};
        cull_selector *selector = make_selector("kath18", "variable=false", &setting);
        cull_needs     needs = {0};

        assert_ok(cull_selector_needs(selector, 0, 0, &needs));
        assert_int_equal(3 * b, needs.candidates);
        cull_selector_destroy(selector);
    }
}

/* ---- remembered ---- */

/* Places 0 and 1 are known with losses 1 and 3: place 1 and the 28 unknown share the largest
 * score, so of n draws a share 1/88 falls on place 0 and 3/88 on each other one. */
static void never_trained_examples_have_the_largest_known_score(void **state)
{
    cull_selector *selector =
        sampler("losses=remembered score=loss variable=false weights=unbiased");
    cull_subset  subset = {0};
    size_t       drawn[B] = {0};
    double       known[] = {1, 3}, draws = TRIALS * SMALL;
    uint32_t     place[B];
    cull_signals signals = {.count = B, .place = place}, trained = {.count = 2, .place = place};

    (void)state;
    for (uint32_t i = 0; i < B; i++) place[i] = i;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    for (size_t i = 0; i < SMALL; i++) assert_true(subset.weight[i] == 1); /* none known: all 1 */
    trained.loss = cull_vector(known, CULL_F64, 2);
    assert_ok(cull_observe(selector, &trained));
    for (signals.step = 1; signals.step <= TRIALS; signals.step++) {
        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < SMALL; i++) {
            double expected = 88. / 30 / (subset.index[i] == 0 ? 1 : 3);

            drawn[subset.index[i]]++;
            assert_true(fabs(subset.weight[i] - expected) < 1e-12);
        }
    }
    for (size_t i = 0; i < B; i++) {
        double q = i ? 3. / 88 : 1. / 88;
        assert_true(fabs((double)drawn[i] / draws - q) < 4.5 * sqrt(q * (1 - q) / draws));
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* Over the pool: off, a plain third of it each epoch; on, by score. */
static void over_the_pool_the_switch_holds_for_an_epoch(void **state)
{
    cull_selector *selector = sampler("losses=remembered score=loss scope=pool");
    cull_subset    subset = {0};
    cull_needs     needs = {0};
    bool           repeated = false;

    (void)state;
    for (uint64_t epoch = 0; epoch < 30; epoch++) {
        cull_signals pool = {.count = POOL, .epoch = epoch, .step = epoch * 3};
        cull_signals trained = {.count = SMALL, .epoch = epoch};

        assert_ok(cull_selector_needs(selector, epoch * 3, epoch, &needs));
        assert_int_equal(CULL_SELECT_POOL, needs.action);
        assert_ok(cull_select(selector, &pool, 0, &subset));
        assert_int_equal(POOL / 3, subset.count);
        for (size_t i = 1; i < subset.count; i++)
            repeated |= subset.index[i] == subset.index[i - 1];
        if (epoch == 0) assert_false(repeated);
        for (uint64_t step = 0; step < 3; step++) {
            for (size_t i = 0; i < SMALL; i++) loss[i] = i == step ? 100 : .01;
            trained.step = epoch * 3 + step;
            trained.place = subset.place + step * SMALL;
            trained.loss = cull_vector(loss, CULL_F64, SMALL);
            assert_ok(cull_observe(selector, &trained));
        }
    }
    assert_true(repeated); /* on by now: drawn with replacement */
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void a_negative_loss_is_no_score(void **state)
{
    cull_selector *selector = sampler("score=loss variable=false");
    cull_subset    subset = {0};
    uint32_t       place[B];
    cull_signals   signals = candidates(0, B);

    (void)state;
    for (uint32_t i = 0; i < B; i++) place[i] = 50 + i;
    signals.place = place;
    loss[7] = -0.5;
    assert_fails(CULL_BAD_ARGUMENT, "loss of example 7 (place 57) is negative",
                 cull_select(selector, &signals, 0, &subset));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void scores_of_any_size_are_scores(void **state)
{
    static const double scales[] = {1e-150, 1, 1e160, 1e300};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        cull_selector *selector = sampler("score=gnorm-last variable=false");
        cull_subset    subset = {0};
        cull_signals   signals = candidates(0, B);

        fill(NULL);
        for (size_t i = 0; i < POOL * C; i++) p[i] *= scales[k];
        assert_ok(cull_select(selector, &signals, 0, &subset));
        for (size_t i = 0; i < subset.count; i++)
            assert_true(isfinite(subset.weight[i]) && subset.weight[i] > 0);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void a_warm_decision_allocates_nothing(void **state)
{
    cull_selector *selector = sampler("variable=false");
    cull_subset    subset = {0};
    cull_signals   signals = candidates(0, B);

    (void)state;
    assert_ok(cull_select(selector, &signals, 0, &subset));
    size_t before = cull_base_alloc_count();
    for (signals.step = 1; signals.step < 20; signals.step++)
        assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_int_equal(before, cull_base_alloc_count());
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

#define TEST(name) cmocka_unit_test_setup(name, fill)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(draws_follow_the_score_and_the_estimate_is_unbiased),
        TEST(unit_weights_are_one),
        TEST(zero_scores_are_never_drawn_and_all_zero_is_uniform),
        TEST(sampling_is_on_while_the_average_of_tau_exceeds_its_threshold),
        TEST(tau_has_its_limits),
        TEST(while_off_the_choice_is_plain),
        TEST(the_plan_is_three_batches_unless_asked_otherwise),
        TEST(never_trained_examples_have_the_largest_known_score),
        TEST(over_the_pool_the_switch_holds_for_an_epoch),
        TEST(a_negative_loss_is_no_score),
        TEST(scores_of_any_size_are_scores),
        TEST(a_warm_decision_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
