/* tests/unit/test_csv.c - records and fields, as people and programs write them. */
#include "data/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/categories.h"
#include "support.h"

/* All records of a text: fields in brackets, each record on a line with its number. */
static cull_status show_bytes(const void *text, size_t length, char *out, size_t room)
{
    cull_status      status = CULL_OK;
    cull_data_source source = cull_data_source_memory("t.csv", text, length);
    cull_csv         csv = {0};
    bool             more = true;
    size_t           at = 0;

    out[0] = '\0';
    TRY(cull_csv_open(&source, &csv));
    for (;;) {
        TRY(cull_csv_next(&csv, &more));
        if (!more) break;
        at += (size_t)snprintf(out + at, room - at, "%llu", (unsigned long long)csv.line);
        for (size_t f = 0; f < csv.fields; f++)
            at += (size_t)snprintf(out + at, room - at, "[%.*s]", (int)csv.field[f].length,
                                   csv.field[f].text);
        at += (size_t)snprintf(out + at, room - at, "\n");
    }
done:
    cull_csv_close(&csv);
    return status;
}

static cull_status show(const char *text, char out[512])
{
    return show_bytes(text, strlen(text), out, 512);
}

static void records_are_taken_apart(void **state)
{
    static const struct {
        const char *text, *records;
    } cases[] = {
        {"a,b\n1,2\n", "1[a][b]\n2[1][2]\n"},
        {"a,b\n1,2", "1[a][b]\n2[1][2]\n"},
        {"a,b\r\n1,2\r\n", "1[a][b]\n2[1][2]\n"},
        {"a,b\r1,2\r", "1[a][b]\n2[1][2]\n"},
        {"\xef\xbb\xbf"
         "a,b\n1,2\n",
         "1[a][b]\n2[1][2]\n"},
        {"\n\na,b\n\n\n1,2\n\n", "3[a][b]\n6[1][2]\n"},
        {"a;b\n1,5;2\n", "1[a][b]\n2[1,5][2]\n"},
        {"a\tb\n1;5\t2,5\n", "1[a][b]\n2[1;5][2,5]\n"},
        {"\"a,b\";c\n1;2\n", "1[a,b][c]\n2[1][2]\n"},
        {"a,b\n\"x\"\"y\",\"\"\n", "1[a][b]\n2[x\"y][]\n"},
        {"a,b\n\"\"\"\"\"\",1\n", "1[a][b]\n2[\"\"][1]\n"},
        {"a,b\n\"x\ny\",2\n3,4\n", "1[a][b]\n2[x\ny][2]\n4[3][4]\n"},
        {"a , b\n 1,\t2 \n \"x \" ,3\n", "1[a][b]\n2[1][2]\n3[x ][3]\n"},
        {"a,b\n5\" disk,2\n", "1[a][b]\n2[5\" disk][2]\n"},
        {"a,b\n,\n", "1[a][b]\n2[][]\n"},
        {"a\n1\n", "1[a]\n2[1]\n"},
        {"a\n\"\"\n\n1\n\"\"", "1[a]\n2[]\n4[1]\n5[]\n"},
        {"a\t\n1\t\n", "1[a][]\n2[1][]\n"},
        {"", ""},
        {"\n\r\n", ""},
    };
    char out[512];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(show(cases[i].text, out));
        assert_string_equal(cases[i].records, out);
    }
}

