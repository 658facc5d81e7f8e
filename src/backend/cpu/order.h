/*
 * backend/cpu/order.h - doubles as integers of the same order, for sorting by digits.
 *
 * A finite or infinite double x maps to a 64-bit word: the sign bit flipped for x >= 0, all
 * bits for x < 0. Both zeros map to one word.
 */
#ifndef CULL_BACKEND_CPU_ORDER_H
#define CULL_BACKEND_CPU_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t cull_cpu_image(double x)
{
    uint64_t bits = 0;

    x += 0.0; /* -0 becomes +0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Images of x[n], counted from the least of them, or with `falling` from the greatest down. Returns
 * the bits that any of them has: sorting need not look at others. */
static inline uint64_t cull_cpu_images(const double *x, size_t n, bool falling, uint64_t *image)
{
    uint64_t flip = falling ? UINT64_MAX : 0, least = UINT64_MAX, bits = 0;

    for (size_t i = 0; i < n; i++) {
        image[i] = cull_cpu_image(x[i]) ^ flip;
        if (image[i] < least) least = image[i];
    }
    for (size_t i = 0; i < n; i++) {
        image[i] -= least;
        bits |= image[i];
    }
    return bits;
}

#endif
