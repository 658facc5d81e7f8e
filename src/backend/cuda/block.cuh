/* backend/cuda/block.cuh - what a block's threads find out together; all of them get the answer. */
#ifndef CULL_BACKEND_CUDA_BLOCK_CUH
#define CULL_BACKEND_CUDA_BLOCK_CUH

#include "backend/cuda/device.cuh"

/* The largest score, and the lowest place that has it. */
struct cull_best {
    double   score;
    uint32_t at;
};

static __device__ __forceinline__ void cull_best_take(cull_best *best, double score, uint32_t at)
{
    if (score > best->score || (score == best->score && at < best->at)) *best = {score, at};
}

static __device__ __forceinline__ cull_best cull_warp_best(cull_best best)
{
    for (int step = CULL_WARP / 2; step > 0; step /= 2) {
        double   score = __shfl_xor_sync(CULL_ALL_LANES, best.score, step);
        uint32_t at = __shfl_xor_sync(CULL_ALL_LANES, best.at, step);
        cull_best_take(&best, score, at);
    }
    return best;
}

struct cull_add {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

struct cull_larger {
    static __device__ __forceinline__ double join(double a, double b) { return a > b ? a : b; }
};

struct cull_lesser {
    static __device__ __forceinline__ double join(double a, double b) { return a < b ? a : b; }
};

/* One number a thread joined to one, always in the same tree; blocks of whole warps. */
template <typename Join> static __device__ double cull_block_join(double x)
{
    __shared__ double room[CULL_WARP];
    unsigned          warps = blockDim.x / CULL_WARP, warp = threadIdx.x / CULL_WARP;

    for (int step = CULL_WARP / 2; step > 0; step /= 2)
        x = Join::join(x, __shfl_xor_sync(CULL_ALL_LANES, x, step));
    __syncthreads();
    if (threadIdx.x % CULL_WARP == 0) room[warp] = x;
    __syncthreads();
    x = room[0];
    for (unsigned i = 1; i < warps; i++) x = Join::join(x, room[i]);
    return x;
}

static __device__ cull_best cull_block_best(cull_best best)
{
    __shared__ cull_best room[CULL_WARP];
    unsigned             warps = blockDim.x / CULL_WARP;

    best = cull_warp_best(best);
    __syncthreads();
    if (threadIdx.x % CULL_WARP == 0) room[threadIdx.x / CULL_WARP] = best;
    __syncthreads();
    best = room[0];
    for (unsigned i = 1; i < warps; i++) cull_best_take(&best, room[i].score, room[i].at);
    return best;
}

#endif
