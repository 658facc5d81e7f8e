/* tests/unit/test_svhn.c - properties of SVHN's reader, on files that libmatio wrote. */
#include <matio.h>
#include <zlib.h>

#include "files.h"

enum { COUNT = 12, PIXELS = 3072 };

static char    folder[] = FOLDER_TEMPLATE;
static uint8_t pixels[COUNT * PIXELS];

/* X and y of some file, to be written in any way. */
struct matrices {
    size_t                 count, labels;
    enum matio_classes     x_class, y_class;
    enum matio_types       x_type, y_type;
    const void            *y;
    size_t                 x_dims[4], y_dims[2];
    int                    x_rank, flags;
    const char            *x_name, *y_name, *other;
    bool                   y_first;
    enum matio_compression packing;
};

static const uint8_t digits[COUNT] = {1, 10, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2};

static struct matrices honest(void)
{
    return (struct matrices){.count = COUNT,
                             .labels = COUNT,
                             .x_class = MAT_C_UINT8,
                             .y_class = MAT_C_UINT8,
                             .x_type = MAT_T_UINT8,
                             .y_type = MAT_T_UINT8,
                             .y = digits,
                             .x_dims = {32, 32, 3, COUNT},
                             .y_dims = {COUNT, 1},
                             .x_rank = 4,
                             .x_name = "X",
                             .y_name = "y",
                             .packing = MAT_COMPRESSION_ZLIB};
}

/* MATLAB's order: pixel (h, w, c) of image n. */
static uint8_t pixel(size_t h, size_t w, size_t c, size_t n)
{
    return (uint8_t)(h * 5 + w * 11 + c * 97 + n * 3 + h * w % 7);
}

static void write_var(mat_t *mat, const char *name, enum matio_classes class, enum matio_types type,
                      int rank, const size_t *dims, const void *data, int flags,
                      enum matio_compression packing)
{
    size_t    copy[4] = {0};
    matvar_t *var = NULL;

    if (!name) return;
    memcpy(copy, dims, (size_t)rank * sizeof *copy);
    var = Mat_VarCreate(name, class, type, rank, copy, (void *)(uintptr_t)data, flags);
    assert_non_null(var);
    assert_int_equal(0, Mat_VarWrite(mat, var, packing));
    Mat_VarFree(var);
}

static const char *write_file(const struct matrices *m)
{
    const char *path = path_in(folder, "t.mat");
    mat_t      *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    double      other[] = {1, 2, 3, 4};

    assert_non_null(mat);
    if (m->other)
        write_var(mat, m->other, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){2, 2}, other, 0,
                  m->packing);
    for (int i = 0; i < 2; i++) {
        if ((i == 0) == m->y_first)
            write_var(mat, m->y_name, m->y_class, m->y_type, 2, m->y_dims, m->y, 0, m->packing);
        else
            write_var(mat, m->x_name, m->x_class, m->x_type, m->x_rank, m->x_dims, pixels, m->flags,
                      m->packing);
    }
    assert_int_equal(0, Mat_Close(mat));
    return path;
}

static cull_status read_path(const char *path, cull_dataset **out)
{
    cull_status status = CULL_OK;

    *out = NULL;
    status = cull_data_create("svhn", out);
    if (status == CULL_OK) status = cull_data_read(&path, 1, 1, cull_data_svhn_parse, *out);
    if (status != CULL_OK) {
        cull_data_close(*out);
        *out = NULL;
    }
    return status;
}

static void assert_read(const cull_dataset *set, size_t count)
{
    assert_int_equal(count, set->count);
    assert_int_equal(10, set->classes);
    for (size_t n = 0; n < count; n++) {
        const uint8_t *image = (const uint8_t *)cull_data_base(set) + n * PIXELS;
        assert_int_equal(digits[n] % 10, cull_data_labels(set)[n]);
        for (size_t c = 0; c < 3; c++)
            for (size_t h = 0; h < 32; h++)
                for (size_t w = 0; w < 32; w++)
                    assert_int_equal(pixel(h, w, c, n), image[c * 1024 + h * 32 + w]);
    }
}

