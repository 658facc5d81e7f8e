/* tests/unit/test_standing.c - sb on remembered losses that looks at the whole pool:
 * percentile=pool and trim, beside a second statement of the rule. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "select/select.h"

enum { POOL = 61, BATCH = 12, EPOCHS = 9, SEED = 12 }; /* a prime, and a short last batch */

/* One way of drawing, as options and as numbers. */
struct rule {
    const char *options;
    double      beta; /* 0: candidates / budget - 1 */
    bool        over_pool;
    double      trim, trim_weight;
};

static const struct rule rules[] = {
    {"keep=0.4", 0, false, 0, 0},
    {"keep=0.4 percentile=pool", 0, true, 0, 0},
    {"keep=0.4 percentile=pool mode=scaled", 0, true, 0, 0},
    {"keep=0.4 trim=0.2", 0, false, .2, .05},
    {"keep=0.4 trim=0.2 mode=scaled beta=3", 3, false, .2, .05},
    {"keep=0.5 percentile=pool trim=0.3 trim-weight=0.25", 0, true, .3, .25},
    {"keep=0.3 percentile=pool trim=0.1 mode=scaled beta=1", 1, true, .1, .05},
    {"keep=0.3 percentile=pool trim=0.25 every=4", 0, true, .25, .05},
    {"keep=0.3 scope=pool trim=0.15", 0, false, .15, .05},
    {"keep=0.3 scope=pool percentile=pool trim=0.15 trim-weight=0.01", 0, true, .15, .01},
};
enum { RULES = sizeof rules / sizeof *rules };

/* What a run knows of each place, and what it knew when the epoch began. */
struct memory {
    double last[POOL], percentile[POOL];
    bool   known[POOL], knew[POOL];
};

/* Losses with ties, a few places always hard. */
static double loss_of(uint64_t epoch, uint32_t place)
{
    double loss = floor(12 * random_uniform(epoch, place)) / 12;

    return place % 9 == 0 ? 5 + loss : loss;
}

/* Does place a stand before place b, the never-trained last and among themselves at random? */
static double before(const struct memory *m, uint64_t moment, uint32_t a, uint32_t b)
{
    cull_key key = cull_key_make(SEED, "unseen");

    if (m->known[a] != m->known[b]) return m->known[a] ? 1 : 0;
    if (m->known[a]) return m->last[a] == m->last[b] ? .5 : m->last[a] < m->last[b] ? 1 : 0;
    if (a == b) return .5;
    return cull_key_uniform(key, moment, a) < cull_key_uniform(key, moment, b) ? 1 : 0;
}

static double percentile_among(const struct memory *m, uint64_t moment, const uint32_t *place,
                               size_t count, uint32_t mine)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) sum += before(m, moment, place[i], mine);
    return sum / (double)count;
}

static void begin_epoch(struct memory *m, uint64_t epoch)
{
    uint32_t all[POOL];

    for (uint32_t i = 0; i < POOL; i++) all[i] = i;
    for (uint32_t i = 0; i < POOL; i++) {
        m->percentile[i] = percentile_among(m, epoch, all, POOL, i);
        m->knew[i] = m->known[i];
    }
}

/* The rule of METHODS, one example at a time; `moment` is what the draw is counted by. */
static double key_of(const struct rule *rule, const struct memory *m, uint64_t moment,
                     const uint32_t *place, size_t count, size_t budget, size_t row)
{
    uint32_t mine = place[row];
    double   beta = rule->beta > 0 ? rule->beta : (double)count / (double)budget - 1;
    double   percentile =
        rule->over_pool ? m->percentile[mine] : percentile_among(m, moment, place, count, mine);
    double weight = pow(percentile, beta);
    size_t never = 0;

    for (size_t i = 0; i < POOL; i++) never += !m->knew[i];
    if ((double)never <= rule->trim * POOL && m->knew[mine] && m->percentile[mine] > 1 - rule->trim)
        weight = rule->trim_weight;
    return -log(cull_key_uniform(cull_key_make(SEED, "sb"), moment, mine)) / weight;
}

