/* tests/unit/test_gradmatch.c - properties of gradmatch and divbs, against stored gradients. */
#include "base/alloc.h"
#include "gradients.h"

static const double tolerance = 1e-8; /* weights near 1 from well-conditioned double input */

enum { MOST_OPTIONS = 5 };

struct run {
    const char   *strategy;
    cull_option   options[MOST_OPTIONS];
    uint64_t      seed, step;
    size_t        pool;
    const char   *backend; /* NULL: cpu, one thread */
    unsigned      threads;
    cull_backend *open;
};

static cull_status try_select(struct run *run, const cull_signals *signals, size_t budget,
                              cull_subset *out)
{
    cull_setting   setting = {.pool = run->pool ? run->pool : signals->count, .seed = run->seed};
    cull_selector *selector = NULL;
    cull_signals   seen = *signals;
    cull_status    status = CULL_OK;
    size_t         count = 0;

    while (count < MOST_OPTIONS && run->options[count].key) count++;
    seen.step = run->step;
    if (run->backend) TRY(cull_backend_open(run->backend, run->threads, &run->open));
    setting.backend = run->open;
    TRY(cull_selector_create(run->strategy, run->options, count, &setting, &selector));
    TRY(cull_select(selector, &seen, budget, out));
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

/* What gradmatch should return: brute-force picks, clipped, without a fill. */
static void assert_brute(const struct data *data, const double *b, size_t m, double ridge,
                         bool absolute, const cull_subset *found)
{
    size_t    size = data->c * (data->d + 1), kept = 0;
    double   *g = malloc(data->n * size * sizeof *g), *weight = malloc(m * sizeof *weight);
    uint32_t *index = malloc(m * sizeof *index);
    double    sum = 0;

    for (size_t i = 0; i < data->n; i++) gradient(data, i, -1, g + i * size);
    brute_omp(g, data->n, size, b, m, ridge, absolute, index, weight);
    for (size_t i = 0; i < m; i++)
        if (weight[i] > 0) kept++, sum += weight[i];
    assert_int_equal(kept, found->count);
    assert_int_equal(kept, found->picked);
    assert_int_equal(kept < m ? CULL_SUBSET_SHORT : 0, found->flags);
    for (size_t i = 0; i < m; i++)
        if (weight[i] > 0)
            assert_near(weight[i] * (double)kept / sum, weight_of(found, index[i]), tolerance);
    free(g);
    free(weight);
    free(index);
}

static double *mean_gradient(const struct data *data)
{
    size_t  size = data->c * (data->d + 1);
    double *b = calloc(size, sizeof *b), *g = malloc(size * sizeof *g);

    for (size_t i = 0; i < data->n; i++) {
        gradient(data, i, -1, g);
        for (size_t j = 0; j < size; j++) b[j] += g[j] / (double)data->n;
    }
    free(g);
    return b;
}

static void picks_and_weights_are_those_of_brute_force(void **state)
{
    static const struct {
        const char *ridge, *pick;
        double      value;
        bool        absolute;
    } cases[] = {{"0", "auto", 0, true}, {"0", "signed", 0, false}, {"0.1", "abs", 0.1, true}};

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct data data = data_make(seed, 10 + 3 * seed, 5, 3);
        double     *b = mean_gradient(&data);

        for (size_t k = 0; k < 3; k++) {
            for (int plain = 0; plain < 2; plain++) {
                struct run  run = {.strategy = "gradmatch",
                                   .options = {{"ridge", cases[k].ridge},
                                               {"pick", cases[k].pick},
                                               {"short", "accept"}},
                                   .backend = plain ? "ref" : "cpu",
                                   .threads = 1};
                size_t      m = 2 + seed % 5;
                cull_subset found = select_with(run, &data.signals, m);

                assert_brute(&data, b, m, cases[k].value, cases[k].absolute, &found);
                cull_subset_clear(&found);
            }
        }
        free(b);
        data_free(&data);
    }
}

