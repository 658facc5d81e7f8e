/*
 * backend/cuda/crew.cuh - threads that find something out together: those of one block, or of all
 * blocks of a kernel whose blocks meet: few as a cluster, which is quicker, or as many as run at
 * once.
 *
 * Everybody asks and everybody is told the same. Sums are made in an order of their own, fixed by
 * the launch's shape. A thing that was asked is answered by one barrier of the block, and by one
 * meeting of all blocks where there are several; what is written before it is seen by all after it.
 * Rooms for answers are two, taken in turn, as the slow may still read one while the fast write.
 */
#ifndef CULL_BACKEND_CUDA_CREW_CUH
#define CULL_BACKEND_CUDA_CREW_CUH

#include "backend/cuda/crew.h"
#include "backend/cuda/device.cuh"

/* ---- blocks that meet ---- */

#ifdef CULL_EMU
static inline void cull_crew_meet()
{
    cull_cuda_meet();
}

template <typename Kernel> static inline cudaError_t cull_crew_prepare(Kernel *kernel, size_t most)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(most));
}

#define cull_crew_launch cull_cuda_launch_together
#else

/* As a cluster, where that is what was launched. */
static __device__ __forceinline__ void cull_crew_meet()
{
#if __CUDA_ARCH__ >= 900
    if (cooperative_groups::this_cluster().num_blocks() == gridDim.x) {
        cooperative_groups::this_cluster().sync();
        return;
    }
#endif
    cull_cuda_meet();
}

/* Shared memory that its launches may ask for, and clusters as large as they are made. */
template <typename Kernel> static inline cudaError_t cull_crew_prepare(Kernel *kernel, size_t most)
{
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(most));

    if (error != cudaSuccess) return error;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
        cudaSuccess)
        (void)cudaGetLastError(); /* a device without clusters */
    return cudaSuccess;
}

/* Few blocks as a cluster; where a device has none of that size, once and for all as others. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t cull_crew_launch(void (*kernel)(Parameters...), unsigned grid,
                                           unsigned block, size_t shared, cudaStream_t stream,
                                           Arguments... arguments)
{
    static bool         refused = false;
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute cluster = {};

    if (grid > CULL_CREW_NEAR || refused)
        return cull_cuda_launch_together(kernel, grid, block, shared, stream, arguments...);
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = grid;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...) == cudaSuccess)
        return cudaSuccess;
    (void)cudaGetLastError();
    refused = true;
    return cull_cuda_launch_together(kernel, grid, block, shared, stream, arguments...);
}
#endif

/* ---- what is said ---- */

/* One of several; the largest key wins, the lowest place among equals. Key 0: none. */
struct cull_said {
    unsigned long long key;
    double             a, b, c; /* what it brings along */
    unsigned           at, spare;
};

/* TOGETHER: all blocks of the kernel; else each block is a crew. Blocks are of whole warps. */
template <bool TOGETHER> struct cull_crew {
    cull_said *near;  /* [2][CULL_WARP], shared             */
    cull_said *apart; /* [2][blocks], global; TOGETHER alone */
    unsigned   turn;

    __device__ unsigned blocks() const { return TOGETHER ? gridDim.x : 1; }
    __device__ unsigned block() const { return TOGETHER ? blockIdx.x : 0; }
    __device__ unsigned threads() const { return blocks() * blockDim.x; }
    __device__ unsigned thread() const { return block() * blockDim.x + threadIdx.x; }
    __device__ bool     first() const { return thread() == 0; }
};

static __device__ __forceinline__ unsigned cull_lane()
{
    return threadIdx.x % CULL_WARP;
}

static __device__ __forceinline__ unsigned cull_warp()
{
    return threadIdx.x / CULL_WARP;
}

/* Numbers from 0 on are in order as their bits are. */
static __device__ __forceinline__ unsigned long long cull_key_of(double x)
{
    return static_cast<unsigned long long>(__double_as_longlong(x));
}

/* The lane of the largest key, of the lowest place among equals. */
static __device__ __forceinline__ int cull_leader(unsigned long long key, unsigned at)
{
    unsigned high = static_cast<unsigned>(key >> 32), low = static_cast<unsigned>(key);
    unsigned most = __reduce_max_sync(CULL_ALL_LANES, high);
    unsigned rest = __reduce_max_sync(CULL_ALL_LANES, high == most ? low : 0u);
    bool     leads = high == most && low == rest;
    unsigned least = __reduce_min_sync(CULL_ALL_LANES, leads ? at : 0xffffffffu);

    return __ffs(static_cast<int>(__ballot_sync(CULL_ALL_LANES, leads && at == least))) - 1;
}

