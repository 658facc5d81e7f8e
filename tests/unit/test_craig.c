/* tests/unit/test_craig.c - craig against brute force over explicit gradients. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/classes.h"

enum { POOL = 60, D = 4, C = 5, WIDTH = C * (D + 1), EMPTY = 2 };

struct pool {
    double       h[POOL * D], p[POOL * C];
    int32_t      label[POOL];
    cull_signals signals;
};

/* Class 0 is the largest, class EMPTY has no example. */
static void fill(struct pool *pool, uint64_t seed)
{
    for (size_t i = 0; i < POOL * D; i++) pool->h[i] = random_normal(seed, i);
    for (size_t i = 0; i < POOL * C; i++) pool->p[i] = random_normal(seed + 1000, i);
    for (size_t i = 0; i < POOL; i++) {
        double u = random_uniform(seed + 2000, i);
        pool->label[i] = u < 0.5 ? 0 : u < 0.7 ? 1 : u < 0.9 ? 3 : 4;
    }
    pool->signals = (cull_signals){.count = POOL,
                                   .h = cull_matrix(pool->h, CULL_F64, POOL, D),
                                   .p = cull_matrix(pool->p, CULL_F64, POOL, C),
                                   .label = cull_vector(pool->label, CULL_I32, POOL)};
}

static cull_selector *make(const char *options, size_t batch, cull_backend *backend)
{
    cull_selector *selector = NULL;
    cull_setting   setting = {.pool = POOL, .batch = batch, .seed = 1, .backend = backend};
    cull_option    list[8];
    char           text[200];
    size_t         count = 0;

    (void)strncpy(text, options, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *rest = text, *key; (key = strtok_r(rest, "= ", &rest)) != NULL; count++)
        list[count] = (cull_option){key, strtok_r(rest, "= ", &rest)};
    assert_ok(cull_selector_create("craig", list, count, &setting, &selector));
    return selector;
}

static void choose(const char *options, size_t batch, const cull_signals *signals, size_t budget,
                   cull_subset *out)
{
    cull_selector *selector = make(options, batch, NULL);

    assert_ok(cull_select(selector, signals, budget, out));
    cull_selector_destroy(selector);
}

static void assert_same(const cull_subset *a, const cull_subset *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->groups, b->groups);
    assert_memory_equal(a->index, b->index, a->count * sizeof *a->index);
    assert_memory_equal(a->place, b->place, a->count * sizeof *a->place);
    assert_memory_equal(a->group, b->group, a->count * sizeof *a->group);
    assert_memory_equal(a->weight, b->weight, a->count * sizeof *a->weight);
}

static double sum_of_weights(const cull_subset *subset)
{
    double sum = 0;

    for (size_t i = 0; i < subset->count; i++) sum += subset->weight[i];
    return sum;
}

/* ---- brute force ------------------------------------------------------------------- */

static void add_gradient(const struct pool *pool, size_t row, double factor, double *g)
{
    for (size_t c = 0; c < C; c++)
        for (size_t j = 0; j <= D; j++)
            g[c * (D + 1) + j] +=
                factor * pool->p[row * C + c] * (j < D ? pool->h[row * D + j] : 1);
}

static double distance(const double *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < WIDTH; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The sum over atoms of the similarity to the nearest of the first `picked`, and its number. */
static double value(const double *near, size_t n, const size_t *pick, size_t picked, size_t *owner)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double best = 0;
        owner[i] = 0;
        for (size_t j = 0; j < picked; j++) {
            if (near[pick[j] * n + i] <= best) continue;
            best = near[pick[j] * n + i];
            owner[i] = j;
        }
        sum += best;
    }
    return sum;
}

/* Greedy by evaluating the whole objective for every candidate. Two atoms nearest to each other
 * are worth the same, whichever is picked: distances of float precision make the sums exact,
 * so that such a tie is one, and goes to the lower row. */
