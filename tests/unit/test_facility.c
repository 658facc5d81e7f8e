/* tests/unit/test_facility.c - properties of facility location. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D = 12, C = 4, K = 20 };

struct signals {
    float   *h, *p;
    uint32_t index[N];
    double   weight[N];
};

static int make_signals(void **state)
{
    struct signals *s = calloc(1, sizeof *s);

    if (!s) return 1;
    s->h = normals_f32(1, N * D);
    s->p = normals_f32(2, N * C);
    *state = s;
    return !s->h || !s->p;
}

static int free_signals(void **state)
{
    struct signals *s = *state;

    free(s->h);
    free(s->p);
    free(s);
    return 0;
}

static cull_facility_problem from_signals(struct signals *s, size_t n, size_t budget)
{
    return (cull_facility_problem){.count = n,
                                   .budget = budget,
                                   .h = cull_matrix(s->h, CULL_F32, n, D),
                                   .p = cull_matrix(s->p, CULL_F32, n, C),
                                   .index = s->index,
                                   .weight = s->weight};
}

static double gram(const struct signals *s, size_t i, size_t j)
{
    double hh = 1, pp = 0;

    for (size_t l = 0; l < D; l++) hh += (double)s->h[i * D + l] * (double)s->h[j * D + l];
    for (size_t l = 0; l < C; l++) pp += (double)s->p[i * C + l] * (double)s->p[j * C + l];
    return hh * pp;
}

/* Largest distance minus distance, in double. */
static double *similarities(const struct signals *s, size_t n)
{
    double *x = malloc(n * n * sizeof *x), most = 0;

    for (size_t i = 0; i < n * n; i++) {
        size_t a = i / n, b = i % n;
        double square = gram(s, a, a) + gram(s, b, b) - 2 * gram(s, a, b);
        x[i] = a == b || square < 0 ? 0 : sqrt(square);
        most = x[i] > most ? x[i] : most;
    }
    for (size_t i = 0; i < n * n; i++) x[i] = most - x[i];
    return x;
}

static double value_of(const double *similarity, size_t n, const uint32_t *index, size_t count)
{
    double sum = 0;

    for (size_t j = 0; j < n; j++) {
        double best = 0;
        for (size_t i = 0; i < count; i++) best = fmax(best, similarity[index[i] * n + j]);
        sum += best;
    }
    return sum;
}

/* S is held in float32: that is what values may differ by. */
static const double single = 1e-6;

static void assert_close(double want, double got, double tolerance)
{
    if (!(fabs(want - got) <= tolerance * fabs(want)))
        fail_msg("%.17g expected, %.17g found", want, got);
}

static void lazy_picks_what_naive_picks(void **state)
{
    struct signals       *s = *state;
    cull_facility_options options = {.greedy = CULL_GREEDY_NAIVE};
    uint32_t              want[N];
    double                weight[N], value = 0;

    for (size_t n = 1; n <= N; n += 11) {
        for (int tied = 0; tied < 2; tied++) {
            cull_facility_problem problem = from_signals(s, n, n);
            cull_backend         *backend = NULL;
            if (tied) /* small integers: many equal distances */
                for (size_t i = 0; i < n * D; i++) s->h[i] = (float)(i * i % 3);

            options.greedy = CULL_GREEDY_NAIVE;
            assert_ok(cull_facility(NULL, &problem, 1, &options));
            memcpy(want, s->index, sizeof want);
            memcpy(weight, s->weight, sizeof weight);
            value = problem.value;
            options.greedy = CULL_GREEDY_LAZY;
            assert_ok(cull_facility(NULL, &problem, 1, &options));
            assert_memory_equal(want, s->index, n * sizeof *want);
            assert_memory_equal(weight, s->weight, n * sizeof *weight);
            assert_true(value == problem.value);
            assert_ok(cull_backend_open("ref", 1, &backend));
            assert_ok(cull_facility(backend, &problem, 1, &options));
            cull_backend_close(backend);
            assert_close(problem.value, value, single);
        }
    }
}

static void value_never_falls_and_is_what_the_picks_are_worth(void **state)
{
    struct signals *s = *state;
    double         *similarity = similarities(s, N), before = 0;

    for (size_t k = 1; k <= N; k += 7) {
        cull_facility_problem problem = from_signals(s, N, k);

        assert_ok(cull_facility(NULL, &problem, 1, NULL));
        assert_true(problem.value >= before);
        assert_close(value_of(similarity, N, s->index, k), problem.value, single);
        before = problem.value;
    }
    free(similarity);
}

