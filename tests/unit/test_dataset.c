/* tests/unit/test_dataset.c - properties of sets in memory, array sets, and finding sets by name.
 */
#include "data/dataset.h"

#include <math.h>

#include "files.h"

static char folder[] = FOLDER_TEMPLATE;

static const char *write_arrays(const char *name, const cull_array *arrays, size_t count)
{
    const char *path = path_in(folder, name);

    assert_ok(cull_arrays_write(path, arrays, count));
    return path;
}

static cull_tensor tensor(const void *data, cull_dtype dtype, int dims, const int64_t *shape)
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

static void gathered_and_kept_examples_have_all_they_had(void **state)
{
    static const uint32_t places[] = {9, 0, 9, 4}, kept[] = {0, 3, 4, 9};
    cull_dataset         *set = random_set(CULL_F32, 10, 3, 2, 2, 2), *some = NULL, *same = NULL;

    (void)state;
    set->marks[9] = CULL_DATA_MARK_LABEL;
    assert_ok(cull_data_gather(set, places, 4, &some));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(places[i], some->origin[i]);
        assert_int_equal(cull_data_labels(set)[places[i]], cull_data_labels(some)[i]);
        assert_int_equal(set->marks[places[i]], some->marks[i]);
        assert_memory_equal(row_of(set, places[i]), row_of(some, i), 32);
    }
    assert_ok(cull_data_gather(set, kept, 4, &same));
    cull_data_keep(set, kept, 4);
    assert_same_set(set, same);
    cull_data_close(set);
    cull_data_close(some);
    cull_data_close(same);
}

static void means_and_deviations_are_those_of_each_channel(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *set = random_set(types[t], 50, 2, 3, 4, 5);
        for (size_t c = 0; c < 3; c++) {
            double sum = 0, square = 0;
            for (size_t i = 0; i < 50; i++)
                for (size_t j = 0; j < 20; j++) {
                    size_t at = (i * 3 + c) * 20 + j;
                    double x = types[t] == CULL_U8 ? ((uint8_t *)cull_data_base(set))[at] / 255.
                                                   : (double)((float *)cull_data_base(set))[at];
                    sum += x;
                    square += x * x;
                }
            assert_true(fabs(set->mean[c] - sum / 1000) < 1e-12);
            assert_true(fabs(set->deviation[c] - sqrt(square / 1000 - sum * sum / 1e6)) < 1e-12);
        }
        assert_false(set->published);
        cull_data_close(set);
    }
}

static void a_channel_that_never_changes_is_divided_by_one(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *set = random_set(types[t], 1001, 2, 2, 1, 1);
        for (size_t i = 0; i < 1001; i++) {
            if (types[t] == CULL_U8)
                ((uint8_t *)cull_data_base(set))[2 * i] = 77;
            else
                ((float *)cull_data_base(set))[2 * i] = .1f;
        }
        assert_ok(cull_data_measure(set));
        assert_true(set->deviation[0] == 1);
        assert_true(set->deviation[1] != 1);
        assert_true(fabs(set->mean[0] - (types[t] == CULL_U8 ? 77 / 255. : (double).1f)) < 1e-12);
        cull_data_close(set);
    }
}

static void a_test_set_adopts_what_the_training_set_says(void **state)
{
    cull_dataset *train = random_set(CULL_U8, 60, 5, 1, 4, 4);
    cull_dataset *test = random_set(CULL_U8, 20, 3, 1, 4, 4);
    cull_dataset *other = random_set(CULL_U8, 20, 3, 1, 4, 5);

    (void)state;
    assert_ok(cull_data_adopt(test, train));
    assert_int_equal(5, test->classes);
    assert_true(test->mean[0] == train->mean[0] && test->deviation[0] == train->deviation[0]);
    cull_data_labels(test)[7] = 5;
    assert_fails(CULL_BAD_ARGUMENT, "example 7 is of class 5; 5 classes were trained on",
                 cull_data_adopt(test, train));
    assert_fails(CULL_BAD_ARGUMENT, "1 x 4 x 5, but trained on uint8 1 x 4 x 4",
                 cull_data_adopt(other, train));
    cull_data_close(train);
    cull_data_close(test);
    cull_data_close(other);
}

static void name_classes(cull_dataset *set, const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++)
        assert_ok(cull_texts_add(&set->class_names, names[k], strlen(names[k])));
}

