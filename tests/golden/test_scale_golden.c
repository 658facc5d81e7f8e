/*
 * tests/golden/test_scale_golden.c - pictures that Pillow has scaled (scale_cases.txt;
 * tools/make_golden_scale.py says how a picture follows from its seed).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"
#include "golden/splitmix.h"
#include "support.h"

/* Pillow rounds to whole levels between the two axes, we do not: half a level, before rounding. */
enum { DIFFERENCE = 1, CASES = 14 };

static cull_scale_axis whole(size_t from, size_t to)
{
    return (cull_scale_axis){.from = from, .extent = (double)from, .to = to, .count = to};
}

static void pictures_are_scaled_as_pillow_scales_them(void **state)
{
    FILE              *file = fopen(CULL_SOURCE_DIR "/tests/golden/scale_cases.txt", "r");
    unsigned long long seed = 0;
    size_t w = 0, h = 0, channels = 0, to_w = 0, to_h = 0, cases = 0, equal = 0, all = 0;

    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%llu %zu %zu %zu %zu %zu ", &seed, &w, &h, &channels, &to_w, &to_h) == 6) {
        uint64_t        draws = seed;
        size_t          n = w * h * channels, made = to_w * to_h;
        uint8_t        *x = malloc(n), *out = malloc(made * channels);
        cull_scale_axis down = whole(h, to_h), across = whole(w, to_w);
        cull_scale_out  to = {out, made, (ptrdiff_t)to_w, 1};

        assert_non_null(x);
        assert_non_null(out);
        for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(splitmix(&draws) >> 56);
        assert_ok(cull_data_scale(x, channels, &down, &across, &to));
        for (size_t i = 0; i < made * channels; i++) {
            unsigned right = 0, got = out[i % channels * made + i / channels];
            assert_int_equal(1, fscanf(file, "%2x", &right));
            if (got > right + DIFFERENCE || right > got + DIFFERENCE)
                fail_msg("seed %llu: number %zu is %u, Pillow's %u", seed, i, got, right);
            equal += got == right;
            all++;
        }
        cases++;
        free(out);
        free(x);
    }
    (void)fclose(file);
    assert_int_equal(CASES, cases);
    assert_true(equal * 4 > all * 3); /* most are the same, not merely close */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_scaled_as_pillow_scales_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