static void brute_force(const double *g, size_t n, size_t k, size_t *pick, double *weight)
{
    double *near = calloc(n * n, sizeof *near), most = 0;
    size_t *owner = calloc(n, sizeof *owner);
    bool   *taken = calloc(n, sizeof *taken);

    for (size_t i = 0; i < n * n; i++) {
        near[i] = (double)(float)distance(g + i / n * WIDTH, g + i % n * WIDTH);
        most = near[i] > most ? near[i] : most;
    }
    for (size_t i = 0; i < n * n; i++) near[i] = most - near[i];
    for (size_t j = 0; j < k; j++) {
        size_t best = n;
        double best_value = -1;
        for (size_t i = 0; i < n; i++) {
            pick[j] = i;
            if (taken[i]) continue;
            double now = value(near, n, pick, j + 1, owner);
            if (now <= best_value) continue;
            best_value = now;
            best = i;
        }
        taken[pick[j] = best] = true;
        weight[j] = 0;
    }
    (void)value(near, n, pick, k, owner);
    for (size_t i = 0; i < n; i++) weight[owner[i]] += 1;
    free(near);
    free(owner);
    free(taken);
}

/* What scope=class must return: weight of each row, -1 where it is not picked. */
static void brute_force_by_class(const struct pool *pool, size_t budget, double *expected)
{
    size_t size[C] = {0}, share[C], pick[POOL];
    double g[POOL * WIDTH], weight[POOL], sum = 0;

    for (size_t i = 0; i < POOL; i++) {
        size[pool->label[i]]++;
        expected[i] = -1;
    }
    cull_budget_split(budget, size, C, share);
    for (size_t c = 0; c < C; c++) {
        size_t row[POOL], n = 0;
        memset(g, 0, sizeof g);
        for (size_t i = 0; i < POOL; i++) {
            if (pool->label[i] != (int32_t)c) continue;
            add_gradient(pool, i, 1, g + n * WIDTH);
            row[n++] = i;
        }
        if (share[c]) brute_force(g, n, share[c], pick, weight);
        for (size_t j = 0; j < share[c]; j++) sum += expected[row[pick[j]]] = weight[j];
    }
    for (size_t i = 0; i < POOL; i++)
        if (expected[i] >= 0) expected[i] *= (double)budget / sum;
}

static void assert_expected(const double *expected, const cull_subset *subset)
{
    size_t count = 0;

    for (size_t i = 0; i < POOL; i++) count += expected[i] >= 0;
    assert_int_equal(count, subset->count);
    for (size_t i = 0; i < subset->count; i++) {
        assert_true(expected[subset->index[i]] >= 0);
        assert_true(fabs(expected[subset->index[i]] - subset->weight[i]) < 1e-9);
    }
}

/* ---- tests ------------------------------------------------------------------------- */

static void picks_and_weights_per_class_equal_brute_force(void **state)
{
    static struct pool pool;
    const size_t       budgets[] = {1, 2, 4, 13, 30, 59};
    double             expected[POOL];
    cull_subset        subset = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fill(&pool, seed);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            brute_force_by_class(&pool, budgets[b], expected);
            choose("", 0, &pool.signals, budgets[b], &subset);
            assert_expected(expected, &subset);
            choose("greedy=naive", 0, &pool.signals, budgets[b], &subset);
            assert_expected(expected, &subset);
            assert_int_equal(0, subset.groups);
        }
    }
    cull_subset_clear(&subset);
}

