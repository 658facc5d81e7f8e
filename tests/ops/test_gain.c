/*
 * tests/ops/test_gain.c - gradient and gain: the other backends against the reference.
 *
 * One table of shapes, both element types, listed and unlisted rows, padded rows. cpu must
 * and devices must agree with ref to rounding, and cpu with itself to the last bit whatever the
 * threads; far with ref to the last bit.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

static const struct shape {
    size_t n, d, c; /* rows, width of H, width of P */
    size_t pad;     /* extra elements between rows  */
} cases[] = {
    {1, 1, 1, 0},  {2, 3, 1, 1},    {3, 31, 2, 0},  {5, 32, 10, 3},    {40, 33, 3, 0},
    {63, 7, 5, 1}, {64, 63, 64, 0}, {65, 64, 9, 2}, {129, 100, 17, 0}, {500, 40, 10, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

struct data {
    cull_tensor h, p;
    uint32_t   *row; /* every third row, backwards, the first one twice */
    size_t      rows;
};

/* NaN behind every row, which nobody may read. */
static cull_tensor matrix(uint64_t seed, cull_dtype dtype, size_t rows, size_t width, size_t pad)
{
    size_t      ld = width + pad;
    void       *data = calloc(rows * ld, sizeof(double));
    cull_tensor t = cull_matrix(data, dtype, rows, width);

    t.stride[0] = (int64_t)ld;
    for (size_t i = 0; i < rows * ld; i++) {
        double x = i % ld < width ? random_normal(seed, i) : (double)NAN;
        if (dtype == CULL_F32)
            ((float *)data)[i] = (float)x;
        else
            ((double *)data)[i] = x;
    }
    return t;
}

static struct data make(size_t number, cull_dtype h, cull_dtype p)
{
    const struct shape *s = cases + number;
    struct data         data = {matrix(number, h, s->n, s->d, s->pad),
                                matrix(number + 50, p, s->n, s->c, s->pad), NULL, 0};

    data.row = malloc((s->n + 1) * sizeof *data.row);
    for (size_t i = s->n; i-- > 0;)
        if (i % 3 == 0) data.row[data.rows++] = (uint32_t)i;
    data.row[data.rows++] = 0;
    return data;
}

static void drop(struct data *data)
{
    free(data->h.data);
    free(data->p.data);
    free(data->row);
}

static void run(cull_backend *backend, cull_op_kind kind, const cull_op_args *args)
{
    assert_ok(on_run(backend, kind, 1, 2, args));
}

static void assert_close(const double *want, const double *got, size_t count, double scale)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(want[i] - got[i]) <= 1e-13 * scale))
            fail_msg("entry %zu is %.17g, not %.17g", i, got[i], want[i]);
}

static void check_gradient(const struct shape *s, const struct data *data, const uint32_t *row,
                           size_t rows)
{
    size_t       size = s->c * (s->d + 1);
    double      *want = malloc(3 * size * sizeof *want), *got = want + size, *again = got + size;
    cull_op_args args = {.gradient = {&data->h, &data->p, row, rows, want}};

    memset(want, 0xff, 3 * size * sizeof *want);
    run(ref, CULL_OP_GRADIENT, &args);
    args.gradient.b = got;
    run(one, CULL_OP_GRADIENT, &args);
    args.gradient.b = again;
    run(three, CULL_OP_GRADIENT, &args);
    assert_close(want, got, size, 10 * (double)rows);
    assert_memory_equal(got, again, size * sizeof *got);
    memset(again, 0xff, size * sizeof *again);
    run(far, CULL_OP_GRADIENT, &args);
    assert_memory_equal(want, again, size * sizeof *again);
    EACH_DEVICE(backend, CULL_OP_GRADIENT)
    {
        memset(again, 0xff, size * sizeof *again);
        run(backend, CULL_OP_GRADIENT, &args);
        assert_close(want, again, size, 10 * (double)rows);
    }
    free(want);
}

