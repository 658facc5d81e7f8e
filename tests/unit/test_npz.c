/* tests/unit/test_npz.c - properties of archives of arrays: honest ones, hostile ones, writing. */
#include "data/npz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "data/npy.h"
#include "support.h"

enum { ROOM = 1 << 16, COUNT = 100 };

static char folder[] = "/tmp/cull_test_npz_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void)
{
    size_t         count = 0;
    DIR           *dir = opendir(folder);
    struct dirent *entry = NULL;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    (void)closedir(dir);
    return count;
}

static void put_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(bytes, fwrite(data, 1, bytes, file));
    assert_int_equal(0, fclose(file));
}

/* An archive built by hand, so that every field can lie. */
struct archive {
    unsigned char bytes[ROOM];
    size_t        size, central_size;
    unsigned char central[ROOM];
    unsigned      count;
};

struct lie {
    unsigned    method, flags, extra_offset;
    uint32_t    crc_xor, size_add, packed_add;
    const char *local_name;
    bool        zip64, zip64_empty, descriptor, raw;
};

static void add(unsigned char *to, size_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) to[(*at)++] = (unsigned char)(value >> 8 * i);
}

static size_t npy_of_counts(unsigned char *out)
{
    int32_t     x[COUNT] = {0};
    cull_tensor t = cull_vector(x, CULL_I32, COUNT);
    size_t      head = cull_data_npy_header(&t, (char *)out);

    for (int i = 0; i < COUNT; i++) x[i] = i / 10;
    memcpy(out + head, x, sizeof x);
    return head + sizeof x;
}

static size_t deflate_bytes(const unsigned char *data, size_t size, unsigned char *out)
{
    z_stream z = {0};

    assert_int_equal(Z_OK, deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY));
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = ROOM;
    assert_int_equal(Z_STREAM_END, deflate(&z, Z_FINISH));
    (void)deflateEnd(&z);
    return ROOM - z.avail_out;
}

static void add_member(struct archive *a, const char *name, const unsigned char *data, size_t size,
                       const struct lie *lie)
{
    static unsigned char packed[ROOM];
    const char          *local = lie->local_name ? lie->local_name : name;
    size_t               start = a->size, bytes = size, *at = &a->size, *c = &a->central_size;
    uint32_t             crc = (uint32_t)crc32_z(0, data, size) ^ lie->crc_xor,
             said = lie->descriptor ? 0 : crc;
    uint32_t told = (uint32_t)size + lie->size_add, kept = 0;

    memcpy(packed, data, size);
    if (lie->method == 8 && !lie->raw) bytes = deflate_bytes(data, size, packed);
    kept = (uint32_t)bytes + lie->packed_add;
    add(a->bytes, at, 0x04034b50, 4);
    add(a->bytes, at, 20, 2);
    add(a->bytes, at, lie->flags | (lie->descriptor ? 8u : 0u), 2);
    add(a->bytes, at, lie->method, 2);
    add(a->bytes, at, 0, 4);
    add(a->bytes, at, said, 4);
    add(a->bytes, at, lie->zip64 ? UINT32_MAX : lie->descriptor ? 0 : kept, 4);
    add(a->bytes, at, lie->zip64 ? UINT32_MAX : lie->descriptor ? 0 : told, 4);
    add(a->bytes, at, strlen(local), 2);
    add(a->bytes, at, 0, 2);
    for (const char *p = local; *p; p++) add(a->bytes, at, (unsigned char)*p, 1);
    memcpy(a->bytes + *at, packed, bytes);
    *at += bytes;
    if (lie->descriptor) {
        add(a->bytes, at, 0x08074b50, 4);
        add(a->bytes, at, crc, 4);
        add(a->bytes, at, kept, 4);
        add(a->bytes, at, told, 4);
    }
    add(a->central, c, 0x02014b50, 4);
    add(a->central, c, 20, 2);
    add(a->central, c, 20, 2);
    add(a->central, c, lie->flags, 2);
    add(a->central, c, lie->method, 2);
    add(a->central, c, 0, 4);
    add(a->central, c, crc, 4);
    add(a->central, c, lie->zip64 ? UINT32_MAX : kept, 4);
    add(a->central, c, lie->zip64 ? UINT32_MAX : told, 4);
    add(a->central, c, strlen(name), 2);
    add(a->central, c, !lie->zip64 ? 0 : lie->zip64_empty ? 4 : 6 + 4 + 16, 2);
    add(a->central, c, 0, 4), add(a->central, c, 0, 6);
    add(a->central, c, start + lie->extra_offset, 4);
    for (const char *p = name; *p; p++) add(a->central, c, (unsigned char)*p, 1);
    if (lie->zip64) {
        if (!lie->zip64_empty) add(a->central, c, 0x0002cafe, 4), add(a->central, c, 0, 2);
        add(a->central, c, 1, 2);
        add(a->central, c, lie->zip64_empty ? 0 : 16, 2);
        if (!lie->zip64_empty) add(a->central, c, told, 8), add(a->central, c, kept, 8);
    }
    a->count++;
}

