/*
 * backend/cuda/nn_point.cu - element by element: activations, sums of two, and their gradients.
 *
 *     relu   max(x, 0)          gradient where y > 0
 *     relu6  min(max(x, 0), 6)  gradient where 0 < y < 6
 *     gelu   x Phi(x)           gradient Phi(x) + x phi(x), Phi and phi of the normal law
 *            or by tanh: x (1 + t)/2 with t = tanh(sqrt(2/pi) (x + .044715 x^3))
 *     tanh                      gradient 1 - y^2
 *     add    x + x2             gradient to both
 *
 * NaN stays NaN.
 */
#include "backend/cuda/nn_point.h"

#include "backend/cuda/nn_vector.cuh"

enum { THREADS = 256 };

#define SQRT_HALF       0.70710678118654752440
#define INV_SQRT_TWO_PI 0.39894228040143267794
#define SQRT_TWO_BY_PI  0.79788456080286535588
#define CUBIC           0.044715

static __device__ __forceinline__ float error_function(float x)
{
    return erff(x);
}
static __device__ __forceinline__ double error_function(double x)
{
    return erf(x);
}
static __device__ __forceinline__ float exponential(float x)
{
    return expf(x);
}
static __device__ __forceinline__ double exponential(double x)
{
    return exp(x);
}
static __device__ __forceinline__ float hyperbolic_tangent(float x)
{
    return tanhf(x);
}
static __device__ __forceinline__ double hyperbolic_tangent(double x)
{
    return tanh(x);
}

/* What gelu takes the tangent of. */
template <typename R> static __device__ __forceinline__ R inside(R x)
{
    return static_cast<R>(SQRT_TWO_BY_PI) * (x + static_cast<R>(CUBIC) * x * x * x);
}

/* W elements a thread; what is left over behind the last whole vector goes one by one. */
template <typename F, int W> static __global__ void each(F f, size_t count)
{
    size_t at = (static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x) * W;

    if (at + W <= count) {
        f.template run<W>(at);
        return;
    }
    for (; at < count; at++) f.template run<1>(at);
}

template <typename F, int W>
static cudaError_t run_each(cudaStream_t stream, size_t count, const F &f)
{
    void (*kernel)(F, size_t) = each<F, W>;

    return CULL_LAUNCH(kernel, cull_cuda_blocks((count + W - 1) / W, THREADS), THREADS, 0, stream,
                       f, count);
}

template <typename T, cull_activation KIND> struct activation {
    const T *x;
    T       *y;

    template <int W> __device__ void run(size_t at) const
    {
        typedef cull_real<T> R;
        R                    v[W];

        cull_read<T, W>(x + at, v);
        for (int i = 0; i < W; i++) {
            if (KIND == CULL_RELU || KIND == CULL_RELU6) v[i] = v[i] < 0 ? 0 : v[i];
            if (KIND == CULL_RELU6) v[i] = v[i] > 6 ? 6 : v[i];
            if (KIND == CULL_GELU)
                v[i] = static_cast<R>(0.5) * v[i] *
                       (1 + error_function(v[i] * static_cast<R>(SQRT_HALF)));
            if (KIND == CULL_GELU_TANH)
                v[i] = static_cast<R>(0.5) * v[i] * (1 + hyperbolic_tangent(inside(v[i])));
            if (KIND == CULL_TANH) v[i] = hyperbolic_tangent(v[i]);
        }
        cull_write<T, W>(y + at, v);
    }
};

template <typename T, cull_activation KIND> struct activation_back {
    const T *seen, *dy;
    T       *dx;
    bool     accumulate;

    static __device__ __forceinline__ cull_real<T> slope(cull_real<T> v)
    {
        typedef cull_real<T> R;

        if (KIND == CULL_RELU) return v > 0;
        if (KIND == CULL_RELU6) return v > 0 && v < 6;
        if (KIND == CULL_TANH) return 1 - v * v;
        if (KIND == CULL_GELU_TANH) {
            cull_real<T> t = hyperbolic_tangent(inside(v));

            return static_cast<R>(0.5) * (1 + t) + static_cast<R>(0.5 * SQRT_TWO_BY_PI) * v *
                                                       (1 - t * t) *
                                                       (1 + static_cast<R>(3 * CUBIC) * v * v);
        }
        return static_cast<R>(0.5) * (1 + error_function(v * static_cast<R>(SQRT_HALF))) +
               v * static_cast<R>(INV_SQRT_TWO_PI) * exponential(static_cast<R>(-0.5) * v * v);
    }

    template <int W> __device__ void run(size_t at) const
    {
        cull_real<T> v[W], g[W], old[W];

        cull_read<T, W>(seen + at, v);
        cull_read<T, W>(dy + at, g);
        if (accumulate) cull_read<T, W>(dx + at, old);
        for (int i = 0; i < W; i++) g[i] = g[i] * slope(v[i]) + (accumulate ? old[i] : 0);
        cull_write<T, W>(dx + at, g);
    }
};

template <typename T> struct sum {
    const T *x, *x2;
    T       *y;

    template <int W> __device__ void run(size_t at) const
    {
        cull_real<T> a[W], b[W];

        cull_read<T, W>(x + at, a);
        cull_read<T, W>(x2 + at, b);
        for (int i = 0; i < W; i++) a[i] += b[i];
        cull_write<T, W>(y + at, a);
    }
};

