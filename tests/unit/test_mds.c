/* tests/unit/test_mds.c - properties of MDS shards: what the format's own library wrote is read to
 * the last byte, damage is named, and packed shards are kept within bounds. */
#include "data/mds.h"

#include <pthread.h>
#include <zstd.h>

#include "data/cells.h"
#include "data/mds_set.h"
#include "files.h"

enum { MOST = 1 << 16 };

#define GOLDEN CULL_SOURCE_DIR "/tests/golden/mds/"

/* ---- what the format's library wrote ---- */

static double element(size_t i, size_t j)
{
    return (double)((37 * i + 11 * j) % 251);
}

static cull_status open_golden(const char *name, cull_data_role role, cull_data_layout layout,
                               cull_dataset **out)
{
    char path[512];

    (void)snprintf(path, sizeof path, GOLDEN "%s", name);
    return cull_data_open(&(cull_data_request){.name = path, .role = role, .layout = layout}, out);
}

/* Channel c of pixel p of a golden example, which lie last where `last` is true. */
static void assert_golden(const cull_dataset *set, bool last)
{
    size_t      area = set->height * set->width;
    uint8_t     buffer[512];
    const void *row = NULL;

    for (size_t i = 0; i < set->count; i++) {
        assert_ok(cull_data_row_at(set, i, buffer, &row));
        for (size_t c = 0; c < set->channels; c++)
            for (size_t p = 0; p < area; p++) {
                double want = element(i, last ? p * set->channels + c : c * area + p);
                double is = set->dtype == CULL_U8 ? ((const uint8_t *)row)[c * area + p]
                                                  : (double)((const float *)row)[c * area + p];
                assert_true(is == want);
            }
    }
}

static void what_its_own_library_wrote_is_read(void **state)
{
    static const struct {
        const char      *name;
        cull_data_layout layout;
        bool             last;
        size_t           channels, height, width, classes, count;
        cull_dtype       dtype;
    } sets[] = {{"plain", CULL_LAYOUT_FIRST, false, 3, 4, 4, 3, 10, CULL_U8},
                {"packed", CULL_LAYOUT_TOLD, false, 5, 1, 1, 3, 10, CULL_F32},
                {"last", CULL_LAYOUT_TOLD, true, 3, 6, 5, 4, 10, CULL_U8},
                {"half", CULL_LAYOUT_TOLD, false, 1, 2, 3, 2, 10, CULL_F32},
                {"bytes", CULL_LAYOUT_TOLD, false, 7, 1, 1, 2, 10, CULL_U8},
                {"raw", CULL_LAYOUT_TOLD, true, 3, 6, 5, 2, 10, CULL_U8},
                {"png", CULL_LAYOUT_TOLD, true, 3, 6, 5, 2, 4, CULL_U8},
                {"roles", CULL_LAYOUT_TOLD, false, 4, 1, 1, 3, 6, CULL_F32}};

    (void)state;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        cull_dataset *set = NULL;
        assert_ok(open_golden(sets[s].name, CULL_DATA_TRAIN, sets[s].layout, &set));
        assert_int_equal(sets[s].dtype, set->dtype);
        assert_int_equal(sets[s].channels, set->channels);
        assert_int_equal(sets[s].height, set->height);
        assert_int_equal(sets[s].width, set->width);
        assert_int_equal(sets[s].classes, set->classes);
        assert_int_equal(sets[s].count, set->count);
        assert_golden(set, sets[s].last);
        for (size_t i = 0; i < set->count; i++)
            assert_int_equal(i % sets[s].classes, cull_data_labels(set)[i]);
        cull_data_close(set);
    }
}

