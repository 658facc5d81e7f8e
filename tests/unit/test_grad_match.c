/* tests/unit/test_grad_match.c - properties of grad-match in its four scopes. */
#include <stdio.h>

#include "gradients.h"
#include "select/classes.h"

static const double tolerance = 1e-8; /* weights near 1 from double input */

enum { MOST_OPTIONS = 6 };
static const char *const scopes[] = {"class-gradient", "class", "all", "batch"};

struct run {
    cull_option   options[MOST_OPTIONS];
    const char   *strategy; /* NULL: grad-match */
    size_t        pool, batch;
    uint64_t      seed;
    const char   *backend; /* NULL: cpu, one thread */
    unsigned      threads;
    cull_backend *open;
};

static cull_status try_select(struct run *run, const cull_signals *signals, size_t budget,
                              cull_subset *out)
{
    cull_setting setting = {
        .pool = run->pool ? run->pool : signals->count, .batch = run->batch, .seed = run->seed};
    cull_selector *selector = NULL;
    cull_status    status = CULL_OK;
    size_t         count = 0;

    while (count < MOST_OPTIONS && run->options[count].key) count++;
    if (run->backend) TRY(cull_backend_open(run->backend, run->threads, &run->open));
    setting.backend = run->open;
    TRY(cull_selector_create(run->strategy ? run->strategy : "grad-match", run->options, count,
                             &setting, &selector));
    TRY(cull_select(selector, signals, budget, out));
done:
    cull_selector_destroy(selector);
    cull_backend_close(run->open);
    run->open = NULL;
    return status;
}

static cull_subset select_with(struct run run, const cull_signals *signals, size_t budget)
{
    cull_subset subset = {0};

    assert_ok(try_select(&run, signals, budget, &subset));
    return subset;
}

static void class_sizes(const struct data *data, size_t *size)
{
    memset(size, 0, data->c * sizeof *size);
    for (size_t i = 0; i < data->n; i++) size[data->label[i]]++;
}

/* Add the brute-force weights of one problem, unnormalised, to expected[row]. */
static void brute_problem(const struct data *data, const struct data *target, int class, int column,
                          size_t m, double ridge, double *expected)
{
    size_t    size = column < 0 ? data->c * (data->d + 1) : data->d + 1, n = 0;
    double   *g = malloc(data->n * size * sizeof *g), *one = malloc(size * sizeof *one);
    double   *b = calloc(size, sizeof *b), *weight = malloc(m * sizeof *weight);
    uint32_t *row = malloc(data->n * sizeof *row), *index = malloc(m * sizeof *index);

    for (size_t i = 0; i < data->n; i++) {
        if (class >= 0 && data->label[i] != class) continue;
        gradient(data, i, column, g + n * size);
        row[n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < target->n; i++) {
        if (class >= 0 && target->label[i] != class) continue;
        gradient(target, i, column, one);
        for (size_t j = 0; j < size; j++) b[j] += one[j];
    }
    brute_omp(g, n, size, b, m, ridge, true, index, weight);
    for (size_t i = 0; i < m; i++)
        if (weight[i] > 0) expected[row[index[i]]] = weight[i];
    free(g);
    free(one);
    free(b);
    free(weight);
    free(row);
    free(index);
}

/* With short=accept, what is returned is the brute-force answer and nothing else. */
static void assert_brute(const struct data *data, const struct data *target, size_t scope, size_t k,
                         double ridge, const cull_subset *found)
{
    double *expected = calloc(data->n, sizeof *expected), sum = 0;
    size_t  size[8], share[8], kept = 0;

    class_sizes(data, size);
    cull_budget_split(k, size, data->c, share);
    for (int c = 0; scope < 2 && c < (int)data->c; c++)
        if (share[c]) brute_problem(data, target, c, scope ? -1 : c, share[c], ridge, expected);
    if (scope == 2) brute_problem(data, target, -1, -1, k, ridge, expected);
    for (size_t i = 0; i < data->n; i++)
        if (expected[i] > 0) kept++, sum += expected[i];
    assert_int_equal(kept, found->count);
    assert_int_equal(kept, found->picked);
    assert_int_equal(kept < k ? CULL_SUBSET_SHORT : 0, found->flags);
    for (size_t i = 0; i < data->n; i++)
        assert_near(expected[i] * (double)kept / sum, weight_of(found, i), tolerance);
    free(expected);
}

static void picks_and_weights_are_those_of_brute_force(void **state)
{
    static const struct {
        const char *text;
        double      value;
    } ridges[] = {{"0.5", 0.5}, {"0.1", 0.1}, {"0", 0}};

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct data data = data_make(seed, 60, 9, 4), other = data_make(seed + 50, 30, 9, 4);

        for (size_t k = 0; k < 3 * 3 * 2 * 2; k++) {
            size_t      scope = k % 3, ridge = k / 3 % 3;
            bool        plain = k / 9 % 2, validation = k / 18 != 0;
            struct run  run = {.options = {{"scope", scopes[scope]},
                                           {"ridge", ridges[ridge].text},
                                           {"match", validation ? "validation" : "training"},
                                           {"short", "accept"}},
                               .backend = plain ? "ref" : "cpu",
                               .threads = 1 + (unsigned)(seed % 3)};
            cull_subset found = {0};

            as_target(&other, &data.signals.target);
            found = select_with(run, &data.signals, 13);
            assert_brute(&data, validation ? &other : &data, scope, 13, ridges[ridge].value,
                         &found);
            cull_subset_clear(&found);
        }
        data_free(&data);
        data_free(&other);
    }
}

