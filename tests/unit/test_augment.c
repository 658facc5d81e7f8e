/* tests/unit/test_augment.c - properties of what is done to examples on their way to a network. */
#include "data/transform.h"

#include <math.h>

#include "files.h"

enum { COUNT = 40, C = 3, H = 8, W = 7, ROW = C * H * W };

static const cull_data_form forms[] = {
    {CULL_F32, false}, {CULL_F32, true}, {CULL_F64, false}, {CULL_F64, true}};

static double at(const void *out, cull_data_form form, size_t i, size_t c, size_t y, size_t x)
{
    size_t place = form.channels_last ? (y * W + x) * C + c : (c * H + y) * W + x;

    return form.dtype == CULL_F32 ? (double)((const float *)out)[i * ROW + place]
                                  : ((const double *)out)[i * ROW + place];
}

static double stored(const cull_dataset *set, size_t i, size_t c, size_t y, size_t x)
{
    size_t place = i * ROW + (c * H + y) * W + x;

    return set->dtype == CULL_U8 ? ((const uint8_t *)cull_data_base(set))[place] / 255.
                                 : (double)((const float *)cull_data_base(set))[place];
}

static double normal(const cull_dataset *set, size_t c, double value)
{
    return (value - set->mean[c]) / set->deviation[c];
}

/* float: two roundings of numbers of a few units; double: of 16 digits. */
static double tolerance(cull_data_form form)
{
    return form.dtype == CULL_F32 ? 2e-6 : 1e-13;
}

static void evaluation_only_normalises(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};
    static const uint32_t   places[] = {5, 0, 39, 5};
    double                  out[4 * ROW];

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *set = random_set(types[t], COUNT, 10, C, H, W);
        for (size_t f = 0; f < 4; f++) {
            assert_ok(cull_data_transform(set, NULL, forms[f], 3, places, 4, out));
            for (size_t i = 0; i < 4; i++)
                for (size_t c = 0; c < C; c++)
                    for (size_t y = 0; y < H; y++)
                        for (size_t x = 0; x < W; x++)
                            assert_true(fabs(at(out, forms[f], i, c, y, x) -
                                             normal(set, c, stored(set, places[i], c, y, x))) <
                                        tolerance(forms[f]));
        }
        cull_data_close(set);
    }
}

static void features_are_normalised_one_by_one(void **state)
{
    static const cull_dtype types[] = {CULL_U8, CULL_F32};
    static const uint32_t   places[] = {2, 1};
    double                  out[2 * 9];

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *set = random_set(types[t], 5, 2, 9, 1, 1);
        for (size_t f = 0; f < 4; f++) {
            assert_ok(cull_data_transform(set, NULL, forms[f], 0, places, 2, out));
            for (size_t i = 0; i < 18; i++) {
                size_t from = places[i / 9] * 9 + i % 9;
                double x = types[t] == CULL_U8 ? ((uint8_t *)cull_data_base(set))[from] / 255.
                                               : (double)((float *)cull_data_base(set))[from];
                double y = forms[f].dtype == CULL_F32 ? (double)((float *)(void *)out)[i] : out[i];
                assert_true(fabs(y - normal(set, i % 9, x)) < tolerance(forms[f]));
            }
        }
        cull_data_close(set);
    }
}

/* The value at (y, x) of the window at (top, left), by the definition of the two paddings. */
static double expected(const cull_dataset *set, const cull_data_augment *a, size_t i, size_t c,
                       size_t top, size_t left, bool mirrored, size_t y, size_t x)
{
    long sy = (long)(top + y) - (long)a->pad;
    long sx = (long)(left + (mirrored ? W - 1 - x : x)) - (long)a->pad;

    if (a->reflect) {
        sy = labs(sy);
        sx = labs(sx);
        if (sy >= H) sy = 2 * (H - 1) - sy;
        if (sx >= W) sx = 2 * (W - 1) - sx;
    }
    if (sy < 0 || sx < 0 || sy >= H || sx >= W) return normal(set, c, 0);
    return normal(set, c, stored(set, i, c, (size_t)sy, (size_t)sx));
}

/* Is example i this window? */
static bool is_window(const cull_dataset *set, const cull_data_augment *a, cull_data_form form,
                      const void *out, size_t i, size_t top, size_t left, bool mirrored)
{
    for (size_t c = 0; c < C; c++)
        for (size_t y = 0; y < H; y++)
            for (size_t x = 0; x < W; x++)
                if (fabs(at(out, form, i, c, y, x) -
                         expected(set, a, i, c, top, left, mirrored, y, x)) >= tolerance(form))
                    return false;
    return true;
}

