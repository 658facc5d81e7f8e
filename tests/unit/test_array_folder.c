/* tests/unit/test_array_folder.c - properties of sets in a folder of arrays: they are mapped, and
 * nothing is taken for whole that is not. */
#include "data/array_folder.h"

#include "counted.h"
#include "data/convert.h"
#include "data/loader.h"
#include "data/split.h"
#include "files.h"

enum { COUNT = 300, CLASSES = 5, C = 3, H = 8, W = 8 };

static char folder[] = FOLDER_TEMPLATE;

/* ---- folders ---- */

static void name_classes(cull_dataset *set)
{
    static const char *const names[] = {"ant", "bee", "cat \"9\"", "d\xc3\xb6g", "owl"};

    for (size_t k = 0; k < CLASSES; k++)
        assert_ok(cull_texts_add(&set->class_names, names[k], strlen(names[k])));
}

/* A written folder of two sets; *out is the training set as it was. */
static const char *write_folder(const char *name, cull_dtype dtype, bool test, cull_dataset **out)
{
    cull_dataset       *set[2] = {random_set(dtype, COUNT, CLASSES, C, H, W), NULL};
    const cull_data_way way[2] = {{.threads = 1}, {.threads = 1}};
    const char         *path = path_in(folder, name);

    name_classes(set[0]);
    if (test) set[1] = random_set(dtype, COUNT / 2, CLASSES, C, H, W);
    assert_ok(cull_data_folder_write(set, path, way));
    cull_data_close(set[1]);
    if (out)
        *out = set[0];
    else
        cull_data_close(set[0]);
    return path;
}

static void a_folder_is_what_was_written_and_copies_no_row(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *was = NULL, *back = NULL, *part = NULL;
        const char   *path = write_folder(t ? "floats" : "bytes", types[t], true, &was);
        size_t        beside = COUNT * 40 + 20000; /* what is kept of examples beside their rows */

        begin_counting();
        assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
        assert_ok(cull_data_split(back, .2, 1, &part));
        assert_true(end_counting() < beside && beside < COUNT * C * H * W);
        cull_data_close(part);
        cull_data_close(back);
        assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
        assert_same_set(was, back);
        assert_true(back->stored && !back->published);
        assert_int_equal(CLASSES, back->class_names.count);
        for (size_t k = 0; k < CLASSES; k++)
            assert_string_equal(was->class_names.text[k], back->class_names.text[k]);
        cull_data_close(back);
        assert_ok(open_set(path, CULL_DATA_TEST, NULL, &back));
        assert_int_equal(COUNT / 2, back->count);
        assert_memory_equal(was->mean, back->mean, C * sizeof *was->mean);
        cull_data_close(back);
        cull_data_close(was);
    }
}

static void a_folder_without_set_json_is_measured(void **state)
{
    cull_dataset *was = NULL, *back = NULL;
    const char   *path = write_folder("plain", CULL_U8, true, &was);

    (void)state;
    assert_int_equal(0, unlink(path_in(path, "set.json")));
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
    assert_same_set(was, back);
    assert_false(back->stored);
    cull_data_close(back);
    assert_ok(open_set(path, CULL_DATA_TEST, NULL, &back));
    assert_int_equal(COUNT / 2, back->count);
    cull_data_close(back);
    cull_data_close(was);
}

static void without_a_test_set_there_is_none(void **state)
{
    cull_dataset *back = NULL;
    const char   *path = write_folder("single", CULL_U8, false, NULL);

    (void)state;
    assert_fails(CULL_BAD_FILE, "holds no test set", open_set(path, CULL_DATA_TEST, NULL, &back));
    assert_string_equal("data.test", cull_last_subject());
    assert_int_equal(0, unlink(path_in(path, "set.json")));
    assert_fails(CULL_BAD_FILE, "holds no test set", open_set(path, CULL_DATA_TEST, NULL, &back));
    assert_string_equal("data.test", cull_last_subject());
}

static void a_name_may_end_in_slashes(void **state)
{
    cull_dataset *back = NULL;
    char          path[300];

    (void)state;
    (void)snprintf(path, sizeof path, "%s//", write_folder("slashed", CULL_U8, false, NULL));
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
    assert_string_equal("slashed", back->name);
    cull_data_close(back);
}

/* ---- bytes in the place of files ---- */

struct file {
    const char *name;
    const void *data;
    size_t      bytes;
};