static void many_picks_of_one_row_are_those_of_brute_force(void **state)
{
    struct data data = data_make(3, 60, 4, 2); /* 20 and more picks of 5 numbers each */
    cull_subset found =
        select_with((struct run){.options = {{"short", "accept"}}}, &data.signals, 40);

    (void)state;
    assert_brute(&data, &data, 0, 40, 0.5, &found);
    cull_subset_clear(&found);
    data_free(&data);
}

/* The pool as one batch: a stored Gram matrix and the mean as target, against columns made on
 * demand and the sum. */
static void all_is_gradmatch_over_the_pool(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct data data = data_make(seed, 80, 7, 3);
        struct run  run = {.options = {{"scope", "all"}, {"ridge", "0.3"}}, .seed = seed};
        struct run  batch = {.options = {{"ridge", "0.3"}}, .strategy = "gradmatch", .seed = seed};
        cull_subset one = select_with(run, &data.signals, 20);
        cull_subset two = select_with(batch, &data.signals, 20);

        assert_same(&one, &two, tolerance);
        cull_subset_clear(&one);
        cull_subset_clear(&two);
        data_free(&data);
    }
}

static void scale_gradients(struct data *data, double by)
{
    for (size_t i = 0; i < data->n * data->c; i++) data->p[i] *= by;
}

/* The mean of diag K: of (|h|^2 + 1) |p|^2. */
static double mean_square(const struct data *data)
{
    double sum = 0;

    for (size_t i = 0; i < data->n; i++)
        sum += (inner(data->h + i * data->d, data->h + i * data->d, data->d) + 1) *
               inner(data->p + i * data->c, data->p + i * data->c, data->c);
    return sum / (double)data->n;
}

static void an_absolute_ridge_is_lambda_over_the_mean_square(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data data = data_make(seed, 60, 7, 3);
        char        text[40];
        struct run  run = {.options = {{"scope", "all"}, {"ridge", "0.3"}},
                           .backend = seed % 2 ? "cpu" : "ref"};
        cull_subset one = select_with(run, &data.signals, 15), two = {0};

        (void)snprintf(text, sizeof text, "absolute:%.17g", 0.3 * mean_square(&data));
        run.options[1].value = text;
        two = select_with(run, &data.signals, 15);
        assert_same(&one, &two, tolerance);
        cull_subset_clear(&one);
        cull_subset_clear(&two);
        data_free(&data);
    }
}

/* As lambda has the unit of a squared gradient: twice the gradients and four times lambda are the
 * same; twice the gradients alone are not. The relative one does not see it. */
static void an_absolute_ridge_sees_how_large_gradients_are(void **state)
{
    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        struct data data = data_make(7, 84, 6, 3);
        struct run  run = {.options = {{"scope", scopes[scope]}, {"ridge", "absolute:0.5"}},
                           .batch = 7};
        struct run  fourfold = {.options = {{"scope", scopes[scope]}, {"ridge", "absolute:2"}},
                                .batch = 7};
        cull_subset one = select_with(run, &data.signals, 42), two = {0}, three = {0};
        double      moved = 0;

        scale_gradients(&data, 2);
        two = select_with(fourfold, &data.signals, 42);
        three = select_with(run, &data.signals, 42);
        assert_same(&one, &two, tolerance);
        for (size_t i = 0; i < data.n; i++)
            moved = fmax(moved, fabs(weight_of(&one, i) - weight_of(&three, i)));
        assert_true(moved > 1e-3);
        cull_subset_clear(&one);
        cull_subset_clear(&two);
        cull_subset_clear(&three);
        data_free(&data);
    }
}

