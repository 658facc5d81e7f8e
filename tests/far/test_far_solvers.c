/*
 * tests/far/test_far_solvers.c - the public solvers on arrays that lie elsewhere: on `far` they
 * find what they find on the host, bit for bit, on `emu` within rounding; what is wrong with arrays
 * is found there. So are subsets handed out, and places taken.
 */
#include "far/on_far.h"

#include <math.h>

enum { ROWS = 60, WIDTH = 12, CLASSES = 4, PICKS = 10 };

/* Arrays of one problem here, and where they are worked with. */
struct case_of {
    cull_backend *backend; /* NULL: here */
    double        h[ROWS * WIDTH], p[ROWS * CLASSES], near[ROWS * ROWS];
    uint32_t      row[ROWS];
    void         *there[8];
    size_t        arrays;
};

static void fill_case(struct case_of *c, cull_backend *backend)
{
    *c = (struct case_of){.backend = backend};
    for (size_t i = 0; i < ROWS * WIDTH; i++) c->h[i] = random_normal(1, i);
    for (size_t i = 0; i < ROWS * CLASSES; i++) c->p[i] = random_normal(2, i);
    for (size_t i = 0; i < ROWS * ROWS; i++)
        c->near[i] = 1 + fabs((double)(i / ROWS) - (double)(i % ROWS));
    for (uint32_t i = 0; i < ROWS; i++) c->row[i] = (i * 7 + 2) % ROWS;
}

static void *bring(struct case_of *c, const void *from, size_t bytes)
{
    if (!c->backend) return (void *)(uintptr_t)from;
    return c->there[c->arrays++] = put(c->backend, from, bytes);
}

static cull_tensor matrix(struct case_of *c, const double *from, size_t rows, size_t columns)
{
    cull_tensor t =
        cull_matrix(bring(c, from, rows * columns * sizeof *from), CULL_F64, rows, columns);

    if (c->backend) t.device = cull_backend_device(c->backend);
    return t;
}

static void end_case(struct case_of *c)
{
    for (size_t i = 0; i < c->arrays; i++) cull_backend_release(c->backend, c->there[i]);
    c->arrays = 0;
}

static void fetch(const struct case_of *c, void *to, const void *from, size_t bytes)
{
    if (c->backend)
        assert_ok(cull_backend_download(c->backend, to, from, bytes));
    else
        memcpy(to, from, bytes);
}

/* What a problem came to. */
struct answer {
    uint32_t index[PICKS];
    double   weight[PICKS], told[2];
    size_t   picked;
};

static struct answer pursue(cull_backend *backend, bool rows, int32_t column)
{
    struct case_of   c;
    struct answer    answer = {.picked = 0};
    cull_omp_options options = {.tolerance = 1e-9};
    cull_omp_problem problem = {.count = rows ? 40 : ROWS, .budget = PICKS, .column = column};

    fill_case(&c, backend);
    problem.h = matrix(&c, c.h, ROWS, WIDTH);
    problem.p = matrix(&c, c.p, ROWS, CLASSES);
    if (rows) problem.row = bring(&c, c.row, sizeof c.row);
    problem.index = bring(&c, answer.index, sizeof answer.index);
    problem.weight = bring(&c, answer.weight, sizeof answer.weight);
    assert_ok(cull_omp(backend, &problem, 1, &options));
    fetch(&c, answer.index, problem.index, sizeof answer.index);
    fetch(&c, answer.weight, problem.weight, sizeof answer.weight);
    answer.told[0] = problem.residual;
    answer.picked = problem.picked;
    end_case(&c);
    return answer;
}

static struct answer locate(cull_backend *backend, bool rows, bool near)
{
    struct case_of        c;
    struct answer         answer = {.picked = PICKS};
    cull_facility_problem problem = {.count = rows ? 40 : ROWS, .budget = PICKS};

    fill_case(&c, backend);
    if (near) {
        problem.similarity = matrix(&c, c.near, ROWS, ROWS);
    } else {
        problem.h = matrix(&c, c.h, ROWS, WIDTH);
        problem.p = matrix(&c, c.p, ROWS, CLASSES);
    }
    if (rows) problem.row = bring(&c, c.row, sizeof c.row);
    problem.index = bring(&c, answer.index, sizeof answer.index);
    problem.weight = bring(&c, answer.weight, sizeof answer.weight);
    assert_ok(cull_facility(backend, &problem, 1, NULL));
    fetch(&c, answer.index, problem.index, sizeof answer.index);
    fetch(&c, answer.weight, problem.weight, sizeof answer.weight);
    answer.told[0] = problem.value;
    end_case(&c);
    return answer;
}

