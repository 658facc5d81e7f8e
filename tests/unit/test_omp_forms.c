/*
 * tests/unit/test_omp_forms.c - every form of matching pursuit gives the same answer: brute
 * force and fast, explicit and from the last layer, dual and primal, on any number of threads
 * and with any set of kernels; and what nonnegative and sampled picks promise.
 */
#include "unit/omp_support.h"

/* Signals of a last layer, and the problem they make. */
struct layer {
    size_t    n, rows, d, c;
    float    *h32, *p32;
    double   *h64, *p64, *b;
    uint32_t *row;
    int32_t   column;
};

static double layer_gradient(const struct layer *x, size_t i, size_t l)
{
    size_t class = x->column < 0 ? l / (x->d + 1) : (size_t)x->column, at = l % (x->d + 1);
    size_t row = x->row ? x->row[i] : i;

    return x->p64[row * x->c + class] * (at < x->d ? x->h64[row * x->d + at] : 1);
}

static size_t layer_size(const struct layer *x)
{
    return (x->d + 1) * (x->column < 0 ? x->c : 1);
}

/* n of `rows` examples, scattered when there are more rows than atoms; b is the sum of the
 * first `summed` atoms' gradients and a little besides. */
static struct layer layer_make(uint64_t seed, size_t n, size_t rows, size_t d, size_t c,
                               int32_t column, size_t summed)
{
    struct layer x = {n,
                      rows,
                      d,
                      c,
                      normals_f32(seed, rows * d),
                      normals_f32(seed + 1, rows * c),
                      make(rows * d, sizeof(double)),
                      make(rows * c, sizeof(double)),
                      NULL,
                      rows > n ? make(n, sizeof(uint32_t)) : NULL,
                      column};

    assert_non_null(x.h32);
    assert_non_null(x.p32);
    for (size_t i = 0; i < rows * d; i++) x.h64[i] = (double)x.h32[i];
    for (size_t i = 0; i < rows * c; i++) x.p64[i] = (double)x.p32[i];
    for (size_t i = 0; x.row && i < n; i++) x.row[i] = (uint32_t)((i * 7 + 3) % rows);
    x.b = make(layer_size(&x), sizeof *x.b);
    for (size_t l = 0; l < layer_size(&x); l++) {
        x.b[l] = random_normal(seed + 2, l);
        for (size_t i = 0; i < summed; i++) x.b[l] += layer_gradient(&x, i, l);
    }
    return x;
}

static void layer_clear(struct layer *x)
{
    free(x->h32);
    free(x->p32);
    free(x->h64);
    free(x->p64);
    free(x->b);
    free(x->row);
}

static cull_omp_problem layer_problem(const struct layer *x, size_t budget, bool h_single,
                                      bool p_single)
{
    return (cull_omp_problem){.count = x->n,
                              .budget = budget,
                              .h = h_single ? cull_matrix(x->h32, CULL_F32, x->rows, x->d)
                                            : cull_matrix(x->h64, CULL_F64, x->rows, x->d),
                              .p = p_single ? cull_matrix(x->p32, CULL_F32, x->rows, x->c)
                                            : cull_matrix(x->p64, CULL_F64, x->rows, x->c),
                              .row = x->row,
                              .column = x->column,
                              .b = x->b};
}

/* The same atoms, written out. */
static struct atoms layer_atoms(const struct layer *x)
{
    struct atoms a = atoms_make(1, x->n, layer_size(x), 1);

    for (size_t i = 0; i < x->n; i++)
        for (size_t l = 0; l < a.d; l++) a.g[i * a.d + l] = layer_gradient(x, i, l);
    memcpy(a.b, x->b, a.d * sizeof *a.b);
    atoms_finish(&a);
    return a;
}

/* ---- the same answer */

/* Numbers depend on the seed, races do not. */
#ifdef __SANITIZE_THREAD__
enum { SEEDS = 100 };
#else
enum { SEEDS = 600 };
#endif

