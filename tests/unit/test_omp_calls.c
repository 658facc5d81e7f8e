/*
 * tests/unit/test_omp_calls.c - cull_omp as a call: its arguments, limits and failures.
 */
#include "unit/omp_support.h"

#include "backend/backend.h"
#include "base/alloc.h"

/* A problem with room for its answer. */
struct call {
    struct atoms     a;
    uint32_t         index[64];
    double           weight[64];
    cull_omp_problem problem;
    cull_omp_options options;
};

static int set_up(void **state)
{
    struct call *call = make(1, sizeof *call);

    call->a = atoms_make(1, 64, 80, 1);
    call->problem = explicit_problem(&call->a, 20);
    call->problem.index = call->index;
    call->problem.weight = call->weight;
    call->options.tolerance = 1e-6;
    *state = call;
    return 0;
}

static int tear_down(void **state)
{
    struct call *call = *state;

    atoms_clear(&call->a);
    free(call);
    return 0;
}

/* The problem once more, its atoms read as h (64, 80) and p (64, 1) of ones. */
static cull_omp_problem last_layer(const struct call *call, const double *ones, const double *b)
{
    cull_omp_problem problem = call->problem;

    problem.k = (cull_tensor){0};
    problem.t = NULL;
    problem.h = cull_matrix(call->a.g, CULL_F64, 64, 80);
    problem.p = cull_matrix(ones, CULL_F64, 64, 1);
    problem.column = 0;
    problem.b = b;
    return problem;
}

#define REFUSES(code, text, change)                                                                \
    do {                                                                                           \
        struct call broken = *call;                                                                \
        broken.problem.picked = 9;                                                                 \
        change;                                                                                    \
        assert_fails(code, text, cull_omp(NULL, &broken.problem, 1, &broken.options));             \
        assert_int_equal(0, broken.problem.picked);                                                \
    } while (0)

static void wrong_arguments_are_refused_with_a_sentence(void **state)
{
    const struct call *call = *state;
    cull_omp_problem   problem = call->problem;

    assert_fails(CULL_BAD_ARGUMENT, "must be given", cull_omp(NULL, NULL, 1, &call->options));
    assert_fails(CULL_BAD_ARGUMENT, "must be given", cull_omp(NULL, &problem, 1, NULL));
    assert_ok(cull_omp(NULL, NULL, 0, &call->options));
    REFUSES(CULL_BAD_ARGUMENT, "ridge -1", broken.options.ridge = -1);
    REFUSES(CULL_BAD_ARGUMENT, "ridge nan", broken.options.ridge = NAN);
    REFUSES(CULL_BAD_ARGUMENT, "ridge inf", broken.options.ridge = INFINITY);
    REFUSES(CULL_BAD_ARGUMENT, "tolerance 1", broken.options.tolerance = 1);
    REFUSES(CULL_BAD_ARGUMENT, "tolerance nan", broken.options.tolerance = NAN);
    REFUSES(CULL_BAD_ARGUMENT, "pick number 9", broken.options.pick = (cull_pick)9);
    REFUSES(CULL_BAD_ARGUMENT, "0 atoms", broken.problem.count = 0);
    REFUSES(CULL_BAD_ARGUMENT, "budget 0", broken.problem.budget = 0);
    REFUSES(CULL_BAD_ARGUMENT, "budget 65 of 64", broken.problem.budget = 65);
    REFUSES(CULL_BAD_ARGUMENT, "index and weight", broken.problem.index = NULL);
    REFUSES(CULL_BAD_ARGUMENT, "index and weight", broken.problem.weight = NULL);
    REFUSES(CULL_BAD_ARGUMENT, "not square", broken.problem.k.shape[1] = 60);
    REFUSES(CULL_BAD_ARGUMENT, "64 expected", broken.problem.k.shape[0] = 63);
    REFUSES(CULL_BAD_ARGUMENT, "dense rows", broken.problem.k.stride[0] = 5);
    REFUSES(CULL_BAD_ARGUMENT, "int32", broken.problem.k.dtype = CULL_I32);
    REFUSES(CULL_BAD_ARGUMENT, "t must be given", broken.problem.t = NULL);
    REFUSES(CULL_NOT_FINITE, "b2", broken.problem.b2 = NAN);
}

static void wrong_signals_are_refused_with_a_sentence(void **state)
{
    const struct call *call = *state;
    double             ones[64] = {0}, b[81] = {1};
    uint32_t           row[64] = {0};

    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    row[63] = 64;
    REFUSES(CULL_BAD_ARGUMENT, "h is missing",
            (broken.problem = last_layer(call, ones, b), broken.problem.h = (cull_tensor){0}));
    REFUSES(CULL_BAD_ARGUMENT, "p has 60 rows",
            (broken.problem = last_layer(call, ones, b), broken.problem.p.shape[0] = 60));
    REFUSES(CULL_BAD_ARGUMENT, "column 1 of 1",
            (broken.problem = last_layer(call, ones, b), broken.problem.column = 1));
    REFUSES(CULL_BAD_ARGUMENT, "column -2",
            (broken.problem = last_layer(call, ones, b), broken.problem.column = -2));
    REFUSES(CULL_BAD_ARGUMENT, "row 64 of 64",
            (broken.problem = last_layer(call, ones, b), broken.problem.row = row));
    REFUSES(CULL_BAD_ARGUMENT, "64 atoms of 10 rows",
            (broken.problem = last_layer(call, ones, b),
             broken.problem.h.shape[0] = broken.problem.p.shape[0] = 10));
}