static void images_are_turned_and_ten_is_the_digit_zero(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct matrices m = honest();
        cull_dataset   *set = NULL;
        m.packing = i & 1 ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
        m.y_first = i & 2;
        m.other = i & 4 ? "other" : NULL;
        assert_ok(read_path(write_file(&m), &set));
        assert_read(set, COUNT);
        cull_data_close(set);
    }
}

static void labels_may_be_stored_in_any_whole_type_or_as_doubles(void **state)
{
    double   f64[COUNT];
    int32_t  i32[COUNT];
    uint16_t u16[COUNT];
    const struct {
        enum matio_classes class;
        enum matio_types type;
        const void      *data;
    } cases[] = {{MAT_C_DOUBLE, MAT_T_DOUBLE, f64},
                 {MAT_C_INT32, MAT_T_INT32, i32},
                 {MAT_C_UINT16, MAT_T_UINT16, u16}};

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        f64[i] = digits[i];
        i32[i] = digits[i];
        u16[i] = digits[i];
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matrices m = honest();
        cull_dataset   *set = NULL;
        m.y_class = cases[i].class;
        m.y_type = cases[i].type;
        m.y = cases[i].data;
        m.y_dims[0] = 1;
        m.y_dims[1] = COUNT;
        assert_ok(read_path(write_file(&m), &set));
        assert_read(set, COUNT);
        cull_data_close(set);
    }
}

/* With few labels libmatio puts them into the tag itself. */
static void a_single_example_may_lack_its_dimension(void **state)
{
    struct matrices m = honest();
    cull_dataset   *set = NULL;

    (void)state;
    m.x_rank = 3;
    m.y_dims[0] = 1;
    assert_ok(read_path(write_file(&m), &set));
    assert_read(set, 1);
    cull_data_close(set);
}

static void extra_images_stand_behind_the_others(void **state)
{
    struct matrices m = honest();
    const char     *paths[2] = {0};
    cull_dataset   *set = NULL;

    (void)state;
    paths[0] = paths[1] = write_file(&m);
    assert_ok(cull_data_create("svhn", &set));
    assert_ok(cull_data_read(paths, 2, 1, cull_data_svhn_parse, set));
    assert_int_equal(2 * COUNT, set->count);
    assert_memory_equal(cull_data_base(set), (uint8_t *)cull_data_base(set) + COUNT * PIXELS,
                        COUNT * PIXELS);
    assert_memory_equal(cull_data_labels(set), cull_data_labels(set) + COUNT,
                        COUNT * sizeof *cull_data_labels(set));
    assert_int_equal(2 * COUNT - 1, set->origin[2 * COUNT - 1]);
    cull_data_close(set);
}

static void what_is_not_svhn_is_named(void **state)
{
    static const uint8_t zero[COUNT] = {1, 0, 3}, eleven[COUNT] = {11};
    static const double  half[COUNT] = {1, 2.5};
    cull_dataset        *set = NULL;
    struct matrices      m;

    (void)state;
#define REFUSED(sentence, ...)                                                                     \
    do {                                                                                           \
        m = honest();                                                                              \
        __VA_ARGS__;                                                                               \
        assert_fails(CULL_BAD_FILE, sentence, read_path(write_file(&m), &set));                    \
    } while (0)
    REFUSED("holds no X", m.x_name = NULL);
    REFUSED("holds no y", m.y_name = "Y");
    REFUSED("X is not of uint8", m.x_class = MAT_C_INT8, m.x_type = MAT_T_INT8);
    REFUSED("X is not (32, 32, 3, N)", m.x_dims[2] = 4, m.x_dims[3] = 9);
    REFUSED("X is not (32, 32, 3, N)", m.x_dims[0] = 16, m.x_dims[1] = 64);
    REFUSED("12 images and 11 labels", m.y_dims[0] = COUNT - 1);
    REFUSED("y is not (N, 1)", m.y_dims[0] = 6, m.y_dims[1] = 2);
    REFUSED("y of example 1 is not in 1 to 10", m.y = zero);
    REFUSED("y of example 0 is not in 1 to 10", m.y = eleven);
    REFUSED("y of example 1 is not in 1 to 10", m.y = half, m.y_class = MAT_C_DOUBLE,
            m.y_type = MAT_T_DOUBLE);
#undef REFUSED
}