static void classes_with_names_are_numbered_by_them(void **state)
{
    static const char *const trained[] = {"cat", "dog", "owl"}, *const tested[] = {"owl", "cat"},
                             *const unknown[] = {"cat", "cow"};
    cull_dataset                   *train = random_set(CULL_U8, 6, 3, 1, 2, 2), *some = NULL;
    cull_dataset                   *test = random_set(CULL_U8, 4, 2, 1, 2, 2);
    cull_dataset                   *other = random_set(CULL_U8, 4, 2, 1, 2, 2);

    (void)state;
    name_classes(train, trained, 3);
    name_classes(test, tested, 2);
    name_classes(other, unknown, 2);
    assert_ok(cull_data_adopt(test, train));
    for (size_t i = 0; i < 4; i++) assert_int_equal(i % 2 ? 0 : 2, cull_data_labels(test)[i]);
    assert_int_equal(3, test->class_names.count);
    assert_string_equal("dog", test->class_names.text[1]);
    assert_fails(CULL_BAD_ARGUMENT, "class 'cow' is none of those trained on",
                 cull_data_adopt(other, train));
    assert_ok(cull_data_gather(train, (const uint32_t[]){5}, 1, &some));
    assert_string_equal("owl", some->class_names.text[2]);
    cull_data_close(some);
    cull_data_close(train);
    cull_data_close(test);
    cull_data_close(other);
}

static void expect_labels(const cull_dataset *set, const int32_t *labels)
{
    for (size_t i = 0; i < set->count; i++) assert_int_equal(labels[i], cull_data_labels(set)[i]);
}

static bool remarks_on(const cull_dataset *set, const char *words)
{
    for (size_t i = 0; i < set->remarks.count; i++)
        if (strstr(set->remarks.text[i], words)) return true;
    return false;
}

/* Labels of examples are 0, 1, ..., classes-1 and again. */
static void names_that_are_numbers_mean_those_numbers(void **state)
{
    static const char *const folders[] = {"0", "1", "10", "2"}, *const two[] = {"1", "2", "cat"};
    cull_dataset *named = random_set(CULL_U8, 4, 4, 1, 2, 2);
    cull_dataset *plain = random_set(CULL_U8, 3, 3, 1, 2, 2);
    cull_dataset *large = random_set(CULL_U8, 11, 11, 1, 2, 2);
    cull_dataset *mixed = random_set(CULL_U8, 3, 3, 1, 2, 2);
    cull_dataset *other = random_set(CULL_U8, 3, 3, 1, 2, 2);

    (void)state;
    name_classes(named, folders, 4);
    name_classes(mixed, two, 3);
    assert_ok(cull_data_adopt(plain, named));
    expect_labels(plain, (const int32_t[]){0, 1, 3});
    assert_true(remarks_on(plain, "names like '2' in the other: the number counts"));
    assert_string_equal("10", plain->class_names.text[2]);
    assert_fails(CULL_BAD_ARGUMENT,
                 "example 3 is of class 3, and none of those trained on is called so",
                 cull_data_adopt(large, named));
    assert_ok(cull_data_adopt(named, large));
    expect_labels(named, (const int32_t[]){0, 1, 10, 2});
    assert_true(remarks_on(named, "names like '10' in the other"));
    assert_int_equal(0, named->class_names.count);
    cull_data_labels(other)[0] = 1;
    assert_ok(cull_data_adopt(other, mixed));
    expect_labels(other, (const int32_t[]){0, 0, 1});
    assert_fails(CULL_BAD_ARGUMENT, "class 'cat' is none of those trained on",
                 cull_data_adopt(mixed, large));
    cull_data_close(named);
    cull_data_close(plain);
    cull_data_close(large);
    cull_data_close(mixed);
    cull_data_close(other);
}

static void a_number_that_two_names_may_be_is_refused(void **state)
{
    static const char *const twice[] = {"01", "1", "2"};
    cull_dataset            *train = random_set(CULL_U8, 3, 3, 1, 2, 2);
    cull_dataset            *test = random_set(CULL_U8, 3, 3, 1, 2, 2);

    (void)state;
    name_classes(train, twice, 3);
    assert_fails(CULL_BAD_ARGUMENT, "label 1 may be class '01' or '1' of those trained on",
                 cull_data_adopt(test, train));
    cull_data_close(train);
    cull_data_close(test);
}