/* b[j] of the mean of the atoms' gradients, whose P is `p`: of rows `row` or all. */
static void mean_gradient(const struct call *call, const double *p, const uint32_t *row,
                          size_t count, double b[81])
{
    for (size_t j = 0; j <= 80; j++) b[j] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = row ? row[i] : i;

        for (size_t j = 0; j <= 80; j++)
            b[j] += p[at] * (j < 80 ? call->a.g[at * 80 + j] : 1) / (double)count;
    }
}

/* With a column too, of which P then has others beside it; on every backend of the host. */
static void without_a_target_the_atoms_mean_is_matched(void **state)
{
    struct call *call = *state;
    double       p[64], beside[128], b[81], weight[20];
    uint32_t     row[40], index[20];

    for (size_t i = 0; i < 64; i++) {
        p[i] = beside[2 * i + 1] = random_normal(5, i);
        beside[2 * i] = 1e3;
    }
    for (uint32_t i = 0; i < 40; i++) row[i] = (i * 7 + 3) % 64;
    for (int k = 0; k < 8; k++) {
        cull_omp_problem given = last_layer(call, p, b), own;
        cull_backend    *backend = NULL;

        assert_ok(cull_backend_open(k % 2 ? "ref" : "cpu", 1, &backend));
        given.row = k / 4 ? row : NULL;
        given.count = k / 4 ? 40 : 64;
        mean_gradient(call, p, given.row, given.count, b);
        own = given;
        own.b = NULL;
        if (k / 2 % 2) {
            own.p = cull_matrix(beside, CULL_F64, 64, 2);
            own.column = 1;
        }
        own.index = index;
        own.weight = weight;
        assert_ok(cull_omp(backend, &given, 1, &call->options));
        assert_ok(cull_omp(backend, &own, 1, &call->options));
        assert_null(own.b);
        assert_int_equal(given.picked, own.picked);
        assert_true(fabs(given.residual - own.residual) < 1e-9);
        for (size_t i = 0; i < own.picked; i++) {
            assert_int_equal(given.index[i], own.index[i]);
            assert_true(fabs(given.weight[i] - own.weight[i]) < 1e-9);
        }
        cull_backend_close(backend);
    }
}

/* Never a silent preference: wherever a NaN or an infinity is, the call says so. */
static void numbers_that_are_not_finite_are_found(void **state)
{
    struct call *call = *state;
    const char  *names[] = {"cpu", "ref"};
    double       ones[64] = {0}, b[81] = {1}, bad[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    for (size_t i = 0; i < 6; i++) {
        cull_backend    *backend = NULL;
        cull_omp_problem layer = last_layer(call, ones, b);
        double *places[] = {call->a.t + 30, call->a.k + 7 * 65, call->a.g + 200, b + 3, ones + 12};

        assert_ok(cull_backend_open(names[i % 2], 2, &backend));
        for (size_t j = 0; j < 5; j++) {
            cull_omp_problem *problem = j < 2 ? &call->problem : &layer;
            double            good = *places[j];

            *places[j] = bad[i / 2];
            assert_fails(CULL_NOT_FINITE, "omp problem 0",
                         cull_omp(backend, problem, 1, &call->options));
            assert_int_equal(0, problem->picked);
            *places[j] = good;
            assert_ok(cull_omp(backend, problem, 1, &call->options));
        }
        cull_backend_close(backend);
    }
}

/* Off the diagonal a broken entry counts as soon as one of its two atoms is picked. */
static void a_broken_entry_of_a_picked_atom_is_found(void **state)
{
    struct call *call = *state;
    uint32_t     first = 0;
    size_t       other = 0;

    assert_ok(cull_omp(NULL, &call->problem, 1, &call->options));
    first = call->index[0];
    other = (first + 5) % 64;
    call->a.k[first * 64 + other] = call->a.k[other * 64 + first] = NAN;
    for (int nonnegative = 0; nonnegative < 2; nonnegative++) {
        call->options.nonnegative = nonnegative;
        call->options.pick = nonnegative ? CULL_PICK_SIGNED : CULL_PICK_ABS;
        if (nonnegative) { /* let it begin with the same atom */
            for (size_t i = 0; i < 64; i++) call->a.t[i] = fabs(call->a.t[i]);
        }
        assert_fails(CULL_NOT_FINITE, "not finite",
                     cull_omp(NULL, &call->problem, 1, &call->options));
    }
}

static void one_broken_problem_of_many_is_named(void **state)
{
    struct call     *call = *state;
    cull_backend    *backend = NULL;
    cull_omp_problem problems[5];
    uint32_t         index[5][20];
    double           weight[5][20], t[64];

    memcpy(t, call->a.t, sizeof t);
    t[9] = NAN;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; i < 5; i++) {
        problems[i] = call->problem;
        problems[i].index = index[i];
        problems[i].weight = weight[i];
        if (i >= 3) problems[i].t = t;
    }
    assert_fails(CULL_NOT_FINITE,
                 "omp problem 3: the Gram matrix or the target is not finite at "
                 "atom 9",
                 cull_omp(backend, problems, 5, &call->options));
    for (size_t i = 0; i < 5; i++) assert_int_equal(0, problems[i].picked);
    cull_backend_close(backend);
}

