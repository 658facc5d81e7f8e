/* tests/unit/test_convert.c - properties of sets written anew: the same examples and constants, a
 * few at a time, whole or not at all. */
#include "data/convert.h"

#include <dirent.h>
#include <errno.h>

#include "base/alloc.h"
#include "files.h"

enum { COUNT = 400, CLASSES = 4, C = 3, H = 5, W = 7, ROW = C * H * W };

static char folder[] = FOLDER_TEMPLATE;

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int  count = 0;

    if (!dir) return -1;
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}

/* ---- a set whose rows are made one at a time ---- */

struct decoder {
    const char *rows;
    size_t      bytes, damaged;
};

static cull_status decode(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct decoder *d = rows->self;

    if (row >= d->damaged) return cull_fail(CULL_BAD_FILE, "row %u is damaged", row);
    memcpy(out, d->rows + row * d->bytes, d->bytes);
    return CULL_OK;
}

static void leave(void *self)
{
    (void)self;
}

/* The same examples as `set`, which must outlive it. */
static cull_dataset *decoded(const cull_dataset *set, struct decoder *d)
{
    static const cull_data_rows_class class = {.read = decode, .close = leave};
    cull_dataset   *made = NULL;
    cull_data_rows *rows = NULL;

    *d = (struct decoder){cull_data_base(set), cull_data_row_bytes(set), d->damaged};
    assert_ok(cull_data_create(set->name, &made));
    assert_ok(cull_data_shape(made, "made", set->dtype, set->channels, set->height, set->width));
    assert_ok(cull_data_rows_create(&class, d, NULL, set->count, &rows));
    assert_ok(cull_data_hold(made, "made", rows));
    cull_data_rows_release(rows);
    memcpy(made->target.data, set->target.data, set->count * sizeof(int32_t));
    made->count = set->count;
    made->classes = set->classes;
    for (size_t c = 0; c < set->channels; c++) made->deviation[c] = 1;
    return made;
}

static void read_back(const char *path, const cull_dataset *set)
{
    cull_dataset *back = NULL;

    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
    assert_same_set(set, back);
    cull_data_close(back);
}

static void sets_in_memory_and_decoded_ones_are_written_alike(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};

    (void)state;
    for (size_t t = 0; t < 2; t++)
        for (unsigned threads = 1; threads < 4; threads++) {
            cull_dataset  *set = random_set(types[t], COUNT, CLASSES, C, H, W);
            struct decoder d = {.damaged = COUNT};
            cull_dataset  *made = decoded(set, &d);
            cull_data_way  way[2] = {{.threads = threads}};
            uint64_t       sums[2 * C] = {0};
            const char    *path = path_in(folder, "alike"), *npz = path_in(folder, "alike.npz");

            assert_ok(cull_data_npz_write(set, npz, way[0]));
            read_back(npz, set);
            assert_ok(cull_data_npz_write(made, npz, way[0]));
            read_back(npz, set);
            if (types[t] == CULL_U8)
                way[0].sums = sums;
            else
                assert_ok(cull_data_measure(made));
            assert_ok(cull_data_folder_write((cull_dataset *[2]){made}, path, way));
            read_back(path, set);
            remove_folder(path);
            cull_data_close(made);
            cull_data_close(set);
        }
}

static void an_archive_is_the_same_through_a_pipe(void **state)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, C, H, W);
    const char   *plain = path_in(folder, "plain.npz"), *piped = path_in(folder, "piped.npz");
    const char   *fifo = path_in(folder, "fifo");
    char          command[1200];
    FILE         *reader = NULL;
    void         *data[2] = {NULL, NULL};
    size_t        bytes[2] = {0, 0};

    (void)state;
    assert_int_equal(0, mkfifo(fifo, 0600));
    (void)snprintf(command, sizeof command, "cat '%s' >'%s'", fifo, piped);
    reader = popen(command, "r");
    assert_non_null(reader);
    assert_ok(cull_data_write(set, plain));
    assert_ok(cull_data_write(set, fifo));
    assert_int_equal(0, pclose(reader));
    assert_ok(cull_file_read(plain, &data[0], &bytes[0]));
    assert_ok(cull_file_read(piped, &data[1], &bytes[1]));
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(data[0], data[1], bytes[0]);
    cull_base_free(data[0]);
    cull_base_free(data[1]);
    cull_data_close(set);
}

static void the_first_damaged_row_is_told_of_and_nothing_stays(void **state)
{
    cull_dataset       *set = random_set(CULL_U8, COUNT, CLASSES, C, H, W);
    const cull_data_way way[2] = {{.threads = 3}};

    (void)state;
    for (size_t damaged = 0; damaged < COUNT; damaged += 133) {
        struct decoder d = {.damaged = damaged};
        cull_dataset  *made = decoded(set, &d);
        char           why[64];
        const char    *path = path_in(folder, "damaged");

        (void)snprintf(why, sizeof why, "row %zu is damaged", damaged);
        assert_fails(CULL_BAD_FILE, why,
                     cull_data_folder_write((cull_dataset *[2]){made}, path, way));
        assert_int_equal(-1, entries(path));
        assert_int_equal(0, mkdir(path, 0777));
        assert_fails(CULL_BAD_FILE, why,
                     cull_data_folder_write((cull_dataset *[2]){made}, path, way));
        assert_int_equal(0, entries(path));
        assert_int_equal(0, rmdir(path));
        cull_data_close(made);
    }
    cull_data_close(set);
}

