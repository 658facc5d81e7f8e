/* tests/unit/test_glister.c - glister against brute force over explicit gradients and logits. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/select.h"

enum { POOL = 40, HELD = 15, D = 4, C = 3, WIDTH = C * (D + 1) };

/* A linear softmax model over D inputs, its training pool and its validation set. */
struct pool {
    double       w[WIDTH];
    double       h[POOL * D], p[POOL * C], hv[HELD * D], z[HELD * C];
    int32_t      label[POOL], held[HELD];
    cull_signals signals;
};

static void logits(const double *w, const double *h, double *z)
{
    for (size_t c = 0; c < C; c++) {
        z[c] = w[c * (D + 1) + D];
        for (size_t j = 0; j < D; j++) z[c] += w[c * (D + 1) + j] * h[j];
    }
}

/* The loss of one example, and the gradient of the loss by its logits. */
static double softmax(const double *z, int32_t label, double *p)
{
    double most = fmax(z[0], fmax(z[1], z[2])), sum = 0;

    for (size_t c = 0; c < C; c++) sum += exp(z[c] - most);
    for (size_t c = 0; c < C; c++) p[c] = exp(z[c] - most) / sum - (label == (int32_t)c);
    return log(sum) + most - z[label];
}

static void fill(struct pool *pool, uint64_t seed)
{
    double z[C];

    for (size_t i = 0; i < WIDTH; i++) pool->w[i] = random_normal(seed + 500, i);
    for (size_t i = 0; i < POOL * D; i++) pool->h[i] = random_normal(seed, i);
    for (size_t i = 0; i < HELD * D; i++) pool->hv[i] = random_normal(seed + 1000, i);
    for (size_t i = 0; i < POOL; i++) {
        pool->label[i] = (int32_t)(C * random_uniform(seed + 2000, i));
        logits(pool->w, pool->h + i * D, z);
        (void)softmax(z, pool->label[i], pool->p + i * C);
    }
    for (size_t i = 0; i < HELD; i++) {
        pool->held[i] = (int32_t)(C * random_uniform(seed + 3000, i));
        logits(pool->w, pool->hv + i * D, pool->z + i * C);
    }
    pool->signals = (cull_signals){.count = POOL,
                                   .h = cull_matrix(pool->h, CULL_F64, POOL, D),
                                   .p = cull_matrix(pool->p, CULL_F64, POOL, C)};
    pool->signals.target = (cull_target){.count = HELD,
                                         .h = cull_matrix(pool->hv, CULL_F64, HELD, D),
                                         .label = cull_vector(pool->held, CULL_I32, HELD),
                                         .logits = cull_matrix(pool->z, CULL_F64, HELD, C)};
}

static cull_selector *make(const char *options, cull_backend *backend)
{
    cull_selector *selector = NULL;
    cull_setting   setting = {.pool = POOL, .seed = 1, .backend = backend};
    cull_option    list[8];
    char           text[200];
    size_t         count = 0;

    (void)strncpy(text, options, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *rest = text, *key; (key = strtok_r(rest, "= ", &rest)) != NULL; count++)
        list[count] = (cull_option){key, strtok_r(rest, "= ", &rest)};
    assert_ok(cull_selector_create("glister", list, count, &setting, &selector));
    return selector;
}

static void choose(const char *options, const cull_signals *signals, size_t budget,
                   cull_subset *out)
{
    cull_selector *selector = make(options, NULL);

    assert_ok(cull_select(selector, signals, budget, out));
    cull_selector_destroy(selector);
}

static void assert_same(const cull_subset *a, const cull_subset *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->index, b->index, a->count * sizeof *a->index);
    for (size_t i = 0; i < a->count; i++) assert_true(a->weight[i] == 1 && b->weight[i] == 1);
}

/* ---- brute force ------------------------------------------------------------------- */

static void gradient(const double *h, const double *p, double *g)
{
    for (size_t c = 0; c < C; c++)
        for (size_t j = 0; j <= D; j++) g[c * (D + 1) + j] = p[c] * (j < D ? h[j] : 1);
}

static void mean_gradient(const struct pool *pool, const double *z, double *mean)
{
    double g[WIDTH], p[C];

    memset(mean, 0, WIDTH * sizeof *mean);
    for (size_t v = 0; v < HELD; v++) {
        (void)softmax(z + v * C, pool->held[v], p);
        gradient(pool->hv + v * D, p, g);
        for (size_t i = 0; i < WIDTH; i++) mean[i] += g[i] / HELD;
    }
}