static void a_problem_beyond_the_memory_limit_is_refused(void **state)
{
    struct call *call = *state;
    const char  *names[] = {"cpu", "ref"};

    for (size_t i = 0; i < 2; i++) {
        cull_backend *backend = NULL;

        assert_ok(cull_backend_open(names[i], 1, &backend));
        call->options.memory = 10000;
        assert_fails(CULL_TOO_LARGE, "64 atoms",
                     cull_omp(backend, &call->problem, 1, &call->options));
        assert_true(strstr(cull_last_error(), "MiB allowed") != NULL);
        call->options.memory = 200000;
        assert_ok(cull_omp(backend, &call->problem, 1, &call->options));
        cull_backend_close(backend);
    }
}

/* Sizes whose products do not fit in a size_t are only too large, like any other. */
static void a_problem_beyond_counting_is_refused(void **state)
{
    struct call     *call = *state;
    cull_omp_problem problem = call->problem;

    problem.count = problem.budget = UINT32_MAX - 1;
    problem.k = cull_matrix(call->a.k, CULL_F64, problem.count, problem.count);
    for (int nonnegative = 0; nonnegative < 2; nonnegative++) {
        call->options.nonnegative = nonnegative;
        assert_fails(CULL_TOO_LARGE, "4294967294 atoms",
                     cull_omp(NULL, &problem, 1, &call->options));
    }
}

/* A class's problem that is too long for the dual form fits in the primal. */
static void the_form_that_fits_is_taken(void **state)
{
    struct call     *call = *state;
    double           ones[64] = {0}, b[5] = {1, 2, 3, 4, 5};
    cull_omp_problem layer = last_layer(call, ones, b);
    cull_omp_options options = {.ridge = 0.5, .tolerance = 0, .memory = 5500};

    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    layer.h = cull_matrix(call->a.g, CULL_F64, 64, 4);
    layer.budget = 3;
    assert_ok(cull_omp(NULL, &layer, 1, &options));
    assert_int_equal(3, layer.picked);
    options.ridge = 0; /* no primal form without ridge */
    assert_fails(CULL_TOO_LARGE, "3 picks", cull_omp(NULL, &layer, 1, &options));
}

static void a_warm_call_allocates_nothing(void **state)
{
    struct call     *call = *state;
    cull_backend    *backend = NULL;
    double           ones[64] = {0}, b[81] = {1};
    cull_omp_problem layer = last_layer(call, ones, b);
    size_t           before = 0;

    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (int round = 0; round < 3; round++) {
        if (round == 1) before = cull_base_alloc_count();
        for (int form = 0; form < 8; form++) {
            call->options.ridge = form & 1 ? 0.5 : 0;
            call->options.nonnegative = form & 2;
            assert_ok(cull_omp(backend, form & 4 ? &layer : &call->problem, 1, &call->options));
        }
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_backend_close(backend);
}

static void survives_every_allocation_failure(void **state)
{
    struct call *call = *state;
    const char  *names[] = {"cpu", "ref"};

    for (size_t i = 0; i < 2; i++) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            cull_backend *backend = NULL;

            assert_ok(cull_backend_open(names[i], 2, &backend));
            fail_nth_alloc(n);
            status = cull_omp(backend, &call->problem, 1, &call->options);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_int_equal(status == CULL_OK ? 20 : 0, call->problem.picked);
            if (status != CULL_OK) /* what was allocated still serves */
                assert_ok(cull_omp(backend, &call->problem, 1, &call->options));
            cull_backend_close(backend);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_arguments_are_refused_with_a_sentence, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(wrong_signals_are_refused_with_a_sentence, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_a_target_the_atoms_mean_is_matched, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(numbers_that_are_not_finite_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_entry_of_a_picked_atom_is_found, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_broken_problem_of_many_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_problem_beyond_the_memory_limit_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_problem_beyond_counting_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_form_that_fits_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_warm_call_allocates_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_every_allocation_failure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
