/*
 * tests/ops/test_choose.c - the small operations of selection, beside a second statement of what
 * each says; every backend gives the same bits.
 */
#include "ops/on_backend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/exact.h"

enum { N = 40, POOL = 70, LARGE = 9000 };

static const cull_key key = {{3, 9}};

/* ---- check ---- */

static float    matrix[N][6]; /* of which five columns are looked at */
static uint32_t place[N];

static void make_matrix(void)
{
    for (size_t i = 0; i < N; i++) {
        place[i] = (uint32_t)((i * 3 + 5) % POOL);
        for (size_t j = 0; j < 6; j++) matrix[i][j] = j == 5 ? NAN : (float)random_normal(1, i + j);
    }
}

static cull_op_args check_of(cull_trouble *trouble)
{
    static const cull_moment now = {.step = 77, .epoch = 6};
    cull_tensor              x = cull_matrix(matrix, CULL_F32, N, 5);

    x.stride[0] = 6;
    return (cull_op_args){.check = {.rows = N,
                                    .place = place,
                                    .pool = POOL,
                                    .x = x,
                                    .low = -DBL_MAX,
                                    .high = DBL_MAX,
                                    .which = CULL_SIGNAL_H,
                                    .now = &now,
                                    .trouble = trouble}};
}

static void assert_trouble(const cull_trouble *t, uint64_t which, uint64_t row)
{
    assert_int_equal(CULL_WRONG_SIGNAL, t->what);
    assert_int_equal(which, t->which);
    assert_int_equal(row, t->row);
    assert_int_equal(place[row], t->place);
    assert_int_equal(77, t->step);
    assert_int_equal(6, t->epoch);
}

static void check_finds_the_first_number_that_is_none(void **state)
{
    (void)state;
    make_matrix();
    EACH(backend, CULL_OP_CHECK)
    {
        cull_trouble trouble = {0};
        cull_op_args args = check_of(&trouble);

        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_int_equal(CULL_WRONG_NOTHING, trouble.what);
        matrix[31][0] = -INFINITY;
        matrix[17][4] = NAN;
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_trouble(&trouble, CULL_SIGNAL_H, 17);
        matrix[3][1] = NAN; /* it is not the first any more, but what is written stays */
        args.check.which = CULL_SIGNAL_P;
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_trouble(&trouble, CULL_SIGNAL_H, 17);
        make_matrix();
    }
}

static void check_passes_over_the_unseen_and_looks_at_places(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_CHECK)
    {
        cull_trouble trouble = {0};
        cull_op_args args = check_of(&trouble);
        uint8_t      unseen[N] = {0};
        double       loss[N] = {0};

        make_matrix();
        args.check.x = cull_vector(loss, CULL_F64, N);
        args.check.unseen = unseen;
        loss[7] = NAN;
        unseen[7] = 1;
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_int_equal(CULL_WRONG_NOTHING, trouble.what);
        loss[9] = INFINITY;
        place[30] = POOL; /* places are looked at before numbers */
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_trouble(&trouble, CULL_TROUBLE_PLACE, 30);
        trouble = (cull_trouble){0};
        args.check.pool = 0;
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_trouble(&trouble, CULL_SIGNAL_H, 9);
        trouble = (cull_trouble){0};
        args.check.pool = POOL;
        args.check.x = (cull_tensor){0};
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
        assert_trouble(&trouble, CULL_TROUBLE_PLACE, 30);
    }
}

static void check_keeps_labels_within_bounds(void **state)
{
    int32_t i32[N] = {0};
    int64_t i64[N] = {0};
    uint8_t u8[N] = {0};

    (void)state;
    make_matrix();
    i32[8] = -1;
    i64[9] = INT64_C(1) << 40;
    u8[10] = 6;
    i32[3] = 5; /* the largest there may be */
    EACH(backend, CULL_OP_CHECK)
    {
        const cull_tensor x[] = {cull_vector(i32, CULL_I32, N), cull_vector(i64, CULL_I64, N),
                                 cull_vector(u8, CULL_U8, N)};
        const double      found[] = {-1, 0x1p40, 6};

        for (size_t i = 0; i < 3; i++) {
            cull_trouble trouble = {0};
            cull_op_args args = check_of(&trouble);

            args.check.x = x[i];
            args.check.low = 0;
            args.check.high = 5;
            args.check.which = CULL_SIGNAL_LABEL;
            assert_ok(on_run(backend, CULL_OP_CHECK, 0, 1, &args));
            assert_trouble(&trouble, CULL_SIGNAL_LABEL, 8 + i);
            assert_true(trouble.found == found[i] && trouble.most == 5);
        }
    }
}