/* Exactly, or as far as another order of sums goes. */
static void compare(const struct answer *a, const struct answer *b, bool exactly)
{
    double most = exactly ? 0 : 1e-9;

    assert_int_equal(a->picked, b->picked);
    if (!(fabs(a->told[0] - b->told[0]) <= most * (1 + fabs(a->told[0]))))
        fail_msg("told %.17g and %.17g", a->told[0], b->told[0]);
    for (size_t i = 0; i < a->picked; i++) {
        assert_int_equal(a->index[i], b->index[i]);
        assert_true(fabs(a->weight[i] - b->weight[i]) <= most);
    }
}

struct place {
    cull_backend *elsewhere, *here;
    bool          exactly;
};

static void for_each_place(void (*check)(const struct place *place))
{
    static const char *const names[][2] = {{"far", "ref"}, {"emu", "cpu"}};

    for (size_t i = 0; i < (has_emu() ? 2u : 1u); i++) {
        struct place place = {.exactly = i == 0};

        assert_ok(cull_backend_open(names[i][0], 1, &place.elsewhere));
        assert_ok(cull_backend_open(names[i][1], 1, &place.here));
        check(&place);
        cull_backend_close(place.elsewhere);
        cull_backend_close(place.here);
    }
}

static struct answer pursue_here(const struct place *place, bool rows, int32_t column)
{
    struct case_of   c;
    struct answer    answer = {.picked = 0};
    cull_omp_options options = {.tolerance = 1e-9};

    fill_case(&c, NULL);
    cull_omp_problem problem = {.count = rows ? 40 : ROWS,
                                .budget = PICKS,
                                .column = column,
                                .h = matrix(&c, c.h, ROWS, WIDTH),
                                .p = matrix(&c, c.p, ROWS, CLASSES),
                                .row = rows ? c.row : NULL,
                                .index = answer.index,
                                .weight = answer.weight};

    assert_ok(cull_omp(place->here, &problem, 1, &options));
    answer.told[0] = problem.residual;
    answer.picked = problem.picked;
    return answer;
}

static void compare_pursuits(const struct place *place)
{
    for (int k = 0; k < 4; k++) {
        int32_t       column = k / 2 ? 2 : -1;
        struct answer there = pursue(place->elsewhere, k % 2, column);
        struct answer here = pursue_here(place, k % 2, column);

        compare(&here, &there, place->exactly);
    }
}

static void pursuits_elsewhere_are_those_of_the_host(void **state)
{
    (void)state;
    for_each_place(compare_pursuits);
}

static struct answer locate_here(const struct place *place, bool rows, bool near)
{
    struct case_of        c;
    struct answer         answer = {.picked = PICKS};
    cull_facility_problem problem = {.count = rows ? 40 : ROWS, .budget = PICKS};

    fill_case(&c, NULL);
    if (near) problem.similarity = matrix(&c, c.near, ROWS, ROWS);
    if (!near) problem.h = matrix(&c, c.h, ROWS, WIDTH);
    if (!near) problem.p = matrix(&c, c.p, ROWS, CLASSES);
    if (rows) problem.row = c.row;
    problem.index = answer.index;
    problem.weight = answer.weight;
    assert_ok(cull_facility(place->here, &problem, 1, NULL));
    answer.told[0] = problem.value;
    return answer;
}

static void compare_locations(const struct place *place)
{
    for (int k = 0; k < 3; k++) {
        struct answer there = locate(place->elsewhere, k == 1, k == 2);
        struct answer here = locate_here(place, k == 1, k == 2);

        compare(&here, &there, place->exactly);
    }
}

static void facilities_elsewhere_are_those_of_the_host(void **state)
{
    (void)state;
    for_each_place(compare_locations);
}

/* ---- gram ---- */

struct products {
    double k[ROWS * ROWS], t[ROWS], b2;
};

static void multiply(cull_backend *backend, cull_backend *with, bool aimed, struct products *out)
{
    struct case_of c;
    cull_tensor    h, p;
    cull_target    target = {.count = aimed ? 20 : 0};
    double        *k = NULL, *t = NULL;

    memset(out, 0, sizeof *out);
    fill_case(&c, backend);
    h = matrix(&c, c.h, ROWS, WIDTH);
    p = matrix(&c, c.p, ROWS, CLASSES);
    target.h = matrix(&c, c.h + 5 * WIDTH, 20, WIDTH);
    target.p = matrix(&c, c.p + 5 * CLASSES, 20, CLASSES);
    k = bring(&c, out->k, sizeof out->k);
    t = bring(&c, out->t, sizeof out->t);
    assert_ok(cull_gram(with, &h, &p, &target, k, t, &out->b2));
    fetch(&c, out->k, k, sizeof out->k);
    fetch(&c, out->t, t, sizeof out->t);
    end_case(&c);
}

