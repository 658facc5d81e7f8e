/*
 * backend/cpu/order.h - doubles as integers of the same order, for sorting by digits.
 *
 * A finite or infinite double x maps to a 64-bit word: the sign bit flipped for x >= 0, all
 * bits for x < 0. Both zeros map to one word.
 */
#ifndef CULL_BACKEND_CPU_ORDER_H
#define CULL_BACKEND_CPU_ORDER_H

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

#endif