/* ---- score, chance, draw ---- */

static void scores_are_losses_less_what_is_taken_off_and_the_unseen_come_first(void **state)
{
    static const uint64_t now = 12;
    float                 loss[N];
    double                less[2 * N], out[N];
    uint8_t               unseen[N];

    (void)state;
    make_matrix();
    for (size_t i = 0; i < N; i++) {
        loss[i] = (float)random_normal(2, i);
        less[2 * i] = random_normal(3, i);
        less[2 * i + 1] = NAN; /* between two of them */
        unseen[i] = i % 5 == 0;
    }
    loss[4] = NAN;
    loss[5] = NAN; /* of no interest: unseen */
    less[2 * 6] = -DBL_MAX;
    for (int way = 0; way < 8; way++) {
        cull_op_args args = {.score = {.rows = N,
                                       .loss = cull_vector(loss, CULL_F32, N),
                                       .key = key,
                                       .step = way & 4 ? 12 : 13,
                                       .now = way & 4 ? NULL : &now,
                                       .out = out}};

        if (way & 1) args.score.less = cull_vector(less, CULL_F64, N);
        if (way & 1) args.score.less.stride[0] = 2;
        if (way & 2) args.score.unseen = unseen;
        if (way & 2) args.score.place = place;
        EACH(backend, CULL_OP_SCORE)
        {
            memset(out, 0xff, sizeof out);
            assert_ok(on_run(backend, CULL_OP_SCORE, 0, 1, &args));
            for (size_t i = 0; i < N; i++) {
                double plain = (double)loss[i] - (way & 1 ? less[2 * i] : 0);

                if (isnan(plain)) plain = 0;
                if (way & 2 && unseen[i])
                    plain = DBL_MAX * (0.5 + 0.5 * cull_key_uniform(key, 12, place[i]));
                else if (way & 2)
                    plain = fmin(plain, 0.5 * DBL_MAX);
                assert_true(out[i] == plain);
            }
        }
    }
}

/* Percentiles of n rows, with ties. */
static void make_percentiles(size_t n, double *percentile)
{
    double *x = calloc(n, sizeof *x);

    for (size_t i = 0; i < n; i++) x[i] = floor(random_uniform(4, i) * (double)n / 2);
    assert_ok(on_run(one, CULL_OP_RANK, n, 1,
                     &(cull_op_args){.rank = {.rows = n, .x = x, .percentile = percentile}}));
    free(x);
}

static void chances_are_powers_or_what_stands_for_them(void **state)
{
    static double   percentile[LARGE], standing[POOL], expected[LARGE], weight[LARGE];
    static uint8_t  fresh[POOL];
    const double    betas[] = {0, 1, 2.5, 100, 1e4};
    static uint32_t where[LARGE];

    (void)state;
    make_percentiles(POOL, standing);
    for (size_t i = 0; i < POOL; i++) fresh[i] = i % 4 == 0;
    for (size_t i = 0; i < LARGE; i++) where[i] = (uint32_t)(i * 7 % POOL);
    for (size_t c = 0; c < 2 * 2 * 2 * 5; c++) {
        bool         pool = c & 1, trims = c & 2;
        size_t       rows = c & 4 ? LARGE : N;
        double       beta = betas[c / 8];
        cull_op_args args = {.chance = {.rows = rows,
                                        .place = where,
                                        .percentile = pool ? NULL : percentile,
                                        .standing = pool || trims ? standing : NULL,
                                        .fresh = pool || trims ? fresh : NULL,
                                        .pool = POOL,
                                        .beta = beta,
                                        .trim = trims ? 0.3 : 0,
                                        .trimmed = 0.125,
                                        .weight = weight}};

        make_percentiles(rows, percentile);
        for (size_t i = 0; i < rows; i++) {
            double own = pool ? standing[where[i]] : percentile[i];

            expected[i] = cull_exact_pow(own, beta);
            if (expected[i] <= 1e-290) expected[i] = 1e-290 * own;
            if (trims && standing[where[i]] > 0.7 + 1e-12 && !fresh[where[i]]) expected[i] = 0.125;
        }
        EACH(backend, CULL_OP_CHANCE)
        {
            memset(weight, 0xff, sizeof weight);
            assert_ok(on_run(backend, CULL_OP_CHANCE, rows, 2, &args));
            assert_memory_equal(expected, weight, rows * sizeof *weight);
        }
    }
}

