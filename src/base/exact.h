/*
 * base/exact.h - logarithm and power that come out the same wherever they are computed.
 *
 * What libraries call log and pow differs from one to the next in the last bits, and with it which
 * examples are drawn. These are made of sums, products, quotients and moved bits, each of which
 * IEEE 754 rounds in one way only; so they are compiled without contraction.
 *
 *     x = 2^k m, sqrt(1/2) <= m < sqrt(2)     s = (m - 1) / (m + 1), |s| < .1716
 *     log m = 2 s + s (2/3 s^2 + 2/5 s^4 + ... + 2/23 s^22)
 *     x^y = 2^n e^r, n = round(y log x / log 2), e^r by Taylor's 13 first powers
 *
 * The logarithm is off by less than one unit in the last place, and so is the power, for which the
 * logarithm is a pair of doubles, good to 2^-64 of itself.
 */
#ifndef CULL_BASE_EXACT_H
#define CULL_BASE_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define CULL_EVERYWHERE static __host__ __device__ inline
#else
#define CULL_EVERYWHERE static inline
#endif

/* Bits of doubles. */
#define CULL_EXACT_ONE      UINT64_C(0x3ff0000000000000)
#define CULL_EXACT_INFINITY UINT64_C(0x7ff0000000000000)
#define CULL_EXACT_NAN      UINT64_C(0x7ff8000000000000)
#define CULL_EXACT_ROOT     UINT64_C(0x3fe6a09e667f3bcd) /* sqrt(1/2) */

/* log 2: so few bits that its multiples by an exponent are exact, and the rest. */
#define CULL_EXACT_LN2_HIGH 0x1.62e42fefa38p-1
#define CULL_EXACT_LN2_LOW  0x1.ef35793c7673p-45

/* A number as the sum of two: high is what their sum rounds to. */
typedef struct cull_exact_pair {
    double high, low;
} cull_exact_pair;

CULL_EVERYWHERE uint64_t cull_exact_bits(double x)
{
    uint64_t bits = 0;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CULL_EVERYWHERE double cull_exact_double(uint64_t bits)
{
    double x = 0;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a + b without loss (Knuth). */
CULL_EVERYWHERE cull_exact_pair cull_exact_sum(double a, double b)
{
    cull_exact_pair sum;
    double          part;

    sum.high = a + b;
    part = sum.high - a;
    sum.low = (a - (sum.high - part)) + (b - part);
    return sum;
}

/* The upper 26 bits of a. */
CULL_EVERYWHERE double cull_exact_upper(double a)
{
    double wide = a * 0x8000001p0;

    return wide - (wide - a);
}

/* a b without loss (Dekker). */
CULL_EVERYWHERE cull_exact_pair cull_exact_product(double a, double b)
{
    cull_exact_pair product;
    double          au = cull_exact_upper(a), al = a - au, bu = cull_exact_upper(b), bl = b - bu;

    product.high = a * b;
    product.low = ((au * bu - product.high) + au * bl + al * bu) + al * bl;
    return product;
}

/* a b of pairs, to 2^-102 of it. */
CULL_EVERYWHERE cull_exact_pair cull_exact_times(cull_exact_pair a, cull_exact_pair b)
{
    cull_exact_pair product = cull_exact_product(a.high, b.high);

    product.low += a.high * b.low + a.low * b.high;
    return product;
}

/* x above 0, finite and no denormal, as 2^*exponent m. */
CULL_EVERYWHERE double cull_exact_split(double x, double *exponent)
{
    /* the exponent is to change at sqrt(1/2), not at 1 */
    uint64_t bits = cull_exact_bits(x) + (CULL_EXACT_ONE - CULL_EXACT_ROOT);

    *exponent = cull_exact_double(UINT64_C(1075) << 52 | bits >> 52) - (0x1p52 + 1023);
    return cull_exact_double((bits & ((UINT64_C(1) << 52) - 1)) + CULL_EXACT_ROOT);
}

/* 2/5 z + ... + 2/23 z^10 = z (2/5 + ...), the even and the odd powers apart. */
CULL_EVERYWHERE double cull_exact_tail(double z)
{
    double w = z * z;
    double even = 2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21))));
    double odd = 2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19 + w * (2.0 / 23))));

    return z * (even + z * odd);
}