static void float_and_strided_signals_give_the_same(void **state)
{
    static struct pool pool;
    float              h[POOL * (D + 3)], p[POOL * C];
    cull_subset        a = {0}, b = {0};
    cull_signals       signals;

    (void)state;
    fill(&pool, 3);
    for (size_t i = 0; i < POOL * D; i++) pool.h[i] = (double)(float)pool.h[i];
    for (size_t i = 0; i < POOL * C; i++) p[i] = (float)(pool.p[i] = (double)(float)pool.p[i]);
    for (size_t i = 0; i < POOL * (D + 3); i++)
        h[i] = i % (D + 3) < D ? (float)pool.h[i / (D + 3) * D + i % (D + 3)] : NAN;
    signals = pool.signals;
    signals.h = cull_matrix(h, CULL_F32, POOL, D);
    signals.h.stride[0] = D + 3;
    signals.p = cull_matrix(p, CULL_F32, POOL, C);
    choose("", 0, &pool.signals, 20, &a);
    choose("", 0, &signals, 20, &b);
    assert_same(&a, &b);
    choose("scope=batch", 5, &pool.signals, 20, &a);
    choose("scope=batch", 5, &signals, 20, &b);
    assert_same(&a, &b);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
}

static void weights_have_mean_one_and_stand_for_their_class(void **state)
{
    static struct pool pool;
    size_t             size[C] = {0}, share[C], chosen[C] = {0};
    double             weight[C] = {0};
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 7);
    for (size_t i = 0; i < POOL; i++) size[pool.label[i]]++;
    cull_budget_split(25, size, C, share);
    choose("", 0, &pool.signals, 25, &subset);
    assert_int_equal(25, subset.count);
    assert_true(fabs(sum_of_weights(&subset) - 25) < 1e-9);
    for (size_t i = 0; i < 25; i++) {
        chosen[pool.label[subset.index[i]]]++;
        weight[pool.label[subset.index[i]]] += subset.weight[i];
    }
    for (size_t c = 0; c < C; c++) {
        assert_int_equal(share[c], chosen[c]);
        assert_true(fabs(weight[c] - 25 * (double)size[c] / POOL) < 1e-9);
    }
    assert_int_equal(0, chosen[EMPTY]);
    cull_subset_clear(&subset);
}

static void one_pick_is_the_most_central_of_the_largest_class(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};
    double             expected[POOL];

    (void)state;
    fill(&pool, 9);
    brute_force_by_class(&pool, 1, expected);
    choose("", 0, &pool.signals, 1, &subset);
    assert_int_equal(1, subset.count);
    assert_int_equal(0, pool.label[subset.index[0]]);
    assert_true(subset.weight[0] == 1);
    assert_expected(expected, &subset);
    cull_subset_clear(&subset);
}

static void duplicates_go_to_the_lower_row_and_the_first_pick(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 1);
    for (size_t i = 0; i < POOL; i++) {
        memcpy(pool.h + i * D, pool.h, D * sizeof *pool.h);
        memcpy(pool.p + i * C, pool.p, C * sizeof *pool.p);
        pool.label[i] = 1;
    }
    for (int zero = 0; zero < 2; zero++) {
        if (zero) memset(pool.p, 0, sizeof pool.p);
        choose("", 0, &pool.signals, 6, &subset);
        assert_int_equal(1, subset.count);
        assert_int_equal(1, subset.picked);
        assert_int_equal(0, subset.index[0]);
        assert_true(subset.weight[0] == 1);
        assert_int_equal(CULL_SUBSET_SHORT, subset.flags);
        choose("scope=batch", 10, &pool.signals, 20, &subset);
        assert_int_equal(10, subset.count);
        assert_int_equal(10, subset.picked);
        assert_int_equal(1, subset.groups);
        assert_true(sum_of_weights(&subset) == 10);
        assert_int_equal(CULL_SUBSET_SHORT, subset.flags);
    }
    cull_subset_clear(&subset);
}