static void no_atom_is_picked_twice_and_weights_count_every_atom_once(void **state)
{
    struct signals *s = *state;

    for (int greedy = 0; greedy < 3; greedy++) {
        for (size_t k = 1; k <= N; k += 11) {
            cull_facility_options options = {.greedy = (cull_greedy)greedy,
                                             .key = cull_key_make(k, "test")};
            cull_facility_problem problem = from_signals(s, N, k);
            bool                  seen[N] = {0};
            double                sum = 0;

            assert_ok(cull_facility(NULL, &problem, 1, &options));
            for (size_t i = 0; i < k; i++) {
                assert_true(s->index[i] < N && !seen[s->index[i]]);
                seen[s->index[i]] = true;
                sum += s->weight[i];
            }
            assert_true(sum == N);
        }
    }
}

static void weights_count_the_nearest_atoms(void **state)
{
    struct signals       *s = *state;
    double               *similarity = similarities(s, N), count[K] = {0};
    cull_facility_problem problem = from_signals(s, N, K);

    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    for (size_t j = 0; j < N; j++) {
        size_t owner = 0;
        for (size_t i = 1; i < K; i++)
            if (similarity[s->index[i] * N + j] > similarity[s->index[owner] * N + j]) owner = i;
        count[owner]++;
    }
    for (size_t i = 0; i < K; i++) assert_true(count[i] == s->weight[i]);
    free(similarity);
}

static void duplicates_share_one_representative(void **state)
{
    struct signals       *s = *state;
    cull_facility_problem problem = from_signals(s, N, 3);

    for (size_t i = 3; i < N; i++) {
        memcpy(s->h + i * D, s->h + i % 3 * D, D * sizeof *s->h);
        memcpy(s->p + i * C, s->p + i % 3 * C, C * sizeof *s->p);
    }
    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_true(s->index[i] < 3);
        assert_true(s->weight[i] == N / 3);
    }
    problem.budget = 5; /* what is left gains nothing: lowest first, representing none */
    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    assert_int_equal(3, s->index[3]);
    assert_int_equal(4, s->index[4]);
    assert_true(s->weight[3] == 0 && s->weight[4] == 0);
}

static void one_atom_represents_itself(void **state)
{
    struct signals       *s = *state;
    cull_facility_problem problem = from_signals(s, 1, 1);

    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    assert_int_equal(0, s->index[0]);
    assert_true(s->weight[0] == 1 && problem.value == 0);
}

static void equal_gradients_give_the_first_atoms_and_value_zero(void **state)
{
    struct signals *s = *state;

    for (size_t i = 0; i < N * D; i++) s->h[i] = s->h[i % D];
    for (size_t i = 0; i < N * C; i++) s->p[i] = s->p[i % C];
    for (int greedy = 0; greedy < 2; greedy++) {
        cull_facility_options options = {.greedy = (cull_greedy)greedy};
        cull_facility_problem problem = from_signals(s, N, K);

        assert_ok(cull_facility(NULL, &problem, 1, &options));
        for (size_t i = 0; i < K; i++) {
            assert_int_equal(i, s->index[i]);
            assert_true(s->weight[i] == (i ? 0 : N));
        }
        assert_true(problem.value == 0);
    }
}

static void given_similarities_lead_where_the_signals_do(void **state)
{
    struct signals       *s = *state;
    double               *f64 = similarities(s, N), want[N], value = 0;
    float                *f32 = malloc(N * N * sizeof *f32);
    uint32_t              index[N];
    cull_facility_problem problem = from_signals(s, N, K);
    cull_facility_problem given = {.count = N, .budget = K, .index = s->index, .weight = s->weight};
    const cull_tensor     forms[] = {cull_matrix(f64, CULL_F64, N, N),
                                     cull_matrix(f32, CULL_F32, N, N)};

    for (size_t i = 0; i < N * N; i++) f32[i] = (float)f64[i];
    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    memcpy(index, s->index, sizeof index);
    memcpy(want, s->weight, sizeof want);
    value = problem.value;
    for (int form = 0; form < 4; form++) {
        cull_facility_options options = {.memory = form < 2 ? 0 : 1000};
        given.similarity = forms[form % 2];
        assert_ok(cull_facility(NULL, &given, 1, &options));
        assert_memory_equal(index, s->index, K * sizeof *index);
        assert_memory_equal(want, s->weight, K * sizeof *want);
        assert_close(value, given.value, single);
    }
    free(f32);
    free(f64);
}

