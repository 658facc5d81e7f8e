/* tests/unit/test_tensor.c - views: made, read, checked, borrowed from DLPack, and where they lie.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "tensor/tensor.h"

/* DLPack's layout, written down again so that a slip in the library's copy shows. */
struct dlpack {
    void    *data;
    int32_t  device_type, device_id, ndim;
    uint8_t  code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

static void elements_of_every_type_are_read_as_doubles(void **state)
{
    float   f32[] = {0.5f, -2};
    double  f64[] = {0.25, -3};
    int32_t i32[] = {7, -4};
    int64_t i64[] = {8, -5};
    uint8_t u8[] = {9, 255};

    uint16_t bf16[] = {0x3f80, 0xc040};
    const struct {
        const void *data;
        cull_dtype  dtype;
        size_t      size;
        double      first, second;
        const char *name;
    } cases[] = {{f32, CULL_F32, 4, 0.5, -2, "float32"}, {f64, CULL_F64, 8, 0.25, -3, "float64"},
                 {i32, CULL_I32, 4, 7, -4, "int32"},     {i64, CULL_I64, 8, 8, -5, "int64"},
                 {u8, CULL_U8, 1, 9, 255, "uint8"},      {bf16, CULL_BF16, 2, 1, -3, "bfloat16"}};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        cull_tensor t = cull_vector(cases[i].data, cases[i].dtype, 2);
        double      out[2];

        cull_tensor_to_double(&t, 2, out);
        assert_true(out[0] == cases[i].first && out[1] == cases[i].second);
        assert_true(cull_tensor_get(&t, 1) == cases[i].second);
        assert_int_equal(cases[i].size, cull_dtype_size(cases[i].dtype));
        assert_string_equal(cases[i].name, cull_dtype_name(cases[i].dtype));
    }
    assert_int_equal(0, cull_dtype_size((cull_dtype)77));
    assert_string_equal("unknown", cull_dtype_name((cull_dtype)77));
}

/* To the nearest, ties to even; infinities and what is no number stay what they are. */
static void floats_are_rounded_to_bfloat16(void **state)
{
    static const struct {
        float    x;
        uint16_t bits;
    } cases[] = {{1, 0x3f80},
                 {-3, 0xc040},
                 {0x1.01p0f, 0x3f80},
                 {0x1.03p0f, 0x3f82},
                 {0x1.010002p0f, 0x3f81},
                 {0x1.fffffep127f, 0x7f80},
                 {INFINITY, 0x7f80},
                 {-0.0f, 0x8000}};
    float some = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cases[i].bits, cull_bf16_of(cases[i].x));
    assert_true(isnan(cull_bf16_wide(cull_bf16_of(NAN))));
    for (uint32_t bits = 0; bits < 0x7f80; bits++)
        assert_int_equal(bits, cull_bf16_of(cull_bf16_wide((uint16_t)bits)));
    some = cull_bf16_wide(0x4049);
    assert_true(some == 3.140625f);
}

static void a_broken_bfloat16_is_found(void **state)
{
    uint16_t    x[6] = {0x3f80, 0x4000, 0x3f80, 0x7f80, 0x3f80, 0x3f80};
    cull_tensor t = cull_matrix(x, CULL_BF16, 3, 2), strided = t;

    (void)state;
    assert_int_equal(1, cull_tensor_first_not_finite(&t, 3));
    x[3] = 0x7f7f;
    assert_int_equal(3, cull_tensor_first_not_finite(&t, 3));
    x[1] = 0xffc0;
    strided.shape[1] = 1;
    assert_int_equal(3, cull_tensor_first_not_finite(&strided, 3));
    assert_int_equal(0, cull_tensor_first_not_finite(&t, 3));
}

