/*
 * tests/ops/test_choose_large.c - the small operations of selection at their ends: one row and a
 * hundred thousand, ties, denormals and infinities, rows apart, places that come twice. Devices
 * give the bits of the host.
 */
#include "ops/on_backend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const cull_key key = {{11, 4}};

/* Below and above where a device goes another way. */
static const size_t sizes[] = {1, 2, 33, 1000, 1025, 8192, 8193, 16384, 16385, 30011, 100000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 100000 };

/* Some numbers of a kind; 5: with infinities too. */
static void fill(double *x, size_t n, int kind)
{
    for (size_t i = 0; i < n; i++) {
        double u = random_uniform(40 + (uint64_t)kind, i);

        switch (kind) {
        case 0: x[i] = -log(u); break;
        case 1: x[i] = floor(7 * u) - 3; break;               /* ties */
        case 2: x[i] = ldexp(floor(9 * u) - 4, -1074); break; /* denormals and zeros */
        case 3: x[i] = 2.5; break;
        case 4: x[i] = (u - 0.5) * ldexp(1, (int)(2046 * u) - 1022); break;
        default: x[i] = u < 0.2 ? (double)INFINITY : u < 0.3 ? (double)-INFINITY : u; break;
        }
        if (kind == 2 && i % 5 == 0) x[i] = -0.0;
        if (kind == 4 && i % 7 == 0) x[i] = i % 2 ? DBL_MAX : -DBL_MAX;
    }
}

static void many_rows_have_the_ranks_of_the_host(void **state)
{
    double *x = malloc(MOST * sizeof *x), *want = malloc(MOST * sizeof *x);
    double *got = malloc(MOST * sizeof *x);

    (void)state;
    for (size_t s = 0; s < SIZES; s++)
        for (int kind = 0; kind < 5; kind++) {
            size_t       n = sizes[s];
            cull_op_args args = {.rank = {n, x, want}};

            if (n > 20000 && kind > 1) continue;
            fill(x, n, kind);
            assert_ok(on_run(n > 1100 ? one : ref, CULL_OP_RANK, n, 1, &args));
            args.rank.percentile = got;
            EACH_DEVICE(backend, CULL_OP_RANK)
            {
                memset(got, 0xff, n * sizeof *got);
                assert_ok(on_run(backend, CULL_OP_RANK, n, 1, &args));
                assert_memory_equal(want, got, n * sizeof *got);
            }
        }
    free(x);
    free(want);
    free(got);
}

static void assert_top(size_t n, const double *x, size_t m, bool largest)
{
    uint32_t    *want = malloc(m * sizeof *want), *got = malloc(m * sizeof *got);
    cull_op_args args = {.top = {n, m, x, largest, want}};

    assert_ok(on_run(n > 1100 ? one : ref, CULL_OP_TOP, n, 1, &args));
    args.top.index = got;
    EACH_DEVICE(backend, CULL_OP_TOP)
    {
        memset(got, 0xff, m * sizeof *got);
        assert_ok(on_run(backend, CULL_OP_TOP, n, 2, &args));
        assert_memory_equal(want, got, m * sizeof *got);
    }
    free(want);
    free(got);
}

static void many_rows_have_the_top_of_the_host(void **state)
{
    double *x = malloc(MOST * sizeof *x);

    (void)state;
    for (size_t s = 0; s < SIZES; s++)
        for (int kind = 0; kind < 6; kind++) {
            size_t n = sizes[s], budgets[] = {1, n / 10 + 1, n - n / 3, n};

            if (n > 20000 && kind > 1) continue;
            fill(x, n, kind);
            for (size_t b = 0; b < 4; b++) assert_top(n, x, budgets[b], (b + s) % 2 == 0);
        }
    free(x);
}

