/*
 * backend/cuda/update.cu - the rules of backend/update.c over the whole block in one launch.
 *
 * Each thread takes 16 bytes of weights at a time, with what belongs to them; all that is the same
 * for all weights (Adam's powers, the norm's sum over chunks) is worked out once a block, by every
 * block alike. All numbers are the host's to the bit but for the norm, whose squares are added in
 * another order, always the same: it may differ in the last bits of a double.
 *
 * Nothing is touched while the error word says something; a norm that is not finite writes it.
 */
#include <math.h>

#include "backend/cuda/pack.cuh"
#include "backend/cuda/update.h"
#include "base/exact.h"

enum { THREADS = 256, BLOCKS = 4 }; /* blocks that a processor runs at once */
enum { PLAIN, MOMENTUM, NESTEROV, ADAMW, ADAM };

/* For the whole block, whatever another one writes meanwhile. */
static __device__ __forceinline__ bool in_trouble(const cull_cuda_weights &w, double *room)
{
    if (threadIdx.x == 0) room[0] = w.trouble && w.trouble->what;
    __syncthreads();
    bool found = room[0] != 0;
    __syncthreads();
    return found;
}

/* A chunk's squares, always in the same order. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    square(const __grid_constant__ cull_cuda_weights w, bool whole)
{
    enum { N = 16 / sizeof(T) };
    __shared__ double room[THREADS / CULL_WARP];
    const T *g = static_cast<const T *>(w.gradient);
    size_t   from = static_cast<size_t>(blockIdx.x) * CULL_OPTIM_CHUNK;
    size_t   end = from + CULL_OPTIM_CHUNK < w.count ? from + CULL_OPTIM_CHUNK : w.count;
    double   sum = 0;

    if (in_trouble(w, room)) return;
#pragma unroll 4
    for (size_t i = from + threadIdx.x * N; i < end; i += THREADS * N) {
        cull_pack<T, N> x = cull_take<T, N>(g, i, end, whole);

        for (int k = 0; k < N; k++)
            sum += static_cast<double>(x.at[k]) * static_cast<double>(x.at[k]);
    }
    sum = cull_block_sum<THREADS>(sum, room);
    if (threadIdx.x == 0) w.partial[blockIdx.x] = sum;
}

/* What is the same for all weights of a step, worked out in double. */
struct factors {
    double rate, root, scale; /* scale: of clipping, where below 1 */
    bool   broken;
};

