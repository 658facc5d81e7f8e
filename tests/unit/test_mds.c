/* tests/unit/test_mds.c - properties of reading MDS shards: samples are found by their number in
 * any order and by several threads, and nothing is believed that is not checked. */
#include "data/mds.h"

#include <zstd.h>

#include "base/threads.h"
#include "data/mds_set.h"
#include "files.h"

enum { MOST_FILES = 8, SAMPLES = 5, SHARDS = 4, MOST = 1 << 14 };

/* ---- folders in memory ---- */

struct file {
    char   name[64];
    char   data[MOST];
    size_t size;
};

struct memory {
    cull_data_folder folder;
    struct file      file[MOST_FILES];
    size_t           count;
};

static const void *find(const cull_data_folder *folder, const char *name, size_t *bytes)
{
    const struct memory *m = folder->self;

    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->file[i].name, name) == 0) {
            *bytes = m->file[i].size;
            return m->file[i].data;
        }
    return NULL;
}

static struct file *put_bytes(struct memory *m, const char *name, const void *data, size_t size)
{
    struct file *f = &m->file[m->count++];

    assert_true(m->count <= MOST_FILES && size <= MOST);
    (void)snprintf(f->name, sizeof f->name, "%s", name);
    memcpy(f->data, data, size);
    f->size = size;
    return f;
}

static void put32(char *to, size_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (char)(value >> 8 * i & 0xff);
}

/* A shard of samples of a text ("n0", "n1", ...) and an array of 3 bytes, each first + i. */
static size_t make_shard(char out[MOST], size_t first)
{
    size_t at = 4 * (SAMPLES + 2);

    put32(out, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        put32(out + 4 + 4 * i, at);
        put32(out + at, 2); /* bytes of the text; the array has a size of its own */
        (void)snprintf(out + at + 4, 3, "n%zu", (first + i) % 3);
        memset(out + at + 6, (int)(first + i), 3);
        at += 9;
    }
    put32(out + 4 + 4 * SAMPLES, at);
    return at;
}

static const char columns[] =
    "\"column_names\": [\"label\", \"x\"], \"column_encodings\": [\"str\", "
    "\"ndarray:uint8:3\"], \"column_sizes\": [null, 3]";

/* Shards, packed or not, and the index that promises them; said: what stands in it beside. */
static void make_folder(struct memory *m, bool packed)
{
    char   text[MOST] = "{\"version\": 2, \"shards\": [", raw[MOST] = "", zip[MOST];
    size_t at = strlen(text);

    *m = (struct memory){.folder = {.path = "dir", .find = find}};
    m->folder.self = m;
    for (size_t i = 0; i < SHARDS; i++) {
        char   name[32];
        size_t bytes = make_shard(raw, i * SAMPLES), zipped = 0;

        (void)snprintf(name, sizeof name, "s%zu.mds%s", i, packed ? ".zstd" : "");
        if (packed) zipped = ZSTD_compress(zip, sizeof zip, raw, bytes, 3);
        assert_false(ZSTD_isError(zipped));
        put_bytes(m, name, packed ? zip : raw, packed ? zipped : bytes);
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%s{\"format\": \"mds\", \"version\": 2, \"samples\": %d, %s, "
                               "\"raw_data\": {\"basename\": \"s%zu.mds\", \"bytes\": %zu}",
                               i ? ", " : "", SAMPLES, columns, i, bytes);
        if (packed)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   ", \"compression\": \"zstd:3\", \"zip_data\": {\"basename\": "
                                   "\"s%zu.mds.zstd\", \"bytes\": %zu}",
                                   i, zipped);
        at += (size_t)snprintf(text + at, sizeof text - at, "}");
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "]}");
    put_bytes(m, "index.json", text, at);
}

static struct file *file_of(struct memory *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->file[i].name, name) == 0) return &m->file[i];
    return NULL;
}

/* The first `was` of the index becomes `is`. */
static void change_index(struct memory *m, const char *was, const char *is)
{
    struct file *f = file_of(m, "index.json");
    char        *at = NULL, rest[MOST];

    f->data[f->size] = '\0';
    at = strstr(f->data, was);
    assert_non_null(at);
    (void)snprintf(rest, sizeof rest, "%s", at + strlen(was));
    (void)snprintf(at, (size_t)(f->data + MOST - at), "%s%s", is, rest);
    f->size = strlen(f->data);
}

