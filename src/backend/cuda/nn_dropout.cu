/*
 * backend/cuda/nn_dropout.cu - a thread takes the four elements that share a draw: e = 4g .. 4g+3
 * of a row, counted in NCHW order, are kept where words 0 .. 3 of Philox at (g, place, step) are at
 * least the threshold.
 *
 * Where four divide a channel's pixels, neighbouring threads take neighbouring channels of a block,
 * so that what a warp reads lies together; else they take groups in order, which lie together where
 * the pixel is one or the channels are outside.
 */
#include "backend/cuda/nn_dropout.h"
#include "backend/cuda/device.cuh"
#include "base/philox.h"

enum { THREADS = 256, GROUP = 4 };

/* The sum in the type that one number of T is worked out in. */
static __device__ __forceinline__ void put(float *to, size_t at, double kept, bool accumulate)
{
    float x = static_cast<float>(kept);

    to[at] = accumulate ? to[at] + x : x;
}
static __device__ __forceinline__ void put(double *to, size_t at, double kept, bool accumulate)
{
    to[at] = accumulate ? to[at] + kept : kept;
}
static __device__ __forceinline__ void put(cull_bf16 *to, size_t at, double kept, bool accumulate)
{
    float x = static_cast<float>(kept);

    to[at] = cull_narrow(accumulate ? cull_widen(to[at]) + x : x);
}

/* The group that a thread of a row takes. */
static __device__ __forceinline__ uint32_t group_of(const cull_cuda_dropping &d, uint32_t t)
{
    uint32_t each = d.area / GROUP; /* groups of a channel */

    if (d.area % GROUP || d.block == 1) return t;
    uint32_t panel = each * d.block, rest = t % panel;

    return (t / panel * d.block + rest % d.block) * each + rest / d.block;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    drop(const __grid_constant__ cull_cuda_dropping d, uint32_t groups)
{
    uint64_t base = static_cast<uint64_t>(blockIdx.x) * THREADS, first = base / groups;
    uint32_t offset = static_cast<uint32_t>(base - first * groups) + threadIdx.x;
    size_t   n = first + offset / groups;
    uint32_t g = group_of(d, offset % groups), row = d.channels * d.area;
    uint64_t step = d.now ? d.now->step : d.step;

    if (n >= d.rows) return;
    const T   *in = static_cast<const T *>(d.in) + n * row;
    T         *out = static_cast<T *>(d.out) + n * row;
    const uint32_t counter[4] = {g, d.place ? d.place[n] : static_cast<uint32_t>(n),
                                 static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)};
    uint32_t       word[4];

    cull_philox(d.key, counter, word);

#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        uint32_t e = g * GROUP + k;

        if (e >= row) break;
        uint32_t c = e / d.area, i = e % d.area;
        size_t   at = (c / d.block * d.area + i) * d.block + c % d.block;
        bool     kept = word[k] >= d.threshold;

        put(out, at, kept ? d.scale * static_cast<double>(cull_load(in, at)) : 0., d.accumulate);
    }
}

template <typename T> static cudaError_t launch(cudaStream_t stream, const cull_cuda_dropping *d)
{
    uint32_t groups = (d->channels * d->area + GROUP - 1) / GROUP;

    if (d->rows == 0 || groups == 0) return cudaSuccess;
    return CULL_LAUNCH(drop<T>, cull_cuda_blocks(d->rows * groups, THREADS), THREADS, 0, stream, *d,
                       groups);
}

cudaError_t cull_cuda_drop(cudaStream_t stream, const cull_cuda_dropping *d, cull_dtype dtype)
{
    if (dtype == CULL_BF16) return launch<cull_bf16>(stream, d);
    if (dtype == CULL_F32) return launch<float>(stream, d);
    return launch<double>(stream, d);
}