static void names_roles_and_jpegs_are_as_they_were_written(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_ok(open_golden("packed", CULL_DATA_TRAIN, CULL_LAYOUT_TOLD, &set));
    assert_string_equal("ant", set->class_names.text[0]);
    assert_string_equal("cat", set->class_names.text[2]);
    cull_data_close(set);
    assert_ok(open_golden("roles", CULL_DATA_TEST, CULL_LAYOUT_TOLD, &set));
    assert_int_equal(3, set->count);
    assert_golden(set, false);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set",
                 open_golden("half", CULL_DATA_TEST, CULL_LAYOUT_TOLD, &set));
    assert_string_equal("data.test", cull_last_subject());
    assert_ok(open_golden("jpeg", CULL_DATA_TRAIN, CULL_LAYOUT_TOLD, &set));
    for (size_t i = 0; i < 4; i++)
        for (size_t c = 0; c < 3; c++) {
            int want = c == 0 ? 50 * (int)i : c == 1 ? 200 - 50 * (int)i : 100;
            int is = ((const uint8_t *)row_of(set, i))[c * 128 + 64];
            assert_true(abs(want - is) <= 3);
        }
    cull_data_close(set);
}

/* ---- shards of our own, in memory ---- */

struct files {
    char   index[2048];
    char   shard[3][1024];
    size_t bytes[3];
};

static const void *find(const cull_data_folder *folder, const char *name, size_t *bytes)
{
    const struct files *f = folder->self;

    *bytes = strlen(f->index);
    if (strcmp(name, "index.json") == 0) return f->index;
    for (size_t i = 0; i < 3; i++) {
        char own[16];
        (void)snprintf(own, sizeof own, "%zu", i);
        *bytes = f->bytes[i];
        if (strcmp(name, own) == 0 && f->bytes[i]) return f->shard[i];
    }
    return NULL;
}

/* Two samples of one byte array that varies, (3) of uint8, and an int8 label. */
static size_t make_shard(char *out, int first)
{
    const uint32_t head[] = {2, 16, 16 + 11, 16 + 22};

    memcpy(out, head, sizeof head);
    for (int i = 0; i < 2; i++) {
        char sample[] = {6, 0, 0, 0, 8, 1 << 2, 3, (char)(first + i), 5, 6, (char)i};
        memcpy(out + 16 + i * 11, sample, 11);
    }
    return 16 + 22;
}

#define SHARD                                                                                      \
    "{\"column_names\": [\"x\", \"y\"], \"column_encodings\": [\"ndarray\", \"int8\"], "           \
    "\"column_sizes\": [null, 1], \"format\": \"mds\", \"version\": 2, \"compression\": null, "    \
    "\"samples\": 2, \"raw_data\": {\"basename\": \"%d\", \"bytes\": 38}, \"zip_data\": null}"

static cull_data_folder make_files(struct files *f)
{
    *f = (struct files){0};
    (void)snprintf(f->index, sizeof f->index,
                   "{\"version\": 2, \"shards\": [" SHARD ", " SHARD "]}", 0, 1);
    for (int i = 0; i < 2; i++) f->bytes[i] = make_shard(f->shard[i], 10 * i);
    return (cull_data_folder){.path = "here", .find = find, .self = f};
}

static cull_status read_files(const cull_data_folder *folder, const cull_data_request *how,
                              uint64_t most, cull_dataset **out)
{
    cull_status       status = CULL_OK;
    cull_data_request request = *how;
    cull_dataset     *set = NULL;

    request.name = folder->path;
    TRY(cull_data_create("here", &set));
    TRY(cull_data_mds_read(folder, &request, most, set));
    TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

/* Both shards, packed. */
static void pack_files(struct files *f)
{
    char  text[2048], *at = NULL;
    char *from = f->index;

    for (int i = 0; i < 2; i++) {
        char packed[512];
        f->bytes[i] = ZSTD_compress(packed, sizeof packed, f->shard[i], 38, 3);
        assert_false(ZSTD_isError(f->bytes[i]));
        memcpy(f->shard[i], packed, f->bytes[i]);
    }
    text[0] = '\0';
    for (int i = 0; (at = strstr(from, "\"compression\": null")); i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%.*s\"compression\": \"zstd:3\"",
                       (int)(at - from), from);
        from = at + strlen("\"compression\": null");
        at = strstr(from, "\"basename\": \"");
        at[strlen("\"basename\": \"")] = 'r'; /* no plain file is there */
        at = strstr(from, "\"zip_data\": null");
        used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "%.*s\"zip_data\": {\"basename\": \"%d\", \"bytes\": %zu}", (int)(at - from),
                       from, i, f->bytes[i]);
        from = at + strlen("\"zip_data\": null");
    }
    (void)strncat(text, from, sizeof text - strlen(text) - 1);
    memcpy(f->index, text, sizeof text);
}

