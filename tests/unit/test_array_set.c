/* tests/unit/test_array_set.c - sets as people keep them in arrays: names, types and layouts. */
#include "data/array_names.h"
#include "data/channels.h"
#include "data/npy.h"
#include "data/sink.h"
#include "files.h"
#include "tensor/tensor.h"

enum { N = 6, H = 5, W = 4, C = 3, ROW = H * W * C };

static char folder[] = FOLDER_TEMPLATE;

static cull_tensor shaped(const void *data, cull_dtype dtype, int dims, const int64_t *shape)
{
    cull_tensor t = {.data = (void *)(uintptr_t)data, .dtype = dtype, .dims = dims};
    int64_t     step = 1;

    for (int d = dims - 1; d >= 0; d--) {
        t.shape[d] = shape[d];
        t.stride[d] = step;
        step *= shape[d];
    }
    return t;
}

/* (N, H, W, C): a different number in every place. */
static uint8_t at_last(size_t n, size_t h, size_t w, size_t c)
{
    return (uint8_t)(((n * H + h) * W + w) * C + c);
}

static const char *write_pair(const char *name, const char *x, cull_tensor xs, const char *y,
                              cull_tensor ys)
{
    const char *path = path_in(folder, name);

    assert_ok(cull_arrays_write(path, (cull_array[]){{x, xs}, {y, ys}}, 2));
    return path;
}

/* As open_set(), with a layout, and small files mapped. */
static cull_status open_mapped(const char *path, cull_data_layout layout, uint64_t map_from,
                               cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;

    TRY(cull_data_create("set", &set));
    TRY(cull_data_array_set_read(&(cull_data_request){.name = path, .layout = layout}, map_from,
                                 set));
    TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static const int32_t labels[N] = {0, 1, 2, 0, 1, 2};

static void a_shape_tells_where_its_channels_are(void **state)
{
    static const struct {
        int64_t          shape[4];
        cull_data_layout told;
    } cases[] = {
        {{9, 3, 32, 32}, CULL_LAYOUT_FIRST}, {{9, 1, 28, 28}, CULL_LAYOUT_FIRST},
        {{9, 4, 64, 48}, CULL_LAYOUT_FIRST}, {{9, 32, 32, 3}, CULL_LAYOUT_LAST},
        {{9, 28, 28, 1}, CULL_LAYOUT_LAST},  {{9, 64, 48, 4}, CULL_LAYOUT_LAST},
        {{9, 3, 32, 3}, CULL_LAYOUT_TOLD},   {{9, 1, 28, 1}, CULL_LAYOUT_TOLD},
        {{9, 2, 32, 32}, CULL_LAYOUT_TOLD},  {{9, 32, 32, 2}, CULL_LAYOUT_TOLD},
        {{9, 512, 1, 1}, CULL_LAYOUT_FIRST}, {{9, 64, 4, 4}, CULL_LAYOUT_FIRST},
        {{9, 1, 1, 1}, CULL_LAYOUT_FIRST},   {{9, 3, 4, 4}, CULL_LAYOUT_TOLD},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cases[i].told, cull_data_channels_tell(cases[i].shape));
}

static void channels_last_become_channels_first(void **state)
{
    static const int64_t shape[] = {N, H, W, C};
    static const struct {
        cull_dtype dtype;
        uint64_t   map_from;
    } ways[] = {{CULL_U8, UINT64_MAX},  {CULL_U8, 0},  {CULL_F32, UINT64_MAX}, {CULL_F32, 0},
                {CULL_F64, UINT64_MAX}, {CULL_F64, 0}, {CULL_I32, UINT64_MAX}, {CULL_I64, 0}};
    uint8_t     u8[N * ROW];
    float       f32[N * ROW];
    double      f64[N * ROW];
    int32_t     i32[N * ROW];
    int64_t     i64[N * ROW];
    const void *data[] = {
        [CULL_U8] = u8, [CULL_F32] = f32, [CULL_F64] = f64, [CULL_I32] = i32, [CULL_I64] = i64};
    union {
        uint8_t bytes[ROW];
        float   floats[ROW];
    } buffer;

    (void)state;
    for (size_t i = 0; i < N * ROW; i++)
        f32[i] = (float)(f64[i] = (double)(i64[i] = i32[i] = u8[i] = (uint8_t)i));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        cull_dtype    dtype = ways[i].dtype;
        cull_dataset *set = NULL;
        const void   *row = NULL;
        const char   *path = write_pair("last.npz", "images", shaped(data[dtype], dtype, 4, shape),
                                        "labels", cull_vector(labels, CULL_I32, N));

        assert_ok(open_mapped(path, CULL_LAYOUT_TOLD, ways[i].map_from, &set));
        assert_int_equal(C, set->channels);
        assert_int_equal(H, set->height);
        assert_int_equal(W, set->width);
        assert_int_equal(dtype == CULL_U8 ? CULL_U8 : CULL_F32, set->dtype);
        for (size_t n = 0; n < N; n++) {
            assert_ok(cull_data_row_at(set, n, &buffer, &row));
            for (size_t c = 0; c < C; c++)
                for (size_t h = 0; h < H; h++)
                    for (size_t w = 0; w < W; w++) {
                        size_t at = (c * H + h) * W + w;
                        assert_int_equal(at_last(n, h, w, c), dtype == CULL_U8
                                                                  ? ((const uint8_t *)row)[at]
                                                                  : (int)((const float *)row)[at]);
                    }
        }
        assert_int_equal(1, set->remarks.count);
        assert_non_null(strstr(set->remarks.text[0], "their 3 channels last (data.layout=nhwc)"));
        cull_data_close(set);
    }
}