/* Ten different examples, six times each: whoever comes again represents nobody. */
static void examples_that_represent_nobody_are_left_out(void **state)
{
    static struct pool pool;
    const char        *greedy[] = {"", "greedy=naive", "greedy=stochastic sample=1e-300"};
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 1);
    for (size_t i = 0; i < POOL; i++) {
        memcpy(pool.h + i * D, pool.h + i % 10 * D, D * sizeof *pool.h);
        memcpy(pool.p + i * C, pool.p + i % 10 * C, C * sizeof *pool.p);
        pool.label[i] = (int32_t)(i % 2);
    }
    for (size_t g = 0; g < 3; g++) {
        for (size_t budget = 2; budget < POOL; budget += 6) {
            choose(greedy[g], 0, &pool.signals, budget, &subset);
            assert_int_equal(budget < 10 ? budget : 10, subset.count);
            assert_int_equal(subset.count, subset.picked);
            assert_int_equal(budget > 10 ? CULL_SUBSET_SHORT : 0, subset.flags);
            assert_true(fabs(sum_of_weights(&subset) - (double)subset.count) < 1e-9);
            for (size_t i = 0; i < subset.count; i++) {
                assert_true(subset.weight[i] > 0);
                assert_true(subset.index[i] < 10); /* ties go to the lower row */
            }
        }
    }
    cull_subset_clear(&subset);
}

static void whole_minibatches_equal_brute_force_on_mean_gradients(void **state)
{
    static struct pool   pool;
    static double        g[POOL * WIDTH];
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};
    cull_subset          subset = {0};
    size_t               pick[POOL];
    double               weight[POOL], expected[POOL];

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        size_t batch = 1 + seed, budget = 22, rows = 0, picks = (budget + batch / 2) / batch;
        double sum = 0;

        fill(&pool, seed);
        pool.signals.label = (cull_tensor){0};
        pool.signals.epoch = seed;
        assert_ok(cull_sel_minibatches_make(&kit, &pool.signals, batch, 1, &cuts));
        memset(g, 0, sizeof g);
        for (size_t b = 0; b < cuts.count; b++)
            for (size_t i = cuts.start[b]; i < cuts.start[b + 1]; i++)
                add_gradient(&pool, cuts.row[i], 1 / (double)(cuts.start[b + 1] - cuts.start[b]),
                             g + b * WIDTH);
        brute_force(g, cuts.count, picks, pick, weight);
        for (size_t i = 0; i < POOL; i++) expected[i] = -1;
        for (size_t j = 0; j < picks; j++) {
            for (size_t i = cuts.start[pick[j]]; i < cuts.start[pick[j] + 1]; i++, rows++)
                sum += expected[cuts.row[i]] = weight[j];
        }
        for (size_t i = 0; i < POOL; i++)
            if (expected[i] >= 0) expected[i] *= (double)rows / sum;
        choose("scope=batch", batch, &pool.signals, budget, &subset);
        assert_expected(expected, &subset);
        assert_int_equal(picks, subset.groups);
        cull_kit_clear(&kit);
    }
    cull_subset_clear(&subset);
}

static void a_budget_below_the_batch_keeps_one_minibatch(void **state)
{
    static struct pool pool;
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 2);
    choose("scope=batch", 32, &pool.signals, 12, &subset);
    assert_true(subset.count == 32 || subset.count == POOL - 32);
    assert_int_equal(1, subset.groups);
    for (size_t i = 0; i < subset.count; i++) assert_true(subset.weight[i] == 1);
    cull_subset_clear(&subset);
}

/* 60 minibatches of one, 40 classes of 101 numbers: 20 classes fit beside the pairs. */
static void gradients_made_a_few_classes_at_a_time_give_the_same(void **state)
{
    enum { WIDE = 100, MANY = 40 };
    double      *h = normals_f64(1, POOL * WIDE), *p = normals_f64(2, POOL * MANY);
    cull_signals signals = {.count = POOL,
                            .h = cull_matrix(h, CULL_F64, POOL, WIDE),
                            .p = cull_matrix(p, CULL_F64, POOL, MANY)};
    cull_subset  a = {0}, b = {0};

    (void)state;
    choose("scope=batch memory=512", 1, &signals, 20, &a);
    choose("scope=batch memory=1", 1, &signals, 20, &b);
    assert_same(&a, &b);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
    free(h);
    free(p);
}