static void gradients_equal_the_reference_for_any_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4 * CASES; i++) {
        const struct shape *s = cases + i / 4;
        struct data data = make(i / 4, i & 1 ? CULL_F32 : CULL_F64, i & 2 ? CULL_F32 : CULL_F64);

        check_gradient(s, &data, NULL, s->n);
        check_gradient(s, &data, data.row, data.rows);
        drop(&data);
    }
}

static void check_gain(const struct shape *s, const struct data *data, const uint32_t *row,
                       size_t rows, const cull_tensor *p)
{
    size_t       size = p ? rows : rows * s->c;
    double      *b = normals_f64(7, s->c * (s->d + 1));
    double      *want = malloc(3 * size * sizeof *want), *got = want + size, *again = got + size;
    cull_op_args args = {.gain = {&data->h, p, row, rows, s->c, b, want}};

    memset(want, 0xff, 3 * size * sizeof *want);
    run(ref, CULL_OP_GAIN, &args);
    args.gain.out = got;
    run(one, CULL_OP_GAIN, &args);
    args.gain.out = again;
    run(three, CULL_OP_GAIN, &args);
    assert_close(want, got, size, 10 * (double)(s->d * s->c + 1));
    assert_memory_equal(got, again, size * sizeof *got);
    memset(again, 0xff, size * sizeof *again);
    run(far, CULL_OP_GAIN, &args);
    assert_memory_equal(want, again, size * sizeof *again);
    EACH_DEVICE(backend, CULL_OP_GAIN)
    {
        memset(again, 0xff, size * sizeof *again);
        run(backend, CULL_OP_GAIN, &args);
        assert_close(want, again, size, 10 * (double)(s->d * s->c + 1));
    }
    free(want);
    free(b);
}

static void gains_equal_the_reference_for_any_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4 * CASES; i++) {
        const struct shape *s = cases + i / 4;
        struct data data = make(i / 4, i & 1 ? CULL_F32 : CULL_F64, i & 2 ? CULL_F32 : CULL_F64);

        check_gain(s, &data, NULL, s->n, &data.p);
        check_gain(s, &data, data.row, data.rows, &data.p);
        check_gain(s, &data, NULL, s->n, NULL);
        check_gain(s, &data, data.row, data.rows, NULL);
        drop(&data);
    }
}

static void check_company(cull_backend *backend)
{
    for (size_t i = 0; i < CASES; i++) {
        const struct shape *s = cases + i;
        struct data         data = make(i, CULL_F32, CULL_F32);
        double             *b = normals_f64(7, s->c * (s->d + 1));
        double             *all = malloc(2 * (s->n + 1) * sizeof *all), *some = all + s->n + 1;
        cull_op_args        args = {.gain = {&data.h, &data.p, NULL, s->n, s->c, b, all}};

        run(backend, CULL_OP_GAIN, &args);
        args.gain.row = data.row;
        args.gain.rows = data.rows;
        args.gain.out = some;
        run(backend, CULL_OP_GAIN, &args);
        for (size_t j = 0; j < data.rows; j++)
            assert_memory_equal(some + j, all + data.row[j], sizeof *all);
        free(all);
        free(b);
        drop(&data);
    }
}

static void a_rows_gain_does_not_depend_on_its_company(void **state)
{
    (void)state;
    check_company(one);
    EACH_DEVICE(backend, CULL_OP_GAIN) check_company(backend);
}

static void a_gain_is_the_product_of_two_gradients(void **state)
{
    struct data  data = make(9, CULL_F64, CULL_F64);
    size_t       size = cases[9].c * (cases[9].d + 1);
    double      *b = malloc(3 * size * sizeof *b), *a = b + size;
    uint32_t     last = (uint32_t)cases[9].n - 1;
    double       gain = 0, sum = 0;
    cull_op_args args = {.gradient = {&data.h, &data.p, NULL, 20, b}};

    (void)state;
    run(one, CULL_OP_GRADIENT, &args);
    args.gradient.b = a;
    args.gradient.row = &last;
    args.gradient.rows = 1;
    run(one, CULL_OP_GRADIENT, &args);
    for (size_t i = 0; i < size; i++) sum += a[i] * b[i];
    args = (cull_op_args){.gain = {&data.h, &data.p, &last, 1, cases[9].c, b, &gain}};
    run(one, CULL_OP_GAIN, &args);
    assert_close(&sum, &gain, 1, 1000);
    free(b);
    drop(&data);
}