/* One operation, other rows and exponents after one another: no power of before is left. */
static void chances_of_one_operation_do_not_mix(void **state)
{
    static double percentile[N], weight[N];
    cull_op      *op = NULL;

    (void)state;
    assert_ok(cull_op_ready(one, &(cull_op_desc){.kind = CULL_OP_CHANCE, .rows = N}, &op));
    for (size_t k = 0; k < 60; k++) {
        size_t       rows = 1 + k * 7 % N;
        double       beta = (double)(k % 3);
        cull_op_args args = {
            .chance = {.rows = rows, .percentile = percentile, .beta = beta, .weight = weight}};

        make_percentiles(rows, percentile);
        assert_ok(cull_op_run(op, &args));
        for (size_t i = 0; i < rows; i++)
            assert_true(weight[i] == cull_exact_pow(percentile[i], beta));
    }
    cull_op_destroy(op);
}

static void a_draw_is_the_smallest_keys(void **state)
{
    static const uint64_t now = 5;
    double                weight[N], keys[N];
    uint32_t              expected[N], index[N];

    (void)state;
    make_matrix();
    for (size_t i = 0; i < N; i++) weight[i] = i % 3 == 0 ? 0 : random_uniform(6, i);
    for (int way = 0; way < 8; way++) {
        size_t       m = way & 4 ? N - 3 : 9; /* more than have a weight */
        cull_op_args args = {.draw = {.rows = N,
                                      .m = m,
                                      .place = way & 1 ? place : NULL,
                                      .weight = way & 2 ? weight : NULL,
                                      .key = key,
                                      .step = way & 1 ? 5 : 6,
                                      .now = way & 1 ? NULL : &now,
                                      .index = index}};

        assert_ok(
            on_run(ref, CULL_OP_KEYS, N, 1,
                   &(cull_op_args){.keys = {N, key, 5, args.draw.place, args.draw.weight, keys}}));
        assert_ok(
            on_run(ref, CULL_OP_TOP, N, 1, &(cull_op_args){.top = {N, m, keys, false, expected}}));
        EACH(backend, CULL_OP_DRAW)
        {
            memset(index, 0xff, sizeof index);
            assert_ok(on_run(backend, CULL_OP_DRAW, N, 1, &args));
            assert_memory_equal(expected, index, m * sizeof *index);
        }
    }
}

/* ---- widen, narrow ---- */

static void subsets_are_widened_to_what_callers_have(void **state)
{
    enum { COUNT = 300 };

    (void)state;
    EACH(backend, CULL_OP_WIDEN)
    {
        uint32_t index[COUNT], other[COUNT];
        int64_t  to[COUNT], to_other[COUNT];
        double   weight[COUNT], wide[COUNT];
        float    single[COUNT];

        for (uint32_t i = 0; i < COUNT; i++) {
            index[i] = i % 7 == 3 ? CULL_NO_ROW : i * 14000001u;
            other[i] = CULL_NO_ROW - 1 - i;
            weight[i] = random_uniform(3, i);
            to_other[i] = 5;
        }
        for (int round = 0; round < 3; round++) {
            cull_op_args args = {.widen = {.count = round < 2 ? COUNT : 1,
                                           .index = {index, NULL, round ? other : NULL},
                                           .to = {to, NULL, round ? to_other : NULL},
                                           .weight = weight,
                                           .to_weight = round ? (void *)single : (void *)wide,
                                           .dtype = round ? CULL_F32 : CULL_F64,
                                           .scale = 1.0 / 3}};

            assert_ok(on_run(backend, CULL_OP_WIDEN, COUNT, 1, &args));
            for (size_t i = 0; i < args.widen.count; i++) {
                assert_true(to[i] == (i % 7 == 3 ? -1 : (int64_t)index[i]));
                assert_true(to_other[i] == (round ? (int64_t)other[i] : 5));
                assert_true(round ? single[i] == (float)(weight[i] * (1.0 / 3))
                                  : wide[i] == weight[i] * (1.0 / 3));
            }
        }
    }
}

