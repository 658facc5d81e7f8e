/*
 * backend/cuda/omp_choose.cuh - which atom comes next, and when there is none: the rules of
 * backend/cpu/omp_choose.c. All threads of the crew come here together.
 */
#ifndef CULL_BACKEND_CUDA_OMP_CHOOSE_CUH
#define CULL_BACKEND_CUDA_OMP_CHOOSE_CUH

#include "backend/cuda/omp_rows.cuh"
#include "base/philox.h"

/* sum of |x_i| s_i over the picked; x one for each row */
template <bool TOGETHER>
static __device__ double cull_omp_norm(cull_pursuit<TOGETHER> &p, const double *x)
{
    double sum = 0;

    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) sum += fabs(x[r]) * sqrt(p.s2[r]);
    return cull_sum_of(p.crew, sum);
}

/* A pivot that, with all before it, is far from nothing. */
template <bool TOGETHER>
static __device__ __forceinline__ bool cull_omp_plain(const cull_pursuit<TOGETHER> &p,
                                                      const cull_said              &pick)
{
    return p.lowest >= p.of->rules.plain_pivot && pick.b >= p.of->rules.plain_pivot * pick.c;
}

/* Does the atom depend on the picked? */
template <bool TOGETHER>
static __device__ bool cull_omp_depends(cull_pursuit<TOGETHER> &p, const cull_said &pick)
{
    const double *lp = NULL;
    unsigned      each = CULL_WARP / p.lanes, stride = blockDim.x / CULL_WARP * each;
    double        reach = 0;

    if (cull_omp_plain(p, pick)) return false;
    lp = cull_omp_stage(p, pick.at);
    for (unsigned base = cull_omp_first_row(p); base < p.rows; base += stride) {
        unsigned r = base + cull_lane() / p.lanes;
        unsigned place = r < p.rows ? p.place[r] : CULL_OMP_DEPENDENT;
        double   w =
            cull_omp_dot(p, r, cull_omp_begins(p, place), place < p.picked ? p.picked : 0, lp);

        if (threadIdx.x % p.lanes == 0 && place < p.picked) reach += fabs(w) * sqrt(p.s2[r]);
    }
    reach = sqrt(pick.c) + cull_sum_of(p.crew, reach);
    return pick.b <= p.of->rules.noise * reach * reach;
}

/* What may be picked: where noise is set aside, norm is the weights'; below 0 nothing is. */
template <bool TOGETHER>
static __device__ __forceinline__ cull_said cull_omp_allowed(const cull_pursuit<TOGETHER> &p,
                                                             unsigned r, double norm)
{
    cull_said said = cull_omp_candidate(p, r);
    double    scale = norm < 0 ? 0 : fabs(p.t[r]) + sqrt(p.s2[r]) * norm;

    if (norm >= 0 && !(cull_omp_score(p, r) > p.of->rules.noise * scale)) said.key = 0;
    return said;
}

template <bool TOGETHER>
static __device__ cull_said cull_omp_top(cull_pursuit<TOGETHER> &p, double norm)
{
    cull_said best = cull_said_none();

    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        cull_said_take(&best, cull_omp_allowed(p, r, norm));
    return cull_best_of(p.crew, best);
}

/* The first atom at which the running sum of scores exceeds u times their total, else the last. */
template <bool TOGETHER>
static __device__ cull_said cull_omp_draw(cull_pursuit<TOGETHER> &p, double norm)
{
    double   u = cull_philox_uniform(p.of->rules.key, p.step, p.drawn);
    unsigned each = (p.rows + blockDim.x - 1) / blockDim.x, from = threadIdx.x * each;
    unsigned until = from + each < p.rows ? from + each : p.rows;
    double   sum = 0, total = 0;

    cull_said best = cull_said_none();

    __syncthreads();
    for (unsigned r = from; r < until; r++)
        if (cull_omp_allowed(p, r, norm).key) sum += cull_omp_score(p, r);
    sum = cull_sum_before(p.crew, sum, &total);
    for (unsigned r = from; r < until; r++) {
        cull_said said = cull_omp_allowed(p, r, norm);

        if (!said.key) continue;
        sum += cull_omp_score(p, r);
        said.key = sum > u * total ? (2ull << 32) - said.at + (1ull << 32) : said.at + 1ull;
        cull_said_take(&best, said);
    }
    return cull_best_of(p.crew, best);
}

template <bool TOGETHER>
static __device__ cull_said cull_omp_next(cull_pursuit<TOGETHER> &p, double norm)
{
    return p.of->rules.sample ? cull_omp_draw(p, norm) : cull_omp_top(p, norm);
}

template <bool TOGETHER>
static __device__ void cull_omp_mark(cull_pursuit<TOGETHER> &p, unsigned atom, unsigned as)
{
    __syncthreads();
    if (threadIdx.x == 0 && atom >= p.first && atom - p.first < p.rows)
        p.place[atom - p.first] = as;
}

/* Does an atom that is left not depend on the picked? */
template <bool TOGETHER> static __device__ unsigned cull_omp_why_none(cull_pursuit<TOGETHER> &p)
{
    unsigned from = 0;

    while (p.of->rules.reason) {
        cull_said found = cull_said_none();

        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
            cull_said said = cull_omp_candidate(p, r);

            if (p.place[r] != CULL_OMP_FREE || said.at < from) continue;
            said.key = cull_omp_plain(p, said) ? 2 : 1;
            cull_said_take(&found, said);
        }
        found = cull_best_of(p.crew, found);
        if (!found.key) break;
        if (!cull_omp_depends(p, found)) return CULL_STOP_NO_GAIN;
        from = found.at + 1;
    }
    return CULL_STOP_DEPENDENT;
}

/* Budget reached or target met? */
template <bool TOGETHER> static __device__ bool cull_omp_done(cull_pursuit<TOGETHER> &p)
{
    double tolerance = p.of->rules.tolerance;

    if (p.picked == p.of->budget) {
        p.stop = CULL_STOP_BUDGET;
        return true;
    }
    if (p.b2 > 0 && fmax(p.r2, 0.0) < tolerance * tolerance * p.b2) {
        p.stop = CULL_STOP_FIT;
        return true;
    }
    return false;
}

/* The next atom; false, with p.stop set: none. */
template <bool TOGETHER>
static __device__ bool cull_omp_choose(cull_pursuit<TOGETHER> &p, cull_said *pick)
{
    const cull_cuda_omp_rules &rules = p.of->rules;
    double                     least = rules.plain_alpha * rules.plain_alpha * p.scale2;
    double                     norm = -1, aside = -1; /* of the weights; once noise is set aside */

    *pick = rules.sample ? cull_omp_draw(p, aside) : cull_best_of(p.crew, p.best);
    while (pick->key) {
        bool plain = p.lowest >= rules.plain_pivot && pick->a * pick->a > least * pick->c;

        if (!plain && aside < 0) {
            if (norm < 0) norm = cull_omp_norm(p, p.of->rules.nonnegative ? p.bound : p.alpha);
            double score = rules.absolute ? fabs(pick->a) : pick->a;
            double scale = fabs(p.of->t[pick->at]) + sqrt(pick->c) * norm;

            if (score <= rules.noise * scale) {
                aside = norm;
                *pick = cull_omp_next(p, aside);
                continue;
            }
        }
        if (!cull_omp_depends(p, *pick)) return true;
        cull_omp_mark(p, pick->at, CULL_OMP_DEPENDENT);
        *pick = cull_omp_next(p, aside);
    }
    p.stop = cull_omp_why_none(p);
    return false;
}

#endif