static void other_names_beside_numbers_are_taken_in_their_order_and_remarked(void **state)
{
    static const char *const names[] = {"cat", "dog", "owl"};
    cull_dataset            *named = random_set(CULL_U8, 6, 3, 1, 2, 2);
    cull_dataset            *plain = random_set(CULL_U8, 3, 3, 1, 2, 2);
    cull_dataset            *other = random_set(CULL_U8, 3, 3, 1, 2, 2);

    (void)state;
    name_classes(named, names, 3);
    assert_ok(cull_data_adopt(plain, named));
    expect_labels(plain, (const int32_t[]){0, 1, 2});
    assert_true(remarks_on(plain, "its classes have numbers, and those trained on names: names are "
                                  "taken in their order, 'cat' for 0, 'dog' for 1 and so on"));
    assert_ok(cull_data_adopt(named, other));
    expect_labels(named, (const int32_t[]){0, 1, 2, 0, 1, 2});
    assert_true(remarks_on(named, "its classes have names, and those trained on numbers"));
    cull_data_close(named);
    cull_data_close(plain);
    cull_data_close(other);
}

static void inputs_with_names_on_one_side_alone_are_remarked_on(void **state)
{
    cull_dataset *named = random_set(CULL_F32, 4, 2, 2, 1, 1);
    cull_dataset *plain = random_set(CULL_F32, 4, 2, 2, 1, 1);
    cull_dataset *other = random_set(CULL_F32, 4, 2, 2, 1, 1);

    (void)state;
    assert_ok(cull_texts_add(&named->feature_names, "a", 1));
    assert_ok(cull_texts_add(&named->feature_names, "b", 1));
    assert_ok(cull_data_adopt(plain, named));
    assert_true(remarks_on(plain, "has no names of columns"));
    assert_ok(cull_data_adopt(named, other));
    assert_true(remarks_on(named, "what was trained on has no names of columns"));
    assert_int_equal(0, other->remarks.count);
    cull_data_close(named);
    cull_data_close(plain);
    cull_data_close(other);
}

static void a_remark_is_kept_once_and_goes_with_the_examples(void **state)
{
    cull_dataset *set = random_set(CULL_U8, 4, 2, 1, 2, 2), *some = NULL;

    (void)state;
    assert_ok(cull_data_remark(set, "class %d is empty", 3));
    assert_ok(cull_data_remark(set, "class %d is empty", 3));
    for (int i = 0; i < 100; i++) assert_ok(cull_data_remark(set, "remark %d", i));
    assert_int_equal(32, set->remarks.count);
    assert_ok(cull_data_gather(set, (const uint32_t[]){0}, 1, &some));
    assert_string_equal("class 3 is empty", some->remarks.text[0]);
    cull_data_close(some);
    cull_data_close(set);
}

static void what_is_asked_for_in_vain_is_refused(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "data.size: cifar10 holds no pictures to be scaled",
                 cull_data_open(&(cull_data_request){.name = "cifar10", .side = 8}, &set));
    assert_string_equal("data.size", cull_last_subject());
    assert_fails(CULL_BAD_OPTION, "data.label",
                 cull_data_open(&(cull_data_request){.name = "mnist", .label = "y"}, &set));
    assert_fails(
        CULL_BAD_OPTION, "data.layout",
        cull_data_open(&(cull_data_request){.name = "mnist", .layout = CULL_LAYOUT_LAST}, &set));
}

