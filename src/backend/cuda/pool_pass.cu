/*
 * backend/cuda/pool_pass.cu - what a pick does to all atoms of its problem.
 *
 *     v = (K_{:,p} - L L_p^T) / sqrt(d_p),  alpha -= c v,  d -= v^2,  L gains the column v
 *
 * A warp makes K at its 32 atoms and then has an atom a lane: the sum over L's columns goes in
 * their order, as the pivot d was lessened, so that a duplicate of the pick cancels to rounding.
 */
#include "backend/cuda/block.cuh"
#include "backend/cuda/pool.h"
#include "backend/cuda/pool_rows.cuh"

namespace {

enum { BLOCK = CULL_POOL_WARPS * CULL_WARP };

/* K between the pick and the lane's atom. */
__device__ double column_of(const cull_pool_problem &x, uint32_t atom, bool live, double *piece)
{
    uint32_t pick = x.state->pick, row = x.row ? x.row[atom] : atom;
    uint32_t other = x.row ? x.row[pick] : pick;
    double   hh = cull_pool_apply(x.h, row, live, cull_pool_row{x.h, other}, piece);

    if (x.column >= 0) return x.pc[atom] * x.pc[pick] * (hh + 1);
    return cull_pool_apply(x.p, row, live, cull_pool_row{x.p, other}, piece) * (hh + 1);
}

__global__ void __launch_bounds__(BLOCK) pass(cull_pool_lot lot)
{
    __shared__ double        piece[CULL_POOL_PIECE];
    const cull_pool_problem &x = lot.problem[lot.of[blockIdx.x]];
    unsigned lane = threadIdx.x % CULL_WARP;
    unsigned panel = (blockIdx.x - x.first_block) * CULL_POOL_WARPS + threadIdx.x / CULL_WARP;
    uint32_t i = panel * CULL_POOL_PANEL + lane, done = x.state->picked - 1;
    bool     live = panel < x.panels;
    double  *l = x.l + static_cast<size_t>(panel) * x.most * CULL_POOL_PANEL + lane, sum = 0;

    if (x.state->ended || x.state->pick == CULL_POOL_NONE) return;
    sum = column_of(x, i < x.n ? i : x.n - 1, live, piece);
    for (uint32_t first = 0; first < done; first += CULL_POOL_PIECE) {
        uint32_t count = done - first < CULL_POOL_PIECE ? done - first : CULL_POOL_PIECE;

        __syncthreads();
        for (uint32_t j = threadIdx.x; j < count; j += BLOCK) piece[j] = x.x[first + j];
        __syncthreads();
        if (!live) continue;
#pragma unroll 16
        for (uint32_t j = 0; j < count; j++)
            sum -= l[static_cast<size_t>(first + j) * CULL_POOL_PANEL] * piece[j];
    }
    if (!live) return;
    cull_best best = {0, CULL_POOL_NONE};
    double    v = sum * x.state->scale;
    l[static_cast<size_t>(done) * CULL_POOL_PANEL] = v;
    if (i < x.n) {
        double alpha = x.alpha[i] - x.state->c * v;
        double score = lot.rules.absolute ? fabs(alpha) : alpha;

        x.alpha[i] = alpha;
        x.d[i] -= v * v;
        if (score > 0) best = {score, i};
    }
    best = cull_warp_best(best);
    if (lane) return;
    x.best[panel] = best.score;
    x.best_at[panel] = best.at;
}

} // namespace

cudaError_t cull_pool_pass(cudaStream_t stream, const cull_pool_lot *lot)
{
    return CULL_LAUNCH(pass, dim3(lot->blocks), dim3(BLOCK), 0, stream, *lot);
}