static double gain(const struct pool *pool, size_t j, const double *mean)
{
    double g[WIDTH], sum = 0;

    gradient(pool->h + j * D, pool->p + j * C, g);
    for (size_t i = 0; i < WIDTH; i++) sum += g[i] * mean[i];
    return sum;
}

static void move(const struct pool *pool, size_t j, double eta, double *z)
{
    for (size_t v = 0; v < HELD; v++) {
        double product = 1;
        for (size_t i = 0; i < D; i++) product += pool->hv[v * D + i] * pool->h[j * D + i];
        for (size_t c = 0; c < C; c++) z[v * C + c] -= eta * product * pool->p[j * C + c];
    }
}

/* Rounds of budget/rounds picks; marks what is picked. */
static void brute_force(const struct pool *pool, size_t budget, size_t rounds, double eta,
                        bool *picked)
{
    double z[HELD * C], mean[WIDTH];
    size_t done = 0;

    memcpy(z, pool->z, sizeof z);
    memset(picked, 0, POOL * sizeof *picked);
    for (size_t round = 0; round < rounds; round++) {
        size_t pick[POOL], count = 0;
        mean_gradient(pool, z, mean);
        for (; done < budget * (round + 1) / rounds; done++) {
            size_t best = POOL;
            for (size_t j = 0; j < POOL; j++)
                if (!picked[j] && (best == POOL || gain(pool, j, mean) > gain(pool, best, mean)))
                    best = j;
            picked[best] = true;
            pick[count++] = best;
        }
        for (size_t i = 0; i < count; i++) move(pool, pick[i], eta, z);
    }
}

static void assert_picked(const bool *picked, const cull_subset *subset, size_t budget)
{
    assert_int_equal(budget, subset->count);
    for (size_t i = 0; i < budget; i++) {
        assert_true(picked[subset->index[i]]);
        assert_true(i == 0 || subset->index[i - 1] < subset->index[i]);
        assert_true(subset->weight[i] == 1);
    }
}

/* ---- tests ------------------------------------------------------------------------- */

static void naive_picks_equal_brute_force(void **state)
{
    static struct pool pool;
    const size_t       budgets[] = {1, 2, 7, 20, 39};
    const double       eta[] = {0.01, 0.5};
    const char        *options[] = {"greedy=naive", "greedy=naive eta=0.5"};
    bool               picked[POOL];
    cull_subset        subset = {0};

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        size_t budget = budgets[i / 2 % 5];
        fill(&pool, 1 + i / 10);
        brute_force(&pool, budget, budget, eta[i % 2], picked);
        choose(options[i % 2], &pool.signals, budget, &subset);
        assert_picked(picked, &subset, budget);
    }
    cull_subset_clear(&subset);
}

static void r_greedy_picks_equal_brute_force_also_when_r_does_not_divide_k(void **state)
{
    static struct pool pool;
    const size_t       rounds[] = {1, 3, 4, 7};
    const char        *options[] = {"greedy=r-greedy eta=0.2 r=1", "greedy=r-greedy eta=0.2 r=3",
                                    "greedy=r-greedy eta=0.2 r=4", "greedy=r-greedy eta=0.2 r=7"};
    bool               picked[POOL];
    cull_subset        subset = {0};

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        fill(&pool, 20 + i / 4);
        brute_force(&pool, 18, rounds[i % 4], 0.2, picked);
        choose(options[i % 4], &pool.signals, 18, &subset);
        assert_picked(picked, &subset, 18);
    }
    cull_subset_clear(&subset);
}

static void r_greedy_with_a_round_for_each_pick_is_naive(void **state)
{
    static struct pool pool;
    cull_subset        naive = {0}, rounds = {0}, few = {0};
    size_t             differs = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        fill(&pool, seed);
        choose("greedy=naive eta=1", &pool.signals, 12, &naive);
        choose("greedy=r-greedy eta=1 r=12", &pool.signals, 12, &rounds);
        assert_same(&naive, &rounds);
        choose("greedy=r-greedy eta=1 r=1000", &pool.signals, 12, &rounds);
        assert_same(&naive, &rounds);
        choose("greedy=r-greedy eta=1 r=1", &pool.signals, 12, &few);
        differs += memcmp(naive.index, few.index, 12 * sizeof *few.index) != 0;
    }
    assert_true(differs > 0);
    cull_subset_clear(&naive);
    cull_subset_clear(&rounds);
    cull_subset_clear(&few);
}

