/* tests/unit/test_picture_set.c - folders of pictures: which files are examples of what. */
#include <math.h>

#include "data/format.h"
#include "data/loader.h"
#include "files.h"
#include "pictures.h"

enum { SIDE = 6, AREA = SIDE * SIDE };

static char folder[] = FOLDER_TEMPLATE;

/* ---- making folders ---- */

/* A path below the test's folder, whose folders are made. */
static const char *place(const char *name)
{
    const char *path = path_in(folder, name);
    char        part[512];

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        (void)mkdir(part, 0700);
    }
    return path;
}

static void put(const char *name, struct made m)
{
    put_file(place(name), m.data, m.size);
    drop(&m);
}

/* A PNG of one level, w x h, of `channels`. */
static void put_png(const char *name, uint8_t level, size_t w, size_t h, size_t channels)
{
    uint8_t *pixels = malloc(w * h * channels);

    memset(pixels, level, w * h * channels);
    put(name, make_plain_png(pixels, w, h, channels));
    free(pixels);
}

static void put_square(const char *name, uint8_t level)
{
    put_png(name, level, SIDE, SIDE, 3);
}

static void start(void)
{
    remove_folder(path_in(folder, "p"));
}

/* ---- opening them ---- */

/* One at a time. */
static cull_data_request ask(const char *name, cull_data_role role)
{
    static char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return (cull_data_request){.name = path, .role = role};
}

static cull_status open_with(cull_data_request r, unsigned threads, uint64_t most_bytes,
                             cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    bool          measured = false;

    TRY(cull_data_create("pictures", &set));
    TRY(cull_data_pictures_read(&r, threads, most_bytes, set, &measured));
    assert_true(measured);
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static cull_dataset *opened(const char *name, cull_data_role role)
{
    cull_dataset     *set = NULL;
    cull_data_request r = ask(name, role);

    assert_ok(cull_data_open(&r, &set));
    return set;
}

#define assert_refused(code, text, role)                                                           \
    do {                                                                                           \
        cull_data_request asked_ = ask("p", (role));                                               \
        cull_dataset     *none_ = NULL;                                                            \
        assert_fails((code), (text), cull_data_open(&asked_, &none_));                             \
    } while (0)

static const char *name_of(const cull_dataset *set, size_t i)
{
    return set->rows->class->name(set->rows, set->origin[i]);
}

static const uint8_t *row_at(const cull_dataset *set, size_t i)
{
    return row_of(set, i);
}

static bool remarked(const cull_dataset *set, const char *text)
{
    for (size_t i = 0; i < set->remarks.count; i++)
        if (strstr(set->remarks.text[i], text)) return true;
    return false;
}

/* ---- tests ---- */

static void folders_are_classes_and_names_give_the_order(void **state)
{
    static const char *const made[] = {"p/dog/b.png",        "p/cat/10.png", "p/cat/9.png",
                                       "p/Zoo/x.png",        "p/dog/B.png",  "p/dog/deep/er/a.png",
                                       "p/dog/\xc3\xa4.png", "p/dog/a b.png"};
    static const char *const listed[] = {"Zoo/x.png",         "cat/10.png",      "cat/9.png",
                                         "dog/B.png",         "dog/a b.png",     "dog/b.png",
                                         "dog/deep/er/a.png", "dog/\xc3\xa4.png"};
    static const int32_t     labels[] = {0, 1, 1, 2, 2, 2, 2, 2};

    (void)state;
    for (int way = 0; way < 2; way++) { /* whatever order they were made in */
        cull_dataset *set = NULL;
        start();
        for (size_t i = 0; i < 8; i++) put_square(made[way ? 7 - i : i], (uint8_t)i);
        set = opened("p", CULL_DATA_TRAIN);
        assert_int_equal(8, set->count);
        assert_int_equal(3, set->classes);
        assert_int_equal(3, set->class_names.count);
        assert_string_equal("Zoo", set->class_names.text[0]);
        assert_string_equal("dog", set->class_names.text[2]);
        for (size_t i = 0; i < 8; i++) {
            size_t which = 0;
            assert_string_equal(listed[i], name_of(set, i));
            assert_int_equal(labels[i], cull_data_labels(set)[i]);
            while (strcmp(made[which] + 2, listed[i]) != 0) which++;
            assert_int_equal(way ? 7 - which : which, row_at(set, i)[0]);
        }
        assert_int_equal(0, set->remarks.count);
        assert_false(set->published);
        cull_data_close(set);
    }
}

static void sets_lie_beside_each_other(void **state)
{
    static const struct {
        const char *train, *test;
    } names[] = {
        {"train", "test"}, {"train", "val"}, {"Train", "Valid"}, {"training", "validation"}};
    char          path[64];
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        start();
        for (int k = 0; k < 4; k++) {
            (void)snprintf(path, sizeof path, "p/%s/%s/%d.png", k ? names[i].train : names[i].test,
                           k % 2 ? "cat" : "dog", k);
            put_square(path, (uint8_t)(10 * k));
        }
        set = opened("p", CULL_DATA_TRAIN);
        assert_int_equal(3, set->count);
        assert_int_equal(2, set->classes);
        assert_int_equal(0, set->remarks.count);
        cull_data_close(set);
        set = opened("p/", CULL_DATA_TEST);
        assert_int_equal(1, set->count);
        assert_int_equal(1, set->classes);
        assert_string_equal("dog", set->class_names.text[0]);
        assert_int_equal(i > 0, remarked(set, "p: holds no test set; its validation set, "));
        cull_data_close(set);
    }
    start();
    put_square("p/train/a/1.png", 1);
    put_square("p/test/a/1.png", 2);
    put_square("p/val/a/1.png", 3);
    put_square("p/extra/a/1.png", 4);
    set = opened("p", CULL_DATA_TRAIN);
    assert_true(remarked(set, "p: extra/ lies beside train/ and is not read"));
    assert_true(remarked(set, "p: val/ lies beside train/ and is not read"));
    assert_int_equal(2, set->remarks.count);
    cull_data_close(set);
    set = opened("p", CULL_DATA_TEST);
    assert_int_equal(2, row_at(set, 0)[0]);
    cull_data_close(set);
}

