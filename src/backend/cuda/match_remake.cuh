/*
 * backend/cuda/match_remake.cuh - K, t and b2 of gradients whose squares are too small or too large
 * to be squared again: P, the target's too, is divided by a power of two so that its largest entry
 * is about 1, or as much less as H needs. Only ratios matter.
 *
 * It is rare, so it is plain: the threads that are there share the numbers.
 */
#ifndef CULL_BACKEND_CUDA_MATCH_REMAKE_CUH
#define CULL_BACKEND_CUDA_MATCH_REMAKE_CUH

#include "backend/cuda/crew.cuh"
#include "backend/cuda/match.h"
#include "backend/cuda/rows.cuh"

enum { CULL_LONG_FEATURE = 150 }; /* 2^150 needs no help to be squared twice */

/* Squares of gradients beyond these are not squared again without leaving double's range. */
#define CULL_SMALL_SQUARE 0x1p-400
#define CULL_LARGE_SQUARE 0x1p+400

template <bool TOGETHER>
static __device__ double cull_remake_largest(cull_crew<TOGETHER> &crew, const cull_cuda_rows &x,
                                             unsigned n)
{
    double most = 0;

    for (size_t i = crew.thread(); i < static_cast<size_t>(n) * x.width; i += crew.threads())
        most = fmax(most, fabs(cull_rows_at(x, i / x.width, i % x.width)));
    return cull_most_of(crew, most);
}

static __device__ int cull_remake_exponent(double x)
{
    int exponent = 0;

    if (x > 0 && x < HUGE_VAL) (void)frexp(x, &exponent);
    return exponent;
}

template <bool TOGETHER>
static __device__ void cull_remake_k(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m,
                                     int exponent)
{
    size_t n = m.omp.n;

    for (size_t q = crew.thread(); q < n * n; q += crew.threads()) {
        size_t i = q / n, j = q % n;
        double h = 0, p = 0;

        if (j > i) continue;
        for (unsigned l = 0; l < m.h.width; l++)
            h += cull_rows_at(m.h, i, l) * cull_rows_at(m.h, j, l);
        for (unsigned c = 0; c < m.p.width; c++)
            p += ldexp(cull_rows_at(m.p, i, c), -exponent) *
                 ldexp(cull_rows_at(m.p, j, c), -exponent);
        m.k[i * n + j] = m.k[j * n + i] = p * (h + 1);
    }
    cull_meet(crew);
}

/* A warp's sum over x[n]: row means, always in the same order. */
static __device__ double cull_remake_sum(const double *x, unsigned n)
{
    double sum = 0;

    for (unsigned j = cull_lane(); j < n; j += CULL_WARP) sum += x[j];
    return cull_sum_lanes(sum, CULL_WARP);
}

template <bool TOGETHER>
static __device__ unsigned cull_remake_warp(const cull_crew<TOGETHER> &crew)
{
    return crew.thread() / CULL_WARP;
}

/* t and b2 towards the rows themselves. */
template <bool TOGETHER>
static __device__ double cull_remake_means(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
{
    unsigned n = m.omp.n, warps = crew.threads() / CULL_WARP;
    double   sum = 0;

    for (unsigned i = cull_remake_warp(crew); i < n; i += warps) {
        double own = cull_remake_sum(m.k + static_cast<size_t>(i) * n, n) / n;

        if (cull_lane()) continue;
        m.t[i] = own;
        sum += own;
    }
    return cull_sum_of(crew, sum) / n;
}

/* The target's mean gradient, and |of it|^2. */
template <bool TOGETHER>
static __device__ double cull_remake_target(cull_crew<TOGETHER>        &crew,
                                            const cull_cuda_match_call &m, int exponent)
{
    size_t width = static_cast<size_t>(m.h.width) + 1, size = width * m.p.width;
    double square = 0;

    for (size_t i = crew.thread(); i < size; i += crew.threads()) {
        double sum = 0;

        for (unsigned v = 0; v < m.targets; v++)
            sum += ldexp(cull_rows_at(m.target_p, v, i / width), -exponent) / m.targets *
                   cull_rows_or_one(m.target_h, v, i % width);
        m.mean[i] = sum;
        square += sum * sum;
    }
    return cull_sum_of(crew, square);
}

/* t towards it. */
template <bool TOGETHER>
static __device__ void cull_remake_aim(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m,
                                       int exponent)
{
    unsigned warps = crew.threads() / CULL_WARP, width = m.h.width + 1;

    for (unsigned i = cull_remake_warp(crew); i < m.omp.n; i += warps) {
        double all = 0;

        for (unsigned c = 0; c < m.p.width; c++) {
            const double *mean = m.mean + static_cast<size_t>(c) * width;
            double        sum = 0;

            for (unsigned l = cull_lane(); l < width; l += CULL_WARP)
                sum += mean[l] * cull_rows_or_one(m.h, i, l);
            all += ldexp(cull_rows_at(m.p, i, c), -exponent) * cull_sum_lanes(sum, CULL_WARP);
        }
        if (cull_lane() == 0) m.t[i] = all;
    }
    cull_meet(crew);
}

/* The lengths of the target's gradients, added up. */
template <bool TOGETHER>
static __device__ double cull_remake_lengths(cull_crew<TOGETHER>        &crew,
                                             const cull_cuda_match_call &m, int exponent)
{
    double all = 0;

    for (unsigned v = crew.thread(); v < m.targets; v += crew.threads()) {
        double h = 1, p = 0;

        for (unsigned l = 0; l < m.target_h.width; l++) {
            double x = cull_rows_at(m.target_h, v, l);
            h += x * x;
        }
        for (unsigned c = 0; c < m.target_p.width; c++) {
            double x = ldexp(cull_rows_at(m.target_p, v, c), -exponent);
            p += x * x;
        }
        all += sqrt(p) * sqrt(h);
    }
    return cull_sum_of(crew, all);
}

/* All of it; returns the target's lengths. */
template <bool TOGETHER>
static __device__ double cull_remake(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
{
    int    h = cull_remake_exponent(cull_remake_largest(crew, m.h, m.omp.n)) - CULL_LONG_FEATURE;
    int    exponent = cull_remake_exponent(cull_remake_largest(crew, m.p, m.omp.n));
    double lengths = 0, b2 = 0;

    exponent += h > 0 ? h : 0;
    cull_remake_k(crew, m, exponent);
    if (m.targets) {
        b2 = cull_remake_target(crew, m, exponent);
        cull_remake_aim(crew, m, exponent);
        lengths = cull_remake_lengths(crew, m, exponent);
    } else {
        b2 = cull_remake_means(crew, m);
    }
    if (crew.first()) *m.b2 = b2;
    cull_meet(crew);
    return lengths;
}

#endif