template <typename T> struct share {
    const T *dy;
    T       *dx, *dx2;
    bool     accumulate, accumulate2;

    template <int W>
    static __device__ __forceinline__ void give(T *to, const cull_real<T> *g, bool more)
    {
        cull_real<T> old[W];

        if (more) cull_read<T, W>(to, old);
        for (int i = 0; i < W; i++) old[i] = g[i] + (more ? old[i] : 0);
        cull_write<T, W>(to, old);
    }

    template <int W> __device__ void run(size_t at) const
    {
        cull_real<T> g[W];

        cull_read<T, W>(dy + at, g);
        if (dx && dx == dx2 && accumulate2) {
            cull_real<T> twice[W];
            for (int i = 0; i < W; i++) twice[i] = 2 * g[i];
            give<W>(dx + at, twice, accumulate);
            return;
        }
        if (dx) give<W>(dx + at, g, accumulate);
        if (dx2) give<W>(dx2 + at, g, accumulate2);
    }
};

template <typename T, int W>
static cudaError_t activate(cudaStream_t stream, cull_activation kind, size_t count, const void *x,
                            void *y)
{
    const T *from = static_cast<const T *>(x);
    T       *to = static_cast<T *>(y);

    if (kind == CULL_RELU) return run_each<activation<T, CULL_RELU>, W>(stream, count, {from, to});
    if (kind == CULL_RELU6)
        return run_each<activation<T, CULL_RELU6>, W>(stream, count, {from, to});
    if (kind == CULL_GELU_TANH)
        return run_each<activation<T, CULL_GELU_TANH>, W>(stream, count, {from, to});
    if (kind == CULL_TANH) return run_each<activation<T, CULL_TANH>, W>(stream, count, {from, to});
    return run_each<activation<T, CULL_GELU>, W>(stream, count, {from, to});
}

template <typename T, int W>
static cudaError_t activate_back(cudaStream_t stream, cull_activation kind, size_t count,
                                 const void *seen, const void *dy, void *dx, bool accumulate)
{
    const T *v = static_cast<const T *>(seen), *g = static_cast<const T *>(dy);
    T       *to = static_cast<T *>(dx);

    if (kind == CULL_RELU)
        return run_each<activation_back<T, CULL_RELU>, W>(stream, count, {v, g, to, accumulate});
    if (kind == CULL_RELU6)
        return run_each<activation_back<T, CULL_RELU6>, W>(stream, count, {v, g, to, accumulate});
    if (kind == CULL_GELU_TANH)
        return run_each<activation_back<T, CULL_GELU_TANH>, W>(stream, count,
                                                               {v, g, to, accumulate});
    if (kind == CULL_TANH)
        return run_each<activation_back<T, CULL_TANH>, W>(stream, count, {v, g, to, accumulate});
    return run_each<activation_back<T, CULL_GELU>, W>(stream, count, {v, g, to, accumulate});
}

template <typename T, int W>
static cudaError_t add(cudaStream_t stream, size_t count, const void *x, const void *x2, void *y)
{
    return run_each<sum<T>, W>(
        stream, count,
        {static_cast<const T *>(x), static_cast<const T *>(x2), static_cast<T *>(y)});
}

template <typename T, int W>
static cudaError_t hand_back(cudaStream_t stream, size_t count, const void *dy, void *dx,
                             bool accumulate, void *dx2, bool accumulate2)
{
    return run_each<share<T>, W>(stream, count,
                                 {static_cast<const T *>(dy), static_cast<T *>(dx),
                                  static_cast<T *>(dx2), accumulate, accumulate2});
}

cudaError_t cull_cuda_point_activate(cudaStream_t stream, cull_dtype dtype, int width,
                                     cull_activation kind, size_t count, const void *x, void *y)
{
#define CALL(T, W) activate<T, W>(stream, kind, count, x, y)
    return CULL_BY_TYPE(dtype, width, CALL);
#undef CALL
}

cudaError_t cull_cuda_point_activate_back(cudaStream_t stream, cull_dtype dtype, int width,
                                          cull_activation kind, size_t count, const void *seen,
                                          const void *dy, void *dx, bool accumulate)
{
#define CALL(T, W) activate_back<T, W>(stream, kind, count, seen, dy, dx, accumulate)
    return CULL_BY_TYPE(dtype, width, CALL);
#undef CALL
}

cudaError_t cull_cuda_point_add(cudaStream_t stream, cull_dtype dtype, int width, size_t count,
                                const void *x, const void *x2, void *y)
{
#define CALL(T, W) add<T, W>(stream, count, x, x2, y)
    return CULL_BY_TYPE(dtype, width, CALL);
#undef CALL
}

cudaError_t cull_cuda_point_share(cudaStream_t stream, cull_dtype dtype, int width, size_t count,
                                  const void *dy, void *dx, bool accumulate, void *dx2,
                                  bool accumulate2)
{
#define CALL(T, W) hand_back<T, W>(stream, count, dy, dx, accumulate, dx2, accumulate2)
    return CULL_BY_TYPE(dtype, width, CALL);
#undef CALL
}