static void a_set_that_is_not_there_is_told_of(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    start();
    put_square("p/bus/1.png", 1);
    put_square("p/train/1.png", 2); /* one that runs on rails */
    put_square("p/test/1.png", 3);
    set = opened("p", CULL_DATA_TRAIN);
    assert_int_equal(3, set->classes);
    assert_string_equal("train", set->class_names.text[2]);
    cull_data_close(set);
    assert_refused(
        CULL_BAD_FILE,
        "p: holds no test set (test/ or val/, and train/); name another folder for it by "
        "data.test, or split one off by data.split",
        CULL_DATA_TEST);
    start();
    put_square("p/train/a/1.png", 1);
    assert_refused(CULL_BAD_FILE,
                   "p: holds no test set (test/ or val/ beside train/); name another",
                   CULL_DATA_TEST);
    start();
    put_square("p/test/a/1.png", 1);
    put_square("p/b/1.png", 1);
    assert_refused(CULL_BAD_FILE, "p: holds test/ and no train/; put the classes", CULL_DATA_TRAIN);
    start();
    put_square("p/1.png", 1);
    put_square("p/2.jpg", 1);
    assert_refused(CULL_BAD_FILE,
                   "p: holds 2 pictures and no folders; put those of each class into",
                   CULL_DATA_TRAIN);
    start();
    (void)place("p/");
    assert_refused(CULL_BAD_FILE, "p: holds no folders of pictures, one for each class",
                   CULL_DATA_TRAIN);
    (void)place("p/a/");
    assert_refused(CULL_BAD_FILE, "p: no JPEG, PNG or WebP picture lies in its folders",
                   CULL_DATA_TRAIN);
}

static void what_is_no_picture_is_left_out_or_refused(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    start();
    put_square("p/a/1.png", 1);
    put_square("p/a/wrong.txt", 2); /* told by what it holds */
    put_square("p/b/2.jpg", 3);
    put_square("p/.hidden/1.png", 4);
    put_square("p/__MACOSX/a/1.png", 4);
    put_square("p/loose.png", 4);
    put_file(place("p/a/.DS_Store"), "x", 1);
    put_file(place("p/a/Thumbs.db"), "thumbs", 6);
    put_file(place("p/b/notes"), "", 0);
    put_file(place("p/README.md"), "#", 1);
    (void)place("p/empty/");
    set = opened("p", CULL_DATA_TRAIN);
    assert_int_equal(3, set->count);
    assert_int_equal(3, set->classes);
    assert_true(remarked(set, "p: 2 files are no pictures and are left out, as a/Thumbs.db"));
    assert_true(remarked(set, "p: class 'empty' has no example"));
    assert_true(remarked(set, "p: 1 pictures lie in no class's folder and are left out"));
    assert_int_equal(3, set->remarks.count);
    cull_data_close(set);
    put_file(place("p/b/1.txt"), "x", 1);
    put_file(place("p/b/2.txt"), "x", 1);
    assert_refused(CULL_BAD_FILE,
                   "p: 4 of its 7 files are no JPEG, PNG or WebP pictures, as a/Thumbs",
                   CULL_DATA_TRAIN);
    start();
    put_square("p/a/1.png", 1);
    put_file(place("p/a/2.gif"), "GIF89a", 6);
    assert_refused(CULL_BAD_FILE, "p/a/2.gif: neither a JPEG, a PNG nor a WebP picture",
                   CULL_DATA_TRAIN);
    put_file(place("p/a/2.gif"), "", 0);
    assert_refused(CULL_BAD_FILE, "p/a/2.gif: is empty", CULL_DATA_TRAIN);
}