static void what_is_no_ridge_is_refused(void **state)
{
    static const char *const wrong[] = {"absolute:",  "absolute:x",   "absolute:-1", "absolute",
                                        "relative:1", "absolute:1e7", "absolute:1 "};
    struct data              data = data_make(3, 30, 4, 2);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run  run = {.options = {{"ridge", wrong[i]}}};
        cull_subset found = {0};

        assert_fails(CULL_BAD_OPTION, "ridge", try_select(&run, &data.signals, 10, &found));
        cull_subset_clear(&found);
    }
    {
        struct run  run = {.strategy = "gradmatch", .options = {{"ridge", "absolute:1"}}};
        cull_subset found = {0};

        assert_fails(CULL_BAD_OPTION, "ridge", try_select(&run, &data.signals, 10, &found));
        cull_subset_clear(&found);
    }
    data_free(&data);
}

static void class_budgets_add_up_and_weights_have_mean_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data data = data_make(seed, 101, 6, 5);
        size_t      size[5], share[5];

        class_sizes(&data, size);
        for (size_t k = 1; k <= 100; k += 9) {
            for (size_t scope = 0; scope < 2; scope++) {
                struct run  run = {.options = {{"scope", scopes[scope]}}};
                cull_subset found = select_with(run, &data.signals, k);
                size_t      count[5] = {0};

                cull_budget_split(k, size, 5, share);
                assert_int_equal(k, found.count);
                assert_near((double)k, weight_sum(&found), tolerance * (double)k);
                for (size_t i = 0; i < k; i++) {
                    count[data.label[found.index[i]]]++;
                    if (i) assert_true(found.index[i] > found.index[i - 1]);
                }
                for (size_t c = 0; c < 5; c++) assert_int_equal(share[c], count[c]);
                cull_subset_clear(&found);
            }
        }
        data_free(&data);
    }
}

static void empty_tiny_and_single_classes_are_fine(void **state)
{
    struct data data = data_make(4, 50, 5, 4);

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < data.n; i++) data.label[i] = kind ? 2 : (i == 7 ? 0 : 3);
        for (size_t scope = 0; scope < 4; scope++) {
            struct run  run = {.options = {{"scope", scopes[scope]}}, .batch = 7};
            cull_subset found = select_with(run, &data.signals, 49);

            assert_int_equal(49, found.count);
            assert_near(49, weight_sum(&found), tolerance);
            cull_subset_clear(&found);
        }
    }
    data_free(&data);
}

static void keeping_all_has_weights_of_exactly_one(void **state)
{
    struct data data = data_make(5, 30, 5, 3);

    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run  run = {.options = {{"scope", scopes[scope]}}, .batch = 8};
        cull_subset found = select_with(run, &data.signals, 30);

        assert_int_equal(30, found.count);
        for (size_t i = 0; i < 30; i++) assert_true(found.index[i] == i && found.weight[i] == 1);
        cull_subset_clear(&found);
    }
    data_free(&data);
}

/* At lambda = 0 a class-gradient problem ends with its D+1 dimensions, all used up: what
 * fills it can add nothing unless an atom was clipped. */
static void the_fill_is_of_the_same_class(void **state)
{
    struct data data = data_make(6, 90, 3, 3);
    struct run  run = {.options = {{"ridge", "0"}, {"short", "accept"}}};
    cull_subset brief = select_with(run, &data.signals, 45), found = {0};
    size_t      size[3], share[3];

    (void)state;
    run.options[1] = (cull_option){"short", "refit"};
    found = select_with(run, &data.signals, 45);
    assert_int_equal(CULL_SUBSET_SHORT, brief.flags);
    assert_true(brief.count <= 3 * 4 && brief.count >= 3);
    assert_int_equal(CULL_SUBSET_FILLED, found.flags);
    assert_int_equal(45, found.count);
    assert_int_equal(brief.count, found.picked);
    class_sizes(&data, size);
    cull_budget_split(45, size, 3, share);
    assert_near(45, weight_sum(&found), tolerance);
    for (int c = 0; c < 3; c++) {
        size_t picked = 0, kept = 0, count = 0;

        for (size_t i = 0; i < brief.count; i++) {
            if (data.label[brief.index[i]] != c) continue;
            picked++;
            for (size_t j = 0; j < found.count; j++) kept += found.index[j] == brief.index[i];
        }
        for (size_t i = 0; i < found.count; i++) count += data.label[found.index[i]] == c;
        assert_true(picked >= 1 && kept == picked && count == share[c]);
    }
    cull_subset_clear(&brief);
    cull_subset_clear(&found);
    data_free(&data);
}