/* log(2^k x) without a branch, of x above 0, finite and no denormal. */
CULL_EVERYWHERE double cull_exact_log_plain(double x, double k)
{
    double own, f = cull_exact_split(x, &own) - 1;
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = z * (2.0 / 3 + cull_exact_tail(z));

    k += own;
    return k * CULL_EXACT_LN2_HIGH - ((half - (s * (half + r) + k * CULL_EXACT_LN2_LOW)) - f);
}

/* As C's log. */
CULL_EVERYWHERE double cull_exact_log(double x)
{
    if (x == 0) return -cull_exact_double(CULL_EXACT_INFINITY);
    if (!(x > 0)) return cull_exact_double(CULL_EXACT_NAN);
    if (x == cull_exact_double(CULL_EXACT_INFINITY)) return x;
    if (x < 0x1p-1022) return cull_exact_log_plain(x * 0x1p54, -54);
    return cull_exact_log_plain(x, 0);
}

/* log(2^k x) as a pair, of the same. */
CULL_EVERYWHERE cull_exact_pair cull_exact_log_pair(double x, double k)
{
    const cull_exact_pair third = {2.0 / 3, 0x1.5555555555555p-55};
    double                own, m = cull_exact_split(x, &own), f = m - 1, rest;
    cull_exact_pair       d = cull_exact_sum(m, 1), s, s2, c, sum, all;

    s.high = f / d.high; /* and what that leaves of f */
    c = cull_exact_product(s.high, d.high);
    s.low = (((f - c.high) - c.low) - s.high * d.low) / d.high;
    s2 = cull_exact_times(s, s);
    c = cull_exact_sum(third.high, cull_exact_tail(s2.high));
    c.low += third.low;
    c = cull_exact_times(cull_exact_times(s, s2), c);

    k += own;
    sum = cull_exact_sum(k * CULL_EXACT_LN2_HIGH, 2 * s.high);
    all = cull_exact_sum(sum.high, c.high);
    rest = sum.low + all.low + (2 * s.low + c.low + k * CULL_EXACT_LN2_LOW);
    return cull_exact_sum(all.high, rest);
}

/* 2^n e, |n| < 1100, e near 1: in two halves, as it may be a denormal. */
CULL_EVERYWHERE double cull_exact_scale(double e, double n)
{
    uint64_t twice = cull_exact_bits(n + (0x1.8p52 + 2046)) & 0xfff, half = twice >> 1;

    return e * cull_exact_double(half << 52) * cull_exact_double((twice - half) << 52);
}

/* e^t, |t| < 750. */
CULL_EVERYWHERE double cull_exact_exp(cull_exact_pair t)
{
    double n = (t.high * 0x1.71547652b82fep+0 + 0x1.8p52) - 0x1.8p52; /* to the nearest */
    double whole = t.high - n * CULL_EXACT_LN2_HIGH, rest = t.low - n * CULL_EXACT_LN2_LOW;
    double r = whole + rest, w = r * r, even, odd;

    rest = (whole - r) + rest;
    even = 1.0 / 40320 + w * (1.0 / 3628800 + w * (1.0 / 479001600));
    even = 0.5 + w * (1.0 / 24 + w * (1.0 / 720 + w * even));
    odd = 1.0 / 362880 + w * (1.0 / 39916800 + w * (1.0 / 6227020800));
    odd = 1.0 / 6 + w * (1.0 / 120 + w * (1.0 / 5040 + w * odd));
    whole = 1 + r;
    return cull_exact_scale(whole + ((r - (whole - 1)) + (w * (even + r * odd) + rest)), n);
}

/* x^y, x >= 0; as C's pow there, but that x^1 is x. */
CULL_EVERYWHERE double cull_exact_pow(double x, double y)
{
    const double    infinity = cull_exact_double(CULL_EXACT_INFINITY);
    double          size = y < 0 ? -y : y;
    bool            tiny = x < 0x1p-1022;
    cull_exact_pair log, t;

    if (y == 0 || x == 1) return 1;
    if (y == 1) return x;
    if (!(x >= 0 && size >= 0)) return cull_exact_double(CULL_EXACT_NAN);
    if (x == 0 || x == infinity || size > 0x1p64) return (x > 1) == (y > 0) ? infinity : 0;
    if (size < 0x1p-65) return 1;
    log = cull_exact_log_pair(tiny ? x * 0x1p54 : x, tiny ? -54 : 0);
    t = cull_exact_product(log.high, y);
    t.low += log.low * y;
    if (t.high > 710) return infinity;
    return t.high < -747 ? 0 : cull_exact_exp(t);
}

#endif