/* Looks for the window that an example is; random pixels leave no doubt which it is. */
static void find_window(const cull_dataset *set, const cull_data_augment *a, cull_data_form form,
                        const void *out, size_t i, size_t *code)
{
    for (size_t top = 0; top <= 2 * a->pad; top++)
        for (size_t left = 0; left <= 2 * a->pad; left++)
            for (int mirrored = 0; mirrored <= (a->flip ? 1 : 0); mirrored++)
                if (is_window(set, a, form, out, i, top, left, mirrored)) {
                    *code = (top * 100 + left) * 2 + (size_t)mirrored;
                    return;
                }
    fail_msg("example %zu is no window of its padded image", i);
}

static void every_example_is_a_window_alike_in_every_form(void **state)
{
    static const cull_dtype        types[] = {CULL_U8, CULL_F32};
    static const cull_data_augment cases[] = {{.pad = 4, .flip = true, .seed = 3},
                                              {.pad = 3, .reflect = true, .flip = true, .seed = 4},
                                              {.flip = true, .seed = 5},
                                              {.pad = 9, .seed = 6}};
    double                         out[COUNT * ROW];
    uint32_t                       places[COUNT];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) places[i] = i;
    for (size_t t = 0; t < 2; t++) {
        cull_dataset *set = random_set(types[t], COUNT, 10, C, H, W);
        for (size_t k = 0; k < 4; k++) {
            size_t code[4][COUNT] = {{0}}, distinct = 0;
            for (size_t f = 0; f < 4; f++) {
                assert_ok(cull_data_transform(set, &cases[k], forms[f], 7, places, COUNT, out));
                for (size_t i = 0; i < COUNT; i++)
                    find_window(set, &cases[k], forms[f], out, i, &code[f][i]);
                assert_memory_equal(code[0], code[f], sizeof code[0]);
            }
            for (size_t i = 1; i < COUNT; i++) distinct += code[0][i] != code[0][0];
            assert_true(distinct > 5);
        }
        cull_data_close(set);
    }
}

static void pixels_depend_on_epoch_and_place_alone(void **state)
{
    cull_data_augment a = {.pad = 2, .flip = true, .cutout = 4, .seed = 9};
    cull_dataset     *set = random_set(CULL_U8, COUNT, 10, C, H, W);
    uint32_t          places[COUNT];
    float             all[COUNT * ROW], one[ROW];
    size_t            moved = 0;

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) places[i] = i;
    assert_ok(cull_data_transform(set, &a, forms[0], 11, places, COUNT, all));
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t place = COUNT - 1 - i;
        assert_ok(cull_data_transform(set, &a, forms[0], 11, &place, 1, one));
        assert_memory_equal(one, all + (size_t)place * ROW, sizeof one);
        assert_ok(cull_data_transform(set, &a, forms[0], 12, &place, 1, one));
        moved += memcmp(one, all + (size_t)place * ROW, sizeof one) != 0;
    }
    assert_true(moved > COUNT / 2);
    a.seed++;
    moved = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ok(cull_data_transform(set, &a, forms[0], 11, &i, 1, one));
        moved += memcmp(one, all + (size_t)i * ROW, sizeof one) != 0;
    }
    assert_true(moved > COUNT / 2);
    cull_data_close(set);
}

/* A place's draws stay its own, wherever its row lies: as in a set of another order, or alone. */
static void rows_are_found_by_a_list_or_packed(void **state)
{
    cull_data_augment a = {.pad = 3, .reflect = true, .flip = true, .cutout = 2, .seed = 4};
    cull_dataset     *set = random_set(CULL_U8, COUNT, 10, C, H, W);
    cull_augment_desc desc = cull_data_describe(set, &a, forms[1]);
    uint32_t          row[COUNT], places[COUNT];
    uint8_t           turned[COUNT * ROW], packed[COUNT * ROW];
    float             plain[COUNT * ROW], out[COUNT * ROW];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        row[i] = COUNT - 1 - i;
        places[i] = 7 * i % COUNT;
    }
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t *from = (const uint8_t *)cull_data_base(set);
        memcpy(turned + row[i] * ROW, from + i * ROW, ROW);
        memcpy(packed + i * ROW, from + places[i] * ROW, ROW);
    }
    assert_ok(cull_data_transform(set, &a, forms[1], 2, places, COUNT, plain));
    for (int way = 0; way < 2; way++) {
        cull_augment_call call = {.count = COUNT,
                                  .places = places,
                                  .epoch = 2,
                                  .augmented = true,
                                  .raw = way ? packed : turned,
                                  .row = row,
                                  .packed = way,
                                  .out = out};
        memset(out, 0, sizeof out);
        for (size_t i = 0; i < COUNT; i++) cull_augment_example(&desc, &call, i);
        assert_memory_equal(plain, out, sizeof out);
    }
    cull_data_close(set);
}

