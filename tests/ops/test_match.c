/*
 * tests/ops/test_match.c - match: a minibatch matched on every backend.
 *
 * cpu and devices pick what ref picks, their weights are ref's to rounding, and cpu's its own to
 * the last bit whatever the threads; far gives what ref gives. What cannot be matched goes into the
 * error word.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 60, TARGETS = 25, MOST = 59, D = 7, C = 4 };

/* Of weights near 1; K is squared once more than the gradients are. */
static const double tolerance = 1e-7;

struct data {
    float    h[ROWS * D], target_h[TARGETS * D], target_p[TARGETS * C];
    double   p[ROWS * C];
    uint32_t place[ROWS];
};

static struct data data;

static void make_data(void)
{
    for (size_t i = 0; i < ROWS * D; i++) data.h[i] = (float)random_normal(1, i);
    for (size_t i = 0; i < ROWS * C; i++) data.p[i] = random_normal(2, i);
    for (size_t i = 0; i < TARGETS * D; i++) data.target_h[i] = (float)random_normal(3, i);
    for (size_t i = 0; i < TARGETS * C; i++) data.target_p[i] = (float)random_normal(4, i);
    for (size_t i = 0; i < ROWS; i++) data.place[i] = (uint32_t)(1000 - i);
}

/* What comes of it. */
struct result {
    uint32_t     index[MOST];
    double       weight[MOST];
    cull_outcome outcome;
    cull_trouble trouble;
};

/* Ways to match, as bits of a number. */
enum { VALIDATION = 1, NONNEGATIVE = 2, ACCEPT = 4, RIDGE = 8, WAYS = 16 };

static cull_op_args match_of(unsigned way, cull_match_weights weights, size_t budget,
                             struct result *r)
{
    cull_op_args args = {.match = {.rows = ROWS,
                                   .budget = budget,
                                   .h = cull_matrix(data.h, CULL_F32, ROWS, D),
                                   .p = cull_matrix(data.p, CULL_F64, ROWS, C),
                                   .place = data.place,
                                   .options = {.tolerance = 1e-6},
                                   .weights = weights,
                                   .fill = !(way & ACCEPT),
                                   .key = {{5, 6}},
                                   .step = 3}};

    if (way & VALIDATION) {
        args.match.target_h = cull_matrix(data.target_h, CULL_F32, TARGETS, D);
        args.match.target_p = cull_matrix(data.target_p, CULL_F32, TARGETS, C);
        args.match.targets = TARGETS;
    }
    if (way & NONNEGATIVE) {
        args.match.options.nonnegative = true;
        args.match.options.pick = CULL_PICK_SIGNED;
    }
    if (way & RIDGE) args.match.options.ridge = 0.3;
    if (weights == CULL_WEIGHTS_UNIT) {
        args.match.options.pick = CULL_PICK_SAMPLE;
        args.match.options.key = (cull_key){{7, 8}};
        args.match.options.nonnegative = false;
    }
    *r = (struct result){0};
    args.match.index = r->index;
    args.match.weight = r->weight;
    args.match.outcome = &r->outcome;
    args.match.trouble = &r->trouble;
    return args;
}

static void assert_same_picks(const struct result *a, const struct result *b)
{
    assert_memory_equal(&a->outcome, &b->outcome, sizeof a->outcome);
    for (size_t i = 0; i < a->outcome.count; i++) {
        assert_int_equal(a->index[i], b->index[i]);
        assert_true(fabs(a->weight[i] - b->weight[i]) <= tolerance * fmax(1, fabs(a->weight[i])));
    }
}