static void compare_products(const struct place *place)
{
    static struct products there, here;
    const double          *a = (const double *)&there, *b = (const double *)&here;

    for (int aimed = 0; aimed < 2; aimed++) {
        multiply(place->elsewhere, place->elsewhere, aimed, &there);
        multiply(NULL, place->here, aimed, &here);
        for (size_t i = 0; i < sizeof there / sizeof *a; i++)
            if (fabs(a[i] - b[i]) > (place->exactly ? 0 : 1e-12 * (1 + fabs(b[i]))))
                fail_msg("number %zu: %.17g, %.17g", i, a[i], b[i]);
    }
}

static void gram_matrices_elsewhere_are_those_of_the_host(void **state)
{
    (void)state;
    for_each_place(compare_products);
}

/* ---- what is wrong ---- */

static void refuse_numbers(const struct place *place)
{
    struct case_of   c;
    cull_backend    *b = place->elsewhere;
    cull_omp_options options = {.tolerance = 1e-9};
    uint32_t         index[PICKS] = {0};
    double           weight[PICKS] = {0}, bad[] = {NAN, INFINITY};
    cull_omp_problem problem = {.count = ROWS, .budget = PICKS, .column = -1};

    fill_case(&c, b);
    problem.h = matrix(&c, c.h, ROWS, WIDTH);
    problem.p = matrix(&c, c.p, ROWS, CLASSES);
    problem.index = bring(&c, index, sizeof index);
    problem.weight = bring(&c, weight, sizeof weight);
    for (int i = 0; i < 2; i++) {
        double *at = (double *)(i ? problem.p.data : problem.h.data) + 40,
               good = i ? c.p[40] : c.h[40];

        assert_ok(cull_backend_upload(b, at, bad + i, sizeof good));
        assert_fails(CULL_NOT_FINITE,
                     i ? "omp problem 0: p of example 10" : "omp problem 0: h of example 3",
                     cull_omp(b, &problem, 1, &options));
        assert_ok(cull_backend_upload(b, at, &good, sizeof good));
    }
    c.row[33] = ROWS;
    problem.row = bring(&c, c.row, sizeof c.row);
    assert_fails(CULL_BAD_ARGUMENT, "row 60 of 60 asked for", cull_omp(b, &problem, 1, &options));
    problem.row = NULL;
    assert_ok(cull_omp(b, &problem, 1, &options));
    problem.h.device = (cull_device){0};
    assert_fails(CULL_UNSUPPORTED, "h: on device host", cull_omp(b, &problem, 1, &options));
    end_case(&c);
}

static void refuse_similarities(const struct place *place)
{
    struct case_of        c;
    cull_backend         *b = place->elsewhere;
    uint32_t              index[PICKS] = {0};
    double                weight[PICKS] = {0}, bad[] = {-1, NAN};
    cull_facility_problem problem = {.count = ROWS, .budget = PICKS};

    fill_case(&c, b);
    problem.similarity = matrix(&c, c.near, ROWS, ROWS);
    problem.index = bring(&c, index, sizeof index);
    problem.weight = bring(&c, weight, sizeof weight);
    for (int i = 0; i < 2; i++) {
        assert_ok(cull_backend_upload(b, (double *)problem.similarity.data + 5 * ROWS + 4, bad + i,
                                      sizeof *bad));
        if (i)
            assert_fails(CULL_NOT_FINITE, "similarity row 5 is not finite",
                         cull_facility(b, &problem, 1, NULL));
        else
            assert_fails(CULL_BAD_ARGUMENT, "similarity row 5 has a number below zero",
                         cull_facility(b, &problem, 1, NULL));
    }
    end_case(&c);
}

static void what_is_wrong_elsewhere_is_found_there(void **state)
{
    (void)state;
    for_each_place(refuse_numbers);
    for_each_place(refuse_similarities);
}

