/* test_points.c - points.jsonl: what is written is what is read, and damage is named. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "records/points.h"
#include "support.h"

static int make_folder(void **state)
{
    char *folder = strdup(FOLDER_TEMPLATE);

    *state = folder;
    return !folder || !mkdtemp(folder);
}

static int drop_folder(void **state)
{
    remove_folder(*state);
    free(*state);
    return 0;
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)

static cull_records_points some_points(void)
{
    cull_records_points points = {0};
    cull_records_point  p = {.panel = "cosine",
                             .series = "sb \"beta\"=2",
                             .value = "",
                             .x = 1. / 3,
                             .y = -2,
                             .low = NAN,
                             .high = 7e-12};

    assert_ok(cull_records_points_add(&points, &p));
    p = (cull_records_point){.series = "score", .value = "gradmatch 0.1", .x = NAN, .y = 4};
    assert_ok(cull_records_points_add(&points, &p));
    return points;
}

static void points_are_read_as_they_were_written(void **state)
{
    cull_records_points out = {0}, in = some_points();
    cull_records_list   problems = {0};
    cull_status         status = CULL_NO_MEMORY;
    bool                there = false;

    assert_ok(cull_records_points_write(*state, &in));
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_records_points_clear(&out);
        fail_nth_alloc(n);
        status = cull_records_points_read(*state, &out, &there, &problems);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    assert_true(there);
    assert_int_equal(0, problems.count);
    assert_int_equal(2, out.count);
    assert_string_equal("cosine", out.point[0].panel);
    assert_string_equal("sb \"beta\"=2", out.point[0].series);
    assert_string_equal("", out.point[0].value);
    assert_true(out.point[0].x == 1. / 3 && out.point[0].y == -2 && out.point[0].high == 7e-12);
    assert_true(isnan(out.point[0].low) && isnan(out.point[1].x));
    assert_string_equal("gradmatch 0.1", out.point[1].value);
    cull_records_points_clear(&in);
    cull_records_points_clear(&out);
}

static void a_failing_allocation_leaves_no_half_a_file(void **state)
{
    cull_records_points in = some_points(), out = {0};
    cull_records_list   problems = {0};
    cull_status         status = CULL_NO_MEMORY;
    bool                there = false;

    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_records_points_write(*state, &in);
        fail_nth_alloc(0);
        there = false;
        assert_ok(cull_records_points_read(*state, &out, &there, &problems));
        assert_int_equal(there ? 2 : 0, out.count);
        cull_records_points_clear(&out);
    }
    assert_true(there);
    assert_int_equal(0, problems.count);
    cull_records_points_clear(&in);
}

static void damaged_lines_are_named_and_points_that_are_nowhere_left_out(void **state)
{
    static const char   text[] = "{\"kind\":\"point\",\"series\":\"a\",\"x\":1,\"y\":2}\n"
                                 "no json\n"
                                 "{\"kind\":\"other\",\"series\":\"a\",\"x\":1,\"y\":2}\n"
                                 "{\"kind\":\"point\",\"series\":\"a\",\"x\":null,\"y\":2}\n"
                                 "{\"kind\":\"point\",\"series\":\"a\",\"x\":1,\"y\":1e999}\n"
                                 "{\"kind\":\"point\",\"value\":\"v\",\"y\":3}\n{";
    cull_records_points out = {0};
    cull_records_list   problems = {0};

    (void)state;
    assert_ok(cull_records_points_decode("F", text, strlen(text), &out, &problems));
    assert_int_equal(2, out.count);
    assert_true(out.point[0].y == 2 && out.point[1].y == 3);
    assert_int_equal(1, problems.count);
    assert_string_equal("F: 3 lines from line 2 on are no JSON; skipped", problems.text[0]);
    cull_records_points_clear(&out);
    cull_records_list_clear(&problems);
}

static void a_folder_without_the_file_has_no_points(void **state)
{
    cull_records_points out = {0};
    cull_records_list   problems = {0};
    bool                there = false;

    assert_ok(cull_records_points_read(*state, &out, &there, &problems));
    assert_false(there);
    assert_int_equal(0, out.count + problems.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(points_are_read_as_they_were_written),
        IN_FOLDER(a_failing_allocation_leaves_no_half_a_file),
        cmocka_unit_test(damaged_lines_are_named_and_points_that_are_nowhere_left_out),
        IN_FOLDER(a_folder_without_the_file_has_no_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