static void what_is_no_table_is_named(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"a,b;c\n", "line 1 has 1 commas, 1 semicolons and 0 tabs"},
        {"a,b\n\"x,2\n3,4\n", "a quote that begins in line 2 does not end"},
        {"a,b\n\"x\"y,2\n", "line 2 has text behind a closing quote"},
        {"\xff\xfe"
         "a,",
         "is UTF-16; save it as UTF-8"},
    };
    char  out[512], zero[] = "a,b\n1,2\0\n";
    char *long_one = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_FILE, cases[i].sentence, show(cases[i].text, out));
    assert_fails(CULL_BAD_FILE, "has zero bytes, so it is no text",
                 show_bytes(zero, sizeof zero - 1, out, sizeof out));
    long_one = malloc(CULL_CSV_RECORD + 64);
    assert_non_null(long_one);
    memset(long_one, 'x', CULL_CSV_RECORD + 64);
    memcpy(long_one, "a,b\n\"", 5);
    assert_fails(CULL_BAD_FILE, "line 2 is longer than 16777216 bytes",
                 show_bytes(long_one, CULL_CSV_RECORD + 64, out, sizeof out));
    long_one[4] = 'x';
    long_one[CULL_CSV_FIELD + 5] = '\n';
    assert_fails(CULL_BAD_FILE, "line 2 has a field longer than 65536 bytes",
                 show_bytes(long_one, CULL_CSV_FIELD + 6, out, sizeof out));
    memset(long_one + 4, ',', CULL_CSV_FIELDS);
    assert_fails(CULL_BAD_FILE, "line 2 has more than 65536 columns",
                 show_bytes(long_one, CULL_CSV_FIELDS + 4, out, sizeof out));
    free(long_one);
}

/* Lines of all lengths across the borders of what is read at once. */
static void a_record_may_lie_across_any_border(void **state)
{
    enum { ROWS = 30000 };
    size_t           room = ROWS * 110, at = 0, row = 0;
    char            *text = malloc(room);
    cull_data_source source = {0};
    cull_csv         csv = {0};
    bool             more = true;

    (void)state;
    assert_non_null(text);
    at = (size_t)snprintf(text, room, "number,text\r\n");
    for (int i = 0; i < ROWS; i++)
        at += (size_t)snprintf(text + at, room - at, "%d,\"%.*s\"\"\n\"\r\n", i, i % 83,
                               "..................................................................."
                               ".................");
    source = cull_data_source_memory("t.csv", text, at);
    assert_ok(cull_csv_open(&source, &csv));
    assert_ok(cull_csv_next(&csv, &more));
    for (;; row++) {
        assert_ok(cull_csv_next(&csv, &more));
        if (!more) break;
        assert_int_equal(2, csv.fields);
        assert_int_equal(2 + 2 * row, csv.line);
        assert_int_equal(row, (size_t)strtol(csv.field[0].text, NULL, 10));
        assert_int_equal(row % 83 + 2, csv.field[1].length);
        assert_memory_equal("\"\n", csv.field[1].text + row % 83, 2);
    }
    assert_int_equal(ROWS, row);
    cull_csv_close(&csv);
    free(text);
}

static void categories_are_numbered_as_they_are_met(void **state)
{
    cull_categories c = {0};
    char            text[16];
    size_t          number = 0;
    uint32_t       *place = NULL;

    (void)state;
    assert_int_equal(0, cull_categories_find(&c, "a", 1));
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 3000; i++) {
            int length = snprintf(text, sizeof text, "%zu", (i * 7919) % 3000);
            assert_ok(cull_categories_take(&c, text, (size_t)length, &number));
            assert_int_equal(i, number);
        }
    assert_int_equal(3000, c.texts.count);
    assert_int_equal(3000, cull_categories_find(&c, "3000", 4));
    assert_int_equal(0, cull_categories_find(&c, "0123", 1));
    assert_ok(cull_categories_sort(&c, &place));
    for (size_t i = 0; i < 3000; i++)
        for (size_t j = i + 1; j < 3000 && j < i + 4; j++)
            assert_true((strcmp(c.texts.text[i], c.texts.text[j]) < 0) == (place[i] < place[j]));
    cull_bytes_release(place);
    cull_categories_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_taken_apart),
        cmocka_unit_test(what_is_no_table_is_named),
        cmocka_unit_test(a_record_may_lie_across_any_border),
        cmocka_unit_test(categories_are_numbered_as_they_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