static void stochastic_over_everybody_is_naive(void **state)
{
    static struct pool pool;
    cull_subset        naive = {0}, all = {0}, few = {0}, again = {0}, later = {0};
    size_t             differs = 0, changes = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        fill(&pool, seed);
        choose("greedy=naive", &pool.signals, 20, &naive);
        choose("greedy=stochastic sample=1e-300", &pool.signals, 20, &all);
        assert_same(&naive, &all);
        choose("sample=0.5", &pool.signals, 20, &few);
        choose("sample=0.5", &pool.signals, 20, &again);
        assert_same(&few, &again);
        for (size_t i = 1; i < few.count; i++) assert_true(few.index[i - 1] < few.index[i]);
        pool.signals.epoch = 1;
        choose("sample=0.5", &pool.signals, 20, &later);
        differs += memcmp(naive.index, few.index, 20 * sizeof *few.index) != 0;
        changes += memcmp(later.index, few.index, 20 * sizeof *few.index) != 0;
    }
    assert_true(differs > 0 && changes > 0);
    cull_subset_clear(&naive);
    cull_subset_clear(&all);
    cull_subset_clear(&few);
    cull_subset_clear(&again);
    cull_subset_clear(&later);
}

/* One pick of sample=.9 looks at ceil(40 ln(1/.9)) = 5 of 40: the best of 40 is among them one
 * time in eight. */
static void stochastic_looks_at_as_many_as_it_says(void **state)
{
    static struct pool pool;
    cull_selector     *selector = make("sample=0.9", NULL);
    cull_subset        naive = {0}, one = {0};
    size_t             hits = 0;

    (void)state;
    fill(&pool, 3);
    choose("greedy=naive", &pool.signals, 1, &naive);
    for (uint64_t epoch = 0; epoch < 2000; epoch++) {
        pool.signals.epoch = epoch;
        assert_ok(cull_select(selector, &pool.signals, 1, &one));
        hits += one.index[0] == naive.index[0];
    }
    assert_in_range(hits, 190, 310); /* 250 expected, four deviations */
    cull_selector_destroy(selector);
    cull_subset_clear(&naive);
    cull_subset_clear(&one);
}

/* The weights move by -eta g_j: the gains put the examples in the order of what that wins. */
static void the_gain_orders_examples_as_the_true_loss_after_a_tiny_step_does(void **state)
{
    static struct pool pool;
    const double       eta = 1e-6;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        cull_subset subset = {0};
        double      after[POOL], g[WIDTH], w[WIDTH], z[C], p[C];
        size_t      better = 0;

        fill(&pool, seed);
        for (size_t j = 0; j < POOL; j++) {
            gradient(pool.h + j * D, pool.p + j * C, g);
            for (size_t i = 0; i < WIDTH; i++) w[i] = pool.w[i] - eta * g[i];
            after[j] = 0;
            for (size_t v = 0; v < HELD; v++) {
                logits(w, pool.hv + v * D, z);
                after[j] += softmax(z, pool.held[v], p);
            }
        }
        for (size_t k = 1; k < POOL; k++) {
            double worst = -INFINITY;
            choose("greedy=r-greedy r=1", &pool.signals, k, &subset);
            for (size_t i = 0; i < k; i++) worst = fmax(worst, after[subset.index[i]]);
            better = 0;
            for (size_t j = 0; j < POOL; j++) better += after[j] <= worst;
            assert_int_equal(k, better);
        }
        cull_subset_clear(&subset);
    }
}