static void what_is_written_is_opened_again(void **state)
{
    static const struct {
        cull_dtype dtype;
        size_t     c, h, w;
    } cases[] = {{CULL_U8, 3, 4, 5}, {CULL_U8, 6, 1, 1}, {CULL_F32, 7, 1, 1}, {CULL_F32, 1, 2, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_dataset *set = random_set(cases[i].dtype, 11, 4, cases[i].c, cases[i].h, cases[i].w);
        cull_dataset *back = NULL;
        const char   *path = path_in(folder, "written.npz");
        assert_ok(cull_data_write(set, path));
        assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
        assert_same_set(set, back);
        assert_string_equal("written.npz", back->name);
        cull_data_close(set);
        cull_data_close(back);
    }
}

static void every_pair_of_names_and_types_is_understood(void **state)
{
    static const int64_t shape[] = {2, 3, 2};
    const uint8_t        y8[] = {1, 0};
    const int64_t        y64[] = {3, 0};
    const int32_t        y32[] = {0, 2};
    double               x64[12];
    uint8_t              x8[12];
    cull_dataset        *set = NULL;
    const char          *path = NULL;

    (void)state;
    for (int i = 0; i < 12; i++) {
        x64[i] = i / 8.;
        x8[i] = (uint8_t)i;
    }
    path = write_arrays("names.npz",
                        (cull_array[]){{"data", tensor(x8, CULL_U8, 3, shape)},
                                       {"labels", cull_vector(y8, CULL_U8, 2)},
                                       {"x_train", tensor(x64, CULL_F64, 3, shape)},
                                       {"y_train", cull_vector(y64, CULL_I64, 2)},
                                       {"x_test", cull_matrix(x8, CULL_U8, 2, 6)},
                                       {"y_test", cull_vector(y32, CULL_I32, 2)}},
                        6);
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(CULL_F32, set->dtype);
    assert_int_equal(4, set->classes);
    assert_int_equal(3, set->height);
    assert_int_equal(2, set->width);
    assert_true(((float *)cull_data_base(set))[11] == 11 / 8.f);
    cull_data_close(set);
    assert_ok(open_set(path, CULL_DATA_TEST, NULL, &set));
    assert_int_equal(CULL_U8, set->dtype);
    assert_int_equal(6, set->channels);
    assert_int_equal(2, cull_data_labels(set)[1]);
    cull_data_close(set);
    path = write_arrays("data.npz",
                        (cull_array[]){{"data", tensor(x8, CULL_U8, 3, shape)},
                                       {"labels", cull_vector(y8, CULL_U8, 2)}},
                        2);
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(2, set->classes);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set", open_set(path, CULL_DATA_TEST, NULL, &set));
}

/* The one array of an archive, as a .npy file. */
static void write_npy(const char *name, cull_tensor t)
{
    char   header[256], file[1024];
    size_t head = 0, bytes = cull_dtype_size(t.dtype);

    for (int d = 0; d < t.dims; d++) bytes *= (size_t)t.shape[d];
    head = (size_t)snprintf(
        header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,%s), }\n",
        t.dtype == CULL_U8 ? "|u1" : "<i4", (long long)t.shape[0], t.dims == 2 ? " 6" : "");
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)head;
    file[9] = 0;
    memcpy(file + 10, header, head);
    memcpy(file + 10 + head, t.data, bytes);
    put_file(path_in(folder, name), file, 10 + head + bytes);
}