/* Each allocation of the host's fails in turn. */
static void run_short(const struct place *place)
{
    struct case_of   c;
    cull_backend    *b = place->elsewhere;
    cull_omp_options options = {.tolerance = 1e-9};
    uint32_t         index[PICKS] = {0};
    double           weight[PICKS] = {0};
    cull_omp_problem problem = {.count = ROWS, .budget = PICKS, .column = -1};
    cull_status      status = CULL_NO_MEMORY;

    fill_case(&c, b);
    problem.h = matrix(&c, c.h, ROWS, WIDTH);
    problem.p = matrix(&c, c.p, ROWS, CLASSES);
    problem.index = bring(&c, index, sizeof index);
    problem.weight = bring(&c, weight, sizeof weight);
    for (size_t nth = 1; status != CULL_OK; nth++) {
        fail_nth_alloc(nth);
        status = cull_omp(b, &problem, 1, &options);
        fail_nth_alloc(0);
        if (status != CULL_OK) assert_int_equal(CULL_NO_MEMORY, status);
        if (status != CULL_OK) assert_int_equal(0, problem.picked);
        assert_null(problem.b);
    }
    assert_int_equal(PICKS, problem.picked);
    end_case(&c);
}

static void solvers_elsewhere_survive_every_allocation_failure(void **state)
{
    (void)state;
    for_each_place(run_short);
}

/* ---- subsets and places for bindings ---- */

static void give_and_take(const struct place *place)
{
    cull_backend      *b = place->elsewhere;
    uint32_t           numbers[] = {3, CULL_NO_ROW, 7}, back[3] = {0};
    double             weights[] = {.5, 1, 2};
    int64_t            wide[3] = {0};
    float              single[3] = {0};
    void              *there = NULL, *single_there = NULL;
    cull_subset        subset = {.count = 3, .backend = b};
    cull_subset_arrays to = {.size = sizeof to, .dtype = CULL_F32};
    cull_tensor        from = {0};

    subset.index = put(b, numbers, sizeof numbers);
    subset.weight = put(b, weights, sizeof weights);
    assert_ok(cull_memory_allocate(b, sizeof wide, &there));
    assert_ok(cull_memory_allocate(b, sizeof single, &single_there));
    to.index = there;
    to.weight = single_there;
    assert_ok(cull_subset_give(&subset, &to));
    assert_ok(cull_memory_download(b, wide, there, sizeof wide));
    assert_ok(cull_memory_download(b, single, single_there, sizeof single));
    assert_true(wide[0] == 3 && wide[1] == -1 && wide[2] == 7);
    assert_true(single[0] == .5f && single[1] == 1 && single[2] == 2);
    to.place = there;
    assert_fails(CULL_BAD_ARGUMENT, "does not have", cull_subset_give(&subset, &to));
    to.place = NULL;
    to.dtype = CULL_I32;
    assert_fails(CULL_BAD_ARGUMENT, "not int32", cull_subset_give(&subset, &to));
    from = cull_vector(there, CULL_I64, 3);
    assert_fails(CULL_UNSUPPORTED, "places: on device host",
                 cull_places_take(b, &from, subset.index));
    from.device = cull_backend_device(b);
    assert_ok(cull_memory_upload(b, there, (int64_t[]){5, -1, 9}, sizeof wide));
    assert_ok(cull_places_take(b, &from, subset.index));
    assert_ok(cull_memory_download(b, back, subset.index, sizeof back));
    assert_true(back[0] == 5 && back[1] == CULL_NO_ROW && back[2] == 9);
    cull_memory_release(b, there);
    cull_memory_release(b, single_there);
    cull_memory_release(b, NULL);
    cull_backend_release(b, subset.index);
    cull_backend_release(b, subset.weight);
}

static void subsets_are_given_and_places_taken(void **state)
{
    uint32_t           index = 4;
    int64_t            wide = 0;
    cull_subset        here = {.count = 1, .index = &index};
    cull_subset_arrays to = {.index = &wide};

    (void)state;
    for_each_place(give_and_take);
    assert_ok(cull_subset_give(&here, &to)); /* on the host, of no backend */
    assert_true(wide == 4);
    assert_fails(CULL_BAD_ARGUMENT, "two arrays",
                 cull_memory_upload(plain_backend(), NULL, &wide, 8));
    assert_ok(cull_backend_follow(plain_backend(), NULL));
    assert_ok(cull_backend_leave(plain_backend()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pursuits_elsewhere_are_those_of_the_host),
        cmocka_unit_test(facilities_elsewhere_are_those_of_the_host),
        cmocka_unit_test(gram_matrices_elsewhere_are_those_of_the_host),
        cmocka_unit_test(what_is_wrong_elsewhere_is_found_there),
        cmocka_unit_test(solvers_elsewhere_survive_every_allocation_failure),
        cmocka_unit_test(subsets_are_given_and_places_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