static void picking_lowers_the_validation_loss_more_than_chance(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};
    double             w[WIDTH], g[WIDTH], z[C], p[C], before = 0, after = 0, plain = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        fill(&pool, seed);
        choose("greedy=naive eta=0.05", &pool.signals, 10, &subset);
        for (int first = 0; first < 2; first++) {
            memcpy(w, pool.w, sizeof w);
            for (size_t i = 0; i < 10; i++) {
                size_t j = first ? i : subset.index[i];
                gradient(pool.h + j * D, pool.p + j * C, g);
                for (size_t l = 0; l < WIDTH; l++) w[l] -= 0.05 * g[l];
            }
            for (size_t v = 0; v < HELD; v++) {
                logits(w, pool.hv + v * D, z);
                *(first ? &plain : &after) += softmax(z, pool.held[v], p);
                if (!first) before += softmax(pool.z + v * C, pool.held[v], p);
            }
        }
    }
    assert_true(after < before && after < plain);
    cull_subset_clear(&subset);
}

static void saturated_logits_stay_finite(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 2);
    for (size_t i = 0; i < HELD * C; i++) pool.z[i] *= 1e4;
    choose("greedy=naive eta=10", &pool.signals, 12, &subset);
    assert_int_equal(12, subset.count);
    /* All right beyond doubt: every gain is zero, and ties go to the lower row. */
    for (size_t i = 0; i < HELD * C; i++)
        pool.z[i] = pool.held[i / C] == (int32_t)(i % C) ? 1e4 : -1e4;
    choose("greedy=naive", &pool.signals, 12, &subset);
    for (size_t i = 0; i < 12; i++) assert_int_equal(i, subset.index[i]);
    choose("greedy=r-greedy r=3", &pool.signals, 12, &subset);
    for (size_t i = 0; i < 12; i++) assert_int_equal(i, subset.index[i]);
    cull_subset_clear(&subset);
}

/* A confident, right example still has a gradient: 1 - softmax is not rounded away. */
static void nearly_certain_validation_still_orders_the_pool(void **state)
{
    static struct pool pool;
    cull_subset        sure = {0}, less = {0};

    (void)state;
    fill(&pool, 8);
    for (int scale = 0; scale < 2; scale++) {
        for (size_t i = 0; i < HELD * C; i++) {
            bool right = pool.held[i / C] == (int32_t)(i % C);
            pool.z[i] = right ? (scale ? 30 : 200) : random_normal(1, i);
        }
        choose("greedy=r-greedy r=1", &pool.signals, 12, scale ? &less : &sure);
    }
    assert_same(&less, &sure);
    cull_subset_clear(&sure);
    cull_subset_clear(&less);
}

static void validation_of_one_class_or_one_example_works(void **state)
{
    static struct pool pool;
    bool               picked[POOL];
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 2);
    for (size_t v = 0; v < HELD; v++) pool.held[v] = 1;
    brute_force(&pool, 9, 9, 0.01, picked);
    choose("greedy=naive", &pool.signals, 9, &subset);
    assert_picked(picked, &subset, 9);
    for (size_t v = 1; v < HELD; v++) {
        memcpy(pool.hv + v * D, pool.hv, D * sizeof *pool.hv);
        memcpy(pool.z + v * C, pool.z, C * sizeof *pool.z);
    }
    brute_force(&pool, 9, 9, 0.01, picked);
    pool.signals.target.count = 1;
    pool.signals.target.h.shape[0] = pool.signals.target.logits.shape[0] = 1;
    pool.signals.target.label.shape[0] = 1;
    choose("greedy=naive", &pool.signals, 9, &subset);
    assert_picked(picked, &subset, 9);
    cull_subset_clear(&subset);
}

static void duplicates_and_zero_gradients_tie_to_the_lower_row(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 2);
    memset(pool.p, 0, sizeof pool.p);
    choose("greedy=naive", &pool.signals, 9, &subset);
    for (size_t i = 0; i < 9; i++) assert_int_equal(i, subset.index[i]);
    fill(&pool, 2);
    for (size_t i = 1; i < POOL; i++) {
        memcpy(pool.h + i * D, pool.h, D * sizeof *pool.h);
        memcpy(pool.p + i * C, pool.p, C * sizeof *pool.p);
    }
    choose("greedy=naive", &pool.signals, 9, &subset);
    for (size_t i = 0; i < 9; i++) assert_int_equal(i, subset.index[i]);
    choose("sample=1e-300", &pool.signals, 9, &subset);
    for (size_t i = 0; i < 9; i++) assert_int_equal(i, subset.index[i]);
    cull_subset_clear(&subset);
}

