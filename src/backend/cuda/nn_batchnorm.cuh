/*
 * backend/cuda/nn_batchnorm.cuh - what both ways of batch normalisation do alike: where a thread
 * is, sums of a block, sums of all blocks, launches.
 *
 * A thread adds up its few rows, a block its threads, and every block all chunks, in a fixed order.
 */
#ifndef CULL_BACKEND_CUDA_NN_BATCHNORM_CUH
#define CULL_BACKEND_CUDA_NN_BATCHNORM_CUH

#include "backend/cuda/nn_batchnorm.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = CULL_BATCHNORM_THREADS, WARPS = THREADS / CULL_WARP };
enum { SUMS = 1, APPLY = 2 };                           /* passes of a launch              */
enum { MEAN, SCALE, SHIFT, LEVEL, TILT, RSTD, PARAMS }; /* of a channel, in shared memory */

/* Of one channel and chunk: mean and centred squares, or S and T. */
template <typename R> struct alignas(2 * sizeof(R)) pair {
    R a, b;
};

/* Where this thread is: which channels, and which rows. */
struct site {
    uint32_t wide;    /* channels across the slab's threads     */
    uint32_t at;      /* my first channel in the slab           */
    uint32_t channel; /* and of all                             */
    uint32_t slab, chunk, rows, row, mine;
    size_t   first, stride; /* my first element, and how far apart the next ones are */
};

static __device__ __forceinline__ site find_site(const cull_batchnorm_cut &n, uint32_t width)
{
    site     s;
    uint32_t lane = threadIdx.x % n.lanes, row = threadIdx.x / n.lanes, step = THREADS / n.lanes;

    s.wide = n.lanes * width;
    s.slab = n.clustered ? blockIdx.x / n.chunks : blockIdx.x % n.slabs;
    s.chunk = n.clustered ? blockIdx.x % n.chunks : blockIdx.x / n.slabs;
    s.at = lane * width;
    s.channel = s.slab * n.slab + s.at;
    s.rows = n.per + (s.chunk < n.extra);
    s.row = s.chunk * n.per + (s.chunk < n.extra ? s.chunk : n.extra) + row;
    s.mine = row < s.rows ? (s.rows - row - 1) / step + 1 : 0;
    if (s.at >= n.slab || s.channel >= n.channels) s.mine = 0;
    s.first = static_cast<size_t>(s.row) * n.channels + s.channel;
    s.stride = static_cast<size_t>(step) * n.channels;
    return s;
}

/* Shared memory: what is being added up, what the channels are computed with, what the blocks of a
 * cluster hand on, values. */
template <typename R> struct room {
    R       *scratch;
    R       *param;  /* [PARAMS][wide] */
    pair<R> *handed; /* [chunks][wide], of clusters */
    void    *kept;
};

template <typename R>
static __device__ __forceinline__ room<R> divide(const cull_batchnorm_cut &n, unsigned char *shared)
{
    unsigned char *behind = shared + CULL_BATCHNORM_SCRATCH;
    room<R> r = {reinterpret_cast<R *>(shared), reinterpret_cast<R *>(shared + 2 * WARPS * 256),
                 reinterpret_cast<pair<R> *>(behind),
                 n.clustered ? behind + CULL_BATCHNORM_HANDED : behind};

    static_assert(2 * WARPS * 256 + PARAMS * CULL_BATCHNORM_WIDE * 4 <= CULL_BATCHNORM_SCRATCH &&
                      2 * THREADS * sizeof(R) <= 2 * WARPS * 256,
                  "no room for sums and parameters");
    static_assert(CULL_BATCHNORM_CLUSTER * 256 * 2 <= CULL_BATCHNORM_HANDED,
                  "a slab's channels are 64 floats or 32 doubles");
    return r;
}

/* The sums over the block's rows of two numbers for each of a thread's channels, in scratch by
 * warp: [WARPS][2][wide]. */
template <int W, typename R>
static __device__ void fold(R *a, R *b, uint32_t lanes, R *scratch)
{
    uint32_t wide = lanes * W, lane = threadIdx.x % CULL_WARP, warp = threadIdx.x / CULL_WARP;

    for (uint32_t apart = CULL_WARP / 2; apart >= lanes; apart /= 2) {
        for (int i = 0; i < W; i++) {
            a[i] += __shfl_xor_sync(CULL_ALL_LANES, a[i], apart);
            b[i] += __shfl_xor_sync(CULL_ALL_LANES, b[i], apart);
        }
    }
    for (int i = 0; i < W && lane < lanes; i++) {
        scratch[warp * 2 * wide + lane * W + i] = a[i];
        scratch[(warp * 2 + 1) * wide + lane * W + i] = b[i];
    }
    __syncthreads();
}