static void labels_lie_beside_a_npy_file(void **state)
{
    uint8_t       x[12] = {1, 2, 3};
    int32_t       y[] = {4, 1};
    cull_dataset *set = NULL;

    (void)state;
    write_npy("a.npy", cull_matrix(x, CULL_U8, 2, 6));
    assert_fails(CULL_IO, "a_labels.npy: cannot open",
                 open_set(path_in(folder, "a.npy"), CULL_DATA_TRAIN, NULL, &set));
    write_npy("a_labels.npy", cull_vector(y, CULL_I32, 2));
    assert_ok(open_set(path_in(folder, "a.npy"), CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(5, set->classes);
    assert_int_equal(6, set->channels);
    assert_int_equal(4, cull_data_labels(set)[0]);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set",
                 open_set(path_in(folder, "a.npy"), CULL_DATA_TEST, NULL, &set));
}

static void arrays_that_are_no_set_are_named(void **state)
{
    static const int64_t flat[] = {4}, square[] = {2, 2}, large[] = {1, 5000, 1};
    static float         many[5000];
    const float          nan[] = {0, 1, NAN, 3};
    const double         huge[] = {0, 1, 2, 1e300};
    const int32_t        y[] = {0, 1, 2, 3}, negative[] = {0, -1};
    const int64_t        far[] = {0, 65536};
    const uint8_t        pixels[] = {1, 2, 3, 4};
    cull_dataset        *set = NULL;

    (void)state;
#define REFUSED(sentence, xs, ys)                                                                  \
    assert_fails(CULL_BAD_FILE, sentence,                                                          \
                 open_set(write_arrays("bad.npz", (cull_array[]){{"x", xs}, {"y", ys}}, 2),        \
                          CULL_DATA_TRAIN, NULL, &set))
    REFUSED("inputs of 1 dimension", tensor(pixels, CULL_U8, 1, flat), cull_vector(y, CULL_I32, 4));
    REFUSED("2 inputs and 3 labels", tensor(pixels, CULL_U8, 2, square),
            cull_vector(y, CULL_I32, 3));
    REFUSED("label nan of example 0; 0 to 65535", tensor(pixels, CULL_U8, 2, square),
            cull_vector(nan + 2, CULL_F32, 2));
    REFUSED("label -1 of example 1; 0 to 65535", tensor(pixels, CULL_U8, 2, square),
            cull_vector(negative, CULL_I32, 2));
    REFUSED("label 65536 of example 1", tensor(pixels, CULL_U8, 2, square),
            cull_vector(far, CULL_I64, 2));
    REFUSED("number 0 of example 1 is not finite", tensor(nan, CULL_F32, 2, square),
            cull_vector(y, CULL_I32, 2));
    REFUSED("number 1 of example 1 is not finite", tensor(huge, CULL_F64, 2, square),
            cull_vector(y, CULL_I32, 2));
    REFUSED("a side is at most 4096", tensor(many, CULL_F32, 3, large),
            cull_vector(y, CULL_I32, 1));
    REFUSED("0 inputs", tensor(pixels, CULL_U8, 2, ((int64_t[]){0, 2})),
            cull_vector(y, CULL_I32, 0));
    REFUSED("none may be 0", tensor(pixels, CULL_U8, 2, ((int64_t[]){2, 0})),
            cull_vector(y, CULL_I32, 2));
#undef REFUSED
    assert_fails(CULL_BAD_FILE, "it holds z (2) int32",
                 open_set(write_arrays("z.npz", &(cull_array){"z", cull_vector(y, CULL_I32, 2)}, 1),
                          CULL_DATA_TRAIN, NULL, &set));
    put_file(path_in(folder, "text.npz"), "hello", 5);
    assert_fails(CULL_BAD_FILE, "neither a .npy nor a .npz",
                 open_set(path_in(folder, "text.npz"), CULL_DATA_TRAIN, NULL, &set));
}

static void imagenet_batches_become_one_set(void **state)
{
    static uint8_t x[2 * 3072];
    int64_t        y[] = {1, 1000};
    cull_dataset  *set = NULL;
    cull_array     arrays[] = {{"data", cull_matrix(x, CULL_U8, 2, 3072)},
                               {"labels", cull_vector(y, CULL_I64, 2)}};
    char           name[64];

    (void)state;
    assert_int_equal(0, mkdir(path_in(folder, "imagenet32"), 0700));
    for (int b = 1; b <= 10; b++) {
        memset(x, b, sizeof x);
        x[3072 + 1024] = 200; /* green, first pixel of the second */
        (void)snprintf(name, sizeof name, "imagenet32/train_data_batch_%d.npz", b);
        (void)write_arrays(name, arrays, 2);
        if (b == 9)
            assert_fails(CULL_NOT_FOUND, "imagenet32: no train_data_batch_10.npz in /tmp/",
                         open_set("imagenet32", CULL_DATA_TRAIN, folder, &set));
    }
    assert_ok(open_set("imagenet32", CULL_DATA_TRAIN, folder, &set));
    assert_int_equal(20, set->count);
    assert_int_equal(1000, set->classes);
    assert_int_equal(3, set->channels);
    assert_int_equal(32, set->width);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(i % 2 ? 999 : 0, cull_data_labels(set)[i]);
        assert_int_equal(i, set->origin[i]);
        assert_int_equal(i / 2 + 1, ((uint8_t *)cull_data_base(set))[i * 3072]);
        assert_int_equal(i % 2 ? 200 : i / 2 + 1,
                         ((uint8_t *)cull_data_base(set))[i * 3072 + 1024]);
    }
    assert_false(set->published);
    cull_data_close(set);
    assert_fails(CULL_NOT_FOUND, "val_data.npz",
                 open_set("imagenet32", CULL_DATA_TEST, folder, &set));
    y[0] = 0;
    (void)write_arrays("imagenet32/val_data.npz", arrays, 2);
    assert_fails(CULL_BAD_FILE, "label 0 of example 0; 1 to 1000",
                 open_set("imagenet32", CULL_DATA_TEST, folder, &set));
    y[0] = 1;
    arrays[0].tensor.shape[1] = 3071;
    (void)write_arrays("imagenet32/val_data.npz", arrays, 2);
    assert_fails(CULL_BAD_FILE, "data is not (N, 3072)",
                 open_set("imagenet32", CULL_DATA_TEST, folder, &set));
}

