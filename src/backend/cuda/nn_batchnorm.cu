/*
 * backend/cuda/nn_batchnorm.cu - batch normalisation with the addition and ReLU behind it, forward.
 *
 *     z = (x - mean) (gamma rstd) + beta [+ x2], y = z or relu(z)
 *
 * A thread adds up its few rows about the first of them, a block its threads about one of their
 * means, and every block all chunks about the first's, so that nothing cancels.
 */
#include "backend/cuda/nn_batchnorm.cuh"

enum { LINE = 128 }; /* bytes of memory that come together */

template <typename R> struct about {
    R base;

    __device__ void operator()(pair<R> &sum, const pair<R> &chunk, uint32_t rows) const
    {
        R apart = chunk.a - base, weighed = static_cast<R>(rows) * apart;

        sum.a += weighed;
        sum.b += chunk.b + weighed * apart;
    }
};

/* Mean and centred squares of each of a thread's channels over its rows, which are kept. */
template <typename T, int W, typename R>
static __device__ void see(const site &s, const T *x, uint32_t keep, cull_pack<T, W> *kept,
                           R *mean, R *square)
{
    enum { AHEAD = 8 };
    R about[W], count = static_cast<R>(s.mine ? s.mine : 1);

    for (int i = 0; i < W; i++) mean[i] = square[i] = about[i] = 0;
    for (uint32_t k = 0; k < s.mine; k += AHEAD) {
        cull_pack<T, W> v[AHEAD];

        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++)
            if (k + u < s.mine) v[u] = cull_fetch<T, W>(x + s.first + (k + u) * s.stride);
        if (k == 0) cull_open<T, W>(v[0], about);
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            R value[W];

            if (k + u >= s.mine) continue;
            if (k + u < keep) kept[(k + u) * THREADS] = v[u];
            cull_open<T, W>(v[u], value);
            for (int i = 0; i < W; i++) {
                R apart = value[i] - about[i];

                mean[i] += apart;
                square[i] = cull_fma(apart, apart, square[i]);
            }
        }
    }
    for (int i = 0; i < W; i++) {
        square[i] -= mean[i] * mean[i] / count;
        mean[i] = about[i] + mean[i] / count;
    }
}

/* A chunk's mean and centred squares. param lends room for what they are taken about. */
template <int W, typename R>
static __device__ void moments(const cull_batchnorm_cut &n, const site &s, const room<R> &r,
                               R *mean, R *square)
{
    for (int i = 0; i < W && threadIdx.x < n.lanes; i++) r.param[s.at + i] = mean[i];
    __syncthreads();
    for (int i = 0; i < W; i++) {
        R apart = mean[i] - r.param[s.at + i], sum = static_cast<R>(s.mine) * apart;

        mean[i] = s.mine ? sum : 0;
        square[i] = s.mine ? square[i] + sum * apart : 0;
    }
    fold<W>(mean, square, n.lanes, r.scratch);
    all_have_begun(n);
    if (threadIdx.x >= s.wide) return;
    pair<R> sum = total(r.scratch, s.wide);
    R       rows = static_cast<R>(s.rows);

    hand_on<R>(n, s, r, {r.param[threadIdx.x] + sum.a / rows, sum.b - sum.a * sum.a / rows});
}

template <typename R> static __device__ __forceinline__ R inverse_root(R x)
{
    return 1 / static_cast<R>(sqrt(x));
}

template <> __device__ __forceinline__ float inverse_root<float>(float x)
{
    return 1 / sqrtf(x);
}

/* What is added is on its way while the sums are made. */
template <typename T>
static __device__ void bring_near(const cull_batchnorm_call &a, const site &s)
{
    const T *x2 = static_cast<const T *>(a.x2) + s.first;

    if (s.at * sizeof(T) % LINE) return;
    for (uint32_t k = 0; k < s.mine; k++) cull_bring_near(x2 + k * s.stride);
}