static void a_class_without_validation_examples_is_filled_or_left_out(void **state)
{
    struct data data = data_make(7, 60, 5, 3), other = data_make(8, 40, 5, 3);
    size_t      size[3], share[3];

    (void)state;
    for (size_t i = 0; i < other.n; i++)
        if (other.label[i] == 1) other.label[i] = 2;
    as_target(&other, &data.signals.target);
    class_sizes(&data, size);
    cull_budget_split(18, size, 3, share);
    for (size_t scope = 0; scope < 2; scope++) {
        struct run run = {
            .options = {{"scope", scopes[scope]}, {"match", "validation"}, {"short", "refit"}}};
        cull_subset found = select_with(run, &data.signals, 18), brief = {0};
        double      mean = 0;
        size_t      count = 0, positive = 0;

        run.options[2] = (cull_option){"short", "accept"};
        brief = select_with(run, &data.signals, 18);
        assert_int_equal(18, found.count);
        assert_true(found.flags == CULL_SUBSET_FILLED && brief.flags == CULL_SUBSET_SHORT);
        for (size_t i = 0; i < brief.count; i++)
            assert_int_not_equal(1, data.label[brief.index[i]]);
        for (size_t i = 0; i < found.count; i++) {
            if (data.label[found.index[i]] == 1 || found.weight[i] <= 0) continue;
            mean += found.weight[i];
            positive++;
        }
        mean /= (double)positive;
        for (size_t i = 0; i < found.count; i++)
            if (data.label[found.index[i]] == 1) {
                assert_near(mean, found.weight[i], tolerance);
                count++;
            }
        assert_int_equal(share[1], count);
        cull_subset_clear(&found);
        cull_subset_clear(&brief);
    }
    data_free(&data);
    data_free(&other);
}

static void picked_minibatches_are_those_of_brute_force(void **state)
{
    enum { BATCH = 8, ATOMS = 12, PICKS = 4 }; /* the twelfth holds 3 examples */
    struct data data = data_make(9, 91, 4, 3);
    struct run  run = {
         .options = {{"scope", "batch"}, {"short", "accept"}}, .batch = BATCH, .seed = 11};
    cull_subset          found = select_with(run, &data.signals, 35);
    cull_sel_minibatches cut = {0};
    cull_kit             kit = {.backend = plain_backend()};
    double               g[ATOMS * 15] = {0}, b[15] = {0}, one[15], weight[PICKS], sum = 0;
    uint32_t             index[PICKS];
    size_t               rows = 0;

    (void)state;
    assert_ok(cull_sel_minibatches_make(&kit, &data.signals, BATCH, 11, &cut));
    assert_int_equal(ATOMS, cut.count);
    for (size_t a = 0; a < ATOMS; a++)
        for (size_t i = cut.start[a]; i < cut.start[a + 1]; i++) {
            gradient(&data, cut.row[i], -1, one);
            for (size_t j = 0; j < 15; j++) {
                b[j] += one[j];
                g[a * 15 + j] += one[j] / (double)(cut.start[a + 1] - cut.start[a]);
            }
        }
    brute_omp(g, ATOMS, 15, b, PICKS, 0.5, true, index, weight);
    for (size_t k = 0; k < PICKS; k++) {
        if (weight[k] <= 0) continue;
        rows += cut.start[index[k] + 1] - cut.start[index[k]];
        sum += weight[k] * (double)(cut.start[index[k] + 1] - cut.start[index[k]]);
    }
    assert_int_equal(rows, found.count);
    for (size_t k = 0; k < PICKS; k++)
        for (size_t i = cut.start[index[k]]; weight[k] > 0 && i < cut.start[index[k] + 1]; i++)
            assert_near(weight[k] * (double)rows / sum, weight_of(&found, cut.row[i]), tolerance);
    cull_kit_clear(&kit);
    cull_subset_clear(&found);
    data_free(&data);
}