static void strided_rows_are_read_where_they_lie(void **state)
{
    float       x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    cull_tensor matrix = cull_matrix(x, CULL_F32, 3, 2), vector = cull_vector(x, CULL_F32, 3);
    double      out[3];

    (void)state;
    matrix.stride[0] = 4;
    assert_ok(cull_tensor_check(&matrix, "x", 2, 3, false));
    assert_true(*(const float *)cull_tensor_row(&matrix, 2) == 8);
    vector.stride[0] = 5;
    assert_ok(cull_tensor_check(&vector, "x", 1, 3, false));
    cull_tensor_to_double(&vector, 3, out);
    assert_true(out[0] == 0 && out[1] == 5 && out[2] == 10);
}

static void checks_name_what_is_wrong(void **state)
{
    float       x[6] = {0};
    cull_tensor t = {0};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "loss is missing", cull_tensor_check(&t, "loss", 1, 6, false));
    t = cull_vector(x, CULL_F32, 6);
    assert_fails(CULL_BAD_ARGUMENT, "1 dimensions, 2", cull_tensor_check(&t, "h", 2, 6, false));
    assert_fails(CULL_BAD_ARGUMENT, "6 rows, 5", cull_tensor_check(&t, "loss", 1, 5, false));
    assert_fails(CULL_BAD_ARGUMENT, "an integer", cull_tensor_check(&t, "label", 1, 6, true));
    t.dtype = CULL_I32;
    assert_ok(cull_tensor_check(&t, "label", 1, 6, true));
    assert_fails(CULL_BAD_ARGUMENT, "float32 or", cull_tensor_check(&t, "loss", 1, 6, false));
    t.dtype = (cull_dtype)99;
    assert_fails(CULL_BAD_ARGUMENT, "unknown", cull_tensor_check(&t, "label", 1, 6, true));
    t = cull_vector(x, CULL_F32, 6);
    t.stride[0] = 0;
    assert_fails(CULL_BAD_ARGUMENT, "stride", cull_tensor_check(&t, "loss", 1, 6, false));
    t = cull_matrix(x, CULL_F32, 2, 3);
    t.stride[0] = 2;
    assert_fails(CULL_BAD_ARGUMENT, "dense rows", cull_tensor_check(&t, "h", 2, 2, false));
    t = cull_matrix(x, CULL_F32, 2, 3);
    t.stride[1] = 2;
    assert_fails(CULL_BAD_ARGUMENT, "dense rows", cull_tensor_check(&t, "h", 2, 2, false));
    t = cull_matrix(x, CULL_F32, 2, 0);
    assert_fails(CULL_BAD_ARGUMENT, "one column", cull_tensor_check(&t, "h", 2, 2, false));
    t = cull_vector(x, CULL_F32, 6);
    t.shape[0] = -6;
    assert_fails(CULL_BAD_ARGUMENT, "-6 rows", cull_tensor_check(&t, "loss", 1, 6, false));
}

static void the_first_broken_row_is_found_in_both_types(void **state)
{
    static const double broken[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
    float               f32[12] = {0};
    double              f64[12] = {0};
    cull_tensor         a = cull_matrix(f32, CULL_F32, 4, 3), b = cull_matrix(f64, CULL_F64, 4, 3);

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        for (size_t at = 0; at < 12; at++) {
            for (size_t i = 0; i < 12; i++) {
                f64[i] = i == at ? broken[k] : 1.7e308;
                f32[i] = i == at ? (float)broken[k] : 3.4e38f;
            }
            assert_int_equal(at / 3, cull_tensor_first_not_finite(&a, 4));
            assert_int_equal(at / 3, cull_tensor_first_not_finite(&b, 4));
        }
    }
    f32[11] = -0.f;
    f64[11] = 5e-324;
    assert_int_equal(4, cull_tensor_first_not_finite(&a, 4));
    assert_int_equal(4, cull_tensor_first_not_finite(&b, 4));
}

