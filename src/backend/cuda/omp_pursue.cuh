/*
 * backend/cuda/omp_pursue.cuh - one problem from its beginning to its weights, by the threads of a
 * crew.
 */
#ifndef CULL_BACKEND_CUDA_OMP_PURSUE_CUH
#define CULL_BACKEND_CUDA_OMP_PURSUE_CUH

#include "backend/cuda/omp_choose.cuh"
#include "backend/cuda/omp_refine.cuh"

/* What is known of target and atoms before the first pick. */
template <bool TOGETHER> static __device__ void cull_omp_start(cull_pursuit<TOGETHER> &p)
{
    double    trace = 0, least = 0;
    cull_said bad = cull_said_none();

    p.picked = p.drawn = 0;
    p.lowest = 1;
    p.stop = CULL_STOP_BUDGET;
    p.b2 = p.r2 = p.of->at2 ? *p.of->at2 : p.of->b2;
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        unsigned i = p.first + r;
        double   own = cull_omp_k(p, i, i), t = p.of->t[i];

        if (!cull_finite(own) || !cull_finite(t)) cull_said_take(&bad, {1, 0, 0, 0, i, 0});
        trace += own;
        if (own > 0) least = fmax(least, t * t / own);
        p.s2[r] = own;
        p.t[r] = p.alpha[r] = t;
        p.bound[r] = 0;
        p.place[r] = own > 0 ? CULL_OMP_FREE : CULL_OMP_DEPENDENT;
    }
    trace = cull_sum_of(p.crew, trace);
    p.ridge = p.of->rules.ridge * (p.of->rules.as_it_is ? 1 : trace / p.n);
    bad = cull_best_of(p.crew, bad);
    p.broken = bad.key ? bad.at : p.n;
    p.scale2 = p.b2 > 0 ? p.b2 : cull_most_of(p.crew, least);
    p.best = cull_said_none();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        p.s2[r] += p.ridge;
        p.d[r] = p.s2[r];
        cull_said_take(&p.best, cull_omp_candidate(p, r));
    }
}

template <bool TOGETHER> static __device__ bool cull_omp_no_target(cull_pursuit<TOGETHER> &p)
{
    bool some = false;

    if (p.b2 > 0) return false;
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) some |= p.t[r] != 0;
    return !cull_any_of(p.crew, some);
}

/* NaN and infinity never leave alpha or the weights once they are in. x: the weights by row. */
template <bool TOGETHER>
static __device__ void cull_omp_check(cull_pursuit<TOGETHER> &p, const double *x)
{
    cull_said bad = cull_said_none();

    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        if (p.place[r] == CULL_OMP_FREE && !cull_finite(p.alpha[r]))
            cull_said_take(&bad, {2, 0, 0, 0, p.first + r, 0});
        if (p.place[r] < p.picked && !cull_finite(x[r]))
            cull_said_take(&bad, {1, 0, 0, 0, p.first + r, 0});
    }
    bad = cull_best_of(p.crew, bad);
    if (bad.key) p.broken = bad.at;
}

static __device__ void cull_omp_bounded(cull_pursuit<false> &p); /* omp_bound.cuh */

/* By blocks that meet no weights are held above zero: omp.c sees to it. */
static __device__ __forceinline__ void cull_omp_bounded(cull_pursuit<true> &)
{
}

template <bool TOGETHER> static __device__ void cull_omp_free(cull_pursuit<TOGETHER> &p)
{
    cull_said pick = cull_said_none();

    while (!cull_omp_done(p) && cull_omp_choose(p, &pick)) cull_omp_take(p, pick);
    if (p.lowest < CULL_OMP_REFINE_BELOW) {
        __syncthreads();
        cull_omp_refine(p, p.alpha);
    }
}

/* All of it: index and weight are there afterwards, and seen by all. */
template <bool TOGETHER> static __device__ void cull_omp_pursue(cull_pursuit<TOGETHER> &p)
{
    double *x = p.of->rules.nonnegative ? p.bound : p.alpha;

    cull_omp_bring_k(p);
    __syncthreads();
    cull_omp_start(p);
    if (p.broken < p.n) return;
    if (cull_omp_no_target(p)) {
        p.stop = CULL_STOP_ZERO;
        return;
    }
    if (p.of->rules.nonnegative)
        cull_omp_bounded(p);
    else
        cull_omp_free(p);
    cull_omp_check(p, x);
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) p.of->weight[p.place[r]] = x[r];
    cull_meet(p.crew);
}

template <bool TOGETHER> static __device__ void cull_omp_report(const cull_pursuit<TOGETHER> &p)
{
    double r2 = fmax(p.r2, 0.0);

    if (!p.crew.first()) return;
    p.of->report->ridge = p.ridge;
    p.of->report->residual = p.b2 > 0 ? sqrt(r2 / p.b2) : nan("");
    p.of->report->picked = p.broken < p.n ? 0 : p.picked;
    p.of->report->stop = p.stop;
    p.of->report->broken = p.broken;
}

#endif
