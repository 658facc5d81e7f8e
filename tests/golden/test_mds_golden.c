/*
 * tests/golden/test_mds_golden.c - MDS shards as their own library writes them
 * (tools/make_golden_mds.py), every encoding once: element j of sample i is (37 i + 11 j) % 251.
 */
#include "files.h"

enum { MOST_ROW = 3 * 8 * 16 };

static cull_status open_golden(const char *name, cull_data_role role, cull_data_layout layout,
                               cull_dataset **out)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/tests/golden/mds/%s", CULL_SOURCE_DIR, name);
    return cull_data_open(&(cull_data_request){.name = path, .role = role, .layout = layout}, out);
}

static double number_at(const cull_dataset *set, size_t i, size_t j)
{
    float       buffer[MOST_ROW];
    const void *row = NULL;

    assert_true(cull_data_row(set) <= MOST_ROW);
    assert_ok(cull_data_row_at(set, i, buffer, &row));
    return set->dtype == CULL_U8 ? ((const uint8_t *)row)[j] : (double)((const float *)row)[j];
}

/* What one set is to be; pixels, turned: (H, W, C) in the cells. */
struct golden {
    const char    *name;
    cull_data_role role;
    size_t         count, classes, channels, height, width;
    cull_dtype     dtype;
    bool           turned, numbers; /* numbers: elements follow the formula */
    size_t         period;          /* of labels */
};

static const struct golden goldens[] = {
    {"plain", CULL_DATA_TRAIN, 10, 3, 3, 4, 4, CULL_U8, false, true, 3},
    {"packed", CULL_DATA_TRAIN, 10, 3, 5, 1, 1, CULL_F32, false, true, 3},
    {"last", CULL_DATA_TRAIN, 10, 4, 3, 6, 5, CULL_U8, true, true, 4},
    {"half", CULL_DATA_TRAIN, 10, 2, 1, 2, 3, CULL_F32, false, true, 2},
    {"bytes", CULL_DATA_TRAIN, 10, 2, 7, 1, 1, CULL_U8, false, true, 2},
    {"raw", CULL_DATA_TRAIN, 10, 2, 3, 6, 5, CULL_U8, true, true, 2},
    {"png", CULL_DATA_TRAIN, 4, 2, 3, 6, 5, CULL_U8, true, true, 2},
    {"jpeg", CULL_DATA_TRAIN, 4, 2, 3, 8, 16, CULL_U8, false, false, 2},
    {"roles", CULL_DATA_TRAIN, 6, 3, 4, 1, 1, CULL_F32, false, true, 3},
    {"roles", CULL_DATA_TEST, 3, 3, 4, 1, 1, CULL_F32, false, true, 3},
};

static void check_numbers(const struct golden *g, const cull_dataset *set)
{
    size_t area = g->height * g->width;

    for (size_t i = 0; i < set->count; i++)
        for (size_t c = 0; c < g->channels; c++)
            for (size_t p = 0; p < area; p++) {
                size_t j = g->turned ? p * g->channels + c : c * area + p;
                assert_true(number_at(set, i, c * area + p) == (double)((37 * i + 11 * j) % 251));
            }
}

static void shards_hold_what_was_written(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof goldens / sizeof *goldens; k++) {
        const struct golden *g = &goldens[k];
        cull_dataset        *set = NULL;

        /* (3, 4, 4) may be read both ways */
        assert_ok(
            open_golden(g->name, g->role, k == 0 ? CULL_LAYOUT_FIRST : CULL_LAYOUT_TOLD, &set));
        assert_int_equal(g->count, set->count);
        assert_int_equal(g->classes, set->classes);
        assert_int_equal(g->channels, set->channels);
        assert_int_equal(g->height, set->height);
        assert_int_equal(g->width, set->width);
        assert_int_equal(g->dtype, set->dtype);
        for (size_t i = 0; i < set->count; i++)
            assert_int_equal(i % g->period, cull_data_labels(set)[i]);
        if (g->numbers) check_numbers(g, set);
        cull_data_close(set);
    }
}

static void names_are_classes_and_pictures_are_decoded(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_ok(open_golden("packed", CULL_DATA_TRAIN, CULL_LAYOUT_TOLD, &set));
    assert_int_equal(3, set->class_names.count);
    assert_string_equal("bee", set->class_names.text[1]);
    cull_data_close(set);
    assert_ok(open_golden("jpeg", CULL_DATA_TRAIN, CULL_LAYOUT_TOLD, &set));
    for (size_t i = 0; i < 4; i++) { /* of one colour, which JPEG keeps but for rounding */
        double want[3] = {50. * (double)i, 200 - 50. * (double)i, 100};
        for (size_t c = 0; c < 3; c++) {
            double got = number_at(set, i, c * 128);
            assert_true(got > want[c] - 3 && got < want[c] + 3);
        }
    }
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set (test/ or val/ with index.json)",
                 open_golden("plain", CULL_DATA_TEST, CULL_LAYOUT_TOLD, &set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_hold_what_was_written),
        cmocka_unit_test(names_are_classes_and_pictures_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
