/*
 * backend/cuda/nn_dense_few.cu - dense layers of few outputs, as the last one of a classifier:
 *
 *     y[i, o]  = b[o] + sum over j of x[i, j] w[o, j]      a warp an output
 *     dx[i, j] = sum over o of dy[i, o] w[o, j]            a thread an element
 *     dw[o, j] = sum over i of dy[i, o] x[i, j]            a block 32 columns j, rows i by 32 lots;
 *     db[o]    = the same with x = 1: column `in`
 *
 * These are over before a library's product has begun.
 */
#include "backend/cuda/device.cuh"
#include "backend/cuda/nn_shape.h"

enum { THREADS = 256, WARPS = THREADS / CULL_WARP, TOGETHER = 8, DOWN = 32 };

template <typename A> static __device__ __forceinline__ A sum_of_warp(A x)
{
    for (int apart = CULL_WARP / 2; apart; apart /= 2)
        x += __shfl_xor_sync(CULL_ALL_LANES, x, apart);
    return x;
}

template <typename T, typename O, typename A>
__global__ void few_forward(cull_dense_shape s, const T *x, const T *w, const A *b, O *y)
{
    int lane = static_cast<int>(threadIdx.x) % CULL_WARP;
    int o = static_cast<int>(blockIdx.y) * WARPS + static_cast<int>(threadIdx.x) / CULL_WARP;
    int i = static_cast<int>(blockIdx.x);

    if (o >= s.out) return; /* a whole warp */
    const T *row = x + static_cast<size_t>(i) * static_cast<size_t>(s.in);
    const T *weight = w + static_cast<size_t>(o) * static_cast<size_t>(s.in);
    A        sum = 0;

#pragma unroll 8
    for (int j = lane; j < s.in; j += CULL_WARP)
        sum += cull_load(row, static_cast<size_t>(j)) * cull_load(weight, static_cast<size_t>(j));
    sum = sum_of_warp(sum);
    if (lane == 0)
        cull_store(y, static_cast<size_t>(i) * static_cast<size_t>(s.out) + static_cast<size_t>(o),
                   b ? sum + b[o] : sum);
}

template <typename T, typename O, typename A>
__global__ void few_data(cull_dense_shape s, const O *dy, const T *w, T *dx, bool add)
{
    int j = static_cast<int>(blockIdx.x) * THREADS + static_cast<int>(threadIdx.x);

    if (j >= s.in) return;
    const O *row = dy + static_cast<size_t>(blockIdx.y) * static_cast<size_t>(s.out);
    size_t   at = static_cast<size_t>(blockIdx.y) * static_cast<size_t>(s.in) +
                static_cast<size_t>(j);
    A        sum = add ? static_cast<A>(cull_load(dx, at)) : 0;

#pragma unroll 8
    for (int o = 0; o < s.out; o++)
        sum += cull_load(row, static_cast<size_t>(o)) *
               cull_load(w, static_cast<size_t>(o) * static_cast<size_t>(s.in) +
                                static_cast<size_t>(j));
    cull_store(dx, at, sum);
}

template <typename T, typename O, typename A>
__global__ void few_weights(cull_dense_shape s, const T *x, const O *dy, A *dw, A *db)
{
    __shared__ A sums[DOWN][CULL_WARP + 1];
    int lane = static_cast<int>(threadIdx.x) % CULL_WARP;
    int row = static_cast<int>(threadIdx.x) / CULL_WARP;
    int j = static_cast<int>(blockIdx.x) * CULL_WARP + lane, first = blockIdx.y * TOGETHER;
    A   sum[TOGETHER];

    for (int k = 0; k < TOGETHER; k++) sum[k] = 0;
    for (int i = row; j <= s.in && i < s.n; i += DOWN) {
        A in = j == s.in ? static_cast<A>(1)
                         : static_cast<A>(cull_load(
                               x, static_cast<size_t>(i) * static_cast<size_t>(s.in) +
                                      static_cast<size_t>(j)));

#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            if (first + k < s.out)
                sum[k] += in * cull_load(dy, static_cast<size_t>(i) * static_cast<size_t>(s.out) +
                                                 static_cast<size_t>(first + k));
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
        sums[row][lane] = sum[k];
        __syncthreads();
        if (row == 0 && j <= s.in && first + k < s.out) {
            A total = 0;

            for (int i = 0; i < DOWN; i++) total += sums[i][lane];
            if (j < s.in)
                dw[static_cast<size_t>(first + k) * static_cast<size_t>(s.in) +
                   static_cast<size_t>(j)] = total;
            else if (db)
                db[first + k] = total;
        }
        __syncthreads();
    }
}

/* ---- launching: a call for each pair of types ---- */
#define FOR_TYPES(call)                                                                            \
    (types.values == CULL_F64   ? call(double, double, double)                                     \
     : types.values == CULL_F32 ? call(float, float, float)                                        \
     : types.output == CULL_F32 ? call(cull_bf16, float, float)                                    \
                                : call(cull_bf16, cull_bf16, float))

cudaError_t cull_few_forward(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                             const void *x, const void *w, const void *b, void *y)
{
    dim3 grid(static_cast<unsigned>(shape.n),
              cull_cuda_blocks(static_cast<size_t>(shape.out), WARPS));

#define FORWARD(T, O, A)                                                                           \
    CULL_LAUNCH((few_forward<T, O, A>), grid, THREADS, 0, stream, shape,                           \
                static_cast<const T *>(x), static_cast<const T *>(w), static_cast<const A *>(b),   \
                static_cast<O *>(y))
    return FOR_TYPES(FORWARD);
}

cudaError_t cull_few_data(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                          const void *dy, const void *w, void *dx, bool add)
{
    dim3 grid(cull_cuda_blocks(static_cast<size_t>(shape.in), THREADS),
              static_cast<unsigned>(shape.n));

#define DATA(T, O, A)                                                                              \
    CULL_LAUNCH((few_data<T, O, A>), grid, THREADS, 0, stream, shape, static_cast<const O *>(dy),  \
                static_cast<const T *>(w), static_cast<T *>(dx), add)
    return FOR_TYPES(DATA);
}

cudaError_t cull_few_weights(cudaStream_t stream, cull_dense_shape shape, cull_conv_types types,
                             const void *x, const void *dy, void *dw, void *db)
{
    dim3 grid(cull_cuda_blocks(static_cast<size_t>(shape.in) + 1, CULL_WARP),
              cull_cuda_blocks(static_cast<size_t>(shape.out), TOGETHER));

#define WEIGHTS(T, O, A)                                                                           \
    CULL_LAUNCH((few_weights<T, O, A>), grid, CULL_WARP *DOWN, 0, stream, shape,                   \
                static_cast<const T *>(x), static_cast<const O *>(dy), static_cast<A *>(dw),       \
                static_cast<A *>(db))
    return FOR_TYPES(WEIGHTS);
}