static void damaged_pictures_are_named(void **state)
{
    struct made   m = {0};
    uint8_t       pixels[3 * AREA];
    cull_dataset *set = NULL;

    (void)state;
    start();
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(256 * random_uniform(1, i));
    put_square("p/a/1.png", 1);
    m = make_plain_png(pixels, SIDE, SIDE, 3);
    put_file(place("p/b/3.png"), m.data, m.size - 40);
    assert_refused(CULL_BAD_FILE, "p/b/3.png: a damaged PNG picture (cut short)", CULL_DATA_TRAIN);
    assert_null(strstr(cull_last_error(), "more cannot be read"));
    put_file(place("p/b/1.png"), m.data, m.size - 40);
    put_file(place("p/c/\x1b[31m\xff.png"), m.data, m.size - 40);
    drop(&m);
    for (unsigned threads = 1; threads < 4; threads++)
        for (uint64_t most = 0; most < 2; most++) {
            assert_fails(CULL_BAD_FILE,
                         "p/b/1.png: a damaged PNG picture (cut short); 2 more cannot "
                         "be read: b/3.png, c/?[31m?.png",
                         open_with(ask("p", CULL_DATA_TRAIN), threads, most << 40, &set));
        }
}

static void odd_things_in_folders_are_named(void **state)
{
    (void)state;
    start();
    put_square("p/a/1.png", 1);
    assert_int_equal(0, symlink("nowhere", place("p/a/2.png")));
    assert_refused(CULL_BAD_FILE, "p/a/2.png: a link that leads nowhere; remove it",
                   CULL_DATA_TRAIN);
    assert_int_equal(0, unlink(place("p/a/2.png")));
    assert_int_equal(0, mkfifo(place("p/a/2.png"), 0600));
    assert_refused(CULL_BAD_FILE, "p/a/2.png: neither a file nor a folder; remove it",
                   CULL_DATA_TRAIN);
    assert_int_equal(0, unlink(place("p/a/2.png")));
    assert_int_equal(0, symlink("../a", place("p/a/loop")));
    assert_refused(CULL_BAD_FILE, "folders in folders, 16 deep; is there a link to itself?",
                   CULL_DATA_TRAIN);
    assert_int_equal(0, unlink(place("p/a/loop")));
    assert_int_equal(0, symlink("1.png", place("p/a/link.png"))); /* a link is what it leads to */
    cull_data_close(opened("p", CULL_DATA_TRAIN));
    put_square("p/\x1b/1.png", 1);
    assert_refused(CULL_BAD_FILE,
                   "p: the name of class folder 0 holds a control character or is not",
                   CULL_DATA_TRAIN);
}

static void sizes_must_agree_or_be_asked_for(void **state)
{
    cull_data_request r = {0};
    cull_dataset     *set = NULL;

    (void)state;
    start();
    put_png("p/a/1.png", 7, 4, 5, 3);
    put_png("p/b/1.png", 9, 4, 5, 1);
    set = opened("p", CULL_DATA_TRAIN);
    assert_int_equal(3, set->channels);
    assert_int_equal(5, set->height);
    assert_int_equal(4, set->width);
    assert_int_equal(9, row_at(set, 1)[59]);
    cull_data_close(set);
    put_png("p/b/2.png", 9, 5, 4, 3);
    assert_refused(CULL_BAD_OPTION, "p: a/1.png has 4x5 pixels, b/2.png has 5x4; set data.size",
                   CULL_DATA_TRAIN);
    assert_string_equal("data.size", cull_last_subject());
    r = ask("p", CULL_DATA_TRAIN);
    r.side = 3;
    assert_ok(cull_data_open(&r, &set));
    assert_int_equal(27, cull_data_row(set));
    assert_int_equal(9, row_at(set, 2)[26]);
    cull_data_close(set);
    r.side = 5;
    r.fit = CULL_FIT_CENTRE;
    assert_fails(CULL_BAD_OPTION, "p/a/1.png: has 4x5 pixels, and data.fit=centre takes 5x5",
                 cull_data_open(&r, &set));
    assert_string_equal("data.fit", cull_last_subject());
    r.side = 0;
    assert_fails(CULL_BAD_OPTION, "data.fit: nothing is scaled without data.size",
                 cull_data_open(&r, &set));
    r = ask("p", CULL_DATA_TRAIN);
    r.side = 5000;
    assert_fails(CULL_BAD_FILE, "a side is at most 4096", cull_data_open(&r, &set));
}

