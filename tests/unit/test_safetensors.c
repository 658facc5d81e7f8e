/* test_safetensors.c - weights as files: there and back, and files that try to break the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "support.h"
#include "train/folder/run_state.h"
#include "train/folder/weights.h"

static cull_model *small_model(const char *name)
{
    cull_model        *model = NULL;
    cull_model_options options = {.channels = 3, .height = 8, .width = 8, .classes = 4};

    assert_ok(cull_nn_model_by_name(name, &options, &model));
    return model;
}

static void weights_come_back_bit_for_bit(void **state)
{
    cull_model  *model = small_model("resnet20");
    cull_params *a = NULL, *b = NULL;
    cull_writer  bytes = {0};

    (void)state;
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &a));
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &b));
    cull_nn_params_init(a, model, 7);
    for (size_t i = 0; i < a->running_count; i++) ((float *)a->running)[i] = (float)i;
    assert_ok(cull_weights_encode(model, a, NULL, &bytes));
    assert_ok(cull_weights_decode("x", bytes.data, bytes.size, model, b));
    assert_memory_equal(a->value, b->value, a->count * sizeof(float));
    assert_memory_equal(a->running, b->running, a->running_count * sizeof(float));
    cull_writer_clear(&bytes);
    cull_nn_params_destroy(a);
    cull_nn_params_destroy(b);
    cull_nn_model_destroy(model);
}

static void names_and_shapes_are_pytorchs(void **state)
{
    cull_model      *model = small_model("resnet20");
    cull_params     *params = NULL;
    cull_safetensor *list = NULL;
    size_t           count = 0, mean = 0, conv = 0;

    (void)state;
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    assert_ok(cull_weights_list(model, params, &list, &count));
    for (size_t i = 0; i < count; i++) {
        const char *name = list[i].name;
        mean += strlen(name) > 13 && strcmp(name + strlen(name) - 13, ".running_mean") == 0;
        if (list[i].tensor.dims == 4) {
            conv++;
            assert_int_equal(3, list[i].tensor.shape[2]);
            assert_int_equal(3, list[i].tensor.shape[3]);
        }
    }
    assert_int_equal(19, mean);
    assert_int_equal(19, conv);
    assert_int_equal(19 * 5 + 2, count);
    cull_base_free(list);
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(model);
}

static void another_models_weights_are_refused_and_change_nothing(void **state)
{
    cull_model  *model = small_model("mlp"), *other = small_model("resnet20");
    cull_params *params = NULL, *others = NULL, *wide = NULL;
    cull_writer  bytes = {0}, doubles = {0};
    float       *before = NULL;

    (void)state;
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F64, &wide));
    assert_ok(cull_nn_params_create(plain_backend(), other, CULL_F32, &others));
    cull_nn_params_init(params, model, 3);
    before = malloc(params->count * sizeof *before);
    assert_non_null(before);
    memcpy(before, params->value, params->count * sizeof *before);
    assert_ok(cull_weights_encode(other, others, NULL, &bytes));
    assert_fails(CULL_BAD_FILE, "which the model has",
                 cull_weights_decode("x", bytes.data, bytes.size, model, params));
    assert_ok(cull_weights_encode(model, wide, NULL, &doubles));
    assert_fails(CULL_BAD_FILE, "is float64, the model's is float32",
                 cull_weights_decode("x", doubles.data, doubles.size, model, params));
    assert_memory_equal(before, params->value, params->count * sizeof *before);
    free(before);
    cull_writer_clear(&bytes);
    cull_writer_clear(&doubles);
    cull_nn_params_destroy(params);
    cull_nn_params_destroy(others);
    cull_nn_params_destroy(wide);
    cull_nn_model_destroy(model);
    cull_nn_model_destroy(other);
}

/* A file of this header and so many bytes of data. */
static cull_status parse(const char *header, size_t data, cull_safetensors *out)
{
    char     file[1024] = {0};
    uint64_t length = strlen(header);

    memcpy(file, &length, 8);
    memcpy(file + 8, header, length);
    return cull_safetensors_parse("f", file, 8 + length + data, out);
}

static void files_of_others_are_read(void **state)
{
    cull_safetensors out = {0};

    (void)state;
    assert_ok(parse(" {\n\"b\": {\"data_offsets\":[4, 12],\"shape\":[ 1 ,2],\"dtype\":\"F32\"}, "
                    "\"__metadata__\":{\"x\":\"\\\"\\u0041\",\"y\":\"z\"},"
                    "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                    "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[12,20]},"
                    "\"none\":{\"dtype\":\"F64\",\"shape\":[0,3],\"data_offsets\":[20,20]}}   ",
                    20, &out));
    assert_int_equal(4, out.count);
    assert_int_equal(2, cull_safetensors_find(&out, "b")->tensor.shape[1]);
    assert_int_equal(0, cull_safetensors_find(&out, "n")->tensor.dims);
    assert_null(cull_safetensors_find(&out, "__metadata__"));
    cull_safetensors_clear(&out);
    assert_ok(parse("{}", 0, &out));
    cull_safetensors_clear(&out);
}

