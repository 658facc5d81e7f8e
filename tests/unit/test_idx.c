/* tests/unit/test_idx.c - properties of the idx reader: plain, packed, broken. */
#include <zlib.h>

#include "files.h"

enum { COUNT = 7, HEIGHT = 5, WIDTH = 4, PIXELS = COUNT * HEIGHT * WIDTH, ROOM = 4096 };

struct bytes {
    unsigned char data[ROOM];
    size_t        size;
};

static void put_word(struct bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        b->data[b->size++] = (unsigned char)(value >> shift);
}

static struct bytes make_images(void)
{
    struct bytes b = {.size = 0};

    put_word(&b, 0x0803);
    put_word(&b, COUNT);
    put_word(&b, HEIGHT);
    put_word(&b, WIDTH);
    for (size_t i = 0; i < PIXELS; i++) b.data[b.size++] = (unsigned char)(i * 3);
    return b;
}

static struct bytes make_labels(void)
{
    struct bytes b = {.size = 0};

    put_word(&b, 0x0801);
    put_word(&b, COUNT);
    for (size_t i = 0; i < COUNT; i++) b.data[b.size++] = (unsigned char)((i * 7) % 10);
    return b;
}

static struct bytes gzipped(const struct bytes *plain)
{
    struct bytes b = {.size = 0};
    z_stream     z = {0};

    assert_int_equal(Z_OK, deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY));
    z.next_in = (unsigned char *)plain->data;
    z.avail_in = (uInt)plain->size;
    z.next_out = b.data;
    z.avail_out = ROOM;
    assert_int_equal(Z_STREAM_END, deflate(&z, Z_FINISH));
    b.size = z.total_out;
    assert_int_equal(Z_OK, deflateEnd(&z));
    return b;
}

/* The reader sees a block of exactly the right size, so that a sanitizer sees its end. */
static cull_status parse(const struct bytes *images, const struct bytes *labels, cull_dataset **out)
{
    unsigned char   *x = malloc(images->size + !images->size), *y = malloc(labels->size + 1);
    cull_data_source files[2] = {{.fd = -1}, {.fd = -1}};
    cull_status      status = CULL_OK;

    assert_true(x && y);
    memcpy(x, images->data, images->size);
    memcpy(y, labels->data, labels->size);
    files[0] = cull_data_source_memory("images", x, images->size);
    files[1] = cull_data_source_memory("labels", y, labels->size);
    *out = NULL;
    status = cull_data_create("idx", out);
    if (status == CULL_OK) status = cull_data_idx_parse(files, *out);
    if (status != CULL_OK) {
        cull_data_close(*out);
        *out = NULL;
    }
    free(x);
    free(y);
    return status;
}

static void assert_read(const cull_dataset *set)
{
    assert_int_equal(COUNT, set->count);
    assert_int_equal(10, set->classes);
    assert_int_equal(1, set->channels);
    assert_int_equal(HEIGHT, set->height);
    assert_int_equal(WIDTH, set->width);
    assert_int_equal(CULL_U8, set->dtype);
    for (size_t i = 0; i < PIXELS; i++)
        assert_int_equal((unsigned char)(i * 3), ((unsigned char *)cull_data_base(set))[i]);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal((i * 7) % 10, cull_data_labels(set)[i]);
        assert_int_equal(i, set->origin[i]);
        assert_int_equal(0, set->marks[i]);
    }
}

static void plain_and_packed_files_are_read_alike(void **state)
{
    struct bytes images[2] = {make_images()}, labels[2] = {make_labels()};

    (void)state;
    images[1] = gzipped(&images[0]);
    labels[1] = gzipped(&labels[0]);
    for (int i = 0; i < 4; i++) {
        cull_dataset *set = NULL;
        assert_ok(parse(&images[i % 2], &labels[i / 2], &set));
        assert_read(set);
        cull_data_close(set);
    }
}

