/* data/npy_form.c - narrow elements as wider ones. */
#include "data/npy_form.h"

#include <string.h>

static bool widen_bool(const unsigned char *from, size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) ((uint8_t *)to)[i] = from[i] != 0;
    return true;
}

/* sign, 5 bits of exponent (bias 15), 10 of fraction: float32's with its own bias, 127. */
static bool widen_half(const unsigned char *from, size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t half = (uint32_t)from[2 * i] | (uint32_t)from[2 * i + 1] << 8;
        uint32_t sign = half >> 15 << 31, exponent = half >> 10 & 31, fraction = half & 1023;
        uint32_t bits = (exponent + 127 - 15) << 23 | fraction << 13;
        float    small = (float)fraction * 0x1p-24f;

        if (exponent == 31) bits = 255u << 23 | fraction << 13;
        if (exponent == 0) memcpy(&bits, &small, sizeof bits);
        bits |= sign;
        memcpy((float *)to + i, &bits, sizeof bits);
    }
    return true;
}

static bool widen_i1(const unsigned char *from, size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) ((int32_t *)to)[i] = from[i] < 128 ? from[i] : from[i] - 256;
    return true;
}

#define WIDEN(name, narrow, wide)                                                                  \
    static bool name(const unsigned char *from, size_t count, void *to)                            \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            narrow element = 0;                                                                    \
            memcpy(&element, from + i * sizeof element, sizeof element);                           \
            ((wide *)to)[i] = element;                                                             \
        }                                                                                          \
        return true;                                                                               \
    }
WIDEN(widen_i2, int16_t, int32_t)
WIDEN(widen_u2, uint16_t, int32_t)
WIDEN(widen_u4, uint32_t, int64_t)
#undef WIDEN

static bool widen_u8(const unsigned char *from, size_t count, void *to)
{
    memcpy(to, from, count * sizeof(int64_t));
    for (size_t i = 0; i < count; i++)
        if (((const int64_t *)to)[i] < 0) return false;
    return true;
}

static const cull_npy_form forms[] = {
    {"f4", CULL_F32, 4, NULL},       {"f8", CULL_F64, 8, NULL},     {"i4", CULL_I32, 4, NULL},
    {"i8", CULL_I64, 8, NULL},       {"u1", CULL_U8, 1, NULL},      {"b1", CULL_U8, 1, widen_bool},
    {"f2", CULL_F32, 2, widen_half}, {"i1", CULL_I32, 1, widen_i1}, {"i2", CULL_I32, 2, widen_i2},
    {"u2", CULL_I32, 2, widen_u2},   {"u4", CULL_I64, 4, widen_u4}, {"u8", CULL_I64, 8, widen_u8}};

const cull_npy_form *cull_data_npy_form(const char *descr, size_t length)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (length != 3 || memcmp(descr + 1, forms[f].code, 2) != 0) continue;
        if (descr[0] == '<' || descr[0] == '=' || (forms[f].bytes == 1 && descr[0] == '|'))
            return &forms[f];
    }
    return NULL;
}
