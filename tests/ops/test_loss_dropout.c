/*
 * tests/ops/test_loss_dropout.c - what devices have of losses and dropout beside the table of
 * test_layers: float64, bfloat16, masks from the moment block, targets that cannot be.
 */
#include "ops/layer_inputs.h"
#include "ops/on_device.h"

static cull_backend *ref, *device[2];

static int open_backends(void **state)
{
    static const char *const names[] = {"emu", "cuda"};

    (void)state;
    open_or_skip();
    for (size_t i = 0; i < 2; i++)
        if (is_tested(names[i])) (void)cull_backend_open(names[i], 1, &device[i]);
    return (int)cull_backend_open("ref", 1, &ref);
}

static int close_backends(void **state)
{
    (void)state;
    cull_backend_close(ref);
    for (size_t i = 0; i < 2; i++) cull_backend_close(device[i]);
    return 0;
}

static bool of_these(const struct layer_case *t)
{
    return t->d.kind == CULL_LAYER_LOSS || t->d.kind == CULL_LAYER_DROPOUT;
}

/* As a share of the largest: float32 is a rounding, float64 the order of a sum. */
static double tolerance(cull_dtype dtype)
{
    return dtype == CULL_F32 ? 1e-6 : 1e-14;
}

static void check_case(cull_backend *backend, const struct layer_case *t, cull_dtype dtype,
                       int layout)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data in = make_input(ref, t), want = layer_data_make(&d), got = want;
    struct layer_run  run;

    got = layer_data_make(&d);
    assert_ok(layer_open(ref, t, &d, &run));
    layer_run(&run, &in, &want, false);
    layer_close(&run);
    set_layout(backend, layout, &d);
    assert_ok(layer_open(backend, t, &d, &run));
    layer_run(&run, &in, &got, false);
    layer_close(&run);
    for (int i = Y; i < TENSORS; i++) {
        double largest = 0;

        for (size_t j = 0; j < want.count[i]; j++) largest = fmax(largest, fabs(want.t[i][j]));
        for (size_t j = 0; j < want.count[i]; j++)
            if (!(fabs(want.t[i][j] - got.t[i][j]) <= tolerance(dtype) * largest))
                fail_msg("%s, %s, layout %d: tensor %d, element %zu: %.17g, not %.17g", t->name,
                         cull_dtype_name(dtype), layout, i, j, got.t[i][j], want.t[i][j]);
    }
    layer_data_clear(&in);
    layer_data_clear(&want);
    layer_data_clear(&got);
}

static void both_types_agree_in_every_layout(void **state)
{
    (void)state;
    for (size_t b = 0; b < 2; b++)
        for (int k = 0; device[b] && k < LAYER_CASES; k++)
            for (int layout = 0; of_these(&layer_cases[k]) && layout < 4; layout++) {
                check_case(device[b], &layer_cases[k], CULL_F32, layout);
                check_case(device[b], &layer_cases[k], CULL_F64, layout);
            }
}

/* The loss alone is no number, for that row alone. */
static void a_target_that_cannot_be_is_no_number(void **state)
{
    static const struct layer_case cases[] = {{"", LOSS(5, 3, 0)}, {"", OTHER_LOSS(BINARY, 5, 3)}};

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        const struct layer_case *t = &cases[k % 2];
        cull_layer_desc          d = complete_case(t, CULL_F32);
        struct layer_data        in = make_input(ref, t), out = layer_data_make(&d);
        struct layer_run         run;

        if (device[k / 3 % 2]) {
            assert_ok(layer_open(device[k / 3 % 2], t, &d, &run));
            run.rows.label[2] = k % 3 ? 3 : -1;
            run.rows.truth[7] = 2;
            layer_forward(&run, &in, &out);
            for (size_t i = 0; i < 5; i++) assert_int_equal(i == 2, isnan(out.t[LOSSES][i]));
            for (size_t i = 0; i < 15; i++) assert_true(isfinite(out.t[P][i]));
            layer_close(&run);
        }
        layer_data_clear(&in);
        layer_data_clear(&out);
    }
}

/* ---- dropout of bfloat16 ---- */

enum { N = 3, C = 16, SIDE = 6, SIZE = N * C * SIDE * SIDE };

/* What one pass makes of x, added to what is there or not, in a layout. */
static void drop(cull_backend *backend, cull_dtype dtype, int64_t block, bool back, const void *x,
                 void *y)
{
    cull_image      image = {N, C, SIDE, SIDE, block};
    cull_layer_desc d = {.kind = CULL_LAYER_DROPOUT,
                         .dtype = dtype,
                         .parameters = CULL_F32,
                         .statistics = CULL_F32,
                         .x = image,
                         .y = image,
                         .probability = .4};
    size_t          bytes = SIZE * cull_dtype_size(dtype);
    cull_moment     now = {.step = (uint64_t)3 << 32 | 9}, *now_there = NULL;
    uint32_t        place[N] = {4, 900, 77}, *place_there = NULL;
    char           *x_there = NULL, *y_there = NULL;
    cull_kit        kit = {.backend = backend};
    cull_layer_op  *op = NULL;
    cull_layer_args args = {.key = cull_key_make(8, "mask"), .step = 1, .accumulate = back};

    assert_ok(cull_kit_allocate(&kit, 1, sizeof now, "a test", &now_there));
    assert_ok(cull_kit_allocate(&kit, N, sizeof *place, "a test", &place_there));
    assert_ok(cull_kit_allocate(&kit, 1, bytes, "a test", &x_there));
    assert_ok(cull_kit_allocate(&kit, 1, bytes, "a test", &y_there));
    assert_ok(cull_backend_upload(backend, now_there, &now, sizeof now));
    assert_ok(cull_backend_upload(backend, place_there, place, sizeof place));
    assert_ok(cull_backend_upload(backend, x_there, x, bytes));
    assert_ok(cull_backend_upload(backend, y_there, y, bytes));
    assert_ok(cull_layer_create(backend, &d, &op));
    args.now = now_there;
    args.place = place_there;
    args.x = args.dy = x_there;
    args.y = args.dx = y_there;
    assert_ok(back ? op->class->backward(op, &args) : op->class->forward(op, &args));
    assert_ok(cull_backend_download(backend, y, y_there, bytes));
    cull_layer_destroy(op);
    cull_kit_clear(&kit);
}

static void bfloat16_is_dropped_as_float32_is(void **state)
{
    static const int64_t blocks[] = {1, C, 8};
    static float         x[SIZE], y[SIZE];
    static uint16_t      small_x[SIZE], small_y[SIZE];

    (void)state;
    for (size_t k = 0; k < 12; k++) {
        bool    back = k % 2;
        int64_t block = blocks[k / 2 % 3];

        if (!device[k / 6]) continue;
        for (size_t i = 0; i < SIZE; i++) {
            small_x[i] = cull_bf16_of((float)random_normal(6, i));
            small_y[i] = cull_bf16_of((float)random_normal(7, i));
            x[i] = cull_bf16_wide(small_x[i]);
            y[i] = cull_bf16_wide(small_y[i]);
        }
        drop(device[k / 6], CULL_BF16, block, back, small_x, small_y);
        drop(device[k / 6], CULL_F32, block, back, x, y);
        for (size_t i = 0; i < SIZE; i++) assert_int_equal(cull_bf16_of(y[i]), small_y[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_types_agree_in_every_layout),
        cmocka_unit_test(a_target_that_cannot_be_is_no_number),
        cmocka_unit_test(bfloat16_is_dropped_as_float32_is),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
