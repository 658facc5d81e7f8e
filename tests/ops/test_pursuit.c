/*
 * tests/ops/test_pursuit.c - pursuits over explicit Gram matrices, and minibatches matched, on
 * devices beside cpu: all options, sizes on both sides of what a block has by itself, matrices of
 * bad condition, duplicates; many at once; what cannot be done; and decisions that are recorded.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

/* n atoms of d numbers, those of a higher place `decay` times smaller; every tenth repeats another.
 */
struct atoms {
    size_t  n, d;
    double *g, *k, *t, b2;
    float  *single;
};

struct answer {
    uint32_t        *index;
    double          *weight;
    cull_omp_problem problem;
    size_t           rank; /* so many can be picked before all others depend on them */
};

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static struct atoms make_atoms(uint64_t seed, size_t n, size_t d, double decay)
{
    struct atoms a = {n,
                      d,
                      calloc(n * d, sizeof(double)),
                      calloc(n * n, sizeof(double)),
                      calloc(n, sizeof(double)),
                      0,
                      calloc(n * n, sizeof(float))};
    double      *b = calloc(d, sizeof *b);

    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < d; l++)
            a.g[i * d + l] = i % 10 == 9 ? a.g[(i - 5) * d + l]
                                         : random_normal(seed, i * d + l) * pow(decay, (double)l);
    for (size_t l = 0; l < d; l++) b[l] = 0.3 + random_normal(seed + 1, l);
    for (size_t i = 0; i < n; i++) {
        a.t[i] = dot(d, a.g + i * d, b);
        for (size_t j = 0; j <= i; j++)
            a.k[i * n + j] = a.k[j * n + i] = dot(d, a.g + i * d, a.g + j * d);
    }
    for (size_t i = 0; i < n * n; i++) a.single[i] = (float)a.k[i];
    a.b2 = dot(d, b, b);
    free(b);
    return a;
}

static void drop_atoms(struct atoms *a)
{
    free(a->g);
    free(a->k);
    free(a->t);
    free(a->single);
}

static struct answer answer_to(const struct atoms *a, size_t budget, bool single)
{
    struct answer x = {.index = calloc(budget, sizeof *x.index),
                       .weight = calloc(budget, sizeof *x.weight),
                       .rank = a->n - a->n / 10 < a->d ? a->n - a->n / 10 : a->d};

    x.problem = (cull_omp_problem){.count = a->n,
                                   .budget = budget,
                                   .k = cull_matrix(single ? (void *)a->single : (void *)a->k,
                                                    single ? CULL_F32 : CULL_F64, a->n, a->n),
                                   .t = a->t,
                                   .b2 = single ? 0 : a->b2,
                                   .noise = single ? 0x1p-24 : 0,
                                   .index = x.index,
                                   .weight = x.weight};
    return x;
}

static void drop_answer(struct answer *x)
{
    free(x->index);
    free(x->weight);
}

static cull_status pursue(cull_backend *backend, cull_omp_problem *problems, size_t count,
                          const cull_omp_options *options)
{
    return on_run(backend, CULL_OP_OMP, problems->count, 1,
                  &(cull_op_args){.omp = {problems, count, options}});
}

#define FITTED 1e-6 /* of b: its square is rounding */

static void assert_same(const struct answer *want, const struct answer *got, double tolerance)
{
    const cull_omp_problem *w = &want->problem, *g = &got->problem;
    double                  largest = 0;

    assert_int_equal(w->picked, g->picked);
    /* What rounding leaves of an exact fit decides whether that is seen, or that nothing is left to
     * gain by; and of atoms that all depend on the picked, whether each is seen to. */
    bool fitted = w->residual < FITTED && g->residual < FITTED;
    bool ended = w->stop != CULL_OMP_BUDGET && g->stop != CULL_OMP_BUDGET;
    if (!fitted && !(w->picked >= want->rank && ended)) assert_int_equal(w->stop, g->stop);
    for (size_t i = 0; i < w->picked; i++) largest = fmax(largest, fabs(want->weight[i]));
    for (size_t i = 0; i < w->picked; i++) {
        assert_int_equal(want->index[i], got->index[i]);
        assert_true(fabs(want->weight[i] - got->weight[i]) <= tolerance * largest);
    }
    assert_true(fabs(w->ridge - g->ridge) <= 1e-14 * w->ridge);
    /* a difference of squares, of which rounding is left where the fit is exact */
    if (!isnan(w->residual) || !isnan(g->residual))
        assert_true(fabs(w->residual * w->residual - g->residual * g->residual) <= 1e-8);
}