static void what_is_not_finite_is_not_written(void **state)
{
    cull_dataset       *set = random_set(CULL_F32, COUNT, CLASSES, C, H, W);
    const cull_data_way way[2] = {{.threads = 1}};
    struct decoder      d = {.damaged = COUNT};
    cull_dataset       *made = NULL;

    (void)state;
    ((float *)cull_data_base(set))[17 * ROW + 3] = 1.f / 0.f;
    made = decoded(set, &d);
    assert_fails(CULL_BAD_FILE, "number 3 of example 17 is not finite",
                 cull_data_folder_write((cull_dataset *[2]){made}, path_in(folder, "inf"), way));
    assert_fails(CULL_BAD_FILE, "number 3 of example 17 is not finite", cull_data_measure(made));
    cull_data_close(made);
    cull_data_close(set);
}

static bool stop_at_half(void *context, const cull_data_progress *p)
{
    (*(int *)context)++;
    assert_int_equal(CULL_DATA_TRAIN, p->role);
    assert_true(p->done <= p->count);
    return false;
}

static bool count_calls(void *context, const cull_data_progress *p)
{
    uint64_t *done = context;

    assert_true(p->done > done[p->role] && p->done <= p->count);
    done[p->role] = p->done;
    return true;
}

static void write_pair(const char *path)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, C, H, W);
    cull_array    arrays[] = {
           {"x_train", cull_images(cull_data_base(set), CULL_U8, COUNT, C, H, W)},
           {"y_train", cull_vector(cull_data_labels(set), CULL_I32, COUNT)},
           {"x_test", cull_images(cull_data_base(set), CULL_U8, COUNT / 4, C, H, W)},
           {"y_test", cull_vector(cull_data_labels(set), CULL_I32, COUNT / 4)},
    };

    assert_ok(cull_arrays_write(path, arrays, 4));
    cull_data_close(set);
}

static void conversion_tells_how_far_it_is_and_can_be_stopped(void **state)
{
    const char          *path = path_in(folder, "told"), *npz = path_in(folder, "again.npz");
    char                 source[512]; /* outlives more names than path_in() keeps */
    uint64_t             done[2] = {0, 0};
    int                  calls = 0;
    cull_data_conversion options = {.tell = stop_at_half, .context = &calls};
    cull_data_request    request = {.name = source};
    cull_dataset        *back = NULL;

    (void)state;
    (void)snprintf(source, sizeof source, "%s", path_in(folder, "told.npz"));
    write_pair(source);
    assert_fails(CULL_STOPPED, "stopped behind", cull_data_convert(&request, path, &options));
    assert_int_equal(1, calls);
    assert_int_equal(-1, entries(path));
    assert_fails(CULL_STOPPED, "stopped behind", cull_data_convert(&request, npz, &options));
    assert_int_equal(-1, access(npz, F_OK));
    options = (cull_data_conversion){.tell = count_calls, .context = done};
    assert_ok(cull_data_convert(&request, path, &options));
    assert_int_equal(COUNT, done[0]);
    assert_int_equal(COUNT / 4, done[1]);
    assert_int_equal(5, entries(path));
    assert_fails(CULL_EXISTS, "already", cull_data_convert(&request, path, NULL));
    assert_string_equal(path, cull_last_subject());
    assert_fails(CULL_BAD_ARGUMENT, "two arrays",
                 cull_data_convert(&request, path_in(folder, "a.npy"), NULL));
    assert_fails(CULL_EXISTS, "is a file", cull_data_convert(&request, "/dev/null", NULL));
    request.role = CULL_DATA_TEST;
    options.one_role = true;
    done[0] = done[1] = 0;
    assert_ok(cull_data_convert(&request, path_in(folder, "tests"), &options));
    assert_ok(open_set(path_in(folder, "tests"), CULL_DATA_TRAIN, NULL, &back));
    assert_int_equal(COUNT / 4, back->count);
    cull_data_close(back);
}

static void a_folder_is_made_whole_or_it_is_said_that_memory_ran_out(void **state)
{
    const char *source = path_in(folder, "memory.npz"), *path = path_in(folder, "memory");
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    write_pair(source);
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_data_convert(&(cull_data_request){.name = source}, path,
                                   &(cull_data_conversion){.threads = 1});
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        assert_int_equal(status == CULL_OK ? 5 : -1, entries(path));
    }
}

/* A disk that is full, or lost, at any moment leaves no folder that could be taken for a set. */
static int writes_left;

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
int     __real_fsync(int fd);
int     __wrap_fsync(int fd);

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    if (writes_left > 0 && --writes_left == 0) {
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, data, bytes);
}

int __wrap_fsync(int fd)
{
    if (writes_left > 0 && --writes_left == 0) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(fd);
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
    const char *source = path_in(folder, "disk.npz"), *path = path_in(folder, "disk");
    cull_status status = CULL_IO;
    int         n = 1;

    (void)state;
    write_pair(source);
    for (; status != CULL_OK; n++) {
        writes_left = n;
        status = cull_data_convert(&(cull_data_request){.name = source}, path, NULL);
        if (writes_left == 0) {
            /* Where a folder cannot be synced, that alone is no failure. */
            assert_true(status == CULL_IO || status == CULL_OK);
            if (status == CULL_OK && entries(path) == 5) {
                remove_folder(path);
                status = CULL_IO;
                continue;
            }
            assert_int_equal(-1, entries(path));
            continue;
        }
        writes_left = 0;
        assert_ok(status);
    }
    assert_true(n > 10);
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
        cmocka_unit_test(sets_in_memory_and_decoded_ones_are_written_alike),
        cmocka_unit_test(an_archive_is_the_same_through_a_pipe),
        cmocka_unit_test(the_first_damaged_row_is_told_of_and_nothing_stays),
        cmocka_unit_test(what_is_not_finite_is_not_written),
        cmocka_unit_test(conversion_tells_how_far_it_is_and_can_be_stopped),
        cmocka_unit_test(a_folder_is_made_whole_or_it_is_said_that_memory_ran_out),
        cmocka_unit_test(a_full_disk_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