static void finish(struct archive *a)
{
    size_t start = a->size;

    memcpy(a->bytes + a->size, a->central, a->central_size);
    a->size += a->central_size;
    add(a->bytes, &a->size, 0x06054b50, 4);
    add(a->bytes, &a->size, 0, 4);
    add(a->bytes, &a->size, a->count, 2);
    add(a->bytes, &a->size, a->count, 2);
    add(a->bytes, &a->size, a->central_size, 4);
    add(a->bytes, &a->size, start, 4);
    add(a->bytes, &a->size, 0, 2);
}

/* Open and read every array; the first failure, if any. */
static cull_status read_all(const void *bytes, size_t size)
{
    cull_status      status = CULL_OK;
    cull_data_source source = cull_data_source_memory("x.npz", bytes, size);
    cull_data_zip    zip = {0};

    TRY(cull_data_zip_open(&source, &zip));
    for (size_t i = 0; i < zip.count; i++) {
        cull_tensor t = {0};
        int32_t     want[COUNT];
        if (cull_data_npz_name(&zip.member[i]) == 0) continue;
        TRY(cull_data_npz_read(&zip, &zip.member[i], &t));
        for (int j = 0; j < COUNT; j++) want[j] = j / 10;
        if (t.dtype != CULL_I32 || t.shape[0] != COUNT || memcmp(want, t.data, sizeof want) != 0)
            status = cull_fail(CULL_BAD_STATE, "read, but not as it was written");
        cull_base_free_aligned(t.data);
        TRY(status);
    }
done:
    cull_data_zip_close(&zip);
    return status;
}

static cull_status read_with(struct archive *a, const struct lie *lie)
{
    static unsigned char npy[ROOM];
    size_t               size = npy_of_counts(npy);

    *a = (struct archive){0};
    add_member(a, "first.npy", npy, size, &(struct lie){0});
    add_member(a, "x.npy", npy, size, lie);
    add_member(a, "readme.txt", npy, 20, &(struct lie){0});
    finish(a);
    return read_all(a->bytes, a->size);
}

static struct archive made;

static void honest_archives_are_read(void **state)
{
    (void)state;
    assert_ok(read_with(&made, &(struct lie){0}));
    assert_ok(read_with(&made, &(struct lie){.method = 8}));
    assert_ok(read_with(&made, &(struct lie){.method = 8, .descriptor = true}));
    assert_ok(read_with(&made, &(struct lie){.descriptor = true}));
    assert_ok(read_with(&made, &(struct lie){.zip64 = true}));
    assert_ok(read_with(&made, &(struct lie){.method = 8, .zip64 = true, .descriptor = true}));
    made = (struct archive){0};
    finish(&made);
    assert_ok(read_all(made.bytes, made.size));
}