/* ---- one problem ---- */

static const struct shape {
    size_t n, d, budget;
    double decay;
} shapes[] = {
    {1, 3, 1, 1},     {2, 1, 2, 1},     {31, 12, 9, 1},    {33, 40, 33, 1},  {64, 30, 64, 0.7},
    {100, 25, 40, 1}, {130, 90, 64, 1}, {150, 60, 60, .9}, {300, 70, 50, 1}, {520, 200, 30, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

enum { SIGNED = 1, SAMPLED = 2, RIDGE = 4, NONNEGATIVE = 8, LOOSE = 16, SINGLE = 32, WAYS = 64 };

static cull_omp_options options_of(unsigned way)
{
    return (cull_omp_options){.ridge = way & RIDGE ? 0.2 : 0,
                              .tolerance = way & LOOSE ? 0.5 : 1e-6,
                              .nonnegative = way & NONNEGATIVE,
                              .pick = way & SAMPLED  ? CULL_PICK_SAMPLE
                                      : way & SIGNED ? CULL_PICK_SIGNED
                                                     : CULL_PICK_ABS,
                              .key = {{3, 9}},
                              .step = 12};
}

static void every_option_gives_the_picks_of_cpu(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct atoms a = make_atoms(s + 1, shapes[s].n, shapes[s].d, shapes[s].decay);

        for (unsigned way = 0; way < WAYS; way++) {
            cull_omp_options options = options_of(way);
            struct answer    want = answer_to(&a, shapes[s].budget, way & SINGLE);

            if ((way & SIGNED && way & (SAMPLED | NONNEGATIVE)) || (s > 5 && way % 7)) {
                drop_answer(&want);
                continue;
            }
            assert_ok(pursue(one, &want.problem, 1, &options));
            EACH_DEVICE(backend, CULL_OP_OMP)
            {
                struct answer got = answer_to(&a, shapes[s].budget, way & SINGLE);

                assert_ok(pursue(backend, &got.problem, 1, &options));
                assert_same(&want, &got, 1e-7);
                drop_answer(&got);
            }
            drop_answer(&want);
        }
        drop_atoms(&a);
    }
}

/* Whatever K is: of sizes that a block has in its registers, and larger ones. */
static void a_ridge_that_is_no_share_of_k_is_taken_as_it_is(void **state)
{
    static const cull_omp_options options = {.tolerance = 1e-6, .ridge = 0.7, .absolute = true};

    (void)state;
    for (size_t s = 2; s < SHAPES; s++) {
        struct atoms  a = make_atoms(s + 60, shapes[s].n, shapes[s].d, shapes[s].decay);
        struct answer want = answer_to(&a, shapes[s].budget, false);

        assert_ok(pursue(one, &want.problem, 1, &options));
        assert_true(want.problem.ridge == options.ridge);
        EACH_DEVICE(backend, CULL_OP_OMP)
        {
            struct answer got = answer_to(&a, shapes[s].budget, false);

            assert_ok(pursue(backend, &got.problem, 1, &options));
            assert_same(&want, &got, 1e-7);
            drop_answer(&got);
        }
        drop_answer(&want);
        drop_atoms(&a);
    }
}

/* Atoms that are nearly alike: pivots are small, and weights right to few digits until they are put
 * right against their equations. */
static void weights_of_atoms_nearly_alike_are_put_right(void **state)
{
    enum { N = 90, D = 120, PICKS = 30 };
    static const cull_omp_options options = {.tolerance = 1e-9};
    struct atoms                  a = make_atoms(31, N, D, 1);
    double                       *b = calloc(D, sizeof *b);
    struct answer                 want = {0};

    (void)state;
    for (size_t l = 0; l < D; l++) b[l] = random_normal(32, l);
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < D; l++)
            a.g[i * D + l] = random_normal(33, l) + 5e-4 * random_normal(34, i * D + l);
    for (size_t i = 0; i < N; i++) {
        a.t[i] = dot(D, a.g + i * D, b);
        for (size_t j = 0; j < N; j++) a.k[i * N + j] = dot(D, a.g + i * D, a.g + j * D);
    }
    a.b2 = dot(D, b, b);
    want = answer_to(&a, PICKS, false);
    assert_ok(pursue(one, &want.problem, 1, &options));
    assert_int_equal(PICKS, want.problem.picked);
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct answer got = answer_to(&a, PICKS, false);

        assert_ok(pursue(backend, &got.problem, 1, &options));
        assert_same(&want, &got, 1e-12);
        drop_answer(&got);
    }
    drop_answer(&want);
    free(b);
    drop_atoms(&a);
}

