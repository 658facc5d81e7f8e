/*
 * backend/cuda/nn_batchnorm.cu - batch normalisation with the addition and ReLU behind it.
 *
 *     forward    z = (x - mean) (gamma rstd) + beta [+ x2], y = z or relu(z)
 *     backward   dz = dy or dy where y > 0; S = sum dz, T = sum dz (x - mean)
 *                dbeta = S, dgamma = rstd T, dx2 = dz
 *                dx_i = k dz_i - w_i (k S/N + k rstd^2 T/N (x_i - mean)),  k = gamma rstd
 *
 * w_i is 1 but for rows that were kept (METHODS' reuse rule). A thread adds up its few rows about
 * the first of them, a block its threads about one of their means, and every block all chunks about
 * the first's, so that nothing cancels. Where nothing was added before the ReLU, y > 0 is worked
 * out again from x as forward did it, and y is not read.
 */
#include "backend/cuda/nn_batchnorm.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = CULL_BATCHNORM_THREADS, WARPS = THREADS / CULL_WARP, LINE = 128 };
enum { SUMS = 1, APPLY = 2 };                  /* passes of a launch           */
enum { MASK_NONE, MASK_BY_X, MASK_BY_Y };      /* how backward sees that y > 0 */
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
    s.slab = blockIdx.x % n.slabs;
    s.chunk = blockIdx.x / n.slabs;
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

/* Shared memory: what is being added up, what the channels are computed with, values. */
template <typename R> struct room {
    R    *scratch;
    R    *param; /* [PARAMS][wide] */
    void *kept;
};

