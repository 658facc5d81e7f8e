/*
 * backend/cpu/kernels_product.c - matrix products (see kernels.h), for the instruction set
 * this file is compiled for: vectors of 64, 32 or 16 bytes.
 */
#include <stdbool.h>
#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/kernels.h"

/* ROWS by 4 sums fill the registers: 32 of them, or 16. */
#if defined(__AVX512F__)
#include <immintrin.h>
enum { BYTES = 64, ROWS = 4 };
typedef float  floats __attribute__((vector_size(64)));
typedef double doubles __attribute__((vector_size(64)));
typedef float  half_floats __attribute__((vector_size(32)));
#elif defined(__AVX2__)
#include <immintrin.h>
enum { BYTES = 32, ROWS = 3 };
typedef float  floats __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32)));
typedef float  half_floats __attribute__((vector_size(16)));
#else
enum { BYTES = 16, ROWS = 2 };
typedef float  floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));
typedef float  half_floats __attribute__((vector_size(8)));
#endif

static inline floats load_f32(const float *x)
{
    floats v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline doubles load_f64(const double *x)
{
    doubles v;
    memcpy(&v, x, sizeof v);
    return v;
}

#if defined(__AVX512F__)

static inline floats load_part_f32(const float *x, size_t n)
{
    return (floats)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
}

static inline doubles load_part_f64(const double *x, size_t n)
{
    return (doubles)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), x);
}

static inline __m256 halve_f32(floats x)
{
    return _mm256_add_ps(_mm512_castps512_ps256((__m512)x), _mm512_extractf32x8_ps((__m512)x, 1));
}

static inline __m256d halve_f64(doubles x)
{
    return _mm256_add_pd(_mm512_castpd512_pd256((__m512d)x), _mm512_extractf64x4_pd((__m512d)x, 1));
}

#elif defined(__AVX2__)

static inline __m256i part_mask(size_t n, int step)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + 8 - n * (size_t)step));
}

static inline floats load_part_f32(const float *x, size_t n)
{
    return (floats)_mm256_maskload_ps(x, part_mask(n, 1));
}

static inline doubles load_part_f64(const double *x, size_t n)
{
    return (doubles)_mm256_maskload_pd(x, part_mask(n, 2));
}

static inline __m256 halve_f32(floats x)
{
    return (__m256)x;
}

static inline __m256d halve_f64(doubles x)
{
    return (__m256d)x;
}

#else

static inline floats load_part_f32(const float *x, size_t n)
{
    floats v = {0};
    memcpy(&v, x, n * sizeof *x);
    return v;
}

static inline doubles load_part_f64(const double *x, size_t n)
{
    doubles v = {0};
    memcpy(&v, x, n * sizeof *x);
    return v;
}

#endif

#if defined(__AVX2__)

static inline void sum4_f32(floats a, floats b, floats c, floats d, float *out)
{
    __m256 ab = _mm256_hadd_ps(halve_f32(a), halve_f32(b));
    __m256 cd = _mm256_hadd_ps(halve_f32(c), halve_f32(d));
    __m256 all = _mm256_hadd_ps(ab, cd);

    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

static inline void sum4_f64(doubles a, doubles b, doubles c, doubles d, double *out)
{
    __m256d ab = _mm256_hadd_pd(halve_f64(a), halve_f64(b));
    __m256d cd = _mm256_hadd_pd(halve_f64(c), halve_f64(d));
    __m256d low = _mm256_permute2f128_pd(ab, cd, 0x20), high = _mm256_permute2f128_pd(ab, cd, 0x31);

    _mm256_storeu_pd(out, _mm256_add_pd(low, high));
}

#else

static inline void sum4_f32(floats a, floats b, floats c, floats d, float *out)
{
    out[0] = (a[0] + a[1]) + (a[2] + a[3]);
    out[1] = (b[0] + b[1]) + (b[2] + b[3]);
    out[2] = (c[0] + c[1]) + (c[2] + c[3]);
    out[3] = (d[0] + d[1]) + (d[2] + d[3]);
}

static inline void sum4_f64(doubles a, doubles b, doubles c, doubles d, double *out)
{
    out[0] = a[0] + a[1];
    out[1] = b[0] + b[1];
    out[2] = c[0] + c[1];
    out[3] = d[0] + d[1];
}

#endif

/* As many floats as a vector of doubles holds, exactly. */
static inline doubles widen_f32(const float *x)
{
    half_floats v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, doubles);
}

static inline doubles widen_part_f32(const float *x, size_t n)
{
    half_floats v = {0};
    memcpy(&v, x, n * sizeof *x);
    return __builtin_convertvector(v, doubles);
}

static inline doubles widen_f64(const double *x)
{
    return load_f64(x);
}

static inline doubles widen_part_f64(const double *x, size_t n)
{
    return load_part_f64(x, n);
}

#define DOUBLES (BYTES / sizeof(double))

#define REAL    float
#define VECTOR  floats
#define WIDTH   (BYTES / sizeof(float))
#define NAME(x) x##_f32
#include "backend/cpu/product_body.h"
#undef REAL
#undef VECTOR
#undef WIDTH
#undef NAME

#define REAL    double
#define VECTOR  doubles
#define WIDTH   (BYTES / sizeof(double))
#define NAME(x) x##_f64
#include "backend/cpu/product_body.h"

static void add_f64(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                    size_t ldb, double *c, size_t ldc)
{
    multiply_blocks_f64(m, n, k, a, lda, b, ldb, true, c, ldc);
}

const cull_products KERNEL_NAME(cull_products_) = {multiply_f32, multiply_f64, add_f64, apply_f32,
                                                   apply_f64};
