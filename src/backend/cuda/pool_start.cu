/*
 * backend/cuda/pool_start.cu - everything known of target and atoms before the first pick.
 *
 *     a column c   t_i = p_ic (b . [h_i; 1])     K_ii = p_ic^2 (h_i . h_i + 1)
 *     all classes  t is there already            K_ii = (p_i . p_i)(h_i . h_i + 1)
 *     ridge = lambda mean(diag K), or lambda as it is, d = diag K + ridge, alpha = t, NaN where K_ii is zero
 */
#include "backend/cuda/block.cuh"
#include "backend/cuda/pool.h"
#include "backend/cuda/pool_rows.cuh"

namespace {

enum { BLOCK = CULL_POOL_WARPS * CULL_WARP, WIDE = 256 };

__global__ void __launch_bounds__(BLOCK) measure(cull_pool_lot lot)
{
    __shared__ double        piece[CULL_POOL_PIECE];
    const cull_pool_problem &x = lot.problem[lot.of[blockIdx.x]];
    unsigned panel = (blockIdx.x - x.first_block) * CULL_POOL_WARPS + threadIdx.x / CULL_WARP;
    uint32_t i = panel * CULL_POOL_PANEL + threadIdx.x % CULL_WARP;
    bool     live = panel < x.panels;
    uint32_t atom = i < x.n ? i : x.n - 1, row = x.row ? x.row[atom] : atom;
    double   hh = live ? cull_pool_square(x.h, row) : 0, diag = 0, t = 0, pc = 0;

    if (x.column >= 0) {
        t = cull_pool_apply(x.h, row, live, cull_pool_array{x.b}, piece);
        pc = cull_rows_at(x.p, row, x.column);
        t = pc * (t + x.b[x.h.width]);
        diag = pc * pc * (hh + 1);
    } else {
        diag = (live ? cull_pool_square(x.p, row) : 0) * (hh + 1);
    }
    if (i >= x.n) return;
    x.diag[i] = diag;
    if (x.column < 0) return;
    x.t[i] = t;
    x.pc[i] = pc;
}

__device__ double square_of(const double *x, size_t size)
{
    double sum = 0;

    for (size_t i = threadIdx.x; i < size; i += blockDim.x) sum += x[i] * x[i];
    return cull_block_join<cull_add>(sum);
}

/* Largest scores of all panels. */
__device__ void score_panels(const cull_pool_problem &x, bool absolute)
{
    for (uint32_t panel = threadIdx.x / CULL_WARP; panel < x.panels; panel += WIDE / CULL_WARP) {
        uint32_t  i = panel * CULL_POOL_PANEL + threadIdx.x % CULL_WARP;
        double    alpha = i < x.n ? x.alpha[i] : 0, score = absolute ? fabs(alpha) : alpha;
        cull_best best = {0, CULL_POOL_NONE};

        if (score > 0) best = {score, i};
        best = cull_warp_best(best);
        if (threadIdx.x % CULL_WARP) continue;
        x.best[panel] = best.score;
        x.best_at[panel] = best.at;
    }
}

__global__ void __launch_bounds__(WIDE) begin(cull_pool_lot lot)
{
    const cull_pool_problem &x = lot.problem[blockIdx.x];
    size_t size = (x.h.width + 1) * static_cast<size_t>(x.column < 0 ? x.p.width : 1);
    double b2 = square_of(x.b, size), scale2 = b2 > 0 ? b2 : 0;
    double trace = 0, zero = 0, broken = CULL_POOL_NONE, ridge = 0;

    for (uint32_t i = threadIdx.x; i < x.n; i += WIDE) {
        if (!isfinite(x.diag[i]) || !isfinite(x.t[i])) broken = broken < i ? broken : i;
        trace += x.diag[i];
        zero = fmax(zero, fabs(x.t[i]));
        if (x.diag[i] > 0 && !(b2 > 0)) scale2 = fmax(scale2, x.t[i] * x.t[i] / x.diag[i]);
    }
    broken = cull_block_join<cull_lesser>(broken);
    zero = cull_block_join<cull_larger>(zero);
    scale2 = cull_block_join<cull_larger>(scale2);
    trace = cull_block_join<cull_add>(trace);
    ridge = lot.rules.ridge * (lot.rules.as_it_is ? 1 : trace / x.n);
    for (uint32_t i = threadIdx.x; i < x.n; i += WIDE) {
        bool usable = x.diag[i] > 0;

        x.state_of[i] = usable ? CULL_POOL_FREE : CULL_POOL_DEPENDENT;
        x.alpha[i] = usable ? x.t[i] : NAN;
        x.d[i] = x.diag[i] + ridge;
    }
    __syncthreads();
    score_panels(x, lot.rules.absolute);
    if (threadIdx.x) return;
    bool     nothing = zero == 0 && !(b2 > 0), ended = nothing || broken < CULL_POOL_NONE;
    uint32_t stop = nothing ? CULL_OMP_ZERO_TARGET : CULL_OMP_BUDGET;
    *x.state = {ridge, b2, scale2, b2, 1, 0, 0, 0, CULL_POOL_NONE, static_cast<uint32_t>(broken),
                stop, ended, NAN};
    if (ended) atomicAdd(lot.ended, 1u);
}

} // namespace

cudaError_t cull_pool_start(cudaStream_t stream, const cull_pool_lot *lot)
{
    cudaError_t error =
        CULL_LAUNCH(measure, dim3(lot->blocks), dim3(BLOCK), 0, stream, *lot);

    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(begin, dim3(lot->count), dim3(WIDE), 0, stream, *lot);
}