static void every_broken_promise_is_named(void **state)
{
    static const struct {
        size_t      at;
        uint8_t     value;
        bool        labels;
        const char *sentence;
    } cases[] = {
        {0, 1, false, "does not begin as an idx file"},
        {2, 0x0d, false, "elements of type 0d"},
        {3, 1, false, "1 dimensions where 3 are wanted"},
        {3, 3, true, "3 dimensions where 1 are wanted"},
        {7, 0, false, "a dimension is 0"},
        {7, 6, false, "156 bytes, header promises 136"},
        {7, 8, false, "156 bytes, header promises 176"},
        {4, 0xff, false, "header promises"},
        {7, 6, true, "15 bytes, header promises 14"},
        {8, 0xff, false, "header promises"},
        {8, 10, true, "label 10 of example 0; 0 to 9 are labels"},
        {14, 255, true, "label 255 of example 6"},
    };
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes  images = make_images(), labels = make_labels();
        struct bytes *broken = cases[i].labels ? &labels : &images;
        broken->data[cases[i].at] = cases[i].value;
        assert_fails(CULL_BAD_FILE, cases[i].sentence, parse(&images, &labels, &set));
    }
}

static void counts_must_agree(void **state)
{
    struct bytes  images = make_images(), labels = make_labels();
    cull_dataset *set = NULL;

    (void)state;
    labels.data[7] = COUNT - 1;
    labels.size--;
    assert_fails(CULL_BAD_FILE, "images: 7 images, but 6 labels in labels",
                 parse(&images, &labels, &set));
}

static void a_packed_file_cannot_promise_what_it_cannot_hold(void **state)
{
    struct bytes  images = make_images(), labels = make_labels(), packed;
    cull_dataset *set = NULL;

    (void)state;
    images.data[4] = 0x7f; /* two thousand million images */
    packed = gzipped(&images);
    assert_fails(CULL_BAD_FILE, "more than", parse(&packed, &labels, &set));
    images = make_images();
    images.data[7] = COUNT - 1;
    packed = gzipped(&images);
    labels.data[7] = COUNT - 1;
    labels.size--;
    assert_fails(CULL_BAD_FILE, "unpacks to more bytes", parse(&packed, &labels, &set));
    images.data[7] = COUNT + 1;
    packed = gzipped(&images);
    labels = make_labels();
    labels.data[7] = COUNT + 1;
    labels.size++;
    assert_fails(CULL_BAD_FILE, "unpacks to fewer bytes", parse(&packed, &labels, &set));
    images = make_images();
    packed = gzipped(&images);
    packed.data[packed.size++] = 0;
    labels = make_labels();
    assert_fails(CULL_BAD_FILE, "1 bytes too many", parse(&packed, &labels, &set));
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    struct bytes  images = make_images(), labels = make_labels(), packed = gzipped(&images);
    cull_dataset *set = NULL;

    (void)state;
    for (images.size--; images.size != SIZE_MAX; images.size--)
        assert_fails(CULL_BAD_FILE, "images: ", parse(&images, &labels, &set));
    for (packed.size--; packed.size != SIZE_MAX; packed.size--)
        assert_fails(CULL_BAD_FILE, "images: ", parse(&packed, &labels, &set));
}

static void damage_to_a_packed_file_never_changes_pixels(void **state)
{
    struct bytes images = make_images(), labels = make_labels(), packed = gzipped(&images);
    size_t       refused = 0;

    (void)state;
    for (size_t i = 0; i < packed.size * 8; i++) {
        cull_dataset *set = NULL;
        packed.data[i / 8] ^= (unsigned char)(1 << i % 8);
        if (parse(&packed, &labels, &set) == CULL_OK)
            assert_read(set); /* the header's date, say */
        else
            refused++;
        cull_data_close(set);
        packed.data[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    assert_true(refused > packed.size * 4);
}

static void survives_every_allocation_failure(void **state)
{
    struct bytes images = make_images(), labels = make_labels();
    cull_status  status = CULL_NO_MEMORY;

    (void)state;
    images = gzipped(&images);
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *set = NULL;
        fail_nth_alloc(n);
        status = parse(&images, &labels, &set);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_data_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_packed_files_are_read_alike),
        cmocka_unit_test(every_broken_promise_is_named),
        cmocka_unit_test(counts_must_agree),
        cmocka_unit_test(a_packed_file_cannot_promise_what_it_cannot_hold),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(damage_to_a_packed_file_never_changes_pixels),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