static size_t slurp(const char *path, uint8_t **out)
{
    size_t bytes = 0;

    assert_ok(cull_file_read(path, (void **)out, &bytes));
    return bytes;
}

static cull_status read_bytes(const uint8_t *bytes, size_t size, cull_dataset **out)
{
    uint8_t         *copy = malloc(size + !size);
    cull_data_source source = {.fd = -1};
    cull_status      status = CULL_OK;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    source = cull_data_source_memory("t.mat", copy, size);
    assert_ok(cull_data_create("svhn", out));
    status = cull_data_svhn_parse(&source, *out);
    if (status != CULL_OK) {
        cull_data_close(*out);
        *out = NULL;
    }
    free(copy);
    return status;
}

static void files_of_other_levels_are_told_by_their_header(void **state)
{
    struct matrices m = honest();
    uint8_t        *bytes = NULL;
    size_t          size = slurp(write_file(&m), &bytes);
    cull_dataset   *set = NULL;

    (void)state;
    bytes[125] = 2;
    assert_fails(CULL_BAD_FILE, "level 7.3", read_bytes(bytes, size, &set));
    bytes[124] = 1;
    bytes[125] = 0;
    assert_fails(CULL_BAD_FILE, "not a little-endian level 5", read_bytes(bytes, size, &set));
    assert_fails(CULL_BAD_FILE, "127 bytes, too short", read_bytes(bytes, 127, &set));
    cull_bytes_release(bytes);
}

static void a_matrix_that_is_there_twice_is_refused(void **state)
{
    (void)state;
    for (int y_first = 0; y_first < 2; y_first++) {
        struct matrices m = honest();
        uint8_t        *bytes = NULL, *twice = NULL;
        size_t          size = 0;
        cull_dataset   *set = NULL;
        m.y_first = y_first;
        size = slurp(write_file(&m), &bytes);
        twice = malloc(2 * size);
        assert_non_null(twice);
        memcpy(twice, bytes, size);
        memcpy(twice + size, bytes + 128, size - 128);
        assert_fails(CULL_BAD_FILE, y_first ? "y is there twice" : "X is there twice",
                     read_bytes(twice, 2 * size - 128, &set));
        free(twice);
        cull_bytes_release(bytes);
    }
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct matrices m = honest();
        uint8_t        *bytes = NULL;
        size_t          size = 0;
        cull_dataset   *set = NULL;
        m.packing = packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
        size = slurp(write_file(&m), &bytes);
        for (size_t cut = 0; cut < size; cut += cut < 400 || cut + 400 > size ? 1 : 97)
            assert_fails(CULL_BAD_FILE, "t.mat: ", read_bytes(bytes, cut, &set));
        cull_bytes_release(bytes);
    }
}

/* In packed files; plain ones have no checksum. */
static void damage_never_changes_pixels_or_labels(void **state)
{
    struct matrices m = honest();
    uint8_t        *bytes = NULL;
    size_t          size = slurp(write_file(&m), &bytes), refused = 0, tried = 0;

    (void)state;
    for (size_t i = 128; i<size; i += i + 300> size || i < 400 ? 1 : 13) {
        cull_dataset *set = NULL;
        bytes[i] ^= 0x41;
        if (read_bytes(bytes, size, &set) == CULL_OK)
            assert_read(set, COUNT);
        else
            refused++;
        tried++;
        cull_data_close(set);
        bytes[i] ^= 0x41;
    }
    assert_true(refused > tried * 9 / 10);
    cull_bytes_release(bytes);
}