template <typename R> static __device__ __forceinline__ room<R> divide(unsigned char *shared)
{
    room<R> r = {reinterpret_cast<R *>(shared), reinterpret_cast<R *>(shared + 2 * WARPS * 256),
                 shared + CULL_BATCHNORM_SCRATCH};

    static_assert(2 * WARPS * 256 + PARAMS * CULL_BATCHNORM_WIDE * 4 <= CULL_BATCHNORM_SCRATCH &&
                      2 * THREADS * sizeof(R) <= 2 * WARPS * 256,
                  "no room for sums and parameters");
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

template <typename R>
static __device__ __forceinline__ pair<R> *partials(const cull_batchnorm_cut &n, const site &s)
{
    return static_cast<pair<R> *>(n.partial) + static_cast<size_t>(s.slab) * n.chunks * s.wide;
}

/* What each thread has of the chunks' pairs, as `take` adds them up, put together in order: of
 * channel threadIdx.x, for threads below wide. */
template <typename R, typename F>
static __device__ pair<R> gather(const cull_batchnorm_cut &n, const site &s, R *scratch, F take)
{
    enum { AHEAD = 8 };
    const pair<R> *part = partials<R>(n, s) + threadIdx.x % s.wide;
    pair<R>        sum = {0, 0};
    uint32_t       groups = THREADS / s.wide;

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

/* ---- forward ---- */

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
    if (threadIdx.x >= s.wide) return;
    pair<R> sum = total(r.scratch, s.wide), *out = partials<R>(n, s);
    R       rows = static_cast<R>(s.rows);

    out[static_cast<size_t>(s.chunk) * s.wide + threadIdx.x] = {
        r.param[threadIdx.x] + sum.a / rows, sum.b - sum.a * sum.a / rows};
}

template <typename R> static __device__ __forceinline__ R inverse_root(R x)
{
    return 1 / static_cast<R>(sqrt(x));
}

template <> __device__ __forceinline__ float inverse_root<float>(float x)
{
    return 1 / sqrtf(x);
}

/* The channel that a thread below the slab's width sees to; n.channels: none. */
static __device__ __forceinline__ uint32_t own_channel(const cull_batchnorm_cut &n, const site &s)
{
    uint32_t channel = s.slab * n.slab + threadIdx.x;

    return threadIdx.x < n.slab && channel < n.channels ? channel : n.channels;
}

/* What is added is on its way while the sums are made. */
template <typename T>
static __device__ void bring_near(const cull_batchnorm_call &a, const site &s)
{
    const T *x2 = static_cast<const T *>(a.x2) + s.first;

    if (s.at * sizeof(T) % LINE) return;
    for (uint32_t k = 0; k < s.mine; k++) cull_bring_near(x2 + k * s.stride);
}

/* Gamma and beta are there before they are needed. */
template <typename R>
static __device__ void bring(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                             const site &s, const room<R> &r)
{
    uint32_t channel = own_channel(n, s);

    if (channel == n.channels) return;
    r.param[SCALE * s.wide + threadIdx.x] = static_cast<const R *>(a.gamma)[channel];
    r.param[SHIFT * s.wide + threadIdx.x] = static_cast<const R *>(a.beta)[channel];
}

/* Statistics of this thread's channel, as all blocks compute with them. */
template <typename R> struct statistics {
    R mean, rstd, squares; /* squares: centred, their sum */
};

/* What the chunks' moments come to, and from that what x is normalised with. */
template <typename R>
static __device__ statistics<R> set_forward(const cull_batchnorm_cut &n,
                                            const cull_batchnorm_call &a, const site &s,
                                            const room<R> &r)
{
    uint32_t      channel = own_channel(n, s);
    const R      *running = static_cast<const R *>(a.running);
    R             count = static_cast<R>(n.rows), variance = 0;
    statistics<R> stats = {0, 0, 0};

    if (!a.by_running) {
        R       base = partials<R>(n, s)[threadIdx.x % s.wide].a;
        pair<R> sum = gather<R>(n, s, r.scratch, about<R>{base});
        R       mean = sum.a / count, squares = sum.b - sum.a * mean;

        stats.mean = base + mean;
        stats.squares = squares < 0 ? 0 : squares;
        variance = stats.squares / count;
    } else if (channel < n.channels) {
        stats.mean = running[channel];
        variance = running[n.channels + channel];
    }
    stats.rstd = inverse_root(variance + static_cast<R>(n.epsilon));
    if (channel < n.channels) {
        r.param[MEAN * s.wide + threadIdx.x] = stats.mean;
        r.param[SCALE * s.wide + threadIdx.x] *= stats.rstd;
    }
    __syncthreads();
    return stats;
}

/* Statistics where backward finds them, and the running averages; by one block of a slab. */
template <typename R>
static __device__ void leave(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                             const site &s, const statistics<R> &of)
{
    uint32_t channel = own_channel(n, s);
    R       *running = static_cast<R *>(a.running), *stats = static_cast<R *>(a.stats);
    R        share = static_cast<R>(n.momentum);

    if (s.chunk > 0 || channel == n.channels) return;
    stats[channel] = of.mean;
    stats[n.channels + channel] = of.rstd;
    if (!a.update) return;
    R variance = of.squares / static_cast<R>(n.rows > 1 ? n.rows - 1 : 1);
    running[channel] += share * (of.mean - running[channel]);
    running[n.channels + channel] += share * (variance - running[n.channels + channel]);
}

template <int W, typename R>
static __device__ __forceinline__ void take_param(const site &s, const room<R> &r, int which,
                                                  R *out)
{
    cull_read<R, W>(r.param + which * s.wide + s.at, out);
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
    room<R>  r = divide<R>(shared);
    site     s = find_site(n, W);
    uint32_t keep = passes == (SUMS | APPLY) ? n.keep[0] : 0;

    bring<R>(n, a, s, r);
    if (ADD && passes == (SUMS | APPLY) && n.near) bring_near<T>(a, s);
    if (passes & SUMS) {
        R mean[W], square[W];

        see<T, W>(s, static_cast<const T *>(a.x), keep,
                  static_cast<cull_pack<T, W> *>(r.kept) + threadIdx.x, mean, square);
        moments<W>(n, s, r, mean, square);
    }
    if (!(passes & APPLY)) return;
    if (passes & SUMS && n.chunks > 1) cull_cuda_meet();
    __syncthreads();
    statistics<R> stats = set_forward<R>(n, a, s, r);
    normalise<T, W, ADD>(n, a, s, keep, r);
    leave<R>(n, a, s, stats);
}

/* ---- backward ---- */

/* The least number that is still above zero when it is rounded to T. */
template <typename T> static __device__ __forceinline__ cull_real<T> nearly_zero()
{
    return 0;
}

template <> __device__ __forceinline__ float nearly_zero<cull_bf16>()
{
    return 0x1p-134f;
}

/* One step's values; g is dy, or what was kept of it: dz. */
template <typename T, int W> struct step {
    cull_pack<T, W> x, g, y;
};

template <typename T, int W, int MASK>
static __device__ __forceinline__ void fetch(step<T, W> &v, const cull_batchnorm_call &a, size_t at)
{
    v.x = cull_fetch<T, W>(static_cast<const T *>(a.x) + at);
    v.g = cull_fetch<T, W>(static_cast<const T *>(a.dy) + at);
    if (MASK == MASK_BY_Y) v.y = cull_fetch<T, W>(static_cast<const T *>(a.y) + at);
}

/* Opens a step: x - mean, and the gradient before the ReLU. */
template <typename T, int W, int MASK, typename R>
static __device__ __forceinline__ void gate(const step<T, W> &v, const R *mean, const R *scale,
                                            const R *shift, R *apart, R *dz)
{
    R y[W];

    cull_open<T, W>(v.x, apart);
    cull_open<T, W>(v.g, dz);
    if (MASK == MASK_BY_Y) cull_open<T, W>(v.y, y);
    for (int i = 0; i < W; i++) {
        apart[i] -= mean[i];
        if (MASK == MASK_BY_Y) dz[i] = y[i] > 0 ? dz[i] : 0;
        if (MASK == MASK_BY_X)
            dz[i] = cull_fma(apart[i], scale[i], shift[i]) > nearly_zero<T>() ? dz[i] : 0;
    }
}

/* Mean, gamma rstd and beta of the slab's channels, as forward had them. */
template <typename R>
static __device__ void recall(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                              const site &s, const room<R> &r)
{
    uint32_t channel = own_channel(n, s);
    const R *stats = static_cast<const R *>(a.stats);

    bring<R>(n, a, s, r);
    if (channel < n.channels) {
        R rstd = stats[n.channels + channel];

        r.param[MEAN * s.wide + threadIdx.x] = stats[channel];
        r.param[SCALE * s.wide + threadIdx.x] *= rstd;
        r.param[RSTD * s.wide + threadIdx.x] = rstd;
    }
    __syncthreads();
}

/* A chunk's S and T. What is asked for of memory first does not wait for the parameters. */
template <typename T, int W, int MASK>
static __device__ void add_up(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                              const site &s, uint32_t keep, const room<cull_real<T>> &r)
{
    enum { AHEAD = 4 };
    typedef cull_real<T> R;
    cull_pack<T, W>   *kept = static_cast<cull_pack<T, W> *>(r.kept) + threadIdx.x;
    step<T, W>           v[AHEAD];
    R                    mean[W], scale[W], shift[W], sum[W], product[W];

    CULL_UNROLL
    for (int u = 0; u < AHEAD; u++)
        if (static_cast<uint32_t>(u) < s.mine)
            fetch<T, W, MASK>(v[u], a, s.first + u * s.stride);
    recall<R>(n, a, s, r);
    take_param<W>(s, r, MEAN, mean);
    take_param<W>(s, r, SCALE, scale);
    take_param<W>(s, r, SHIFT, shift);
    for (int i = 0; i < W; i++) sum[i] = product[i] = 0;
    for (uint32_t k = 0; k < s.mine; k += AHEAD) {
        CULL_UNROLL
        for (int u = 0; u < AHEAD && k > 0; u++)
            if (k + u < s.mine) fetch<T, W, MASK>(v[u], a, s.first + (k + u) * s.stride);
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            R apart[W], dz[W];

            if (k + u >= s.mine) continue;
            gate<T, W, MASK>(v[u], mean, scale, shift, apart, dz);
            for (int i = 0; i < W; i++) {
                sum[i] += dz[i];
                product[i] = cull_fma(dz[i], apart[i], product[i]);
            }
            if (k + u >= keep) continue;
            kept[2 * (k + u) * THREADS] = v[u].x;
            kept[(2 * (k + u) + 1) * THREADS] = MASK ? cull_close<T, W>(dz) : v[u].g;
        }
    }
    fold<W>(sum, product, n.lanes, r.scratch);
    if (threadIdx.x < s.wide)
        partials<R>(n, s)[static_cast<size_t>(s.chunk) * s.wide + threadIdx.x] =
            total(r.scratch, s.wide);
}

