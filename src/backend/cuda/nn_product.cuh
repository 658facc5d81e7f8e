/*
 * backend/cuda/nn_product.cuh - products of matrices that are not there: a block computes one tile
 *
 *     sum[m, n] = sum over k of a(m, k) b(n, k)          ROWS x COLUMNS, k in steps of STEP
 *
 * from elements that a "source" finds when it is asked, so that a convolution needs no unfolded
 * image. A source says:
 *
 *     A, B              types of the elements           BY_K_A, BY_K_B   k lies closest in memory
 *     Row, Column, Depth                                what it wants to know of m, of n and of k;
 *     row(m), column(n), depth(k)                       found once, kept in shared memory
 *     a(row, depth), b(column, depth)                   zero where there is nothing
 *     begin(z), first, last                             the range of k of block z
 *     store(m, n, count, sum)                           `count` <= WIDE sums from n on
 *
 * The elements of the next step are on their way from memory while this one is multiplied. Sums are
 * kept in registers: by fused multiply-add (fma_engine), or bfloat16 in the matrix units
 * (matrix_engine), 16 rows a warp.
 */
#ifndef CULL_BACKEND_CUDA_NN_PRODUCT_CUH
#define CULL_BACKEND_CUDA_NN_PRODUCT_CUH

#include "backend/cuda/device.cuh"

#ifndef CULL_EMU
#include <cuda_bf16.h>
#include <mma.h>
#endif

enum { PRODUCT_THREADS = 256, PRODUCT_WIDE = 8 };

static __device__ __forceinline__ void product_cell(float *to, float from) { *to = from; }
static __device__ __forceinline__ void product_cell(double *to, double from) { *to = from; }
static __device__ __forceinline__ void product_cell(float *to, cull_bf16 from)
{
    *to = cull_widen(from);
}
static __device__ __forceinline__ void product_cell(cull_bf16 *to, cull_bf16 from) { *to = from; }

/* Each thread 4 x 4 sums, of float or double. */
template <typename S> struct fma_engine {
    typedef S Cell;
    typedef S Sum;
    enum {
        ROWS = 64,
        COLUMNS = 64,
        STEP = 16,
        LINE = ROWS + 4, /* cells are (k, m) and (k, n) */
        A_CELLS = STEP * LINE,
        B_CELLS = STEP * LINE,
        PITCH = COLUMNS + 4
    };
    S sum[4][4];

    static __device__ __forceinline__ int a_at(int m, int k) { return k * LINE + m; }
    static __device__ __forceinline__ int b_at(int n, int k) { return k * LINE + n; }

    __device__ __forceinline__ void clear()
    {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sum[i][j] = 0;
    }

    __device__ __forceinline__ void multiply(const Cell *a, const Cell *b)
    {
        int m = static_cast<int>(threadIdx.x) / 16 * 4, n = static_cast<int>(threadIdx.x) % 16 * 4;

#pragma unroll
        for (int k = 0; k < STEP; k++) {
            S left[4], right[4];

#pragma unroll
            for (int i = 0; i < 4; i++) left[i] = a[k * LINE + m + i];
#pragma unroll
            for (int j = 0; j < 4; j++) right[j] = b[k * LINE + n + j];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += left[i] * right[j];
        }
    }

    __device__ __forceinline__ void leave(Sum *tile) const
    {
        int m = static_cast<int>(threadIdx.x) / 16 * 4, n = static_cast<int>(threadIdx.x) % 16 * 4;

        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) tile[(m + i) * PITCH + n + j] = sum[i][j];
    }
};