/* A target that five atoms make, whose length is not known: what is left then is rounding. */
static void what_rounding_leaves_of_a_target_is_not_picked(void **state)
{
    enum { N = 80, D = 100, MIXED = 5 };
    static const cull_omp_options options = {.tolerance = 1e-6};
    struct atoms                  a = make_atoms(41, N, D, 1);
    struct answer                 want = {0};

    (void)state;
    for (size_t i = 0; i < N; i++) {
        a.t[i] = 0;
        for (size_t j = 0; j < MIXED; j++) a.t[i] += (double)(j + 1) * a.k[i * N + 11 * j];
    }
    a.b2 = 0;
    want = answer_to(&a, 20, false);
    assert_ok(pursue(one, &want.problem, 1, &options));
    assert_int_equal(MIXED, want.problem.picked);
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct answer got = answer_to(&a, 20, false);

        assert_ok(pursue(backend, &got.problem, 1, &options));
        assert_same(&want, &got, 1e-12);
        drop_answer(&got);
    }
    drop_answer(&want);
    drop_atoms(&a);
}

/* So large that the blocks of a device share it. */
static void a_large_problem_is_shared_and_comes_out_alike(void **state)
{
    const size_t     n = 700, budget = 90;
    struct atoms     a = make_atoms(77, n, 900, 1);
    cull_omp_options options = {.tolerance = 1e-6};
    struct answer    want = answer_to(&a, budget, false);

    (void)state;
    assert_ok(pursue(one, &want.problem, 1, &options));
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct answer got = answer_to(&a, budget, false), again = answer_to(&a, budget, false);

        assert_ok(pursue(backend, &got.problem, 1, &options));
        assert_ok(pursue(backend, &again.problem, 1, &options));
        assert_same(&want, &got, 1e-9);
        assert_memory_equal(got.weight, again.weight, budget * sizeof *got.weight);
        drop_answer(&got);
        drop_answer(&again);
    }
    drop_answer(&want);
    drop_atoms(&a);
}

/* ---- many ---- */

static void many_problems_of_unlike_sizes_are_solved_at_once(void **state)
{
    enum { MANY = 8 };
    static const cull_omp_options options = {.tolerance = 1e-6, .ridge = 0.01};
    struct atoms                  a[MANY];
    struct answer                 want[MANY];

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        a[i] = make_atoms(100 + i, 3 + 9 * i, 2 + 7 * i, 1);
        want[i] = answer_to(&a[i], 1 + 3 * i, i % 2);
        assert_ok(pursue(one, &want[i].problem, 1, &options));
    }
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct answer    got[MANY];
        cull_omp_problem problems[MANY];

        for (size_t i = 0; i < MANY; i++) {
            got[i] = answer_to(&a[i], 1 + 3 * i, i % 2);
            problems[i] = got[i].problem;
        }
        assert_ok(pursue(backend, problems, MANY, &options));
        for (size_t i = 0; i < MANY; i++) {
            got[i].problem = problems[i];
            assert_same(&want[i], &got[i], 1e-9);
            drop_answer(&got[i]);
        }
    }
    for (size_t i = 0; i < MANY; i++) {
        drop_answer(&want[i]);
        drop_atoms(&a[i]);
    }
}

/* ---- what cannot be done ---- */