static const void *find(const cull_data_folder *f, const char *name, size_t *bytes)
{
    for (const struct file *file = f->self; file->name; file++)
        if (strcmp(file->name, name) == 0) {
            *bytes = file->bytes;
            return file->data;
        }
    return NULL;
}

enum { HEADER = 128, ROW = 4 };

/* Two examples of 1x2x2 bytes. */
static void fill(char x[HEADER + 2 * ROW], char y[HEADER + 8])
{
    static const char head[] =
        "\x93NUMPY\1\0v\0{'descr': '%s', 'fortran_order': False, 'shape': (%s), }";

    (void)memset(x, ' ', HEADER);
    (void)memset(y, ' ', HEADER);
    for (int i = 0; i < 2; i++) {
        char line[HEADER];
        int  length =
            snprintf(line, sizeof line, head + 10, i ? "<i4" : "|u1", i ? "2," : "2, 1, 2, 2");
        memcpy(i ? y : x, head, 10);
        memcpy((i ? y : x) + 10, line, (size_t)length);
        (i ? y : x)[HEADER - 1] = '\n';
    }
    memset(x + HEADER, 7, 2 * ROW);
    memcpy(y + HEADER, (const int32_t[]){0, 1}, 8);
}

static const char honest[] =
    "{\"cull_set\": 1, \"dtype\": \"uint8\", \"shape\": [1, 2, 2], \"mean\": "
    "[0.5], \"deviation\": [1], \"target\": \"class\", \"classes\": 2, "
    "\"train\": 2}";

static cull_status read_text(const char *text, const char *x, size_t x_bytes, const char *y,
                             cull_dataset **out)
{
    cull_status      status = CULL_OK;
    struct file      files[] = {{"set.json", text, strlen(text)},
                                {"x.npy", x, x_bytes},
                                {"y.npy", y, HEADER + 8},
                                {NULL, NULL, 0}};
    cull_data_folder f = {.path = "here", .find = find, .self = files};
    cull_dataset    *set = NULL;

    TRY(cull_data_create("here", &set));
    TRY(cull_data_array_folder_read(&f, &(cull_data_request){0}, set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void set_json_is_believed_only_where_it_is_right(void **state)
{
    static const struct {
        const char *was, *is, *sentence;
    } wrongs[] = {
        {"{\"cull", "[\"cull", "set.json: no JSON: line 1"},
        {"\"cull_set\": 1", "\"cull_set\": 2", "version 2; this library reads 1"},
        {"\"cull_set\": 1", "\"cullset\": 1", "\"cull_set\" is no whole number"},
        {"\"train\": 2", "\"train\": 2, \"train\": 3", "duplicate object key"},
        {"uint8", "uint16", "\"dtype\" is 'uint16'"},
        {"\"dtype\": \"uint8\"", "\"dtype\": 8", "\"dtype\" is no text"},
        {"[1, 2, 2]", "[1, 2]", "\"shape\" is no list of 3 to 3"},
        {"[1, 2, 2]", "[1, 2, 0]", "\"shape\" is not channels, height and width"},
        {"[1, 2, 2]", "[1, 2.0, 2]", "\"shape\" is not channels, height and width"},
        {"[1, 2, 2]", "[1, 5000, 2]", "a side is at most"},
        {"[1, 2, 2]", "[2000000000, 1, 1]", "\"mean\" is no list of 2000000000"},
        {"[1, 2, 2]", "[1, 2, 4]", "x.npy: not the (2, 1, 2, 4) of uint8"},
        {"uint8", "float32", "x.npy: not the (2, 1, 2, 2) of float32"},
        {"[0.5]", "[0.5, 1]", "\"mean\" is no list of 1 to 1"},
        {"[0.5]", "[\"a\"]", "\"mean\" holds something else"},
        {"\"deviation\": [1]", "\"deviation\": [0]", "a deviation of 0"},
        {"\"class\"", "\"thing\"", "\"target\" is 'thing'"},
        {"\"class\"", "\"real\", \"width\": 0", "\"width\" is 0"},
        {"\"class\", \"classes\": 2", "\"real\", \"width\": 3, \"classes\": 3",
         "y.npy: not the 2 targets of 3 float32"},
        {"\"class\"", "\"real\", \"width\": 3",
         "\"classes\" is 2, but targets have a \"width\" of 3"},
        {"\"class\"", "\"classes\", \"width\": 70000", "\"width\" is no whole number"},
        {"\"classes\": 2", "\"classes\": 1", "label 1 of example 1; set.json says 1 classes"},
        {"\"classes\": 2", "\"classes\": 0", "\"classes\" is 0"},
        {"\"classes\": 2", "\"classes\": 70000", "\"classes\" is no whole number"},
        {"\"classes\": 2", "\"classes\": 2, \"class_names\": [\"a\"]",
         "\"class_names\" is no list"},
        {"\"classes\": 2", "\"classes\": 2, \"class_names\": [\"a\", 1]", "name 1 of"},
        {"\"classes\": 2", "\"classes\": 2, \"class_names\": [\"a\", \"\\u001b[31m\"]",
         "name 1 of \"class_names\" is no text"},
        {"\"classes\": 2", "\"classes\": 2, \"class_names\": [\"a\", \"a\"]",
         "two classes are called 'a'"},
        {"\"classes\": 2", "\"classes\": 2, \"label_names\": [\"a\", \"b\"]",
         "\"label_names\" is no list of 1 to 1"},
        {"\"classes\": 2", "\"classes\": 2, \"feature_names\": [\"\"]",
         "name 0 of \"feature_names\" is no text"},
        {"\"classes\": 2", "\"classes\": 2, \"published\": 1", "\"published\" is neither"},
        {"\"train\": 2", "\"train\": 3", "y.npy: not the 3 targets of 1 int32"},
        {"\"train\": 2", "\"train\": -1", "\"train\" is no whole number"},
        {", \"train\": 2", "", "holds no training set"},
    };
    char          x[HEADER + 2 * ROW], y[HEADER + 8], text[1024];
    cull_dataset *set = NULL;

    (void)state;
    fill(x, y);
    assert_ok(read_text(honest, x, sizeof x, y, &set));
    assert_int_equal(2, set->count);
    assert_int_equal(7, ((const uint8_t *)cull_data_base(set))[7]);
    cull_data_close(set);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const char *at = strstr(honest, wrongs[i].was);
        assert_non_null(at);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - honest), honest, wrongs[i].is,
                       at + strlen(wrongs[i].was));
        assert_fails(CULL_BAD_FILE, wrongs[i].sentence, read_text(text, x, sizeof x, y, &set));
    }
    assert_fails(CULL_BAD_FILE, "elements, the header promises",
                 read_text(honest, x, sizeof x - 1, y, &set));
}