/* Each warp 16 x 64 sums, of bfloat16. Cells lie as they come from memory: k closest or not. */
template <bool BY_K_A, bool BY_K_B> struct matrix_engine {
    typedef cull_bf16 Cell;
    typedef float     Sum;
    enum {
        ROWS = 128,
        COLUMNS = 64,
        STEP = 32,
        A_LINE = BY_K_A ? STEP + 8 : ROWS + 8,
        B_LINE = BY_K_B ? STEP + 8 : COLUMNS + 8,
        A_CELLS = (BY_K_A ? ROWS : STEP) * A_LINE,
        B_CELLS = (BY_K_B ? COLUMNS : STEP) * B_LINE,
        PITCH = COLUMNS + 4
    };

    static __device__ __forceinline__ int a_at(int m, int k)
    {
        return BY_K_A ? m * A_LINE + k : k * A_LINE + m;
    }
    static __device__ __forceinline__ int b_at(int n, int k)
    {
        return BY_K_B ? n * B_LINE + k : k * B_LINE + n;
    }

#ifdef CULL_EMU
    float sum[32]; /* of a lane: every 32nd of its warp's 16 x 64 */

    void clear()
    {
        for (int i = 0; i < 32; i++) sum[i] = 0;
    }

    void multiply(const Cell *a, const Cell *b)
    {
        int lane = static_cast<int>(threadIdx.x) % 32, m = static_cast<int>(threadIdx.x) / 32 * 16;

        for (int i = 0; i < 32; i++) {
            int at = lane + 32 * i;

            for (int k = 0; k < STEP; k++)
                sum[i] += cull_widen(a[a_at(m + at / 64, k)]) * cull_widen(b[b_at(at % 64, k)]);
        }
    }

    void leave(Sum *tile) const
    {
        int lane = static_cast<int>(threadIdx.x) % 32, m = static_cast<int>(threadIdx.x) / 32 * 16;

        for (int i = 0; i < 32; i++) {
            int at = lane + 32 * i;
            tile[(m + at / 64) * PITCH + at % 64] = sum[i];
        }
    }
#else
    template <bool YES, typename X, typename Y> struct either {
        typedef X type;
    };
    template <typename X, typename Y> struct either<false, X, Y> {
        typedef Y type;
    };
    typedef typename either<BY_K_A, nvcuda::wmma::row_major, nvcuda::wmma::col_major>::type A_order;
    typedef typename either<BY_K_B, nvcuda::wmma::col_major, nvcuda::wmma::row_major>::type B_order;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum[4];

    __device__ __forceinline__ void clear()
    {
        for (int j = 0; j < 4; j++) nvcuda::wmma::fill_fragment(sum[j], 0.0f);
    }

    __device__ __forceinline__ void multiply(const Cell *a, const Cell *b)
    {
        const __nv_bfloat16 *left = reinterpret_cast<const __nv_bfloat16 *>(a);
        const __nv_bfloat16 *right = reinterpret_cast<const __nv_bfloat16 *>(b);
        int                  m = static_cast<int>(threadIdx.x) / 32 * 16;

#pragma unroll
        for (int k = 0; k < STEP; k += 16) {
            nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __nv_bfloat16, A_order> x;

            nvcuda::wmma::load_matrix_sync(x, left + a_at(m, k), A_LINE);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __nv_bfloat16, B_order>
                    y;

                nvcuda::wmma::load_matrix_sync(y, right + b_at(16 * j, k), B_LINE);
                nvcuda::wmma::mma_sync(sum[j], x, y, sum[j]);
            }
        }
    }

    __device__ __forceinline__ void leave(Sum *tile) const
    {
        int m = static_cast<int>(threadIdx.x) / 32 * 16;

        for (int j = 0; j < 4; j++)
            nvcuda::wmma::store_matrix_sync(tile + m * PITCH + 16 * j, sum[j], PITCH,
                                            nvcuda::wmma::mem_row_major);
    }
#endif
};

/* Which element of a step the i-th of thread t is: lanes run along what lies closest in memory. */
template <bool BY_K, int LINES, int STEP> struct product_share {
    enum { COUNT = LINES * STEP / PRODUCT_THREADS };

    static __device__ __forceinline__ int line(int t, int i)
    {
        return BY_K ? t / STEP + i * (PRODUCT_THREADS / STEP) : t % LINES;
    }
    static __device__ __forceinline__ int k(int t, int i)
    {
        return BY_K ? t % STEP : t / LINES + i * (PRODUCT_THREADS / LINES);
    }
};

