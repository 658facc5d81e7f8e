/* tests/unit/test_tar_set.c - properties of archives as data sets: which files are an example, what
 * is missing is named, and rows are what was put in. */
#include "data/tar_set.h"

#include "base/alloc.h"
#include "files.h"
#include "pictures.h"
#include "tars.h"

enum { KEEP = 1 << 20 };

static char folder[] = FOLDER_TEMPLATE;

static const cull_dataset *like; /* what a test set is read beside */

/* Read an archive in memory; `role` and label are the request's. */
static cull_status read_as(const struct tar *t, cull_data_request request, uint64_t most,
                           cull_dataset **out)
{
    cull_status    status = CULL_OK;
    cull_tar_files files = {.count = 1};
    cull_dataset  *set = NULL;
    bool           measured = false;

    request.name = "a.tar";
    TRY(cull_base_alloc(1, sizeof *files.source, "archives", &files.source));
    files.source[0] = cull_data_source_memory("a.tar", t->data, t->size);
    TRY(cull_data_create("a", &set));
    set->like = like;
    TRY(cull_data_tar_read(&files, &request, most, set, &measured));
    if (!measured) TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_tar_files_clear(&files);
    cull_data_close(set);
    return status;
}

static void assert_refused(struct tar *t, cull_data_request request, cull_status code,
                           const char *sentence)
{
    cull_dataset *set = NULL;

    assert_fails(code, sentence, read_as(t, request, KEEP, &set));
    free(t->data);
    *t = (struct tar){0};
}

/* Row i of a set is `value` throughout. */
static void assert_row(const cull_dataset *set, size_t i, int value)
{
    uint8_t     buffer[64];
    const void *row = NULL;

    assert_ok(cull_data_row_at(set, i, buffer, &row));
    for (size_t j = 0; j < cull_data_row(set); j++)
        assert_int_equal(value, ((const uint8_t *)row)[j]);
}

static void pairs_are_examples_in_the_order_of_their_inputs(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    tar_pair(&t, "d/b", 20, "2\n");
    tar_add(&t, '0', "d/b.json", "{}", 2);
    tar_add(&t, '0', "d/c.cls", " 0", 2); /* beside or not, before or behind */
    tar_pair(&t, "d/a", 10, "1");
    tar_pair(&t, "d/c", 30, NULL);
    tar_end(&t);
    for (uint64_t most = 0; most <= KEEP; most += KEEP) {
        assert_ok(read_as(&t, (cull_data_request){0}, most, &set));
        assert_int_equal(most ? 1 : 0, cull_data_base(set) != NULL);
        assert_int_equal(3, set->count);
        assert_int_equal(3, set->classes);
        assert_int_equal(0, set->class_names.count);
        for (size_t i = 0; i < 3; i++) {
            assert_row(set, i, i == 0 ? 20 : i == 1 ? 10 : 30);
            assert_int_equal(2 - (int)i, cull_data_labels(set)[i]);
        }
        assert_int_equal(1, set->channels);
        assert_int_equal(2, set->height);
        assert_string_equal("d/a.npy", set->rows->class->name(set->rows, 1));
        assert_true(set->mean[0] > 19.9 / 255 && set->mean[0] < 20.1 / 255);
        cull_data_close(set);
    }
    free(t.data);
}

static void names_of_classes_may_be_labels_and_folders(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    tar_pair(&t, "1", 1, "owl");
    tar_pair(&t, "2", 2, "7");
    tar_pair(&t, "3", 3, "owl");
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    assert_int_equal(2, set->classes);
    assert_string_equal("7", set->class_names.text[0]);
    assert_int_equal(1, cull_data_labels(set)[0]);
    cull_data_close(set);
    free(t.data);
    t = (struct tar){0};
    tar_pair(&t, "all/10/x.y", 1, NULL);
    tar_pair(&t, "all/9/deep/z", 2, NULL);
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    assert_string_equal("10", set->class_names.text[0]);
    assert_string_equal("9", set->class_names.text[1]);
    assert_int_equal(1, cull_data_labels(set)[1]);
    cull_data_close(set);
    free(t.data);
}