static void a_memory_limit_and_threads_change_nothing(void **state)
{
    struct signals *s = *state;
    const size_t    limits[] = {1, N * 4, N * 4 * 7, N * 4 * (N - 1), 0};

    for (int greedy = 0; greedy < 3; greedy++) {
        cull_facility_options options = {.greedy = (cull_greedy)greedy,
                                         .key = cull_key_make(5, "test")};
        cull_facility_problem problem = from_signals(s, N, K);
        uint32_t              index[N];
        double                weight[N], value = 0;

        assert_ok(cull_facility(NULL, &problem, 1, &options));
        memcpy(index, s->index, sizeof index);
        memcpy(weight, s->weight, sizeof weight);
        value = problem.value;
        for (unsigned run = 0; run < 10; run++) {
            cull_backend *backend = NULL;
            options.memory = limits[run % 5];
            assert_ok(cull_backend_open("cpu", 1 + run / 5 * 2, &backend));
            assert_ok(cull_facility(backend, &problem, 1, &options));
            cull_backend_close(backend);
            assert_memory_equal(index, s->index, K * sizeof *index);
            assert_memory_equal(weight, s->weight, K * sizeof *weight);
            assert_true(value == problem.value);
        }
    }
}

/* Problems of unequal size over shared signals, each through its own rows. */
static void a_batch_of_problems_is_each_of_them_alone(void **state)
{
    enum { PROBLEMS = 7 };
    struct signals       *s = *state;
    cull_facility_problem problems[PROBLEMS];
    cull_facility_options options = {.key = cull_key_make(6, "test")};
    uint32_t              row[N], index[N];
    double                weight[N];
    cull_backend         *backend = NULL;

    assert_ok(cull_backend_open("cpu", 3, &backend));
    for (size_t i = 0; i < N; i++) row[i] = (uint32_t)(i * 37 % N);
    for (int greedy = 0; greedy < 3; greedy++) {
        size_t at = 0;
        options.greedy = (cull_greedy)greedy;
        for (size_t i = 0; i < PROBLEMS; i++) {
            problems[i] = from_signals(s, N, 1 + i);
            problems[i].count = 3 * i + 2;
            problems[i].row = row + at;
            problems[i].index = index + at;
            problems[i].weight = weight + at;
            at += problems[i].count;
        }
        assert_ok(cull_facility(backend, problems, PROBLEMS, &options));
        for (size_t i = 0; i < PROBLEMS; i++) {
            cull_facility_problem alone = problems[i];
            alone.index = s->index;
            alone.weight = s->weight;
            assert_ok(cull_facility(NULL, &alone, 1, &options));
            assert_memory_equal(problems[i].index, s->index, alone.budget * sizeof *index);
            assert_memory_equal(problems[i].weight, s->weight, alone.budget * sizeof *weight);
            assert_true(problems[i].value == alone.value);
        }
    }
    cull_backend_close(backend);
}

/* The value of the best `count` of n atoms: every choice is tried. */
static double optimum(const double *similarity, size_t n, size_t count)
{
    double best = 0;

    for (unsigned set = 0; set < 1u << n; set++) {
        uint32_t index[16];
        size_t   members = 0;
        for (uint32_t i = 0; i < n; i++)
            if (set >> i & 1) index[members++] = i;
        if (members == count) best = fmax(best, value_of(similarity, n, index, count));
    }
    return best;
}

static void greedy_reaches_its_share_of_the_optimum(void **state)
{
    enum { SMALL = 11 };
    struct signals *s = *state;

    for (uint64_t seed = 0; seed < 8; seed++) {
        for (size_t i = 0; i < SMALL * D; i++) s->h[i] = (float)random_normal(seed, i);
        for (size_t i = 0; i < SMALL * C; i++) s->p[i] = (float)random_normal(seed + 99, i);
        double *similarity = similarities(s, SMALL);
        for (size_t k = 1; k <= 5; k++) {
            cull_facility_problem problem = from_signals(s, SMALL, k);
            double                best = optimum(similarity, SMALL, k);

            assert_ok(cull_facility(NULL, &problem, 1, NULL));
            assert_true(problem.value >= (1 - exp(-1)) * best);
            assert_true(problem.value <= best * (1 + single));
            if (k == 1) assert_close(best, problem.value, single);
        }
        free(similarity);
    }
}

