/* tests/unit/test_texts.c - foreign texts: what is clean, and how others are shown. */
#include "base/texts.h"

#include <string.h>

#include "support.h"

static void capitals_of_ascii_do_not_matter(void **state)
{
    (void)state;
    assert_true(cull_text_is("LaBel", 5, "label"));
    assert_false(cull_text_is("label", 4, "label"));
    assert_false(cull_text_is("labels", 6, "label"));
    assert_true(cull_text_is("", 0, ""));
    assert_int_equal('[', cull_text_small('['));
    assert_int_equal('@', cull_text_small('@'));
    assert_int_equal('z', cull_text_small('Z'));
}

static void a_list_is_sorted_by_its_bytes(void **state)
{
    static const char *const met[] = {"b", "\xc3\xa4", "B", "a", "ab", ""};
    static const char *const sorted[] = {"", "B", "a", "ab", "b", "\xc3\xa4"};
    cull_texts               list = {0};

    (void)state;
    cull_texts_sort(&list);
    for (size_t i = 0; i < 6; i++) assert_ok(cull_texts_add(&list, met[i], strlen(met[i])));
    cull_texts_sort(&list);
    for (size_t i = 0; i < 6; i++) assert_string_equal(sorted[i], list.text[i]);
    cull_texts_clear(&list);
}

static void clean_is_utf8_without_control_characters(void **state)
{
    static const char *const clean[] = {
        "", "red", "Größe", "\xe2\x82\xac", "\xf0\x9f\x90\x88", "\xc2\xa0", "\xf4\x8f\xbf\xbf"};
    static const char *const other[] = {"a\n",
                                        "\x1b[31m",
                                        "\x7f",
                                        "\xc2\x85",
                                        "\xff",
                                        "\xc3",
                                        "\xc0\x80",
                                        "\xe0\x80\x80",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80",
                                        "a\x80"};

    (void)state;
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        assert_true(cull_text_clean(clean[i], strlen(clean[i])));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_false(cull_text_clean(other[i], strlen(other[i])));
    assert_false(cull_text_clean("a\0b", 3));
}

static void what_is_shown_is_short_and_clean(void **state)
{
    static const char digits[] = "0123456789012345678901234567890123456789";
    char              out[CULL_TEXT_SHOWN], text[64];

    (void)state;
    assert_string_equal("red", cull_text_show("red and", 3, out));
    assert_string_equal("a?b?[31m?", cull_text_show("a\nb\x1b[31m\xff", 9, out));
    assert_string_equal("Größe", cull_text_show("Größe", strlen("Größe"), out));
    assert_string_equal(digits, cull_text_show(digits, 40, out));
    (void)memcpy(text, digits, 40);
    (void)memcpy(text + 39, "\xc3\xb6!", 3);
    assert_string_equal("012345678901234567890123456789012345678...",
                        cull_text_show(text, 42, out));
    assert_true(cull_text_clean(out, strlen(out)));
}

static void a_sentence_never_holds_what_a_terminal_would_obey(void **state)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"Größe \xf0\x9f\x90\xb1", "Größe \xf0\x9f\x90\xb1"},
                                           {"a\nb\tc", "a?b?c"},
                                           {"\x1b[31mred", "?[31mred"},
                                           {"\x7f\xc2\x9b", "???"},
                                           {"latin \xe4", "latin ?"},
                                           {"cut \xe2\x82", "cut ??"}};
    char                     text[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)memcpy(text, cases[i][0], strlen(cases[i][0]) + 1);
        cull_text_tame(text);
        assert_string_equal(cases[i][1], text);
        (void)cull_fail(CULL_IO, "%s", cases[i][0]);
        assert_string_equal(cases[i][1], cull_last_error());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capitals_of_ascii_do_not_matter),
        cmocka_unit_test(a_list_is_sorted_by_its_bytes),
        cmocka_unit_test(clean_is_utf8_without_control_characters),
        cmocka_unit_test(what_is_shown_is_short_and_clean),
        cmocka_unit_test(a_sentence_never_holds_what_a_terminal_would_obey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