static void a_grey_image_is_not_turned_and_a_layout_is_honoured(void **state)
{
    uint8_t       x[N * ROW];
    cull_dataset *set = NULL, *again = NULL;
    const char   *path = NULL;
    cull_tensor   y = cull_vector(labels, CULL_I32, N);

    (void)state;
    for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)i;
    path = write_pair("grey.npz", "X", shaped(x, CULL_U8, 4, (int64_t[]){N, 12, 5, 1}), "Y", y);
    assert_ok(open_mapped(path, CULL_LAYOUT_TOLD, UINT64_MAX, &set));
    assert_int_equal(1, set->channels);
    assert_int_equal(12, set->height);
    assert_memory_equal(x, cull_data_base(set), sizeof x);
    cull_data_close(set);
    path = write_pair("two.npz", "x", shaped(x, CULL_U8, 4, (int64_t[]){N, 6, 5, 2}), "y", y);
    assert_fails(CULL_BAD_OPTION,
                 "two.npz has images of (N, 6, 5, 2), which may be nchw, 6 channels of 5 x 2, or "
                 "nhwc, 2 channels of 6 x 5; say which",
                 open_mapped(path, CULL_LAYOUT_TOLD, UINT64_MAX, &set));
    assert_string_equal("data.layout", cull_last_subject());
    assert_ok(open_mapped(path, CULL_LAYOUT_FIRST, UINT64_MAX, &set));
    assert_int_equal(6, set->channels);
    assert_memory_equal(x, cull_data_base(set), sizeof x);
    assert_ok(cull_data_write(set, path_in(folder, "said.npz")));
    assert_ok(open_mapped(path_in(folder, "said.npz"), CULL_LAYOUT_TOLD, UINT64_MAX, &again));
    assert_same_set(set, again);
    assert_fails(CULL_BAD_OPTION, "said.npz says itself that it is nchw",
                 open_mapped(path_in(folder, "said.npz"), CULL_LAYOUT_LAST, UINT64_MAX, &set));
    cull_data_close(set);
    cull_data_close(again);
    assert_ok(open_mapped(path, CULL_LAYOUT_LAST, UINT64_MAX, &set));
    assert_int_equal(2, set->channels);
    assert_int_equal(x[3], ((const uint8_t *)cull_data_base(set))[30 + 1]);
    assert_int_equal(0, set->remarks.count); /* it was said, not told */
    cull_data_close(set);
    path = write_pair("flat.npz", "x", cull_matrix(x, CULL_U8, N, ROW), "y", y);
    assert_fails(CULL_BAD_OPTION,
                 "data.layout: ", open_mapped(path, CULL_LAYOUT_LAST, UINT64_MAX, &set));
    path = write_pair("lines.npz", "x", shaped(x, CULL_U8, 3, (int64_t[]){N, 12, 5}), "y", y);
    assert_ok(open_mapped(path, CULL_LAYOUT_LAST, UINT64_MAX, &set));
    assert_int_equal(1, set->channels);
    cull_data_close(set);
}

