/*
 * backend/cuda/facility_rows.cu - picking atoms by gain where S is too large to be held: rows are
 * made for a list of atoms, as many at a time as there are slots.
 *
 * Which atoms a pick looks at is known on the device alone, so the host asks for as many lots of
 * rows as there may be; those that are none cost a launch.
 */
#include "backend/cuda/facility_gain.cuh"
#include "backend/cuda/facility_tile.cuh"

namespace {

/* Rows of S of the list's atoms from `first` on into the slots. */
__global__ void __launch_bounds__(BLOCK) make_rows(const cull_facility_task *task, uint32_t first)
{
    __shared__ cull_tile_side a, b;
    const cull_facility_task &x = *task;
    uint32_t                  end = min(first + x.slots, x.state->listed);
    cull_tile_atoms           high = {x.list, first + blockIdx.y * TILE, end};
    cull_tile_atoms           wide = {nullptr, blockIdx.x * TILE, x.n};
    double                    k[CULL_TILE_EACH][CULL_TILE_EACH];

    if (!high.has(0)) return;
    if (!x.given.dtype) cull_tile_make(x, high, wide, a, b, k);
    for (int i = 0; i < CULL_TILE_EACH; i++) {
        uint32_t row = threadIdx.x / CULL_TILE_SIDE + CULL_TILE_SIDE * i;
        float   *to = x.near + (blockIdx.y * TILE + row) * x.ld;

        for (int j = 0; j < CULL_TILE_EACH; j++) {
            uint32_t column = threadIdx.x % CULL_TILE_SIDE + CULL_TILE_SIDE * j;

            if (!high.has(row) || !wide.has(column)) continue;
            uint32_t atom = high.at(row), other = wide.at(column);
            to[other] = x.given.dtype ? cull_tile_given(x, atom, other)
                                      : -cull_tile_distance(x, atom, other, k[i][j]);
        }
    }
}

__global__ void __launch_bounds__(BLOCK) look_at_rows(const cull_facility_task *task,
                                                      uint32_t first)
{
    const cull_facility_task &x = *task;
    uint32_t end = min(first + x.slots, x.state->listed), strip = first + blockIdx.x * TILE;

    for (uint32_t i = strip + threadIdx.x / LANES; i < strip + TILE; i += BLOCK / LANES)
        look_at(x, i < end, i < end ? x.list[i] : 0, x.near + (i - first) * x.ld);
}

/* All threads of one block; the list's order changes nothing. */
__device__ void list_asked(const cull_facility_task &x)
{
    if (threadIdx.x == 0) x.state->listed = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK)
        if (is_asked(x, i)) x.list[atomicAdd(&x.state->listed, 1u)] = i;
}

__device__ void list_one(const cull_facility_task &x, uint32_t atom)
{
    __syncthreads();
    if (threadIdx.x) return;
    x.list[0] = atom;
    x.state->listed = 1;
}

__global__ void __launch_bounds__(BLOCK) list_all(const cull_facility_task *task)
{
    list_asked(*task);
}

__global__ void __launch_bounds__(BLOCK) choose(const cull_facility_task *task)
{
    list_one(*task, find_pick(*task));
}

/* The pick's row is in the first slot; then the row of the largest bound is wanted, or the drawn
 * ones are. */
__global__ void __launch_bounds__(BLOCK) take_row(cull_facility_lot lot)
{
    const cull_facility_task &x = *lot.task;
    uint32_t                  atom = x.list[0];

    take(x, atom, x.near);
    if (x.state->picked == x.budget) return;
    if (!x.sample) {
        list_one(x, find_top(x));
        return;
    }
    if (threadIdx.x == 0) {
        drop_candidate(x, atom);
        draw(lot, x);
    }
    __syncthreads();
    list_asked(x);
}

__global__ void __launch_bounds__(BLOCK) take_threshold(const cull_facility_task *task)
{
    __shared__ double         stage[STAGE];
    const cull_facility_task &x = *task;
    double                    gain = gain_of(x, x.near, stage);

    __syncthreads();
    if (threadIdx.x == 0) x.state->threshold = gain;
    __syncthreads();
    list_asked(x);
}

} // namespace

cudaError_t cull_facility_list(cudaStream_t stream, const cull_facility_lot *lot)
{
    return CULL_LAUNCH(list_all, dim3(1), dim3(BLOCK), 0, stream, lot->task);
}

cudaError_t cull_facility_pick_by_rows(cudaStream_t stream, const cull_facility_lot *lot,
                                       const cull_facility_task *here)
{
    uint32_t    strips = cull_facility_strips(here->n), high = cull_facility_strips(here->slots);
    dim3        block(BLOCK);
    cudaError_t error = cudaSuccess;

    for (uint32_t first = 0; first < here->n && error == cudaSuccess; first += here->slots) {
        error = CULL_LAUNCH(make_rows, dim3(strips, high), block, 0, stream, lot->task, first);
        if (error == cudaSuccess)
            error = CULL_LAUNCH(look_at_rows, dim3(high), block, 0, stream, lot->task, first);
    }
    if (error == cudaSuccess) error = CULL_LAUNCH(choose, dim3(1), block, 0, stream, lot->task);
    if (error == cudaSuccess)
        error = CULL_LAUNCH(make_rows, dim3(strips), block, 0, stream, lot->task, 0u);
    if (error == cudaSuccess) error = CULL_LAUNCH(take_row, dim3(1), block, 0, stream, *lot);
    if (error != cudaSuccess || here->sample) return error;
    error = CULL_LAUNCH(make_rows, dim3(strips), block, 0, stream, lot->task, 0u);
    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(take_threshold, dim3(1), block, 0, stream, lot->task);
}
