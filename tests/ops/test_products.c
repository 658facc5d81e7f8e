/*
 * tests/ops/test_products.c - convolutions and dense layers too large for one tile, one part of a
 * sum or one group of taps, on every device that can be opened, against `ref`; and twice to the
 * same bits.
 */
#include "ops/layer_inputs.h"
#include "ops/on_device.h"

/* Shares of the largest element: sums of up to 1,500 products, in any order; and numbers of eight
 * bits, rounded once. */
#define SUM_ERROR    4e-6
#define NARROW_ERROR 8e-3

/* clang-format off */
static const struct layer_case cases[] = {
    {"a stem", CONV(5, 3, 16, 16, 64, 3, 3, 1, 1, 1, 1, false), .first = true},
    {"a stem with its input's gradient", CONV(2, 3, 15, 13, 32, 3, 3, 1, 1, 1, 1, true), .accumulate = true},
    {"a stem of 7x7, stride 2", CONV(2, 3, 23, 20, 64, 7, 7, 2, 3, 3, 1, false)},
    {"a stem of one channel", CONV(5, 1, 28, 28, 6, 5, 5, 1, 2, 2, 1, true), .first = true},
    {"72 to 136, stride 2", CONV(3, 72, 9, 8, 136, 3, 3, 2, 1, 1, 1, false), .accumulate = true},
    {"130 to 70, 1x1", CONV(2, 130, 12, 11, 70, 1, 1, 1, 0, 0, 1, true)},
    {"64 to 128, 1x1, stride 2", CONV(2, 64, 12, 12, 128, 1, 1, 2, 0, 0, 1, false)},
    {"136 to 150 in 2 groups", CONV(2, 136, 8, 7, 150, 3, 3, 1, 1, 1, 2, true)},
    {"80 to 80 in 20 groups", CONV(3, 80, 9, 9, 80, 3, 3, 1, 1, 1, 20, false), .accumulate = true},
    {"24 to 66, dilation 2", TILTED(3, 24, 11, 13, 66, 3, 3, 1, 1, 2, 2, 2, 2, 1, true)},
    {"depthwise of 72", CONV(5, 72, 12, 12, 72, 3, 3, 1, 1, 1, 72, false)},
    {"depthwise of 320, stride 2", CONV(2, 320, 9, 9, 320, 3, 3, 2, 1, 1, 320, false), .accumulate = true},
    {"depthwise 5x5 of 40", CONV(3, 40, 13, 11, 40, 5, 5, 1, 2, 2, 40, true)},
    {"depthwise of 33", CONV(5, 33, 10, 9, 33, 3, 3, 1, 1, 1, 33, true), .accumulate = true},
    {"depthwise of 34 to 102", CONV(2, 34, 10, 9, 102, 3, 3, 2, 1, 1, 34, true)},
    {"dense 200 to 100", DENSE(130, 200, 100, true), .accumulate = true},
    {"dense 513 to 10", DENSE(150, 513, 10, true), .accumulate = true},
    {"dense 96 to 64", DENSE(70, 96, 64, false)},
    {"dense 70 to 300, first", DENSE(33, 70, 300, true), .first = true},
};
/* clang-format on */

enum { CASES = sizeof cases / sizeof *cases };

static void check_near(const struct layer_case *t, const char *on, cull_dtype dtype,
                       const struct layer_data *right, const struct layer_data *ours)
{
    double allowed = dtype == CULL_BF16 ? NARROW_ERROR : SUM_ERROR;

    for (int i = Y; i <= DB; i++) {
        double largest = 0, error = 0;

        for (size_t j = 0; j < right->count[i]; j++) {
            double apart = fabs(right->t[i][j] - ours->t[i][j]);

            largest = fmax(largest, fabs(right->t[i][j]));
            if (!(apart <= error)) error = apart;
        }
        if (!(error <= allowed * largest))
            fail_msg("%s on %s, %s: tensor %d off by %.2g of %.2g", t->name, on,
                     cull_dtype_name(dtype), i, error, largest);
    }
}

static void run_twice(cull_backend *backend, const struct layer_case *t, cull_dtype dtype,
                      bool repeatable, const struct layer_data *in, const struct layer_data *right)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data out = layer_data_make(&d), again = layer_data_make(&d);
    struct layer_run  run;

    set_layout(backend, 4, &d);
    d.repeatable = repeatable;
    assert_ok(layer_open(backend, t, &d, &run));
    layer_run(&run, in, &out, false);
    check_near(t, backend->class->name, dtype, right, &out);
    layer_run(&run, in, &again, false);
    for (int i = Y; repeatable && i <= DB; i++)
        if (memcmp(out.t[i], again.t[i], out.count[i] * sizeof(double)) != 0)
            fail_msg("%s on %s, %s: tensor %d is not the same twice", t->name, backend->class->name,
                     cull_dtype_name(dtype), i);
    layer_close(&run);
    layer_data_clear(&out);
    layer_data_clear(&again);
}

static void check_case(cull_backend *ref, cull_backend *backend, const struct layer_case *t,
                       cull_dtype dtype)
{
    cull_layer_desc   d = complete_case(t, CULL_F64);
    struct layer_data in = make_input_for(ref, t, dtype), right = layer_data_make(&d);
    struct layer_run  run;

    assert_ok(layer_open(ref, t, &d, &run));
    layer_run(&run, &in, &right, false);
    layer_close(&run);
    run_twice(backend, t, dtype, false, &in, &right);
    run_twice(backend, t, dtype, true, &in, &right);
    layer_data_clear(&in);
    layer_data_clear(&right);
}

static void large_products_agree_with_ref(void **state)
{
    static const char *const names[] = {"emu", "cuda"};
    static const cull_dtype  dtypes[] = {CULL_F32, CULL_BF16, CULL_F64};

    for (size_t i = 0; i < 2; i++) {
        cull_backend *backend = is_tested(names[i]) ? open_other(names[i], 1) : NULL;

        if (!backend) print_message("%s: skipped, it has no layers\n", names[i]);
        for (int k = 0; backend && k < CASES; k++)
            for (size_t j = 0; j < 3; j++) check_case(*state, backend, &cases[k], dtypes[j]);
        cull_backend_close(backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_products_agree_with_ref)};

    open_or_skip();
    return cmocka_run_group_tests(tests, open_ref, close_ref);
}