static void names_that_people_use_are_understood(void **state)
{
    static const char *const pairs[][2] = {{"X", "y"},
                                           {"x", "Y"},
                                           {"images", "labels"},
                                           {"data", "target"},
                                           {"data", "label"},
                                           {"X_train", "y_train"},
                                           {"Xtrain", "ytrain"},
                                           {"train_images", "train_labels"},
                                           {"train_x", "train_y"},
                                           {"trainX", "trainY"},
                                           {"images_train", "labels_train"},
                                           {"training/inputs", "training/targets"},
                                           {"features", "labels"},
                                           {"Train-Data", "Train-Labels"}};
    static const char *const tests[][2] = {{"x_test", "y_test"},
                                           {"X_test", "y_test"},
                                           {"test_images", "test_labels"},
                                           {"x_val", "y_val"},
                                           {"validation_data", "validation_target"}};
    const uint8_t            x[4] = {1, 2, 3, 4};
    cull_tensor              xs = cull_matrix(x, CULL_U8, 2, 2);
    cull_tensor              ys = cull_vector(labels, CULL_I32, 2);
    cull_dataset            *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *path = write_pair("names.npz", pairs[i][0], xs, pairs[i][1], ys);
        assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &set));
        cull_data_close(set);
        assert_fails(CULL_BAD_FILE, "holds no test set",
                     open_set(path, CULL_DATA_TEST, NULL, &set));
    }
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const char *path = write_pair("names.npz", tests[i][0], xs, tests[i][1], ys);
        assert_ok(open_set(path, CULL_DATA_TEST, NULL, &set));
        assert_int_equal(i > 2, set->remarks.count);
        cull_data_close(set);
        assert_fails(CULL_BAD_FILE, "no two arrays are called x and y",
                     open_set(path, CULL_DATA_TRAIN, NULL, &set));
    }
    assert_fails(
        CULL_BAD_FILE, "it holds photos (2, 2) uint8, kinds (2) int32",
        open_set(write_pair("own.npz", "photos", xs, "kinds", ys), CULL_DATA_TRAIN, NULL, &set));
    assert_fails(
        CULL_BAD_FILE, "it holds x (2, 2) uint8, y_train (2) int32",
        open_set(write_pair("own.npz", "x", xs, "y_train", ys), CULL_DATA_TRAIN, NULL, &set));
}

static void a_test_file_gives_its_test_arrays(void **state)
{
    const uint8_t     x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    cull_tensor       trained = cull_matrix(x, CULL_U8, 2, 2);
    cull_tensor       tested = cull_matrix(x + 4, CULL_U8, 2, 2);
    cull_tensor       y = cull_vector(labels, CULL_I32, 2);
    const char       *path = path_in(folder, "both.npz");
    cull_data_request request = {.name = path};
    cull_dataset     *train = NULL, *set = NULL;

    (void)state;
    assert_ok(cull_arrays_write(
        path,
        (cull_array[]){{"x_train", trained}, {"y_train", y}, {"x_test", tested}, {"y_test", y}},
        4));
    assert_ok(cull_data_open(&request, &train));
    assert_int_equal(1, ((const uint8_t *)cull_data_base(train))[0]);
    assert_ok(cull_data_open_test(&request, train, &set));
    assert_int_equal(5, ((const uint8_t *)cull_data_base(set))[0]);
    assert_null(set->like);
    cull_data_close(set);
    request.name = write_pair("plain.npz", "x", tested, "y", y);
    assert_ok(cull_data_open_test(&request, train, &set));
    assert_int_equal(5, ((const uint8_t *)cull_data_base(set))[0]);
    cull_data_close(set);
    request.name = write_pair("trained.npz", "train_images", trained, "train_labels", y);
    assert_fails(CULL_BAD_OPTION,
                 "trained.npz holds a training set, train_images and train_labels, and no test set",
                 cull_data_open_test(&request, train, &set));
    assert_string_equal("data.test", cull_last_subject());
    cull_data_close(train);
}