/* What belongs to a channel, for the thread that sees to it: asked for long before it is needed. */
template <typename R> struct owned {
    R gamma, beta, mean, variance; /* the last two: the running averages */
};

template <typename R>
static __device__ __forceinline__ owned<R> ask(const cull_batchnorm_cut &n,
                                               const cull_batchnorm_call &a, const site &s)
{
    uint32_t channel = own_channel(n, s);
    owned<R> own = {0, 0, 0, 0};

    if (channel == n.channels) return own;
    own.gamma = static_cast<const R *>(a.gamma)[channel];
    own.beta = static_cast<const R *>(a.beta)[channel];
    if (!a.update && !a.by_running) return own;
    own.mean = static_cast<const R *>(a.running)[channel];
    own.variance = static_cast<const R *>(a.running)[n.channels + channel];
    return own;
}

/* Statistics of this thread's channel, as all blocks compute with them. */
template <typename R> struct statistics {
    R mean, rstd, squares; /* squares: centred, their sum */
};

/* What the chunks' moments come to, and from that what x is normalised with. */
template <typename R>
static __device__ statistics<R> set_forward(const cull_batchnorm_cut &n,
                                            const cull_batchnorm_call &a, const site &s,
                                            const room<R> &r, const owned<R> &own)
{
    uint32_t      channel = own_channel(n, s);
    R             count = static_cast<R>(n.rows), variance = 0;
    statistics<R> stats = {0, 0, 0};

    if (!a.by_running) {
        R       base = partials<R>(n, s, r)[threadIdx.x % s.wide].a;
        pair<R> sum = gather<R>(n, s, r, about<R>{base});
        R       mean = sum.a / count, squares = sum.b - sum.a * mean;

        stats.mean = base + mean;
        stats.squares = squares < 0 ? 0 : squares;
        variance = stats.squares / count;
    } else {
        stats.mean = own.mean;
        variance = own.variance;
    }
    stats.rstd = inverse_root(variance + static_cast<R>(n.epsilon));
    if (channel < n.channels) {
        r.param[MEAN * s.wide + threadIdx.x] = stats.mean;
        r.param[SCALE * s.wide + threadIdx.x] = own.gamma * stats.rstd;
        r.param[SHIFT * s.wide + threadIdx.x] = own.beta;
    }
    __syncthreads();
    return stats;
}

/* Statistics where backward finds them, and the running averages; by one block of a slab. */
template <typename R>
static __device__ void leave(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                             const site &s, const statistics<R> &of, const owned<R> &own)
{
    uint32_t channel = own_channel(n, s);
    R       *running = static_cast<R *>(a.running), *stats = static_cast<R *>(a.stats);
    R        share = static_cast<R>(n.momentum);

    if (s.chunk > 0 || channel == n.channels) return;
    stats[channel] = of.mean;
    stats[n.channels + channel] = of.rstd;
    if (!a.update) return;
    R variance = of.squares / static_cast<R>(n.rows > 1 ? n.rows - 1 : 1);
    running[channel] = own.mean + share * (of.mean - own.mean);
    running[n.channels + channel] = own.variance + share * (variance - own.variance);
}