static void a_lying_archive_is_refused_with_its_reason(void **state)
{
    static const struct {
        struct lie  lie;
        const char *reason;
    } cases[] = {
        {{.crc_xor = 1}, "x.npz: x.npy: damaged: CRC-32"},
        {{.method = 8, .crc_xor = 1u << 31}, "CRC-32"},
        {{.flags = 1}, "encrypted"},
        {{.method = 12}, "method 12"},
        {{.local_name = "y.npy"}, "disagree"},
        {{.local_name = "longer.npy"}, "disagree"},
        {{.extra_offset = 1}, "not where the directory says"},
        {{.size_add = 1}, "another size than its own"},
        {{.size_add = 4, .packed_add = 4}, "overlaps"},
        {{.size_add = UINT32_MAX, .packed_add = UINT32_MAX}, "the header promises 400"},
        {{.method = 8, .size_add = 1}, "the header promises 400"},
        {{.method = 8, .size_add = 1u << 30}, "cannot unpack to"},
        {{.method = 8, .packed_add = UINT32_MAX}, "cut short"},
        {{.method = 8, .packed_add = 500}, "overlaps"},
        {{.method = 8, .raw = true}, "fewer bytes"},
        {{.zip64 = true, .zip64_empty = true}, "zip64 sizes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_FILE, cases[i].reason, read_with(&made, &cases[i].lie));
}

static void packed_data_must_end_where_the_member_does(void **state)
{
    static unsigned char npy[ROOM], packed[ROOM];
    size_t               size = npy_of_counts(npy), bytes = deflate_bytes(npy, size, packed);
    struct lie           lie = {.method = 8, .raw = true};

    (void)state;
    made = (struct archive){0};
    lie.crc_xor = (uint32_t)(crc32_z(0, npy, size) ^ crc32_z(0, packed, bytes + 3));
    lie.size_add = (uint32_t)(size - bytes - 3);
    add_member(&made, "x.npy", packed, bytes + 3, &lie);
    finish(&made);
    assert_fails(CULL_BAD_FILE, "3 bytes too many", read_all(made.bytes, made.size));
}

static void names_must_be_distinct_and_plain(void **state)
{
    static unsigned char npy[ROOM];
    size_t               size = npy_of_counts(npy);

    (void)state;
    made = (struct archive){0};
    add_member(&made, "x.npy", npy, size, &(struct lie){0});
    add_member(&made, "x.npy", npy, size, &(struct lie){0});
    finish(&made);
    assert_fails(CULL_BAD_FILE, "two members are called x.npy", read_all(made.bytes, made.size));
    made = (struct archive){0};
    add_member(&made, "a\nb.npy", npy, size, &(struct lie){0});
    finish(&made);
    assert_fails(CULL_BAD_FILE, "control character", read_all(made.bytes, made.size));
    made = (struct archive){0};
    add_member(&made, "", npy, size, &(struct lie){0});
    finish(&made);
    assert_fails(CULL_BAD_FILE, "name of 0 bytes", read_all(made.bytes, made.size));
}

static void members_that_share_bytes_are_refused(void **state)
{
    static unsigned char npy[ROOM];
    size_t               size = npy_of_counts(npy);

    (void)state;
    made = (struct archive){0};
    add_member(&made, "x.npy", npy, size, &(struct lie){0});
    made.size = 0; /* the next one takes the same place */
    add_member(&made, "y.npy", npy, size, &(struct lie){0});
    finish(&made);
    assert_fails(CULL_BAD_FILE, "overlaps", read_all(made.bytes, made.size));
}

static void a_cut_archive_is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    assert_ok(read_with(&made, &(struct lie){.method = 8}));
    for (size_t cut = 0; cut < made.size; cut++)
        assert_fails(CULL_BAD_FILE, "x.npz: ", read_all(made.bytes, cut));
    made.bytes[made.size] = 0;
    assert_fails(CULL_BAD_FILE, "no end record", read_all(made.bytes, made.size + 1));
}

static void no_flipped_bit_changes_an_array_unnoticed(void **state)
{
    (void)state;
    for (unsigned method = 0; method <= 8; method += 8) {
        assert_ok(read_with(&made, &(struct lie){.method = method}));
        for (size_t bit = 0; bit < made.size * 8; bit++) {
            cull_status status = CULL_OK;
            made.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            status = read_all(made.bytes, made.size);
            made.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            if (status != CULL_OK && status != CULL_BAD_FILE)
                fail_msg("bit %zu: %s", bit, cull_last_error());
        }
    }
}

static void what_is_written_is_read_back(void **state)
{
    float        x[12] = {0};
    int64_t      y[3] = {1, -2, 3};
    cull_tensor  strided = {x, CULL_F32, 2, {3, 2}, {1, 3}, {0}}, t = {0};
    cull_array   arrays[] = {{"x", cull_matrix(x, CULL_F32, 3, 4)},
                             {"turned", strided},
                             {"a/b", cull_vector(y, CULL_I64, 3)},
                             {"none", cull_vector(y, CULL_I64, 0)}};
    cull_arrays *file = NULL;

    (void)state;
    for (int i = 0; i < 12; i++) x[i] = (float)i;
    assert_ok(cull_arrays_write(path_of("w.npz"), arrays, 4));
    assert_ok(cull_arrays_open(path_of("w.npz"), &file));
    assert_string_equal("x", cull_arrays_name(file, 0));
    assert_string_equal("none", cull_arrays_name(file, 3));
    assert_null(cull_arrays_name(file, 4));
    assert_ok(cull_arrays_get(file, "turned", &t));
    assert_int_equal(2, t.stride[0]);
    for (int i = 0; i < 6; i++) assert_true(((float *)t.data)[i] == x[i / 2 + i % 2 * 3]);
    assert_ok(cull_arrays_get(file, "a/b", &t));
    assert_memory_equal(y, t.data, sizeof y);
    assert_ok(cull_arrays_get(file, "none", &t));
    assert_int_equal(0, t.shape[0]);
    assert_non_null(t.data);
    assert_fails(CULL_BAD_ARGUMENT, "no array is called 'q'; there is x, turned, a/b, none",
                 cull_arrays_get(file, "q", &t));
    assert_null(t.data);
    assert_fails(CULL_BAD_ARGUMENT, "4 arrays where one is wanted",
                 cull_arrays_get(file, NULL, &t));
    cull_arrays_close(file);
    assert_int_equal(1, files_in_folder());
    assert_int_equal(0, unlink(path_of("w.npz")));
}

static void names_that_cannot_be_written_are_refused(void **state)
{
    double     x = 0;
    cull_array arrays[] = {{"x", cull_vector(&x, CULL_F64, 1)},
                           {"x", cull_vector(&x, CULL_F64, 1)}};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "two arrays", cull_arrays_write(path_of("n.npz"), arrays, 2));
    arrays[1].name = "";
    assert_fails(CULL_BAD_ARGUMENT, "array 1", cull_arrays_write(path_of("n.npz"), arrays, 2));
    arrays[1].name = "a\tb";
    assert_fails(CULL_BAD_ARGUMENT, "control", cull_arrays_write(path_of("n.npz"), arrays, 2));
    arrays[1] = (cull_array){"y", {0}};
    assert_fails(CULL_BAD_ARGUMENT, "no data", cull_arrays_write(path_of("n.npz"), arrays, 2));
    assert_int_equal(0, files_in_folder());
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    static double x[4096];
    cull_array    array = {"x", cull_vector(x, CULL_F64, 4096)};
    struct rlimit limit = {0}, old = {0};
    struct stat   info = {0};
    char          text[8] = "";
    FILE         *file = NULL;

    (void)state;
    put_file(path_of("old.npz"), "before", 6);
    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &old));
    limit = old;
    limit.rlim_cur = 8192;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
    assert_fails(CULL_IO, "cannot write", cull_arrays_write(path_of("old.npz"), &array, 1));
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &old));
    assert_int_equal(1, files_in_folder());
    file = fopen(path_of("old.npz"), "rb");
    assert_non_null(file);
    assert_int_equal(6, fread(text, 1, sizeof text, file));
    (void)fclose(file);
    assert_memory_equal("before", text, 6);
    assert_int_equal(0, chmod(path_of("old.npz"), 0600));
    assert_ok(cull_arrays_write(path_of("old.npz"), &array, 1));
    assert_int_equal(0, stat(path_of("old.npz"), &info));
    assert_int_equal(0600, info.st_mode & 0777);
    assert_int_equal(0, unlink(path_of("old.npz")));
    assert_fails(CULL_IO, "/dev/full: cannot write", cull_arrays_write("/dev/full", &array, 1));
    assert_fails(CULL_IO, "cannot create", cull_arrays_write(path_of("no/x.npz"), &array, 1));
    assert_fails(CULL_IO, "is a folder", cull_arrays_write(folder, &array, 1));
    assert_fails(CULL_IO, "without a name", cull_arrays_write("", &array, 1));
}