static void every_backend_matches_alike(void **state)
{
    static const size_t budgets[] = {1, 6, 20, MOST};
    struct result       right, r[3];

    (void)state;
    make_data();
    for (unsigned way = 0; way < WAYS * 3 * 4; way++) {
        cull_match_weights weights = (cull_match_weights)(way / WAYS % 3);
        size_t             budget = budgets[way / WAYS / 3];
        cull_backend      *backends[] = {far, one, three};
        cull_op_args       args = match_of(way, weights, budget, &right);

        assert_ok(on_run(ref, CULL_OP_MATCH, ROWS, 2, &args));
        assert_int_equal(CULL_WRONG_NOTHING, right.trouble.what);
        for (size_t b = 0; b < 3; b++) {
            args = match_of(way, weights, budget, &r[b]);
            assert_ok(on_run(backends[b], CULL_OP_MATCH, b == 1 ? ROWS : 2 * ROWS, 1, &args));
        }
        assert_memory_equal(&right, &r[0], sizeof right);
        assert_same_picks(&right, &r[1]);
        assert_memory_equal(&r[1], &r[2], sizeof right);
        if (!(way & ACCEPT)) assert_int_equal(budget, right.outcome.count);
        EACH_DEVICE(backend, CULL_OP_MATCH)
        {
            args = match_of(way, weights, budget, &r[0]);
            assert_ok(on_run(backend, CULL_OP_MATCH, ROWS, 1, &args));
            assert_same_picks(&right, &r[0]);
            assert_int_equal(CULL_WRONG_NOTHING, r[0].trouble.what);
        }
    }
}

/* Steps from the moment block count as those from the arguments. */
static void what_fills_is_counted_by_the_moment(void **state)
{
    static const cull_moment now = {.step = 3}, other = {.step = 4};
    struct result            by_step, by_now, by_other;
    cull_op_args             args;

    (void)state;
    make_data();
    memset(data.h, 0, sizeof data.h);
    memset(data.p, 0, sizeof data.p); /* nothing to match: all at random */
    args = match_of(0, CULL_WEIGHTS_MEAN, 20, &by_step);
    assert_ok(on_run(far, CULL_OP_MATCH, ROWS, 1, &args));
    assert_int_equal(CULL_SUBSET_FALLBACK, by_step.outcome.flags);
    assert_int_equal(0, by_step.outcome.picked);
    args = match_of(0, CULL_WEIGHTS_MEAN, 20, &by_now);
    args.match.step = 99;
    args.match.now = &now;
    assert_ok(on_run(far, CULL_OP_MATCH, ROWS, 1, &args));
    assert_memory_equal(&by_step, &by_now, sizeof by_now);
    args = match_of(0, CULL_WEIGHTS_MEAN, 20, &by_other);
    args.match.now = &other;
    assert_ok(on_run(far, CULL_OP_MATCH, ROWS, 1, &args));
    assert_memory_not_equal(by_step.index, by_other.index, sizeof by_now.index);
    EACH_DEVICE(backend, CULL_OP_MATCH)
    {
        args = match_of(0, CULL_WEIGHTS_MEAN, 20, &by_other);
        args.match.step = 99;
        args.match.now = &now;
        assert_ok(on_run(backend, CULL_OP_MATCH, ROWS, 1, &args));
        assert_memory_equal(&by_step, &by_other, sizeof by_other);
    }
}

/* Finite numbers whose squares are not, in one row. */
static void gradients_too_large_go_into_the_error_word(void **state)
{
    static const cull_moment now = {.step = 8};
    static double            h[ROWS * D];

    (void)state;
    make_data();
    for (size_t i = 0; i < ROWS * D; i++) h[i] = (double)data.h[i];
    h[13 * D] = 1e300;
    EACH(backend, CULL_OP_MATCH)
    {
        struct result r;
        cull_op_args  args = match_of(0, CULL_WEIGHTS_MEAN, 10, &r);

        args.match.h = cull_matrix(h, CULL_F64, ROWS, D);
        args.match.now = &now;
        assert_ok(on_run(backend, CULL_OP_MATCH, ROWS, 1, &args));
        assert_int_equal(10, r.outcome.count);
        assert_int_equal(CULL_WRONG_SIGNAL, r.trouble.what);
        assert_int_equal(CULL_TROUBLE_SQUARE, r.trouble.which);
        assert_int_equal(13, r.trouble.row);
        assert_int_equal(data.place[13], r.trouble.place);
        assert_int_equal(8, r.trouble.step);
    }
}