static void folders_tell_two_sets_apart(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    tar_pair(&t, "top/train/cat/1", 1, NULL);
    tar_pair(&t, "top/train/dog/2", 2, NULL);
    tar_pair(&t, "top/val/cat/3", 3, NULL);
    tar_pair(&t, "top/val/dog/3", 5, NULL);
    tar_pair(&t, "top/test/dog/4", 4, NULL);
    tar_pair(&t, "top/test/cat/4", 6, NULL);
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    assert_int_equal(2, set->count);
    assert_row(set, 1, 2);
    cull_data_close(set);
    assert_ok(read_as(&t, (cull_data_request){.role = CULL_DATA_TEST}, KEEP, &set));
    assert_int_equal(2, set->count);
    assert_row(set, 0, 4);
    assert_int_equal(1, cull_data_labels(set)[0]);
    cull_data_close(set);
    tar_pair(&t, "top/other/cat/4", 4, NULL); /* beside the sets: remarked on */
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    assert_int_equal(2, set->count);
    assert_non_null(strstr(set->remarks.text[0], "1 inputs lie beside train/"));
    cull_data_close(set);
    free(t.data);
}

/* A validation set where there is no test set; one that says it is for training is no test set; a
 * class may be called as a set is. */
static void which_set_an_archive_holds_is_told_by_its_folders(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL, *train = random_set(CULL_U8, 8, 2, 1, 2, 3);

    (void)state;
    tar_pair(&t, "Training/cat/1", 1, NULL);
    tar_pair(&t, "Training/dog/2", 2, NULL);
    assert_fails(CULL_BAD_FILE, "holds no test set (test/ or val/ beside train/)",
                 read_as(&t, (cull_data_request){.role = CULL_DATA_TEST}, KEEP, &set));
    assert_string_equal("data.test", cull_last_subject());
    like = train;
    assert_fails(CULL_BAD_FILE, "holds a training set, train/, and no test set",
                 read_as(&t, (cull_data_request){0}, KEEP, &set));
    tar_pair(&t, "valid/cat/1", 3, NULL);
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    like = NULL;
    assert_int_equal(1, set->count);
    assert_row(set, 0, 3);
    assert_non_null(strstr(set->remarks.text[0], "its validation set is taken"));
    cull_data_close(set);
    free(t.data);
    t = (struct tar){0};
    tar_pair(&t, "test/cat/1", 1, NULL);
    tar_pair(&t, "test/dog/1", 1, NULL);
    assert_refused(&t, (cull_data_request){0}, CULL_BAD_FILE, "holds a test set and no train/");
    tar_pair(&t, "boat/1", 1, NULL);
    tar_pair(&t, "train/1", 2, NULL);
    assert_ok(read_as(&t, (cull_data_request){0}, KEEP, &set));
    assert_string_equal("train", set->class_names.text[1]);
    cull_data_close(set);
    cull_data_close(train);
    free(t.data);
}

static void what_does_not_fit_together_is_named(void **state)
{
    struct tar        t = {0};
    cull_data_request plain = {0};
    char              npy[256];

    (void)state;
    tar_pair(&t, "a", 1, "0");
    tar_pair(&t, "b", 1, NULL);
    assert_refused(&t, plain, CULL_BAD_FILE, "a.tar: b.npy has no label beside it (b.cls)");
    tar_pair(&t, "a", 1, "0");
    tar_add(&t, '0', "c/b.cls", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE, "c/b.cls is a label without its input");
    tar_pair(&t, "a", 1, "0");
    tar_pair(&t, "a", 1, NULL);
    assert_refused(&t, plain, CULL_BAD_FILE, "both a.npy and a.npy are inputs of one example");
    tar_pair(&t, "a", 1, "0");
    tar_add(&t, '0', "a.CLS", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE, "both a.cls and a.CLS are labels of one example");
    tar_pair(&t, "a", 1, " \n");
    assert_refused(&t, plain, CULL_BAD_FILE, "a.tar: a.cls: there is no label");
    tar_pair(&t, "a", 1, "\x01");
    assert_refused(&t, plain, CULL_BAD_FILE, "is neither a number nor the name of a class");
    tar_pair(&t, "a", 1, NULL);
    assert_refused(&t, plain, CULL_BAD_FILE, "a.npy lies in no folder of a class");
    tar_add(&t, '0', "readme.txt", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE, "holds no file that ends in jpg");
    tar_pair(&t, "a", 1, "0");
    tar_add(&t, '0', "b.npy", npy, tar_npy(npy, 3, 3, 0));
    tar_add(&t, '0', "b.cls", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE,
                   "a.tar: b.npy: an array of uint8 (3, 3) where a.tar: a.npy has uint8 (2, 3)");
    tar_pair(&t, "a", 1, "0");
    tar_add(&t, '0', "b.png", "no picture", 10);
    tar_add(&t, '0', "b.cls", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE, "b.png: is a picture, and a.tar: a.npy is not");
    tar_add(&t, '0', "b.jpg", "no picture", 10);
    tar_add(&t, '0', "b.cls", "1", 1);
    assert_refused(&t, plain, CULL_BAD_FILE, "b.jpg: neither a JPEG");
}