static void too_many_minibatches_for_the_memory_are_refused(void **state)
{
    enum { MANY = 257, WIDE = 700 };
    cull_setting   setting = {.pool = MANY, .batch = 1, .seed = 1};
    cull_option    options[] = {{"scope", "batch"}, {"memory", "1"}};
    double        *h = normals_f64(1, (size_t)MANY * WIDE), *p = normals_f64(2, MANY);
    cull_signals   signals = {.count = MANY,
                              .h = cull_matrix(h, CULL_F64, MANY, WIDE),
                              .p = cull_matrix(p, CULL_F64, MANY, 1)};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};

    (void)state;
    assert_ok(cull_selector_create("craig", options, 2, &setting, &selector));
    assert_fails(CULL_TOO_LARGE, "257 minibatches", cull_select(selector, &signals, 9, &subset));
    signals.count = (size_t)(signals.h.shape[0] = signals.p.shape[0] = 200);
    assert_fails(CULL_TOO_LARGE, "one class", cull_select(selector, &signals, 9, &subset));
    signals.count = (size_t)(signals.h.shape[0] = signals.p.shape[0] = 100);
    assert_ok(cull_select(selector, &signals, 9, &subset));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    free(h);
    free(p);
}

static void stochastic_over_everybody_is_naive(void **state)
{
    static struct pool pool;
    cull_subset        naive = {0}, all = {0}, few = {0}, again = {0};
    bool               differs = false;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fill(&pool, seed);
        choose("greedy=naive", 0, &pool.signals, 20, &naive);
        choose("greedy=stochastic sample=1e-300", 0, &pool.signals, 20, &all);
        assert_same(&naive, &all);
        choose("greedy=stochastic sample=0.3", 0, &pool.signals, 20, &few);
        choose("greedy=stochastic sample=0.3", 0, &pool.signals, 20, &again);
        assert_same(&few, &again);
        for (size_t i = 1; i < few.count; i++) assert_true(few.index[i - 1] < few.index[i]);
        if (memcmp(naive.index, few.index, 20 * sizeof *few.index) != 0) differs = true;
    }
    assert_true(differs);
    cull_subset_clear(&naive);
    cull_subset_clear(&all);
    cull_subset_clear(&few);
    cull_subset_clear(&again);
}

/* By a power of two, so that rounding has no say. */
static void scaling_all_gradients_changes_nothing(void **state)
{
    static struct pool pool;
    cull_subset        a = {0}, b = {0};

    (void)state;
    for (int scope = 0; scope < 2; scope++) {
        const char *options = scope ? "scope=batch" : "scope=class";
        fill(&pool, 4);
        choose(options, 4, &pool.signals, 20, &a);
        for (size_t i = 0; i < POOL * C; i++) pool.p[i] *= 0x1p-30;
        choose(options, 4, &pool.signals, 20, &b);
        assert_same(&a, &b);
    }
    cull_subset_clear(&a);
    cull_subset_clear(&b);
}

/* Float32 H and P of 1e20, whose gradients leave float32; P alone at its usual size does not. */
static void large_and_small_gradients_are_chosen_from_as_any(void **state)
{
    static struct pool pool;
    static const int   exponents[] = {-149, 66};
    float              h[POOL * D], p[POOL * C];
    cull_subset        a = {0}, b = {0};

    (void)state;
    for (int scope = 0; scope < 4; scope++) {
        const char *options = scope % 2 ? "scope=batch" : "scope=class";
        fill(&pool, 4);
        for (size_t i = 0; i < POOL * D; i++) h[i] = (float)ldexp(pool.h[i], 66);
        for (size_t i = 0; i < POOL * C; i++) p[i] = (float)(int)(4 * pool.p[i]);
        pool.signals.h = cull_matrix(h, CULL_F32, POOL, D);
        pool.signals.p = cull_matrix(p, CULL_F32, POOL, C);
        choose(options, 4, &pool.signals, 20, &a);
        for (size_t i = 0; i < a.count; i++) assert_true(a.weight[i] > 0);
        for (size_t i = 0; i < POOL * C; i++) p[i] = ldexpf(p[i], exponents[scope / 2]);
        choose(options, 4, &pool.signals, 20, &b);
        assert_same(&a, &b);
    }
    cull_subset_clear(&a);
    cull_subset_clear(&b);
}

