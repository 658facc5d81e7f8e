/*
 * backend/cuda/facility_greedy.cu - picking atoms by gain.
 *
 *     gain_i = sum over j of max(0, S_ij - best_j)
 *
 * Sixteen lanes have an atom, and add up as backend/cpu/facility_greedy.c does: lane l the terms
 * l, l + 16, .., then the lanes in order, then what is left. So equal S give equal gains, to the
 * bit. A second kernel, a block for each problem, takes the pick.
 */
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
__device__ __forceinline__ double lane_sum(const cull_facility_task &x, uint32_t atom, unsigned lane)
{
    const float *near = x.near + atom * x.ld;
    uint32_t     whole = x.n / LANES * LANES;
    double       sum = 0;

#pragma unroll 8
    for (uint32_t j = lane; j < whole; j += LANES) {
        double more = static_cast<double>(near[j]) - x.best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

/* What is behind whole sixteens. */
__device__ __forceinline__ double add_rest(const cull_facility_task &x, uint32_t atom, double sum)
{
    const float *near = x.near + atom * x.ld;

    for (uint32_t j = x.n / LANES * LANES; j < x.n; j++) {
        double more = static_cast<double>(near[j]) - x.best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

__global__ void __launch_bounds__(BLOCK) look(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[lot.strip_of[blockIdx.x]];
    uint32_t                  first = (blockIdx.x - x.first_strip) * TILE;
    unsigned                  lane = threadIdx.x % LANES;

    if (x.state->picked == x.budget) return;
    for (uint32_t i = first + threadIdx.x / LANES; i < first + TILE; i += BLOCK / LANES) {
        bool   asked = i < x.n && is_asked(x, i);
        double mine = asked ? lane_sum(x, i, lane) : 0, sum = 0;

        if (!__any_sync(CULL_ALL_LANES, asked)) continue;
        for (int l = 0; l < LANES; l++)
            sum += __shfl_sync(CULL_ALL_LANES, mine, threadIdx.x % CULL_WARP / LANES * LANES + l);
        if (!asked || lane) continue;
        x.gain[i] = add_rest(x, i, sum);
        x.fresh[i] = x.state->picked + 1;
    }
}

/* ---- a pick, by one block ---- */

__device__ uint32_t find_pick(const cull_facility_task &x)
{
    cull_best best = {-1, NONE};

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK)
        if (x.fresh[i] == x.state->picked + 1) cull_best_take(&best, x.gain[i], i);
    return cull_block_best(best).at;
}

__device__ void take(const cull_facility_task &x, uint32_t atom)
{
    const float *near = x.near + atom * x.ld;
    uint32_t     pick = x.state->picked;

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
__device__ double gain_of(const cull_facility_task &x, uint32_t atom, double *stage)
{
    const float *near = x.near + atom * x.ld;
    uint32_t     whole = x.n / LANES * LANES;
    double       mine = 0, sum = 0;

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
    return add_rest(x, atom, sum);
}

/* What the gains of the next pick must reach to be looked at. */
__device__ void find_threshold(const cull_facility_task &x, double *stage)
{
    cull_best best = {-1, NONE};
    double    gain = 0;

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK) cull_best_take(&best, x.gain[i], i);
    best = cull_block_best(best);
    gain = gain_of(x, best.at, stage);
    if (threadIdx.x == 0) x.state->threshold = gain;
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

__global__ void __launch_bounds__(BLOCK) begin(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[blockIdx.x];

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK) {
        x.best[i] = x.state->floor;
        x.gain[i] = INFINITY;
        x.owner[i] = x.fresh[i] = 0;
        if (x.sample) x.candidate[i] = i;
    }
    __syncthreads();
    if (threadIdx.x) return;
    x.state->threshold = 0;
    x.state->left = x.n;
    if (x.sample) draw(lot, x);
}

__global__ void __launch_bounds__(BLOCK) pick_one(cull_facility_lot lot)
{
    __shared__ double         stage[STAGE];
    const cull_facility_task &x = lot.task[blockIdx.x];
    uint32_t                  atom = NONE;

    if (x.state->picked == x.budget) return;
    atom = find_pick(x);
    take(x, atom);
    if (x.state->picked == x.budget) return;
    if (!x.sample) {
        find_threshold(x, stage);
    } else if (threadIdx.x == 0) {
        drop_candidate(x, atom);
        draw(lot, x);
    }
}

/* ---- weights and value ---- */

__global__ void __launch_bounds__(BLOCK) end(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[blockIdx.x];
    double                    value = 0;

    for (uint32_t i = threadIdx.x; i < x.budget; i += BLOCK) x.fresh[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK) {
        atomicAdd(&x.fresh[x.owner[i]], 1u);
        value += x.best[i] - x.state->floor;
    }
    value = cull_block_join<cull_add>(value);
    for (uint32_t i = threadIdx.x; i < x.budget; i += BLOCK) x.weight[i] = x.fresh[i];
    if (threadIdx.x == 0) x.state->value = value;
}

} // namespace

cudaError_t cull_facility_begin(cudaStream_t stream, const cull_facility_lot *lot)
{
    return CULL_LAUNCH(begin, dim3(lot->count), dim3(BLOCK), 0, stream, *lot);
}

cudaError_t cull_facility_pick(cudaStream_t stream, const cull_facility_lot *lot)
{
    cudaError_t error = CULL_LAUNCH(look, dim3(lot->strips), dim3(BLOCK), 0, stream, *lot);

    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(pick_one, dim3(lot->count), dim3(BLOCK), 0, stream, *lot);
}

cudaError_t cull_facility_end(cudaStream_t stream, const cull_facility_lot *lot)
{
    return CULL_LAUNCH(end, dim3(lot->count), dim3(BLOCK), 0, stream, *lot);
}