static void assert_whole(cull_dataset *set)
{
    uint8_t     buffer[3];
    const void *row = NULL;

    assert_int_equal(4, set->count);
    for (size_t i = 0; i < 4; i++) {
        assert_ok(cull_data_row_at(set, i, buffer, &row));
        assert_int_equal(10 * (i / 2) + i % 2, ((const uint8_t *)row)[0]);
        assert_int_equal(i % 2, cull_data_labels(set)[i]);
    }
    cull_data_close(set);
}

static void plain_and_packed_shards_are_the_same(void **state)
{
    struct files      f;
    cull_data_folder  folder = make_files(&f);
    cull_data_request plain = {0};
    cull_dataset     *set = NULL;

    (void)state;
    assert_ok(read_files(&folder, &plain, MOST, &set));
    assert_int_equal(0, set->remarks.count);
    assert_whole(set);
    pack_files(&f);
    assert_ok(read_files(&folder, &plain, MOST, &set));
    assert_int_equal(0, set->remarks.count);
    assert_whole(set);
    assert_ok(read_files(&folder, &plain, 40, &set)); /* one shard at a time */
    assert_non_null(strstr(set->remarks.text[0], "unpacked whole for each example"));
    assert_whole(set);
}

static void indexes_that_promise_something_else_are_refused(void **state)
{
    static const struct {
        const char *was, *is, *sentence;
    } wrongs[] = {
        {"\"shards\": [", "\"shards\": 1, \"more\": [", "\"shards\" is no list"},
        {"\"format\": \"mds\"", "\"format\": \"csv\"", "a shard's format is 'csv'"},
        {"\"version\": 2, \"comp", "\"version\": 3, \"comp", "a shard of version 3"},
        {"\"compression\": null", "\"compression\": \"br:3\"", "packed with br:3"},
        {"[\"x\", \"y\"]", "[\"x\"]", "\"column_encodings\" is no list of 1 to 1"},
        {"\"ndarray\"", "\"ndarray:uint9\"", "'ndarray:uint9', which is no array"},
        {"\"ndarray\"", "\"ndarray:uint8:3,0\"", "which is no array"},
        {"\"ndarray\"", "\"ndarray:uint8:1,1,1,1,1\"", "which is no array"},
        {"\"ndarray\"", "\"ndarray:uint8:70000,70000\"", "beyond 2^32 bytes"},
        {"[null, 1]", "[null, 2]", "has cells of 2 bytes, not 1"},
        {"[null, 1]", "[3, 1]", "has cells of 3 bytes, not 0"},
        {"[null, 1]", "[null, -1]", "is neither null nor a number"},
        {"\"samples\": 2", "\"samples\": 3", "does not begin as a shard of 3 samples"},
        {"\"samples\": 2", "\"samples\": 4294967294", "more than 2^32-2 samples"},
        {"\"basename\": \"0\"", "\"basename\": \"../0\"", "is no file below this folder"},
        {"\"basename\": \"0\"", "\"basename\": \"/0\"", "is no file below this folder"},
        {"\"basename\": \"0\"", "\"basename\": \"a/..\"", "is no file below this folder"},
        {"\"basename\": \"0\"", "\"basename\": \"\"", "is no file below this folder"},
        {"\"bytes\": 38", "\"bytes\": 39", "here/0: 38 bytes, the index promises 39"},
        {"\"bytes\": 38", "\"bytes\": 4294967296", "\"bytes\" is no whole number"},
    };
    char *text = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct files      f;
        cull_data_folder  folder = make_files(&f);
        cull_data_request plain = {0};
        cull_dataset     *set = NULL;
        const char       *at = strstr(f.index, wrongs[i].was);
        char              changed[2048];

        assert_non_null(at);
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - f.index), f.index,
                       wrongs[i].is, at + strlen(wrongs[i].was));
        memcpy(f.index, changed, sizeof changed);
        assert_fails(CULL_BAD_FILE, wrongs[i].sentence, read_files(&folder, &plain, MOST, &set));
    }
    (void)text;
}

