/* tests/unit/test_minibatches.c - scope=batch: budgets in whole minibatches, and training on them.
 */
#include "policy_support.h"

#include "select/classes.h"
#include "train/train.h"

enum { D = 6, C = 4, MOST = 205 };

static const char *const strategies[] = {"grad-match", "craig"};

struct pool {
    double       h[MOST * D], p[MOST * C];
    cull_signals signals;
};

static void fill(struct pool *pool, size_t count)
{
    for (size_t i = 0; i < MOST * D; i++) pool->h[i] = random_normal(1, i);
    for (size_t i = 0; i < MOST * C; i++) pool->p[i] = random_normal(2, i);
    pool->signals = (cull_signals){.count = count,
                                   .h = cull_matrix(pool->h, CULL_F64, count, D),
                                   .p = cull_matrix(pool->p, CULL_F64, count, C)};
}

/* Entries lie whole: every group has `batch` rows of one weight, one group may be the short one. */
static void assert_whole(const cull_subset *subset, size_t batch, size_t rest)
{
    size_t groups = 0, size = 0;
    double sum = 0;

    for (size_t i = 0; i < subset->count; i += size, groups++) {
        for (size = 0; i + size < subset->count && subset->group[i + size] == subset->group[i];)
            assert_true(subset->weight[i + size++] == subset->weight[i]);
        assert_true(size == batch || (size == rest && rest > 0));
        sum += (double)size * subset->weight[i];
    }
    assert_int_equal(groups, subset->groups);
    assert_true(fabs(sum - (double)subset->count) < 1e-6);
}

static void as_many_whole_minibatches_come_out_as_are_nearest_to_the_budget(void **state)
{
    static const size_t pools[] = {200, 205}, batches[] = {20, 7};
    static struct pool  pool;
    cull_subset         subset = {0};

    (void)state;
    for (size_t c = 0; c < 8; c++) {
        size_t         count = pools[c & 1], batch = batches[c >> 1 & 1];
        size_t         most = (count + batch - 1) / batch;
        cull_setting   setting = {.pool = count, .batch = batch, .seed = 5};
        cull_selector *s = make_selector(strategies[c >> 2], "scope=batch", &setting);

        fill(&pool, count);
        for (size_t k = 1; k < count; k += k < 60 ? 1 : 13) {
            size_t want = (size_t)llround((double)k / (double)batch);

            want = want < 1 ? 1 : want > most ? most : want;
            assert_ok(cull_select(s, &pool.signals, k, &subset));
            if (subset.groups != want)
                fail_msg("%s: %zu of %zu in batches of %zu: %zu minibatches, not %zu",
                         strategies[c >> 2], k, count, batch, subset.groups, want);
            assert_whole(&subset, batch, count % batch);
            assert_true(subset.count <= k + batch / 2 || subset.groups == 1);
            assert_false(subset.flags & CULL_SUBSET_SHORT);
        }
        cull_selector_destroy(s);
    }
    cull_subset_clear(&subset);
}

static void fewer_minibatches_than_that_are_called_short(void **state)
{
    static struct pool pool;
    cull_setting       setting = {.pool = 200, .batch = 20, .seed = 5};
    cull_subset        subset = {0};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        cull_selector *s = make_selector(
            strategies[c], c ? "scope=batch" : "scope=batch ridge=0 short=accept", &setting);

        fill(&pool, 200);
        for (size_t i = 0; i < MOST * D; i++) pool.h[i] = pool.h[i % D];
        for (size_t i = 0; i < MOST * C; i++) pool.p[i] = pool.p[i % C];
        assert_ok(cull_select(s, &pool.signals, 100, &subset));
        assert_int_equal(1, subset.groups);
        assert_int_equal(20, subset.count);
        assert_int_equal(20, subset.picked);
        assert_int_equal(CULL_SUBSET_SHORT, subset.flags);
        for (size_t i = 0; i < 20; i++) assert_true(fabs(subset.weight[i] - 1) < 1e-12);
        cull_selector_destroy(s);
    }
    cull_subset_clear(&subset);
}