static void minibatches_come_out_whole_with_one_weight_each(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct data data = data_make(seed, 96, 6, 3);
        struct run  run = {.options = {{"scope", "batch"}}, .batch = 8, .seed = seed};
        cull_subset found = select_with(run, &data.signals, 50);

        assert_int_equal(48, found.count); /* six of eight are nearest to a budget of 50 */
        assert_int_equal(6, found.groups);
        assert_true(found.picked % 8 == 0 && found.picked > 0);
        assert_near(48, weight_sum(&found), tolerance);
        for (size_t i = 0; i < 48; i++) {
            assert_int_equal(i / 8, found.group[i]);
            assert_true(found.weight[i] == found.weight[i / 8 * 8]);
            if (i % 8) assert_true(found.index[i] > found.index[i - 1]);
        }
        cull_subset_clear(&found);
        data_free(&data);
    }
}

static void the_cut_into_minibatches_is_another_each_epoch(void **state)
{
    struct data data = data_make(10, 96, 6, 3);
    struct run  run = {.options = {{"scope", "batch"}}, .batch = 8};
    cull_subset one = select_with(run, &data.signals, 48), two = {0};
    size_t      same = 0;

    (void)state;
    data.signals.epoch = 20;
    two = select_with(run, &data.signals, 48);
    for (size_t i = 0; i < 48; i++) same += one.index[i] == two.index[i];
    assert_true(same < 24);
    cull_subset_clear(&one);
    cull_subset_clear(&two);
    data_free(&data);
}

/* 40 mean gradients of 8004 numbers are 2.4 MB. */
static void minibatches_beyond_the_memory_limit_give_the_same_picks(void **state)
{
    enum { N = 160, D = 2000, C = 4 };
    struct data  data = data_make(11, N, D, C);
    float       *h = malloc(sizeof *h * N * D);
    cull_signals single = data.signals;

    (void)state;
    for (size_t i = 0; i < (size_t)N * D; i++) h[i] = (float)data.h[i];
    single.h = cull_matrix(h, CULL_F32, N, D);
    for (int kind = 0; kind < 2; kind++) {
        const cull_signals *signals = kind ? &single : &data.signals;
        struct run          run = {.options = {{"scope", "batch"}, {"memory", "1"}},
                                   .batch = 4,
                                   .backend = "cpu",
                                   .threads = 2};
        cull_subset         blocks = select_with(run, signals, 60), whole = {0};

        run.options[1].value = "1024";
        whole = select_with(run, signals, 60);
        assert_same(&whole, &blocks, tolerance);
        cull_subset_clear(&blocks);
        cull_subset_clear(&whole);
    }
    data_free(&data);
    free(h);
}

/* Gradients shrink as training goes on; the squares of these would leave float32. */
static void blocks_of_minibatches_of_any_size_give_the_same_bits(void **state)
{
    enum { N = 160, D = 2000, C = 4 };
    struct data  data = data_make(12, N, D, C);
    float       *h = malloc(sizeof *h * N * D), *p = malloc(sizeof *p * N * C);
    struct run   run = {.options = {{"scope", "batch"}, {"memory", "1"}}, .batch = 4};
    cull_signals signals = data.signals;
    cull_subset  plain = {0};

    (void)state;
    for (size_t i = 0; i < (size_t)N * D; i++) h[i] = (float)data.h[i];
    for (size_t i = 0; i < (size_t)N * C; i++) p[i] = (float)data.p[i];
    signals.h = cull_matrix(h, CULL_F32, N, D);
    signals.p = cull_matrix(p, CULL_F32, N, C);
    plain = select_with(run, &signals, 60);
    for (int exponent = -100; exponent <= 100; exponent += 40) {
        cull_subset scaled = {0};

        for (size_t i = 0; i < (size_t)N * C; i++)
            p[i] = (float)ldexp((double)(float)data.p[i], exponent);
        scaled = select_with(run, &signals, 60);
        assert_same(&plain, &scaled, 0);
        cull_subset_clear(&scaled);
    }
    cull_subset_clear(&plain);
    data_free(&data);
    free(h);
    free(p);
}

/* Minibatches of a few examples that come again and again span as many dimensions; beyond them
 * there is only the rounding of a Gram matrix, which the whole of G does not have. */
