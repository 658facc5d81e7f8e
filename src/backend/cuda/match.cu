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
#include "backend/cuda/omp_pursue.cuh"
#include "backend/cuda/refit_solve.cuh"

namespace {

enum { SPARE = 32 }; /* roundings of a term itself, beside those of the sum: backend/cancel.c */

template <bool TOGETHER>
__device__ void tell(const cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m, uint64_t which,
                     uint64_t row)
{
    if (!crew.first()) return;
    *m.trouble = {CULL_WRONG_SIGNAL,
                  which,
                  row,
                  m.place ? m.place[row] : row,
                  m.now ? m.now->step : 0,
                  m.now ? m.now->epoch : 0,
                  0,
                  0};
}

/* The largest square (b), unless the key says that the one at a row (at) is not finite. As |K_ij| <=
 * sqrt(K_ii K_jj), a finite diagonal says that all of K is. */
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

/* K, t and b2 fit for a pursuit; false: they cannot be made so, and that was told. */
template <bool TOGETHER>
__device__ bool make_fit(cull_crew<TOGETHER> &crew, const cull_cuda_match_call &m)
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

template <bool TOGETHER>
__device__ void refit(cull_pursuit<TOGETHER> &p, const cull_cuda_match_call &m, unsigned picked)
{
    cull_cuda_refit_call  of = m.refit;
    cull_refit<TOGETHER>  f;

    of.picked = picked;
    of.ridge = p.ridge;
    f.crew = p.crew;
    f.near_k = p.near_k;
    cull_refit_open(f, of, reinterpret_cast<unsigned char *>(p.crew.near));
    cull_refit_run(f);
    p.crew = f.crew;
}

template <bool TOGETHER>
__device__ void match(const cull_cuda_match_call &m, unsigned char *shared, cull_said *said)
{
    uint64_t           step = m.now ? m.now->step : m.step;
    bool               trouble = m.trouble->what != CULL_WRONG_NOTHING;
    unsigned           picked = 0;
    cull_pursuit<TOGETHER> p;

    cull_omp_open(p, m.omp, shared, said);
    p.step = step;
    if (p.crew.first()) *m.outcome = {m.omp.budget, 0, 0};
    if (trouble || !make_fit(p.crew, m)) return;
    cull_omp_pursue(p);
    if (p.broken < p.n) {
        tell(p.crew, m, CULL_TROUBLE_APART, 0);
        return;
    }
    __syncthreads();
    if (p.crew.block() == 0)
        cull_settle_fill(m, step, p.stop == CULL_STOP_ZERO ? 0 : p.picked,
                         TOGETHER ? m.room : p.bound);
    cull_meet(p.crew);
    picked = m.omp.report->picked;
    if (picked < m.omp.budget && m.fill && !m.unit) refit(p, m, picked);
    if (p.crew.block()) return;
    cull_crew<false> alone = {p.crew.near, NULL, p.crew.turn};
    cull_settle_finish(alone, m);
}

__global__ void __launch_bounds__(CULL_OMP_THREADS)
    match_alone(const __grid_constant__ cull_cuda_match_call m)
{
    CULL_SHARED(unsigned char, shared);
    match<false>(m, shared, NULL);
}

__global__ void __launch_bounds__(CULL_OMP_THREADS)
    match_together(const __grid_constant__ cull_cuda_match_call m, cull_said *said)
{
    CULL_SHARED(unsigned char, shared);
    match<true>(m, shared, said);
}

} // namespace

cudaError_t cull_cuda_match_prepare(size_t most)
{
    cudaError_t error = cudaFuncSetAttribute(
        match_alone, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most));

    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(match_together, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(most));
}

cudaError_t cull_cuda_match_run(cudaStream_t stream, cull_cuda_match_call call, uint32_t blocks,
                                uint32_t threads, size_t bytes, void *said)
{
    if (blocks == 1)
        return CULL_LAUNCH(match_alone, dim3(1), dim3(threads), bytes, stream, call);
    return cull_cuda_launch_together(match_together, blocks, threads, bytes, stream, call,
                                     static_cast<cull_said *>(said));
}