static void needs_tell_how_many_come_out(void **state)
{
    static const struct {
        const char *keep;
        size_t      budget;
    } cases[] = {{"0.19", 40},  {"0.001", 20}, {"0.15", 40}, {"0.149", 20},
                 {"0.96", 200}, {"1", 200},    {"0.9", 180}};
    static struct pool pool;
    cull_setting       setting = {.pool = 200, .batch = 20, .seed = 5};
    cull_subset        subset = {0};
    cull_needs         needs = {0};

    (void)state;
    fill(&pool, 200);
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        char           options[40];
        cull_selector *s = NULL;

        (void)snprintf(options, sizeof options, "scope=batch keep=%s", cases[c / 2].keep);
        s = make_selector(strategies[c % 2], options, &setting);
        assert_ok(cull_selector_needs(s, 0, 0, &needs));
        assert_int_equal(cases[c / 2].budget, needs.budget);
        assert_ok(cull_select(s, &pool.signals, 0, &subset));
        assert_int_equal(cases[c / 2].budget, subset.count);
        for (size_t i = 0; subset.count == 200 && i < 200; i++) assert_true(subset.weight[i] == 1);
        cull_selector_destroy(s);
    }
    cull_subset_clear(&subset);
}

static void a_pool_of_one_minibatch_is_refused(void **state)
{
    cull_setting   setting = {.pool = 200};
    cull_selector *s = NULL;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        assert_fails(CULL_BAD_OPTION, "a batch of 200 is the whole pool",
                     try_selector(strategies[c], "scope=batch", &setting, &s));
        setting.batch = 199;
        assert_ok(try_selector(strategies[c], "scope=batch", &setting, &s));
        cull_selector_destroy(s);
        setting.batch = 0;
    }
}

/* ---- training ---- */

/* The group of the subset that the examples of a step are, each at its own weight. */
static size_t group_of_step(const cull_trainer *t, const cull_batch *met)
{
    const cull_subset *s = &t->pool;
    size_t             first = 0, size = 0;

    while (first < s->count && s->place[first] != met->place[0]) first++;
    assert_true(first < s->count && (first == 0 || s->group[first - 1] != s->group[first]));
    for (; first + size < s->count && s->group[first + size] == s->group[first]; size++) {
        assert_true(size < met->count);
        assert_int_equal(s->place[first + size], met->place[size]);
        assert_true(met->weight[size] == s->weight[first + size]);
    }
    assert_int_equal(size, met->count);
    return s->group[first];
}

static void picked_minibatches_are_trained_whole_through_all_their_epochs(void **state)
{
    const struct world *w = *state;

    for (size_t c = 0; c < 2; c++) {
        cull_trainer *t = NULL;
        cull_recipe  *recipe = NULL;
        char          changes[200];
        uint32_t      order[3][5] = {{0}};
        bool          weighs = false;

        (void)snprintf(changes, sizeof changes,
                       "train.epochs=3 train.batch=9 select.strategy=%s select.scope=batch "
                       "select.period=3 select.keep=0.73",
                       strategies[c]);
        recipe = recipe_of(w, changes);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        for (size_t epoch = 0; epoch < 3; epoch++) {
            bool   seen[5] = {false};
            size_t steps = 0;

            assert_ok(cull_train_enter_epoch(t, epoch, &(cull_needs){0}));
            assert_int_equal(5, t->pool.groups); /* 43 of 60, in batches of 9 */
            for (size_t i = 0; i < t->pool.count; i++)
                weighs = weighs || t->pool.weight[i] != t->pool.weight[0];
            for (; !is_epoch_over(t); steps++) {
                cull_step_values v = step_of(t);
                size_t           group = group_of_step(t, &v.batch);

                assert_true(steps < 5 && !seen[group]);
                seen[group] = true;
                order[epoch][steps] = (uint32_t)group;
            }
            assert_int_equal(5, steps);
        }
        assert_true(weighs); /* else nothing was shown */
        assert_true(memcmp(order[0], order[1], sizeof order[0]) != 0 ||
                    memcmp(order[0], order[2], sizeof order[0]) != 0);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_whole_minibatches_come_out_as_are_nearest_to_the_budget),
        cmocka_unit_test(fewer_minibatches_than_that_are_called_short),
        cmocka_unit_test(needs_tell_how_many_come_out),
        cmocka_unit_test(a_pool_of_one_minibatch_is_refused),
        TEST(picked_minibatches_are_trained_whole_through_all_their_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