static void rounding_of_blocks_of_minibatches_is_not_matched(void **state)
{
    enum { N = 160, D = 2000, C = 4 };

    (void)state;
    for (size_t distinct = 8; distinct <= 24; distinct += 4) {
        struct data data = data_make(distinct, N, D, C);
        float      *h = malloc(sizeof *h * N * D);
        struct run  run = {
             .options = {{"scope", "batch"}, {"memory", "1"}, {"ridge", "0"}, {"short", "accept"}},
             .batch = 4};
        cull_subset  blocks = {0}, whole = {0};
        cull_signals signals = data.signals;

        for (size_t i = 0; i < (size_t)N * D; i++)
            h[i] = (float)data.h[i / D % distinct * D + i % D];
        for (size_t i = distinct * C; i < (size_t)N * C; i++) data.p[i] = data.p[i - distinct * C];
        signals.h = cull_matrix(h, CULL_F32, N, D);
        blocks = select_with(run, &signals, N - 4);
        run.options[1].value = "1024";
        whole = select_with(run, &signals, N - 4);
        assert_true(whole.groups > 1 && whole.groups <= distinct);
        assert_same(&whole, &blocks, tolerance);
        cull_subset_clear(&blocks);
        cull_subset_clear(&whole);
        data_free(&data);
        free(h);
    }
}

static void work_beyond_the_memory_limit_is_refused(void **state)
{
    struct data data = data_make(12, 1000, 130, 2);
    struct run  run = {.options = {{"scope", "batch"}, {"memory", "1"}}, .batch = 1};
    cull_subset found = {0};

    (void)state;
    assert_fails(CULL_TOO_LARGE, "1000 minibatches", try_select(&run, &data.signals, 9, &found));
    assert_int_equal(0, found.count);
    run.options[0].value = "all";
    assert_fails(CULL_TOO_LARGE, "MiB", try_select(&run, &data.signals, 500, &found));
    cull_subset_clear(&found);
    data_free(&data);
}

static void zero_gradients_give_a_random_subset_or_none(void **state)
{
    struct data data = data_make(13, 40, 5, 3);

    (void)state;
    memset(data.p, 0, data.n * data.c * sizeof *data.p);
    for (size_t scope = 0; scope < 4; scope++) {
        struct run  run = {.options = {{"scope", scopes[scope]}, {"short", "refit"}}, .batch = 4};
        cull_subset found = select_with(run, &data.signals, 12);

        assert_int_equal(CULL_SUBSET_FALLBACK, found.flags);
        assert_int_equal(12, found.count);
        assert_int_equal(0, found.picked);
        for (size_t i = 0; i < 12; i++) assert_true(found.weight[i] == 1);
        cull_subset_clear(&found);
        run.options[1].value = "accept";
        found = select_with(run, &data.signals, 12);
        assert_int_equal(CULL_SUBSET_SHORT, found.flags);
        assert_int_equal(0, found.count);
        cull_subset_clear(&found);
    }
    data_free(&data);
}

static void scaling_all_gradients_changes_nothing(void **state)
{
    struct data data = data_make(14, 64, 7, 3);
    double      factors[] = {1000, 1e-6, 1e-40};

    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run  run = {.options = {{"scope", scopes[scope]}}, .batch = 4};
        cull_subset plain = select_with(run, &data.signals, 20);

        for (size_t k = 0; k < 3; k++) {
            double      *scaled = malloc(data.n * data.c * sizeof *scaled);
            cull_signals signals = data.signals;
            cull_subset  found = {0};

            for (size_t i = 0; i < data.n * data.c; i++) scaled[i] = data.p[i] * factors[k];
            signals.p = cull_matrix(scaled, CULL_F64, data.n, data.c);
            found = select_with(run, &signals, 20);
            assert_same(&plain, &found, tolerance);
            cull_subset_clear(&found);
            free(scaled);
        }
        cull_subset_clear(&plain);
    }
    data_free(&data);
}