static void validation_target_is_what_is_matched(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct data data = data_make(seed, 24, 5, 3), other = data_make(seed + 77, 9, 5, 3);
        double     *b = mean_gradient(&other);
        struct run  run = {.strategy = "gradmatch",
                           .options = {{"match", "validation"}, {"short", "accept"}}};
        cull_subset found = {0};

        assert_fails(CULL_BAD_ARGUMENT, "target", try_select(&run, &data.signals, 4, &found));
        as_target(&other, &data.signals.target);
        found = select_with(run, &data.signals, 4);
        assert_brute(&data, b, 4, 0, true, &found);
        cull_subset_clear(&found);
        free(b);
        data_free(&data);
        data_free(&other);
    }
}

/* Beyond 4096 examples no Gram matrix is stored. */
static void large_batches_are_solved_without_a_gram_matrix(void **state)
{
    struct data data = data_make(4, 4100, 3, 2), other = data_make(5, 7, 3, 2);
    double     *b = mean_gradient(&data), *target = mean_gradient(&other);
    struct run  run = {.strategy = "gradmatch", .options = {{"short", "accept"}}};
    cull_subset found = select_with(run, &data.signals, 4);

    (void)state;
    assert_brute(&data, b, 4, 0, true, &found);
    cull_subset_clear(&found);
    run.options[1] = (cull_option){"match", "validation"};
    as_target(&other, &data.signals.target);
    found = select_with(run, &data.signals, 4);
    assert_brute(&data, target, 4, 0, true, &found);
    cull_subset_clear(&found);
    free(b);
    free(target);
    data_free(&data);
    data_free(&other);
}

static void nonnegative_weights_are_optimal_for_their_picks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct data data = data_make(seed, 30, 6, 3);
        size_t      size = data.c * (data.d + 1);
        double     *b = mean_gradient(&data), *g = malloc(size * sizeof *g);
        double     *fit = calloc(size, sizeof *fit), ratio = 0;
        struct run  run = {.strategy = "gradmatch",
                           .options = {{"nonnegative", "omp"}, {"short", "accept"}}};
        cull_subset found = select_with(run, &data.signals, 8);

        assert_true(found.count >= 1);
        for (size_t i = 0; i < found.count; i++) {
            assert_true(found.weight[i] > 0);
            gradient(&data, found.index[i], -1, g);
            for (size_t j = 0; j < size; j++) fit[j] += found.weight[i] * g[j];
        }
        for (size_t i = 0; i < found.count; i++) { /* fit is b, scaled, on every pick */
            gradient(&data, found.index[i], -1, g);
            if (i == 0) ratio = inner(g, fit, size) / inner(g, b, size);
            assert_near(ratio, inner(g, fit, size) / inner(g, b, size), 1e-6 * fabs(ratio));
        }
        cull_subset_clear(&found);
        free(b);
        free(g);
        free(fit);
        data_free(&data);
    }
}

static void lowers_the_gradient_error_below_random(void **state)
{
    double matched = 0, drawn = 0;
    int    better = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct data    data = data_make(seed, 64, 12, 4);
        struct run     run = {.strategy = "gradmatch", .seed = seed};
        cull_subset    one = select_with(run, &data.signals, 19), two = {0};
        cull_diagnosis found = {0};
        double         error = 0;

        run.strategy = "random";
        two = select_with(run, &data.signals, 19);
        assert_ok(cull_diagnose(NULL, &data.signals, &one, NULL, &found));
        matched += error = found.error;
        assert_ok(cull_diagnose(NULL, &data.signals, &two, NULL, &found));
        drawn += found.error;
        better += error < found.error;
        cull_diagnosis_clear(&found);
        cull_subset_clear(&one);
        cull_subset_clear(&two);
        data_free(&data);
    }
    assert_true(matched < drawn);
    assert_true(better >= 30); /* of 40: by chance once in a thousand */
}