static void an_array_that_is_missing_is_named(void **state)
{
    static const char *const names[] = {"x.npy", "y.npy"};
    cull_dataset            *back = NULL;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *path = write_folder(i ? "no_y" : "no_x", CULL_U8, false, NULL);
        assert_int_equal(0, unlink(path_in(path, names[i])));
        assert_fails(CULL_BAD_FILE, names[i], open_set(path, CULL_DATA_TRAIN, NULL, &back));
    }
}

static void what_is_predicted_needs_no_targets(void **state)
{
    const char       *path = write_folder("bare", CULL_U8, false, NULL);
    cull_data_request r = {.name = path, .target = CULL_TARGET_REAL};
    cull_dataset     *back = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "holds other targets", cull_data_open(&r, &back));
    r.unlabelled = true;
    assert_int_equal(0, unlink(path_in(path, "y.npy")));
    assert_ok(cull_data_open(&r, &back));
    assert_true(back->unlabelled);
    assert_int_equal(0, back->class_names.count);
    assert_true(((const float *)back->target.data)[back->count - 1] == 0);
    cull_data_close(back);
}

static void survives_every_allocation_failure(void **state)
{
    const char *path = write_folder("again", CULL_F32, true, NULL);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (int plain = 0; plain < 2; plain++, status = CULL_NO_MEMORY) {
        for (size_t n = 1; status != CULL_OK; n++) {
            cull_dataset *back = NULL;
            fail_nth_alloc(n);
            status = open_set(path, CULL_DATA_TEST, NULL, &back);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
            cull_data_close(back);
        }
        if (!plain) assert_int_equal(0, unlink(path_in(path, "set.json")));
    }
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
        cmocka_unit_test(a_folder_is_what_was_written_and_copies_no_row),
        cmocka_unit_test(a_folder_without_set_json_is_measured),
        cmocka_unit_test(without_a_test_set_there_is_none),
        cmocka_unit_test(a_name_may_end_in_slashes),
        cmocka_unit_test(set_json_is_believed_only_where_it_is_right),
        cmocka_unit_test(an_array_that_is_missing_is_named),
        cmocka_unit_test(what_is_predicted_needs_no_targets),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