static void order_of_the_rows_changes_nothing(void **state)
{
    struct data data = data_make(15, 61, 6, 3);
    struct data turned = data_make(15, 61, 6, 3);
    uint32_t    place[61];

    (void)state;
    for (uint32_t i = 0; i < 61; i++) {
        place[i] = (i * 10 + 3) % 61;
        memcpy(turned.h + i * 6, data.h + place[i] * 6, 6 * sizeof(double));
        memcpy(turned.p + i * 3, data.p + place[i] * 3, 3 * sizeof(double));
        turned.label[i] = data.label[place[i]];
    }
    turned.signals.place = place;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run  run = {.options = {{"scope", scopes[scope]}}, .batch = 5};
        cull_subset plain = select_with(run, &data.signals, 22);
        cull_subset found = select_with(run, &turned.signals, 22);

        assert_int_equal(plain.count, found.count);
        assert_int_equal(plain.flags, found.flags);
        for (size_t i = 0; i < found.count; i++)
            assert_near(weight_of(&plain, found.place[i]), found.weight[i], tolerance);
        cull_subset_clear(&plain);
        cull_subset_clear(&found);
    }
    data_free(&data);
    data_free(&turned);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    struct data data = data_make(16, 700, 40, 3);

    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run run = {
            .options = {{"scope", scopes[scope]}}, .batch = 8, .backend = "cpu", .threads = 1};
        cull_subset one = select_with(run, &data.signals, 150);

        for (run.threads = 2; run.threads <= 4; run.threads++) {
            cull_subset more = select_with(run, &data.signals, 150);
            assert_same(&one, &more, 0);
            cull_subset_clear(&more);
        }
        cull_subset_clear(&one);
    }
    data_free(&data);
}

static void labels_are_needed_by_class_and_only_there(void **state)
{
    struct data data = data_make(17, 30, 4, 3);
    cull_subset found = {0};

    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run   run = {.options = {{"scope", scopes[scope]}}, .batch = 5};
        cull_signals bare = data.signals;

        bare.label = (cull_tensor){0};
        if (scope >= 2) {
            assert_ok(try_select(&run, &bare, 10, &found));
            continue;
        }
        assert_fails(CULL_BAD_ARGUMENT, "label", try_select(&run, &bare, 10, &found));
        data.label[4] = 3;
        assert_fails(CULL_BAD_ARGUMENT, "example 4", try_select(&run, &data.signals, 10, &found));
        data.label[4] = 1;
        run.options[1] = (cull_option){"match", "validation"};
        as_target(&data, &bare.target);
        bare.label = data.signals.label;
        bare.target.label = (cull_tensor){0};
        assert_fails(CULL_BAD_ARGUMENT, "target label", try_select(&run, &bare, 10, &found));
    }
    cull_subset_clear(&found);
    data_free(&data);
}

static void gradients_too_large_are_a_clear_error(void **state)
{
    struct data data = data_make(18, 30, 4, 3);
    cull_subset found = {0};

    (void)state;
    data.h[4 * 11] = 1e250;
    for (size_t scope = 0; scope < 4; scope++) {
        struct run run = {.options = {{"scope", scopes[scope]}}, .batch = 5};
        assert_fails(CULL_NOT_FINITE, "example 11", try_select(&run, &data.signals, 10, &found));
    }
    cull_subset_clear(&found);
    data_free(&data);
}

/* kappa = 0.5 of 10 epochs at keep 0.4: two full epochs, then five on the subset. */
static void warm_start_and_period_decide_when_it_is_asked(void **state)
{
    struct data    data = data_make(19, 50, 4, 3);
    cull_option    options[] = {{"keep", "0.4"}, {"warm", "0.5"}, {"period", "2"}};
    cull_setting   setting = {.pool = 50, .batch = 10, .epochs = 10};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    const int expected[] = {CULL_TRAIN_ALL,   CULL_TRAIN_ALL,   CULL_SELECT_POOL, CULL_KEEP_SUBSET,
                            CULL_SELECT_POOL, CULL_KEEP_SUBSET, CULL_SELECT_POOL};

    (void)state;
    assert_ok(cull_selector_create("grad-match", options, 3, &setting, &selector));
    assert_int_equal(7, cull_selector_epochs(selector));
    for (uint64_t epoch = 0; epoch < 7; epoch++) {
        cull_needs needs = {0};

        assert_ok(cull_selector_needs(selector, epoch * 5, epoch, &needs));
        assert_int_equal(expected[epoch], needs.action);
        if (needs.action != CULL_SELECT_POOL) {
            assert_int_equal(0, needs.signals);
            continue;
        }
        assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL, needs.signals);
        assert_int_equal(0, needs.target);
        assert_true(needs.running && needs.candidates == 50 && needs.budget == 20);
        data.signals.epoch = epoch;
        assert_ok(cull_select(selector, &data.signals, 0, &subset));
        assert_int_equal(20, subset.count);
        assert_ok(cull_selector_needs(selector, epoch * 5 + 1, epoch, &needs));
        assert_int_equal(CULL_KEEP_SUBSET, needs.action);
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    data_free(&data);
}