static void many_rows_are_drawn_as_by_the_host(void **state)
{
    double   *weight = malloc(MOST * sizeof *weight);
    uint32_t *place = malloc(MOST * sizeof *place), *want = malloc(MOST * sizeof *want);
    uint32_t *got = malloc(MOST * sizeof *got);

    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        weight[i] = i % 4 == 1 ? 0 : pow(random_uniform(60, i), i % 9 ? 3 : 300);
        place[i] = (uint32_t)(i * 2654435761u);
    }
    for (size_t s = 0; s < SIZES; s++)
        for (int way = 0; way < 3; way++) {
            size_t       n = sizes[s], m = way == 2 ? n - n / 9 : n / 3 + 1;
            cull_op_args args = {.draw = {.rows = n,
                                          .m = m,
                                          .place = way == 1 ? place : NULL,
                                          .weight = way ? weight : NULL,
                                          .key = key,
                                          .step = s,
                                          .index = want}};

            assert_ok(on_run(three, CULL_OP_DRAW, n, 1, &args));
            args.draw.index = got;
            EACH_DEVICE(backend, CULL_OP_DRAW)
            {
                memset(got, 0xff, m * sizeof *got);
                assert_ok(on_run(backend, CULL_OP_DRAW, n, 1, &args));
                assert_memory_equal(want, got, m * sizeof *got);
            }
        }
    free(weight);
    free(place);
    free(want);
    free(got);
}

/* A recorded draw reads its step when it is done again. */
static void recorded_draws_are_counted_by_the_moment(void **state)
{
    enum { ROWS = 300, M = 90 };

    (void)state;
    EACH_DEVICE(backend, CULL_OP_DRAW)
    {
        cull_kit        kit = {.backend = backend};
        cull_recording *recording = NULL;
        uint64_t       *now = NULL;
        uint32_t       *index = NULL, want[M], got[M];
        cull_op_args    there = {.draw = {.rows = ROWS, .m = M, .key = key}};
        cull_op_args    here = there;

        assert_ok(cull_kit_allocate(&kit, 1, sizeof *now, "a test", &now));
        assert_ok(cull_kit_allocate(&kit, M, sizeof *index, "a test", &index));
        assert_ok(cull_kit_ready(&kit, CULL_OP_DRAW, ROWS));
        there.draw.now = now;
        there.draw.index = index;
        here.draw.index = want;
        assert_ok(backend->class->queue->record(backend));
        assert_ok(cull_op_run(kit.op[CULL_OP_DRAW], &there));
        assert_ok(backend->class->queue->recorded(backend, &recording));
        for (uint64_t step = 3; step < 6; step++) {
            assert_ok(cull_backend_upload(backend, now, &step, sizeof step));
            assert_ok(backend->class->queue->replay(backend, recording));
            assert_ok(cull_backend_download(backend, got, index, sizeof got));
            here.draw.step = step;
            assert_ok(on_run(ref, CULL_OP_DRAW, ROWS, 1, &here));
            assert_memory_equal(want, got, sizeof want);
        }
        backend->class->queue->forget(backend, recording);
        cull_kit_clear(&kit);
    }
}

/* ---- settle ---- */

struct entries {
    uint32_t *index, *place, *group;
    double   *weight;
};

static void make_entries(struct entries *e, size_t n, int way)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = way == 0 ? i : way == 1 ? n - 1 - i : (i * 7919 + 13) % n;

        e->index[i] = way == 3 && at % 3 == 0 ? CULL_NO_ROW : (uint32_t)at;
        e->group[i] = way > 1 ? (uint32_t)(at % 5) : 0;
        e->place[i] = (uint32_t)(at * 3);
        e->weight[i] = (double)at;
    }
}

static void many_entries_are_settled_as_by_the_host(void **state)
{
    static const size_t counts[] = {1, 2, 3, 700, 2049, 6000, 8192, 8193, 20000};
    enum { LARGEST = 20000 };
    struct entries e[2];
    uint32_t      *from = malloc(LARGEST * sizeof *from);

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        e[k].index = malloc(LARGEST * sizeof(uint32_t));
        e[k].place = malloc(LARGEST * sizeof(uint32_t));
        e[k].group = malloc(LARGEST * sizeof(uint32_t));
        e[k].weight = malloc(LARGEST * sizeof(double));
    }
    for (size_t i = 0; i < LARGEST; i++) from[i] = (uint32_t)(i * 5 + 1);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int way = 0; way < 4; way++) {
            size_t n = counts[c];

            make_entries(&e[0], n, way);
            assert_ok(on_run(ref, CULL_OP_SETTLE, n, 1,
                             &(cull_op_args){.settle = {n, n, false, from, e[0].index, e[0].place,
                                                        e[0].group, e[0].weight}}));
            EACH_DEVICE(backend, CULL_OP_SETTLE)
            {
                make_entries(&e[1], n, way);
                assert_ok(on_run(backend, CULL_OP_SETTLE, n, 1,
                                 &(cull_op_args){.settle = {n, n, false, from, e[1].index,
                                                            e[1].place, e[1].group, e[1].weight}}));
                assert_memory_equal(e[0].index, e[1].index, n * sizeof *from);
                assert_memory_equal(e[0].place, e[1].place, n * sizeof *from);
                assert_memory_equal(e[0].group, e[1].group, n * sizeof *from);
                assert_memory_equal(e[0].weight, e[1].weight, n * sizeof *e->weight);
            }
        }
    for (size_t k = 0; k < 2; k++) {
        free(e[k].index);
        free(e[k].place);
        free(e[k].group);
        free(e[k].weight);
    }
    free(from);
}