/* The sum over the lanes of parts of a warp, each of `lanes`: in all of them. */
static __device__ __forceinline__ double cull_sum_lanes(double x, unsigned lanes)
{
    for (unsigned step = lanes / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(CULL_ALL_LANES, x, static_cast<int>(step));
    return x;
}

/* All have come, and see what was written. */
template <bool TOGETHER> static __device__ __forceinline__ void cull_meet(cull_crew<TOGETHER> &)
{
    if (TOGETHER)
        cull_crew_meet();
    else
        __syncthreads();
}

template <bool TOGETHER>
static __device__ cull_said cull_best_of(cull_crew<TOGETHER> &crew, const cull_said &mine)
{
    cull_said *near = crew.near + crew.turn * CULL_WARP, best;
    unsigned   warps = blockDim.x / CULL_WARP, lane = cull_lane();
    int        leader = cull_leader(mine.key, mine.at);

    if (static_cast<int>(lane) == leader) near[cull_warp()] = mine;
    __syncthreads();
    leader =
        cull_leader(lane < warps ? near[lane].key : 0, lane < warps ? near[lane].at : 0xffffffffu);
    best = near[leader];
    if (TOGETHER) {
        cull_said         *apart = crew.apart + crew.turn * gridDim.x;
        unsigned long long key = 0;
        unsigned           at = 0xffffffffu, from = 0;

        if (threadIdx.x == 0) apart[blockIdx.x] = best;
        cull_crew_meet();
        for (unsigned b = lane; b < gridDim.x; b += CULL_WARP) {
            if (apart[b].key < key || (apart[b].key == key && apart[b].at >= at)) continue;
            key = apart[b].key;
            at = apart[b].at;
            from = b;
        }
        leader = cull_leader(key, at);
        best = apart[__shfl_sync(CULL_ALL_LANES, from, leader)];
    }
    crew.turn ^= 1;
    return best;
}

template <bool TOGETHER>
static __device__ double cull_sum_of(cull_crew<TOGETHER> &crew, double mine)
{
    cull_said *near = crew.near + crew.turn * CULL_WARP;
    unsigned   warps = blockDim.x / CULL_WARP, lane = cull_lane();
    double     sum = cull_sum_lanes(mine, CULL_WARP);

    if (lane == 0) near[cull_warp()].a = sum;
    __syncthreads();
    sum = cull_sum_lanes(lane < warps ? near[lane].a : 0, CULL_WARP);
    if (TOGETHER) {
        cull_said *apart = crew.apart + crew.turn * gridDim.x;

        if (threadIdx.x == 0) apart[blockIdx.x].a = sum;
        cull_crew_meet();
        sum = 0;
        for (unsigned b = lane; b < gridDim.x; b += CULL_WARP) sum += apart[b].a;
        sum = cull_sum_lanes(sum, CULL_WARP);
    }
    crew.turn ^= 1;
    return sum;
}

/* The largest of numbers from 0 on; numbers that are none do not count. */
template <bool TOGETHER>
static __device__ double cull_most_of(cull_crew<TOGETHER> &crew, double mine)
{
    cull_said said = {mine > 0 ? cull_key_of(mine) : 0, 0, 0, 0, 0, 0};

    return __longlong_as_double(static_cast<long long>(cull_best_of(crew, said).key));
}

template <bool TOGETHER> static __device__ bool cull_any_of(cull_crew<TOGETHER> &crew, bool mine)
{
    cull_said said = {mine ? 1ull : 0ull, 0, 0, 0, 0, 0};

    return cull_best_of(crew, said).key != 0;
}

/* The sum of those before this thread's, and *all. */
template <bool TOGETHER>
static __device__ double cull_sum_before(cull_crew<TOGETHER> &crew, double mine, double *all)
{
    cull_said *near = crew.near + crew.turn * CULL_WARP;
    unsigned   warps = blockDim.x / CULL_WARP, lane = cull_lane();
    double     upto = mine, before = 0, sum = 0;

    for (unsigned step = 1; step < CULL_WARP; step *= 2) {
        double other = __shfl_up_sync(CULL_ALL_LANES, upto, step);
        if (lane >= step) upto += other;
    }
    if (lane == CULL_WARP - 1) near[cull_warp()].a = upto;
    __syncthreads();
    for (unsigned w = 0; w < warps; w++) {
        if (w == cull_warp()) before = sum;
        sum += near[w].a;
    }
    before += upto - mine;
    if (TOGETHER) {
        cull_said *apart = crew.apart + crew.turn * gridDim.x;
        double     whole = 0;

        if (threadIdx.x == 0) apart[blockIdx.x].a = sum;
        cull_crew_meet();
        for (unsigned b = 0; b < gridDim.x; b++) {
            if (b == blockIdx.x) before += whole;
            whole += apart[b].a;
        }
        sum = whole;
    }
    crew.turn ^= 1;
    *all = sum;
    return before;
}

/* This block's part of n things, `first` on. */
template <bool TOGETHER>
static __device__ unsigned cull_share(const cull_crew<TOGETHER> &crew, unsigned n, unsigned *first)
{
    unsigned each = (n + crew.blocks() - 1) / crew.blocks(), from = each * crew.block();

    *first = from < n ? from : n;
    return n - *first < each ? n - *first : each;
}

#endif