/* n from 1 to 90, every combination of form, type, ridge, pick and sign; atoms enough in
 * number space (or a ridge) for weights to have nine digits. */
static void every_form_on_the_cpu_answers_as_brute_force(void **state)
{
    cull_backend *cpu = NULL, *ref = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &cpu));
    assert_ok(cull_backend_open("ref", 1, &ref));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool             tall = seed % 2, column = seed / 2 % 2;
        size_t           n = 1 + (size_t)(seed * 37 % 90), c = 1 + seed % 4;
        size_t           d = tall ? 2 + 3 * n / (column ? 1 : c) : 1 + n / 6;
        struct layer     x = layer_make(10 * seed, n, seed % 5 ? n + 10 : n, d, c,
                                    column ? (int32_t)(seed % c) : -1, seed % 3 ? n : n / 3);
        cull_omp_options options = {.tolerance = seed % 7 ? 1e-6 : 0,
                                    .ridge = tall && seed % 11 < 6 ? 0
                                             : seed % 11 < 9       ? 0.5
                                                                   : 0.01,
                                    .nonnegative = seed / 4 % 3 == 0,
                                    .pick = (cull_pick)(seed / 12 % 3),
                                    .key = cull_key_make(seed, "forms"),
                                    .step = seed};
        struct atoms     a = layer_atoms(&x);
        size_t           budget = 1 + (size_t)(seed * 13 % n);
        cull_omp_problem problem = seed % 6 < 3 ? explicit_problem(&a, budget)
                                                : layer_problem(&x, budget, seed % 4 < 2, seed % 8);
        struct answer    fast = solve_on(cpu, problem, &options);
        struct answer    right = solve_on(ref, problem, &options);

        assert_same_answer(&fast, &right, 1e-8);
        assert_true(fabs(fast.residual - right.residual) <= 1e-7);
        answer_clear(&fast);
        answer_clear(&right);
        atoms_clear(&a);
        layer_clear(&x);
    }
    cull_backend_close(cpu);
    cull_backend_close(ref);
}

static void explicit_and_implicit_gram_give_the_same(void **state)
{
    cull_omp_options options = {.tolerance = 1e-6};

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct layer     x = layer_make(seed, 100, 100, 20, 7, -1, 100);
        cull_tensor      h = cull_matrix(x.h64, CULL_F64, 100, 20);
        cull_tensor      p = cull_matrix(x.p64, CULL_F64, 100, 7);
        double          *k = make(100 * 100, sizeof *k), t[100], b2 = 0;
        cull_omp_problem whole = {.count = 100, .budget = 40, .t = t};
        struct answer    one, two;

        for (size_t l = 0; l < layer_size(&x); l++) {
            x.b[l] = 0;
            for (size_t i = 0; i < 100; i++) x.b[l] += layer_gradient(&x, i, l) / 100;
        }
        assert_ok(cull_gram(NULL, &h, &p, NULL, k, t, &b2));
        whole.k = cull_matrix(k, CULL_F64, 100, 100);
        whole.b2 = b2;
        one = solve("cpu", whole, &options);
        two = solve("cpu", layer_problem(&x, 40, false, true), &options);
        assert_same_answer(&one, &two, 1e-9);
        assert_true(fabs(one.residual - two.residual) < 1e-9);
        answer_clear(&one);
        answer_clear(&two);
        free(k);
        layer_clear(&x);
    }
}

/* The largest |g . r - ridge weight| over the picked, of the largest ridge weight. */
static double equation_error(const struct atoms *a, const struct answer *x, double lambda)
{
    double *r = make(a->d, sizeof *r), trace = 0, ridge = 0, worst = 0;

    for (size_t i = 0; i < a->n; i++) trace += a->k[i * a->n + i];
    ridge = lambda * trace / (double)a->n;
    for (size_t l = 0; l < a->d; l++) {
        long double sum = a->b[l];
        for (size_t j = 0; j < x->picked; j++)
            sum -= (long double)x->weight[j] * a->g[x->index[j] * a->d + l];
        r[l] = (double)sum;
    }
    for (size_t j = 0; j < x->picked; j++)
        worst = fmax(worst, fabs(dot(a->d, a->g + x->index[j] * a->d, r) - ridge * x->weight[j]));
    free(r);
    return worst / (ridge * largest_weight(x));
}

