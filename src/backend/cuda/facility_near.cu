/*
 * backend/cuda/facility_near.cu - how near atoms are to each other: all of S where it is held, and
 * the largest distance.
 *
 * A block makes a tile of S and its mirror image.
 */
#include "backend/cuda/block.cuh"
#include "backend/cuda/facility_tile.cuh"

namespace {

enum { TILE = CULL_FACILITY_TILE, BLOCK = CULL_TILE_BLOCK, SIDE = CULL_TILE_SIDE, LEAST = -1000 };
enum { EACH = CULL_TILE_EACH };

__device__ __forceinline__ unsigned long long bits_of(double x)
{
    return static_cast<unsigned long long>(__double_as_longlong(x));
}

__device__ __forceinline__ double number_of(unsigned long long bits)
{
    return __longlong_as_double(static_cast<long long>(bits));
}

/* ---- the power of two that P, or S as given, is divided by ---- */

__device__ double largest_of(const cull_facility_task &x, const cull_cuda_rows &rows, bool given,
                             uint32_t first, uint32_t last)
{
    double most = 0;

    for (uint32_t i = first; i < last; i++) {
        size_t row = given ? i : cull_facility_row_of(x, i);
        for (uint32_t j = threadIdx.x; j < rows.width; j += BLOCK)
            most = fmax(most, fabs(cull_rows_at(rows, row, j)));
    }
    return cull_block_join<cull_larger>(most);
}

__global__ void __launch_bounds__(BLOCK) find_largest(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[lot.strip_of[blockIdx.x]];
    uint32_t first = (blockIdx.x - x.first_strip) * TILE, last = min(first + TILE, x.n);
    bool     given = x.given.dtype != 0;
    double   p = 0, h = 0;

    if (x.given.dtype == CULL_F32) return; /* which is taken as it is */
    p = largest_of(x, given ? x.given : x.p, given, first, last);
    if (!given) h = largest_of(x, x.h, false, first, last);
    if (threadIdx.x) return;
    atomicMax(&x.state->largest[0], bits_of(p));
    atomicMax(&x.state->largest[1], bits_of(h));
}

__global__ void find_exponent(cull_facility_lot lot)
{
    const cull_facility_task &x = lot.task[blockIdx.x];
    int                       exponent = 0, wide = 0;

    (void)frexp(number_of(x.state->largest[0]), &exponent);
    (void)frexp(number_of(x.state->largest[1]), &wide);
    if (wide > 0) exponent += wide;
    x.state->exponent = x.given.dtype == CULL_F32 ? 0 : exponent > LEAST ? exponent : LEAST;
}

/* ---- tiles ---- */

__global__ void __launch_bounds__(BLOCK) find_norms(cull_facility_lot lot)
{
    __shared__ cull_tile_side a, b;
    const cull_facility_task &x = lot.task[lot.strip_of[blockIdx.x]];
    cull_tile_atoms           atoms = {nullptr, (blockIdx.x - x.first_strip) * TILE, x.n};
    double                    k[EACH][EACH];

    if (x.given.dtype) return;
    cull_tile_make(x, atoms, atoms, a, b, k);
    for (int i = 0; i < EACH; i++) {
        uint32_t atom = threadIdx.x / SIDE + SIDE * i;
        if (threadIdx.x / SIDE == threadIdx.x % SIDE && atoms.has(atom))
            x.norm[atoms.at(atom)] = k[i][i];
    }
}

__global__ void __launch_bounds__(BLOCK) make_near(cull_facility_lot lot)
{
    __shared__ cull_tile_side a, b;
    const cull_facility_task &x = lot.task[lot.tile_of[blockIdx.x]];
    uint32_t                  tile = blockIdx.x - x.first_tile, one = 0;
    uint32_t                  strips = (x.n + TILE - 1) / TILE;
    double                    k[EACH][EACH], most = 0;

    for (; tile >= strips - one; one++) tile -= strips - one;
    cull_tile_atoms high = {nullptr, one * TILE, x.n}, wide = {nullptr, (one + tile) * TILE, x.n};
    if (!x.given.dtype) cull_tile_make(x, high, wide, a, b, k);
    for (int i = 0; i < EACH; i++) {
        uint32_t row = high.first + threadIdx.x / SIDE + SIDE * i;

        for (int j = 0; j < EACH; j++) {
            uint32_t column = wide.first + threadIdx.x % SIDE + SIDE * j;

            if (row >= x.n || column >= x.n) continue;
            if (x.given.dtype) {
                if (x.slots) continue;
                x.near[row * x.ld + column] = cull_tile_given(x, row, column);
                x.near[column * x.ld + row] = cull_tile_given(x, column, row);
                continue;
            }
            float distance = cull_tile_distance(x, row, column, k[i][j]);
            most = fmax(most, static_cast<double>(distance));
            if (!x.slots)
                x.near[row * x.ld + column] = x.near[column * x.ld + row] = -distance;
        }
    }
    most = cull_block_join<cull_larger>(most);
    if (threadIdx.x == 0 && !x.given.dtype) atomicMax(&x.state->farthest, bits_of(most));
}

__global__ void find_floor(cull_facility_lot lot)
{
    cull_facility_state *state = lot.task[blockIdx.x].state;

    state->floor = -number_of(state->farthest);
}

} // namespace

cudaError_t cull_facility_measure(cudaStream_t stream, const cull_facility_lot *lot)
{
    dim3        strips(lot->strips), block(BLOCK);
    cudaError_t error = CULL_LAUNCH(find_largest, strips, block, 0, stream, *lot);

    if (error == cudaSuccess)
        error = CULL_LAUNCH(find_exponent, dim3(lot->count), dim3(1), 0, stream, *lot);
    if (error == cudaSuccess) error = CULL_LAUNCH(find_norms, strips, block, 0, stream, *lot);
    if (error == cudaSuccess && lot->tiles)
        error = CULL_LAUNCH(make_near, dim3(lot->tiles), block, 0, stream, *lot);
    if (error == cudaSuccess)
        error = CULL_LAUNCH(find_floor, dim3(lot->count), dim3(1), 0, stream, *lot);
    return error;
}