static void writing_through_a_link_replaces_what_it_names(void **state)
{
    char        target[128];
    struct stat info = {0};
    void       *data = NULL;
    size_t      bytes = 0;

    (void)state;
    (void)snprintf(target, sizeof target, "%s", path_of("real"));
    put_file(target, "old", 3);
    assert_int_equal(0, symlink(target, path_of("link")));
    assert_ok(cull_file_write(path_of("link"), "newer", 5));
    assert_int_equal(0, lstat(path_of("link"), &info));
    assert_true(S_ISLNK(info.st_mode));
    assert_ok(cull_file_read(target, &data, &bytes));
    assert_int_equal(5, bytes);
    assert_memory_equal("newer", data, 5);
    cull_bytes_release(data);
    assert_int_equal(0, unlink(target));
    assert_int_equal(0, unlink(path_of("link")));
}

static void a_pipe_is_read_like_a_file(void **state)
{
    static unsigned char npy[ROOM];
    size_t               size = npy_of_counts(npy);
    int                  ends[2] = {-1, -1};
    char                 path[32];
    cull_arrays         *file = NULL;
    cull_tensor          t = {0};

    (void)state;
    assert_int_equal(0, pipe(ends));
    assert_int_equal(size, write(ends[1], npy, size));
    (void)close(ends[1]);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_ok(cull_arrays_open(path, &file));
    assert_string_equal("", cull_arrays_name(file, 0));
    assert_ok(cull_arrays_get(file, NULL, &t));
    assert_int_equal(9, ((int32_t *)t.data)[99]);
    cull_arrays_close(file);
    (void)close(ends[0]);
}