static void needs_follow_scope_and_target(void **state)
{
    unsigned     block = CULL_SIGNAL_H | CULL_SIGNAL_P;
    cull_setting setting = {.pool = 50, .batch = 10};

    (void)state;
    for (size_t scope = 0; scope < 4; scope++) {
        cull_option    options[] = {{"scope", scopes[scope]}, {"match", "validation"}};
        unsigned       label = scope < 2 ? CULL_SIGNAL_LABEL : 0;
        cull_selector *selector = NULL;
        cull_needs     needs = {0};

        assert_ok(cull_selector_create("grad-match", options, 2, &setting, &selector));
        assert_ok(cull_selector_needs(selector, 0, 0, &needs));
        assert_int_equal(block | label, needs.signals);
        assert_int_equal(block | label, needs.target);
        cull_selector_destroy(selector);
    }
}

static void survives_every_allocation_failure(void **state)
{
    struct data data = data_make(20, 36, 3, 3);

    (void)state;
    as_target(&data, &data.signals.target);
    for (size_t k = 0; k < 8; k++) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            struct run  run = {.options = {{"scope", scopes[k % 4]},
                                           {"ridge", "0"},
                                           {"match", k < 4 ? "training" : "validation"}},
                               .batch = 3};
            cull_subset found = {0};

            fail_nth_alloc(n);
            status = try_select(&run, &data.signals, 21, &found);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_true((status == CULL_OK) == (found.count == 21));
            assert_true(status != CULL_OK || n > 15);
            cull_subset_clear(&found);
        }
    }
    data_free(&data);
}

static void blocks_of_minibatches_survive_every_allocation_failure(void **state)
{
    struct data data = data_make(21, 40, 4000, 2);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        struct run  run = {.options = {{"scope", "batch"}, {"memory", "1"}}, .batch = 2};
        cull_subset found = {0};

        fail_nth_alloc(n);
        status = try_select(&run, &data.signals, 10, &found);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true((status == CULL_OK) == (found.count == 10));
        cull_subset_clear(&found);
    }
    data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_and_weights_are_those_of_brute_force),
        cmocka_unit_test(many_picks_of_one_row_are_those_of_brute_force),
        cmocka_unit_test(all_is_gradmatch_over_the_pool),
        cmocka_unit_test(an_absolute_ridge_is_lambda_over_the_mean_square),
        cmocka_unit_test(an_absolute_ridge_sees_how_large_gradients_are),
        cmocka_unit_test(what_is_no_ridge_is_refused),
        cmocka_unit_test(class_budgets_add_up_and_weights_have_mean_one),
        cmocka_unit_test(empty_tiny_and_single_classes_are_fine),
        cmocka_unit_test(keeping_all_has_weights_of_exactly_one),
        cmocka_unit_test(the_fill_is_of_the_same_class),
        cmocka_unit_test(a_class_without_validation_examples_is_filled_or_left_out),
        cmocka_unit_test(picked_minibatches_are_those_of_brute_force),
        cmocka_unit_test(minibatches_come_out_whole_with_one_weight_each),
        cmocka_unit_test(the_cut_into_minibatches_is_another_each_epoch),
        cmocka_unit_test(minibatches_beyond_the_memory_limit_give_the_same_picks),
        cmocka_unit_test(blocks_of_minibatches_of_any_size_give_the_same_bits),
        cmocka_unit_test(rounding_of_blocks_of_minibatches_is_not_matched),
        cmocka_unit_test(work_beyond_the_memory_limit_is_refused),
        cmocka_unit_test(zero_gradients_give_a_random_subset_or_none),
        cmocka_unit_test(scaling_all_gradients_changes_nothing),
        cmocka_unit_test(order_of_the_rows_changes_nothing),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(labels_are_needed_by_class_and_only_there),
        cmocka_unit_test(gradients_too_large_are_a_clear_error),
        cmocka_unit_test(warm_start_and_period_decide_when_it_is_asked),
        cmocka_unit_test(needs_follow_scope_and_target),
        cmocka_unit_test(survives_every_allocation_failure),
        cmocka_unit_test(blocks_of_minibatches_survive_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