/* After a broken signal nothing is matched, whatever numbers there are. */
static void after_trouble_nothing_is_matched(void **state)
{
    (void)state;
    make_data();
    data.p[5] = NAN;
    data.h[9] = INFINITY;
    EACH(backend, CULL_OP_MATCH)
    {
        struct result r, before;
        cull_op_args  args = match_of(0, CULL_WEIGHTS_MEAN, 10, &r);

        for (uint32_t i = 0; i < 10; i++) r.index[i] = 3 * i;
        r.trouble = (cull_trouble){.what = CULL_WRONG_SIGNAL, .row = 1};
        before = r;
        assert_ok(on_run(backend, CULL_OP_MATCH, ROWS, 1, &args));
        before.outcome = (cull_outcome){10, 0, 0};
        assert_memory_equal(&before, &r, sizeof r);
    }
}

/* More rows than a K is stored of: columns are made as they are picked. (ref stores it all the
 * same, and takes minutes.) */
static void a_large_batch_is_matched_without_a_stored_k(void **state)
{
    enum { LARGE = 4200, WIDE = 3, KEPT = 5 };
    double      *h = normals_f64(21, LARGE * WIDE), sum = 0;
    float       *p = normals_f32(22, LARGE * 2);
    uint32_t     index[2][KEPT];
    double       weight[2][KEPT];
    cull_outcome outcome = {0};
    cull_trouble trouble = {0};
    cull_op_args args = {.match = {.rows = LARGE,
                                   .budget = KEPT,
                                   .h = cull_matrix(h, CULL_F64, LARGE, WIDE),
                                   .p = cull_matrix(p, CULL_F32, LARGE, 2),
                                   .options = {.tolerance = 1e-6},
                                   .weights = CULL_WEIGHTS_MEAN,
                                   .fill = true,
                                   .outcome = &outcome,
                                   .trouble = &trouble}};

    (void)state;
    for (size_t b = 0; b < 2; b++) {
        args.match.index = index[b];
        args.match.weight = weight[b];
        assert_ok(on_run(b ? three : one, CULL_OP_MATCH, LARGE, 1, &args));
        assert_int_equal(KEPT, outcome.count);
        assert_int_equal(CULL_WRONG_NOTHING, trouble.what);
    }
    assert_memory_equal(index[0], index[1], sizeof index[0]);
    assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
    for (size_t i = 0; i < KEPT; i++) sum += weight[0][i];
    assert_true(fabs(sum - KEPT) < 1e-12);
    EACH_DEVICE(backend, CULL_OP_MATCH)
    {
        assert_ok(on_run(backend, CULL_OP_MATCH, LARGE, 1, &args));
        assert_memory_equal(index[0], index[1], sizeof index[0]);
        for (size_t i = 0; i < KEPT; i++)
            assert_true(fabs(weight[1][i] - weight[0][i]) <= tolerance * fmax(1, weight[0][i]));
    }
    h[40 * WIDE] = 1e300;
    assert_ok(on_run(one, CULL_OP_MATCH, LARGE, 1, &args));
    assert_int_equal(CULL_TROUBLE_SQUARE, trouble.which);
    assert_int_equal(40, trouble.row);
    trouble = (cull_trouble){0};
    args.match.target_h = cull_matrix(h + 37 * WIDE, CULL_F64, 20, WIDE);
    args.match.target_p = cull_matrix(p, CULL_F32, 20, 2);
    args.match.targets = 20;
    assert_ok(on_run(one, CULL_OP_MATCH, LARGE, 1, &args));
    assert_int_equal(CULL_TROUBLE_SQUARE | CULL_TROUBLE_TARGET, trouble.which);
    assert_int_equal(3, trouble.row);
    free(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_matches_alike),
        cmocka_unit_test(what_fills_is_counted_by_the_moment),
        cmocka_unit_test(gradients_too_large_go_into_the_error_word),
        cmocka_unit_test(after_trouble_nothing_is_matched),
        cmocka_unit_test(a_large_batch_is_matched_without_a_stored_k),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