static void promises_are_checked_before_memory_is_taken(void **state)
{
    static const uint8_t hundred_million[4] = {0x00, 0xe1, 0xf5, 0x05};
    struct matrices      m = honest();
    uint8_t             *bytes = NULL;
    size_t               size = 0;
    cull_dataset        *set = NULL;

    (void)state;
    m.packing = MAT_COMPRESSION_NONE;
    size = slurp(write_file(&m), &bytes);
    /* header, tag, flags (16), tag of the dimensions, three of them, then N */
    assert_int_equal(COUNT, bytes[128 + 8 + 16 + 8 + 12]);
    memcpy(bytes + 128 + 8 + 16 + 8 + 12, hundred_million, 4);
    assert_fails(CULL_BAD_FILE, "its shape promises 307200000000", read_bytes(bytes, size, &set));
    cull_bytes_release(bytes);
}

/* Both matrices packed anew, X with `more` added to the length it says of itself. */
static size_t pack_again(const uint8_t *plain, size_t size, uint32_t more, uint8_t *out)
{
    size_t at = 128, end = 128;

    memcpy(out, plain, 128);
    while (at < size) {
        uint32_t length = 0, said = 0;
        uLongf   room = 0;
        uint8_t *element = NULL;
        memcpy(&length, plain + at + 4, 4);
        said = length + (at == 128 ? more : 0);
        element = malloc(length + 8);
        assert_non_null(element);
        memcpy(element, plain + at, length + 8);
        memcpy(element + 4, &said, 4);
        room = compressBound(length + 8);
        assert_int_equal(Z_OK, compress(out + end + 8, &room, element, length + 8));
        free(element);
        memcpy(out + end, &(uint32_t){15}, 4);
        memcpy(out + end + 4, &(uint32_t){(uint32_t)room}, 4);
        at += length + 8;
        end += room + 8;
    }
    return end;
}

static void a_packed_matrix_is_as_long_as_it_says(void **state)
{
    struct matrices m = honest();
    uint8_t        *plain = NULL, *packed = NULL;
    size_t          size = 0;
    cull_dataset   *set = NULL;

    (void)state;
    m.packing = MAT_COMPRESSION_NONE;
    size = slurp(write_file(&m), &plain);
    packed = malloc(2 * size);
    assert_non_null(packed);
    assert_ok(read_bytes(packed, pack_again(plain, size, 0, packed), &set));
    assert_read(set, COUNT);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "8 bytes too many in the matrix 'X'",
                 read_bytes(packed, pack_again(plain, size, 8, packed), &set));
    assert_fails(CULL_BAD_FILE, "X promises 36864 bytes, more than there can be",
                 read_bytes(packed, pack_again(plain, size, (uint32_t)-8, packed), &set));
    free(packed);
    cull_bytes_release(plain);
}

static void survives_every_allocation_failure(void **state)
{
    struct matrices m = honest();
    const char     *path = write_file(&m);
    cull_status     status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *set = NULL;
        fail_nth_alloc(n);
        status = read_path(path, &set);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_data_close(set);
    }
}

static int set_up(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT; n++)
        for (size_t c = 0; c < 3; c++)
            for (size_t w = 0; w < 32; w++)
                for (size_t h = 0; h < 32; h++)
                    pixels[h + 32 * (w + 32 * (c + 3 * n))] = pixel(h, w, c, n);
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
        cmocka_unit_test(images_are_turned_and_ten_is_the_digit_zero),
        cmocka_unit_test(labels_may_be_stored_in_any_whole_type_or_as_doubles),
        cmocka_unit_test(a_single_example_may_lack_its_dimension),
        cmocka_unit_test(extra_images_stand_behind_the_others),
        cmocka_unit_test(what_is_not_svhn_is_named),
        cmocka_unit_test(files_of_other_levels_are_told_by_their_header),
        cmocka_unit_test(a_matrix_that_is_there_twice_is_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(damage_never_changes_pixels_or_labels),
        cmocka_unit_test(promises_are_checked_before_memory_is_taken),
        cmocka_unit_test(a_packed_matrix_is_as_long_as_it_says),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