/* ---- signals of every type, their rows apart ---- */

/* bfloat16 by cutting off. */
static uint16_t narrow(double x)
{
    float    y = (float)x;
    uint32_t word = 0;

    memcpy(&word, &y, sizeof word);
    return (uint16_t)(word >> 16);
}

static void put(void *data, cull_dtype dtype, size_t i, double x)
{
    uint16_t half = narrow(x);

    switch (dtype) {
    case CULL_F32: ((float *)data)[i] = (float)x; break;
    case CULL_F64: ((double *)data)[i] = x; break;
    default: ((uint16_t *)data)[i] = half; break;
    }
}

static const cull_dtype floats[] = {CULL_F32, CULL_F64, CULL_BF16};

static void assert_found(const cull_op_args *args, uint64_t which, size_t row, double found)
{
    EACH(backend, CULL_OP_CHECK)
    {
        cull_trouble trouble = {0};
        cull_op_args own = *args;

        own.check.trouble = &trouble;
        assert_ok(on_run(backend, CULL_OP_CHECK, 0, 2, &own));
        if (row == args->check.rows) {
            assert_int_equal(CULL_WRONG_NOTHING, trouble.what);
            continue;
        }
        assert_int_equal(CULL_WRONG_SIGNAL, trouble.what);
        assert_int_equal(which, trouble.which);
        assert_int_equal(row, trouble.row);
        assert_int_equal(args->check.place ? args->check.place[row] : row, trouble.place);
        assert_true(trouble.found == found && trouble.most == args->check.high);
    }
}

static void checks_find_the_first_row_of_matrices_of_any_type(void **state)
{
    enum { ROWS = 700, COLUMNS = 33, APART = 37 };
    double   *data = malloc(ROWS * APART * sizeof *data);
    uint32_t *place = malloc(ROWS * sizeof *place);
    uint8_t   unseen[ROWS] = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++) place[i] = (uint32_t)(ROWS - i);
    for (size_t t = 0; t < 3; t++)
        for (size_t apart = COLUMNS; apart <= APART; apart += APART - COLUMNS) {
            cull_tensor  x = cull_matrix(data, floats[t], ROWS, COLUMNS);
            cull_op_args args = {.check = {.rows = ROWS,
                                           .place = place,
                                           .pool = ROWS + 1,
                                           .low = -DBL_MAX,
                                           .high = DBL_MAX,
                                           .which = CULL_SIGNAL_P}};

            x.stride[0] = (int64_t)apart;
            args.check.x = x;
            for (size_t i = 0; i < ROWS * apart; i++)
                put(data, floats[t], i, i % apart < COLUMNS ? (double)(i % 100) : (double)NAN);
            assert_found(&args, 0, ROWS, 0);
            put(data, floats[t], 650 * apart + 2, (double)NAN);
            put(data, floats[t], 411 * apart + 32, (double)-INFINITY);
            assert_found(&args, CULL_SIGNAL_P, 411, 0);
            unseen[411] = 1;
            args.check.unseen = unseen;
            assert_found(&args, CULL_SIGNAL_P, 650, 0);
            unseen[650] = 1;
            assert_found(&args, 0, ROWS, 0);
            memset(unseen, 0, sizeof unseen);
            args.check.high = 64;
            put(data, floats[t], 20 * apart + 4, 72);
            put(data, floats[t], 20 * apart + 5, 80);
            for (size_t i = 0; i < 20 * apart; i++)
                put(data, floats[t], i, i % apart < COLUMNS ? 64 : (double)NAN);
            for (size_t j = 0; j < 4; j++) put(data, floats[t], 20 * apart + j, 1);
            assert_found(&args, CULL_SIGNAL_P, 20, 72);
            args.check.pool = ROWS;
            assert_found(&args, CULL_TROUBLE_PLACE, 0, 0);
        }
    free(data);
    free(place);
}