/* Hundreds of updates of a 16 by 16 inverse against a factor of everything picked. */
static void the_primal_form_does_not_drift_from_the_dual(void **state)
{
    static const double lambdas[] = {0.5, 0.01, 0.0005, 0.00001};

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        struct layer     x = layer_make(20 + i, 600, 600, 15, 3, 1, 600);
        struct atoms     a = layer_atoms(&x);
        cull_omp_options options = {.ridge = lambdas[i], .tolerance = 0};
        struct answer    primal = solve("cpu", layer_problem(&x, 560, true, true), &options);
        struct answer    dual = solve("cpu", explicit_problem(&a, 560), &options);

        assert_int_equal(560, dual.picked);
        assert_same_answer(&primal, &dual, 1e-8);
        assert_true(fabs(primal.residual - dual.residual) < 1e-9);
        assert_true(equation_error(&a, &primal, lambdas[i]) < 1e-8);
        answer_clear(&primal);
        answer_clear(&dual);
        atoms_clear(&a);
        layer_clear(&x);
    }
}

/* Strides and gathering are only where the numbers lie. */
static void where_the_rows_lie_changes_nothing(void **state)
{
    struct layer     x = layer_make(31, 80, 80, 12, 3, -1, 80);
    cull_omp_options options = {.tolerance = 1e-6};
    cull_omp_problem problem = layer_problem(&x, 30, true, true);
    struct answer    one = solve("cpu", problem, &options), two, three;
    float           *h = make(80 * 20, sizeof *h), *p = make(80 * 3, sizeof *p);
    uint32_t         row[80];

    (void)state;
    for (size_t i = 0; i < 80; i++) memcpy(h + i * 20, x.h32 + i * 12, 12 * sizeof *h);
    problem.h = cull_matrix(h, CULL_F32, 80, 12);
    problem.h.stride[0] = 20;
    two = solve("cpu", problem, &options);
    for (size_t i = 0; i < 80; i++) {
        row[i] = (uint32_t)(79 - i);
        memcpy(h + row[i] * 12, x.h32 + i * 12, 12 * sizeof *h);
        memcpy(p + row[i] * 3, x.p32 + i * 3, 3 * sizeof *p);
    }
    problem.h = cull_matrix(h, CULL_F32, 80, 12);
    problem.p = cull_matrix(p, CULL_F32, 80, 3);
    problem.row = row;
    three = solve("cpu", problem, &options);
    assert_same_answer(&two, &one, 0);
    assert_same_answer(&three, &one, 0);
    answer_clear(&one);
    answer_clear(&two);
    answer_clear(&three);
    free(h);
    free(p);
    layer_clear(&x);
}

/* ---- threads and kernels */

enum { MANY = 9 };

/* MANY problems of different sizes and forms from one layer and its atoms. */
static void solve_many(cull_backend *backend, const struct layer *x, const struct atoms *a,
                       bool nonnegative, bool abreast, struct answer out[MANY])
{
    cull_omp_problem problems[MANY];
    cull_omp_options options = {
        .ridge = 0.5, .tolerance = 1e-6, .nonnegative = nonnegative, .pick = CULL_PICK_ABS};

    for (size_t i = 0; i < MANY; i++) {
        problems[i] = i % 3 == 0 ? explicit_problem(a, 20 + 11 * i)
                                 : layer_problem(x, 20 + 11 * i, i % 2, true);
        problems[i].column = i % 3 == 2 ? 1 : -1;
        out[i] = (struct answer){.index = make(problems[i].budget, sizeof(uint32_t)),
                                 .weight = make(problems[i].budget, sizeof(double))};
        problems[i].index = out[i].index;
        problems[i].weight = out[i].weight;
    }
    if (abreast)
        assert_ok(cull_omp(backend, problems, MANY, &options));
    else
        for (size_t i = 0; i < MANY; i++) assert_ok(cull_omp(backend, &problems[i], 1, &options));
    for (size_t i = 0; i < MANY; i++) {
        out[i].picked = problems[i].picked;
        out[i].stop = problems[i].stop;
        out[i].residual = problems[i].residual;
    }
}