static void grey_pictures_have_one_channel_unless_one_of_either_set_has_colours(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    start();
    put_png("p/train/a/1.png", 1, SIDE, SIDE, 1);
    put_png("p/train/b/1.png", 2, SIDE, SIDE, 2);
    put_png("p/test/a/1.png", 3, SIDE, SIDE, 1);
    for (int role = 0; role < 2; role++) {
        set = opened("p", (cull_data_role)role);
        assert_int_equal(1, set->channels);
        cull_data_close(set);
    }
    put_png("p/test/b/2.png", 3, SIDE, SIDE, 3);
    for (int role = 0; role < 2; role++) {
        set = opened("p", (cull_data_role)role);
        assert_int_equal(3, set->channels);
        assert_int_equal(role ? 3 : 1, row_at(set, 0)[3 * AREA - 1]);
        cull_data_close(set);
    }
    put_file(place("p/test/b/2.png"), "", 0); /* what is wrong there is told there */
    cull_data_close(opened("p", CULL_DATA_TRAIN));
}

static void a_test_set_of_its_own_is_no_training_set_and_has_its_channels(void **state)
{
    cull_dataset     *train = NULL, *test = NULL;
    cull_data_request r = {0};

    (void)state;
    start();
    put_square("p/a/a/1.png", 1);
    put_square("p/a/b/1.png", 2);
    put_png("p/b/a/1.png", 3, SIDE, SIDE, 1);
    put_png("p/c/test/b/1.png", 4, SIDE, SIDE, 1);
    put_png("p/c/train/b/1.png", 5, SIDE, SIDE, 1);
    put_square("p/d/train/a/1.png", 5);
    train = opened("p/a", CULL_DATA_TRAIN);
    for (int i = 0; i < 2; i++) {
        r = ask(i ? "p/c" : "p/b", CULL_DATA_TRAIN);
        assert_ok(cull_data_open_test(&r, train, &test));
        assert_ok(cull_data_adopt(test, train));
        assert_int_equal(i ? 4 : 3, row_at(test, 0)[3 * AREA - 1]);
        assert_int_equal(i ? 1 : 0, cull_data_labels(test)[0]);
        cull_data_close(test);
    }
    r = ask("p/d", CULL_DATA_TRAIN);
    assert_fails(CULL_BAD_FILE, "d: holds a training set, train/, and no test set (test/ or val/)",
                 cull_data_open_test(&r, train, &test));
    cull_data_close(train);
    train = opened("p/b", CULL_DATA_TRAIN);
    r = ask("p/a", CULL_DATA_TRAIN);
    assert_fails(CULL_BAD_FILE, "a/a/1.png: has colours where a grey picture is wanted; 1 more",
                 cull_data_open_test(&r, train, &test));
    cull_data_close(train);
}

static void pictures_to_predict_need_no_class(void **state)
{
    cull_data_request r = {0};
    cull_dataset     *set = NULL;

    (void)state;
    start();
    put_png("p/2.png", 2, SIDE, SIDE, 1);
    put_png("p/more/1.png", 1, SIDE, SIDE, 1);
    r = ask("p", CULL_DATA_TRAIN);
    r.unlabelled = true;
    r.channels = 3;
    assert_ok(cull_data_open(&r, &set));
    assert_int_equal(2, set->count);
    assert_int_equal(3, set->channels);
    assert_int_equal(0, set->class_names.count);
    assert_string_equal("2.png", name_of(set, 0));
    assert_string_equal("more/1.png", name_of(set, 1));
    assert_int_equal(0, cull_data_labels(set)[1]);
    cull_data_close(set);
    put_png("p/test/a/7.png", 7, SIDE, SIDE, 1);
    r.role = CULL_DATA_TEST;
    r.channels = 0;
    assert_ok(cull_data_open(&r, &set));
    assert_int_equal(1, set->count);
    assert_int_equal(1, set->channels);
    assert_string_equal("test/a/7.png", name_of(set, 0));
    cull_data_close(set);
}

