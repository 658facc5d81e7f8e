/*
 * backend/cpu/kernels_pursuit_vector.h - the few vector operations matching pursuit is made
 * of, for the instruction set this file is compiled for: WIDTH doubles at a time.
 *
 * larger(a, b) gives b wherever a is NaN, which is how masked atoms stay out of a maximum.
 */
#ifndef CULL_BACKEND_CPU_KERNELS_PURSUIT_VECTOR_H
#define CULL_BACKEND_CPU_KERNELS_PURSUIT_VECTOR_H

#include <string.h>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

enum { WIDTH = 8 };
typedef __m512d vec;

static inline vec load(const double *x)
{
    return _mm512_loadu_pd(x);
}
static inline vec load_single(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}
static inline void store(double *x, vec a)
{
    _mm512_storeu_pd(x, a);
}
static inline vec splat(double a)
{
    return _mm512_set1_pd(a);
}
static inline vec multiply(vec a, vec b)
{
    return _mm512_mul_pd(a, b);
}
static inline vec less_product(vec a, vec b, vec c) /* c - a b */
{
    return _mm512_fnmadd_pd(a, b, c);
}
static inline vec magnitude(vec a)
{
    return _mm512_abs_pd(a);
}
static inline vec larger(vec a, vec b)
{
    return _mm512_max_pd(a, b);
}
static inline double largest(vec a)
{
    return _mm512_reduce_max_pd(a);
}
static inline unsigned equal(vec a, vec b) /* a bit for each place */
{
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}

#elif defined(__AVX2__)

enum { WIDTH = 4 };
typedef __m256d vec;

static inline vec load(const double *x)
{
    return _mm256_loadu_pd(x);
}
static inline vec load_single(const float *x)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
}
static inline void store(double *x, vec a)
{
    _mm256_storeu_pd(x, a);
}
static inline vec splat(double a)
{
    return _mm256_set1_pd(a);
}
static inline vec multiply(vec a, vec b)
{
    return _mm256_mul_pd(a, b);
}
static inline vec less_product(vec a, vec b, vec c)
{
    return _mm256_fnmadd_pd(a, b, c);
}
static inline vec magnitude(vec a)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
static inline vec larger(vec a, vec b)
{
    return _mm256_max_pd(a, b);
}
static inline double largest(vec a)
{
    __m128d half = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)));
}
static inline unsigned equal(vec a, vec b)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}

#else

enum { WIDTH = 2 };
typedef double vec __attribute__((vector_size(16)));

static inline vec load(const double *x)
{
    vec a;
    memcpy(&a, x, sizeof a);
    return a;
}
static inline vec load_single(const float *x)
{
    return (vec){(double)x[0], (double)x[1]};
}
static inline void store(double *x, vec a)
{
    memcpy(x, &a, sizeof a);
}
static inline vec splat(double a)
{
    return (vec){a, a};
}
static inline vec multiply(vec a, vec b)
{
    return a * b;
}
static inline vec less_product(vec a, vec b, vec c)
{
    return c - a * b;
}
static inline vec magnitude(vec a)
{
    return (vec){__builtin_fabs(a[0]), __builtin_fabs(a[1])};
}
static inline vec larger(vec a, vec b)
{
    return (vec){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
}
static inline double largest(vec a)
{
    return a[0] > a[1] ? a[0] : a[1];
}
static inline unsigned equal(vec a, vec b)
{
    return (unsigned)(a[0] == b[0]) | (unsigned)(a[1] == b[1]) << 1;
}

#endif

/* One number, rounded as the vectors are. */
static inline double less_product_one(double a, double b, double c)
{
#if defined(__FMA__)
    return __builtin_fma(-a, b, c);
#else
    return c - a * b;
#endif
}

#endif