static void hostile_headers_end_in_a_sentence(void **state)
{
    static const struct {
        const char *header;
        size_t      data;
        const char *text;
    } cases[] = {
        {"", 0, "is no JSON"},
        {"{", 0, "is no JSON"},
        {"[]", 0, "is no JSON object"},
        {"{} x", 0, "end of file expected"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}", 4,
         "is no JSON: '}' expected"},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, "type 'F16'"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "lacks dtype, shape or data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "duplicate object key"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "two numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "no whole number"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[01],\"data_offsets\":[0,4]}}", 4, "is no JSON"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
         "no whole number"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
         "too big integer"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
         "impossible shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         "more than 4 numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "takes 8 bytes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "its offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 4, "its offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8, "belongs to none"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "belongs to none"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
         4, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
         0, "duplicate object key"},
        {"{\"a\\n\":{}}", 0, "escaped name"},
        {"{\"a\n\":{}}", 0, "unexpected newline"},
        {"{\"a\t\":{}}", 0, "control character"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":0}}", 0,
         "has more than"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,4611686018427387904,4],\"data_offsets\":[0,0]}}", 0,
         "impossible shape"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "no object of texts"},
        {"{\"__metadata__\":[]}", 0, "no object of texts"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_safetensors out = {0};
        assert_fails(CULL_BAD_FILE, cases[i].text, parse(cases[i].header, cases[i].data, &out));
        assert_null(out.tensor);
    }
}

static void lengths_beyond_the_file_are_refused(void **state)
{
    static const uint64_t lengths[] = {1, 1000, UINT64_MAX, 1ull << 62};
    cull_safetensors      out = {0};
    char                  file[8];

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memcpy(file, &lengths[i], 8);
        assert_fails(CULL_BAD_FILE, "a header of", cull_safetensors_parse("f", file, 8, &out));
    }
    assert_fails(CULL_BAD_FILE, "too short", cull_safetensors_parse("f", file, 7, &out));
}

static void every_cut_of_a_file_is_refused(void **state)
{
    cull_model  *model = small_model("mlp");
    cull_params *params = NULL;
    cull_writer  bytes = {0};

    (void)state;
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    assert_ok(cull_weights_encode(model, params, NULL, &bytes));
    for (size_t size = 0; size < bytes.size; size += size < 1000 ? 1 : 997) {
        unsigned char *cut = malloc(size + 1);
        assert_non_null(cut);
        memcpy(cut, bytes.data, size);
        assert_fails(CULL_BAD_FILE, "", cull_weights_decode("f", cut, size, model, params));
        free(cut);
    }
    cull_writer_clear(&bytes);
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(model);
}

static void a_state_comes_back_and_damage_is_noticed(void **state)
{
    cull_run_state saved = {.progress = {.step = 7, .epoch = 2, .best = .5, .weights = "weights-7"},
                            .meter = {.trained = 99},
                            .optim = {(const unsigned char *)"optim", 5, 0},
                            .selector = {(const unsigned char *)"sel", 3, 0}};
    cull_run_state read = {0};
    cull_writer    bytes = {0};

    (void)state;
    assert_ok(cull_run_state_encode(&saved, &bytes));
    assert_ok(cull_run_state_decode("s", bytes.data, bytes.size, &read));
    assert_int_equal(7, read.progress.step);
    assert_int_equal(99, read.meter.trained);
    assert_int_equal(5, read.optim.size);
    assert_memory_equal("sel", read.selector.data, 3);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 0x10;
        assert_fails(CULL_BAD_STATE,
                     "s: ", cull_run_state_decode("s", bytes.data, bytes.size, &read));
        bytes.data[i] ^= 0x10;
        assert_fails(CULL_BAD_STATE, "", cull_run_state_decode("s", bytes.data, i, &read));
    }
    cull_writer_clear(&bytes);
}

static void a_state_may_not_name_files_elsewhere(void **state)
{
    cull_run_state saved = {.progress = {.weights = "../weights"}}, read = {0};
    cull_writer    bytes = {0};

    (void)state;
    assert_ok(cull_run_state_encode(&saved, &bytes));
    assert_fails(CULL_BAD_STATE, "impossible name",
                 cull_run_state_decode("s", bytes.data, bytes.size, &read));
    cull_writer_clear(&bytes);
}

static void reading_and_writing_survive_failing_allocations(void **state)
{
    cull_model  *model = small_model("mlp");
    cull_params *params = NULL;
    cull_status  status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_writer bytes = {0};
        fail_nth_alloc(n);
        status = cull_weights_encode(model, params, NULL, &bytes);
        if (status == CULL_OK)
            status = cull_weights_decode("f", bytes.data, bytes.size, model, params);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_writer_clear(&bytes);
    }
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_come_back_bit_for_bit),
        cmocka_unit_test(names_and_shapes_are_pytorchs),
        cmocka_unit_test(another_models_weights_are_refused_and_change_nothing),
        cmocka_unit_test(files_of_others_are_read),
        cmocka_unit_test(hostile_headers_end_in_a_sentence),
        cmocka_unit_test(lengths_beyond_the_file_are_refused),
        cmocka_unit_test(every_cut_of_a_file_is_refused),
        cmocka_unit_test(a_state_comes_back_and_damage_is_noticed),
        cmocka_unit_test(a_state_may_not_name_files_elsewhere),
        cmocka_unit_test(reading_and_writing_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