static void float_and_strided_signals_give_the_same(void **state)
{
    static struct pool pool;
    float              h[POOL * (D + 2)], hv[HELD * D], p[POOL * C], z[HELD * C];
    int64_t            held[HELD];
    cull_subset        a = {0}, b = {0};
    cull_signals       signals;

    (void)state;
    fill(&pool, 4);
    for (size_t i = 0; i < POOL * D; i++) pool.h[i] = (double)(float)pool.h[i];
    for (size_t i = 0; i < HELD * D; i++) hv[i] = (float)(pool.hv[i] = (double)(float)pool.hv[i]);
    for (size_t i = 0; i < POOL * C; i++) p[i] = (float)(pool.p[i] = (double)(float)pool.p[i]);
    for (size_t i = 0; i < HELD * C; i++) z[i] = (float)(pool.z[i] = (double)(float)pool.z[i]);
    for (size_t i = 0; i < HELD; i++) held[i] = pool.held[i];
    for (size_t i = 0; i < POOL * (D + 2); i++)
        h[i] = i % (D + 2) < D ? (float)pool.h[i / (D + 2) * D + i % (D + 2)] : NAN;
    signals = pool.signals;
    signals.h = cull_matrix(h, CULL_F32, POOL, D);
    signals.h.stride[0] = D + 2;
    signals.p = cull_matrix(p, CULL_F32, POOL, C);
    signals.target.h = cull_matrix(hv, CULL_F32, HELD, D);
    signals.target.logits = cull_matrix(z, CULL_F32, HELD, C);
    signals.target.label = cull_vector(held, CULL_I64, HELD);
    choose("greedy=naive", &pool.signals, 20, &a);
    choose("greedy=naive", &signals, 20, &b);
    assert_same(&a, &b);
    choose("greedy=r-greedy r=4", &pool.signals, 20, &a);
    choose("greedy=r-greedy r=4", &signals, 20, &b);
    assert_same(&a, &b);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
}

static void threads_and_backends_change_nothing(void **state)
{
    static struct pool pool;
    const char        *variants[] = {"greedy=naive", "", "greedy=r-greedy r=5"};
    cull_backend      *backend[3] = {NULL};

    (void)state;
    fill(&pool, 6);
    assert_ok(cull_backend_open("cpu", 1, backend));
    assert_ok(cull_backend_open("cpu", 3, backend + 1));
    assert_ok(cull_backend_open("ref", 1, backend + 2));
    for (size_t v = 0; v < 3; v++) {
        cull_subset subset[3] = {{0}};
        for (size_t i = 0; i < 3; i++) {
            cull_selector *selector = make(variants[v], backend[i]);
            assert_ok(cull_select(selector, &pool.signals, 20, subset + i));
            cull_selector_destroy(selector);
        }
        assert_same(subset, subset + 1);
        assert_same(subset, subset + 2);
        for (size_t i = 0; i < 3; i++) cull_subset_clear(subset + i);
    }
    for (size_t i = 0; i < 3; i++) cull_backend_close(backend[i]);
}

static void a_restored_selector_goes_on_as_before(void **state)
{
    static struct pool pool;
    cull_selector     *selector = make("", NULL), *twin = make("", NULL);
    cull_subset        a = {0}, b = {0};
    void              *bytes = NULL;
    size_t             size = 0;

    (void)state;
    fill(&pool, 6);
    assert_ok(cull_select(selector, &pool.signals, 10, &a));
    assert_ok(cull_selector_save(selector, &bytes, &size));
    assert_ok(cull_selector_restore(twin, bytes, size));
    pool.signals.epoch = 20;
    assert_ok(cull_select(selector, &pool.signals, 10, &a));
    assert_ok(cull_select(twin, &pool.signals, 10, &b));
    assert_same(&a, &b);
    cull_bytes_release(bytes);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
    cull_selector_destroy(selector);
    cull_selector_destroy(twin);
}