static void what_is_no_array_file_is_refused(void **state)
{
    cull_arrays *file = NULL;
    void        *data = NULL;
    size_t       bytes = 0;

    (void)state;
    assert_fails(CULL_IO, "cannot open", cull_arrays_open(path_of("none"), &file));
    assert_fails(CULL_IO, "is a folder", cull_arrays_open(folder, &file));
    put_file(path_of("text"), "1 2 3\n", 6);
    assert_fails(CULL_BAD_FILE, "neither", cull_arrays_open(path_of("text"), &file));
    put_file(path_of("text"), "", 0);
    assert_fails(CULL_BAD_FILE, "neither", cull_arrays_open(path_of("text"), &file));
    assert_ok(cull_file_read(path_of("text"), &data, &bytes));
    assert_int_equal(0, bytes);
    cull_bytes_release(data);
    assert_int_equal(0, unlink(path_of("text")));
    assert_fails(CULL_IO, "cannot open", cull_file_read(path_of("text"), &data, &bytes));
    cull_arrays_close(NULL);
}

static cull_status write_and_read(const char *path)
{
    cull_status  status = CULL_OK;
    float        x[6] = {0};
    cull_tensor  strided = {x, CULL_F32, 2, {3, 2}, {1, 3}, {0}}, t = {0};
    cull_array   array = {"x", strided};
    cull_arrays *file = NULL;

    TRY(cull_arrays_write(path, &array, 1));
    TRY(cull_arrays_open(path, &file));
    TRY(cull_arrays_get(file, NULL, &t));
done:
    cull_arrays_close(file);
    return status;
}

static void writing_and_reading_survive_every_allocation_failure(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = write_and_read(path_of("a.npz"));
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(n < 50);
        assert_true(files_in_folder() <= 1);
    }
    assert_int_equal(0, unlink(path_of("a.npz")));
}

static void unpacking_survives_every_allocation_failure(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(read_with(&made, &(struct lie){.method = 8}));
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = read_all(made.bytes, made.size);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(n < 50);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_archives_are_read),
        cmocka_unit_test(a_lying_archive_is_refused_with_its_reason),
        cmocka_unit_test(packed_data_must_end_where_the_member_does),
        cmocka_unit_test(names_must_be_distinct_and_plain),
        cmocka_unit_test(members_that_share_bytes_are_refused),
        cmocka_unit_test(a_cut_archive_is_refused_wherever_it_is_cut),
        cmocka_unit_test(no_flipped_bit_changes_an_array_unnoticed),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(names_that_cannot_be_written_are_refused),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(writing_through_a_link_replaces_what_it_names),
        cmocka_unit_test(a_pipe_is_read_like_a_file),
        cmocka_unit_test(what_is_no_array_file_is_refused),
        cmocka_unit_test(writing_and_reading_survive_every_allocation_failure),
        cmocka_unit_test(unpacking_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
