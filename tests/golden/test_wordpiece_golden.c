/*
 * tests/golden/test_wordpiece_golden.c - word pieces as the `tokenizers` library gives them
 * (tools/make_golden_text.py): hostile texts by a small vocabulary, and 5,000 reviews by BERT's
 * where CULL_DATA has both.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "data/wordpiece.h"
#include "support.h"

#define GOLDEN CULL_SOURCE_DIR "/tests/golden"

enum { ROOM = 1 << 20 };

static int32_t numbers[ROOM];

/* A text, or one so many times; released with cull_base_free(). */
static char *spell(const json_t *line, size_t *bytes)
{
    const json_t *unit = json_is_array(line) ? json_array_get(line, 0) : line;
    size_t times = json_is_array(line) ? (size_t)json_integer_value(json_array_get(line, 1)) : 1;
    size_t length = json_string_length(unit);
    char  *text = NULL;

    assert_ok(cull_base_alloc(times * length + 1, 1, "a text", &text));
    for (size_t i = 0; i < times; i++) memcpy(text + i * length, json_string_value(unit), length);
    *bytes = times * length;
    return text;
}

static void hostile_texts_give_the_librarys_numbers(void **state)
{
    FILE           *file = fopen(GOLDEN "/wordpiece_cases.txt", "r");
    cull_wordpiece *pieces = NULL;
    char           *line = NULL;
    size_t          room = 0, cases = 0;

    (void)state;
    assert_non_null(file);
    assert_ok(cull_wordpiece_open(GOLDEN "/wordpiece_vocab.txt", &pieces));
    for (; getline(&line, &room, file) > 0; cases++) {
        char   *next = strchr(line, '\t') + 1;
        json_t *text =
            json_loadb(line, (size_t)(next - line), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        size_t count = 0, length = 0;
        char  *bytes = spell(text, &length);

        assert_ok(cull_wordpiece_encode(pieces, bytes, length, ROOM, numbers, &count, NULL));
        for (size_t i = 0; i < count; i++) {
            char *end = NULL;
            long  wanted = strtol(next, &end, 10);
            if (end == next || wanted != numbers[i])
                fail_msg("case %zu, number %zu: %d, expected %ld", cases + 1, i, numbers[i],
                         end == next ? -1 : wanted);
            next = end;
        }
        if (strspn(next, " \n") != strlen(next)) fail_msg("case %zu: too few numbers", cases + 1);
        cull_base_free(bytes);
        json_decref(text);
    }
    assert_true(cases > 60);
    free(line);
    (void)fclose(file);
    cull_wordpiece_close(pieces);
}

static uint64_t hash_of(size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < 4 * count; i++)
        hash = (hash ^ ((const unsigned char *)numbers)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void reviews_give_the_librarys_numbers(void **state)
{
    const char        *root = getenv("CULL_DATA");
    char               path[1024], name[200];
    cull_wordpiece    *pieces = NULL;
    FILE              *file = NULL;
    size_t             wanted = 0, reviews = 0;
    unsigned long long hash = 0;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/bert/vocab.txt", root ? root : "");
    if (!root || access(path, R_OK) != 0) {
        (void)fprintf(stderr, "skipped: CULL_DATA has no bert/vocab.txt\n");
        skip();
    }
    assert_ok(cull_wordpiece_open(path, &pieces));
    file = fopen(GOLDEN "/wordpiece_imdb.txt", "r");
    assert_non_null(file);
    for (; fscanf(file, "%199s %zu %llx", name, &wanted, &hash) == 3; reviews++) {
        void  *text = NULL;
        size_t bytes = 0, count = 0;

        (void)snprintf(path, sizeof path, "%s/aclImdb/%s", root, name);
        assert_ok(cull_file_read(path, &text, &bytes));
        assert_ok(cull_wordpiece_encode(pieces, text, bytes, ROOM, numbers, &count, NULL));
        if (count != wanted || hash_of(count) != hash)
            fail_msg("%s: %zu numbers, expected %zu", name, count, wanted);
        cull_bytes_release(text);
    }
    assert_int_equal(5000, reviews);
    (void)fclose(file);
    cull_wordpiece_close(pieces);
}

static cull_wordpiece *small(void)
{
    static const char lines[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\r\nab\n##c\nc";
    cull_wordpiece   *pieces = NULL;

    assert_ok(cull_wordpiece_parse("small", lines, sizeof lines - 1, &pieces));
    return pieces;
}

static void a_long_text_is_cut_before_its_end_mark(void **state)
{
    cull_wordpiece *pieces = small();
    int32_t         out[4] = {0};
    size_t          count = 0, whole = 0;

    (void)state;
    assert_int_equal(7, cull_wordpiece_count(pieces));
    assert_int_equal(3, cull_wordpiece_find(pieces, "[SEP]"));
    assert_int_equal(-1, cull_wordpiece_find(pieces, "abc"));
    assert_ok(cull_wordpiece_encode(pieces, "abc c", 5, 4, out, &count, &whole));
    assert_int_equal(4, count);
    assert_int_equal(5, whole);
    assert_memory_equal(((int32_t[]){2, 4, 5, 3}), out, sizeof out);
    assert_ok(cull_wordpiece_encode(pieces, "abd", 3, 4, out, &count, &whole));
    assert_memory_equal(((int32_t[]){2, 1, 3}), out, 3 * sizeof *out);
    assert_ok(cull_wordpiece_encode(pieces, NULL, 0, 2, out, &count, NULL));
    assert_memory_equal(((int32_t[]){2, 3}), out, 2 * sizeof *out);
    assert_fails(CULL_BAD_ARGUMENT, "2 are the least",
                 cull_wordpiece_encode(pieces, "a", 1, 1, out, &count, NULL));
    cull_wordpiece_close(pieces);
}

static void bytes_that_are_no_text_are_passed_over(void **state)
{
    cull_wordpiece *pieces = small();
    int32_t         out[8] = {0};
    size_t          count = 0;

    (void)state;
    assert_ok(cull_wordpiece_encode(pieces,
                                    "\xff"
                                    "a\xc3"
                                    "b\x80 \xed\xa0\x80"
                                    "c\xf0\x9f",
                                    13, 8, out, &count, NULL));
    assert_int_equal(4, count);
    assert_memory_equal(((int32_t[]){2, 4, 6, 3}), out, 4 * sizeof *out);
    cull_wordpiece_close(pieces);
}

static void files_that_are_no_vocabulary_are_refused(void **state)
{
    cull_wordpiece *pieces = NULL;

    (void)state;
    assert_fails(CULL_BAD_FILE, "v: line 3 has the piece of line 1 again",
                 cull_wordpiece_parse("v", "a\nb\na\n", 6, &pieces));
    assert_fails(CULL_BAD_FILE, "v: no piece is [PAD]: this is no vocabulary of BERT's",
                 cull_wordpiece_parse("v", "", 0, &pieces));
    assert_fails(CULL_IO, "/nowhere", cull_wordpiece_open("/nowhere", &pieces));
    assert_null(pieces);
}

static void failing_allocations_are_survived(void **state)
{
    static const char lines[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nab\n";
    cull_status       status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_wordpiece *pieces = NULL;
        size_t          count = 0;

        fail_nth_alloc(n);
        status = cull_wordpiece_parse("v", lines, sizeof lines - 1, &pieces);
        if (status == CULL_OK)
            status = cull_wordpiece_encode(pieces, "ab", 2, ROOM, numbers, &count, NULL);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_wordpiece_close(pieces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_texts_give_the_librarys_numbers),
        cmocka_unit_test(reviews_give_the_librarys_numbers),
        cmocka_unit_test(a_long_text_is_cut_before_its_end_mark),
        cmocka_unit_test(bytes_that_are_no_text_are_passed_over),
        cmocka_unit_test(files_that_are_no_vocabulary_are_refused),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