static void what_is_predicted_needs_no_labels(void **state)
{
    const uint8_t     x[] = {1, 2, 3, 4};
    const char       *path = path_in(folder, "bare.npz");
    cull_data_request request = {.name = path, .unlabelled = true};
    cull_dataset     *train = random_set(CULL_U8, 8, 5, 2, 1, 1), *set = NULL;

    (void)state;
    assert_ok(cull_arrays_write(path, &(cull_array){"x_new", cull_matrix(x, CULL_U8, 2, 2)}, 1));
    assert_fails(CULL_BAD_FILE, "no array is called x, images, data or alike; it holds x_new",
                 cull_data_open_test(&request, train, &set));
    assert_ok(cull_arrays_write(path, &(cull_array){"X", cull_matrix(x, CULL_U8, 2, 2)}, 1));
    assert_ok(cull_data_open_test(&request, train, &set));
    assert_int_equal(2, set->count);
    assert_int_equal(0, cull_data_labels(set)[1]);
    assert_ok(cull_data_adopt(set, train));
    assert_int_equal(5, set->classes);
    cull_data_close(set);
    request.unlabelled = false;
    assert_fails(CULL_BAD_FILE, "it holds X (2, 2) uint8",
                 cull_data_open_test(&request, train, &set));
    cull_data_close(train);
}

/* Of two sets the role tells, also where one of them has no labels; and nobody minds what labels
 * there are. */
static void what_is_predicted_is_the_set_that_is_asked_for(void **state)
{
    const uint8_t     x[] = {1, 2, 3, 4, 5, 6};
    const int64_t     y[] = {-1, 70000};
    const cull_array  arrays[] = {{"x_test", cull_matrix(x, CULL_U8, 3, 2)},
                                  {"x_train", cull_matrix(x, CULL_U8, 2, 2)},
                                  {"y_train", cull_vector(y, CULL_I64, 2)}};
    const char       *path = path_in(folder, "both.npz");
    cull_data_request request = {.name = path, .unlabelled = true};
    cull_dataset     *set = NULL;

    (void)state;
    assert_ok(cull_arrays_write(path, arrays, 3));
    assert_ok(cull_data_open(&request, &set));
    assert_int_equal(2, set->count);
    assert_int_equal(0, cull_data_labels(set)[1]);
    cull_data_close(set);
    request.role = CULL_DATA_TEST;
    assert_ok(cull_data_open(&request, &set));
    assert_int_equal(3, set->count);
    cull_data_close(set);
}

static void targets_are_read_as_they_are_asked_for(void **state)
{
    const float       x[] = {1, 2, 3, 4}, real[] = {.5f, -1, 2, 3};
    const int64_t     several[] = {1, 0, 1, 1};
    cull_tensor       xs = cull_matrix(x, CULL_F32, 2, 2);
    cull_data_request request = {.target = CULL_TARGET_REAL};
    cull_dataset     *set = NULL;

    (void)state;
    request.name = write_pair("real.npz", "x", xs, "y", cull_matrix(real, CULL_F32, 2, 2));
    assert_ok(cull_data_open(&request, &set));
    assert_int_equal(CULL_TARGET_REAL, set->target.kind);
    assert_memory_equal(real, set->target.data, sizeof real);
    cull_data_close(set);
    request.target = CULL_TARGET_CLASSES;
    request.name = write_pair("several.npz", "x", xs, "y", cull_matrix(several, CULL_I64, 2, 2));
    assert_ok(cull_data_open(&request, &set));
    assert_memory_equal("\1\0\1\1", set->target.data, 4);
    cull_data_close(set);
    request.target = CULL_TARGET_CLASS;
    assert_fails(CULL_BAD_FILE, "those of example 1 are not one 1 and zeros",
                 cull_data_open(&request, &set));
}

static void own_arrays_follow_the_same_rule(void **state)
{
    static const int64_t shape[] = {N, H, W, C}, either[] = {N, 2, 5, 6};
    uint8_t              x[N * ROW] = {0};
    cull_tensor          xs = shaped(x, CULL_U8, 4, shape), y = cull_vector(labels, CULL_I32, N);
    cull_data_request    how = {.name = "own"};
    cull_dataset        *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)i;
    assert_ok(cull_data_take(&how, &xs, &y, &set));
    assert_int_equal(C, set->channels);
    assert_int_equal(at_last(1, 0, 1, 2),
                     ((const uint8_t *)cull_data_base(set))[ROW + 2 * H * W + 1]);
    cull_data_close(set);
    xs = shaped(x, CULL_U8, 4, either);
    assert_fails(CULL_BAD_OPTION, "data.layout: own has images of (N, 2, 5, 6)",
                 cull_data_take(&how, &xs, &y, &set));
    how.layout = CULL_LAYOUT_FIRST;
    assert_ok(cull_data_take(&how, &xs, &y, &set));
    assert_int_equal(2, set->channels);
    cull_data_close(set);
}