template <typename R> struct plainly {
    __device__ void operator()(pair<R> &sum, const pair<R> &chunk, uint32_t) const
    {
        sum.a += chunk.a;
        sum.b += chunk.b;
    }
};

/* What the chunks' sums come to: the parameters' gradients, and what dx is computed with. */
template <typename R>
static __device__ void set_backward(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                                    const site &s, const room<R> &r)
{
    uint32_t channel = own_channel(n, s);
    R        count = static_cast<R>(n.rows);
    pair<R>  sum = gather<R>(n, s, r.scratch, plainly<R>{});

    if (channel < n.channels) {
        R rstd = r.param[RSTD * s.wide + threadIdx.x], scale = r.param[SCALE * s.wide + threadIdx.x];

        r.param[LEVEL * s.wide + threadIdx.x] = scale * (sum.a / count);
        r.param[TILT * s.wide + threadIdx.x] = scale * rstd * rstd * (sum.b / count);
        if (s.chunk == 0) {
            static_cast<R *>(a.dgamma)[channel] = sum.b * rstd;
            static_cast<R *>(a.dbeta)[channel] = sum.a;
        }
    }
    __syncthreads();
}

/* One step's gradients, to x and to what was added. */
template <typename T, int W, typename R>
static __device__ __forceinline__ void hand_back(const cull_batchnorm_call &a, size_t at, R *value,
                                                 R *dz)
{
    T *dx = static_cast<T *>(a.dx), *dx2 = static_cast<T *>(a.dx2);
    R  old[W];

    for (int i = 0; i < W && a.joined; i++) value[i] += dz[i];
    if (dx && a.accumulate) {
        cull_read<T, W>(dx + at, old);
        for (int i = 0; i < W; i++) value[i] += old[i];
    }
    if (dx) cull_write<T, W>(dx + at, value);
    if (dx2 && a.accumulate2) {
        cull_read<T, W>(dx2 + at, old);
        for (int i = 0; i < W; i++) dz[i] += old[i];
    }
    if (dx2) cull_write<T, W>(dx2 + at, dz);
}