static void scaling_all_gradients_changes_nothing(void **state)
{
    struct data data = data_make(7, 40, 8, 4);
    struct run  run = {.strategy = "gradmatch"};
    cull_subset plain = select_with(run, &data.signals, 12);
    double      factors[] = {1000, 1e-6, 1e-30, 1e-100};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        double      *scaled = malloc(data.n * data.c * sizeof *scaled);
        cull_signals signals = data.signals;
        cull_subset  found = {0};

        for (size_t i = 0; i < data.n * data.c; i++) scaled[i] = data.p[i] * factors[k];
        signals.p = cull_matrix(scaled, CULL_F64, data.n, data.c);
        found = select_with(run, &signals, 12);
        assert_same(&plain, &found, tolerance);
        cull_subset_clear(&found);
        free(scaled);
    }
    cull_subset_clear(&plain);
    data_free(&data);
}

/* Powers of two round nothing, so that even float32 gives the same bits. */
static void float32_gradients_of_any_size_give_the_same_bits(void **state)
{
    struct data  data = data_make(8, 40, 8, 4);
    float       *h = normals_f32(8, data.n * data.d), *p = normals_f32(9, data.n * data.c);
    float       *scaled = malloc(data.n * data.c * sizeof *scaled);
    int          exponents[] = {-90, -40, -10, 10, 60, 100};
    struct run   run = {.strategy = "gradmatch"};
    cull_signals signals = {.count = data.n, .h = cull_matrix(h, CULL_F32, data.n, data.d)};
    cull_subset  plain = {0};

    (void)state;
    signals.p = cull_matrix(p, CULL_F32, data.n, data.c);
    plain = select_with(run, &signals, 12);
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        cull_subset found = {0};

        for (size_t i = 0; i < data.n * data.c; i++) scaled[i] = ldexpf(p[i], exponents[k]);
        signals.p = cull_matrix(scaled, CULL_F32, data.n, data.c);
        found = select_with(run, &signals, 12);
        assert_same(&plain, &found, 0);
        cull_subset_clear(&found);
    }
    cull_subset_clear(&plain);
    data_free(&data);
    free(h);
    free(p);
    free(scaled);
}

static double error_of(const struct data *data, const cull_subset *subset, double *full)
{
    cull_diagnosis found = {0};
    double         error = 0;

    assert_ok(cull_diagnose(NULL, &data->signals, subset, NULL, &found));
    error = found.error;
    *full = found.full;
    cull_diagnosis_clear(&found);
    return error;
}

/* 40 examples whose gradients span 14 dimensions, in float32: the rounding of sums must not be
 * taken for more of them. Whatever the budget, the result is about as good as what float64
 * arithmetic on the same H and P makes of the 14. (Matched rounding gave errors of several times
 * the gradient.) */
static void rounding_of_float32_gradients_is_not_matched(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct data  data = data_make(seed, 40, 6, 3);
        float       *h = malloc(data.n * data.d * sizeof *h);
        float       *p = malloc(data.n * data.c * sizeof *p);
        struct run   run = {.strategy = "gradmatch", .options = {{"short", "accept"}}};
        cull_signals narrow = {.count = data.n, .h = cull_matrix(h, CULL_F32, data.n, data.d)};
        cull_subset  wide = {0};
        double       full = 0, best = 0;

        for (size_t i = 0; i < data.n * data.d; i++) data.h[i] = (double)(h[i] = (float)data.h[i]);
        for (size_t i = 0; i < data.n * data.c; i++) data.p[i] = (double)(p[i] = (float)data.p[i]);
        narrow.p = cull_matrix(p, CULL_F32, data.n, data.c);
        wide = select_with(run, &data.signals, 14);
        best = error_of(&data, &wide, &full);
        for (size_t budget = 14; budget <= 28; budget += 7) {
            static const char *const backends[] = {"cpu", "ref"};

            for (size_t k = 0; k < 2; k++) {
                cull_subset found = {0};

                run.backend = backends[k];
                run.threads = 1;
                found = select_with(run, &narrow, budget);
                run.backend = NULL;
                assert_true(found.count <= 14);
                if (error_of(&data, &found, &full) > 1.1 * best + 0.01 * full)
                    fail_msg("seed %d, budget %zu, %s: error %g against %g, gradient %g", (int)seed,
                             budget, backends[k], error_of(&data, &found, &full), best, full);
                cull_subset_clear(&found);
            }
        }
        cull_subset_clear(&wide);
        data_free(&data);
        free(h);
        free(p);
    }
}

