/* tests/unit/test_cifar.c - properties of the CIFAR-10 and CIFAR-100 readers. */
#include "files.h"

enum { RECORDS = 130, PIXELS = 3072, ROOM = RECORDS * (PIXELS + 2) };

static char           folder[] = FOLDER_TEMPLATE;
static unsigned char *file;

static unsigned char pixel(size_t record, size_t i)
{
    return (unsigned char)(record * 31 + i * 7 + i / 1024);
}

/* More records than the reader takes at once. */
static size_t make(bool hundred)
{
    size_t at = 0;

    for (size_t r = 0; r < RECORDS; r++) {
        if (hundred) file[at++] = (unsigned char)(r % 20);
        file[at++] = (unsigned char)(r % (hundred ? 100 : 10));
        for (size_t i = 0; i < PIXELS; i++) file[at++] = pixel(r, i);
    }
    return at;
}

static cull_status parse(size_t bytes, bool hundred, cull_dataset **out)
{
    unsigned char   *copy = malloc(bytes + !bytes);
    cull_data_source source = {.fd = -1};
    cull_status      status = CULL_OK;

    assert_non_null(copy);
    memcpy(copy, file, bytes);
    source = cull_data_source_memory("batch", copy, bytes);
    *out = NULL;
    status = cull_data_create("cifar", out);
    if (status == CULL_OK)
        status = (hundred ? cull_data_cifar100_parse : cull_data_cifar10_parse)(&source, *out);
    if (status != CULL_OK) {
        cull_data_close(*out);
        *out = NULL;
    }
    free(copy);
    return status;
}

static void records_become_labels_and_planes(void **state)
{
    (void)state;
    for (int hundred = 0; hundred < 2; hundred++) {
        cull_dataset *set = NULL;
        assert_ok(parse(make(hundred), hundred, &set));
        assert_int_equal(RECORDS, set->count);
        assert_int_equal(hundred ? 100 : 10, set->classes);
        assert_int_equal(3, set->channels);
        assert_int_equal(32, set->height);
        assert_int_equal(32, set->width);
        for (size_t r = 0; r < RECORDS; r++) {
            const unsigned char *image = (unsigned char *)cull_data_base(set) + r * PIXELS;
            assert_int_equal(r % set->classes, cull_data_labels(set)[r]);
            for (size_t i = 0; i < PIXELS; i++) assert_int_equal(pixel(r, i), image[i]);
        }
        cull_data_close(set);
    }
}

static void a_size_that_is_no_multiple_of_a_record_is_refused(void **state)
{
    cull_dataset *set = NULL;
    size_t        bytes = make(false);

    (void)state;
    assert_fails(CULL_BAD_FILE, "batch: 0 bytes, no whole number of records of 3073 bytes",
                 parse(0, false, &set));
    assert_fails(CULL_BAD_FILE, "batch: 3072 bytes", parse(3072, false, &set));
    assert_fails(CULL_BAD_FILE, "no whole number of records", parse(bytes - 1, false, &set));
    assert_fails(CULL_BAD_FILE, "no whole number of records", parse(bytes + 1, false, &set));
    assert_fails(CULL_BAD_FILE, "records of 3074 bytes", parse(3073, true, &set));
}

static void labels_out_of_range_are_named(void **state)
{
    cull_dataset *set = NULL;
    size_t        bytes = make(false);

    (void)state;
    file[129 * 3073] = 10;
    assert_fails(CULL_BAD_FILE, "batch: label 10 of example 129; 0 to 9",
                 parse(bytes, false, &set));
    bytes = make(true);
    file[3 * 3074 + 1] = 100;
    assert_fails(CULL_BAD_FILE, "label 100 of example 3; 0 to 99", parse(bytes, true, &set));
    bytes = make(true);
    file[5 * 3074] = 20;
    assert_fails(CULL_BAD_FILE, "coarse label 20 of example 5", parse(bytes, true, &set));
}

static void batches_follow_one_another(void **state)
{
    const char   *paths[2] = {0};
    cull_dataset *set = NULL;

    (void)state;
    (void)make(false);
    paths[0] = path_in(folder, "a.bin");
    paths[1] = path_in(folder, "b.bin");
    put_file(paths[0], file, 2 * 3073);
    put_file(paths[1], file + 2 * 3073, (RECORDS - 2) * 3073);
    assert_ok(cull_data_create("cifar", &set));
    assert_ok(cull_data_read(paths, 2, 1, cull_data_cifar10_parse, set));
    assert_int_equal(RECORDS, set->count);
    for (size_t r = 0; r < RECORDS; r++) {
        assert_int_equal(r % 10, cull_data_labels(set)[r]);
        assert_int_equal(r, set->origin[r]);
        assert_int_equal(pixel(r, 3071), ((unsigned char *)cull_data_base(set))[r * PIXELS + 3071]);
    }
    cull_data_close(set);
}

static void survives_every_allocation_failure(void **state)
{
    cull_status status = CULL_NO_MEMORY;
    size_t      bytes = make(true);

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *set = NULL;
        fail_nth_alloc(n);
        status = parse(bytes, true, &set);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_data_close(set);
    }
}

static int set_up(void **state)
{
    (void)state;
    file = calloc(ROOM, 1);
    return !file || !mkdtemp(folder);
}

static int tear_down(void **state)
{
    (void)state;
    free(file);
    remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_labels_and_planes),
        cmocka_unit_test(a_size_that_is_no_multiple_of_a_record_is_refused),
        cmocka_unit_test(labels_out_of_range_are_named),
        cmocka_unit_test(batches_follow_one_another),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
