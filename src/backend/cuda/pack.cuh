/* backend/cuda/pack.cuh - neighbours that are read and written as one, and sums over a block. */
#ifndef CULL_BACKEND_CUDA_PACK_CUH
#define CULL_BACKEND_CUDA_PACK_CUH

#include "backend/cuda/device.cuh"

template <typename T, int N> struct alignas(N * sizeof(T)) cull_pack {
    T at[N];
};

/* N numbers from x[i] on: at once where `whole` says that they lie on a border and are all there,
 * else those below count. */
template <typename T, int N>
static __device__ __forceinline__ cull_pack<T, N> cull_take(const T *x, size_t i, size_t count,
                                                            bool whole)
{
    cull_pack<T, N> pack = {};

    if (whole && i + N <= count) return *reinterpret_cast<const cull_pack<T, N> *>(x + i);
    for (int k = 0; k < N; k++)
        if (i + k < count) pack.at[k] = x[i + k];
    return pack;
}

template <typename T, int N>
static __device__ __forceinline__ void cull_put(T *x, size_t i, size_t count, bool whole,
                                                const cull_pack<T, N> &pack)
{
    if (whole && i + N <= count) {
        *reinterpret_cast<cull_pack<T, N> *>(x + i) = pack;
        return;
    }
    for (int k = 0; k < N; k++)
        if (i + k < count) x[i + k] = pack.at[k];
}

/* Does an array begin on a border of 16 bytes? NULL does. */
static inline bool cull_on_border(const void *array)
{
    return reinterpret_cast<uintptr_t>(array) % 16 == 0;
}

/* The sum over a warp, the same in all lanes and in the same order every time. */
static __device__ __forceinline__ double cull_warp_sum(double x)
{
    for (int step = CULL_WARP / 2; step; step /= 2)
        x += __shfl_xor_sync(CULL_ALL_LANES, x, step);
    return x;
}

/* And over a block of THREADS, which all call it; `room` is shared, one number a warp. */
template <int THREADS>
static __device__ __forceinline__ double cull_block_sum(double x, double *room)
{
    double sum = 0;

    x = cull_warp_sum(x);
    if (threadIdx.x % CULL_WARP == 0) room[threadIdx.x / CULL_WARP] = x;
    __syncthreads();
    for (int w = 0; w < THREADS / CULL_WARP; w++) sum += room[w];
    __syncthreads();
    return sum;
}

#endif