static void dlpack_tensors_are_viewed_in_place(void **state)
{
    float         x[20] = {0};
    int64_t       shape[] = {3, 2}, strides[] = {4, 1};
    struct dlpack dl = {x, 1, 0, 2, 2, 32, 1, shape, strides, 2 * sizeof(float)};
    cull_tensor   t = {0};

    (void)state;
    for (int i = 0; i < 20; i++) x[i] = (float)i;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_ok(cull_tensor_check(&t, "x", 2, 3, false));
    assert_ptr_equal(x + 2, t.data);
    assert_true(*(const float *)cull_tensor_row(&t, 1) == 6);
    dl.strides = NULL; /* dense, row-major */
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(2, t.stride[0]);
    assert_int_equal(1, t.stride[1]);
    dl.ndim = 1; /* a vector may be strided */
    dl.strides = strides;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(4, t.stride[0]);
    dl.code = 0, dl.bits = 64;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(CULL_I64, t.dtype);
    dl.code = 1, dl.bits = 8, dl.device_type = 3; /* pinned host memory */
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(CULL_U8, t.dtype);
    dl.code = 4, dl.bits = 16, dl.device_type = 1;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(CULL_BF16, t.dtype);
}

/* A stride that is never taken means nothing, and producers write what they like there. */
static void a_single_row_or_column_of_dlpack_has_any_stride(void **state)
{
    static const int64_t odd[] = {1, 0, -7, 3};
    float                x[12] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int64_t       row[] = {1, 5}, column[] = {4, 1}, one[] = {1};
        int64_t       row_strides[] = {odd[i], 1}, column_strides[] = {3, odd[i]};
        int64_t       one_strides[] = {odd[i]};
        struct dlpack dl = {x, 1, 0, 2, 2, 32, 1, row, row_strides, 0};
        cull_tensor   t = {0};

        assert_ok(cull_tensor_from_dlpack(&dl, &t));
        assert_ok(cull_tensor_check(&t, "x", 2, 1, false));
        dl.shape = column;
        dl.strides = column_strides;
        assert_ok(cull_tensor_from_dlpack(&dl, &t));
        assert_ok(cull_tensor_check(&t, "x", 2, 4, false));
        dl.ndim = 1;
        dl.shape = one;
        dl.strides = one_strides;
        assert_ok(cull_tensor_from_dlpack(&dl, &t));
        assert_ok(cull_tensor_check(&t, "x", 1, 1, false));
    }
}

static void dlpack_tensors_that_cannot_be_viewed_are_refused(void **state)
{
    float               x[4] = {0};
    int64_t             shape[] = {2, 2, 1, 1, 1}, strides[] = {1, 2};
    const struct dlpack good = {x, 1, 0, 2, 2, 32, 1, shape, NULL, 0};
    struct dlpack       dl = good;
    cull_tensor         t = {.dims = 77};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "needed", cull_tensor_from_dlpack(NULL, &t));
    dl.ndim = 5;
    assert_fails(CULL_UNSUPPORTED, "5 dimensions", cull_tensor_from_dlpack(&dl, &t));
    dl = good, dl.ndim = 0;
    assert_fails(CULL_UNSUPPORTED, "0 dimensions", cull_tensor_from_dlpack(&dl, &t));
    dl = good, dl.bits = 16;
    assert_fails(CULL_UNSUPPORTED, "16 bits", cull_tensor_from_dlpack(&dl, &t));
    dl = good, dl.lanes = 4;
    assert_fails(CULL_UNSUPPORTED, "4 lanes", cull_tensor_from_dlpack(&dl, &t));
    dl = good, dl.strides = strides;
    assert_fails(CULL_UNSUPPORTED, "not dense", cull_tensor_from_dlpack(&dl, &t));
    shape[0] = -1;
    assert_fails(CULL_BAD_ARGUMENT, "negative", cull_tensor_from_dlpack(&good, &t));
    shape[0] = INT64_MAX;
    assert_fails(CULL_BAD_ARGUMENT, "counted", cull_tensor_from_dlpack(&good, &t));
    assert_int_equal(77, t.dims);
}