template <typename Source>
__global__ void __launch_bounds__(PRODUCT_THREADS) product_kernel(Source source)
{
    typedef typename Source::Engine                                    E;
    typedef typename E::Cell                                           Cell;
    typedef typename E::Sum                                            Sum;
    typedef product_share<Source::BY_K_A, E::ROWS, E::STEP>            Left;
    typedef product_share<Source::BY_K_B, E::COLUMNS, E::STEP>         Right;
    enum {
        CELLS = (E::A_CELLS + E::B_CELLS) * sizeof(Cell),
        TILE = E::ROWS * E::PITCH * sizeof(Sum),
        BYTES = CELLS > TILE ? CELLS : TILE
    };
    __shared__ __align__(128) unsigned char memory[BYTES];
    __shared__ typename Source::Row         row[E::ROWS];
    __shared__ typename Source::Column      column[E::COLUMNS];
    __shared__ typename Source::Depth       depth[2][E::STEP];
    Cell              *a = reinterpret_cast<Cell *>(memory), *b = a + E::A_CELLS;
    Sum               *tile = reinterpret_cast<Sum *>(memory);
    typename Source::A left[Left::COUNT];
    typename Source::B right[Right::COUNT];
    E                  engine;
    int                t = static_cast<int>(threadIdx.x), odd = 0;
    int                m0 = static_cast<int>(blockIdx.x) * E::ROWS;
    int                n0 = static_cast<int>(blockIdx.y) * E::COLUMNS;

    source.begin(static_cast<int>(blockIdx.z));
    if (t < E::ROWS) row[t] = source.row(m0 + t);
    if (t < E::COLUMNS) column[t] = source.column(n0 + t);
    if (t < E::STEP) depth[0][t] = source.depth(source.first + t);
    engine.clear();
    __syncthreads();
    for (int i = 0; i < Left::COUNT; i++)
        left[i] = source.a(row[Left::line(t, i)], depth[0][Left::k(t, i)]);
    for (int i = 0; i < Right::COUNT; i++)
        right[i] = source.b(column[Right::line(t, i)], depth[0][Right::k(t, i)]);

    for (int k = source.first; k < source.last; k += E::STEP) {
        odd ^= 1;
        for (int i = 0; i < Left::COUNT; i++)
            product_cell(&a[E::a_at(Left::line(t, i), Left::k(t, i))], left[i]);
        for (int i = 0; i < Right::COUNT; i++)
            product_cell(&b[E::b_at(Right::line(t, i), Right::k(t, i))], right[i]);
        if (t < E::STEP) depth[odd][t] = source.depth(k + E::STEP + t);
        __syncthreads();
        if (k + E::STEP < source.last) {
#pragma unroll
            for (int i = 0; i < Left::COUNT; i++)
                left[i] = source.a(row[Left::line(t, i)], depth[odd][Left::k(t, i)]);
#pragma unroll
            for (int i = 0; i < Right::COUNT; i++)
                right[i] = source.b(column[Right::line(t, i)], depth[odd][Right::k(t, i)]);
        }
        engine.multiply(a, b);
        __syncthreads();
    }

    engine.leave(tile);
    __syncthreads();
    for (int i = t; i < E::ROWS * E::COLUMNS / PRODUCT_WIDE; i += PRODUCT_THREADS) {
        int m = i / (E::COLUMNS / PRODUCT_WIDE), n = i % (E::COLUMNS / PRODUCT_WIDE) * PRODUCT_WIDE;
        int count = source.columns - n0 - n;

        if (m0 + m >= source.rows || count <= 0) continue;
        source.store(m0 + m, n0 + n, count < PRODUCT_WIDE ? count : PRODUCT_WIDE,
                     tile + m * E::PITCH + n);
    }
}

template <typename Source>
static cudaError_t product_launch(cudaStream_t stream, const Source &source, int blocks_deep)
{
    typedef typename Source::Engine E;
    dim3 grid(cull_cuda_blocks(static_cast<size_t>(source.rows), E::ROWS),
              cull_cuda_blocks(static_cast<size_t>(source.columns), E::COLUMNS),
              static_cast<unsigned>(blocks_deep));

    return CULL_LAUNCH(product_kernel<Source>, grid, PRODUCT_THREADS, 0, stream, source);
}

#endif
