/*
 * backend/cuda/nn_groupnorm.cu - normalisation within each example: group norm and layer norm.
 *
 *     x^ = (x - mean) rstd over a group of channels and all pixels of one example
 *     y = gamma x^ + beta       group norm: one gamma a channel; layer norm: one an element,
 *                               and a single group
 *     dx = rstd (g - mean(g) - x^ mean(g x^)), g = dy gamma, means over the group
 *
 * A block has one or more groups of an example and reads them twice, the second time from the
 * caches. The parameters' gradients are sums over all rows: of each chunk of rows by a block, and
 * by the last of them in the chunks' order. Channels are innermost; parameters of layer norm are in
 * NCHW order.
 */
#include "backend/cuda/nn_groupnorm.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = CULL_GROUPNORM_THREADS };

template <typename R> struct alignas(2 * sizeof(R)) pair {
    R a, b;
};

/* What a thread has of its block's groups: every `step`-th vector, all of one group. */
struct share {
    uint32_t n, group;     /* of all groups of the example */
    uint32_t local;        /* of the block's               */
    uint32_t first, step, count;
    uint32_t channel;      /* the block's first            */
};

static __device__ __forceinline__ uint32_t group_of(const cull_groupnorm_cut &d, uint32_t thread,
                                                    uint32_t width)
{
    return d.bundle == 1 ? 0 : thread % d.across * width / (d.c / d.groups);
}

static __device__ __forceinline__ share find_share(const cull_groupnorm_cut &d, uint32_t width)
{
    share s;

    s.n = blockIdx.x / d.bundles;
    s.local = group_of(d, threadIdx.x, width);
    s.group = blockIdx.x % d.bundles * d.bundle + s.local;
    s.channel = blockIdx.x % d.bundles * d.bundle * (d.c / d.groups);
    s.step = d.bundle == 1 ? d.threads : d.threads / d.across * d.across;
    s.first = threadIdx.x;
    s.count = s.first < s.step && s.group < d.groups ? d.area * d.across : 0;
    return s;
}

/* Vector e of the block: its first element in the tensor, and that one's parameter. */
template <int W>
static __device__ __forceinline__ size_t element(const cull_groupnorm_cut &d, const share &s,
                                                 uint32_t e, uint32_t *parameter, uint32_t *apart)
{
    uint32_t pixel = e / d.across, channel = s.channel + e % d.across * W;

    *parameter = d.layer ? channel * d.area + pixel : channel;
    *apart = d.layer ? d.area : 1;
    return (static_cast<size_t>(s.n) * d.area + pixel) * d.c + channel;
}

/* For each of the block's groups the sums over its threads, in out; in a fixed order. */
template <typename R>
static __device__ void add_groups(const cull_groupnorm_cut &d, uint32_t width, uint32_t step, R a,
                                  R b, pair<R> *held, pair<R> *out)
{
    uint32_t lane = threadIdx.x % CULL_WARP, warps = d.threads / CULL_WARP;

    held[threadIdx.x] = {a, b};
    __syncthreads();
    for (uint32_t g = threadIdx.x / CULL_WARP; g < d.bundle; g += warps) {
        pair<R> sum = {0, 0};

        for (uint32_t t = lane; t < step; t += CULL_WARP) {
            if (group_of(d, t, width) != g) continue;
            sum.a += held[t].a;
            sum.b += held[t].b;
        }
        for (uint32_t apart = CULL_WARP / 2; apart > 0; apart /= 2) {
            sum.a += __shfl_xor_sync(CULL_ALL_LANES, sum.a, apart);
            sum.b += __shfl_xor_sync(CULL_ALL_LANES, sum.b, apart);
        }
        if (lane == 0) out[g] = sum;
    }
    __syncthreads();
}

template <typename R> static __device__ __forceinline__ R root(R x)
{
    return static_cast<R>(sqrt(x));
}

template <> __device__ __forceinline__ float root<float>(float x)
{
    return sqrtf(x);
}

/* Mean and centred squares of what a thread has, about the first of it. */
template <typename T, int W>
static __device__ pair<cull_real<T>> see(const cull_groupnorm_cut &d, const share &s, const T *x)
{
    typedef cull_real<T> R;
    R                    about = 0, sum = 0, squares = 0, count = 0, v[W];
    uint32_t             parameter, apart;

    for (uint32_t e = s.first; e < s.count; e += s.step) {
        cull_read<T, W>(x + element<W>(d, s, e, &parameter, &apart), v);
        if (e == s.first) about = v[0];
        for (int i = 0; i < W; i++) {
            sum += v[i] - about;
            squares = cull_fma(v[i] - about, v[i] - about, squares);
        }
        count += W;
    }
    if (s.first >= s.count) return {0, 0};
    return {about + sum / count, squares - sum * sum / count};
}