/* Of channel threadIdx.x of the slab: what the warps left. */
template <typename R>
static __device__ pair<R> total(const R *scratch, uint32_t wide)
{
    pair<R> sum = {0, 0};

    for (int warp = 0; warp < WARPS; warp++) {
        sum.a += scratch[2 * warp * wide + threadIdx.x];
        sum.b += scratch[(2 * warp + 1) * wide + threadIdx.x];
    }
    return sum;
}

/* Where the pairs of this slab's chunks are. */
template <typename R>
static __device__ __forceinline__ pair<R> *partials(const cull_batchnorm_cut &n, const site &s,
                                                    const room<R> &r)
{
    if (n.clustered) return r.handed;
    return static_cast<pair<R> *>(n.partial) + static_cast<size_t>(s.slab) * n.chunks * s.wide;
}

/* What is `mine`, in shared memory, where block `chunk` of this one's cluster has it. */
template <typename P>
static __device__ __forceinline__ P *theirs(const cull_batchnorm_cut &n, const site &s, P *mine,
                                            uint32_t chunk)
{
#ifdef CULL_EMU
    return static_cast<P *>(emu_shared_of(s.slab * n.chunks + chunk, mine));
#elif __CUDA_ARCH__ >= 900
    return cooperative_groups::this_cluster().map_shared_rank(mine, chunk);
#else
    return mine;
#endif
}

/* The pair of channel threadIdx.x, for threads below wide: to everybody who puts them together. */
template <typename R>
static __device__ __forceinline__ void hand_on(const cull_batchnorm_cut &n, const site &s,
                                               const room<R> &r, const pair<R> &mine)
{
    uint32_t at = s.chunk * s.wide + threadIdx.x;

    if (!n.clustered) partials<R>(n, s, r)[at] = mine;
    for (uint32_t chunk = 0; n.clustered && chunk < n.chunks; chunk++)
        theirs(n, s, r.handed, chunk)[at] = mine;
}

/* The chunks' pairs one after the other: they are few, and here. */
template <typename R, typename F>
static __device__ __forceinline__ pair<R> gather_handed(const cull_batchnorm_cut &n, const site &s,
                                                        const room<R> &r, F take)
{
    pair<R> sum = {0, 0};

    for (uint32_t chunk = 0; threadIdx.x < s.wide && chunk < n.chunks; chunk++)
        take(sum, r.handed[chunk * s.wide + threadIdx.x], n.per + (chunk < n.extra));
    return sum;
}

/* What each thread has of the chunks' pairs, as `take` adds them up, put together in order: of
 * channel threadIdx.x, for threads below wide. */
template <typename R, typename F>
static __device__ pair<R> gather(const cull_batchnorm_cut &n, const site &s, const room<R> &r,
                                 F take)
{
    enum { AHEAD = 8 };
    const pair<R> *part = partials<R>(n, s, r) + threadIdx.x % s.wide;
    pair<R>        sum = {0, 0};
    uint32_t       groups = THREADS / s.wide;
    R             *scratch = r.scratch;

    if (n.clustered) return gather_handed<R>(n, s, r, take);
    for (uint32_t first = threadIdx.x / s.wide; first < n.chunks; first += AHEAD * groups) {
        pair<R> v[AHEAD];

        CULL_UNROLL
        for (uint32_t u = 0; u < AHEAD; u++)
            if (first + u * groups < n.chunks) v[u] = part[(first + u * groups) * s.wide];
        CULL_UNROLL
        for (uint32_t u = 0; u < AHEAD; u++)
            if (first + u * groups < n.chunks)
                take(sum, v[u], n.per + (first + u * groups < n.extra));
    }
    scratch[threadIdx.x] = sum.a;
    scratch[THREADS + threadIdx.x] = sum.b;
    __syncthreads();
    if (threadIdx.x >= s.wide) return sum;
    for (uint32_t g = 1; g < groups; g++) {
        sum.a += scratch[g * s.wide + threadIdx.x];
        sum.b += scratch[THREADS + g * s.wide + threadIdx.x];
    }
    return sum;
}

/* That this block has begun, and that all of its cluster have: none writes to another's shared
 * memory before. Between the two nobody waits. */
static __device__ __forceinline__ void have_begun(const cull_batchnorm_cut &n)
{
#if !defined(CULL_EMU) && __CUDA_ARCH__ >= 900
    if (n.clustered) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#else
    (void)n;
#endif
}