static cull_status read_set(const struct memory *m, cull_mds_room room, cull_data_request request,
                            cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    bool          measured = false;

    request.name = "dir";
    TRY(cull_data_create("dir", &set));
    TRY(cull_data_mds_read(&m->folder, &request, room, set, &measured));
    if (!measured) TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void assert_rows(const cull_dataset *set)
{
    assert_int_equal(SHARDS * SAMPLES, set->count);
    for (size_t k = 0; k < set->count; k++) {
        size_t      i = k * 7 % set->count;
        uint8_t     buffer[3] = {0};
        const void *row = NULL;
        assert_ok(cull_data_row_at(set, i, buffer, &row));
        for (size_t j = 0; j < 3; j++) assert_int_equal(i, ((const uint8_t *)row)[j]);
        assert_int_equal(i % 3, cull_data_labels(set)[i]);
    }
}

/* ---- properties ---- */

static void samples_are_found_in_any_order_whatever_is_kept(void **state)
{
    static const cull_mds_room rooms[] = {{0, 0}, {200, 0}, {1 << 20, 0}, {0, 1 << 20}};
    struct memory              m;

    (void)state;
    for (int packed = 0; packed < 2; packed++)
        for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
            cull_dataset *set = NULL;
            bool          crowded = packed && r < 2;
            make_folder(&m, packed);
            assert_ok(read_set(&m, rooms[r], (cull_data_request){0}, &set));
            assert_rows(set);
            assert_int_equal((crowded ? 1 : 0) + (rooms[r].rows ? 0 : 1), set->remarks.count);
            assert_string_equal("n1", set->class_names.text[1]);
            cull_data_close(set);
        }
}

/* A shard that was unpacked beside its packed form is read as it is. */
static void a_plain_shard_goes_before_a_packed_one(void **state)
{
    struct memory m;
    char          raw[MOST] = "";
    cull_dataset *set = NULL;

    (void)state;
    make_folder(&m, true);
    put_bytes(&m, "s1.mds", raw, make_shard(raw, SAMPLES));
    file_of(&m, "s1.mds.zstd")->size = 0;
    assert_ok(read_set(&m, (cull_mds_room){0}, (cull_data_request){0}, &set));
    assert_rows(set);
    cull_data_close(set);
}

struct borrower {
    cull_mds *mds;
    uint8_t   wrong[SHARDS * SAMPLES * 8];
};

static void borrow_one(void *context, size_t task, unsigned worker)
{
    struct borrower *b = context;
    cull_mds_sample  sample = {0};
    size_t           i = task * 11 % (SHARDS * SAMPLES);

    (void)worker;
    if (cull_mds_borrow(b->mds, i, &sample) != CULL_OK) {
        b->wrong[task] = 1;
        return;
    }
    for (size_t j = 0; j < 3; j++)
        if (sample.bytes[1] != 3 || sample.cell[1][j] != i) b->wrong[task] = 1;
    cull_mds_give_back(b->mds, &sample);
}

static void several_threads_share_what_is_unpacked(void **state)
{
    struct memory   m;
    struct borrower b = {0};
    cull_team      *team = NULL;

    (void)state;
    make_folder(&m, true);
    assert_ok(cull_mds_open(&m.folder, 100, &b.mds));
    assert_true(cull_mds_crowded(b.mds));
    assert_ok(cull_team_create(4, &team));
    cull_team_run(team, sizeof b.wrong, borrow_one, &b);
    for (size_t i = 0; i < sizeof b.wrong; i++) assert_int_equal(0, b.wrong[i]);
    cull_team_destroy(team);
    cull_mds_close(b.mds);
}