static void assert_drawn(const struct rule *rule, const struct memory *m, uint64_t moment,
                         const uint32_t *place, size_t count, const cull_subset *subset)
{
    double key[POOL];
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        key[i] = key_of(rule, m, moment, place, count, subset->count, i);
    for (size_t i = 0; i < count; i++) {
        size_t smaller = 0;
        bool   drawn = at < subset->count && subset->index[at] == i;

        for (size_t j = 0; j < count; j++) smaller += key[j] < key[i];
        if (drawn != (smaller < subset->count))
            fail_msg("%s: moment %d, row %d", rule->options, (int)moment, (int)i);
        at += drawn;
    }
}

static cull_selector *open_rule(const struct rule *rule)
{
    cull_setting setting = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = SEED};
    return make_selector("sb remembered", rule->options, &setting);
}

static void train(cull_selector *selector, struct memory *m, uint64_t step, uint64_t epoch,
                  const uint32_t *place, size_t count)
{
    double       loss[POOL] = {0};
    cull_signals trained = {.count = count, .place = place, .step = step, .epoch = epoch};

    for (size_t i = 0; i < count; i++) loss[i] = loss_of(epoch, place[i]);
    trained.loss = cull_vector(loss, CULL_F64, count);
    assert_ok(cull_observe(selector, &trained));
    for (size_t i = 0; i < count; i++) {
        m->last[place[i]] = loss[i];
        m->known[place[i]] = true;
    }
}

/* Saved, and continued by another that has seen something else. */
static void resume(const struct rule *rule, cull_selector **selector)
{
    cull_selector *other = open_rule(rule);
    struct memory  elsewhere = {0};
    uint32_t       place[] = {3, 4, 5};
    void          *bytes = NULL;
    size_t         size = 0;

    train(other, &elsewhere, 1, 1, place, 3);
    assert_ok(cull_selector_save(*selector, &bytes, &size));
    assert_ok(cull_selector_restore(other, bytes, size));
    cull_bytes_release(bytes);
    cull_selector_destroy(*selector);
    *selector = other;
}

/* One epoch over a permutation of the pool; returns how many known examples were trimmed in it. */
static size_t live_epoch(const struct rule *rule, cull_selector **selector, struct memory *m,
                         uint64_t epoch, uint64_t *step, bool resumes)
{
    uint32_t    place[POOL];
    cull_subset subset = {0};
    size_t      trimmed = 0;

    for (size_t i = 0; i < POOL; i++) place[i] = (uint32_t)(i * (epoch + 2) % POOL);
    begin_epoch(m, epoch);
    for (size_t i = 0; i < POOL; i++) trimmed += m->knew[i] && m->percentile[i] > 1 - rule->trim;
    for (size_t at = 0; at < POOL; (*step)++) {
        cull_needs   needs = {0};
        cull_signals signals = {.place = place + at, .step = *step, .epoch = epoch};
        bool         selects = false;

        if (resumes) resume(rule, selector);
        assert_ok(cull_selector_needs(*selector, *step, epoch, &needs));
        selects = needs.action != CULL_TRAIN_ALL;
        signals.count = needs.candidates < POOL - at ? needs.candidates : POOL - at;
        assert_ok(cull_select(*selector, &signals, 0, &subset));
        if (selects)
            assert_drawn(rule, m, needs.action == CULL_SELECT_POOL ? epoch : *step, place + at,
                         signals.count, &subset);
        if (resumes) resume(rule, selector);
        for (size_t from = 0; from < subset.count; from += BATCH)
            train(*selector, m, *step, epoch, subset.place + from,
                  subset.count - from < BATCH ? subset.count - from : BATCH);
        at += signals.count;
    }
    cull_subset_clear(&subset);
    return trimmed;
}

static void live(bool resumes)
{
    for (size_t r = 0; r < RULES; r++) {
        cull_selector *selector = open_rule(&rules[r]);
        struct memory  m = {0};
        uint64_t       step = 0;
        size_t         trimmed = 0;

        for (uint64_t epoch = 0; epoch < EPOCHS; epoch++)
            trimmed += live_epoch(&rules[r], &selector, &m, epoch, &step, resumes);
        if ((trimmed > 0) != (rules[r].trim > 0))
            fail_msg("%s: %d trimmed, the case shows nothing", rules[r].options, (int)trimmed);
        cull_selector_destroy(selector);
    }
}

