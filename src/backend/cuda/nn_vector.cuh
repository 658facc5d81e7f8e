/*
 * backend/cuda/nn_vector.cuh - values of layers, as many at once as a thread can move.
 *
 * Arithmetic is float32 for bfloat16 and float32 values, float64 for float64.
 */
#ifndef CULL_BACKEND_CUDA_NN_VECTOR_CUH
#define CULL_BACKEND_CUDA_NN_VECTOR_CUH

#include <math.h>

#include "backend/cuda/device.cuh"

/* Before a loop of few, fixed turns whose arrays are to stay in registers. */
#ifdef CULL_EMU
#define CULL_UNROLL
#else
#define CULL_UNROLL _Pragma("unroll")
#endif

/* What values of type T are computed in. */
template <typename T> struct cull_numbers {
    typedef float real;
};
template <> struct cull_numbers<double> {
    typedef double real;
};
template <typename T> using cull_real = typename cull_numbers<T>::real;

/* W values side by side. */
template <typename T, int W> struct alignas(sizeof(T) * W) cull_pack {
    T v[W];
};

#ifndef CULL_EMU
/* Two to a word: the upper half is a float already, the lower is one shift away. */
template <> struct alignas(16) cull_pack<cull_bf16, 8> {
    uint32_t word[4];
};
#endif

template <typename T, int W>
static __device__ __forceinline__ cull_pack<T, W> cull_fetch(const T *from)
{
    return *reinterpret_cast<const cull_pack<T, W> *>(from);
}

template <typename T, int W>
static __device__ __forceinline__ void cull_put(T *to, const cull_pack<T, W> &x)
{
    *reinterpret_cast<cull_pack<T, W> *>(to) = x;
}

/* The line of memory that this is in comes nearer; nobody waits. */
static __device__ __forceinline__ void cull_bring_near(const void *at)
{
#ifndef CULL_EMU
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
    (void)at;
#endif
}

template <typename T, int W>
static __device__ __forceinline__ void cull_open(const cull_pack<T, W> &x, cull_real<T> *out)
{
    for (int i = 0; i < W; i++) out[i] = cull_load(x.v, static_cast<size_t>(i));
}

template <typename T, int W>
static __device__ __forceinline__ cull_pack<T, W> cull_close(const cull_real<T> *x)
{
    cull_pack<T, W> out;

    for (int i = 0; i < W; i++) cull_store(out.v, static_cast<size_t>(i), x[i]);
    return out;
}

#ifndef CULL_EMU
template <>
__device__ __forceinline__ void cull_open<cull_bf16, 8>(const cull_pack<cull_bf16, 8> &x,
                                                        float                         *out)
{
    for (int i = 0; i < 4; i++) {
        out[2 * i] = __uint_as_float(x.word[i] << 16);
        out[2 * i + 1] = __uint_as_float(x.word[i] & 0xffff0000u);
    }
}

template <>
__device__ __forceinline__ cull_pack<cull_bf16, 8> cull_close<cull_bf16, 8>(const float *x)
{
    cull_pack<cull_bf16, 8> out;

    for (int i = 0; i < 4; i++)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
            : "=r"(out.word[i])
            : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    return out;
}
#endif

/* Straight from memory to numbers, and back. */
template <typename T, int W>
static __device__ __forceinline__ void cull_read(const T *from, cull_real<T> *out)
{
    cull_open<T, W>(cull_fetch<T, W>(from), out);
}

template <typename T, int W>
static __device__ __forceinline__ void cull_write(T *to, const cull_real<T> *x)
{
    cull_put<T, W>(to, cull_close<T, W>(x));
}

/* W numbers beside W values, 16 bytes at once where W is more than one. */
template <typename R, int W> struct cull_piece {
    enum { EACH = W * sizeof(R) < 16 ? W : 16 / sizeof(R) };
};

template <typename R, int W>
static __device__ __forceinline__ void cull_read_wide(const R *from, cull_real<R> *out)
{
    enum { EACH = cull_piece<R, W>::EACH };

    CULL_UNROLL
    for (int i = 0; i < W; i += EACH) cull_read<R, EACH>(from + i, out + i);
}

template <typename R, int W>
static __device__ __forceinline__ void cull_write_wide(R *to, const R *x)
{
    enum { EACH = cull_piece<R, W>::EACH };

    CULL_UNROLL
    for (int i = 0; i < W; i += EACH) cull_write<R, EACH>(to + i, x + i);
}

/* One rounding, wherever it is computed. */
static __device__ __forceinline__ float cull_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static __device__ __forceinline__ double cull_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

/* A launch for values of a type, moved W at once or one by one: `call` of T and W. */
#define CULL_BY_TYPE(dtype, width, call)                                                           \
    ((dtype) == CULL_BF16  ? (width) > 1 ? call(cull_bf16, 8) : call(cull_bf16, 1)                 \
     : (dtype) == CULL_F32 ? (width) > 1 ? call(float, 4) : call(float, 1)                         \
     : (width) > 1         ? call(double, 2)                                                       \
                           : call(double, 1))

#endif