static void what_is_not_as_promised_is_refused(void **state)
{
    enum { GONE = 0 };
    static const struct {
        const char *was, *is, *sentence;
    } cases[] = {
        [GONE] = {"s0.mds\"", "t0.mds\"", "t0.mds: cannot open"},
        {"\"shards\": [", "\"shards\": [], \"x\": [", "\"shards\" is no list of 1 to"},
        {"\"mds\"", "\"csv\"", "a shard's format is 'csv'; mds is read"},
        {"\"mds\", \"version\": 2", "\"mds\", \"version\": 3", "a shard of version 3; 2 is read"},
        {"\"samples\": 5", "\"samples\": -5", "\"samples\" is no whole number"},
        {"\"samples\": 5", "\"samples\": 4294967295", "\"samples\" is no whole number"},
        {"s0.mds\"", "../s0.mds\"", "'../s0.mds' is no file below this folder"},
        {"s0.mds\"", "/s0.mds\"", "'/s0.mds' is no file below this folder"},
        {"s0.mds\"", "a/..\"", "'a/..' is no file below this folder"},
        {"\"bytes\": ", "\"bytes\": 1", "bytes, the index promises 1"},
        {"ndarray:uint8:3", "ndarray:uint8:3,2", "has cells of 3 bytes, not 6"},
        {"ndarray:uint8:3", "ndarray:uint9:3", "is no array of 1 to 4 axes"},
        {"ndarray:uint8:3", "ndarray:uint8:0", "is no array of 1 to 4 axes"},
        {"ndarray:uint8:3", "ndarray:uint8:3,", "is no array of 1 to 4 axes"},
        {"ndarray:uint8:3", "ndarray:uint8:3,1,1,1,1", "is no array of 1 to 4 axes"},
        {"ndarray:uint8:3", "ndarray:uint8:99999,99999", "would be beyond 2^32 bytes"},
        {"[null, 3]", "[null]", "\"column_sizes\" is no list of 2 to 2"},
        {"[null, 3]", "[null, \"3\"]", "the size of column 'x' is neither null nor a number"},
        {"[null, 3]", "[2, 3]", "column 'label' ('str') has cells of 2 bytes, not 0"},
        {"[\"label\", \"x\"]", "[\"label\", 3]", "a column's name or encoding is no text"},
        {"[\"label\", \"x\"]", "[\"label\", \"z\"]", "shards differ in \"column_names\""},
        {"\"format\"", "\"compression\": \"gz\", \"format\"", "shards are packed with gz"},
        {"\"samples\": 5", "\"samples\": 6", "does not begin as a shard of 6 samples does"},
    };
    struct memory m;
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_folder(&m, false);
        change_index(&m, cases[i].was, cases[i].is);
        assert_fails(i == GONE ? CULL_IO : CULL_BAD_FILE, cases[i].sentence,
                     read_set(&m, (cull_mds_room){0}, (cull_data_request){0}, &set));
    }
}

static void assert_damaged(struct memory *m, const char *sentence)
{
    cull_dataset *set = NULL;

    assert_fails(CULL_BAD_FILE, sentence,
                 read_set(m, (cull_mds_room){0}, (cull_data_request){0}, &set));
}

static void damaged_shards_are_refused(void **state)
{
    struct memory m;
    size_t        head = 4 * (SAMPLES + 2);

    (void)state;
    make_folder(&m, false);
    put32(m.file[1].data + 4 + 8, head - 1);
    assert_damaged(&m, "dir/s1.mds: sample 1: reaches past the shard");
    make_folder(&m, false);
    put32(m.file[1].data + 4 + 4 * SAMPLES, 4000);
    assert_damaged(&m, "sample 4: reaches past the shard");
    make_folder(&m, false);
    put32(m.file[1].data + head, 3);
    assert_damaged(&m, "sample 0: is too short for its columns");
    make_folder(&m, false);
    put32(m.file[1].data + head, 0xffffffff);
    assert_damaged(&m, "sample 0: is too short for its columns");
    make_folder(&m, false);
    put32(m.file[1].data + head, 1);
    assert_damaged(&m, "sample 0: is longer than its columns");
    make_folder(&m, false);
    m.file[1].data[head + 4] = ' ';
    m.file[1].data[head + 5] = '\n';
    assert_damaged(&m, "sample 0: there is no label");
    make_folder(&m, true);
    m.file[2].data[0] ^= 1;
    assert_damaged(&m, "dir/s2.mds.zstd: is not packed with zstd");
    make_folder(&m, true);
    m.file[2].data[m.file[2].size - 1] ^= 1;
    m.file[2].data[10] ^= 0x55;
    assert_damaged(&m, "dir/s2.mds.zstd: ");
    make_folder(&m, true);
    change_index(&m, "\"raw_data\": {\"basename\": \"s0.mds\", \"bytes\": ",
                 "\"raw_data\": {\"basename\": \"s0.mds\", \"bytes\": 42949");
    assert_damaged(&m, "cannot unpack to");
}