static void order_of_the_rows_changes_nothing(void **state)
{
    struct data  data = data_make(9, 37, 6, 3);
    uint32_t     place[37];
    cull_signals turned = data.signals;
    double      *h = malloc(data.n * data.d * sizeof *h), *p = malloc(data.n * data.c * sizeof *p);
    struct run   run = {.strategy = "gradmatch", .pool = 37};
    cull_subset  plain = {0}, found = {0};

    (void)state;
    for (uint32_t i = 0; i < 37; i++) {
        place[i] = (i * 10 + 3) % 37;
        memcpy(h + i * data.d, data.h + place[i] * data.d, data.d * sizeof *h);
        memcpy(p + i * data.c, data.p + place[i] * data.c, data.c * sizeof *p);
    }
    turned.h = cull_matrix(h, CULL_F64, data.n, data.d);
    turned.p = cull_matrix(p, CULL_F64, data.n, data.c);
    turned.place = place;
    for (size_t m = 3; m <= 23; m += 10) { /* at 23 the gradients' rank of 21 asks for a fill */
        plain = select_with(run, &data.signals, m);
        found = select_with(run, &turned, m);
        assert_int_equal(plain.count, found.count);
        assert_int_equal(plain.flags, found.flags);
        for (size_t i = 0; i < found.count; i++)
            assert_near(weight_of(&plain, found.place[i]), found.weight[i], 1e-6);
        cull_subset_clear(&plain);
        cull_subset_clear(&found);
    }
    data_free(&data);
    free(h);
    free(p);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const char *const strategies[] = {"gradmatch", "divbs"};
    struct data              data = data_make(10, 300, 20, 5);

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct run  run = {.strategy = strategies[s], .backend = "cpu", .threads = 1};
        cull_subset one = select_with(run, &data.signals, 90);

        for (run.threads = 2; run.threads <= 4; run.threads++) {
            cull_subset more = select_with(run, &data.signals, 90);
            assert_same(&one, &more, 0);
            cull_subset_clear(&more);
        }
        cull_subset_clear(&one);
    }
    data_free(&data);
}

static void keeping_all_has_weights_of_exactly_one(void **state)
{
    static const char *const strategies[] = {"gradmatch", "divbs"};
    struct data              data = data_make(11, 16, 4, 3);

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        cull_subset found = select_with((struct run){.strategy = strategies[s]}, &data.signals, 16);

        assert_int_equal(16, found.count);
        for (size_t i = 0; i < 16; i++)
            assert_true(found.index[i] == i && found.weight[i] == 1 && found.group[i] == 0);
        cull_subset_clear(&found);
    }
    data_free(&data);
}

static void make_duplicates(struct data *data, size_t distinct)
{
    for (size_t i = distinct; i < data->n; i++) {
        memcpy(data->h + i * data->d, data->h + i % distinct * data->d, data->d * sizeof(double));
        memcpy(data->p + i * data->c, data->p + i % distinct * data->c, data->c * sizeof(double));
    }
}