static void answers_are_the_same_to_the_bit_on_any_number_of_threads(void **state)
{
    struct layer x = layer_make(41, 700, 700, 30, 2, -1, 700);
    struct atoms a = layer_atoms(&x);

    (void)state;
    for (int nonnegative = 0; nonnegative < 2; nonnegative++) {
        struct answer right[MANY];

        for (unsigned threads = 1; threads <= 5; threads++) {
            cull_backend *backend = NULL;

            assert_ok(cull_backend_open("cpu", threads, &backend));
            for (int abreast = 0; abreast < 2; abreast++) {
                struct answer here[MANY];

                solve_many(backend, &x, &a, nonnegative, abreast, here);
                for (size_t i = 0; i < MANY; i++) {
                    if (threads == 1 && !abreast) {
                        right[i] = here[i];
                        continue;
                    }
                    assert_same_answer(&here[i], &right[i], 0);
                    assert_true(here[i].residual == right[i].residual);
                    answer_clear(&here[i]);
                }
            }
            cull_backend_close(backend);
        }
        for (size_t i = 0; i < MANY; i++) answer_clear(&right[i]);
    }
    atoms_clear(&a);
    layer_clear(&x);
}

static void every_set_of_kernels_answers_alike(void **state)
{
    static const char *const sets[] = {"base", "avx2", "avx512"};
    struct layer             x = layer_make(51, 210, 210, 30, 2, -1, 210);
    struct atoms             a = layer_atoms(&x);
    struct answer            right[MANY];

    (void)state;
    for (size_t set = 0; set < 3; set++) {
        cull_backend *backend = NULL;
        struct answer here[MANY];

        assert_int_equal(0, setenv("CULL_KERNELS", sets[set], 1));
        assert_ok(cull_backend_open("cpu", 1, &backend));
        assert_int_equal(0, unsetenv("CULL_KERNELS"));
        solve_many(backend, &x, &a, false, true, set ? here : right);
        for (size_t i = 0; set && i < MANY; i++) {
            assert_same_answer(&here[i], &right[i], 1e-10);
            answer_clear(&here[i]);
        }
        cull_backend_close(backend);
    }
    for (size_t i = 0; i < MANY; i++) answer_clear(&right[i]);
    atoms_clear(&a);
    layer_clear(&x);
}

/* ---- nonnegative and sampled */

/* The picked solve K w = t with w > 0; no other atom would gain from a positive weight, when
 * that is why it stopped. */
static void nonnegative_weights_meet_the_conditions_of_their_optimum(void **state)
{
    cull_omp_options options = {.nonnegative = true, .tolerance = 0, .pick = CULL_PICK_SIGNED};
    size_t           ended = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct atoms  a = atoms_make(seed, 80, 50, 1);
        struct answer x = solve("cpu", explicit_problem(&a, seed % 2 ? 80 : 12), &options);
        double        r[50];

        residual_of(&a, &x, r);
        for (size_t j = 0; j < x.picked; j++) {
            assert_true(x.weight[j] > 0);
            assert_true(fabs(dot(a.d, a.g + x.index[j] * a.d, r)) < 1e-10);
        }
        for (size_t i = 0; x.stop == CULL_OMP_NO_GAIN && i < a.n; i++)
            assert_true(dot(a.d, a.g + i * a.d, r) < 1e-10);
        ended += x.stop == CULL_OMP_NO_GAIN;
        if (seed % 2 == 0) assert_int_equal(12, x.picked);
        answer_clear(&x);
        atoms_clear(&a);
    }
    assert_int_equal(15, ended);
}