static void columns_are_chosen_by_name_or_named_as_missing(void **state)
{
    struct memory m;
    cull_dataset *set = NULL;

    (void)state;
    make_folder(&m, false);
    assert_fails(CULL_BAD_OPTION,
                 "data.label: dir has no column 'colour' of labels; there are label (str), x "
                 "(ndarray:uint8:3)",
                 read_set(&m, (cull_mds_room){0}, (cull_data_request){.label = "colour"}, &set));
    assert_fails(CULL_BAD_OPTION, "has no column 'x' of labels",
                 read_set(&m, (cull_mds_room){0}, (cull_data_request){.label = "x"}, &set));
    assert_ok(read_set(&m, (cull_mds_room){0}, (cull_data_request){.label = "label"}, &set));
    cull_data_close(set);
    for (int i = 0; i < SHARDS; i++) change_index(&m, "\"str\"", "\"pkl\"");
    assert_fails(CULL_BAD_OPTION, "data.label: dir does not tell which column is the label",
                 read_set(&m, (cull_mds_room){0}, (cull_data_request){0}, &set));
    assert_ok(read_set(&m, (cull_mds_room){0}, (cull_data_request){.unlabelled = true}, &set));
    assert_true(set->unlabelled);
    cull_data_close(set);
    make_folder(&m, false);
    assert_ok(read_set(&m, (cull_mds_room){0}, (cull_data_request){.unlabelled = true}, &set));
    assert_int_equal(0, set->class_names.count); /* those that are there are nobody's concern */
    cull_data_close(set);
    make_folder(&m, false);
    for (int i = 0; i < SHARDS; i++) change_index(&m, "ndarray:uint8:3", "json");
    for (int i = 0; i < SHARDS; i++) change_index(&m, "[null, 3]", "[null,  3]");
    assert_fails(CULL_BAD_FILE, "no column, or more than one, is an array or picture",
                 read_set(&m, (cull_mds_room){0}, (cull_data_request){0}, &set));
}

/* ---- on disk ---- */

static char folder[] = FOLDER_TEMPLATE;

/* One picture of one pixel and its label, as a set of the folder. */
static void write_picture(const char *set, const char *mode)
{
    char   text[512], shard[64] = {1}, name[64];
    size_t letters = strlen(mode), cell = 12 + letters + (letters == 1 ? 1 : 3),
           end = 16 + cell + 1;

    put32(shard + 4, 12);
    put32(shard + 8, end);
    put32(shard + 12, cell);
    put32(shard + 16, 1);
    put32(shard + 20, 1);
    put32(shard + 24, letters);
    memcpy(shard + 28, mode, letters);
    (void)snprintf(text, sizeof text,
                   "{\"shards\": [{\"format\": \"mds\", \"version\": 2, \"samples\": 1, "
                   "\"column_names\": [\"image\", \"label\"], \"column_encodings\": [\"pil\", "
                   "\"uint8\"], \"column_sizes\": [null, 1], \"raw_data\": {\"basename\": "
                   "\"a.mds\", \"bytes\": %zu}}]}",
                   end);
    (void)mkdir(path_in(folder, set), 0777);
    (void)snprintf(name, sizeof name, "%s/index.json", set);
    put_file(path_in(folder, name), text, strlen(text));
    (void)snprintf(name, sizeof name, "%s/a.mds", set);
    put_file(path_in(folder, name), shard, end);
}

static void grey_pictures_have_one_channel_unless_the_other_set_has_colours(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    write_picture("Train", "L");
    assert_ok(open_set(folder, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(1, set->channels);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set (test/ or val/ with index.json)",
                 open_set(folder, CULL_DATA_TEST, NULL, &set));
    assert_string_equal("data.test", cull_last_subject());
    write_picture("valid", "RGB");
    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        assert_ok(open_set(folder, (cull_data_role)role, NULL, &set));
        assert_int_equal(3, set->channels);
        if (role == CULL_DATA_TEST)
            assert_non_null(strstr(set->remarks.text[0], "its validation set is taken"));
        cull_data_close(set);
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

struct reading {
    struct memory folder;
    cull_mds_room room;
};

static cull_status try_to_read(void *context)
{
    const struct reading *r = context;
    cull_dataset         *set = NULL;
    cull_status           status = read_set(&r->folder, r->room, (cull_data_request){0}, &set);

    cull_data_close(set);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    struct reading r = {0};

    (void)state;
    for (int packed = 0; packed < 2; packed++)
        for (r.room.rows = 0; r.room.rows <= 1 << 20; r.room.rows += 1 << 20) {
            make_folder(&r.folder, packed);
            assert_survives(try_to_read, &r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_found_in_any_order_whatever_is_kept),
        cmocka_unit_test(a_plain_shard_goes_before_a_packed_one),
        cmocka_unit_test(several_threads_share_what_is_unpacked),
        cmocka_unit_test(what_is_not_as_promised_is_refused),
        cmocka_unit_test(damaged_shards_are_refused),
        cmocka_unit_test(grey_pictures_have_one_channel_unless_the_other_set_has_colours),
        cmocka_unit_test(columns_are_chosen_by_name_or_named_as_missing),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