/* DLPack's numbering: 1 and 3 are the host's memory, plain and pinned. */
static void dlpack_tensors_keep_their_device(void **state)
{
    float         x[4] = {0};
    int64_t       shape[] = {2, 2};
    struct dlpack dl = {x, 2, 1, 2, 2, 32, 1, shape, NULL, 8};
    cull_tensor   t = {0};

    (void)state;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_int_equal(CULL_DEVICE_CUDA, t.device.kind);
    assert_int_equal(1, t.device.number);
    assert_ptr_equal(x + 2, t.data);
    assert_true(cull_device_same(t.device, (cull_device){CULL_DEVICE_CUDA, 1}));
    assert_false(cull_device_same(t.device, (cull_device){CULL_DEVICE_CUDA, 0}));
    assert_false(cull_device_same(t.device, (cull_device){0}));
    assert_fails(CULL_UNSUPPORTED, "h: on device cuda:1; arrays on host",
                 cull_tensor_check(&t, "h", 2, 2, false));
    dl.device_type = 1;
    assert_ok(cull_tensor_from_dlpack(&dl, &t));
    assert_ok(cull_tensor_check(&t, "h", 2, 2, false));
    assert_true(cull_device_same(t.device, (cull_device){0}));
}

static void devices_are_told_apart_and_named(void **state)
{
    static const cull_device host[] = {{0, 0}, {1, 0}, {1, 7}, {3, 0}, {11, 2}};
    char                     name[CULL_DEVICE_NAME];

    (void)state;
    for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
        assert_true(cull_device_same(host[i], (cull_device){0}));
        assert_false(cull_device_same((cull_device){2, host[i].number}, host[i]));
        assert_string_equal("host", cull_device_name(host[i], name));
    }
    assert_true(cull_device_same((cull_device){2, 3}, (cull_device){2, 3}));
    assert_false(cull_device_same((cull_device){2, 3}, (cull_device){10, 3}));
    assert_string_equal("cuda:3", cull_device_name((cull_device){2, 3}, name));
    assert_string_equal("kind99:-1", cull_device_name((cull_device){99, -1}, name));
}

/* Arrays of a device that does not exist: reading one number of them would crash. */
static const cull_device elsewhere = {CULL_DEVICE_CUDA, 0};

static cull_tensor faraway(cull_tensor t)
{
    t.data = (void *)(uintptr_t)64;
    t.device = elsewhere;
    return t;
}

static void selection_says_that_it_reads_the_host(void **state)
{
    float                 x[4] = {1, 2, 3, 4};
    double                k[4] = {0}, weight[2];
    uint32_t              index[2] = {0};
    cull_tensor           near = cull_matrix(x, CULL_F32, 2, 2), far = faraway(near);
    cull_signals          signals = {.count = 2, .loss = faraway(cull_vector(x, CULL_F32, 2))};
    cull_omp_problem      omp = {.count = 2, .budget = 1, .k = far, .t = k, .index = index};
    cull_omp_options      options = {0};
    cull_facility_problem facility = {.count = 2, .budget = 1, .similarity = far, .index = index};
    cull_selector        *selector = NULL;
    cull_subset           subset = {.device = elsewhere}, own = {0};
    cull_diagnosis        diagnosis = {0};

    (void)state;
    omp.weight = facility.weight = weight;
    assert_fails(CULL_UNSUPPORTED, "h: on device cuda:0",
                 cull_gram(NULL, &far, &near, NULL, k, NULL, NULL));
    assert_fails(CULL_UNSUPPORTED, "p: on device cuda:0",
                 cull_gram(NULL, &near, &far, NULL, k, NULL, NULL));
    assert_fails(CULL_UNSUPPORTED, "k: on device cuda:0", cull_omp(NULL, &omp, 1, &options));
    assert_fails(CULL_UNSUPPORTED, "similarity: on device cuda:0",
                 cull_facility(NULL, &facility, 1, &(cull_facility_options){0}));
    assert_ok(cull_selector_create("top-loss", NULL, 0, &(cull_setting){.pool = 2}, &selector));
    assert_fails(CULL_UNSUPPORTED, "loss: on device cuda:0",
                 cull_select(selector, &signals, 1, &own));
    signals.loss = cull_vector(x, CULL_F32, 2);
    assert_fails(CULL_UNSUPPORTED, "the subset: on device cuda:0",
                 cull_select(selector, &signals, 1, &subset));
    assert_ok(cull_select(selector, &signals, 1, &own));
    assert_fails(CULL_UNSUPPORTED, "the subset: on device cuda:0",
                 cull_diagnose(NULL, &signals, &subset, NULL, &diagnosis));
    subset.count = 1;
    assert_fails(CULL_UNSUPPORTED, "the other subset: on device cuda:0",
                 cull_diagnose(NULL, &signals, &own, &subset, &diagnosis));
    cull_subset_clear(&own);
    cull_selector_destroy(selector);
}

