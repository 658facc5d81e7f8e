/*
 * backend/cuda/nn_batchnorm_back.cu - batch normalisation with the addition and ReLU behind it,
 * backward.
 *
 *     dz = dy or dy where y > 0; S = sum dz, T = sum dz (x - mean)
 *     dbeta = S, dgamma = rstd T, dx2 = dz
 *     dx_i = k dz_i - w_i (k S/N + k rstd^2 T/N (x_i - mean)),  k = gamma rstd
 *
 * w_i is 1 but for rows that were kept (METHODS' reuse rule). Where nothing was added before the
 * ReLU, y > 0 is worked out again from x as forward did it, and y is not read.
 */
#include "backend/cuda/nn_batchnorm.cuh"

enum { MASK_NONE, MASK_BY_X, MASK_BY_Y }; /* how it is seen that y > 0 */

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

    if (channel < n.channels) {
        R rstd = stats[n.channels + channel];

        r.param[MEAN * s.wide + threadIdx.x] = stats[channel];
        r.param[SCALE * s.wide + threadIdx.x] = static_cast<const R *>(a.gamma)[channel] * rstd;
        r.param[SHIFT * s.wide + threadIdx.x] = static_cast<const R *>(a.beta)[channel];
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
    all_have_begun(n);
    if (threadIdx.x < s.wide) hand_on<R>(n, s, r, total(r.scratch, s.wide));
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
    pair<R>  sum = gather<R>(n, s, r, plainly<R>{});

    if (channel < n.channels) {
        R rstd = r.param[RSTD * s.wide + threadIdx.x];
        R scale = r.param[SCALE * s.wide + threadIdx.x];

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
    room<R>  r = divide<R>(n, shared);
    site     s = find_site(n, W);
    uint32_t keep = passes == (SUMS | APPLY) ? n.keep[1] : 0;

    if (passes & SUMS) have_begun(n);
    wait_for_others();
    if (passes & SUMS)
        add_up<T, W, MASK>(n, a, s, keep, r);
    else
        recall<R>(n, a, s, r);
    if (!(passes & APPLY)) return;
    if (passes & SUMS && n.chunks > 1) meet(n);
    __syncthreads();
    set_backward<R>(n, a, s, r);
    if (a.dx || a.dx2) go_back<T, W, MASK>(n, a, s, keep, r);
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

cudaError_t cull_cuda_batchnorm_prepare_backward(const cull_batchnorm_cut *n, size_t most)
{
    return allow(backward_of(*n), most);
}

cudaError_t cull_cuda_batchnorm_backward(cudaStream_t stream, const cull_batchnorm_cut *n,
                                         const cull_batchnorm_call *a)
{
    return launch(backward_of(*n), stream, *n, n->shared[1], *a);
}
