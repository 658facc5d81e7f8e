/* test_tensorboard.c - event records: checksums, framing and fields, byte by byte. */
#include <string.h>

#include "records/tensorboard.h"
#include "support.h"

static void checksums_are_castagnolis(void **state)
{
    unsigned char zeros[32] = {0};

    (void)state;
    /* RFC 3720, appendix B.4, and the usual check word. */
    assert_int_equal(0x8a9136aau, cull_tensorboard_crc(zeros, sizeof zeros));
    assert_int_equal(0xe3069283u, cull_tensorboard_crc("123456789", 9));
    assert_int_equal(0, cull_tensorboard_crc("", 0));
}

static uint32_t word(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void assert_framed(const unsigned char *record, size_t length)
{
    assert_true(length > 16);
    assert_int_equal(length - 16, word(record));
    assert_int_equal(0, word(record + 4));
    assert_int_equal(mask(cull_tensorboard_crc(record, 8)), word(record + 8));
    assert_int_equal(mask(cull_tensorboard_crc(record + 12, length - 16)),
                     word(record + length - 4));
}

static void a_file_begins_with_its_version(void **state)
{
    unsigned char record[CULL_TENSORBOARD_RECORD];
    size_t        length = cull_tensorboard_begin(1.5, record);

    (void)state;
    assert_framed(record, length);
    assert_int_equal(16 + 9 + 2 + 13, length);
    assert_memory_equal("\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"
                        "brain.Event:2",
                        record + 12, length - 16);
}

static void a_scalar_is_a_summary_of_one_value(void **state)
{
    unsigned char record[CULL_TENSORBOARD_RECORD];
    size_t        length = cull_tensorboard_scalar(1.5, 300, "a/b", .25, record);

    (void)state;
    assert_framed(record, length);
    assert_memory_equal("\x09\0\0\0\0\0\0\xf8\x3f" /* wall_time 1.5   */
                        "\x10\xac\x02"             /* step 300        */
                        "\x2a\x0c\x0a\x0a"         /* summary, value  */
                        "\x0a\x03"
                        "a/b"               /* tag             */
                        "\x15\0\0\x80\x3e", /* simple_value .25 */
                        record + 12, length - 16);
}

static void long_tags_are_cut_to_fit(void **state)
{
    unsigned char record[CULL_TENSORBOARD_RECORD];
    char          tag[200];

    (void)state;
    memset(tag, 't', sizeof tag - 1);
    tag[sizeof tag - 1] = '\0';
    assert_framed(record, cull_tensorboard_scalar(0, UINT64_MAX, tag, 1, record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_castagnolis),
        cmocka_unit_test(a_file_begins_with_its_version),
        cmocka_unit_test(a_scalar_is_a_summary_of_one_value),
        cmocka_unit_test(long_tags_are_cut_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
