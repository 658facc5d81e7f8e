/*
 * backend/cuda/facility_greedy.cu - picking atoms by gain where all of S is held.
 *
 * One kernel looks at the gains that a pick needs, a second, a block for each problem, picks.
 */
#include "backend/cuda/facility_gain.cuh"

namespace {

__global__ void __launch_bounds__(BLOCK) look(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[lot.strip_of[blockIdx.x]];
    uint32_t                  first = (blockIdx.x - x.first_strip) * TILE;

    if (x.state->picked == x.budget) return;
    for (uint32_t i = first + threadIdx.x / LANES; i < first + TILE; i += BLOCK / LANES)
        look_at(x, i < x.n && is_asked(x, i), i, x.near + i * x.ld);
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
    take(x, atom, x.near + atom * x.ld);
    if (x.state->picked == x.budget) return;
    if (!x.sample) {
        uint32_t top = find_top(x);
        double   gain = gain_of(x, x.near + top * x.ld, stage);

        if (threadIdx.x == 0) x.state->threshold = gain;
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