static void what_is_not_finite_or_too_large_is_said(void **state)
{
    static const cull_omp_options plain = {.tolerance = 1e-6}, little = {.memory = 100};
    struct atoms                  a = make_atoms(5, 40, 20, 1);

    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct answer    x[2] = {answer_to(&a, 10, false), answer_to(&a, 10, false)};
        cull_omp_problem problems[2] = {x[0].problem, x[1].problem};
        double           t[40];

        memcpy(t, a.t, sizeof t);
        t[7] = NAN;
        t[9] = INFINITY;
        problems[1].t = t;
        assert_fails(CULL_NOT_FINITE,
                     "omp problem 1: the Gram matrix or the target is not finite "
                     "at atom 7",
                     pursue(backend, problems, 2, &plain));
        assert_int_equal(0, problems[0].picked);
        assert_fails(CULL_TOO_LARGE, "40 atoms and 10 picks need",
                     pursue(backend, problems, 1, &little));
        for (size_t i = 0; i < 2; i++) drop_answer(&x[i]);
    }
    drop_atoms(&a);
}

static void pursuits_and_refits_are_not_recorded(void **state)
{
    static const cull_omp_options plain = {.tolerance = 1e-6};

    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        const cull_op_kind kinds[] = {CULL_OP_OMP, CULL_OP_REFIT};

        for (size_t k = 0; k < 2; k++) {
            cull_op           *op = NULL;
            cull_recording    *recording = NULL;
            cull_omp_problem   problem = {.count = 4, .budget = 2, .k.data = &problem};
            const cull_op_args args = {.omp = {&problem, 1, &plain}};

            assert_ok(cull_op_ready(backend, &(cull_op_desc){.kind = kinds[k], .rows = 4}, &op));
            assert_ok(backend->class->queue->record(backend));
            assert_fails(CULL_UNSUPPORTED, "cannot be recorded", cull_op_run(op, &args));
            assert_ok(backend->class->queue->recorded(backend, &recording));
            backend->class->queue->forget(backend, recording);
            cull_op_destroy(op);
        }
    }
}

/* ---- minibatches ---- */

enum { ROWS = 70, WIDTH = 11, CLASSES = 3, TARGETS = 9, BUDGET = 40 };

struct result {
    uint32_t     index[BUDGET];
    double       weight[BUDGET];
    cull_outcome outcome;
};

/* What a decision is made of and comes to, on a device. */
struct there {
    cull_kit      kit;
    void         *h;
    float        *p;
    cull_moment  *now;
    uint32_t     *index;
    double       *weight;
    cull_outcome *outcome;
    cull_trouble *trouble;
};

static void lay_out(struct there *there, cull_backend *backend, const void *h, size_t h_bytes,
                    const float *p)
{
    cull_kit *kit = &there->kit;

    *there = (struct there){.kit.backend = backend};
    assert_ok(cull_kit_allocate(kit, h_bytes, 1, "h", &there->h));
    assert_ok(cull_kit_allocate(kit, ROWS * CLASSES, sizeof *p, "p", &there->p));
    assert_ok(cull_kit_allocate(kit, 1, sizeof *there->now, "now", &there->now));
    assert_ok(cull_kit_allocate(kit, BUDGET, sizeof *there->index, "index", &there->index));
    assert_ok(cull_kit_allocate(kit, BUDGET, sizeof *there->weight, "weight", &there->weight));
    assert_ok(cull_kit_allocate(kit, 1, sizeof *there->outcome, "outcome", &there->outcome));
    assert_ok(cull_kit_allocate(kit, 1, sizeof *there->trouble, "trouble", &there->trouble));
    assert_ok(cull_backend_upload(backend, there->h, h, h_bytes));
    assert_ok(cull_backend_upload(backend, there->p, p, ROWS * CLASSES * sizeof *p));
}

static cull_op_args match_of(const struct there *there, cull_dtype h, unsigned way)
{
    return (cull_op_args){.match = {.rows = ROWS,
                                    .budget = BUDGET,
                                    .h = cull_matrix(there->h, h, ROWS, WIDTH),
                                    .p = cull_matrix(there->p, CULL_F32, ROWS, CLASSES),
                                    .options = options_of(way),
                                    .weights = CULL_WEIGHTS_MEAN,
                                    .fill = true,
                                    .key = {{8, 1}},
                                    .now = there->now,
                                    .index = there->index,
                                    .weight = there->weight,
                                    .outcome = there->outcome,
                                    .trouble = there->trouble}};
}

static void set_step(const struct there *there, uint64_t step)
{
    cull_moment now = {.step = step};

    assert_ok(cull_backend_upload(there->kit.backend, there->now, &now, sizeof now));
}