/* Rows in pairs that cancel, times `apart`: what is left of their sum is rounding, or is not. */
static struct data make_pairs(size_t n, size_t d, size_t c, double apart)
{
    struct data data = {cull_matrix(normals_f64(1, n * d), CULL_F64, n, d),
                        cull_matrix(normals_f64(2, n * c), CULL_F64, n, c),
                        malloc(n * sizeof *data.row), n};
    double     *h = data.h.data, *p = data.p.data;

    for (size_t i = 0; i < n; i++) data.row[i] = (uint32_t)(n - 1 - i);
    for (size_t i = 0; i + 1 < n; i += 2) {
        memcpy(h + (i + 1) * d, h + i * d, d * sizeof *h);
        for (size_t j = 0; j < c; j++) p[(i + 1) * c + j] = -p[i * c + j] * (1 + apart);
    }
    return data;
}

static void rounding_that_is_left_becomes_zero(void **state)
{
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        size_t      n = k & 1 ? 300 : 10, d = 33, c = k & 2 ? 5 : 1, size = c * (d + 1);
        struct data data = make_pairs(n, d, c, k & 4 ? 1e-9 : 0);

        EACH(backend, CULL_OP_CANCEL)
        {
            double      *b = malloc(size * sizeof *b), largest = 0;
            double      *entry = (double *)data.h.data + 7 * d + 1, before = *entry;
            cull_trouble trouble = {0};
            cull_op_args args = {.gradient = {&data.h, &data.p, data.row, n, b}};

            run(backend, CULL_OP_GRADIENT, &args);
            if (k % 4 < 2) b[3] += 1e-15;
            args = (cull_op_args){.cancel = {&data.h, &data.p, data.row, n, b, 0, &trouble}};
            run(backend, CULL_OP_CANCEL, &args);
            for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(b[i]));
            assert_true(k & 4 ? largest > 1e-12 : largest == 0);
            assert_int_equal(CULL_WRONG_NOTHING, trouble.what);
            *entry = 1e200;
            args.cancel.which = CULL_TROUBLE_TARGET;
            run(backend, CULL_OP_CANCEL, &args);
            *entry = before;
            assert_int_equal(CULL_WRONG_SIGNAL, trouble.what);
            assert_int_equal(CULL_TROUBLE_TARGET | CULL_TROUBLE_SQUARE, trouble.which);
            assert_int_equal(7, trouble.row);
            free(b);
        }
        drop(&data);
    }
}

static void every_failing_allocation_is_reported(void **state)
{
    struct data data = make(4, CULL_F32, CULL_F64);
    double      b[3 * 34], out[40];

    (void)state;
    memset(b, 0, sizeof b);
    for (int kind = 0; kind < 2; kind++) {
        cull_op_desc desc = {.kind = kind ? CULL_OP_GAIN : CULL_OP_GRADIENT, .rows = 40};
        cull_op_args args = {.gradient = {&data.h, &data.p, NULL, 40, b}};
        cull_status  status = CULL_NO_MEMORY;

        if (kind) args = (cull_op_args){.gain = {&data.h, &data.p, NULL, 40, 3, b, out}};
        for (size_t n = 1; status != CULL_OK; n++) {
            cull_op *op = NULL;
            fail_nth_alloc(n);
            status = cull_op_ready(one, &desc, &op);
            if (status == CULL_OK) status = cull_op_run(op, &args);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            assert_true(n > 2 || status == CULL_NO_MEMORY);
            cull_op_destroy(op);
        }
    }
    drop(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_the_reference_for_any_threads),
        cmocka_unit_test(gains_equal_the_reference_for_any_threads),
        cmocka_unit_test(a_rows_gain_does_not_depend_on_its_company),
        cmocka_unit_test(a_gain_is_the_product_of_two_gradients),
        cmocka_unit_test(rounding_that_is_left_becomes_zero),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
