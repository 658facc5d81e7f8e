/*
 * backend/cuda/match_settle.cuh - what the solver found becomes a subset, by one block:
 * backend/match_settle.c.
 *
 * What fills is a draw without replacement: the atoms of the smallest keys, -log u. Among atoms
 * that weigh the same those are the ones of the largest u, and no logarithm is asked for.
 */
#ifndef CULL_BACKEND_CUDA_MATCH_SETTLE_CUH
#define CULL_BACKEND_CUDA_MATCH_SETTLE_CUH

#include "backend/cuda/crew.cuh"
#include "backend/cuda/match.h"
#include "base/philox.h"

/* Drops the atoms of no positive weight; how many are left. For one warp. */
static __device__ unsigned cull_settle_clip(const cull_cuda_match_call &m, unsigned picked)
{
    uint32_t *index = m.omp.index;
    double   *weight = m.omp.weight;
    unsigned  kept = 0, lane = cull_lane();

    for (unsigned begin = 0; begin < picked; begin += CULL_WARP) {
        unsigned i = begin + lane;
        uint32_t atom = i < picked ? index[i] : 0;
        double   own = i >= picked ? 0 : m.unit ? 1 : weight[i];

        __syncwarp();
        unsigned all = __ballot_sync(CULL_ALL_LANES, own > 0);
        unsigned to = kept + static_cast<unsigned>(__popc(all & ((1u << lane) - 1)));

        if (own > 0) {
            index[to] = atom;
            weight[to] = own;
        }
        kept += static_cast<unsigned>(__popc(all));
    }
    return kept;
}

/* u[n], of the used below zero; then chosen[n]: is it one of the `missing` largest? For a block. */
static __device__ void cull_settle_draw(const cull_cuda_match_call &m, uint64_t step, unsigned kept,
                                        double *u, double *chosen)
{
    unsigned n = m.omp.n, missing = m.omp.budget - kept;

    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        u[i] = cull_philox_uniform(m.key, step, m.place ? m.place[i] : i);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kept; i += blockDim.x) u[m.omp.index[i]] = -1;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        double   own = u[i];
        unsigned before = 0;

#pragma unroll 8
        for (unsigned j = 0; j < n; j++) before += u[j] > own || (u[j] == own && j < i);
        chosen[i] = own > 0 && before < missing;
    }
    __syncthreads();
}

/* The chosen behind the kept, in order. For one warp. */
static __device__ void cull_settle_append(const cull_cuda_match_call &m, unsigned kept,
                                          const double *chosen)
{
    unsigned lane = cull_lane();

    for (unsigned begin = 0; begin < m.omp.n; begin += CULL_WARP) {
        unsigned i = begin + lane;
        bool     mine = i < m.omp.n && chosen[i] != 0;
        unsigned all = __ballot_sync(CULL_ALL_LANES, mine);
        unsigned to = kept + static_cast<unsigned>(__popc(all & ((1u << lane) - 1)));

        if (mine) {
            m.omp.index[to] = i;
            m.omp.weight[to] = m.unit ? 1 : 0;
        }
        kept += static_cast<unsigned>(__popc(all));
    }
}

/* Clipped and filled; report->picked are those that the solver found. For a block; room is [2 n].
 */
static __device__ void cull_settle_fill(const cull_cuda_match_call &m, uint64_t step,
                                        unsigned picked, double *room)
{
    unsigned kept = 0;

    if (cull_warp() == 0) kept = cull_settle_clip(m, picked);
    if (threadIdx.x == 0) m.omp.report->picked = kept;
    __syncthreads();
    kept = m.omp.report->picked;
    if (!m.fill || kept == m.omp.budget) return;
    cull_settle_draw(m, step, kept, room, room + m.omp.n);
    if (cull_warp() == 0) cull_settle_append(m, kept, room + m.omp.n);
    __syncthreads();
}

/* Weights scaled, and what became of it. For a block, as crew. */
static __device__ void cull_settle_finish(cull_crew<false> &crew, const cull_cuda_match_call &m)
{
    unsigned picked = m.omp.report->picked, budget = m.omp.budget;
    unsigned count = m.fill ? budget : picked, flags = 0;
    double   positive = 0, total = 0, factor = count;
    double  *weight = m.omp.weight;

    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        if (!(weight[i] > 0)) continue;
        positive++;
        total += weight[i];
    }
    positive = cull_sum_of(crew, positive);
    total = cull_sum_of(crew, total);
    if (positive == 0) total = count; /* all weigh 1 */
    if (picked < budget)
        flags = !m.fill                            ? CULL_SUBSET_SHORT
                : (m.unit ? picked : positive) > 0 ? CULL_SUBSET_FILLED
                                                   : CULL_SUBSET_FALLBACK;
    if (!m.solved || flags & CULL_SUBSET_FALLBACK) factor = count / total;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        weight[i] = (positive == 0 ? 1 : weight[i]) * factor;
    if (threadIdx.x == 0) *m.outcome = {count, picked, flags};
}

#endif
