/* tests/emu/include/emu_number.h - vectors of numbers, their bits, and arithmetic by name. */
#ifndef CULL_TESTS_EMU_NUMBER_H
#define CULL_TESTS_EMU_NUMBER_H

#include <stdint.h>

/* ---- vectors, aligned as on the device ---- */

#define EMU_VECTORS(type, name, one, two)                                                          \
    struct name##1                                                                                 \
    {                                                                                              \
        type x;                                                                                    \
    };                                                                                             \
    struct __attribute__((aligned(two))) name##2                                                   \
    {                                                                                              \
        type x, y;                                                                                 \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        type x, y, z;                                                                              \
    };                                                                                             \
    struct __attribute__((aligned(2 * two > 16 ? 16 : 2 * two))) name##4                           \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name##2 make_##name##2(type x, type y)                                           \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    static inline name##3 make_##name##3(type x, type y, type z)                                   \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }                                                                                              \
    static inline name##4 make_##name##4(type x, type y, type z, type w)                           \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
EMU_VECTORS(signed char, char, 1, 2)
EMU_VECTORS(unsigned char, uchar, 1, 2)
EMU_VECTORS(short, short, 2, 4)
EMU_VECTORS(unsigned short, ushort, 2, 4)
EMU_VECTORS(int, int, 4, 8)
EMU_VECTORS(float, float, 4, 8)
EMU_VECTORS(double, double, 8, 16)
EMU_VECTORS(long long, longlong, 8, 16)
EMU_VECTORS(unsigned long long, ulonglong, 8, 16)
#undef EMU_VECTORS