static void draws_are_those_of_the_rule_stated_again(void **state)
{
    (void)state;
    live(false);
}

static void a_run_resumed_at_any_moment_of_an_epoch_draws_the_same(void **state)
{
    (void)state;
    live(true);
}

/* Candidates that are the whole pool: the two percentiles are one. */
static void over_the_pool_both_percentiles_are_the_same(void **state)
{
    cull_setting   setting = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = SEED};
    cull_selector *a = make_selector("sb remembered", "keep=0.3 scope=pool", &setting);
    cull_selector *b =
        make_selector("sb remembered", "keep=0.3 scope=pool percentile=pool", &setting);
    cull_subset   x = {0}, y = {0};
    struct memory m = {0};

    (void)state;
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        cull_signals signals = {.count = POOL, .epoch = epoch};

        assert_ok(cull_select(a, &signals, 0, &x));
        assert_ok(cull_select(b, &signals, 0, &y));
        assert_int_equal(x.count, y.count);
        assert_memory_equal(x.place, y.place, x.count * sizeof *x.place);
        train(a, &m, 0, epoch, x.place, x.count);
        train(b, &m, 0, epoch, x.place, x.count);
    }
    cull_subset_clear(&x);
    cull_subset_clear(&y);
    cull_selector_destroy(a);
    cull_selector_destroy(b);
}

/* Places whose percentile is 1 - q to the last digit do not exceed it: 10 places, q = .9, one
 * pair of equals with the percentile .1. */
static void a_percentile_at_the_bound_is_not_trimmed(void **state)
{
    cull_setting   setting = {.pool = 10, .batch = 10, .epochs = EPOCHS, .seed = SEED};
    cull_selector *selector = make_selector(
        "sb remembered", "scope=pool trim=0.9 trim-weight=0 beta=0 keep=0.2", &setting);
    double       loss[10] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    cull_subset  subset = {0};
    cull_signals signals = {.count = 10};

    (void)state;
    signals.loss = cull_vector(loss, CULL_F64, 10);
    assert_ok(cull_observe(selector, &signals));
    for (uint64_t epoch = 1; epoch < EPOCHS; epoch++) {
        signals.epoch = epoch;
        assert_ok(cull_select(selector, &signals, 0, &subset));
        assert_int_equal(2, subset.count); /* the pair alone has a weight worth the name */
        assert_int_equal(0, subset.index[0]);
        assert_int_equal(1, subset.index[1]);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void options_that_say_nothing_are_refused(void **state)
{
    static const struct {
        const char *strategy, *options, *sentence;
    } bad[] = {
        {"sb", "percentile=pool", "percentile goes with losses=remembered only"},
        {"sb stale", "trim=0.1", "trim goes with losses=remembered only"},
        {"sb", "trim-weight=0.1", "trim-weight goes with losses=remembered only"},
        {"sb remembered", "trim-weight=0.1", "trim-weight goes with a trim above 0 only"},
        {"sb remembered", "trim=1.5", "trim=1.5 is outside 0 to 1"},
        {"sb remembered", "percentile=class", "percentile=class is not one of batch|pool"},
        {"top-loss remembered", "percentile=pool", "no option is called 'percentile'"},
        {"rho remembered", "trim=0.1", "no option is called 'trim'"},
        {"kath18 remembered", "score=loss trim=0.1", "no option is called 'trim'"},
    };
    cull_setting   setting = {.pool = POOL, .batch = BATCH};
    cull_selector *selector = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(option_status(bad[i].sentence), bad[i].sentence,
                     try_selector(bad[i].strategy, bad[i].options, &setting, &selector));
    /* Resolved options may be given back whole. */
    selector = make_selector("sb", "percentile=batch trim=0 trim-weight=0.05", &setting);
    cull_selector_destroy(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_those_of_the_rule_stated_again),
        cmocka_unit_test(a_run_resumed_at_any_moment_of_an_epoch_draws_the_same),
        cmocka_unit_test(over_the_pool_both_percentiles_are_the_same),
        cmocka_unit_test(a_percentile_at_the_bound_is_not_trimmed),
        cmocka_unit_test(options_that_say_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