static void shards_that_differ_or_are_missing_are_told(void **state)
{
    struct files      f;
    cull_data_folder  folder = make_files(&f);
    cull_data_request plain = {0};
    cull_dataset     *set = NULL;
    char             *second = strstr(f.index + 200, "\"y\"]");

    (void)state;
    second[1] = 'z';
    assert_fails(CULL_BAD_FILE, "shards differ in \"column_names\"",
                 read_files(&folder, &plain, MOST, &set));
    folder = make_files(&f);
    f.bytes[1] = 0;
    assert_fails(CULL_IO, "here/1: cannot open", read_files(&folder, &plain, MOST, &set));
}

static void damaged_samples_are_named(void **state)
{
    static const struct {
        size_t      at;
        char        is;
        const char *sentence;
    } wrongs[] = {{4, 15, "0: sample 0: reaches past the shard"},
                  {8, 12, "0: sample 0: reaches past the shard"},
                  {12, 39, "0: sample 1: reaches past the shard"},
                  {15, 127, "0: sample 1: reaches past the shard"},
                  {0, 3, "does not begin as a shard of 2 samples does"},
                  {16, 7, "sample 0: is too short for its columns"},
                  {16, 5, "sample 0: is longer than its columns"},
                  {19, 127, "sample 0: is too short for its columns"},
                  {20, 7, "sample 0: an array of elements that are not known"},
                  {20, 33, "sample 0: an array of 3 bytes where its shape is 12"},
                  {21, 0, "sample 0: an array of 0 axes"},
                  {21, 5 << 2, "sample 0: an array of 5 axes"},
                  {21, (1 << 2) + 3, "sample 0: the array is cut short"},
                  {22, 0, "sample 0: an array with a side of 0"},
                  {22, 4, "sample 0: an array of 3 bytes where its shape is 4"},
                  {31, 9, "sample 1: an array of int32 (3) where here/0: sample 0 has uint8 (3)"},
                  {26, -1, "sample 0: label -1"}};

    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        for (int packed = 0; packed < 2; packed++) {
            struct files      f;
            cull_data_folder  folder = make_files(&f);
            cull_data_request plain = {0};
            cull_dataset     *set = NULL;

            f.shard[0][wrongs[i].at] = wrongs[i].is;
            if (packed) pack_files(&f);
            assert_fails(CULL_BAD_FILE, wrongs[i].sentence,
                         read_files(&folder, &plain, MOST, &set));
        }
}

static void packing_that_is_damaged_or_lies_is_told(void **state)
{
    struct files      f;
    cull_data_folder  folder = make_files(&f);
    cull_data_request plain = {0};
    cull_dataset     *set = NULL;
    char             *bytes = NULL;

    (void)state;
    pack_files(&f);
    f.shard[0][0]++;
    assert_fails(CULL_BAD_FILE, "is not packed with zstd", read_files(&folder, &plain, MOST, &set));
    folder = make_files(&f);
    pack_files(&f);
    f.shard[0][f.bytes[0] - 1] ^= 0x55;
    f.shard[0][f.bytes[0] - 9] ^= 0x55;
    f.shard[0][6] ^= 0x55;
    assert_int_equal(CULL_BAD_FILE, read_files(&folder, &plain, MOST, &set));
    folder = make_files(&f);
    pack_files(&f);
    bytes = strstr(f.index, "\"bytes\": 38");
    memcpy(bytes, "\"bytes\": 49", 11);
    assert_fails(CULL_BAD_FILE, "unpacks to 38 bytes, the index promises 49",
                 read_files(&folder, &plain, MOST, &set));
    bytes = strstr(f.index, "\"bytes\": 49");
    memcpy(bytes, "\"bytes\": 4e", 11);
    assert_fails(CULL_BAD_FILE, "\"bytes\" is no whole number",
                 read_files(&folder, &plain, MOST, &set));
}

