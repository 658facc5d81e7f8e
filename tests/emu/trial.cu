/* tests/emu/trial.cu - kernels that look at what they are run by. */
#include "backend/cuda/device.cuh"
#include "emu/trial.h"

static __global__ void sum(const double *x, size_t n, double *y)
{
    __shared__ double part[CULL_WARP];
    double            own = 0;

    for (size_t i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
    for (int d = 16; d; d /= 2) own += __shfl_xor_sync(CULL_ALL_LANES, own, d);
    if (threadIdx.x % CULL_WARP == 0) part[threadIdx.x / CULL_WARP] = own;
    __syncthreads();
    if (threadIdx.x) return;
    own = 0;
    for (unsigned w = 0; w < blockDim.x / CULL_WARP; w++) own += part[w];
    *y = own;
}

cudaError_t trial_sum(cudaStream_t stream, const double *x, size_t n, double *y)
{
    return CULL_LAUNCH(sum, 1, 256, 0, stream, x, n, y);
}

static __global__ void warp(long long *out)
{
    unsigned   all = CULL_ALL_LANES, i = threadIdx.x, lane = i % CULL_WARP;
    long long *own = out + TRIAL_WARP * i;
    double     x = 0.5 + i;

    own[0] = __shfl_sync(all, static_cast<int>(i), 5);
    own[1] = __shfl_sync(all, i, 3, 8);
    own[2] = static_cast<long long>(2 * __shfl_up_sync(all, x, 3));
    own[3] = static_cast<long long>(2 * __shfl_down_sync(all, x, 4));
    own[4] = static_cast<long long>(__shfl_xor_sync(all, 1ull << i, 9));
    own[5] = __ballot_sync(all, lane % 3 == 0);
    own[6] = __any_sync(all, i == 40);
    own[7] = __all_sync(all, i < 40);
    own[8] = __reduce_add_sync(all, i);
    own[9] = __reduce_max_sync(all, lane ^ 7u);
    own[10] = __reduce_min_sync(all, lane + 2);
    own[11] = __reduce_or_sync(all, 1u << lane);
    own[12] = static_cast<long long>(__shfl_up_sync(all, static_cast<float>(i), 1, 4));
    own[13] = __shfl_down_sync(all, i, 1, 4);
    own[14] = __popc(__ballot_sync(all, lane < 7)) + __ffs(static_cast<int>(i)) + __clz(1 << 4);
    __syncwarp();
    own[15] = __double_as_longlong(__longlong_as_double(-5)) + (__brev(1u) == 1u << 31);
}

cudaError_t trial_warp(cudaStream_t stream, long long *out)
{
    return CULL_LAUNCH(warp, 1, 64, 0, stream, out);
}

static __global__ void votes(unsigned stay, int *out)
{
    unsigned i = threadIdx.x;

    if (i >= stay) return;
    int any = __syncthreads_or(i == 3), all = __syncthreads_and(i < 90);
    int count = __syncthreads_count(i % 2);

    out[3 * i] = any;
    out[3 * i + 1] = all;
    out[3 * i + 2] = count;
}

cudaError_t trial_votes(cudaStream_t stream, unsigned stay, int *out)
{
    return CULL_LAUNCH(votes, 1, 96, 0, stream, stay, out);
}

static __global__ void meet(unsigned rounds, unsigned *all, unsigned *out)
{
    CULL_SHARED(unsigned, own);

    for (unsigned r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) {
            own[0] = blockIdx.x + 1;
            atomicAdd(all, own[0]);
        }
        cull_cuda_meet();
        if (threadIdx.x == blockDim.x - 1) out[r * gridDim.x + blockIdx.x] = *all + 1000 * own[0];
        cull_cuda_meet();
    }
}

cudaError_t trial_meet(cudaStream_t stream, unsigned blocks, unsigned rounds, unsigned *all,
                       unsigned *out)
{
    return cull_cuda_launch_together(meet, blocks, 40, 16, stream, rounds, all, out);
}

static __global__ void poison(size_t words, int *out)
{
    CULL_SHARED(unsigned, asked);
    __shared__ unsigned fixed[100];
    int                 fresh = 1;

    for (size_t i = 0; i < words; i++) fresh &= asked[i] == ~0u;
    for (int i = 0; i < 100; i++) fresh &= fixed[i] == ~0u;
    __syncthreads();
    for (size_t i = 0; i < words; i++) asked[i] = 1;
    fixed[threadIdx.x] = 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = fresh;
}

cudaError_t trial_poison(cudaStream_t stream, unsigned blocks, size_t shared, int *out)
{
    return CULL_LAUNCH(poison, blocks, 100, shared, stream, shared / sizeof(unsigned), out);
}

static __global__ void order(unsigned *next, unsigned *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1u);
}

cudaError_t trial_order(cudaStream_t stream, unsigned *next, unsigned *out)
{
    return CULL_LAUNCH(order, 3, 40, 0, stream, next, out);
}

static __global__ void nothing() {}

cudaError_t trial_launch(cudaStream_t stream, unsigned blocks, unsigned threads, size_t shared)
{
    return CULL_LAUNCH(nothing, blocks, threads, shared, stream);
}

cudaError_t trial_agree(int shared)
{
    return cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
}

static __global__ void add(int *x, int by) { *x += by; }

cudaError_t trial_add(cudaStream_t stream, int *x, int by)
{
    return CULL_LAUNCH(add, 1, 1, 0, stream, x, by);
}

static __global__ void apart()
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        (void)__syncthreads_or(1);
}

cudaError_t trial_apart(cudaStream_t stream) { return CULL_LAUNCH(apart, 1, 64, 0, stream); }

static __global__ void missing()
{
    if (threadIdx.x == 7) __syncthreads();
    (void)__ballot_sync(CULL_ALL_LANES, 1);
}

cudaError_t trial_missing(cudaStream_t stream) { return CULL_LAUNCH(missing, 1, 32, 0, stream); }

static __global__ void behind()
{
    CULL_SHARED(int, room);

    room[4] = 1;
}

cudaError_t trial_behind(cudaStream_t stream) { return CULL_LAUNCH(behind, 1, 1, 16, stream); }

static __global__ void astray(int *x) { x[1ll << 40] = 1; }

cudaError_t trial_astray(cudaStream_t stream, int *x)
{
    return CULL_LAUNCH(astray, 1, 1, 0, stream, x);
}
