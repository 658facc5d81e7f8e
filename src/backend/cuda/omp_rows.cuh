/*
 * backend/cuda/omp_rows.cuh - a problem of pursuit: the rows that a block has of it, and the pass
 * over them that a pick is. omp.h says what a row is.
 *
 * A few neighbouring threads share a row's sum; the first of them does what is done with it, and
 * looks for the best of its rows on the way, so that a pick costs a block one barrier.
 */
#ifndef CULL_BACKEND_CUDA_OMP_ROWS_CUH
#define CULL_BACKEND_CUDA_OMP_ROWS_CUH

#include "backend/cuda/crew.cuh"
#include "backend/cuda/omp.h"

/* What is no place among the picked. */
#define CULL_OMP_FREE      0xffffffffu
#define CULL_OMP_DEPENDENT 0xfffffffeu /* it depends on the picked */

/* The same numbers as cull_omp_stop. */
enum { CULL_STOP_BUDGET, CULL_STOP_FIT, CULL_STOP_DEPENDENT, CULL_STOP_NO_GAIN, CULL_STOP_ZERO };

template <bool TOGETHER> struct cull_pursuit {
    cull_crew<TOGETHER>      crew;
    const cull_cuda_pursuit *of;
    const double            *near_k;         /* K in shared memory, or NULL            */
    unsigned                 n, first, rows; /* the block's: first, .. first + rows - 1 */
    unsigned                 width, lanes;
    double                  *l, *all_l;  /* L of the block's rows (or lines of a tableau); of all */
    double                  *pick;       /* [width] L_p, where it is staged         */
    double                  *c;          /* [width] X^T t, with weights >= 0        */
    double                  *alpha;      /* [rows] of a picked one: its weight      */
    double                  *d, *s2, *t; /* [rows] pivots, K_ii + ridge             */
    double                  *bound;      /* [rows] weights >= 0                     */
    double                  *wish;       /* [rows] and without the bound            */
    unsigned                *place;      /* [rows] among the picked, or why not     */

    uint64_t  step; /* of what is drawn */
    unsigned  picked, drawn, stop, broken;
    double    b2, r2, scale2, ridge, lowest;
    cull_said best; /* of this thread's rows */
};

/* Where the caller has it. */
static __device__ __forceinline__ double cull_omp_far_k(const cull_cuda_pursuit &x, unsigned i,
                                                        unsigned j)
{
    size_t at = i * x.ld + j;

    return x.single ? static_cast<double>(static_cast<const float *>(x.k)[at])
                    : static_cast<const double *>(x.k)[at];
}

template <bool TOGETHER>
static __device__ __forceinline__ double cull_omp_k(const cull_pursuit<TOGETHER> &p, unsigned i,
                                                    unsigned j)
{
    return p.near_k ? p.near_k[i * p.n + j] : cull_omp_far_k(*p.of, i, j);
}

static __device__ __forceinline__ cull_said cull_said_none()
{
    return {0, 0, 0, 0, 0xffffffffu, 0};
}

static __device__ __forceinline__ bool cull_finite(double x)
{
    return fabs(x) < HUGE_VAL; /* of no number it is false */
}

template <bool TOGETHER>
static __device__ __forceinline__ double cull_omp_score(const cull_pursuit<TOGETHER> &p, unsigned r)
{
    return p.of->rules.absolute ? fabs(p.alpha[r]) : p.alpha[r];
}

/* A row of the block as one to be picked: alpha, pivot and length go along. */
template <bool TOGETHER>
static __device__ __forceinline__ cull_said cull_omp_candidate(const cull_pursuit<TOGETHER> &p,
                                                               unsigned                      r)
{
    double score = cull_omp_score(p, r);

    return {p.place[r] == CULL_OMP_FREE && score > 0 ? cull_key_of(score) : 0,
            p.alpha[r],
            p.d[r],
            p.s2[r],
            p.first + r,
            0};
}

static __device__ __forceinline__ void cull_said_take(cull_said *best, const cull_said &other)
{
    if (other.key > best->key || (other.key == best->key && other.at < best->at)) *best = other;
}

/* Where everything lies. `shared` is the block's; x must stay. */
template <bool TOGETHER>
static __device__ void cull_omp_open(cull_pursuit<TOGETHER> &p, const cull_cuda_pursuit &x,
                                     unsigned char *shared, cull_said *apart)
{
    double *room = reinterpret_cast<double *>(shared + x.at_rows);

    p.crew = {reinterpret_cast<cull_said *>(shared), apart, 0};
    p.of = &x;
    p.step = x.rules.step;
    p.n = x.n;
    p.rows = cull_share(p.crew, x.n, &p.first);
    p.width = x.width;
    p.lanes = x.lanes;
    p.near_k = x.brings_k ? reinterpret_cast<double *>(shared + x.at_k) : NULL;
    p.all_l = x.l ? x.l : reinterpret_cast<double *>(shared + x.at_l);
    p.l = x.at_l ? reinterpret_cast<double *>(shared + x.at_l)
                 : x.l + static_cast<size_t>(p.first) * x.width;
    p.pick = reinterpret_cast<double *>(shared + x.at_pick);
    p.c = p.pick + x.width;
    p.alpha = room;
    p.d = room + x.rows;
    p.s2 = room + 2 * x.rows;
    p.t = room + 3 * x.rows;
    p.bound = room + 4 * x.rows;
    p.wish = room + 5 * x.rows;
    p.place = reinterpret_cast<unsigned *>(room + 6 * x.rows);
}

