/*
 * backend/cuda/match.cu - a minibatch matched, from K on: looked at, pursued, completed, scaled.
 *
 * It is one kernel, of one block or of all that meet; everybody comes to the same conclusions, and
 * what is the matter of few threads is done by the first block.
 */
#include "backend/cuda/match.h"

#include "backend/cuda/match_remake.cuh"
#include "backend/cuda/match_settle.cuh"
#include "backend/cuda/omp_bound.cuh"
#include "backend/cuda/omp_near.cuh"
#include "backend/cuda/omp_pursue.cuh"
#include "backend/cuda/refit_solve.cuh"

namespace
{

enum { SPARE = 32 }; /* roundings of a term itself, beside those of the sum: backend/cancel.c */

template <bool TOGETHER>
__device__ void tell(const cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m, uint64_t which,
                     uint64_t row)
{
    if (!crew.first()) return;
    *m.trouble = {
        CULL_WRONG_SIGNAL,        which, row, m.place ? m.place[row] : row, m.now ? m.now->step : 0,
        m.now ? m.now->epoch : 0, 0,     0};
}

/* The largest square (b), unless the key says that the one at a row (at) is not finite. As |K_ij|
 * <= sqrt(K_ii K_jj), a finite diagonal says that all of K is. */
const unsigned long long BROKEN = 0xffffffff00000000ull;

template <bool TOGETHER>
__device__ cull_said look_at_squares(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
{
    cull_said worst = cull_said_none();
    size_t    n = m.omp.n;

    for (size_t i = crew.thread(); i < n; i += crew.threads()) {
        double   own = m.k[i * (n + 1)];
        unsigned at = static_cast<unsigned>(i);

        if (!cull_finite(own))
            cull_said_take(&worst, {BROKEN | ~at, 0, own, 0, at, 0});
        else if (own > 0)
            cull_said_take(&worst, {cull_key_of(own), 0, own, 0, at, 0});
    }
    return cull_best_of(crew, worst);
}

/* The lengths of the gradients that the target is the mean of, added up. */
template <bool TOGETHER>
__device__ double add_lengths(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
{
    size_t n = m.omp.n, count = m.targets ? m.targets : n;
    double sum = 0;

    for (size_t i = crew.thread(); i < count; i += crew.threads())
        sum += m.targets ? m.length[i] : sqrt(m.k[i * (n + 1)]);
    return cull_sum_of(crew, sum);
}

/* Where only rounding is left of the target, it is zero (backend/cancel.c). */
template <bool TOGETHER>
__device__ void cancel(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m, double lengths)
{
    size_t n = m.omp.n;
    double count = m.targets ? m.targets : m.omp.n;
    double most = (count + SPARE) * 0x1p-52 * lengths / count;
    bool   some = !cull_finite(most);

    for (size_t i = crew.thread(); i < n; i += crew.threads())
        some |= !(fabs(m.t[i]) <= most * sqrt(m.k[i * (n + 1)]));
    if (cull_any_of(crew, some)) return;
    for (size_t i = crew.thread(); i < n; i += crew.threads()) m.t[i] = 0;
    if (!m.targets && crew.first()) *m.b2 = 0;
    cull_meet(crew);
}

/* K, t and b2 fit for a pursuit; false: they cannot be made so, and that was told. This and what
 * follows are calls of their own: what they keep in memory must not drag the pursuit's there. */
template <bool TOGETHER>
__device__ __noinline__ bool make_fit(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
{
    cull_said worst = look_at_squares(crew, m);
    double    lengths = 0;

    if (worst.key >= BROKEN || worst.b < CULL_SMALL_SQUARE || worst.b > CULL_LARGE_SQUARE) {
        lengths = cull_remake(crew, m);
        worst = look_at_squares(crew, m);
        if (worst.key >= BROKEN) {
            tell(crew, m, CULL_TROUBLE_SQUARE, worst.at);
            return false;
        }
        if (!m.targets) lengths = add_lengths(crew, m);
    } else {
        lengths = add_lengths(crew, m);
    }
    cancel(crew, m, lengths);
    return true;
}

/* In shared memory from the crew's room on; near_k and ridge are the pursuit's. */
template <bool TOGETHER>
__device__ __noinline__ void refit(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m,
                                   const double *near_k, double ridge)
{
    cull_cuda_refit_call of = m.refit;
    cull_refit<TOGETHER> f;

    of.picked = m.omp.report->picked;
    of.ridge = ridge;
    f.crew = crew;
    f.near_k = near_k;
    cull_refit_open(f, of, reinterpret_cast<unsigned char *>(crew.near));
    cull_refit_run(f);
    crew = f.crew;
}

template <bool TOGETHER>
__device__ __noinline__ void settle(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m,
                                    uint64_t step, unsigned picked, double *room)
{
    if (crew.block() == 0) cull_settle_fill(m, step, picked, room);
    cull_meet(crew);
}

/* The pursuit, by all threads of the crew; NEAR: in registers. */
template <bool NEAR>
__device__ __forceinline__ void pursue(cull_pursuit<false> &p, const cull_cuda_match_call &m,
                                       unsigned char *shared)
{
    const cull_near_room *found = NEAR ? cull_near_pursue(m.omp, shared) : NULL;
    cull_crew<false>      crew = p.crew;
    uint64_t              step = p.step;

    cull_omp_open(p, m.omp, shared, NULL);
    p.crew = crew;
    p.step = step;
    if (NEAR)
        cull_near_found(p, found);
    else
        cull_omp_pursue(p);
}

template <bool NEAR>
__device__ __forceinline__ void pursue(cull_pursuit<true> &p, const cull_cuda_match_call &m,
                                       unsigned char *shared)
{
    cull_crew<true> crew = p.crew;
    uint64_t        step = p.step;

    cull_omp_open(p, m.omp, shared, crew.apart);
    p.crew = crew;
    p.step = step;
    cull_omp_pursue(p);
}

template <bool TOGETHER, bool NEAR>
__device__ void match(const cull_cuda_match_call &m, unsigned char *shared, cull_said *said)
{
    cull_pursuit<TOGETHER> p;
    cull_crew<TOGETHER>    crew = {reinterpret_cast<cull_said *>(shared), said, 0};
    uint64_t               step = m.now ? m.now->step : m.step;
    bool                   trouble = m.trouble->what != CULL_WRONG_NOTHING;

    if (crew.first()) *m.outcome = {m.omp.budget, 0, 0};
    if (trouble || !make_fit(crew, m)) return;
    p.crew = crew;
    p.step = step;
    pursue<NEAR>(p, m, shared);
    crew = p.crew;
    if (p.broken < p.n) {
        tell(crew, m, CULL_TROUBLE_APART, 0);
        return;
    }
    settle(crew, m, step, p.picked, TOGETHER ? m.room : p.bound);
    if (m.omp.report->picked < m.omp.budget && m.fill && !m.unit) refit(crew, m, p.near_k, p.ridge);
    if (crew.block()) return;
    cull_crew<false> alone = {crew.near, NULL, crew.turn};
    cull_settle_finish(alone, m);
}

__global__ void __launch_bounds__(CULL_OMP_THREADS, 1)
    match_alone(const __grid_constant__ cull_cuda_match_call m)
{
    CULL_SHARED(unsigned char, shared);
    match<false, false>(m, shared, NULL);
}

__global__ void __launch_bounds__(CULL_TABLEAU_THREADS, 1)
    match_near(const __grid_constant__ cull_cuda_match_call m)
{
    CULL_SHARED(unsigned char, shared);
    match<false, true>(m, shared, NULL);
}

__global__ void __launch_bounds__(CULL_OMP_THREADS, 1)
    match_together(const __grid_constant__ cull_cuda_match_call m, cull_said *said)
{
    CULL_SHARED(unsigned char, shared);
    match<true, false>(m, shared, said);
}

} // namespace

cudaError_t cull_cuda_match_prepare(size_t most)
{
    cudaError_t error = cull_crew_prepare(match_alone, most);

    if (error == cudaSuccess) error = cull_crew_prepare(match_near, most);
    return error == cudaSuccess ? cull_crew_prepare(match_together, most) : error;
}

cudaError_t cull_cuda_match_run(cudaStream_t stream, cull_cuda_match_call call, uint32_t blocks,
                                uint32_t threads, size_t bytes, void *said)
{
    if (call.omp.near)
        return CULL_LAUNCH(match_near, dim3(1), dim3(CULL_TABLEAU_THREADS), bytes, stream, call);
    if (blocks == 1) return CULL_LAUNCH(match_alone, dim3(1), dim3(threads), bytes, stream, call);
    return cull_crew_launch(match_together, blocks, threads, bytes, stream, call,
                            static_cast<cull_said *>(said));
}