/* Several kinds, sizes and headers, in three classes. */
static void make_mixed(void)
{
    uint8_t pixels[3 * 900];
    char    name[64];

    start();
    for (size_t i = 0; i < 24; i++) {
        size_t           w = 20 + i % 7, h = 20 + i % 5;
        struct jpeg_form f = {.width = w,
                              .height = h,
                              .from = JCS_RGB,
                              .stored = JCS_YCbCr,
                              .quality = 80,
                              .turn = (unsigned)(1 + i % 8)};
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)(256 * random_uniform(i, k));
        (void)snprintf(name, sizeof name, "p/%c/%zu", (char)('a' + i % 3), i);
        put(name, i % 4 == 0   ? make_plain_png(pixels, w, h, 3)
                  : i % 4 == 1 ? make_webp(pixels, w, h, 3)
                               : make_jpeg(&f, pixels));
    }
}

static void what_does_not_fit_into_memory_is_the_same_read_by_row(void **state)
{
    cull_data_request   r = ask("p", CULL_DATA_TRAIN);
    cull_dataset       *set[2] = {0};
    uint32_t            places[] = {23, 0, 7};
    cull_loader_options options = {.form = {CULL_F32, false}, .batch = 3, .depth = 3};
    cull_loader        *loader = NULL;
    cull_data_batch     batch[2] = {{0}};
    uint8_t             row[3 * 64];
    float               kept[9 * 64];
    const void         *at = NULL;

    (void)state;
    make_mixed();
    r.side = 8;
    for (unsigned threads = 1; threads <= 3; threads++) {
        assert_ok(open_with(r, threads, 24 * 3 * 64, &set[0]));
        assert_ok(open_with(r, threads, 24 * 3 * 64 - 1, &set[1]));
        assert_non_null(cull_data_base(set[0]));
        assert_null(cull_data_base(set[1]));
        for (size_t i = 0; i < 24; i++) {
            assert_ok(cull_data_row_at(set[1], i, row, &at));
            assert_memory_equal(row_at(set[0], i), at, sizeof row);
            assert_string_equal(name_of(set[0], i), name_of(set[1], i));
            assert_int_equal(cull_data_labels(set[0])[i], cull_data_labels(set[1])[i]);
        }
        assert_memory_equal(set[0]->mean, set[1]->mean, 3 * sizeof(double));
        assert_memory_equal(set[0]->deviation, set[1]->deviation, 3 * sizeof(double));
        assert_ok(cull_data_measure(set[1])); /* which the set does not ask for */
        assert_memory_equal(set[0]->mean, set[1]->mean, 3 * sizeof(double));
        assert_memory_equal(set[0]->deviation, set[1]->deviation, 3 * sizeof(double));
        options.threads = threads;
        for (int i = 0; i < 2; i++) {
            options.set = set[i];
            assert_ok(cull_data_loader_create(&options, &loader));
            assert_ok(cull_data_loader_submit(loader, places, 3, 0, false));
            assert_ok(cull_data_loader_take(loader, &batch[i]));
            if (i) assert_memory_equal(kept, batch[i].inputs.data, sizeof kept);
            memcpy(kept, batch[i].inputs.data, sizeof kept);
            cull_data_loader_destroy(loader);
        }
        cull_data_close(set[0]);
        if (threads < 3) cull_data_close(set[1]);
    }
    assert_int_equal(0, unlink(place("p/a/0")));
    assert_fails(CULL_IO, "p/a/0: cannot open", cull_data_row_at(set[1], 0, row, &at));
    put_file(place("p/a/0"), "", 0);
    assert_fails(CULL_BAD_FILE, "p/a/0: is empty", cull_data_row_at(set[1], 0, row, &at));
    cull_data_close(set[1]);
}

struct course {
    uint64_t done, most, count, written;
};

/* Told one by one, whoever decodes. */
static bool follow(void *context, const cull_data_progress *p)
{
    struct course *c = context;

    if (!p->reading) c->written = p->done;
    if (!p->reading) return true;
    assert_int_equal(++c->done, p->done);
    c->count = p->count;
    return c->done < c->most;
}