/* ---- names of classes ---- */

static const char *const spelled[] = {"a", "\xc3\xb6l", "\xf0\x9f\x90\x84 cow"};

/* A set whose classes have names, written; released by the caller. */
static cull_dataset *write_named(const char *path)
{
    cull_dataset *set = random_set(CULL_U8, N, 3, 1, H, W);

    for (size_t k = 0; k < 3; k++)
        assert_ok(cull_texts_add(&set->class_names, spelled[k], strlen(spelled[k])));
    assert_ok(cull_data_write(set, path));
    return set;
}

static cull_dataset *opened(const char *path)
{
    cull_dataset *set = NULL;

    assert_ok(open_mapped(path, CULL_LAYOUT_TOLD, UINT64_MAX, &set));
    return set;
}

/* A .npy file of a matrix or vector, or of texts by their characters. */
static void write_npy(const char *path, cull_tensor t, bool texts)
{
    char           header[CULL_DATA_NPY_HEADER];
    cull_data_sink sink = {.fd = -1};
    size_t   length = (texts ? cull_data_npy_letters_header : cull_data_npy_header)(&t, header);
    uint64_t bytes = 0;

    assert_ok(cull_data_npy_bytes(&t, path, &bytes));
    assert_ok(cull_data_sink_open(path, &sink));
    assert_ok(cull_data_sink_write(&sink, header, length));
    assert_ok(cull_data_sink_write(&sink, t.data, bytes));
    assert_ok(cull_data_sink_commit(&sink));
    cull_data_sink_close(&sink);
}

/* x, y and the characters of class_names, in a folder. */
static void write_folder(const char *name, const int32_t *letters, size_t count, size_t length)
{
    static uint8_t x[N * ROW];
    char           file[64];

    (void)mkdir(path_in(folder, name), 0777);
    (void)snprintf(file, sizeof file, "%s/x.npy", name);
    write_npy(path_in(folder, file), cull_matrix(x, CULL_U8, N, ROW), false);
    (void)snprintf(file, sizeof file, "%s/y.npy", name);
    write_npy(path_in(folder, file), cull_vector((void *)(uintptr_t)labels, CULL_I32, N), false);
    (void)snprintf(file, sizeof file, "%s/class_names.npy", name);
    write_npy(path_in(folder, file),
              cull_matrix((void *)(uintptr_t)letters, CULL_I32, count, length), true);
}

static void names_of_classes_are_written_and_read(void **state)
{
    static const int32_t more[4][2] = {{'k'}, {'l', 'm'}, {0x10ffff}, {'n'}};
    cull_dataset        *set = write_named(path_in(folder, "names.npz")),
                 *back = opened(path_in(folder, "names.npz"));

    (void)state;
    assert_same_set(set, back);
    assert_int_equal(3, back->class_names.count);
    for (size_t k = 0; k < 3; k++) assert_string_equal(spelled[k], back->class_names.text[k]);
    cull_data_close(back);
    cull_data_close(set);
    /* In a folder, for more classes than there are labels of. */
    write_folder("d", more[0], 4, 2);
    assert_ok(open_set(path_in(folder, "d"), CULL_DATA_TRAIN, NULL, &back));
    assert_int_equal(4, back->classes);
    assert_string_equal("lm", back->class_names.text[1]);
    assert_string_equal("\xf4\x8f\xbf\xbf", back->class_names.text[2]);
    cull_data_close(back);
}

