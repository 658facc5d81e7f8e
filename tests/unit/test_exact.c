/* tests/unit/test_exact.c - logarithm and power of our own, beside the library's in long double. */
#include "support.h"

#include <float.h>
#include <math.h>

#include "base/exact.h"
#include "base/philox.h"

enum { VALUES = 1000000 };

/* Units in the last place between what was found and what is right. */
static double off(double found, long double right)
{
    double near = (double)right, next = nextafter(fabs(near), (double)INFINITY);

    if (isinf(near) || near == 0) return found == near ? 0 : (double)INFINITY;
    if (isinf(next)) next = DBL_MAX, near = nextafter(DBL_MAX, 0);
    return (double)(fabsl((long double)found - right) / (long double)(next - fabs(near)));
}

static uint64_t word(uint64_t i)
{
    return cull_philox_word(cull_key_make(7, "exact"), 0, i);
}

/* Numbers of every kind above 0: uniform ones, ones near 1, any bits at all, denormals. */
static double number(uint64_t i)
{
    double   u = cull_philox_uniform(cull_key_make(8, "exact"), 0, i);
    uint64_t bits = word(i) >> 1, size = word(i + VALUES) % 52;

    switch (i % 4) {
    case 0: return u;
    case 1: return 1 + (u - 0.5) * ldexp(1, -(int)size);
    case 2: return bits < CULL_EXACT_INFINITY ? cull_exact_double(bits) : DBL_MAX;
    default: return cull_exact_double(bits >> 12 >> size | 1);
    }
}

static void logarithms_are_off_by_less_than_a_unit(void **state)
{
    double worst = 0;

    (void)state;
    for (uint64_t i = 0; i < VALUES; i++) {
        double x = number(i);

        worst = fmax(worst, off(cull_exact_log(x), logl((long double)x)));
        if (x >= DBL_MIN) assert_true(cull_exact_log(x) == cull_exact_log_plain(x, 0));
    }
    for (int k = -1074; k < 1024; k++)
        assert_true(cull_exact_log(ldexp(1, k)) == (double)logl(ldexpl(1, k)));
    if (!(worst < 0.9)) fail_msg("a logarithm is off by %g units", worst);
}

static void powers_are_off_by_less_than_a_unit(void **state)
{
    double worst = 0;

    (void)state;
    for (uint64_t i = 0; i < VALUES; i++) {
        double x = number(i), u = cull_philox_uniform(cull_key_make(9, "exact"), 1, i), y = 0;

        switch (i / 4 % 4) {
        case 0: y = 10 * u; break;
        case 1: y = 1500 * (u - 0.5) / log(x); break; /* the whole range of results */
        case 2: y = -(708 + 40 * u) / fabs(log(x)) * (x < 1 ? -1 : 1); break; /* denormals */
        default: y = ldexp(u - 0.5, (int)(word(i) % 130) - 65);
        }
        worst = fmax(worst, off(cull_exact_pow(x, y), powl((long double)x, (long double)y)));
    }
    if (!(worst < 0.9)) fail_msg("a power is off by %g units", worst);
}

static void assert_same(double wanted, double found)
{
    if (!(isnan(wanted) ? isnan(found) : wanted == found))
        fail_msg("%g expected, %g found", wanted, found);
}

static void the_ends_are_as_c_has_them(void **state)
{
    const double x[] = {0, 1, 2, 0.5, (double)INFINITY, (double)NAN, 0x1p-1074, DBL_MIN, DBL_MAX};
    const double y[] = {
        0,      1,    -1,    (double)INFINITY, (double)-INFINITY, (double)NAN, 1e300,
        -1e300, 2000, -2000, 0x1p-70,          -0x1p-1074,        0x1p65,      -0x1p65,
        1e-300};

    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        for (size_t j = 0; j < sizeof y / sizeof *y; j++)
            assert_same(pow(x[i], y[j]), cull_exact_pow(x[i], y[j]));
    assert_same((double)-INFINITY, cull_exact_log(0));
    assert_same((double)-INFINITY, cull_exact_log(-0.0));
    assert_same((double)INFINITY, cull_exact_log((double)INFINITY));
    assert_same((double)NAN, cull_exact_log(-1));
    assert_same((double)NAN, cull_exact_log((double)NAN));
    assert_same(0, cull_exact_log(1));
    assert_false(signbit(cull_exact_log(1)));
    assert_same(0.3, cull_exact_pow(0.3, 1));
    for (int k = -1074; k < 1024; k++) assert_same(ldexp(1, k), cull_exact_pow(2, k));
}

/* What they are is written down: it may never change. */
static void the_bits_are_those_that_were_written_down(void **state)
{
    uint64_t hash = 0xcbf29ce484222325u;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const double z[] = {cull_exact_log(number(i)),
                            cull_exact_pow(cull_exact_double(CULL_EXACT_ONE | i << 42) - 1, 2.5),
                            cull_exact_pow(number(i), 0.01 * (double)i)};

        for (size_t j = 0; j < 3; j++) hash = (hash ^ cull_exact_bits(z[j])) * 0x100000001b3u;
    }
    assert_true(hash == UINT64_C(0x465f375aab78724d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_off_by_less_than_a_unit),
        cmocka_unit_test(powers_are_off_by_less_than_a_unit),
        cmocka_unit_test(the_ends_are_as_c_has_them),
        cmocka_unit_test(the_bits_are_those_that_were_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