static void a_missing_set_says_what_was_looked_for_where_and_what_to_do(void **state)
{
    cull_dataset *set = NULL;
    char         *kept = getenv("CULL_DATA");
    char          value[512] = "";

    (void)state;
    if (kept) (void)snprintf(value, sizeof value, "%s", kept);
    assert_int_equal(0, unsetenv("CULL_DATA"));
    assert_fails(CULL_NOT_FOUND,
                 "cifar10: no folder to look in; set CULL_DATA to the one that holds "
                 "cifar-10-batches-bin/",
                 open_set("cifar10", CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(0, setenv("CULL_DATA", "/nowhere", 1));
    assert_fails(CULL_NOT_FOUND,
                 "cifar10: no data_batch_1.bin in /nowhere/cifar-10-batches-bin, "
                 "/nowhere/cifar10; unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                 open_set("cifar10", CULL_DATA_TRAIN, NULL, &set));
    assert_fails(CULL_NOT_FOUND, "mnist: no t10k-images-idx3-ubyte or .gz in /elsewhere/mnist, ",
                 open_set("mnist", CULL_DATA_TEST, "/elsewhere", &set));
    assert_fails(CULL_UNKNOWN_SET, "no data set is called 'cifar'; there are mnist, fashion-mnist",
                 open_set("cifar", CULL_DATA_TRAIN, NULL, &set));
    assert_fails(CULL_IO, "/nowhere/x.npz: cannot open",
                 open_set("/nowhere/x.npz", CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(0, *value ? setenv("CULL_DATA", value, 1) : unsetenv("CULL_DATA"));
}

static void the_list_says_what_is_found_where(void **state)
{
    static const uint8_t record[3073] = {7};
    cull_data_listing    line = {0};
    size_t               count = 0;
    cull_dataset        *set = NULL;

    (void)state;
    assert_int_equal(0, mkdir(path_in(folder, "cifar10"), 0700));
    put_file(path_in(folder, "cifar10/test_batch.bin"), record, sizeof record);
    for (; cull_data_list(folder, count, &line); count++) {
        assert_true(line.name && line.doc);
        if (strcmp(line.name, "cifar10") != 0) continue;
        assert_false(line.train);
        assert_true(line.test);
        assert_string_equal(path_in(folder, "cifar10"), line.folder);
    }
    assert_int_equal(7, count);
    assert_ok(open_set("cifar10", CULL_DATA_TEST, folder, &set));
    assert_int_equal(1, set->count);
    assert_true(set->published);
    assert_true(set->mean[2] == .4465 && set->deviation[0] == .2470);
    cull_data_close(set);
    assert_fails(CULL_NOT_FOUND, "no data_batch_1.bin",
                 open_set("cifar10", CULL_DATA_TRAIN, folder, &set));
    put_file(path_in(folder, "cifar10/data_batch_1.bin"), record, sizeof record);
    assert_fails(CULL_NOT_FOUND, "no data_batch_2.bin",
                 open_set("cifar10", CULL_DATA_TRAIN, folder, &set));
}

static void survives_every_allocation_failure(void **state)
{
    cull_dataset *set = random_set(CULL_F32, 11, 4, 2, 3, 4);
    const char   *path = path_in(folder, "written.npz");
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_data_write(set, path));
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *back = NULL;
        fail_nth_alloc(n);
        status = open_set(path, CULL_DATA_TRAIN, NULL, &back);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_data_close(back);
    }
    cull_data_close(set);
}

/* Published facts of the real sets: counts, labels at both ends, sums of the first and last
 * image, and that the constants used are those of the training set to four digits. */
struct fact {
    const char    *name;
    cull_data_role role;
    size_t         count, classes;
    int32_t        first, last;
    unsigned       first_sum, last_sum;
};

static unsigned sum_of(const cull_dataset *set, size_t i)
{
    size_t   row = cull_data_row(set);
    unsigned sum = 0;

    for (size_t j = 0; j < row; j++) sum += ((uint8_t *)cull_data_base(set))[i * row + j];
    return sum;
}

static void check_fact(const struct fact *fact)
{
    cull_dataset *set = NULL;
    double        mean[3], deviation[3];

    assert_ok(open_set(fact->name, fact->role, NULL, &set));
    assert_int_equal(fact->count, set->count);
    assert_int_equal(fact->classes, set->classes);
    assert_int_equal(fact->first, cull_data_labels(set)[0]);
    assert_int_equal(fact->last, cull_data_labels(set)[set->count - 1]);
    assert_int_equal(fact->first_sum, sum_of(set, 0));
    assert_int_equal(fact->last_sum, sum_of(set, set->count - 1));
    assert_true(set->published);
    if (fact->role == CULL_DATA_TRAIN) {
        memcpy(mean, set->mean, set->channels * sizeof *mean);
        memcpy(deviation, set->deviation, set->channels * sizeof *deviation);
        assert_ok(cull_data_measure(set));
        for (size_t c = 0; c < set->channels; c++) {
            assert_true(fabs(mean[c] - set->mean[c]) < 1e-4);
            assert_true(fabs(deviation[c] - set->deviation[c]) < 1e-4);
        }
    }
    cull_data_close(set);
}

static void real_sets_hold_what_was_published(void **state)
{
    static const struct fact facts[] = {
        {"fashion-mnist", CULL_DATA_TRAIN, 60000, 10, 9, 5, 76247, 16684},
        {"fashion-mnist", CULL_DATA_TEST, 10000, 10, 9, 5, 33456, 24390},
        {"mnist", CULL_DATA_TRAIN, 60000, 10, 5, 8, 27525, 20920},
        {"mnist", CULL_DATA_TEST, 10000, 10, 7, 6, 18454, 41833},
        {"cifar10", CULL_DATA_TRAIN, 50000, 10, 6, 1, 317790, 405136},
        {"cifar10", CULL_DATA_TEST, 10000, 10, 3, 7, 332962, 331662},
        {"cifar100", CULL_DATA_TRAIN, 50000, 100, 19, 73, 424846, 268402},
        {"cifar100", CULL_DATA_TEST, 10000, 100, 49, 70, 559205, 328923},
    };
    size_t skipped = 0;

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        cull_data_listing line = {0};
        bool              there = false;
        for (size_t k = 0; cull_data_list(NULL, k, &line); k++)
            if (strcmp(line.name, facts[i].name) == 0)
                there = facts[i].role == CULL_DATA_TRAIN ? line.train : line.test;
        if (there)
            check_fact(&facts[i]);
        else
            print_message("skipped: %s is not here (CULL_DATA)\n", facts[i].name);
        skipped += !there;
    }
    if (skipped == sizeof facts / sizeof *facts) skip();
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
        cmocka_unit_test(gathered_and_kept_examples_have_all_they_had),
        cmocka_unit_test(means_and_deviations_are_those_of_each_channel),
        cmocka_unit_test(a_channel_that_never_changes_is_divided_by_one),
        cmocka_unit_test(a_test_set_adopts_what_the_training_set_says),
        cmocka_unit_test(classes_with_names_are_numbered_by_them),
        cmocka_unit_test(names_that_are_numbers_mean_those_numbers),
        cmocka_unit_test(a_number_that_two_names_may_be_is_refused),
        cmocka_unit_test(other_names_beside_numbers_are_taken_in_their_order_and_remarked),
        cmocka_unit_test(inputs_with_names_on_one_side_alone_are_remarked_on),
        cmocka_unit_test(a_remark_is_kept_once_and_goes_with_the_examples),
        cmocka_unit_test(what_is_asked_for_in_vain_is_refused),
        cmocka_unit_test(what_is_written_is_opened_again),
        cmocka_unit_test(every_pair_of_names_and_types_is_understood),
        cmocka_unit_test(labels_lie_beside_a_npy_file),
        cmocka_unit_test(arrays_that_are_no_set_are_named),
        cmocka_unit_test(imagenet_batches_become_one_set),
        cmocka_unit_test(a_missing_set_says_what_was_looked_for_where_and_what_to_do),
        cmocka_unit_test(the_list_says_what_is_found_where),
        cmocka_unit_test(survives_every_allocation_failure),
        cmocka_unit_test(real_sets_hold_what_was_published),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