static void gradients_beyond_doubles_are_refused_by_name(void **state)
{
    static struct pool pool;

    (void)state;
    for (int scope = 0; scope < 2; scope++) {
        cull_selector *selector = make(scope ? "scope=batch" : "scope=class", 4, NULL);
        cull_subset    subset = {0};

        fill(&pool, 4);
        for (size_t i = 0; i < C; i++) pool.p[17 * C + i] *= 1e150;
        pool.h[17 * D] = 1e200;
        assert_fails(CULL_NOT_FINITE, "example 17",
                     cull_select(selector, &pool.signals, 20, &subset));
        assert_int_equal(0, subset.count);
        pool.h[17 * D] = 1e100; /* squares beyond 1e308 are none */
        assert_ok(cull_select(selector, &pool.signals, 20, &subset));
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

static void the_order_of_the_pool_changes_nothing(void **state)
{
    static struct pool pool, reversed;
    uint32_t           place[POOL];
    cull_subset        a = {0}, b = {0};

    (void)state;
    fill(&pool, 5);
    fill(&reversed, 5);
    for (uint32_t i = 0; i < POOL; i++) {
        place[i] = POOL - 1 - i;
        memcpy(reversed.h + i * D, pool.h + place[i] * D, D * sizeof *pool.h);
        memcpy(reversed.p + i * C, pool.p + place[i] * C, C * sizeof *pool.p);
        reversed.label[i] = pool.label[place[i]];
    }
    reversed.signals.place = place;
    choose("", 0, &pool.signals, 20, &a);
    choose("", 0, &reversed.signals, 20, &b);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(a.place[i], b.place[19 - i]);
        assert_true(fabs(a.weight[i] - b.weight[19 - i]) < 1e-12);
    }
    cull_subset_clear(&a);
    cull_subset_clear(&b);
}

static void threads_and_backends_change_nothing(void **state)
{
    static struct pool pool;
    const char        *variants[] = {"", "greedy=stochastic sample=0.2", "scope=batch"};
    cull_backend      *backend[3] = {NULL};

    (void)state;
    fill(&pool, 6);
    assert_ok(cull_backend_open("cpu", 1, backend));
    assert_ok(cull_backend_open("cpu", 3, backend + 1));
    assert_ok(cull_backend_open("ref", 1, backend + 2));
    for (size_t v = 0; v < 3; v++) {
        cull_subset subset[3] = {{0}};
        for (size_t i = 0; i < 3; i++) {
            cull_selector *selector = make(variants[v], 4, backend[i]);
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
    cull_selector     *selector = make("greedy=stochastic", 0, NULL);
    cull_selector     *twin = make("greedy=stochastic", 0, NULL);
    cull_subset        a = {0}, b = {0};
    void              *bytes = NULL;
    size_t             size = 0;

    (void)state;
    fill(&pool, 6);
    assert_ok(cull_select(selector, &pool.signals, 20, &a));
    assert_ok(cull_selector_save(selector, &bytes, &size));
    assert_ok(cull_selector_restore(twin, bytes, size));
    pool.signals.epoch = 20;
    assert_ok(cull_select(selector, &pool.signals, 20, &a));
    assert_ok(cull_select(twin, &pool.signals, 20, &b));
    assert_same(&a, &b);
    cull_bytes_release(bytes);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
    cull_selector_destroy(selector);
    cull_selector_destroy(twin);
}

static void labels_are_asked_for_only_by_class(void **state)
{
    static struct pool pool;
    cull_selector     *by_class = make("", 0, NULL), *by_batch = make("scope=batch", 4, NULL);
    cull_needs         needs = {0};
    cull_subset        subset = {0};

    (void)state;
    fill(&pool, 6);
    pool.signals.label = (cull_tensor){0};
    assert_ok(cull_selector_needs(by_class, 0, 0, &needs));
    assert_int_equal(CULL_SELECT_POOL, needs.action);
    assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL, needs.signals);
    assert_fails(CULL_BAD_ARGUMENT, "label", cull_select(by_class, &pool.signals, 9, &subset));
    assert_ok(cull_selector_needs(by_batch, 0, 0, &needs));
    assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_P, needs.signals);
    assert_ok(cull_select(by_batch, &pool.signals, 9, &subset));
    assert_ok(cull_selector_needs(by_batch, 1, 0, &needs));
    assert_int_equal(CULL_KEEP_SUBSET, needs.action);
    assert_int_equal(0, needs.signals);
    cull_subset_clear(&subset);
    cull_selector_destroy(by_class);
    cull_selector_destroy(by_batch);
}

static void options_are_checked(void **state)
{
    cull_setting   setting = {.pool = POOL};
    cull_selector *selector = NULL;

    (void)state;
    assert_fails(
        CULL_BAD_OPTION, "sample",
        cull_selector_create("craig", &(cull_option){"sample", "0.1"}, 1, &setting, &selector));
    assert_fails(
        CULL_BAD_OPTION, "memory",
        cull_selector_create("craig", &(cull_option){"memory", "0"}, 1, &setting, &selector));
    assert_fails(
        CULL_BAD_OPTION, "scope",
        cull_selector_create("craig", &(cull_option){"scope", "all"}, 1, &setting, &selector));
}

static void every_failing_allocation_is_reported(void **state)
{
    static struct pool pool;

    (void)state;
    fill(&pool, 6);
    for (int scope = 0; scope < 2; scope++) {
        cull_selector *selector = make(scope ? "scope=batch" : "scope=class", 4, NULL);
        cull_status    status = CULL_NO_MEMORY;
        size_t         n = 1;

        for (; status != CULL_OK; n++) {
            cull_subset subset = {0};
            fail_nth_alloc(n);
            status = cull_select(selector, &pool.signals, 9, &subset);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_true(status == CULL_OK ? subset.count >= 8 : subset.count == 0);
            cull_subset_clear(&subset);
        }
        assert_true(n > 10);
        cull_selector_destroy(selector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_and_weights_per_class_equal_brute_force),
        cmocka_unit_test(float_and_strided_signals_give_the_same),
        cmocka_unit_test(weights_have_mean_one_and_stand_for_their_class),
        cmocka_unit_test(one_pick_is_the_most_central_of_the_largest_class),
        cmocka_unit_test(duplicates_go_to_the_lower_row_and_the_first_pick),
        cmocka_unit_test(examples_that_represent_nobody_are_left_out),
        cmocka_unit_test(whole_minibatches_equal_brute_force_on_mean_gradients),
        cmocka_unit_test(a_budget_below_the_batch_keeps_one_minibatch),
        cmocka_unit_test(gradients_made_a_few_classes_at_a_time_give_the_same),
        cmocka_unit_test(too_many_minibatches_for_the_memory_are_refused),
        cmocka_unit_test(stochastic_over_everybody_is_naive),
        cmocka_unit_test(scaling_all_gradients_changes_nothing),
        cmocka_unit_test(large_and_small_gradients_are_chosen_from_as_any),
        cmocka_unit_test(gradients_beyond_doubles_are_refused_by_name),
        cmocka_unit_test(the_order_of_the_pool_changes_nothing),
        cmocka_unit_test(threads_and_backends_change_nothing),
        cmocka_unit_test(a_restored_selector_goes_on_as_before),
        cmocka_unit_test(labels_are_asked_for_only_by_class),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