static void a_stochastic_pick_follows_its_key_and_loses_little(void **state)
{
    struct signals       *s = *state;
    cull_facility_options options = {.greedy = CULL_GREEDY_STOCHASTIC};
    cull_facility_problem problem = from_signals(s, N, K);
    uint32_t              first[K];
    double                lazy = 0, mean = 0, differ = 0;

    assert_ok(cull_facility(NULL, &problem, 1, NULL));
    lazy = problem.value;
    for (uint64_t seed = 0; seed < 20; seed++) {
        options.key = cull_key_make(seed, "test");
        assert_ok(cull_facility(NULL, &problem, 1, &options));
        mean += problem.value / 20;
        if (seed == 0)
            memcpy(first, s->index, sizeof first);
        else
            differ += memcmp(first, s->index, sizeof first) != 0;
    }
    assert_true(differ > 15);
    assert_true(mean > (1 - exp(-1) - 0.01) * lazy && mean <= lazy * 1.01);
    options.sample = 1e-300; /* everybody is looked at: naive greedy */
    assert_ok(cull_facility(NULL, &problem, 1, &options));
    assert_true(problem.value == lazy);
}

/* Only ratios of distances matter: gradients whose lengths leave float32, on either side, have the
 * picks of the same gradients scaled by a power of two. */
static void gradients_of_any_size_give_the_same_picks(void **state)
{
    static const int h_exponents[] = {0, 66, 127}, p_exponents[] = {-149, -60, 66, 120};
    struct signals  *s = *state;

    for (unsigned run = 0; run < 24; run++) {
        cull_facility_problem problem = from_signals(s, N, K);
        cull_backend         *backend = NULL;
        uint32_t              index[K];
        double                weight[K], value = 0, h[N * D], p[N * C];
        int                   e = p_exponents[run / 6];

        assert_ok(cull_backend_open(run % 2 ? "ref" : "cpu", 1, &backend));
        for (size_t i = 0; i < N * D; i++)
            h[i] = ldexp((double)s->h[i], h_exponents[run / 2 % 3] - 3);
        for (size_t i = 0; i < N * C; i++) p[i] = (double)s->p[i];
        problem.h = cull_matrix(h, CULL_F64, N, D);
        problem.p = cull_matrix(p, CULL_F64, N, C);
        assert_ok(cull_facility(backend, &problem, 1, NULL));
        memcpy(index, s->index, sizeof index);
        memcpy(weight, s->weight, sizeof weight);
        value = problem.value;
        for (size_t i = 0; i < K; i++) assert_true(weight[i] > 0);
        for (size_t i = 0; i < N * C; i++) p[i] = ldexp(p[i], e);
        assert_ok(cull_facility(backend, &problem, 1, NULL));
        assert_memory_equal(index, s->index, sizeof index);
        assert_memory_equal(weight, s->weight, sizeof weight);
        assert_true(ldexp(value, e) == problem.value && isfinite(problem.value));
        cull_backend_close(backend);
    }
}

static void similarities_of_any_size_give_the_same_picks(void **state)
{
    static const int exponents[] = {-1000, -160, 140, 1000};
    struct signals  *s = *state;
    double          *similarity = similarities(s, N);

    for (unsigned run = 0; run < 8; run++) {
        cull_facility_problem problem = from_signals(s, N, K);
        cull_facility_options options = {.memory = run & 4 ? N * 4 * 7 : 0};
        cull_backend         *backend = NULL;
        uint32_t              index[K];
        double               *scaled = malloc(N * N * sizeof *scaled), value = 0;

        assert_ok(cull_backend_open(run % 2 ? "ref" : "cpu", 1, &backend));
        problem.similarity = cull_matrix(similarity, CULL_F64, N, N);
        assert_ok(cull_facility(backend, &problem, 1, &options));
        memcpy(index, s->index, sizeof index);
        value = problem.value;
        for (size_t e = 0; e < 4; e++) {
            for (size_t i = 0; i < N * N; i++) scaled[i] = ldexp(similarity[i], exponents[e]);
            problem.similarity = cull_matrix(scaled, CULL_F64, N, N);
            assert_ok(cull_facility(backend, &problem, 1, &options));
            assert_memory_equal(index, s->index, sizeof index);
            assert_true(ldexp(value, exponents[e]) == problem.value);
        }
        cull_backend_close(backend);
        free(scaled);
    }
    free(similarity);
}

static void gradients_beyond_doubles_are_refused_by_name(void **state)
{
    struct signals       *s = *state;
    cull_facility_problem problem = from_signals(s, N, K);
    uint32_t              row[N];
    double                h[N * D];

    for (size_t i = 0; i < N * D; i++) h[i] = (double)s->h[i];
    problem.h = cull_matrix(h, CULL_F64, N, D);
    h[7 * D + 2] = -1e200;
    assert_fails(CULL_NOT_FINITE, "h of example 7 is too large",
                 cull_facility(NULL, &problem, 1, NULL));
    for (size_t i = 0; i < N; i++) row[i] = (uint32_t)i;
    row[7] = 0;
    problem.row = row;
    assert_ok(cull_facility(NULL, &problem, 1, NULL));
}

