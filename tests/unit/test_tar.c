/* tests/unit/test_tar.c - properties of reading tar archives: every file is found where it lies,
 * and nothing is believed that is not checked. */
#include "data/tar.h"

#include "files.h"
#include "tars.h"

static cull_status list(const struct tar *t, cull_tar_list *out)
{
    cull_data_source source = cull_data_source_memory("a.tar", t->data, t->size);

    *out = (cull_tar_list){0};
    return cull_data_tar_list(&source, 0, out);
}

static void assert_refused(struct tar *t, const char *sentence)
{
    cull_tar_list found = {0};

    assert_fails(CULL_BAD_FILE, sentence, list(t, &found));
    cull_data_tar_clear(&found);
    free(t->data);
    *t = (struct tar){0};
}

static void assert_member(const struct tar *t, const cull_tar_list *found, size_t i,
                          const char *name, const char *content)
{
    assert_true(i < found->count);
    assert_string_equal(name, cull_data_tar_name(found, i));
    assert_int_equal(strlen(content), found->member[i].size);
    assert_memory_equal(content, t->data + found->member[i].at, strlen(content));
}

static void files_are_found_where_they_lie(void **state)
{
    struct tar    t = {0};
    cull_tar_list found = {0};
    char          big[1300];

    (void)state;
    memset(big, 'b', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    tar_add(&t, '5', "a/", "", 0);
    tar_add(&t, '0', "./a/one.txt", "one", 3);
    tar_add(&t, '2', "a/link", "", 0);
    tar_add(&t, '\0', "a/.hidden", "x", 1);
    tar_add(&t, '7', "two", big, strlen(big));
    tar_add(&t, '0', "empty", "", 0);
    for (int ended = 0; ended < 3; ended++) {
        assert_ok(list(&t, &found));
        assert_int_equal(ended == 2 ? 4 : 3, found.count);
        assert_member(&t, &found, 0, "a/one.txt", "one");
        assert_member(&t, &found, 1, "two", big);
        assert_member(&t, &found, 2, "empty", "");
        if (ended == 2) assert_member(&t, &found, 3, "behind", "the end");
        cull_data_tar_clear(&found);
        if (ended == 0) tar_end(&t);
        if (ended == 1) tar_add(&t, '0', "behind", "the end", 7);
    }
    free(t.data);
}

static void long_names_come_from_prefix_pax_and_gnu(void **state)
{
    struct tar    t = {0};
    cull_tar_list found = {0};
    char          name[301] = {0}, pax[340];

    (void)state;
    memset(name, 'n', 300);
    tar_add(&t, '0', "short", "1", 1);
    memcpy(t.data + 345, "pre/fix", 7);
    tar_sum(t.data);
    tar_add(&t, 'L', "././@LongLink", name, 301);
    tar_add(&t, '0', name, "2", 1);
    (void)snprintf(pax, sizeof pax, "310 path=%s\n12 comment=\n", name);
    tar_add(&t, 'x', "PaxHeaders/x", pax, strlen(pax));
    tar_add(&t, '0', "cut", "3", 1);
    tar_add(&t, '0', "plain", "4", 1); /* what was said is of the next file alone */
    assert_ok(list(&t, &found));
    assert_member(&t, &found, 0, "pre/fix/short", "1");
    assert_member(&t, &found, 1, name, "2");
    assert_member(&t, &found, 2, name, "3");
    assert_member(&t, &found, 3, "plain", "4");
    cull_data_tar_clear(&found);
    free(t.data);
}

static void sizes_come_from_pax_and_as_numbers(void **state)
{
    struct tar    t = {0};
    cull_tar_list found = {0};

    (void)state;
    tar_add(&t, 'x', "PaxHeaders/x", "9 size=3\n", 9);
    tar_add(&t, '0', "said", "abcde", 5);
    tar_add(&t, '0', "binary", "abcde", 5);
    memcpy(t.data + t.size - 1024 + 124, "\x80\0\0\0\0\0\0\0\0\0\0\5", 12);
    tar_sum(t.data + t.size - 1024);
    assert_ok(list(&t, &found));
    assert_member(&t, &found, 0, "said", "abc");
    assert_member(&t, &found, 1, "binary", "abcde");
    cull_data_tar_clear(&found);
    free(t.data);
}

static void what_is_damaged_is_refused_and_its_place_named(void **state)
{
    struct tar t = {0};

    (void)state;
    tar_append(&t, "no archive", 10);
    assert_refused(&t, "does not begin as a tar archive does");
    tar_append(&t, "x", 1);
    t.size = 100;
    assert_refused(&t, "100 bytes, too short");
    tar_add(&t, '0', "a", "1", 1);
    tar_add(&t, '0', "b", "1", 1);
    t.data[1024 + 5]++;
    assert_refused(&t, "a checksum is wrong, in the header at byte 1024");
    tar_add(&t, '0', "a", "12345", 5);
    t.size -= 510;
    assert_refused(&t, "cut short: 5 bytes behind byte 512 are promised of 514");
    tar_add(&t, '0', "a", "1", 1);
    tar_append(&t, "x", 1);
    t.size -= 100;
    assert_refused(&t, "cut short in the header at byte 1024");
    tar_add(&t, '0', "a", "1", 1);
    memcpy(t.data + 124, "77777777777", 12);
    tar_sum(t.data);
    assert_refused(&t, "cut short");
    tar_add(&t, '0', "a", "1", 1);
    memcpy(t.data + 124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sum(t.data);
    assert_refused(&t, "a size is no number");
    tar_add(&t, '0', "a", "1", 1);
    memcpy(t.data + 124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sum(t.data);
    assert_refused(&t, "a size is no number");
    tar_add(&t, '0', "a", "1", 1);
    memcpy(t.data + 124, "12z", 3);
    tar_sum(t.data);
    assert_refused(&t, "a size is no number");
    tar_add(&t, 'S', "holes", "1", 1);
    assert_refused(&t, "a file with holes");
    tar_add(&t, 'x', "p", "22 GNU.sparse.major=1\n", 22);
    tar_add(&t, '0', "holes", "1", 1);
    assert_refused(&t, "a file with holes");
}

static void extended_headers_are_held_to_their_form(void **state)
{
    static const char *const wrongs[] = {
        "5 a=b\n",    "99 path=x\n", "7 path=\n",  "x path=a\n",
        "9 pathxa\n", "0 path=a\n",  "10 path=aa", "99999999999999999999999 path=x\n",
        "2 \n",       " path=a\n",   "3 =\n\n"};
    struct tar t = {0};
    char      *much = calloc(1, 5000);

    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        tar_add(&t, 'x', "p", wrongs[i], strlen(wrongs[i]));
        tar_add(&t, '0', "a", "1", 1);
        assert_refused(&t, "an extended record is damaged");
    }
    tar_add(&t, 'x', "p", "12 size=-10\n", 12);
    tar_add(&t, '0', "a", "1", 1);
    assert_refused(&t, "a size is no number");
    tar_add(&t, 'x', "p", "28 size=18446744073709551615\n", 28);
    tar_add(&t, '0', "a", "1", 1);
    assert_refused(&t, "an extended record is damaged");
    tar_add(&t, 'x', "p", "29 size=18446744073709551615\n", 29);
    tar_add(&t, '0', "a", "1", 1);
    assert_refused(&t, "cut short");
    assert_non_null(much);
    memset(much, 'n', 4999);
    tar_add(&t, 'L', "l", much, 5000);
    tar_add(&t, '0', "a", "1", 1);
    assert_refused(&t, "a name is too long");
    free(much);
}

static cull_status try_to_list(void *context)
{
    cull_tar_list found = {0};
    cull_status   status = list(context, &found);

    cull_data_tar_clear(&found);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    struct tar t = {0};

    (void)state;
    tar_add(&t, 'L', "l", "a/long/name", 12);
    for (int i = 0; i < 100; i++) tar_add(&t, '0', "a/file", "1", 1);
    assert_survives(try_to_list, &t);
    free(t.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found_where_they_lie),
        cmocka_unit_test(long_names_come_from_prefix_pax_and_gnu),
        cmocka_unit_test(sizes_come_from_pax_and_as_numbers),
        cmocka_unit_test(what_is_damaged_is_refused_and_its_place_named),
        cmocka_unit_test(extended_headers_are_held_to_their_form),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
