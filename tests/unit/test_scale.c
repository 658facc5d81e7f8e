/* tests/unit/test_scale.c - properties of scaling, beside its definition written out. */
#include "data/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Float32 sums instead of exact ones, beside which a level is rounded. */
#define ROUNDING 2e-3

static uint8_t *random_pixels(uint64_t seed, size_t n)
{
    uint8_t *x = malloc(n);

    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(256 * random_uniform(seed, i));
    return x;
}

static double weight(const cull_scale_axis *a, size_t i, size_t j)
{
    double step = a->extent / (double)a->to, reach = fmax(1, step), sum = 0;
    double middle = ((double)(a->first + i) + .5) * step;

    for (size_t k = 0; k < a->from; k++) sum += fmax(0, 1 - fabs((double)k + .5 - middle) / reach);
    return fmax(0, 1 - fabs((double)j + .5 - middle) / reach) / sum;
}

/* As the header says, with nothing left out. */
static double defined(const uint8_t *x, size_t channels, const cull_scale_axis *down,
                      const cull_scale_axis *across, size_t y, size_t column, size_t c)
{
    double sum = 0;

    for (size_t j = 0; j < down->from; j++) {
        double along = 0;
        for (size_t k = 0; k < across->from; k++)
            along += weight(across, column, k) * x[(j * across->from + k) * channels + c];
        sum += weight(down, y, j) * along;
    }
    return sum;
}

static cull_scale_axis whole(size_t from, size_t to)
{
    return (cull_scale_axis){
        .from = from, .extent = (double)from, .to = to, .first = 0, .count = to};
}

static cull_scale_out planar(uint8_t *out, const cull_scale_axis *down,
                             const cull_scale_axis *across)
{
    return (cull_scale_out){.out = out,
                            .plane = down->count * across->count,
                            .down = (ptrdiff_t)across->count,
                            .across = 1};
}

static void assert_as_defined(size_t channels, cull_scale_axis down, cull_scale_axis across)
{
    uint8_t *x = random_pixels(down.from * 31 + across.to, down.from * across.from * channels);
    uint8_t *out = malloc(down.count * across.count * channels);
    cull_scale_out to = planar(out, &down, &across);

    assert_ok(cull_data_scale(x, channels, &down, &across, &to));
    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < down.count; y++)
            for (size_t k = 0; k < across.count; k++) {
                double  right = defined(x, channels, &down, &across, y, k, c);
                uint8_t got = out[(c * down.count + y) * across.count + k];
                if (!(fabs(got - right) <= .5 + ROUNDING))
                    fail_msg("%zux%zu to %zux%zu: pixel %zu, %zu of %zu is %d, not %f", across.from,
                             down.from, across.to, down.to, k, y, c, got, right);
            }
    free(out);
    free(x);
}

static void every_pixel_is_the_mean_that_is_defined(void **state)
{
    static const size_t sizes[][2] = {{1, 1},  {1, 7},  {7, 1},  {2, 3},   {3, 2},   {16, 16},
                                      {17, 5}, {5, 17}, {40, 9}, {31, 30}, {64, 16}, {97, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j += 3)
            for (size_t channels = 1; channels <= 3; channels += 2)
                assert_as_defined(channels, whole(sizes[i][0], sizes[i][1]),
                                  whole(sizes[j][0], sizes[j][1]));
}

static void a_picture_that_fills_a_part_is_scaled_by_that_part(void **state)
{
    (void)state;
    for (size_t to = 2; to < 12; to += 3) {
        cull_scale_axis a = {.from = 13, .extent = 12.25, .to = to, .first = 1, .count = to - 1};
        assert_as_defined(3, a, whole(9, 4));
        assert_as_defined(1, whole(9, 4), a);
    }
}

static void a_window_is_a_part_of_the_whole(void **state)
{
    cull_scale_axis down = whole(30, 20), across = whole(50, 33);
    uint8_t        *x = random_pixels(1, 30 * 50 * 3), all[3 * 20 * 33], part[3 * 7 * 11];
    cull_scale_out  to = planar(all, &down, &across);

    (void)state;
    assert_ok(cull_data_scale(x, 3, &down, &across, &to));
    down.first = 4;
    down.count = 7;
    across.first = 22;
    across.count = 11;
    to = planar(part, &down, &across);
    assert_ok(cull_data_scale(x, 3, &down, &across, &to));
    for (size_t c = 0; c < 3; c++)
        for (size_t y = 0; y < 7; y++)
            assert_memory_equal(all + (c * 20 + 4 + y) * 33 + 22, part + (c * 7 + y) * 11, 11);
    free(x);
}

static void what_keeps_its_size_keeps_its_pixels(void **state)
{
    cull_scale_axis down = whole(19, 19), across = whole(23, 23);
    uint8_t        *x = random_pixels(2, 19 * 23 * 3), out[3 * 19 * 23];
    cull_scale_out  to = planar(out, &down, &across);

    (void)state;
    assert_ok(cull_data_scale(x, 3, &down, &across, &to));
    for (size_t i = 0; i < 19 * 23; i++)
        for (size_t c = 0; c < 3; c++) assert_int_equal(x[3 * i + c], out[c * 19 * 23 + i]);
    free(x);
}

static void one_colour_stays_what_it_is(void **state)
{
    static const size_t sides[] = {1, 2, 7, 100, 4000};
    static uint8_t      x[4000 * 3], out[3 * 4000];

    (void)state;
    for (unsigned value = 0; value < 256; value += 51)
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < 5; j++) {
                cull_scale_axis down = whole(1, 1), across = whole(sides[i], sides[j]);
                cull_scale_out  to = planar(out, &down, &across);
                memset(x, (int)value, sizeof x);
                assert_ok(cull_data_scale(x, 3, &down, &across, &to));
                for (size_t k = 0; k < 3 * sides[j]; k++) assert_int_equal(value, out[k]);
            }
}

static void pixels_go_where_they_are_sent(void **state)
{
    cull_scale_axis down = whole(9, 4), across = whole(11, 6);
    uint8_t        *x = random_pixels(3, 9 * 11), straight[24], turned[24];
    cull_scale_out  to = planar(straight, &down, &across);

    (void)state;
    assert_ok(cull_data_scale(x, 1, &down, &across, &to));
    /* Columns become rows, the last row comes first. */
    to = (cull_scale_out){.out = turned + 3, .plane = 24, .down = -1, .across = 4};
    assert_ok(cull_data_scale(x, 1, &down, &across, &to));
    for (size_t y = 0; y < 4; y++)
        for (size_t k = 0; k < 6; k++) assert_int_equal(straight[y * 6 + k], turned[k * 4 + 3 - y]);
    free(x);
}

static void survives_every_allocation_failure(void **state)
{
    cull_scale_axis down = whole(9, 4), across = whole(11, 6);
    uint8_t        *x = random_pixels(3, 9 * 11), out[24];
    cull_scale_out  to = planar(out, &down, &across);
    cull_status     status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_data_scale(x, 1, &down, &across, &to);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pixel_is_the_mean_that_is_defined),
        cmocka_unit_test(a_picture_that_fills_a_part_is_scaled_by_that_part),
        cmocka_unit_test(a_window_is_a_part_of_the_whole),
        cmocka_unit_test(what_keeps_its_size_keeps_its_pixels),
        cmocka_unit_test(one_colour_stays_what_it_is),
        cmocka_unit_test(pixels_go_where_they_are_sent),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