static void requests_that_do_not_fit_are_refused(void **state)
{
    struct tar t = {0};

    (void)state;
    tar_pair(&t, "a", 1, "0");
    assert_refused(&t, (cull_data_request){.side = 8}, CULL_BAD_OPTION, "data.size: a.tar holds");
    tar_pair(&t, "a", 1, "0");
    assert_refused(&t, (cull_data_request){.layout = CULL_LAYOUT_LAST}, CULL_BAD_OPTION,
                   "data.layout: a.tar holds arrays of 2 axes");
    tar_pair(&t, "a", 1, "0");
    assert_refused(&t, (cull_data_request){.label = "txt"}, CULL_BAD_OPTION,
                   "data.label: no file beside an input of a.tar ends in .txt");
}

/* Add KEY.json and its input. */
static void add_json(struct tar *t, const char *key, const char *json)
{
    char name[64];

    tar_pair(t, key, 1, NULL);
    (void)snprintf(name, sizeof name, "%s.json", key);
    tar_add(t, '0', name, json, strlen(json));
}

static void labels_are_texts_and_members_of_json(void **state)
{
    struct tar        t = {0};
    cull_dataset     *set = NULL;
    cull_data_request plain = {0}, shape = {.label = "shape"};

    (void)state;
    add_json(&t, "a", "{\"label\": 3, \"shape\": \"round\"}");
    add_json(&t, "b", "{\"label\": 1.0, \"shape\": \"long\"}");
    tar_add(&t, '0', "notes.json", "no JSON", 7); /* no part of an example */
    assert_ok(read_as(&t, plain, KEEP, &set));
    assert_int_equal(2, set->count);
    assert_int_equal(4, set->classes);
    assert_int_equal(3, cull_data_labels(set)[0]);
    assert_int_equal(1, cull_data_labels(set)[1]);
    cull_data_close(set);
    assert_ok(read_as(&t, shape, KEEP, &set));
    assert_string_equal("long", set->class_names.text[0]);
    assert_int_equal(1, cull_data_labels(set)[0]);
    cull_data_close(set);
    tar_add(&t, '0', "a.txt", "cat\n", 4); /* a text goes first */
    tar_add(&t, '0', "b.txt", "dog\n", 4);
    assert_ok(read_as(&t, plain, KEEP, &set));
    assert_string_equal("cat", set->class_names.text[0]);
    cull_data_close(set);
    assert_ok(read_as(&t, (cull_data_request){.label = "json"}, KEEP, &set));
    assert_int_equal(4, set->classes);
    cull_data_close(set);
    assert_refused(&t, (cull_data_request){.label = "size"}, CULL_BAD_FILE,
                   "a.tar: a.json: holds no \"size\"");
    add_json(&t, "a", "{\"caption\": \"a cat\"}");
    assert_refused(&t, plain, CULL_BAD_FILE, "a.json: holds no \"label\"");
    add_json(&t, "a", "{\"label\": [1]}");
    assert_refused(&t, plain, CULL_BAD_FILE, "its label is neither a text nor a number");
    add_json(&t, "a", "{\"label\": 0.5}");
    assert_refused(&t, plain, CULL_BAD_FILE, "its label is neither a text nor a number");
    add_json(&t, "a", "{\"label\": ");
    assert_refused(&t, plain, CULL_BAD_FILE, "a.tar: a.json: no JSON");
    add_json(&t, "a", "[1]");
    assert_refused(&t, plain, CULL_BAD_FILE, "a.json: not one JSON object");
    /* What training named stays a name; what stands beside folders of classes is none. */
    tar_pair(&t, "7/a", 1, NULL);
    tar_pair(&t, "owl/a", 1, NULL);
    tar_add(&t, '0', "README.txt", "much to read", 12);
    assert_ok(read_as(&t, plain, KEEP, &set));
    assert_string_equal("7", set->class_names.text[0]);
    cull_data_close(set);
    free(t.data);
}