template <typename T, int W, int MASK>
static __device__ void go_back(const cull_batchnorm_cut &n, const cull_batchnorm_call &a,
                               const site &s, uint32_t keep, const room<cull_real<T>> &r)
{
    enum { AHEAD = 4 };
    typedef cull_real<T>     R;
    const cull_pack<T, W> *kept = static_cast<cull_pack<T, W> *>(r.kept) + threadIdx.x;
    uint32_t                 at_once = THREADS / n.lanes;
    R                        mean[W], scale[W], shift[W], level[W], tilt[W];

    take_param<W>(s, r, MEAN, mean);
    take_param<W>(s, r, SCALE, scale);
    take_param<W>(s, r, SHIFT, shift);
    take_param<W>(s, r, LEVEL, level);
    take_param<W>(s, r, TILT, tilt);
    for (uint32_t k = (s.mine + AHEAD - 1) / AHEAD * AHEAD; k > 0;) {
        step<T, W> v[AHEAD];

        k -= AHEAD;
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            if (k + u >= s.mine) continue;
            if (k + u >= keep) {
                fetch<T, W, MASK>(v[u], a, s.first + (k + u) * s.stride);
                continue;
            }
            v[u].x = kept[2 * (k + u) * THREADS];
            v[u].g = kept[(2 * (k + u) + 1) * THREADS];
        }
        CULL_UNROLL
        for (int u = 0; u < AHEAD; u++) {
            R apart[W], dz[W], value[W];

            if (k + u >= s.mine) continue;
            R weight = a.row_weight ? static_cast<R>(
                                          a.row_weight[(s.row + (k + u) * at_once) / n.area])
                                    : 1;
            if (k + u < keep)
                gate<T, W, MASK_NONE>(v[u], mean, scale, shift, apart, dz);
            else
                gate<T, W, MASK>(v[u], mean, scale, shift, apart, dz);
            for (int i = 0; i < W; i++)
                value[i] = cull_fma(-weight, cull_fma(apart[i], tilt[i], level[i]),
                                    scale[i] * dz[i]);
            hand_back<T, W>(a, s.first + (k + u) * s.stride, value, dz);
        }
    }
}