static void scores_are_read_from_any_type(void **state)
{
    enum { ROWS = 600, APART = 3 };
    double *data = malloc(APART * ROWS * sizeof *data), *less = malloc(ROWS * sizeof *less);
    double  want[ROWS], got[ROWS];

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        cull_tensor  x = cull_vector(data, floats[t], ROWS);
        cull_op_args args = {.score = {.rows = ROWS, .key = key, .out = want}};

        x.stride[0] = APART;
        args.score.loss = x;
        args.score.less = cull_vector(less, CULL_F64, ROWS);
        for (size_t i = 0; i < APART * ROWS; i++)
            put(data, floats[t], i, i % APART ? (double)NAN : random_normal(t, i) * 1e-3);
        for (size_t i = 0; i < ROWS; i++) less[i] = ldexp(random_uniform(1, i), -1060);
        put(data, floats[t], 0, 0);
        put(data, floats[t], APART, (double)INFINITY);
        assert_ok(on_run(ref, CULL_OP_SCORE, 0, 1, &args));
        args.score.out = got;
        EACH_DEVICE(backend, CULL_OP_SCORE)
        {
            memset(got, 0xff, sizeof got);
            assert_ok(on_run(backend, CULL_OP_SCORE, 0, 1, &args));
            assert_memory_equal(want, got, sizeof got);
        }
    }
    free(data);
    free(less);
}

/* ---- places that come twice ---- */

enum { POOL = 900 };

struct ledger {
    uint8_t  known[POOL];
    double   value[POOL], slope[POOL];
    uint64_t epoch[POOL];
};

static cull_ledger ledger_of(struct ledger *l, cull_predict predict)
{
    bool trend = predict == CULL_PREDICT_TREND;

    return (cull_ledger){
        POOL, predict, l->known, l->value, trend ? l->slope : NULL, trend ? l->epoch : NULL};
}

static void losses_of_a_place_are_recorded_in_the_order_of_rows(void **state)
{
    enum { ROWS = 10000 };
    uint32_t *place = malloc(ROWS * sizeof *place);
    double   *data = malloc(ROWS * sizeof *data);
    uint8_t  *unseen = malloc(ROWS);

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        place[i] = (uint32_t)(random_uniform(9, i) * POOL);
        unseen[i] = i % 11 == 3;
    }
    for (int predict = CULL_PREDICT_LAST; predict <= CULL_PREDICT_TREND; predict++)
        EACH_DEVICE(backend, CULL_OP_RECORD)
        {
            static struct ledger want, got;

            memset(&want, 0, sizeof want);
            memset(&got, 0, sizeof got);
            for (uint64_t epoch = 1; epoch < 6; epoch++) {
                size_t       t = epoch % 3, rows = epoch == 3 ? ROWS : 70 * epoch;
                cull_op_args args = {.record = {.rows = rows,
                                                .place = epoch == 4 ? NULL : place,
                                                .loss = cull_vector(data, floats[t], rows),
                                                .unseen = epoch % 2 ? unseen : NULL,
                                                .epoch = epoch}};

                for (size_t i = 0; i < rows; i++)
                    put(data, floats[t], i,
                        (1 - 2 * (double)(epoch == 5)) * DBL_MAX * (t == 1) *
                                (double)(i % 97 == 0) +
                            random_uniform(epoch, i));
                args.record.ledger = ledger_of(&want, (cull_predict)predict);
                assert_ok(on_run(ref, CULL_OP_RECORD, 0, 1, &args));
                args.record.ledger = ledger_of(&got, (cull_predict)predict);
                assert_ok(on_run(backend, CULL_OP_RECORD, 0, 1, &args));
                assert_memory_equal(&want, &got, sizeof got);
            }
        }
    free(place);
    free(data);
    free(unseen);
}

/* ---- sample ---- */

enum { SAMPLED = 5000, WIDE = 45 };