static void columns_are_chosen_by_name_and_kind(void **state)
{
    struct files      f;
    cull_data_folder  folder = make_files(&f);
    cull_data_request how = {.label = "x"};
    cull_dataset     *set = NULL;
    char             *name = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION,
                 "data.label: here has no column 'x' of labels; there are x (ndarray), y (int8)",
                 read_files(&folder, &how, MOST, &set));
    how.label = "w";
    assert_fails(CULL_BAD_OPTION, "has no column 'w' of labels",
                 read_files(&folder, &how, MOST, &set));
    how.label = NULL;
    while ((name = strstr(f.index, "\"y\"]"))) name[1] = 'q'; /* the only one that can be it */
    assert_ok(read_files(&folder, &how, MOST, &set));
    assert_whole(set);
    while ((name = strstr(f.index, "\"int8\""))) memcpy(name, "\"jsn8\"", 6);
    assert_fails(CULL_BAD_OPTION, "does not tell which column is the label",
                 read_files(&folder, &how, MOST, &set));
    how.unlabelled = true;
    assert_ok(read_files(&folder, &how, MOST, &set));
    assert_true(set->unlabelled);
    cull_data_close(set);
    how = (cull_data_request){.side = 8, .unlabelled = true};
    assert_fails(CULL_BAD_OPTION, "data.size: here holds arrays",
                 read_files(&folder, &how, MOST, &set));
    while ((name = strstr(f.index, "\"ndarray\""))) memcpy(name, "\"pklrray\"", 9);
    assert_fails(CULL_BAD_FILE, "no column, or more than one, is an array or picture",
                 read_files(&folder, &how, MOST, &set));
}

/* ---- threads ---- */

struct reader {
    cull_mds *mds;
    unsigned  seed;
    bool      right;
};

static void *read_often(void *context)
{
    struct reader *r = context;

    r->right = true;
    for (size_t n = 0; n < 400; n++) {
        size_t          i = (size_t)(random_uniform(r->seed, n) * 4);
        cull_mds_sample sample = {0};
        if (cull_mds_borrow(r->mds, i, &sample) != CULL_OK) {
            r->right = false;
            continue;
        }
        r->right = r->right && sample.bytes[0] == 6 && sample.cell[0][3] == 10 * (i / 2) + i % 2;
        cull_mds_give_back(r->mds, &sample);
    }
    return NULL;
}

static void threads_share_what_is_unpacked(void **state)
{
    struct files     f;
    cull_data_folder folder = make_files(&f);
    struct reader    readers[4];
    pthread_t        threads[4];

    (void)state;
    pack_files(&f);
    for (uint64_t most = 1; most < 100; most += 45) {
        cull_mds *mds = NULL;
        assert_ok(cull_mds_open(&folder, most, &mds));
        assert_int_equal(most < 76, cull_mds_crowded(mds));
        for (unsigned i = 0; i < 4; i++) {
            readers[i] = (struct reader){.mds = mds, .seed = i};
            assert_int_equal(0, pthread_create(&threads[i], NULL, read_often, &readers[i]));
        }
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
            assert_true(readers[i].right);
        }
        cull_mds_close(mds);
    }
}

static void survives_every_allocation_failure(void **state)
{
    struct files      f;
    cull_data_folder  folder = make_files(&f);
    cull_data_request plain = {0};

    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        cull_status status = CULL_NO_MEMORY;
        if (packed) pack_files(&f);
        for (size_t n = 1; status != CULL_OK; n++) {
            cull_dataset *set = NULL;
            fail_nth_alloc(n);
            status = read_files(&folder, &plain, 40, &set);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
            cull_data_close(set);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_its_own_library_wrote_is_read),
        cmocka_unit_test(names_roles_and_jpegs_are_as_they_were_written),
        cmocka_unit_test(plain_and_packed_shards_are_the_same),
        cmocka_unit_test(indexes_that_promise_something_else_are_refused),
        cmocka_unit_test(shards_that_differ_or_are_missing_are_told),
        cmocka_unit_test(damaged_samples_are_named),
        cmocka_unit_test(packing_that_is_damaged_or_lies_is_told),
        cmocka_unit_test(columns_are_chosen_by_name_and_kind),
        cmocka_unit_test(threads_share_what_is_unpacked),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
