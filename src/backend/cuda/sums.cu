/*
 * backend/cuda/sums.cu - summary: the first block adds the losses one by one, as the host does, so
 * that the sum is the same to the bit; the others count what was classified right. The last block
 * to end puts both together. tally: the first row of a place counts all of them, in their order.
 */
#include <math.h>

#include "backend/cuda/device.cuh"
#include "backend/cuda/sums.h"

enum { THREADS = 256, TILE = 1024, MOST_BLOCKS = 128 };
enum { TEAM = 8, ROWS = THREADS / TEAM }; /* lanes that look at one row's classes */

static __device__ __forceinline__ unsigned tile_of(size_t left)
{
    return left < TILE ? static_cast<unsigned>(left) : static_cast<unsigned>(TILE);
}

/* Threads bring a tile of losses, one of them adds it: what it costs is the additions' latency. */
static __device__ void sum_losses(const cull_cuda_summing &s, const cull_seen *out, double *tile)
{
    double sum = s.add ? out->loss : 0;
    size_t first = 0;

    for (size_t base = 0; base < s.rows; base += TILE) {
        unsigned some = tile_of(s.rows - base);

        for (unsigned k = threadIdx.x; k < some; k += THREADS) tile[k] = s.loss[base + k];
        __syncthreads();
        if (threadIdx.x == 0) {
            double before = sum;

#pragma unroll 16
            for (unsigned k = 0; k < some; k++) sum += tile[k];
            if (isfinite(sum)) {
                first = base + some;
            } else {
                for (unsigned k = 0; k < some && isfinite(before += tile[k]); k++)
                    first = base + k + 1;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x) return;
    s.counted->sum = sum;
    s.counted->first = first;
}

/* The first class that is as large as the largest (values.h), with the target's share added again;
 * what is no number is no choice. */
template <typename T>
static __device__ __forceinline__ bool chosen(const cull_cuda_summing &s, size_t row)
{
    const T           *p = static_cast<const T *>(s.p) + row * s.classes;
    const double       as_large = sizeof(T) == sizeof(float) ? CULL_AS_LARGE_F32 : CULL_AS_LARGE_F64;
    size_t             label = static_cast<size_t>(s.label[row]);
    unsigned long long best = s.classes;
    double             most = -INFINITY;

    for (size_t k = threadIdx.x % TEAM; k < s.classes; k += TEAM) {
        double x = static_cast<double>(p[k]) + (k == label ? s.share : 0);

        if (x > most) most = x;
    }
    for (int step = TEAM / 2; step; step /= 2) {
        double other = __shfl_xor_sync(CULL_ALL_LANES, most, step);

        if (other > most) most = other;
    }
    for (size_t k = threadIdx.x % TEAM; k < s.classes && best == s.classes; k += TEAM)
        if (static_cast<double>(p[k]) + (k == label ? s.share : 0) >= most - as_large) best = k;
    for (int step = TEAM / 2; step; step /= 2) {
        unsigned long long at = __shfl_xor_sync(CULL_ALL_LANES, best, step);

        if (at < best) best = at;
    }
    return (best < s.classes ? best : 0) == label;
}

/* Blocks after the first. All lanes of a warp go round equally often. */
template <typename T> static __device__ void count_correct(const cull_cuda_summing &s)
{
    size_t   stride = static_cast<size_t>(gridDim.x - 1) * ROWS;
    size_t   warp = threadIdx.x / CULL_WARP * (CULL_WARP / TEAM);
    size_t   mine = threadIdx.x % CULL_WARP / TEAM;
    unsigned correct = 0;

    for (size_t base = (blockIdx.x - 1) * static_cast<size_t>(ROWS) + warp; base < s.rows;
         base += stride) {
        size_t   row = base + mine < s.rows ? base + mine : s.rows - 1;
        bool     right = chosen<T>(s, row) && base + mine < s.rows && threadIdx.x % TEAM == 0;
        unsigned vote = __ballot_sync(CULL_ALL_LANES, right);

        correct += static_cast<unsigned>(__popc(vote));
    }
    if (correct && threadIdx.x % CULL_WARP == 0)
        atomicAdd(&s.counted->correct, static_cast<unsigned long long>(correct));
}

/* By the last block, when everything is there. */
static __device__ void tell(const cull_cuda_summing &s, cull_seen *out)
{
    volatile cull_cuda_counted *counted = s.counted;
    uint64_t                    first = counted->first;
    double                      sum = counted->sum;

    if (!s.add) *out = cull_seen{};
    out->loss = sum;
    out->count += s.rows;
    out->correct += counted->correct;
    counted->correct = 0;
    counted->done = 0;
    if (s.became) s.outcomes[out - s.out] = *s.became;
    if (!s.trouble || s.trouble->what || isfinite(sum)) return;
    *s.trouble = cull_trouble{};
    s.trouble->what = CULL_WRONG_LOSS;
    s.trouble->row = first;
    s.trouble->place = first < s.rows ? s.place[first] : 0;
    s.trouble->step = s.now ? s.now->step : 0;
    s.trouble->epoch = s.now ? s.now->epoch : 0;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    sum_up(const __grid_constant__ cull_cuda_summing s)
{
    __shared__ double tile[TILE];
    cull_seen        *out = s.out + (s.now ? s.now->slot : 0);

    if (blockIdx.x == 0)
        sum_losses(s, out, tile);
    else
        count_correct<T>(s);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&s.counted->done, 1u) == gridDim.x - 1) {
        __threadfence();
        tell(s, out);
    }
}

cudaError_t cull_cuda_sum_up(cudaStream_t stream, const cull_cuda_summing *s, cull_dtype dtype)
{
    unsigned blocks = s->label ? cull_cuda_blocks(s->rows, ROWS) : 0;

    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    if (dtype == CULL_F64) return CULL_LAUNCH(sum_up<double>, blocks + 1, THREADS, 0, stream, *s);
    return CULL_LAUNCH(sum_up<float>, blocks + 1, THREADS, 0, stream, *s);
}

/* ---- tally ---- */

/* Is no earlier row of this place, and how many rows are there? */
static __device__ unsigned rows_of(const cull_cuda_tallying &t, size_t i, uint32_t place,
                                   uint32_t *tile)
{
    unsigned found = 0, before = 0;

    for (size_t base = 0; base < t.rows; base += TILE) {
        unsigned some = tile_of(t.rows - base);

        for (unsigned k = threadIdx.x; k < some; k += THREADS) tile[k] = t.place[base + k];
        __syncthreads();
#pragma unroll 8
        for (unsigned k = 0; k < some; k++) {
            unsigned same = tile[k] == place;

            found += same;
            before += same & (base + k < i);
        }
        __syncthreads();
    }
    return before ? 0 : found;
}

static __global__ void __launch_bounds__(THREADS)
    count_places(const __grid_constant__ cull_cuda_tallying t)
{
    __shared__ uint32_t tile[TILE];
    size_t              i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
    uint32_t            place = i < t.rows ? t.place[i] : 0;
    unsigned            found = rows_of(t, i, place, tile);

    if (i >= t.rows || !found) return;
    double weight = t.weights[place], loss = t.loss[i];

    weight += t.weight ? t.weight[i] : 1;
    for (size_t k = i + 1, left = found - 1; left; k++) {
        if (t.place[k] != place) continue;
        weight += t.weight ? t.weight[k] : 1;
        loss = t.loss[k];
        left--;
    }
    t.weights[place] = weight;
    t.count[place] += static_cast<int32_t>(found);
    t.latest[place] = static_cast<float>(loss);
    if (t.first[place] < 0) t.first[place] = static_cast<int32_t>(t.now->epoch);
}

cudaError_t cull_cuda_count_places(cudaStream_t stream, const cull_cuda_tallying *t)
{
    if (t->rows == 0) return cudaSuccess;
    return CULL_LAUNCH(count_places, cull_cuda_blocks(t->rows, THREADS), THREADS, 0, stream, *t);
}