static void what_is_needed_is_asked_for_and_checked(void **state)
{
    static struct pool pool;
    cull_selector     *selector = make("greedy=naive", NULL);
    cull_needs         needs = {0};
    cull_subset        subset = {0};
    cull_signals       broken;

    (void)state;
    fill(&pool, 6);
    assert_ok(cull_selector_needs(selector, 0, 0, &needs));
    assert_int_equal(CULL_SELECT_POOL, needs.action);
    assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_P, needs.signals);
    assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_LABEL | CULL_SIGNAL_LOGITS, needs.target);
    broken = pool.signals;
    broken.target.count = 0;
    assert_fails(CULL_BAD_ARGUMENT, "target", cull_select(selector, &broken, 9, &subset));
    broken = pool.signals;
    broken.target.logits = (cull_tensor){0};
    assert_fails(CULL_BAD_ARGUMENT, "logits", cull_select(selector, &broken, 9, &subset));
    pool.held[3] = C;
    assert_fails(CULL_BAD_ARGUMENT, "label", cull_select(selector, &pool.signals, 9, &subset));
    fill(&pool, 6);
    pool.z[4] = INFINITY;
    assert_fails(CULL_NOT_FINITE, "logits", cull_select(selector, &pool.signals, 9, &subset));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void numbers_beyond_all_numbers_are_refused(void **state)
{
    static struct pool pool;
    cull_selector     *selector = make("greedy=naive eta=1e9", NULL);
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 6);
    for (size_t i = 0; i < POOL * D; i++) pool.h[i] *= 1e300;
    for (size_t i = 0; i < HELD * D; i++) pool.hv[i] *= 1e6;
    assert_fails(CULL_NOT_FINITE, "logit", cull_select(selector, &pool.signals, 9, &subset));
    for (size_t i = 0; i < HELD * D; i++) pool.hv[i] *= 1e6;
    assert_fails(CULL_NOT_FINITE, "gain", cull_select(selector, &pool.signals, 9, &subset));
    assert_int_equal(0, subset.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

static void options_are_checked(void **state)
{
    cull_setting   setting = {.pool = POOL};
    cull_selector *selector = NULL;
    const char    *bad[][2] = {{"r", "3"}, {"sample", "0"}, {"eta", "-1"}, {"greedy", "lazy"}};
    cull_option    idle[] = {{"greedy", "naive"}, {"sample", "0.1"}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(CULL_BAD_OPTION, bad[i][0],
                     cull_selector_create("glister", &(cull_option){bad[i][0], bad[i][1]}, 1,
                                          &setting, &selector));
    assert_fails(CULL_BAD_OPTION, "sample",
                 cull_selector_create("glister", idle, 2, &setting, &selector));
}

static void every_failing_allocation_is_reported(void **state)
{
    static struct pool pool;
    const char        *variants[] = {"greedy=naive", "", "greedy=r-greedy r=2"};

    (void)state;
    fill(&pool, 6);
    for (size_t v = 0; v < 3; v++) {
        cull_selector *selector = make(variants[v], NULL);
        cull_status    status = CULL_NO_MEMORY;
        size_t         n = 1;

        for (; status != CULL_OK; n++) {
            cull_subset subset = {0};
            fail_nth_alloc(n);
            status = cull_select(selector, &pool.signals, 9, &subset);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_true(status == CULL_OK ? subset.count == 9 : subset.count == 0);
            cull_subset_clear(&subset);
        }
        assert_true(n > 15);
        cull_selector_destroy(selector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(naive_picks_equal_brute_force),
        cmocka_unit_test(r_greedy_picks_equal_brute_force_also_when_r_does_not_divide_k),
        cmocka_unit_test(r_greedy_with_a_round_for_each_pick_is_naive),
        cmocka_unit_test(stochastic_over_everybody_is_naive),
        cmocka_unit_test(stochastic_looks_at_as_many_as_it_says),
        cmocka_unit_test(the_gain_orders_examples_as_the_true_loss_after_a_tiny_step_does),
        cmocka_unit_test(picking_lowers_the_validation_loss_more_than_chance),
        cmocka_unit_test(saturated_logits_stay_finite),
        cmocka_unit_test(nearly_certain_validation_still_orders_the_pool),
        cmocka_unit_test(validation_of_one_class_or_one_example_works),
        cmocka_unit_test(duplicates_and_zero_gradients_tie_to_the_lower_row),
        cmocka_unit_test(float_and_strided_signals_give_the_same),
        cmocka_unit_test(threads_and_backends_change_nothing),
        cmocka_unit_test(a_restored_selector_goes_on_as_before),
        cmocka_unit_test(what_is_needed_is_asked_for_and_checked),
        cmocka_unit_test(numbers_beyond_all_numbers_are_refused),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