template <typename T, int W>
static __global__ void __launch_bounds__(THREADS)
    forward_kernel(cull_groupnorm_cut d, cull_groupnorm_call a)
{
    typedef cull_real<T> R;
    __shared__ pair<R>   held[THREADS], sums[THREADS];
    share                s = find_share(d, W);
    uint32_t             length = d.c / d.groups * d.area;
    const T             *x = static_cast<const T *>(a.x);
    const R             *gamma = static_cast<const R *>(a.gamma);
    const R             *beta = static_cast<const R *>(a.beta);
    pair<R>              m = see<T, W>(d, s, x);
    R                    count = 0, v[W];
    uint32_t             leader = d.bundle == 1 ? 0 : s.local * (d.c / d.groups) / W, at, apart;

    /* about the mean of the group's first thread */
    if (s.first < s.count) count = static_cast<R>((s.count - s.first - 1) / s.step + 1) * W;
    held[threadIdx.x] = m;
    __syncthreads();
    R base = held[leader].a;
    R off = count > 0 ? m.a - base : 0;
    __syncthreads();
    add_groups<R>(d, W, s.step, count * off, m.b + count * off * off, held, sums);

    R shift = sums[s.local].a / static_cast<R>(length), mean = base + shift;
    R squares = sums[s.local].b - sums[s.local].a * shift;
    R variance = (squares < 0 ? 0 : squares) / static_cast<R>(length);
    R rstd = 1 / root(variance + static_cast<R>(d.epsilon));

    if (s.count && threadIdx.x == leader) {
        R *stats = static_cast<R *>(a.stats) + static_cast<size_t>(s.n) * 2 * d.groups;

        stats[s.group] = mean;
        stats[d.groups + s.group] = rstd;
    }
    for (uint32_t e = s.first; e < s.count; e += s.step) {
        size_t from = element<W>(d, s, e, &at, &apart);

        cull_read<T, W>(x + from, v);
        for (int i = 0; i < W; i++)
            v[i] = cull_fma(gamma[at + i * apart], (v[i] - mean) * rstd, beta[at + i * apart]);
        cull_write<T, W>(static_cast<T *>(a.y) + from, v);
    }
}

template <typename T, int W>
static __global__ void __launch_bounds__(THREADS)
    backward_kernel(cull_groupnorm_cut d, cull_groupnorm_call a)
{
    typedef cull_real<T> R;
    __shared__ pair<R>   held[THREADS], sums[THREADS];
    share                s = find_share(d, W);
    R                    length = static_cast<R>(d.c / d.groups * d.area);
    const T             *x = static_cast<const T *>(a.x), *dy = static_cast<const T *>(a.dy);
    T                   *dx = static_cast<T *>(a.dx);
    const R             *gamma = static_cast<const R *>(a.gamma);
    const R             *stats = static_cast<const R *>(a.stats);
    R                    mean = 0, rstd = 0, sum = 0, product = 0, v[W], g[W], old[W];
    uint32_t             at, apart;

    stats += static_cast<size_t>(s.n) * 2 * d.groups + s.group;
    if (s.count) {
        mean = stats[0];
        rstd = stats[d.groups];
    }
    for (uint32_t e = s.first; e < s.count; e += s.step) {
        size_t from = element<W>(d, s, e, &at, &apart);

        cull_read<T, W>(x + from, v);
        cull_read<T, W>(dy + from, g);
        for (int i = 0; i < W; i++) {
            g[i] *= gamma[at + i * apart];
            sum += g[i];
            product = cull_fma(g[i], (v[i] - mean) * rstd, product);
        }
    }
    add_groups<R>(d, W, s.step, sum, product, held, sums);
    sum = sums[s.local].a / length;
    product = sums[s.local].b / length;
    for (uint32_t e = s.first; e < s.count; e += s.step) {
        size_t from = element<W>(d, s, e, &at, &apart);

        cull_read<T, W>(x + from, v);
        cull_read<T, W>(dy + from, g);
        if (a.accumulate) cull_read<T, W>(dx + from, old);
        for (int i = 0; i < W; i++) {
            g[i] = rstd * (g[i] * gamma[at + i * apart] - sum - (v[i] - mean) * rstd * product);
            if (a.accumulate) g[i] += old[i];
        }
        cull_write<T, W>(dx + from, g);
    }
}

/* ---- the parameters' gradients ---- */

