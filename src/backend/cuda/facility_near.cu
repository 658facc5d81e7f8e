/*
 * backend/cuda/facility_near.cu - how near atoms are to each other.
 *
 *     K_ij = (p_i . p_j)(h_i . h_j + 1)      S_ij = -(float)sqrt(max(0, K_ii + K_jj - 2 K_ij))
 *
 * Products are in double, each summed along its rows in order wherever the pair lies, so that S is
 * symmetric and duplicates are at distance zero. A block makes a tile of S and its mirror image.
 */
#include "backend/cuda/block.cuh"
#include "backend/cuda/facility.h"
#include "backend/cuda/rows.cuh"

namespace {

enum { TILE = CULL_FACILITY_TILE, BLOCK = 256, SIDE = 16, EACH = 4, DEPTH = 16, LEAST = -1000 };

__device__ __forceinline__ unsigned long long bits_of(double x)
{
    return static_cast<unsigned long long>(__double_as_longlong(x));
}

__device__ __forceinline__ double number_of(unsigned long long bits)
{
    return __longlong_as_double(static_cast<long long>(bits));
}

__device__ __forceinline__ size_t row_of(const cull_facility_task &x, uint32_t i)
{
    return x.row ? x.row[i] : i;
}

/* ---- the power of two that P, or S as given, is divided by ---- */

__device__ double largest_of(const cull_facility_task &x, const cull_cuda_rows &rows, bool given,
                             uint32_t first, uint32_t last)
{
    double most = 0;

    for (uint32_t i = first; i < last; i++) {
        size_t row = given ? i : row_of(x, i);
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

/* sum[a][b] = the inner product of rows a + 16 .. of one strip and b + 16 .. of another. */
__device__ void multiply(const cull_facility_task &x, const cull_cuda_rows &rows, double scale,
                         uint32_t one, uint32_t two, double (*a)[TILE], double (*b)[TILE],
                         double sum[EACH][EACH])
{
    unsigned tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;

    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) sum[i][j] = 0;
    for (uint32_t begin = 0; begin < rows.width; begin += DEPTH) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < TILE * DEPTH; i += BLOCK) {
            unsigned line = i / DEPTH, l = i % DEPTH;
            bool     inside = begin + l < rows.width;

            a[l][line] = inside && one + line < x.n
                             ? scale * cull_rows_at(rows, row_of(x, one + line), begin + l)
                             : 0;
            b[l][line] = inside && two + line < x.n
                             ? scale * cull_rows_at(rows, row_of(x, two + line), begin + l)
                             : 0;
        }
        __syncthreads();
        for (int l = 0; l < DEPTH; l++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += a[l][ty + SIDE * i] * b[l][tx + SIDE * j];
    }
}

/* K over a tile. */
__device__ void make_tile(const cull_facility_task &x, uint32_t one, uint32_t two,
                          double (*a)[TILE], double (*b)[TILE], double k[EACH][EACH])
{
    double hh[EACH][EACH];

    multiply(x, x.h, 1, one, two, a, b, hh);
    multiply(x, x.p, ldexp(1.0, -x.state->exponent), one, two, a, b, k);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) k[i][j] *= hh[i][j] + 1;
}

__global__ void __launch_bounds__(BLOCK) find_norms(cull_facility_lot lot)
{
    __shared__ double         a[DEPTH][TILE], b[DEPTH][TILE];
    const cull_facility_task &x = lot.task[lot.strip_of[blockIdx.x]];
    uint32_t                  first = (blockIdx.x - x.first_strip) * TILE;
    double                    k[EACH][EACH];

    if (x.given.dtype) return;
    make_tile(x, first, first, a, b, k);
    for (int i = 0; i < EACH; i++) {
        uint32_t atom = first + threadIdx.x / SIDE + SIDE * i;
        if (threadIdx.x / SIDE == threadIdx.x % SIDE && atom < x.n) x.norm[atom] = k[i][i];
    }
}

__device__ float copied(const cull_facility_task &x, double scale, uint32_t i, uint32_t j)
{
    return static_cast<float>(scale * cull_rows_at(x.given, i, j));
}

__global__ void __launch_bounds__(BLOCK) make_near(cull_facility_lot lot)
{
    __shared__ double         a[DEPTH][TILE], b[DEPTH][TILE];
    const cull_facility_task &x = lot.task[lot.tile_of[blockIdx.x]];
    uint32_t                  tile = blockIdx.x - x.first_tile, one = 0, two = 0;
    uint32_t                  strips = (x.n + TILE - 1) / TILE;
    double                    k[EACH][EACH], scale = ldexp(1.0, -x.state->exponent), most = 0;

    for (; tile >= strips - one; one++) tile -= strips - one;
    two = (one + tile) * TILE;
    one *= TILE;
    if (!x.given.dtype) make_tile(x, one, two, a, b, k);
    for (int i = 0; i < EACH; i++) {
        uint32_t row = one + threadIdx.x / SIDE + SIDE * i;

        for (int j = 0; j < EACH; j++) {
            uint32_t column = two + threadIdx.x % SIDE + SIDE * j;

            if (row >= x.n || column >= x.n) continue;
            if (x.given.dtype) {
                x.near[row * x.ld + column] = copied(x, scale, row, column);
                x.near[column * x.ld + row] = copied(x, scale, column, row);
                continue;
            }
            double square = x.norm[row] + x.norm[column] - 2 * k[i][j];
            float  distance = static_cast<float>(sqrt(square > 0 ? square : 0));
            x.near[row * x.ld + column] = x.near[column * x.ld + row] = -distance;
            most = fmax(most, static_cast<double>(distance));
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
    if (error == cudaSuccess)
        error = CULL_LAUNCH(make_near, dim3(lot->tiles), block, 0, stream, *lot);
    if (error == cudaSuccess)
        error = CULL_LAUNCH(find_floor, dim3(lot->count), dim3(1), 0, stream, *lot);
    return error;
}