static void what_is_wrong_is_said_in_a_sentence(void **state)
{
    struct signals       *s = *state;
    cull_facility_problem good = from_signals(s, N, K), bad = good;
    cull_facility_options options = {.sample = 1};
    uint32_t              row[N] = {0};
    double                similarity[4] = {1, 0, -1, 1};

    assert_fails(CULL_BAD_ARGUMENT, "sample", cull_facility(NULL, &good, 1, &options));
    options = (cull_facility_options){.greedy = (cull_greedy)9};
    assert_fails(CULL_BAD_ARGUMENT, "greedy", cull_facility(NULL, &good, 1, &options));
    bad.budget = N + 1;
    assert_fails(CULL_BAD_ARGUMENT, "budget", cull_facility(NULL, &bad, 1, NULL));
    bad.budget = 0;
    assert_fails(CULL_BAD_ARGUMENT, "budget", cull_facility(NULL, &bad, 1, NULL));
    bad = good, bad.count = 0;
    assert_fails(CULL_BAD_ARGUMENT, "atoms", cull_facility(NULL, &bad, 1, NULL));
    bad = good, bad.index = NULL;
    assert_fails(CULL_BAD_ARGUMENT, "index", cull_facility(NULL, &bad, 1, NULL));
    bad = good, bad.h.data = NULL;
    assert_fails(CULL_BAD_ARGUMENT, "h is missing", cull_facility(NULL, &bad, 1, NULL));
    bad = good, bad.row = row, row[7] = N;
    assert_fails(CULL_BAD_ARGUMENT, "row 90", cull_facility(NULL, &bad, 1, NULL));
    bad = good, bad.count = 2, bad.budget = 1,
    bad.similarity = cull_matrix(similarity, CULL_F64, 2, 2);
    assert_fails(CULL_BAD_ARGUMENT, "below zero", cull_facility(NULL, &bad, 1, NULL));
    similarity[2] = (double)NAN;
    assert_fails(CULL_NOT_FINITE, "row 1", cull_facility(NULL, &bad, 1, NULL));
    s->p[3 * C] = (float)INFINITY;
    assert_fails(CULL_NOT_FINITE, "example 3", cull_facility(NULL, &good, 1, NULL));
    assert_ok(cull_facility(NULL, NULL, 0, NULL));
}

static cull_status solve_three(cull_backend *backend, struct signals *s)
{
    cull_facility_problem problems[3];

    for (size_t i = 0; i < 3; i++) {
        problems[i] = from_signals(s, N, 1);
        problems[i].index += i;
        problems[i].weight += i;
    }
    return cull_facility(backend, problems, 3, NULL);
}

static void failing_allocations_are_survived(void **state)
{
    const char *names[] = {"cpu", "ref"};

    for (unsigned b = 0; b < 2; b++) {
        cull_backend *backend = NULL;
        cull_status   status = CULL_OK;

        assert_ok(cull_backend_open(names[b], 2 - b, &backend));
        assert_ok(solve_three(backend, *state)); /* all threads have started then */
        for (size_t n = 1;; n++) {
            fail_nth_alloc(n);
            status = solve_three(backend, *state);
            if (!alloc_has_failed()) break;
            assert_int_equal(CULL_NO_MEMORY, status);
        }
        assert_ok(status);
        fail_nth_alloc(0);
        cull_backend_close(backend);
    }
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_signals, free_signals)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(lazy_picks_what_naive_picks),
        test(value_never_falls_and_is_what_the_picks_are_worth),
        test(no_atom_is_picked_twice_and_weights_count_every_atom_once),
        test(weights_count_the_nearest_atoms),
        test(duplicates_share_one_representative),
        test(one_atom_represents_itself),
        test(equal_gradients_give_the_first_atoms_and_value_zero),
        test(given_similarities_lead_where_the_signals_do),
        test(a_memory_limit_and_threads_change_nothing),
        test(a_batch_of_problems_is_each_of_them_alone),
        test(greedy_reaches_its_share_of_the_optimum),
        test(a_stochastic_pick_follows_its_key_and_loses_little),
        test(gradients_of_any_size_give_the_same_picks),
        test(similarities_of_any_size_give_the_same_picks),
        test(gradients_beyond_doubles_are_refused_by_name),
        test(what_is_wrong_is_said_in_a_sentence),
        test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
