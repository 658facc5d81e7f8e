/*
 * backend/cuda/facility_gain.cuh - gains, and what a pick changes.
 *
 *     gain_i = sum over j of max(0, S_ij - best_j)
 *
 * Sixteen lanes have an atom, and add up as backend/cpu/facility_greedy.c does: lane l the terms
 * l, l + 16, .., then the lanes in order, then what is left. So equal S give equal gains, to the
 * bit. `near` is the atom's row of S.
 */
#ifndef CULL_BACKEND_CUDA_FACILITY_GAIN_CUH
#define CULL_BACKEND_CUDA_FACILITY_GAIN_CUH

#include "backend/cuda/block.cuh"
#include "backend/cuda/facility.h"
#include "base/philox.h"

namespace {

enum { TILE = CULL_FACILITY_TILE, BLOCK = 256, LANES = 16, STAGE = 2048 };
#define NONE 0xffffffffu

/* Is it among those that the next pick looks at? */
__device__ __forceinline__ bool is_asked(const cull_facility_task &x, uint32_t i)
{
    if (x.sample) return x.asked[i] == x.state->picked + 1;
    return x.gain[i] >= x.state->threshold && x.gain[i] > -INFINITY;
}

/* Of lane `lane` of sixteen. */
__device__ __forceinline__ double lane_sum(const cull_facility_task &x, const float *near,
                                           unsigned lane)
{
    uint32_t whole = x.n / LANES * LANES;
    double   sum = 0;

#pragma unroll 8
    for (uint32_t j = lane; j < whole; j += LANES) {
        double more = static_cast<double>(near[j]) - x.best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

/* What is behind whole sixteens. */
__device__ __forceinline__ double add_rest(const cull_facility_task &x, const float *near,
                                           double sum)
{
    for (uint32_t j = x.n / LANES * LANES; j < x.n; j++) {
        double more = static_cast<double>(near[j]) - x.best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

/* Sixteen lanes look at one atom again, if it is asked for; whole warps come here. */
__device__ __forceinline__ void look_at(const cull_facility_task &x, bool asked, uint32_t atom,
                                        const float *near)
{
    unsigned lane = threadIdx.x % LANES, from = threadIdx.x % CULL_WARP / LANES * LANES;
    double   mine = asked ? lane_sum(x, near, lane) : 0, sum = 0;

    if (!__any_sync(CULL_ALL_LANES, asked)) return;
    for (int l = 0; l < LANES; l++) sum += __shfl_sync(CULL_ALL_LANES, mine, from + l);
    if (!asked || lane) return;
    x.gain[atom] = add_rest(x, near, sum);
    x.fresh[atom] = x.state->picked + 1;
}

/* ---- a pick, by one block ---- */

__device__ uint32_t find_pick(const cull_facility_task &x)
{
    cull_best best = {-1, NONE};

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK)
        if (x.fresh[i] == x.state->picked + 1) cull_best_take(&best, x.gain[i], i);
    return cull_block_best(best).at;
}

__device__ void take(const cull_facility_task &x, uint32_t atom, const float *near)
{
    uint32_t pick = x.state->picked;

    for (uint32_t j = threadIdx.x; j < x.n; j += BLOCK) {
        double s = near[j];

        if (s <= x.best[j]) continue;
        x.best[j] = s;
        x.owner[j] = pick;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        x.index[pick] = atom;
        x.gain[atom] = -INFINITY;
        x.state->picked = pick + 1;
    }
    __syncthreads();
}

/* The gain of one atom, in the order of `look`; thread 0 has it. */
__device__ double gain_of(const cull_facility_task &x, const float *near, double *stage)
{
    uint32_t whole = x.n / LANES * LANES;
    double   mine = 0, sum = 0;

    for (uint32_t first = 0; first < whole; first += STAGE) {
        uint32_t count = min(static_cast<uint32_t>(STAGE), whole - first);

        __syncthreads();
        for (uint32_t j = threadIdx.x; j < count; j += BLOCK) {
            double more = static_cast<double>(near[first + j]) - x.best[first + j];
            stage[j] = more > 0 ? more : 0;
        }
        __syncthreads();
        for (uint32_t j = threadIdx.x; threadIdx.x < LANES && j < count; j += LANES)
            mine += stage[j];
    }
    __syncthreads();
    if (threadIdx.x < LANES) stage[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x) return 0;
    for (int l = 0; l < LANES; l++) sum += stage[l];
    return add_rest(x, near, sum);
}

/* The unpicked atom of the largest bound. */
__device__ uint32_t find_top(const cull_facility_task &x)
{
    cull_best best = {-1, NONE};

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK) cull_best_take(&best, x.gain[i], i);
    return cull_block_best(best).at;
}

/* The candidates that the next pick looks at: as cull_facility_sample() draws them. */
__device__ void draw(const cull_facility_lot &lot, const cull_facility_task &x)
{
    uint32_t pick = x.state->picked, left = x.state->left, size = min(x.sample, left);

    for (uint32_t i = 0; i < size; i++) {
        uint64_t place = static_cast<uint64_t>(pick) * x.n + i;
        uint32_t j = i + static_cast<uint32_t>(
                             cull_philox_below(lot.key, lot.step, place, left - i));
        uint32_t drawn = x.candidate[j];

        x.candidate[j] = x.candidate[i];
        x.candidate[i] = drawn;
        x.asked[drawn] = pick + 1;
    }
}

__device__ void drop_candidate(const cull_facility_task &x, uint32_t atom)
{
    uint32_t i = 0;

    while (x.candidate[i] != atom) i++;
    x.candidate[i] = x.candidate[--x.state->left];
}

} // namespace

#endif