static void a_conversion_tells_how_far_its_reading_is(void **state)
{
    cull_data_request    r = ask("p", CULL_DATA_TRAIN);
    struct course        c = {.most = 4};
    cull_data_conversion options = {.one_role = true, .tell = follow, .context = &c};
    char                 out[512];

    (void)state;
    make_mixed();
    r.side = SIDE;
    (void)snprintf(out, sizeof out, "%s/converted", folder);
    assert_fails(CULL_STOPPED, "p: stopped after 4 examples", cull_data_convert(&r, out, &options));
    assert_int_equal(-1, access(out, F_OK));
    assert_int_equal(24, c.count);
    c = (struct course){.most = UINT64_MAX};
    assert_ok(cull_data_convert(&r, out, &options));
    assert_int_equal(24, c.done);
    assert_int_equal(24, c.written);
}

/* What reading it anew would cost is no concern of who does not. */
static void a_set_gone_through_once_is_not_warned_of(void **state)
{
    cull_data_request    r = ask("p", CULL_DATA_TRAIN);
    const cull_data_once once = {0};
    cull_dataset        *set = NULL;
    bool                 measured = false;

    (void)state;
    make_mixed();
    r.side = SIDE;
    for (int i = 0; i < 2; i++) {
        assert_ok(cull_data_create("pictures", &set));
        set->once = i ? &once : NULL;
        assert_ok(cull_data_pictures_read(&r, 1, 0, set, &measured));
        assert_int_equal(!i, remarked(set, "are read anew in every epoch"));
        cull_data_close(set);
    }
}

static void a_long_header_is_read_whole(void **state)
{
    uint8_t          pixels[3 * AREA] = {0};
    struct jpeg_form f = {
        .width = SIDE, .height = SIDE, .from = JCS_RGB, .stored = JCS_YCbCr, .quality = 90};
    struct made m = make_jpeg(&f, pixels);
    enum { MARKER = 2 + 65535, MARKERS = 3 };
    unsigned char *longer = calloc(1, m.size + (size_t)MARKERS * MARKER);
    cull_dataset  *set = NULL;

    (void)state;
    start();
    memcpy(longer, m.data, 2);
    for (size_t i = 0; i < MARKERS; i++) memcpy(longer + 2 + i * MARKER, "\xff\xe2\xff\xff", 4);
    memcpy(longer + 2 + (size_t)MARKERS * MARKER, m.data + 2, m.size - 2);
    put_file(place("p/a/1.jpg"), longer, m.size + (size_t)MARKERS * MARKER);
    set = opened("p", CULL_DATA_TRAIN);
    assert_int_equal(SIDE, set->width);
    cull_data_close(set);
    free(longer);
    drop(&m);
}

struct opening {
    cull_data_request request;
    uint64_t          most;
};

static cull_status try_to_open(void *context)
{
    const struct opening *o = context;
    cull_dataset         *set = NULL;
    cull_status           status = open_with(o->request, 1, o->most, &set);

    cull_data_close(set);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    cull_data_request r = ask("p", CULL_DATA_TRAIN);

    (void)state;
    start();
    put_png("p/train/a/1.png", 1, 7, 9, 1);
    put_png("p/train/b/1.png", 2, 9, 7, 1);
    put_png("p/test/a/1.png", 2, 9, 7, 1);
    put_square("p/train/c.png", 1);
    put_file(place("p/train/b/2"), "x", 1);
    (void)place("p/val/");
    r.side = 4;
    for (uint64_t most = 0; most < 2; most++)
        assert_survives(try_to_open, &(struct opening){r, most << 20});
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
        cmocka_unit_test(folders_are_classes_and_names_give_the_order),
        cmocka_unit_test(sets_lie_beside_each_other),
        cmocka_unit_test(a_set_that_is_not_there_is_told_of),
        cmocka_unit_test(what_is_no_picture_is_left_out_or_refused),
        cmocka_unit_test(damaged_pictures_are_named),
        cmocka_unit_test(odd_things_in_folders_are_named),
        cmocka_unit_test(sizes_must_agree_or_be_asked_for),
        cmocka_unit_test(grey_pictures_have_one_channel_unless_one_of_either_set_has_colours),
        cmocka_unit_test(a_test_set_of_its_own_is_no_training_set_and_has_its_channels),
        cmocka_unit_test(pictures_to_predict_need_no_class),
        cmocka_unit_test(what_does_not_fit_into_memory_is_the_same_read_by_row),
        cmocka_unit_test(a_conversion_tells_how_far_its_reading_is),
        cmocka_unit_test(a_set_gone_through_once_is_not_warned_of),
        cmocka_unit_test(a_long_header_is_read_whole),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