/* Atoms that helped for a while and are not part of the mix end at zero, and are dropped, not
 * kept for a rounding's sake. */
static void a_nonnegative_mix_is_recovered_and_nothing_else(void **state)
{
    static const char *const names[] = {"cpu", "ref"};
    cull_omp_options         options = {.nonnegative = true, .tolerance = 0};

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct atoms     a = atoms_make(seed, 40, 60, 1);
        cull_omp_problem problem;
        struct answer    x;

        memset(a.b, 0, a.d * sizeof *a.b);
        for (size_t i = 0; i < a.n; i += 3)
            for (size_t l = 0; l < a.d; l++) a.b[l] += a.g[i * a.d + l];
        atoms_finish(&a);
        problem = explicit_problem(&a, 40);
        problem.b2 = 0;
        x = solve(names[seed % 2], problem, &options);
        assert_int_equal(14, x.picked);
        for (size_t j = 0; j < x.picked; j++) {
            assert_int_equal(0, x.index[j] % 3);
            assert_true(fabs(x.weight[j] - 1) < 1e-12);
        }
        answer_clear(&x);
        atoms_clear(&a);
    }
}

static void a_sampled_pick_follows_the_correlations(void **state)
{
    enum { DRAWS = 20000, ATOMS = 6 };
    static const double t[ATOMS] = {1, -2, 3, 0, -0.5, 4};
    double              k[ATOMS * ATOMS] = {0}, chi = 0, total = 10.5;
    size_t              count[ATOMS] = {0};
    cull_omp_problem    problem = {.count = ATOMS, .budget = 3, .t = t};
    cull_backend       *backend = NULL;

    (void)state;
    for (size_t i = 0; i < ATOMS; i++) k[i * ATOMS + i] = 1;
    problem.k = cull_matrix(k, CULL_F64, ATOMS, ATOMS);
    assert_ok(cull_backend_open("cpu", 1, &backend));
    for (uint64_t step = 0; step < DRAWS; step++) {
        cull_omp_options options = {
            .pick = CULL_PICK_SAMPLE, .key = cull_key_make(7, "divbs"), .step = step};
        struct answer x = solve_on(backend, problem, &options);

        assert_int_equal(3, x.picked);
        count[x.index[0]]++;
        for (size_t j = 0; j < 3; j++) {
            assert_false(picked_before(&x, x.index[j], j));
            assert_true(x.weight[j] == t[x.index[j]]);
        }
        answer_clear(&x);
    }
    assert_int_equal(0, count[3]);
    for (size_t i = 0; i < ATOMS; i++) {
        double expected = DRAWS * fabs(t[i]) / total;
        if (i != 3) chi += pow((double)count[i] - expected, 2) / expected;
    }
    assert_true(chi < 18.5); /* 4 degrees of freedom: one key in a thousand */
    cull_backend_close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_on_the_cpu_answers_as_brute_force),
        cmocka_unit_test(explicit_and_implicit_gram_give_the_same),
        cmocka_unit_test(the_primal_form_does_not_drift_from_the_dual),
        cmocka_unit_test(where_the_rows_lie_changes_nothing),
        cmocka_unit_test(answers_are_the_same_to_the_bit_on_any_number_of_threads),
        cmocka_unit_test(every_set_of_kernels_answers_alike),
        cmocka_unit_test(nonnegative_weights_meet_the_conditions_of_their_optimum),
        cmocka_unit_test(a_nonnegative_mix_is_recovered_and_nothing_else),
        cmocka_unit_test(a_sampled_pick_follows_the_correlations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
