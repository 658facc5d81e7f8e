/*
 * backend/cpu/kernels_int8.c - between floats and the 8 bits of a convolution (kernels_layer.h).
 *
 * Rounding is to the nearest, halves upward: all that is cut off is made positive before.
 */
#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/kernels_layer.h"
#include "backend/cpu/strip.h"

typedef uint8_t bytes __attribute__((vector_size(STRIP)));

#define LOAD(x, from) memcpy(&(x), (from), sizeof(x))
#define STORE(to, x)  memcpy((to), &(x), sizeof(x))

static uint32_t largest(size_t n, const float *x)
{
    masks    most = {0}, v, more;
    size_t   i = 0;
    uint32_t out = 0;

    for (; i + STRIP <= n; i += STRIP) {
        LOAD(v, x + i);
        v &= INT32_MAX;
        more = v > most;
        most = (v & more) | (most & ~more);
    }
    for (int j = 0; j < STRIP; j++) out = (uint32_t)most[j] > out ? (uint32_t)most[j] : out;
    for (; i < n; i++) {
        uint32_t bits = 0;

        memcpy(&bits, x + i, sizeof bits);
        bits &= INT32_MAX;
        out = bits > out ? bits : out;
    }
    return out;
}

static void to_bytes(size_t pixels, size_t n, size_t step, const float *restrict x, float factor,
                     uint8_t *restrict q)
{
    for (size_t p = 0; p < pixels; p++, x += n, q += step) {
        size_t j = 0;

        for (; j + STRIP <= n; j += STRIP) {
            lanes v;
            bytes b;

            LOAD(v, x + j);
            b = __builtin_convertvector(__builtin_convertvector(v * factor + 0.5F, masks), bytes);
            STORE(q + j, b);
        }
        for (; j < n; j++) q[j] = (uint8_t)(int32_t)(x[j] * factor + 0.5F);
    }
}

static void to_signed(size_t n, const float *restrict x, float factor, int8_t *restrict q)
{
    for (size_t i = 0; i < n; i++) q[i] = (int8_t)((int32_t)(x[i] * factor + 128.5F) - 128);
}

static void from_sums(size_t pixels, size_t n, size_t step, const int32_t *restrict sum,
                      const float *restrict scale, const float *restrict shift, float *restrict y)
{
    for (size_t p = 0; p < pixels; p++, sum += step, y += n) {
        size_t j = 0;

        for (; j + STRIP <= n; j += STRIP) {
            masks s;
            lanes a, b;

            LOAD(s, sum + j);
            LOAD(a, scale + j);
            LOAD(b, shift + j);
            a = __builtin_convertvector(s, lanes) * a + b;
            STORE(y + j, a);
        }
        for (; j < n; j++) y[j] = (float)sum[j] * scale[j] + shift[j];
    }
}

const cull_int8_loops KERNEL_NAME(cull_int8_loops_) = {largest, to_bytes, to_signed, from_sums};