/* What is no place is none, however many bits it has. */
static void integers_are_narrowed_to_places(void **state)
{
    static const int64_t wide[] = {0,           1,          -1,        CULL_NO_ROW - 1,
                                   CULL_NO_ROW, 4294967296, -5,        4294967301,
                                   -4294967295, INT64_MAX,  INT64_MIN, 7};
    static const int32_t narrow[] = {0, 8, -1, INT32_MAX, INT32_MIN, 8, 3};
    static const uint8_t bytes[] = {0, 255, 7};
    enum { WIDE = sizeof wide / sizeof *wide };
    const cull_tensor from[] = {cull_vector(wide, CULL_I64, WIDE), cull_vector(narrow, CULL_I32, 7),
                                cull_vector(bytes, CULL_U8, 3)};

    (void)state;
    EACH(backend, CULL_OP_NARROW)
    {
        for (int k = 0; k < 4; k++) {
            uint32_t     to[WIDE];
            cull_op_args args = {.narrow = {from[k % 3], to}};
            size_t       step = k == 3 ? 2 : 1; /* every second one */

            args.narrow.from.stride[0] = (int64_t)step;
            args.narrow.from.shape[0] /= (int64_t)step;
            assert_ok(on_run(backend, CULL_OP_NARROW, WIDE, 1, &args));
            for (size_t i = 0; i < (size_t)args.narrow.from.shape[0]; i++) {
                int64_t x = k % 3 == 0 ? wide[i * step] : k == 1 ? narrow[i] : bytes[i];

                assert_int_equal(x < 0 || x > CULL_NO_ROW ? CULL_NO_ROW : x, to[i]);
            }
        }
    }
}

/* ---- settle ---- */

static void a_settled_subset_is_in_order_with_its_places(void **state)
{
    enum { COUNT = 24 };

    (void)state;
    make_matrix();
    EACH(backend, CULL_OP_SETTLE)
    {
        uint32_t     index[COUNT], where[COUNT], group[COUNT];
        double       weight[COUNT];
        cull_op_args args = {.settle = {.count = COUNT,
                                        .rows = N,
                                        .from = place,
                                        .index = index,
                                        .place = where,
                                        .group = group,
                                        .weight = weight}};

        for (uint32_t i = 0; i < COUNT; i++) {
            group[i] = i % 3;
            index[i] = i % 8 == 7 ? CULL_NO_ROW : (i * 7 + 4) % N;
            where[i] = 50 - i;
            weight[i] = index[i] == CULL_NO_ROW ? where[i] : index[i];
        }
        assert_ok(on_run(backend, CULL_OP_SETTLE, COUNT, 1, &args));
        for (uint32_t i = 0; i < COUNT; i++) {
            bool carried = index[i] == CULL_NO_ROW;

            if (i) assert_true(group[i] >= group[i - 1]);
            if (i && group[i] == group[i - 1]) assert_true(index[i] >= index[i - 1]);
            assert_true(weight[i] == (carried ? where[i] : index[i]));
            if (!carried) assert_int_equal(place[index[i]], where[i]);
        }
        args.settle.all = true;
        args.settle.from = NULL;
        memset(group, 0, sizeof group);
        assert_ok(on_run(backend, CULL_OP_SETTLE, COUNT, 1, &args));
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(index[i] == i && where[i] == i && weight[i] == 1);
    }
}