/* What was read last is taken first: it may still be in the caches. */
template <typename T, int W, bool ADD>
static __device__ void normalise(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                                 const site &s, uint32_t keep, const room<cull_real<T>> &r)
{
    enum { AHEAD = 4 };
    typedef cull_real<T>     R;
    const cull_pack<T, W> *kept = static_cast<cull_pack<T, W> *>(r.kept) + threadIdx.x;
    const T                 *x = static_cast<const T *>(a.x) + s.first;
    const T                 *x2 = static_cast<const T *>(a.x2) + s.first;
    T                       *y = static_cast<T *>(a.y) + s.first;
    R mean[W], scale[W], shift[W], floor = n.relu ? 0 : -static_cast<R>(INFINITY);

    take_param<W>(s, r, MEAN, mean);
    take_param<W>(s, r, SCALE, scale);
    take_param<W>(s, r, SHIFT, shift);
    for (uint32_t k = (s.mine + AHEAD - 1) / AHEAD * AHEAD; k > 0;) {
        cull_pack<T, W> v[AHEAD], w[AHEAD];

        k -= AHEAD;
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            if (k + u >= s.mine) continue;
            v[u] = k + u < keep ? kept[(k + u) * THREADS]
                                : cull_fetch<T, W>(x + (k + u) * s.stride);
            if (ADD) w[u] = cull_fetch<T, W>(x2 + (k + u) * s.stride);
        }
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            R z[W], more[W];

            if (k + u >= s.mine) continue;
            cull_open<T, W>(v[u], z);
            if (ADD) cull_open<T, W>(w[u], more);
            for (int i = 0; i < W; i++) {
                z[i] = cull_fma(z[i] - mean[i], scale[i], shift[i]) + (ADD ? more[i] : 0);
                z[i] = z[i] < floor ? floor : z[i];
            }
            cull_write<T, W>(y + (k + u) * s.stride, z);
        }
    }
}

template <typename T, int W, bool ADD>
static __global__ void __launch_bounds__(THREADS, 1)
    forward_kernel(cull_batchnorm_cut n, cull_batchnorm_call a, int passes)
{
    typedef cull_real<T> R;
    CULL_SHARED(unsigned char, shared);
    room<R>  r = divide<R>(n, shared);
    site     s = find_site(n, W);
    uint32_t keep = passes == (SUMS | APPLY) ? n.keep[0] : 0;

    if (passes & SUMS) have_begun(n);
    wait_for_others();
    owned<R> own = ask<R>(n, a, s);
    if (ADD && passes == (SUMS | APPLY) && n.near) bring_near<T>(a, s);
    if (passes & SUMS) {
        R mean[W], square[W];

        see<T, W>(s, static_cast<const T *>(a.x), keep,
                  static_cast<cull_pack<T, W> *>(r.kept) + threadIdx.x, mean, square);
        moments<W>(n, s, r, mean, square);
    }
    if (!(passes & APPLY)) return;
    if (passes & SUMS && n.chunks > 1) meet(n);
    __syncthreads();
    statistics<R> stats = set_forward<R>(n, a, s, r, own);
    normalise<T, W, ADD>(n, a, s, keep, r);
    leave<R>(n, a, s, stats, own);
}

static kernel_type forward_of(const cull_batchnorm_cut &n)
{
#define FORWARD(T, W) (n.add ? forward_kernel<T, W, true> : forward_kernel<T, W, false>)
    if (n.dtype == CULL_BF16) return n.width > 1 ? FORWARD(cull_bf16, 8) : FORWARD(cull_bf16, 1);
    if (n.dtype == CULL_F32) return n.width > 1 ? FORWARD(float, 4) : FORWARD(float, 1);
    return FORWARD(double, 1);
#undef FORWARD
}

/* The way back takes more shared memory, and is asked for. */
bool cull_cuda_batchnorm_clusters(const cull_batchnorm_cut *n)
{
#ifdef CULL_EMU
    (void)n;
    return true;
#else
    kernel_type         kernel = forward_of(*n);
    cudaLaunchAttribute attribute[2] = {};
    cudaLaunchConfig_t  config = config_of(*n, n->chunks, n->shared[1], NULL, attribute);
    int                 at_once = 0;

    if (allow_clusters(kernel) != cudaSuccess) return false;
    if (cudaOccupancyMaxActiveClusters(&at_once, kernel, &config) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return static_cast<uint32_t>(at_once) >= n->slabs;
#endif
}

cudaError_t cull_cuda_batchnorm_prepare_forward(const cull_batchnorm_cut *n, size_t most)
{
    return allow(forward_of(*n), most);
}

cudaError_t cull_cuda_batchnorm_forward(cudaStream_t stream, const cull_batchnorm_cut *n,
                                        const cull_batchnorm_call *a)
{
    return launch(forward_of(*n), stream, *n, n->shared[0], *a);
}