/* The picks fit exactly: what fills them up can add nothing, and weighs nothing. */
static void duplicates_are_filled_up_at_no_weight(void **state)
{
    struct data data = data_make(12, 32, 8, 3);
    struct run  run = {.strategy = "gradmatch", .seed = 5};
    cull_subset found = {0}, brief = {0};

    (void)state;
    make_duplicates(&data, 4);
    found = select_with(run, &data.signals, 10);
    run.options[0] = (cull_option){"short", "accept"};
    brief = select_with(run, &data.signals, 10);

    assert_int_equal(CULL_SUBSET_SHORT, brief.flags);
    assert_true(brief.count >= 1 && brief.count <= 4 && brief.picked == brief.count);
    assert_near((double)brief.count, weight_sum(&brief), tolerance);

    assert_int_equal(CULL_SUBSET_FILLED, found.flags);
    assert_int_equal(10, found.count);
    assert_int_equal(brief.count, found.picked);
    assert_near(10, weight_sum(&found), tolerance);
    for (size_t i = 0; i < 10; i++) {
        double alone = weight_of(&brief, found.index[i]) / (double)brief.count;
        if (i) assert_true(found.index[i] > found.index[i - 1]);
        assert_near(10 * alone, found.weight[i], tolerance);
    }
    cull_subset_clear(&found);
    cull_subset_clear(&brief);
    data_free(&data);
}

static void the_fill_follows_seed_and_step(void **state)
{
    struct data data = data_make(12, 64, 8, 3);
    struct run  run = {.strategy = "gradmatch", .seed = 5};
    cull_subset found[4] = {{0}};
    bool        differ[4] = {false};

    (void)state;
    make_duplicates(&data, 4);
    for (size_t k = 0; k < 4; k++) {
        run.seed = 5 + (k == 2);
        run.step = k == 3;
        found[k] = select_with(run, &data.signals, 20);
        for (size_t i = 0; i < 20; i++) differ[k] |= found[k].index[i] != found[0].index[i];
    }
    assert_false(differ[1]);
    assert_true(differ[2] && differ[3]);
    for (size_t k = 0; k < 4; k++) cull_subset_clear(found + k);
    data_free(&data);
}

static void assert_random_or_empty(struct run run, const cull_signals *signals, size_t m)
{
    cull_subset found = select_with(run, signals, m);
    size_t      last = 0;

    assert_int_equal(CULL_SUBSET_FALLBACK, found.flags);
    assert_int_equal(m, found.count);
    assert_int_equal(0, found.picked);
    for (size_t i = 0; i < m; i++) assert_true(found.weight[i] == 1);
    cull_subset_clear(&found);
    while (run.options[last].key) last++;
    run.options[last] = (cull_option){"short", "accept"};
    found = select_with(run, signals, m);
    assert_int_equal(0, found.count);
    assert_int_equal(CULL_SUBSET_SHORT, found.flags);
    cull_subset_clear(&found);
}

static void zero_gradients_give_a_random_subset_or_none(void **state)
{
    struct data data = data_make(13, 20, 5, 3);

    (void)state;
    memset(data.p, 0, data.n * data.c * sizeof *data.p);
    assert_random_or_empty((struct run){.strategy = "gradmatch"}, &data.signals, 7);
    assert_random_or_empty((struct run){.strategy = "divbs"}, &data.signals, 7);
    data_free(&data);
}

/* All gradients point one way, the target the other: the only weight is negative. */
static void a_target_behind_all_gradients_gives_a_random_subset_or_none(void **state)
{
    double       h[] = {1, 2, 3, 4}, p[] = {1, 1, 1, 1}, against[] = {-1};
    cull_signals signals = {
        .count = 4, .h = cull_matrix(h, CULL_F64, 4, 1), .p = cull_matrix(p, CULL_F64, 4, 1)};

    (void)state;
    signals.target = (cull_target){
        .count = 1, .h = cull_matrix(h, CULL_F64, 1, 1), .p = cull_matrix(against, CULL_F64, 1, 1)};
    assert_random_or_empty(
        (struct run){.strategy = "gradmatch", .options = {{"match", "validation"}}}, &signals, 1);
    assert_random_or_empty(
        (struct run){.strategy = "gradmatch",
                     .options = {{"match", "validation"}, {"nonnegative", "omp"}}},
        &signals, 1);
}