static void names_that_cannot_be_used_are_remarked(void **state)
{
    static const struct {
        int32_t     letters[3][2];
        size_t      count;
        const char *remark;
    } cases[] = {
        {{{'a'}, {'b'}}, 2, "class_names has 2 names for 3 classes"},
        {{{'a'}, {0}, {'c'}}, 3, "text 1 of class_names is empty"},
        {{{'a'}, {'b', '\n'}, {'c'}}, 3, "text 1 of class_names is empty, or holds control"},
        {{{'a'}, {0, 'b'}, {'c'}}, 3, "class_names holds what is no text"},
        {{{'a'}, {-1}, {'c'}}, 3, "class_names holds what is no text"},
        {{{'a'}, {0xd800}, {'c'}}, 3, "control characters"},
        {{{'a'}, {0x110000}, {'c'}}, 3, "class_names holds what is no text"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_dataset *set = NULL;
        write_folder("odd", cases[i].letters[0], cases[i].count, 2);
        assert_ok(open_set(path_in(folder, "odd"), CULL_DATA_TRAIN, NULL, &set));
        assert_int_equal(0, set->class_names.count);
        assert_int_equal(3, set->classes);
        assert_non_null(strstr(set->remarks.text[0], cases[i].remark));
        cull_data_close(set);
    }
}

/* Targets that are no class go the same way. */
static void other_targets_are_written_and_read(void **state)
{
    (void)state;
    for (int kind = CULL_TARGET_CLASSES; kind <= CULL_TARGET_REAL; kind++) {
        cull_dataset     *set = NULL, *back = NULL;
        const char       *path = path_in(folder, "targets.npz");
        cull_data_request request = {.name = path, .target = (cull_target_kind)kind};

        assert_ok(cull_data_create("other", &set));
        assert_ok(cull_data_shape(set, "other", CULL_F32, 2, 1, 1));
        cull_data_aim(set, request.target, 3);
        assert_ok(cull_data_extend(set, "other", N));
        memset(cull_data_base(set), 0, N * cull_data_row_bytes(set));
        for (size_t i = 0; i < 3 * N; i++)
            if (kind == CULL_TARGET_REAL)
                ((float *)set->target.data)[i] = (float)i / 2;
            else
                ((uint8_t *)set->target.data)[i] = i % 2;
        set->count = N;
        assert_ok(cull_data_write(set, path));
        assert_ok(cull_data_open(&request, &back));
        assert_int_equal(3, back->target.width);
        assert_memory_equal(set->target.data, back->target.data, N * cull_data_target_bytes(set));
        cull_data_close(back);
        cull_data_close(set);
    }
}

struct opening {
    const char *path;
    uint64_t    map_from;
};

static cull_status try_to_open(void *context)
{
    const struct opening *o = context;
    cull_dataset         *set = NULL;
    cull_status           status = open_mapped(o->path, CULL_LAYOUT_TOLD, o->map_from, &set);

    cull_data_close(set);
    return status;
}

static cull_status try_to_write(void *context)
{
    return cull_data_write(context, path_in(folder, "fail_anew.npz"));
}

static void survives_every_allocation_failure(void **state)
{
    static const int64_t shape[] = {N, H, W, C};
    uint8_t              x[N * ROW] = {0};
    float                f[N * ROW] = {0};
    char                 path[512];
    cull_dataset        *set = NULL;

    (void)state;
    for (int way = 0; way < 4; way++) {
        (void)snprintf(
            path, sizeof path, "%s",
            write_pair("fail.npz", "x",
                       way % 2 ? shaped(x, CULL_U8, 4, shape) : shaped(f, CULL_F32, 4, shape), "y",
                       cull_vector(labels, CULL_I32, N)));

        assert_survives(try_to_open, &(struct opening){path, way < 2 ? 0 : UINT64_MAX});
    }
    (void)snprintf(path, sizeof path, "%s", path_in(folder, "fail.npz"));
    set = write_named(path);
    assert_survives(try_to_open, &(struct opening){path, 0});
    assert_survives(try_to_write, set);
    cull_data_close(set);
}

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shape_tells_where_its_channels_are),
        cmocka_unit_test(channels_last_become_channels_first),
        cmocka_unit_test(a_grey_image_is_not_turned_and_a_layout_is_honoured),
        cmocka_unit_test(names_that_people_use_are_understood),
        cmocka_unit_test(a_test_file_gives_its_test_arrays),
        cmocka_unit_test(what_is_predicted_needs_no_labels),
        cmocka_unit_test(what_is_predicted_is_the_set_that_is_asked_for),
        cmocka_unit_test(targets_are_read_as_they_are_asked_for),
        cmocka_unit_test(own_arrays_follow_the_same_rule),
        cmocka_unit_test(names_of_classes_are_written_and_read),
        cmocka_unit_test(names_that_cannot_be_used_are_remarked),
        cmocka_unit_test(other_targets_are_written_and_read),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