/* K into shared memory; many numbers at a time are under way. */
template <bool TOGETHER> static __device__ void cull_omp_bring_k(const cull_pursuit<TOGETHER> &p)
{
    double       *to = const_cast<double *>(p.near_k);
    const double *from = static_cast<const double *>(p.of->k);
    unsigned      size = p.n * p.n;

    if (!to) return;
    if (!p.of->single && p.of->ld == p.n) {
#pragma unroll 16
        for (unsigned i = threadIdx.x; i < size; i += blockDim.x) to[i] = from[i];
        return;
    }
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x)
        to[i] = cull_omp_far_k(*p.of, i / p.n, i % p.n);
}

/* L at an atom, for all threads of the block; what it replaces must have been read. */
template <bool TOGETHER>
static __device__ const double *cull_omp_stage(cull_pursuit<TOGETHER> &p, unsigned atom)
{
    const double *from = p.all_l + static_cast<size_t>(atom) * p.width;

    if (!p.of->stages) return from;
    __syncthreads();
    for (unsigned j = threadIdx.x; j < p.picked; j += blockDim.x) p.pick[j] = from[j];
    __syncthreads();
    return p.pick;
}

/* The sum over columns of a row of L times x, for all threads that share the row; `from` is the
 * first column that is not zero. Every warp takes part, with rows or none (r >= p.rows). */
template <bool TOGETHER>
static __device__ __forceinline__ double cull_omp_dot(const cull_pursuit<TOGETHER> &p, unsigned r,
                                                      unsigned from, unsigned until,
                                                      const double *x)
{
    unsigned lane = threadIdx.x % p.lanes;
    double   sum = 0;

    if (r < p.rows) {
        const double *row = p.l + static_cast<size_t>(r) * p.width;
#pragma unroll 4
        for (unsigned j = from + ((lane - from) & (p.lanes - 1)); j < until; j += p.lanes)
            sum += row[j] * x[j];
    }
    return cull_sum_lanes(sum, p.lanes);
}

/* Rows in turn: warps have CULL_WARP / lanes of them at a time. */
template <bool TOGETHER>
static __device__ __forceinline__ unsigned cull_omp_first_row(const cull_pursuit<TOGETHER> &p)
{
    return cull_warp() * (CULL_WARP / p.lanes);
}

/* A picked row is zero before its own column, until columns are mixed (omp_bound.cuh). */
template <bool TOGETHER>
static __device__ __forceinline__ unsigned cull_omp_begins(const cull_pursuit<TOGETHER> &p,
                                                           unsigned                      place)
{
    return place < p.picked && !p.of->rules.nonnegative ? place : 0;
}

/* The pick's column of L at one row, and what it does there. */
template <bool TOGETHER>
static __device__ __forceinline__ void cull_omp_step(cull_pursuit<TOGETHER> &p, unsigned r,
                                                     const cull_said &pick, double over,
                                                     double column, double sum)
{
    double c = pick.a * over, v = 0;
    bool   picked = p.place[r] < p.picked;

    if (p.first + r == pick.at) {
        v = over;
        p.alpha[r] = c * over;
        p.place[r] = p.picked;
    } else if (picked) {
        v = -sum * over;
        p.alpha[r] += c * v;
    } else {
        v = (column - sum) * over;
        p.alpha[r] -= c * v;
        p.d[r] -= v * v;
        cull_said_take(&p.best, cull_omp_candidate(p, r));
    }
    p.l[static_cast<size_t>(r) * p.width + p.picked] = v;
    if (TOGETHER && p.of->at_l) p.all_l[static_cast<size_t>(p.first + r) * p.width + p.picked] = v;
}

template <bool TOGETHER>
static __device__ void cull_omp_take(cull_pursuit<TOGETHER> &p, const cull_said &pick)
{
    const double *lp = cull_omp_stage(p, pick.at);
    double        over = rsqrt(pick.b), ratio = pick.b / pick.c;
    unsigned      each = CULL_WARP / p.lanes, stride = blockDim.x / CULL_WARP * each;
    bool          last = p.picked + 1 == p.of->budget && !p.of->rules.nonnegative;

    p.best = cull_said_none();
    for (unsigned base = cull_omp_first_row(p); base < p.rows; base += stride) {
        unsigned r = base + cull_lane() / p.lanes;
        unsigned place = r < p.rows ? p.place[r] : CULL_OMP_DEPENDENT;
        bool     idle = r >= p.rows || (last && place >= p.picked); /* nobody asks any more */
        double   column = idle || place < p.picked ? 0 : cull_omp_k(p, pick.at, p.first + r);
        double   sum = cull_omp_dot(p, r, cull_omp_begins(p, place), idle ? 0 : p.picked, lp);

        if (threadIdx.x % p.lanes == 0 && (!idle || (r < p.rows && p.first + r == pick.at)))
            cull_omp_step(p, r, pick, over, column, sum);
    }
    if (p.crew.first()) p.of->index[p.picked] = pick.at;
    p.r2 -= pick.a * over * (pick.a * over);
    p.lowest = ratio < p.lowest ? ratio : p.lowest;
    p.picked++;
    p.drawn++;
}

#endif