/* ---- record and recall ---- */

/* What a ledger holds of each place: its own statement of the three predictors. */
struct entry {
    double   loss, average, slope;
    uint64_t epoch;
    int      seen; /* 2: in different epochs */
};

static void note(struct entry *e, double loss, uint64_t epoch)
{
    e->average = e->seen ? e->average + 0.5 * (loss - e->average) : loss;
    if (e->seen && epoch > e->epoch) {
        e->slope = (loss - e->loss) / (double)(epoch - e->epoch);
        e->seen = 2;
    }
    if (!e->seen) e->seen = 1;
    e->loss = loss;
    e->epoch = epoch;
}

static double expect(const struct entry *e, cull_predict predict, uint64_t epoch)
{
    double since = (double)epoch - (double)e->epoch;

    if (predict == CULL_PREDICT_AVERAGE) return e->average;
    if (predict == CULL_PREDICT_LAST || e->seen < 2 || epoch <= e->epoch) return e->loss;
    return fmax(0, e->loss + e->slope * since);
}

static void ledgers_predict_by_their_formulas(void **state)
{
    (void)state;
    make_matrix();
    for (int predict = CULL_PREDICT_LAST; predict <= CULL_PREDICT_TREND; predict++)
        EACH(backend, CULL_OP_RECORD)
        {
            uint8_t      known[POOL] = {0}, unseen[N] = {0}, was[POOL] = {0};
            double       value[POOL] = {0}, slope[POOL] = {0}, loss[N], back[POOL];
            uint64_t     epoch[POOL] = {0}, now = 0;
            struct entry entries[POOL] = {{0}};
            cull_trouble trouble = {0};
            bool         trend = predict == CULL_PREDICT_TREND;
            cull_ledger  ledger = {POOL,  (cull_predict)predict, known,
                                   value, trend ? slope : NULL,  trend ? epoch : NULL};
            cull_op_args record = {.record = {.rows = N,
                                              .place = place,
                                              .loss = cull_vector(loss, CULL_F64, N),
                                              .unseen = unseen,
                                              .ledger = ledger,
                                              .now = &now,
                                              .trouble = &trouble}};
            cull_op_args recall = {
                .recall = {
                    .rows = POOL, .ledger = ledger, .epoch = 9, .loss = back, .unseen = was}};

            for (now = 0; now < 7; now += 1 + now % 2) {
                for (size_t i = 0; i < N; i++) {
                    unseen[i] = (i + now) % 4 == 0;
                    loss[i] = random_uniform(8 + now, i) * 3;
                    trouble.what = now == 3 ? CULL_WRONG_SIGNAL : CULL_WRONG_NOTHING;
                    if (!unseen[i] && now != 3) note(&entries[place[i]], loss[i], now);
                }
                assert_ok(on_run(backend, CULL_OP_RECORD, 0, 1, &record));
            }
            assert_ok(on_run(backend, CULL_OP_RECALL, 0, 1, &recall));
            for (size_t i = 0; i < POOL; i++) {
                assert_int_equal(entries[i].seen == 0, was[i]);
                if (!was[i]) assert_true(back[i] == expect(&entries[i], (cull_predict)predict, 9));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_finds_the_first_number_that_is_none),
        cmocka_unit_test(check_passes_over_the_unseen_and_looks_at_places),
        cmocka_unit_test(check_keeps_labels_within_bounds),
        cmocka_unit_test(scores_are_losses_less_what_is_taken_off_and_the_unseen_come_first),
        cmocka_unit_test(chances_are_powers_or_what_stands_for_them),
        cmocka_unit_test(chances_of_one_operation_do_not_mix),
        cmocka_unit_test(a_draw_is_the_smallest_keys),
        cmocka_unit_test(subsets_are_widened_to_what_callers_have),
        cmocka_unit_test(integers_are_narrowed_to_places),
        cmocka_unit_test(a_settled_subset_is_in_order_with_its_places),
        cmocka_unit_test(ledgers_predict_by_their_formulas),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