template <typename T, int W, int MASK>
static __global__ void __launch_bounds__(THREADS, 1)
    backward_kernel(cull_batchnorm_cut n, cull_batchnorm_call a, int passes)
{
    typedef cull_real<T> R;
    CULL_SHARED(unsigned char, shared);
    room<R>  r = divide<R>(shared);
    site     s = find_site(n, W);
    uint32_t keep = passes == (SUMS | APPLY) ? n.keep[1] : 0;

    if (passes & SUMS)
        add_up<T, W, MASK>(n, a, s, keep, r);
    else
        recall<R>(n, a, s, r);
    if (!(passes & APPLY)) return;
    if (passes & SUMS && n.chunks > 1) cull_cuda_meet();
    __syncthreads();
    set_backward<R>(n, a, s, r);
    if (a.dx || a.dx2) go_back<T, W, MASK>(n, a, s, keep, r);
}

/* ---- launches ---- */

typedef void (*kernel_type)(cull_batchnorm_cut, cull_batchnorm_call, int);

static kernel_type forward_of(const cull_batchnorm_cut &n)
{
#define FORWARD(T, W) (n.add ? forward_kernel<T, W, true> : forward_kernel<T, W, false>)
    if (n.dtype == CULL_BF16) return n.width > 1 ? FORWARD(cull_bf16, 8) : FORWARD(cull_bf16, 1);
    if (n.dtype == CULL_F32) return n.width > 1 ? FORWARD(float, 4) : FORWARD(float, 1);
    return FORWARD(double, 1);
#undef FORWARD
}

static kernel_type backward_of(const cull_batchnorm_cut &n)
{
#define BACKWARD(T, W)                                                                             \
    (!n.relu ? backward_kernel<T, W, MASK_NONE>                                                    \
     : n.add ? backward_kernel<T, W, MASK_BY_Y>                                                    \
             : backward_kernel<T, W, MASK_BY_X>)
    if (n.dtype == CULL_BF16) return n.width > 1 ? BACKWARD(cull_bf16, 8) : BACKWARD(cull_bf16, 1);
    if (n.dtype == CULL_F32) return n.width > 1 ? BACKWARD(float, 4) : BACKWARD(float, 1);
    return BACKWARD(double, 1);
#undef BACKWARD
}

static cudaError_t allow(kernel_type kernel, size_t shared)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared));
}

cudaError_t cull_cuda_batchnorm_prepare(const cull_batchnorm_cut *n, size_t most)
{
    cudaError_t error = allow(forward_of(*n), most);

    return error == cudaSuccess ? allow(backward_of(*n), most) : error;
}

static cudaError_t launch(kernel_type kernel, cudaStream_t stream, const cull_batchnorm_cut &n,
                          size_t shared, const cull_batchnorm_call &a)
{
    unsigned    grid = n.slabs * n.chunks;
    cudaError_t error = cudaSuccess;

    if (a.by_running)
        return CULL_LAUNCH(kernel, grid, THREADS, CULL_BATCHNORM_SCRATCH, stream, n, a, APPLY);
    if (n.chunks == 1)
        return CULL_LAUNCH(kernel, grid, THREADS, shared, stream, n, a, SUMS | APPLY);
    if (n.together)
        return cull_cuda_launch_together(kernel, grid, THREADS, shared, stream, n, a,
                                         SUMS | APPLY);
    error = CULL_LAUNCH(kernel, grid, THREADS, CULL_BATCHNORM_SCRATCH, stream, n, a, SUMS);
    if (error != cudaSuccess) return error;
    return CULL_LAUNCH(kernel, grid, THREADS, CULL_BATCHNORM_SCRATCH, stream, n, a, APPLY);
}

cudaError_t cull_cuda_batchnorm_forward(cudaStream_t stream, const cull_batchnorm_cut *n,
                                        const cull_batchnorm_call *a)
{
    return launch(forward_of(*n), stream, *n, n->shared[0], *a);
}

cudaError_t cull_cuda_batchnorm_backward(cudaStream_t stream, const cull_batchnorm_cut *n,
                                         const cull_batchnorm_call *a)
{
    return launch(backward_of(*n), stream, *n, n->shared[1], *a);
}