/* Once on ref and once on a device: index, weight, what is kept, and the error word. */
static void assert_sampled(cull_backend *backend, cull_op_args args, const cull_sampled *before)
{
    static uint32_t index[2][SAMPLED];
    static double   weight[2][SAMPLED];
    cull_sampled    sampled[2] = {*before, *before};
    cull_trouble    trouble[2] = {{0}, {0}};
    size_t          m = args.sample.m;

    for (int k = 0; k < 2; k++) {
        args.sample.index = index[k];
        args.sample.weight = weight[k];
        args.sample.sampled = &sampled[k];
        args.sample.trouble = &trouble[k];
        memset(index[k], 0xff, m * sizeof **index);
        memset(weight[k], 0xff, m * sizeof **weight);
        assert_ok(on_run(k ? backend : ref, CULL_OP_SAMPLE, args.sample.rows, 1, &args));
    }
    assert_memory_equal(index[0], index[1], m * sizeof **index);
    assert_memory_equal(weight[0], weight[1], m * sizeof **weight);
    assert_memory_equal(&sampled[0], &sampled[1], sizeof *sampled);
    assert_memory_equal(&trouble[0], &trouble[1], sizeof *trouble);
}

static void samples_are_those_of_the_host(void **state)
{
    static const uint64_t     now = 21;
    static const cull_moment  moment = {.step = 21, .epoch = 2};
    static const cull_sampled before = {1.25, 1, 20};
    static uint32_t           place[SAMPLED];
    static uint8_t            unseen[SAMPLED];
    static const size_t       counts[] = {1, 3, 384, 1024, 1025, SAMPLED};
    double                   *data = malloc((size_t)SAMPLED * WIDE * sizeof *data);

    (void)state;
    for (size_t i = 0; i < SAMPLED; i++) place[i] = (uint32_t)(SAMPLED - i), unseen[i] = i % 6 == 1;
    for (size_t i = 0; i < (size_t)SAMPLED * WIDE; i++) data[i] = random_normal(70, i);
    for (size_t c = 0; c < 6 * 6; c++) {
        size_t       n = counts[c / 6], way = c % 6;
        cull_op_args args = {.sample = {.rows = n,
                                        .m = n / 3 + 1,
                                        .place = way % 2 ? place : NULL,
                                        .unit = way == 4,
                                        .key = key,
                                        .step = 21,
                                        .moment = &moment}};
        cull_tensor  matrix = cull_matrix(data, CULL_F64, n, WIDE - 4);

        matrix.stride[0] = WIDE;
        if (way == 3) matrix = cull_matrix(data, CULL_F32, n, 64);
        if (way == 5) matrix = cull_matrix(data, CULL_BF16, n, 10);
        for (size_t i = 0; way == 5 && i < n * 10; i++)
            put(data, CULL_BF16, i, random_normal(71, i));
        args.sample.p = matrix;
        if (way == 0) args.sample.m = 0;
        if (way == 2) args.sample.now = &now;
        if (way > 3) args.sample.h = matrix;
        EACH_DEVICE(backend, CULL_OP_SAMPLE) assert_sampled(backend, args, &before);
    }
    for (size_t c = 0; c < 6 * 4; c++) {
        size_t       n = counts[c / 4], way = c % 4;
        cull_op_args args = {.sample = {.rows = n,
                                        .m = n / 2 + 1,
                                        .loss = cull_vector(data, CULL_F64, n),
                                        .place = place,
                                        .unseen = way & 1 ? unseen : NULL,
                                        .key = key,
                                        .step = 5,
                                        .moment = &moment}};

        for (size_t i = 0; i < n; i++) data[i] = way == 3 || i % 5 == 0 ? 0 : random_uniform(3, i);
        if (way == 2) data[n / 2] = data[n - 1] = -1;
        EACH_DEVICE(backend, CULL_OP_SAMPLE) assert_sampled(backend, args, &before);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_have_the_ranks_of_the_host),
        cmocka_unit_test(many_rows_have_the_top_of_the_host),
        cmocka_unit_test(many_rows_are_drawn_as_by_the_host),
        cmocka_unit_test(recorded_draws_are_counted_by_the_moment),
        cmocka_unit_test(many_entries_are_settled_as_by_the_host),
        cmocka_unit_test(checks_find_the_first_row_of_matrices_of_any_type),
        cmocka_unit_test(scores_are_read_from_any_type),
        cmocka_unit_test(samples_are_those_of_the_host),
        cmocka_unit_test(losses_of_a_place_are_recorded_in_the_order_of_rows),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
