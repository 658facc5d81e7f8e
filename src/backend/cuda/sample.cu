/*
 * backend/cuda/sample.cu - sample: rows drawn with replacement in proportion to their scores
 * (backend/sampling.c has the formulas).
 *
 * Norms are made first, a warp a row. Then one block does the rest. What is summed is summed in the
 * order of the columns and of the rows, by one thread from shared memory, as on the host: a sum in
 * another order is another one, and with it who is drawn.
 */
#include "backend/cuda/number.cuh"
#include "backend/cuda/sample.h"
#include "base/philox.h"

namespace {

constexpr unsigned BLOCK = 1024, WARPS = BLOCK / CULL_WARP, NORMS_BLOCK = 128;

/* Of row i; all lanes get it. */
__device__ double norm2(const cull_tensor &t, size_t i)
{
    cull_tensor line = t;
    size_t      first = i * static_cast<size_t>(t.stride[0]), columns = t.shape[1];
    unsigned    lane = threadIdx.x % CULL_WARP;
    double      sum = 0;

    line.stride[0] = 1;
    for (size_t j = 0; j < columns; j += CULL_WARP) {
        double x = j + lane < columns ? cull_number_at(line, first + j + lane) : 0;

        x = x * x;
#pragma unroll
        for (int k = 0; k < CULL_WARP; k++) sum += __shfl_sync(CULL_ALL_LANES, x, k);
    }
    return sum < CULL_SAMPLE_MOST ? sum : CULL_SAMPLE_MOST;
}

static __global__ void __launch_bounds__(NORMS_BLOCK) take_norms(cull_cuda_sample_args a)
{
    size_t i = cull_cuda_thread() / CULL_WARP;
    double score;

    if (i >= a.rows) return;
    score = sqrt(norm2(a.p, i));
    if (a.h.data) score = score * sqrt(1 + norm2(a.h, i));
    if (threadIdx.x % CULL_WARP == 0) a.score[i] = score;
}

struct shared {
    double             tile[BLOCK], largest[WARPS], total;
    unsigned long long negative; /* row, from the end */
};

__device__ void tell_negative(const cull_cuda_sample_args &a, size_t row)
{
    cull_trouble *t = a.trouble;

    t->which = static_cast<unsigned>(CULL_SIGNAL_LOSS) | CULL_TROUBLE_NEGATIVE;
    t->row = row;
    t->place = a.place ? a.place[row] : row;
    t->step = a.moment ? a.moment->step : 0;
    t->epoch = a.moment ? a.moment->epoch : 0;
    t->found = t->most = 0;
    t->what = CULL_WRONG_SIGNAL;
}

/* Scores as they are; the largest of all, unless one is negative. */
__device__ bool take_scores(const cull_cuda_sample_args &a, shared &s, double *most)
{
    double largest = 0;

    if (threadIdx.x == 0) s.negative = 0;
    __syncthreads();
    for (size_t i = threadIdx.x; i < a.rows; i += BLOCK) {
        double x = a.loss.data ? cull_number_at(a.loss, i) : a.score[i];

        if (a.unseen && a.unseen[i]) x = 0;
        if (x < 0) atomicMax(&s.negative, ~static_cast<unsigned long long>(i));
        if (x > largest) largest = x;
        a.score[i] = x;
    }
    for (int step = CULL_WARP / 2; step > 0; step /= 2) {
        double other = __shfl_xor_sync(CULL_ALL_LANES, largest, step);
        largest = other > largest ? other : largest;
    }
    if (threadIdx.x % CULL_WARP == 0) s.largest[threadIdx.x / CULL_WARP] = largest;
    __syncthreads();
    for (unsigned w = 0; w < WARPS; w++) largest = s.largest[w] > largest ? s.largest[w] : largest;
    *most = largest;
    if (s.negative && threadIdx.x == 0) tell_negative(a, ~static_cast<uint64_t>(s.negative));
    return s.negative == 0;
}

/* The tile's `count` numbers become sums of all from the first on, of which `sum` came before. */
__device__ double run_up(double *tile, unsigned count, double sum)
{
#pragma unroll 8
    for (unsigned i = 0; i < count; i++) tile[i] = sum += tile[i];
    return sum;
}

/* sum[]: the running sums of scores, or the last of those of the squares of their shares. */
__device__ double add_up(const cull_cuda_sample_args &a, shared &s, double total, bool squares)
{
    for (size_t first = 0; first < a.rows; first += BLOCK) {
        size_t   i = first + threadIdx.x;
        unsigned here = static_cast<unsigned>(a.rows - first < BLOCK ? a.rows - first : BLOCK);
        double   x = i < a.rows ? a.score[i] : 0, share = x / total;

        s.tile[threadIdx.x] = squares ? share * share : x;
        __syncthreads();
        if (threadIdx.x == 0) s.total = run_up(s.tile, here, first ? s.total : 0);
        __syncthreads();
        if (!squares && i < a.rows) a.sum[i] = s.tile[threadIdx.x];
    }
    return s.total;
}

/* The first row whose running sum exceeds x; a row of score zero never does. */
__device__ size_t find_row(const double *sum, size_t rows, double x)
{
    size_t low = 0, high = rows - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sum[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && sum[low] == sum[low - 1]) low--; /* x rounded up to the whole sum */
    return low;
}

static __global__ void __launch_bounds__(BLOCK) sample(cull_cuda_sample_args a)
{
    __shared__ shared s;
    uint64_t          step = a.now ? *a.now : a.step;
    double            largest, total, squares;

    if (a.trouble->what != CULL_WRONG_NOTHING || !take_scores(a, s, &largest)) return;
    for (size_t i = threadIdx.x; i < a.rows; i += BLOCK) {
        bool unseen = a.unseen && a.unseen[i];
        a.score[i] = largest == 0 || unseen ? 1 : a.score[i] / largest;
    }
    __syncthreads();
    total = add_up(a, s, 1, false);
    __syncthreads();
    for (size_t j = threadIdx.x; j < a.m; j += BLOCK) {
        size_t row = find_row(a.sum, a.rows, cull_philox_uniform(a.key, step, j) * total);

        a.index[j] = static_cast<uint32_t>(row);
        a.weight[j] = a.unit ? 1 : total / static_cast<double>(a.rows) / a.score[row];
    }
    squares = add_up(a, s, total, true);
    if (threadIdx.x != 0) return;
    a.sampled->tau = CULL_SAMPLE_KEPT * a.sampled->tau +
                     (1 - CULL_SAMPLE_KEPT) * sqrt(static_cast<double>(a.rows) * squares);
    if (a.m == 0) return;
    a.sampled->drew = 1;
    a.sampled->drew_at = step;
}

} // namespace

cudaError_t cull_cuda_sample_run(cudaStream_t stream, const cull_cuda_sample_args *args)
{
    cudaError_t error = cudaSuccess;

    if (!args->loss.data)
        error = CULL_LAUNCH(take_norms, cull_cuda_blocks(args->rows * CULL_WARP, NORMS_BLOCK),
                            NORMS_BLOCK, 0, stream, *args);
    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(sample, 1, BLOCK, 0, stream, *args);
}