static void files_and_networks_say_that_they_read_the_host(void **state)
{
    float         x[4] = {1, 2, 3, 4};
    uint8_t       labels[2] = {0, 1};
    cull_tensor   near = cull_matrix(x, CULL_F32, 2, 2), far = faraway(near);
    cull_tensor   y = cull_vector(labels, CULL_U8, 2);
    cull_array    array = {"x", far};
    cull_model   *model = NULL;
    cull_network *network = NULL;
    cull_recipe  *recipe = NULL;
    cull_examples examples = {.inputs = near, .label = faraway(y)};
    cull_subset   subset = {.count = 1, .device = elsewhere};

    (void)state;
    assert_fails(CULL_UNSUPPORTED, "x: on device cuda:0", cull_arrays_write("/x.npz", &array, 1));
    assert_ok(cull_model_create("small", 2, 1, 1, &model));
    assert_ok(
        cull_model_finish(model, cull_model_dense(model, 0, "logits", &(cull_dense){.out = 2})));
    assert_ok(cull_network_create(model, NULL, NULL, 0, &network));
    assert_fails(CULL_UNSUPPORTED, "inputs: on device cuda:0",
                 cull_network_predict(network, &far, NULL, NULL));
    assert_fails(CULL_UNSUPPORTED, "logits: on device cuda:0",
                 cull_network_logits(network, &near, true, &far));
    assert_fails(CULL_UNSUPPORTED, "label: on device cuda:0",
                 cull_network_learn(network, &examples, NULL, NULL));
    examples.label = y;
    assert_fails(CULL_UNSUPPORTED, "subset: on device cuda:0",
                 cull_network_learn(network, &examples, &subset, NULL));
    assert_ok(cull_recipe_open(NULL, NULL, 0, &recipe));
    assert_fails(CULL_UNSUPPORTED, "inputs: on device cuda:0",
                 cull_recipe_set_data(recipe, CULL_DATA_TRAIN, &far, &y));
    cull_recipe_close(recipe);
    cull_network_destroy(network);
    cull_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_every_type_are_read_as_doubles),
        cmocka_unit_test(floats_are_rounded_to_bfloat16),
        cmocka_unit_test(a_broken_bfloat16_is_found),
        cmocka_unit_test(strided_rows_are_read_where_they_lie),
        cmocka_unit_test(checks_name_what_is_wrong),
        cmocka_unit_test(the_first_broken_row_is_found_in_both_types),
        cmocka_unit_test(dlpack_tensors_are_viewed_in_place),
        cmocka_unit_test(a_single_row_or_column_of_dlpack_has_any_stride),
        cmocka_unit_test(dlpack_tensors_that_cannot_be_viewed_are_refused),
        cmocka_unit_test(dlpack_tensors_keep_their_device),
        cmocka_unit_test(devices_are_told_apart_and_named),
        cmocka_unit_test(selection_says_that_it_reads_the_host),
        cmocka_unit_test(files_and_networks_say_that_they_read_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