static __device__ void find_norm(const cull_cuda_weights &w, double *room, factors &f)
{
    size_t chunks = (w.count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;
    double sum = 0;

    for (size_t i = threadIdx.x; i < chunks; i += THREADS) sum += w.partial[i];
    double norm = sqrt(cull_block_sum<THREADS>(sum, room));

    f.broken = !isfinite(norm);
    f.scale = w.rule.clip / (norm + 1e-6);
    if (blockIdx.x || threadIdx.x) return;
    *w.norm = norm;
    if (f.broken && w.trouble) {
        *w.trouble = cull_trouble{};
        w.trouble->what = CULL_WRONG_GRADIENT;
        w.trouble->step = w.now->step;
        w.trouble->epoch = w.now->epoch;
    }
}

/* The powers take one thread as long as all, but not the other blocks' turns. */
static __device__ void find_factors(const cull_cuda_weights &w, double *room, factors &f)
{
    double t = static_cast<double>(w.now->updates);

    f.rate = w.now->rate;
    f.root = 1;
    if (w.rule.rule == CULL_OPTIM_SGD) return;
    if (threadIdx.x == 0) {
        room[0] = f.rate / (1 - cull_exact_pow(w.rule.beta1, t));
        room[1] = sqrt(1 - cull_exact_pow(w.rule.beta2, t));
    }
    __syncthreads();
    f.rate = room[0];
    f.root = room[1];
}

/* The factors in the weights' type, and one weight's step. */
template <typename T, int RULE> struct rule {
    T rate, momentum, take1, beta2, take2, root, epsilon, decay;

    __device__ __forceinline__ rule(const cull_cuda_weights &w, const factors &f)
        : rate(static_cast<T>(f.rate)), momentum(static_cast<T>(w.rule.momentum)),
          take1(static_cast<T>(1 - w.rule.beta1)), beta2(static_cast<T>(w.rule.beta2)),
          take2(static_cast<T>(1 - w.rule.beta2)), root(static_cast<T>(f.root)),
          epsilon(static_cast<T>(w.rule.epsilon)), decay(0)
    {
    }

    /* AdamW's is what is left of a weight. */
    __device__ __forceinline__ void decays(const cull_cuda_weights &w, double by)
    {
        decay = static_cast<T>(RULE == ADAMW ? 1 - w.now->rate * by : by);
    }

    __device__ __forceinline__ void step(T &w, T g, T &b, T &v) const
    {
        if (RULE == PLAIN) {
            w -= rate * (g + decay * w);
        } else if (RULE == NESTEROV) {
            T d = g + decay * w;
            b = momentum * b + d;
            w -= rate * (d + momentum * b);
        } else if (RULE == MOMENTUM) {
            b = momentum * b + (g + decay * w);
            w -= rate * b;
        } else if (RULE == ADAMW) {
            b += take1 * (g - b);
            v = beta2 * v + take2 * g * g;
            w = w * decay - rate * (b / (sqrt(v) / root + epsilon));
        } else {
            T d = g + decay * w;
            b += take1 * (d - b);
            v = beta2 * v + take2 * d * d;
            w -= rate * (b / (sqrt(v) / root + epsilon));
        }
    }
};

/* The range that weight i lies in. */
static __device__ __forceinline__ size_t range_of(const cull_cuda_weights &w, size_t i)
{
    size_t low = 0, high = w.ranges;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if (w.range[middle].at <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static __device__ __forceinline__ size_t range_end(const cull_cuda_weights &w, size_t range)
{
    return range + 1 < w.ranges ? static_cast<size_t>(w.range[range + 1].at) : w.count;
}

template <typename T, int RULE>
static __device__ __forceinline__ void step_some(const cull_cuda_weights &w, rule<T, RULE> &r,
                                                 bool clipped, T scale, size_t i, bool whole)
{
    enum { N = 16 / sizeof(T), BUFFERS = RULE == PLAIN ? 0 : RULE < ADAMW ? 1 : 2 };
    T              *value = static_cast<T *>(w.value), *gradient = static_cast<T *>(w.gradient);
    T              *first = static_cast<T *>(w.buffer[0]), *second = static_cast<T *>(w.buffer[1]);
    cull_pack<T, N> x = cull_take<T, N>(value, i, w.count, whole), b = {}, v = {};
    cull_pack<T, N> g = cull_take<T, N>(gradient, i, w.count, whole);

    if (BUFFERS > 0) b = cull_take<T, N>(first, i, w.count, whole);
    if (BUFFERS > 1) v = cull_take<T, N>(second, i, w.count, whole);
    size_t range = range_of(w, i), end = range_end(w, range);

    r.decays(w, w.range[range].decay);
    for (int k = 0; k < N; k++) {
        while (i + k >= end && i + k < w.count) {
            end = range_end(w, ++range);
            r.decays(w, w.range[range].decay);
        }
        if (clipped) g.at[k] *= scale;
        r.step(x.at[k], g.at[k], b.at[k], v.at[k]);
    }
    cull_put<T, N>(value, i, w.count, whole, x);
    if (clipped) cull_put<T, N>(gradient, i, w.count, whole, g);
    if (BUFFERS > 0) cull_put<T, N>(first, i, w.count, whole, b);
    if (BUFFERS > 1) cull_put<T, N>(second, i, w.count, whole, v);
    if (w.narrow) {
        cull_pack<cull_bf16, N> small;

        for (int k = 0; k < N; k++) small.at[k] = cull_narrow(static_cast<float>(x.at[k]));
        cull_put<cull_bf16, N>(static_cast<cull_bf16 *>(w.narrow), i, w.count, whole, small);
    }
}

template <typename T, int RULE>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    update(const __grid_constant__ cull_cuda_weights w, bool whole)
{
    enum { N = 16 / sizeof(T) };
    __shared__ double room[THREADS / CULL_WARP];
    factors           f = {};

    if (in_trouble(w, room)) return;
    if (w.rule.clip > 0) find_norm(w, room, f);
    if (f.broken) return;
    find_factors(w, room, f);
    rule<T, RULE> r(w, f);
    bool          clipped = w.rule.clip > 0 && f.scale < 1;
    size_t        stride = static_cast<size_t>(gridDim.x) * THREADS * N;

    for (size_t i = w.from + (static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x) * N;
         i < w.count; i += stride)
        step_some<T, RULE>(w, r, clipped, static_cast<T>(f.scale), i, whole);
}

static bool on_borders(const cull_cuda_weights *w)
{
    return w->from % 16 == 0 && cull_on_border(w->value) && cull_on_border(w->gradient) &&
           cull_on_border(w->buffer[0]) && cull_on_border(w->buffer[1]) &&
           cull_on_border(w->narrow);
}

template <typename T>
static cudaError_t launch(cudaStream_t stream, const cull_cuda_weights *w, int processors)
{
    unsigned blocks = cull_cuda_blocks(w->count - w->from, THREADS * 16 / sizeof(T));
    bool     whole = on_borders(w);

    if (blocks == 0) return cudaSuccess;
    /* A part goes beside other work, which comes first wherever a block has ended: they are short. */
    if (w->from == 0 && blocks > static_cast<unsigned>(processors) * BLOCKS)
        blocks = static_cast<unsigned>(processors) * BLOCKS;
    switch (w->rule.rule) {
    case CULL_OPTIM_ADAMW:
        return CULL_LAUNCH((update<T, ADAMW>), blocks, THREADS, 0, stream, *w, whole);
    case CULL_OPTIM_ADAM:
        return CULL_LAUNCH((update<T, ADAM>), blocks, THREADS, 0, stream, *w, whole);
    default: break;
    }
    if (!w->buffer[0])
        return CULL_LAUNCH((update<T, PLAIN>), blocks, THREADS, 0, stream, *w, whole);
    if (w->rule.nesterov)
        return CULL_LAUNCH((update<T, NESTEROV>), blocks, THREADS, 0, stream, *w, whole);
    return CULL_LAUNCH((update<T, MOMENTUM>), blocks, THREADS, 0, stream, *w, whole);
}

cudaError_t cull_cuda_square_gradient(cudaStream_t stream, const cull_cuda_weights *w,
                                      cull_dtype dtype)
{
    unsigned chunks = cull_cuda_blocks(w->count, CULL_OPTIM_CHUNK);
    bool     whole = cull_on_border(w->gradient);

    if (chunks == 0) return cudaSuccess;
    if (dtype == CULL_F32)
        return CULL_LAUNCH(square<float>, chunks, THREADS, 0, stream, *w, whole);
    return CULL_LAUNCH(square<double>, chunks, THREADS, 0, stream, *w, whole);
}

cudaError_t cull_cuda_update_weights(cudaStream_t stream, const cull_cuda_weights *w,
                                     cull_dtype dtype, int processors)
{
    if (dtype == CULL_F32) return launch<float>(stream, w, processors);
    return launch<double>(stream, w, processors);
}
