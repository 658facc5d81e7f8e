/*
 * backend/cuda/nn_loss.cu - a warp takes an example: its loss, p and dx, in double.
 *
 *     cross-entropy   target_k = (1 - s) [k = label] + s/C        s: label smoothing
 *                     loss     = log sum exp x - sum target x     p = softmax(x) - target
 *     squared         loss     = 1/W sum (x - t)^2                p = 2 (x - t) / W
 *     binary          loss     = 1/W sum log(1 + exp x) - t x     p = (sigmoid(x) - t) / W
 *
 * Sums are over lanes, then over the warp, in one order whatever the batch.
 */
#include <math.h>

#include "backend/cuda/nn_loss.h"
#include "backend/cuda/pack.cuh"

enum { THREADS = 128, ROWS = THREADS / CULL_WARP };

template <typename T>
static __device__ __forceinline__ void put(const cull_cuda_losses &l, size_t at, double weight,
                                           double gradient)
{
    if (l.p) static_cast<T *>(l.p)[at] = static_cast<T>(gradient);
    if (l.dx) static_cast<T *>(l.dx)[at] = static_cast<T>(weight * gradient);
}

template <typename T>
static __device__ double cross_entropy(const cull_cuda_losses &l, size_t n, unsigned lane,
                                       double weight)
{
    size_t   at = n * l.outputs;
    const T *x = static_cast<const T *>(l.x) + at;
    int64_t  label = static_cast<const int32_t *>(l.target)[n];
    double   top = -INFINITY, sum = 0, expected = 0;
    double   each = l.of.smoothing / static_cast<double>(l.outputs);

    for (size_t k = lane; k < l.outputs; k += CULL_WARP) top = fmax(top, static_cast<double>(x[k]));
    for (int step = CULL_WARP / 2; step; step /= 2)
        top = fmax(top, __shfl_xor_sync(CULL_ALL_LANES, top, step));
    for (size_t k = lane; k < l.outputs; k += CULL_WARP)
        sum += exp(static_cast<double>(x[k]) - top);
    sum = cull_warp_sum(sum);
    for (size_t k = lane; k < l.outputs; k += CULL_WARP) {
        double off = static_cast<double>(x[k]) - top;
        double target = each + (static_cast<int64_t>(k) == label ? 1 - l.of.smoothing : 0);

        expected += target * off;
        put<T>(l, at + k, weight, exp(off) / sum - target);
    }
    expected = cull_warp_sum(expected);
    return label >= 0 && label < static_cast<int64_t>(l.outputs) ? log(sum) - expected : NAN;
}

template <typename T>
static __device__ double squared(const cull_cuda_losses &l, size_t n, unsigned lane, double weight)
{
    const T *x = static_cast<const T *>(l.x), *t = static_cast<const T *>(l.target);
    double   sum = 0, outputs = static_cast<double>(l.outputs);

    for (size_t i = n * l.outputs + lane; i < (n + 1) * l.outputs; i += CULL_WARP) {
        double off = static_cast<double>(x[i]) - static_cast<double>(t[i]);

        sum += off * off;
        put<T>(l, i, weight, 2 * off / outputs);
    }
    return cull_warp_sum(sum) / outputs;
}

/* Nothing overflows, and neither tail is lost: 1 - sigmoid(x) is taken as sigmoid(-x). */
template <typename T>
static __device__ double binary(const cull_cuda_losses &l, size_t n, unsigned lane, double weight)
{
    const T       *x = static_cast<const T *>(l.x);
    const uint8_t *t = static_cast<const uint8_t *>(l.target);
    double         sum = 0, outputs = static_cast<double>(l.outputs);

    for (size_t i = n * l.outputs + lane; i < (n + 1) * l.outputs; i += CULL_WARP) {
        double away = static_cast<double>(x[i]); /* from the truth */

        if (t[i]) away = -away;
        double small = exp(-fabs(away));

        sum += t[i] > 1 ? NAN : (away > 0 ? away : 0) + log1p(small);
        away = (away > 0 ? 1 : small) / (1 + small);
        put<T>(l, i, weight, (t[i] ? -away : away) / outputs);
    }
    return cull_warp_sum(sum) / outputs;
}

template <typename T, int KIND>
static __global__ void __launch_bounds__(THREADS)
    find_losses(const __grid_constant__ cull_cuda_losses l)
{
    size_t   n = static_cast<size_t>(blockIdx.x) * ROWS + threadIdx.x / CULL_WARP;
    unsigned lane = threadIdx.x % CULL_WARP;
    double   loss = 0;

    if (n >= l.rows) return;
    double weight = l.scale * (l.weight ? l.weight[n] : 1);

    if (KIND == CULL_LOSS_CROSS_ENTROPY)
        loss = cross_entropy<T>(l, n, lane, weight);
    else if (KIND == CULL_LOSS_SQUARED)
        loss = squared<T>(l, n, lane, weight);
    else
        loss = binary<T>(l, n, lane, weight);
    if (lane == 0) l.loss[n] = loss;
}

template <typename T> static cudaError_t launch(cudaStream_t stream, const cull_cuda_losses *l)
{
    unsigned blocks = cull_cuda_blocks(l->rows, ROWS);

    if (blocks == 0) return cudaSuccess;
    switch (l->of.kind) {
    case CULL_LOSS_SQUARED:
        return CULL_LAUNCH((find_losses<T, CULL_LOSS_SQUARED>), blocks, THREADS, 0, stream, *l);
    case CULL_LOSS_BINARY:
        return CULL_LAUNCH((find_losses<T, CULL_LOSS_BINARY>), blocks, THREADS, 0, stream, *l);
    default:
        return CULL_LAUNCH((find_losses<T, CULL_LOSS_CROSS_ENTROPY>), blocks, THREADS, 0, stream,
                           *l);
    }
}

cudaError_t cull_cuda_find_losses(cudaStream_t stream, const cull_cuda_losses *l, cull_dtype dtype)
{
    return dtype == CULL_F32 ? launch<float>(stream, l) : launch<double>(stream, l);
}