struct uint1 {
    unsigned x;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return {x, y, z};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

/* ---- bits ---- */

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
static inline int __clzll(long long x)
{
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
static inline unsigned long long __brevll(unsigned long long x)
{
    unsigned long long y = 0;

    for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i);
    return y;
}
static inline unsigned __brev(unsigned x)
{
    return static_cast<unsigned>(__brevll(x) >> 32);
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    uint64_t all = static_cast<uint64_t>(y) << 32 | x;
    unsigned out = 0;

    for (int i = 0; i < 4; i++)
        out |= static_cast<unsigned>(all >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return out;
}
static inline unsigned __umulhi(unsigned x, unsigned y)
{
    return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    __extension__ typedef unsigned __int128 wide;

    return static_cast<unsigned long long>(static_cast<wide>(x) * y >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    by &= 31;
    return by ? high << by | low >> (32 - by) : high;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    by &= 31;
    return by ? low >> by | high << (32 - by) : low;
}

template <typename To, typename From> static inline To emu_as(From x)
{
    To y;

    static_assert(sizeof x == sizeof y, "the same bits");
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
static inline unsigned __float_as_uint(float x)
{
    return emu_as<unsigned>(x);
}
static inline int __float_as_int(float x)
{
    return emu_as<int>(x);
}
static inline float __uint_as_float(unsigned x)
{
    return emu_as<float>(x);
}
static inline float __int_as_float(int x)
{
    return emu_as<float>(x);
}
static inline long long __double_as_longlong(double x)
{
    return emu_as<long long>(x);
}
static inline double __longlong_as_double(long long x)
{
    return emu_as<double>(x);
}
static inline int __double2hiint(double x)
{
    return static_cast<int>(emu_as<uint64_t>(x) >> 32);
}
static inline int __double2loint(double x)
{
    return static_cast<int>(emu_as<uint64_t>(x));
}
static inline double __hiloint2double(int high, int low)
{
    return emu_as<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                          static_cast<unsigned>(low));
}

/* ---- arithmetic ---- */

/* Names that the C library has for its own functions. */
#define __expf(x)    expf(x)
#define __logf(x)    logf(x)
#define __log2f(x)   log2f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x)    sinf(x)
#define __cosf(x)    cosf(x)

static inline double __dadd_rn(double x, double y)
{
    return x + y;
}
static inline double __dsub_rn(double x, double y)
{
    return x - y;
}
static inline double __dmul_rn(double x, double y)
{
    return x * y;
}
static inline double __ddiv_rn(double x, double y)
{
    return x / y;
}
static inline double __dsqrt_rn(double x)
{
    return sqrt(x);
}
static inline double __drcp_rn(double x)
{
    return 1 / x;
}
static inline double __fma_rn(double x, double y, double z)
{
    return fma(x, y, z);
}
static inline float __fadd_rn(float x, float y)
{
    return x + y;
}
static inline float __fsub_rn(float x, float y)
{
    return x - y;
}
static inline float __fmul_rn(float x, float y)
{
    return x * y;
}
static inline float __fdiv_rn(float x, float y)
{
    return x / y;
}
static inline float __fsqrt_rn(float x)
{
    return sqrtf(x);
}
static inline float __frcp_rn(float x)
{
    return 1 / x;
}
static inline float __fmaf_rn(float x, float y, float z)
{
    return fmaf(x, y, z);
}
static inline float __fdividef(float x, float y)
{
    return x / y;
}
static inline float __saturatef(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}
static inline int __float2int_rn(float x)
{
    return static_cast<int>(rintf(x));
}
static inline int __float2int_rd(float x)
{
    return static_cast<int>(floorf(x));
}
static inline int __float2int_rz(float x)
{
    return static_cast<int>(x);
}
static inline int __double2int_rn(double x)
{
    return static_cast<int>(rint(x));
}
static inline int __double2int_rz(double x)
{
    return static_cast<int>(x);
}
static inline long long __double2ll_rn(double x)
{
    return static_cast<long long>(rint(x));
}
static inline long long __double2ll_rz(double x)
{
    return static_cast<long long>(x);
}
static inline float __double2float_rn(double x)
{
    return static_cast<float>(x);
}
static inline float __int2float_rn(int x)
{
    return static_cast<float>(x);
}
static inline float __uint2float_rn(unsigned x)
{
    return static_cast<float>(x);
}
static inline double __uint2double_rn(unsigned x)
{
    return x;
}
static inline double __ll2double_rn(long long x)
{
    return static_cast<double>(x);
}
static inline double __ull2double_rn(unsigned long long x)
{
    return static_cast<double>(x);
}

#define EMU_MIN_MAX(type)                                                                          \
    static inline type min(type a, type b)                                                         \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static inline type max(type a, type b)                                                         \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }
EMU_MIN_MAX(int)
EMU_MIN_MAX(unsigned)
EMU_MIN_MAX(long)
EMU_MIN_MAX(unsigned long)
EMU_MIN_MAX(long long)
EMU_MIN_MAX(unsigned long long)
#undef EMU_MIN_MAX
/* Of floating point: the number where one is none. */
static inline float min(float a, float b)
{
    return fminf(a, b);
}
static inline float max(float a, float b)
{
    return fmaxf(a, b);
}
static inline double min(double a, double b)
{
    return fmin(a, b);
}
static inline double max(double a, double b)
{
    return fmax(a, b);
}
static inline double min(float a, double b)
{
    return fmin(static_cast<double>(a), b);
}
static inline double min(double a, float b)
{
    return fmin(a, static_cast<double>(b));
}
static inline double max(float a, double b)
{
    return fmax(static_cast<double>(a), b);
}
static inline double max(double a, float b)
{
    return fmax(a, static_cast<double>(b));
}

template <typename T> static inline T __ldg(const T *at)
{
    return *at;
}
template <typename T> static inline T __ldcg(const T *at)
{
    return *at;
}
template <typename T> static inline T __ldcs(const T *at)
{
    return *at;
}
template <typename T> static inline void __stcs(T *at, T x)
{
    *at = x;
}
template <typename T> static inline void __stcg(T *at, T x)
{
    *at = x;
}

#endif