static void warm_decisions_allocate_nothing(void **state)
{
    static const char *const strategies[] = {"gradmatch", "divbs"};
    struct data              data = data_make(14, 48, 8, 4);
    cull_setting             setting = {.pool = 48, .seed = 1};

    (void)state;
    make_duplicates(&data, 6); /* the fill must not allocate either */
    for (size_t s = 0; s < 2; s++) {
        cull_selector *selector = NULL;
        cull_subset    subset = {0};
        size_t         before = 0;

        assert_ok(cull_selector_create(strategies[s], NULL, 0, &setting, &selector));
        assert_ok(cull_select(selector, &data.signals, 14, &subset));
        before = cull_base_alloc_count();
        for (size_t m = 1; m <= 14; m++)
            assert_ok(cull_select(selector, &data.signals, m, &subset));
        assert_int_equal(before, cull_base_alloc_count());
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
    data_free(&data);
}

static void broken_signals_and_options_are_clear_errors(void **state)
{
    struct data data = data_make(15, 20, 5, 3);
    struct run  run = {.strategy = "gradmatch"};
    cull_subset found = {0};

    (void)state;
    data.p[3 * 11 + 1] = INFINITY;
    assert_fails(CULL_NOT_FINITE, "example 11", try_select(&run, &data.signals, 4, &found));
    data.p[3 * 11 + 1] = 0;
    data.h[5 * 6] = 1e200;
    assert_fails(CULL_NOT_FINITE, "example 6", try_select(&run, &data.signals, 4, &found));
    assert_int_equal(0, found.count);
    run.options[0] = (cull_option){"ridge", "-1"};
    assert_fails(CULL_BAD_OPTION, "ridge", try_select(&run, &data.signals, 4, &found));
    run.options[0] = (cull_option){"pick", "sample"};
    assert_fails(CULL_BAD_OPTION, "pick", try_select(&run, &data.signals, 4, &found));
    run.options[0] = (cull_option){"pick", "abs"};
    run.options[1] = (cull_option){"nonnegative", "omp"};
    assert_fails(CULL_BAD_OPTION, "pick=abs", try_select(&run, &data.signals, 4, &found));
    run.strategy = "grad-match";
    assert_fails(CULL_BAD_OPTION, "pick=abs", try_select(&run, &data.signals, 4, &found));
    run = (struct run){.strategy = "divbs", .options = {{"ridge", "0"}}};
    assert_fails(CULL_UNKNOWN_OPTION, "ridge", try_select(&run, &data.signals, 4, &found));
    cull_subset_clear(&found);
    data_free(&data);
}

static void needs_name_the_target_only_when_it_is_matched(void **state)
{
    static const char *const strategies[] = {"gradmatch", "divbs"};
    cull_option              options[] = {{"keep", "0.25"}, {"match", "validation"}};
    cull_setting             setting = {.pool = 100, .batch = 40};

    (void)state;
    for (size_t s = 0; s < 4; s++) {
        cull_selector *selector = NULL;
        cull_needs     needs = {0};

        assert_ok(cull_selector_create(strategies[s / 2], options, 1 + s % 2, &setting, &selector));
        assert_ok(cull_selector_needs(selector, 0, 0, &needs));
        assert_int_equal(CULL_SELECT_BATCH, needs.action);
        assert_int_equal(CULL_SIGNAL_H | CULL_SIGNAL_P, needs.signals);
        assert_int_equal(s % 2 ? CULL_SIGNAL_H | CULL_SIGNAL_P : 0, needs.target);
        assert_int_equal(40, needs.candidates);
        assert_int_equal(10, needs.budget);
        cull_selector_destroy(selector);
    }
}

/* The first pick has the law |t_i| / sum |t|. */
static void divbs_draws_by_correlation(void **state)
{
    enum { ROUNDS = 20000, ROWS = 6 };
    struct data    data = data_make(16, ROWS, 4, 3);
    double        *b = mean_gradient(&data), g[15], t[ROWS], sum = 0;
    cull_setting   setting = {.pool = ROWS, .seed = 3};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    size_t         counts[ROWS] = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        gradient(&data, i, -1, g);
        sum += t[i] = fabs(inner(g, b, 15));
    }
    assert_ok(cull_selector_create("divbs", NULL, 0, &setting, &selector));
    for (uint64_t step = 0; step < ROUNDS; step++) {
        data.signals.step = step;
        assert_ok(cull_select(selector, &data.signals, 1, &subset));
        assert_true(subset.count == 1 && subset.weight[0] == 1 && subset.flags == 0);
        counts[subset.index[0]]++;
    }
    for (size_t i = 0; i < ROWS; i++) { /* five standard deviations */
        double share = t[i] / sum;
        assert_near(share, (double)counts[i] / ROUNDS, 5 * sqrt(share * (1 - share) / ROUNDS));
    }
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    data_free(&data);
    free(b);
}