static __device__ __forceinline__ void all_have_begun(const cull_batchnorm_cut &n)
{
#if !defined(CULL_EMU) && __CUDA_ARCH__ >= 900
    if (n.clustered) asm volatile("barrier.cluster.wait;" ::: "memory");
#else
    (void)n;
#endif
}

/* Every block that has rows of this one's channels comes here, and sees what they wrote. */
static __device__ __forceinline__ void meet(const cull_batchnorm_cut &n)
{
#if !defined(CULL_EMU) && __CUDA_ARCH__ >= 900
    if (n.clustered) {
        cooperative_groups::this_cluster().sync();
        return;
    }
#endif
    cull_cuda_meet();
}

/* What was launched before has ended, of which a kernel that is launched early knows nothing. */
static __device__ __forceinline__ void wait_for_others()
{
#if !defined(CULL_EMU) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The channel that a thread below the slab's width sees to; n.channels: none. */
static __device__ __forceinline__ uint32_t own_channel(const cull_batchnorm_cut &n, const site &s)
{
    uint32_t channel = s.slab * n.slab + threadIdx.x;

    return threadIdx.x < n.slab && channel < n.channels ? channel : n.channels;
}

template <int W, typename R>
static __device__ __forceinline__ void take_param(const site &s, const room<R> &r, int which,
                                                  R *out)
{
    cull_read<R, W>(r.param + which * s.wide + s.at, out);
}

/* ---- launches ---- */

typedef void (*kernel_type)(cull_batchnorm_cut, cull_batchnorm_call, int);

#ifdef CULL_EMU
static inline cudaError_t launch_as(kernel_type kernel, cudaStream_t stream,
                                    const cull_batchnorm_cut &n, unsigned chunks, size_t shared,
                                    const cull_batchnorm_call &a, int passes)
{
    if (chunks > 1)
        return cull_cuda_launch_together(kernel, n.slabs * n.chunks, THREADS, shared, stream, n, a,
                                         passes);
    return CULL_LAUNCH(kernel, n.slabs * n.chunks, THREADS, shared, stream, n, a, passes);
}

static inline cudaError_t allow_clusters(kernel_type)
{
    return cudaSuccess;
}
#else
/* `chunks` neighbouring blocks to a cluster; 1: none. */
static inline cudaLaunchConfig_t config_of(const cull_batchnorm_cut &n, unsigned chunks,
                                           size_t shared, cudaStream_t stream,
                                           cudaLaunchAttribute attribute[2])
{
    cudaLaunchConfig_t config = {};

    config.gridDim = dim3(n.slabs * n.chunks);
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attribute;
    if (chunks > 1) {
        attribute[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attribute[config.numAttrs].val.clusterDim.x = chunks;
        attribute[config.numAttrs].val.clusterDim.y = 1;
        attribute[config.numAttrs++].val.clusterDim.z = 1;
    }
    if (n.early) {
        attribute[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    return config;
}

static inline cudaError_t launch_as(kernel_type kernel, cudaStream_t stream,
                                    const cull_batchnorm_cut &n, unsigned chunks, size_t shared,
                                    const cull_batchnorm_call &a, int passes)
{
    cudaLaunchAttribute attribute[2] = {};
    cudaLaunchConfig_t  config = config_of(n, chunks, shared, stream, attribute);

    return cudaLaunchKernelEx(&config, kernel, n, a, passes);
}

static inline cudaError_t allow_clusters(kernel_type kernel)
{
    cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);

    if (error != cudaSuccess) (void)cudaGetLastError(); /* a device without clusters */
    return error;
}
#endif

static inline cudaError_t allow(kernel_type kernel, size_t shared)
{
    (void)allow_clusters(kernel);
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared));
}

static cudaError_t launch(kernel_type kernel, cudaStream_t stream, const cull_batchnorm_cut &n,
                          size_t shared, const cull_batchnorm_call &a)
{
    enum { SCRATCH = CULL_BATCHNORM_SCRATCH };
    cudaError_t error = cudaSuccess;

    if (a.by_running) return launch_as(kernel, stream, n, 1, SCRATCH, a, APPLY);
    if (n.chunks == 1 || n.clustered)
        return launch_as(kernel, stream, n, n.chunks, shared, a, SUMS | APPLY);
    if (n.together)
        return cull_cuda_launch_together(kernel, n.slabs * n.chunks, THREADS, shared, stream, n, a,
                                         SUMS | APPLY);
    error = launch_as(kernel, stream, n, 1, SCRATCH, a, SUMS);
    if (error != cudaSuccess) return error;
    return launch_as(kernel, stream, n, 1, SCRATCH, a, APPLY);
}

#endif