static struct result bring(const struct there *there)
{
    struct result r = {0};
    cull_backend *backend = there->kit.backend;

    assert_ok(cull_backend_download(backend, r.index, there->index, sizeof r.index));
    assert_ok(cull_backend_download(backend, r.weight, there->weight, sizeof r.weight));
    assert_ok(cull_backend_download(backend, &r.outcome, there->outcome, sizeof r.outcome));
    return r;
}

static const cull_op_desc desc = {CULL_OP_MATCH, ROWS, WIDTH, CLASSES, BUDGET};

/* What is drawn follows the moment block of each time, and all else is the same bits. */
static void a_recorded_decision_is_the_one_made_then(void **state)
{
    float *h = normals_f32(1, ROWS * WIDTH), *p = normals_f32(2, ROWS * CLASSES);

    (void)state;
    EACH_DEVICE(backend, CULL_OP_MATCH)
    {
        for (unsigned way = 0; way <= SAMPLED; way += SAMPLED) {
            struct there    there;
            cull_op        *op = NULL;
            cull_recording *recording = NULL;
            cull_op_args    args;
            struct result   right[2], got;

            lay_out(&there, backend, h, ROWS * WIDTH * sizeof *h, p);
            args = match_of(&there, CULL_F32, way);
            assert_ok(cull_op_ready(backend, &desc, &op));
            assert_ok(backend->class->queue->record(backend)); /* it has all room already */
            assert_ok(cull_op_run(op, &args));
            assert_ok(backend->class->queue->recorded(backend, &recording));
            for (uint64_t step = 0; step < 4; step++) {
                set_step(&there, step % 2);
                assert_ok(backend->class->queue->replay(backend, recording));
                got = bring(&there);
                assert_int_equal(BUDGET, got.outcome.count);
                set_step(&there, step % 2);
                assert_ok(cull_op_run(op, &args));
                right[step % 2] = bring(&there);
                assert_memory_equal(&right[step % 2], &got, sizeof got);
            }
            assert_memory_not_equal(right[0].index, right[1].index, sizeof right[0].index);
            backend->class->queue->forget(backend, recording);
            cull_op_destroy(op);
            cull_kit_clear(&there.kit);
        }
    }
    free(h);
    free(p);
}

/* bfloat16 is read as what it says. */
static void half_precision_features_are_matched_as_their_numbers(void **state)
{
    float   *h = normals_f32(1, ROWS * WIDTH), *p = normals_f32(2, ROWS * CLASSES);
    uint16_t narrow[ROWS * WIDTH];

    (void)state;
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        uint32_t bits = 0;

        memcpy(&bits, h + i, sizeof bits);
        bits &= 0xffff0000u;
        memcpy(h + i, &bits, sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    EACH_DEVICE(backend, CULL_OP_MATCH)
    {
        struct result r[2];

        for (size_t i = 0; i < 2; i++) {
            struct there there;
            cull_op     *op = NULL;
            cull_op_args args;

            lay_out(&there, backend, i ? (void *)narrow : (void *)h,
                    i ? sizeof narrow : ROWS * WIDTH * sizeof *h, p);
            args = match_of(&there, i ? CULL_BF16 : CULL_F32, 0);
            assert_ok(cull_op_ready(backend, &desc, &op));
            assert_ok(cull_op_run(op, &args));
            r[i] = bring(&there);
            cull_op_destroy(op);
            cull_kit_clear(&there.kit);
        }
        assert_memory_equal(&r[0], &r[1], sizeof r[0]);
    }
    free(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_gives_the_picks_of_cpu),
        cmocka_unit_test(a_ridge_that_is_no_share_of_k_is_taken_as_it_is),
        cmocka_unit_test(weights_of_atoms_nearly_alike_are_put_right),
        cmocka_unit_test(what_rounding_leaves_of_a_target_is_not_picked),
        cmocka_unit_test(a_large_problem_is_shared_and_comes_out_alike),
        cmocka_unit_test(many_problems_of_unlike_sizes_are_solved_at_once),
        cmocka_unit_test(what_is_not_finite_or_too_large_is_said),
        cmocka_unit_test(pursuits_and_refits_are_not_recorded),
        cmocka_unit_test(a_recorded_decision_is_the_one_made_then),
        cmocka_unit_test(half_precision_features_are_matched_as_their_numbers),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