static void divbs_never_repeats_and_fills_behind_duplicates(void **state)
{
    struct data data = data_make(17, 40, 8, 3);
    struct run  run = {.strategy = "divbs", .seed = 2};
    cull_subset found = select_with(run, &data.signals, 15);

    (void)state;
    assert_int_equal(15, found.count);
    assert_int_equal(0, found.flags);
    for (size_t i = 0; i < 15; i++) {
        assert_true(found.weight[i] == 1);
        if (i) assert_true(found.index[i] > found.index[i - 1]);
    }
    cull_subset_clear(&found);
    make_duplicates(&data, 5);
    found = select_with(run, &data.signals, 15);
    assert_int_equal(15, found.count);
    assert_int_equal(CULL_SUBSET_FILLED, found.flags);
    assert_true(found.picked >= 1 && found.picked <= 5);
    for (size_t i = 0; i < 15; i++) assert_true(found.weight[i] == 1);
    cull_subset_clear(&found);
    data_free(&data);
}

static void survives_every_allocation_failure(void **state)
{
    static const char *const strategies[] = {"gradmatch", "divbs"};
    struct data              data = data_make(18, 30, 4, 2);

    (void)state;
    make_duplicates(&data, 3);
    for (size_t s = 0; s < 2; s++) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            struct run  run = {.strategy = strategies[s]};
            cull_subset found = {0};

            fail_nth_alloc(n);
            status = try_select(&run, &data.signals, 9, &found);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_true((status == CULL_OK) == (found.count == 9));
            assert_true(status != CULL_OK || n > 10);
            cull_subset_clear(&found);
        }
    }
    data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_and_weights_are_those_of_brute_force),
        cmocka_unit_test(validation_target_is_what_is_matched),
        cmocka_unit_test(large_batches_are_solved_without_a_gram_matrix),
        cmocka_unit_test(nonnegative_weights_are_optimal_for_their_picks),
        cmocka_unit_test(lowers_the_gradient_error_below_random),
        cmocka_unit_test(scaling_all_gradients_changes_nothing),
        cmocka_unit_test(float32_gradients_of_any_size_give_the_same_bits),
        cmocka_unit_test(rounding_of_float32_gradients_is_not_matched),
        cmocka_unit_test(order_of_the_rows_changes_nothing),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(keeping_all_has_weights_of_exactly_one),
        cmocka_unit_test(duplicates_are_filled_up_at_no_weight),
        cmocka_unit_test(the_fill_follows_seed_and_step),
        cmocka_unit_test(zero_gradients_give_a_random_subset_or_none),
        cmocka_unit_test(a_target_behind_all_gradients_gives_a_random_subset_or_none),
        cmocka_unit_test(warm_decisions_allocate_nothing),
        cmocka_unit_test(broken_signals_and_options_are_clear_errors),
        cmocka_unit_test(needs_name_the_target_only_when_it_is_matched),
        cmocka_unit_test(divbs_draws_by_correlation),
        cmocka_unit_test(divbs_never_repeats_and_fills_behind_duplicates),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