/* What a thread's rows of W columns come to: dy x^ and dy. */
template <typename T, int W>
static __device__ void add_rows(const cull_groupnorm_cut &d, const cull_groupnorm_call &a,
                                uint32_t column, uint32_t first, uint32_t end, uint32_t step,
                                cull_real<T> *product, cull_real<T> *sum)
{
    typedef cull_real<T> R;
    const R             *stats = static_cast<const R *>(a.stats);
    uint32_t             group = d.layer ? 0 : column / (d.c / d.groups);
    R                    v[W], g[W];

    for (uint32_t row = first; row < end; row += step) {
        size_t   from = static_cast<size_t>(row) * d.columns + column;
        size_t   n = d.layer ? row : row / d.area;
        const R *of = stats + n * 2 * d.groups + group;
        R        mean = of[0], rstd = of[d.groups];

        cull_read<T, W>(static_cast<const T *>(a.x) + from, v);
        cull_read<T, W>(static_cast<const T *>(a.dy) + from, g);
        for (int i = 0; i < W; i++) {
            product[i] = cull_fma(g[i], (v[i] - mean) * rstd, product[i]);
            sum[i] += g[i];
        }
    }
}

/* Has every other block of this slab left its sums? */
static __device__ bool is_last(const cull_groupnorm_cut &d, uint32_t slab)
{
    __shared__ bool last;

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(d.ticket + slab, 1u) == d.chunks - 1;
        if (last) d.ticket[slab] = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

template <typename T, int W>
static __global__ void __launch_bounds__(THREADS)
    parameters_kernel(cull_groupnorm_cut d, cull_groupnorm_call a)
{
    typedef cull_real<T> R;
    __shared__ pair<R>   held[THREADS][W];
    uint32_t             lane = threadIdx.x % d.lanes, wide = d.lanes * W, team = THREADS / d.lanes;
    uint32_t             slab = blockIdx.x % d.slabs, chunk = blockIdx.x / d.slabs;
    uint32_t             column = slab * wide + lane * W;
    uint32_t             rows = (d.rows + d.chunks - 1) / d.chunks, end = (chunk + 1) * rows;
    R                    product[W], sum[W];

    for (int i = 0; i < W; i++) product[i] = sum[i] = 0;
    if (column < d.columns)
        add_rows<T, W>(d, a, column, chunk * rows + threadIdx.x / d.lanes,
                       end < d.rows ? end : d.rows, team, product, sum);
    for (int i = 0; i < W; i++) held[threadIdx.x][i] = {product[i], sum[i]};
    __syncthreads();

    pair<R> *part = static_cast<pair<R> *>(d.partial) + static_cast<size_t>(slab) * d.chunks * wide;
    uint32_t j = threadIdx.x;
    pair<R>  all = {0, 0};

    if (j < wide) {
        for (uint32_t k = 0; k < team; k++) {
            all.a += held[k * d.lanes + j / W][j % W].a;
            all.b += held[k * d.lanes + j / W][j % W].b;
        }
        part[static_cast<size_t>(chunk) * wide + j] = all;
    }
    if (!is_last(d, slab)) return;
    column = slab * wide + j;
    if (j >= wide || column >= d.columns) return;
    all = {0, 0};
    for (uint32_t k = 0; k < d.chunks; k++) {
        all.a += part[static_cast<size_t>(k) * wide + j].a;
        all.b += part[static_cast<size_t>(k) * wide + j].b;
    }
    if (d.layer) column = column % d.c * d.area + column / d.c;
    static_cast<R *>(a.dgamma)[column] = all.a;
    static_cast<R *>(a.dbeta)[column] = all.b;
}

/* ---- launches ---- */

typedef void (*kernel_type)(cull_groupnorm_cut, cull_groupnorm_call);

template <typename T, int W>
static cudaError_t forward(cudaStream_t stream, const cull_groupnorm_cut &d,
                           const cull_groupnorm_call &a)
{
    kernel_type kernel = forward_kernel<T, W>;

    return CULL_LAUNCH(kernel, d.n * d.bundles, d.threads, 0, stream, d, a);
}

template <typename T, int W>
static cudaError_t backward(cudaStream_t stream, const cull_groupnorm_cut &d,
                            const cull_groupnorm_call &a)
{
    kernel_type input = backward_kernel<T, W>, parameters = parameters_kernel<T, W>;
    cudaError_t error = CULL_LAUNCH(parameters, d.slabs * d.chunks, THREADS, 0, stream, d, a);

    if (error != cudaSuccess || !a.dx) return error;
    return CULL_LAUNCH(input, d.n * d.bundles, d.threads, 0, stream, d, a);
}

cudaError_t cull_cuda_groupnorm_forward(cudaStream_t stream, const cull_groupnorm_cut *d,
                                        const cull_groupnorm_call *a)
{
#define CALL(T, W) forward<T, W>(stream, *d, *a)
    return CULL_BY_TYPE(d->dtype, d->width, CALL);
#undef CALL
}

cudaError_t cull_cuda_groupnorm_backward(cudaStream_t stream, const cull_groupnorm_cut *d,
                                         const cull_groupnorm_call *a)
{
#define CALL(T, W) backward<T, W>(stream, *d, *a)
    return CULL_BY_TYPE(d->dtype, d->width, CALL);
#undef CALL
}