static void a_label_may_be_chosen_and_may_be_missing(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    tar_pair(&t, "a", 1, "0");
    tar_add(&t, '0', "a.colour.txt", "red", 3);
    tar_pair(&t, "b", 1, "0");
    tar_add(&t, '0', "b.colour.txt", "blue", 4);
    assert_ok(read_as(&t, (cull_data_request){.label = "colour.txt"}, KEEP, &set));
    assert_string_equal("blue", set->class_names.text[0]);
    cull_data_close(set);
    tar_pair(&t, "c", 3, NULL);
    tar_pair(&t, "d", 4, "");
    assert_ok(read_as(&t, (cull_data_request){.unlabelled = true}, KEEP, &set));
    assert_true(set->unlabelled);
    assert_int_equal(4, set->count);
    cull_data_close(set);
    assert_ok(read_as(&t, (cull_data_request){.unlabelled = true, .label = "shade"}, KEEP, &set));
    cull_data_close(set);
    free(t.data);
}

static void write_tar(const char *name, const struct tar *t)
{
    put_file(path_in(folder, name), t->data, t->size);
}

static void folders_of_archives_are_one_set_in_their_order(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;
    char          name[32];

    (void)state;
    for (int i = 69; i >= 0; i--) { /* more than are kept open */
        t.size = 0;
        tar_pair(&t, "0", i, i % 2 ? "1" : "0");
        (void)snprintf(name, sizeof name, "train-%02d.tar", i);
        write_tar(name, &t);
    }
    assert_fails(CULL_BAD_FILE, "holds no test set", open_set(folder, CULL_DATA_TEST, NULL, &set));
    write_tar("val-0.tar", &t);
    assert_ok(open_set(folder, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(70, set->count);
    for (size_t i = 0; i < 70; i++) {
        assert_row(set, i, (int)i);
        assert_int_equal(i % 2, cull_data_labels(set)[i]);
    }
    cull_data_close(set);
    assert_ok(open_set(folder, CULL_DATA_TEST, NULL, &set));
    assert_int_equal(1, set->count);
    cull_data_close(set);
    free(t.data);
}

static void add_png(struct tar *t, const char *name, size_t channels)
{
    const uint8_t pixels[4 * 3] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
    struct made   m = make_plain_png(pixels, 2, 2, channels);

    tar_add(t, '0', name, m.data, m.size);
    drop(&m);
}

/* In one archive and in two; what is predicted has the channels that are asked for. */
static void grey_pictures_have_one_channel_unless_the_other_set_has_colours(void **state)
{
    struct tar    t = {0}, apart = {0};
    cull_dataset *set = NULL;

    (void)state;
    assert_int_equal(0, mkdir(path_in(folder, "grey"), 0777));
    add_png(&t, "train/a/1.png", 1);
    add_png(&t, "train/b/1.png", 1);
    write_tar("grey.tar", &t);
    write_tar("grey/train.tar", &t);
    assert_ok(open_set(path_in(folder, "grey.tar"), CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(1, set->channels);
    cull_data_close(set);
    assert_ok(cull_data_open(&(cull_data_request){.name = path_in(folder, "grey.tar"),
                                                  .unlabelled = true,
                                                  .channels = 3},
                             &set));
    assert_int_equal(3, set->channels);
    cull_data_close(set);
    add_png(&t, "test/a/1.png", 3);
    add_png(&apart, "a/1.png", 3);
    write_tar("grey.tar", &t);
    write_tar("grey/test.tar", &apart);
    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        assert_ok(open_set(path_in(folder, "grey.tar"), (cull_data_role)role, NULL, &set));
        assert_int_equal(3, set->channels);
        cull_data_close(set);
        assert_ok(open_set(path_in(folder, "grey"), (cull_data_role)role, NULL, &set));
        assert_int_equal(3, set->channels);
        cull_data_close(set);
    }
    free(apart.data);
    free(t.data);
}

/* An archive that lies beside what was unpacked of it is not read; one in a set's folder is. */
static void archives_lie_in_folders_of_sets_or_beside_nothing(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    assert_int_equal(0, mkdir(path_in(folder, "sets"), 0777));
    assert_int_equal(0, mkdir(path_in(folder, "sets/train"), 0777));
    assert_int_equal(0, mkdir(path_in(folder, "sets/test"), 0777));
    tar_pair(&t, "0", 4, "1");
    write_tar("sets/train/a.tar", &t);
    write_tar("sets/test/a.tar", &t);
    write_tar("sets/test/b.tar", &t);
    assert_true(cull_data_tar_fits(path_in(folder, "sets")));
    assert_ok(open_set(path_in(folder, "sets"), CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(1, set->count);
    cull_data_close(set);
    assert_ok(open_set(path_in(folder, "sets"), CULL_DATA_TEST, NULL, &set));
    assert_int_equal(2, set->count);
    cull_data_close(set);
    assert_int_equal(0, mkdir(path_in(folder, "sets/other"), 0777));
    assert_false(cull_data_tar_fits(path_in(folder, "sets")));
    free(t.data);
}

static void packed_archives_are_refused(void **state)
{
    struct tar    t = {0};
    cull_dataset *set = NULL;

    (void)state;
    tar_append(&t, "\x1f\x8b\x08", 3);
    assert_int_equal(0, mkdir(path_in(folder, "packed"), 0777));
    write_tar("packed/a.tar", &t);
    write_tar("packed/b.tar.gz", &t);
    assert_fails(CULL_BAD_FILE, "is packed as a whole",
                 open_set(path_in(folder, "packed/a.tar"), CULL_DATA_TRAIN, NULL, &set));
    assert_fails(CULL_BAD_FILE, "is packed as a whole",
                 open_set(path_in(folder, "packed/b.tar.gz"), CULL_DATA_TRAIN, NULL, &set));
    free(t.data);
}

struct reading {
    struct tar archive;
    uint64_t   most;
};

static cull_status try_to_read(void *context)
{
    const struct reading *r = context;
    cull_dataset         *set = NULL;
    cull_status           status = read_as(&r->archive, (cull_data_request){0}, r->most, &set);

    cull_data_close(set);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    struct reading r = {0};

    (void)state;
    tar_pair(&r.archive, "a", 1, "owl");
    tar_pair(&r.archive, "b", 2, "cat");
    for (r.most = 0; r.most <= KEEP; r.most += KEEP) assert_survives(try_to_read, &r);
    free(r.archive.data);
    r.archive = (struct tar){0};
    add_json(&r.archive, "a", "{\"label\": 1}");
    add_json(&r.archive, "b", "{\"label\": 0}");
    assert_survives(try_to_read, &r);
    free(r.archive.data);
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
        cmocka_unit_test(pairs_are_examples_in_the_order_of_their_inputs),
        cmocka_unit_test(names_of_classes_may_be_labels_and_folders),
        cmocka_unit_test(folders_tell_two_sets_apart),
        cmocka_unit_test(which_set_an_archive_holds_is_told_by_its_folders),
        cmocka_unit_test(labels_are_texts_and_members_of_json),
        cmocka_unit_test(what_does_not_fit_together_is_named),
        cmocka_unit_test(requests_that_do_not_fit_are_refused),
        cmocka_unit_test(a_label_may_be_chosen_and_may_be_missing),
        cmocka_unit_test(folders_of_archives_are_one_set_in_their_order),
        cmocka_unit_test(grey_pictures_have_one_channel_unless_the_other_set_has_colours),
        cmocka_unit_test(archives_lie_in_folders_of_sets_or_beside_nothing),
        cmocka_unit_test(packed_archives_are_refused),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