/* 4000 draws: three standard deviations of each share stay inside these bounds. */
static void windows_and_mirrors_are_drawn_evenly(void **state)
{
    cull_data_augment a = {.pad = 1, .flip = true, .seed = 1};
    cull_dataset     *set = random_set(CULL_U8, 1, 1, C, H, W);
    uint32_t          place = 0;
    float             out[ROW];
    size_t            seen[3][3] = {{0}}, mirrored = 0;

    (void)state;
    for (uint64_t epoch = 0; epoch < 4000; epoch++) {
        size_t code = 0;
        assert_ok(cull_data_transform(set, &a, forms[0], epoch, &place, 1, out));
        find_window(set, &a, forms[0], out, 0, &code);
        seen[code / 200][code / 2 % 100]++;
        mirrored += code % 2;
    }
    assert_in_range(mirrored, 1900, 2100);
    for (int i = 0; i < 9; i++) assert_in_range(seen[i / 3][i % 3], 380, 510);
    cull_data_close(set);
}

static void cutout_is_one_square_of_zeros_clipped_at_the_border(void **state)
{
    (void)state;
    for (size_t side = 1; side <= 5; side++) {
        cull_data_augment a = {.cutout = side, .seed = side};
        cull_dataset     *set = random_set(CULL_U8, COUNT, 10, C, H, W);
        double            out[ROW], plain[ROW];
        for (size_t f = 0; f < 4; f++)
            for (uint32_t i = 0; i < COUNT; i++) {
                size_t zeros = 0, y0 = H, y1 = 0, x0 = W, x1 = 0;
                assert_ok(cull_data_transform(set, &a, forms[f], 1, &i, 1, out));
                assert_ok(cull_data_transform(set, NULL, forms[f], 1, &i, 1, plain));
                for (size_t y = 0; y < H; y++)
                    for (size_t x = 0; x < W; x++) {
                        bool hole = at(out, forms[f], 0, 0, y, x) == 0;
                        for (size_t c = 0; c < C; c++)
                            assert_true(at(out, forms[f], 0, c, y, x) ==
                                        (hole ? 0 : at(plain, forms[f], 0, c, y, x)));
                        if (!hole) continue;
                        zeros++;
                        y0 = y < y0 ? y : y0;
                        y1 = y > y1 ? y : y1;
                        x0 = x < x0 ? x : x0;
                        x1 = x > x1 ? x : x1;
                    }
                assert_int_equal(zeros, (y1 - y0 + 1) * (x1 - x0 + 1));
                assert_true(y1 - y0 + 1 == side ||
                            ((y0 == 0 || y1 == H - 1) && y1 - y0 + 1 < side));
                assert_true(x1 - x0 + 1 == side ||
                            ((x0 == 0 || x1 == W - 1) && x1 - x0 + 1 < side));
            }
        cull_data_close(set);
    }
}

static void what_cannot_be_done_is_refused(void **state)
{
    cull_dataset     *images = random_set(CULL_U8, 4, 2, 1, H, W);
    cull_dataset     *features = random_set(CULL_F32, 4, 2, 9, 1, 1);
    cull_data_augment a = {.pad = W, .reflect = true};

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "a reflected padding of 7 around 8 x 7",
                 cull_data_augment_check(&a, forms[0], images));
    a.pad = W - 1;
    assert_ok(cull_data_augment_check(&a, forms[0], images));
    assert_fails(CULL_BAD_ARGUMENT, "crop needs images",
                 cull_data_augment_check(&a, forms[0], features));
    a = (cull_data_augment){.flip = true};
    assert_fails(CULL_BAD_ARGUMENT, "flip needs images",
                 cull_data_augment_check(&a, forms[0], features));
    a = (cull_data_augment){.cutout = 1};
    assert_fails(CULL_BAD_ARGUMENT, "cutout needs images",
                 cull_data_augment_check(&a, forms[0], features));
    a.cutout = SIZE_MAX;
    assert_fails(CULL_BAD_ARGUMENT, "is the most", cull_data_augment_check(&a, forms[0], images));
    assert_fails(CULL_BAD_ARGUMENT, "float32, float64 or bfloat16",
                 cull_data_augment_check(NULL, (cull_data_form){CULL_U8, false}, images));
    assert_ok(cull_data_augment_check(NULL, forms[3], features));
    cull_data_close(images);
    cull_data_close(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_only_normalises),
        cmocka_unit_test(features_are_normalised_one_by_one),
        cmocka_unit_test(every_example_is_a_window_alike_in_every_form),
        cmocka_unit_test(pixels_depend_on_epoch_and_place_alone),
        cmocka_unit_test(rows_are_found_by_a_list_or_packed),
        cmocka_unit_test(windows_and_mirrors_are_drawn_evenly),
        cmocka_unit_test(cutout_is_one_square_of_zeros_clipped_at_the_border),
        cmocka_unit_test(what_cannot_be_done_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
