/*
 * backend/cuda/pool_rows.cuh - inner products of 32 atoms' rows with one vector, by a warp, and
 * with themselves.
 *
 * The lanes go along a row, so that it is read in order, eight rows at a time; then their sums are
 * added up in the same tree for every row. An inner product depends on the two rows alone and not
 * on which is which: K is symmetric, and an atom's column at an equal atom is its own diagonal.
 */
#ifndef CULL_BACKEND_CUDA_POOL_ROWS_CUH
#define CULL_BACKEND_CUDA_POOL_ROWS_CUH

#include "backend/cuda/rows.cuh"

enum {
    CULL_POOL_ROWS = 8,     /* rows that are read together                     */
    CULL_POOL_PIECE = 1024, /* numbers of a vector that a block holds at a time */
    CULL_POOL_SELF = 1      /* a row with itself                                */
};

/* W numbers side by side as doubles: as many as lie in 16 bytes, or one. */
template <typename T, int W> struct cull_pool_wide;

template <typename T> struct cull_pool_wide<T, 1> {
    static __device__ __forceinline__ void get(const T *x, double *out)
    {
        out[0] = cull_load(x, 0);
    }
};

template <> struct cull_pool_wide<float, 4> {
    static __device__ __forceinline__ void get(const float *x, double *out)
    {
        float4 four = *reinterpret_cast<const float4 *>(x);

        out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    }
};

template <> struct cull_pool_wide<double, 2> {
    static __device__ __forceinline__ void get(const double *x, double *out)
    {
        double2 two = *reinterpret_cast<const double2 *>(x);

        out[0] = two.x, out[1] = two.y;
    }
};

template <> struct cull_pool_wide<cull_bf16, 4> {
    static __device__ __forceinline__ void get(const cull_bf16 *x, double *out)
    {
        uint2 four = *reinterpret_cast<const uint2 *>(x);

        for (int i = 0; i < 4; i++) {
            cull_bf16 one = {static_cast<uint16_t>((i < 2 ? four.x : four.y) >> i % 2 * 16)};
            out[i] = cull_widen(one);
        }
    }
};

/* Eight sums a lane become one: that of row `lane / 4` over all lanes. */
static __device__ __forceinline__ double cull_pool_fold(const double sum[CULL_POOL_ROWS],
                                                        unsigned lane)
{
    double four[4], two[2], one;

    for (int i = 0; i < 4; i++) {
        double mine = lane & 16 ? sum[i + 4] : sum[i], other = lane & 16 ? sum[i] : sum[i + 4];
        four[i] = mine + __shfl_xor_sync(CULL_ALL_LANES, other, 16);
    }
    for (int i = 0; i < 2; i++) {
        double mine = lane & 8 ? four[i + 2] : four[i], other = lane & 8 ? four[i] : four[i + 2];
        two[i] = mine + __shfl_xor_sync(CULL_ALL_LANES, other, 8);
    }
    one = lane & 4 ? two[1] : two[0];
    one += __shfl_xor_sync(CULL_ALL_LANES, lane & 4 ? two[0] : two[1], 4);
    one += __shfl_xor_sync(CULL_ALL_LANES, one, 2);
    return one + __shfl_xor_sync(CULL_ALL_LANES, one, 1);
}

/*
 * The warp's 32 rows (lane i says which is row i; repeats are fine) times x, `count` numbers from
 * column `first` on: lane i's of row i. x is shared memory; with MODE CULL_POOL_SELF each row is
 * multiplied with itself.
 */
template <typename T, int W, int MODE>
static __device__ double cull_pool_dots(const cull_cuda_rows &rows, uint32_t row, unsigned first,
                                        unsigned count, const double *x)
{
    const T *data = static_cast<const T *>(rows.data) + first;
    unsigned lane = threadIdx.x % CULL_WARP;
    double   mine = 0;

    for (unsigned group = 0; group < CULL_WARP; group += CULL_POOL_ROWS) {
        double   sum[CULL_POOL_ROWS];
        const T *at[CULL_POOL_ROWS];

        for (int r = 0; r < CULL_POOL_ROWS; r++) {
            sum[r] = 0;
            at[r] = data + __shfl_sync(CULL_ALL_LANES, row, group + r) * rows.ld;
        }
        for (unsigned i = lane * W; i < count; i += CULL_WARP * W) {
            double own[W], other[W];

            if (MODE != CULL_POOL_SELF)
                for (int k = 0; k < W; k++) other[k] = x[i + k];
#pragma unroll
            for (int r = 0; r < CULL_POOL_ROWS; r++) {
                cull_pool_wide<T, W>::get(at[r] + i, own);
                for (int k = 0; k < W; k++)
                    sum[r] += own[k] * (MODE == CULL_POOL_SELF ? own[k] : other[k]);
            }
        }
        double folded = cull_pool_fold(sum, lane);
        double here = __shfl_sync(CULL_ALL_LANES, folded, lane % CULL_POOL_ROWS * 4);
        if (lane / CULL_POOL_ROWS == group / CULL_POOL_ROWS) mine = here;
    }
    return mine;
}

/* Do rows lie so that W of them can be read at once? One answer for all kernels. */
static __device__ __forceinline__ bool cull_pool_wide_enough(const cull_cuda_rows &rows)
{
    size_t size = rows.dtype == CULL_F64 ? 8 : rows.dtype == CULL_F32 ? 4 : 2;
    size_t wide = rows.dtype == CULL_F64 ? 2 : 4;

    return rows.ld % wide == 0 && rows.width % wide == 0 &&
           reinterpret_cast<size_t>(rows.data) % (size * wide) == 0;
}

template <int MODE>
static __device__ double cull_pool_dots_any(const cull_cuda_rows &rows, uint32_t row,
                                            unsigned first, unsigned count, const double *x)
{
    bool wide = cull_pool_wide_enough(rows);

    if (rows.dtype == CULL_F32)
        return wide ? cull_pool_dots<float, 4, MODE>(rows, row, first, count, x)
                    : cull_pool_dots<float, 1, MODE>(rows, row, first, count, x);
    if (rows.dtype == CULL_F64)
        return wide ? cull_pool_dots<double, 2, MODE>(rows, row, first, count, x)
                    : cull_pool_dots<double, 1, MODE>(rows, row, first, count, x);
    return wide ? cull_pool_dots<cull_bf16, 4, MODE>(rows, row, first, count, x)
                : cull_pool_dots<cull_bf16, 1, MODE>(rows, row, first, count, x);
}

/* Where a vector comes from: a row of a matrix, or an array. */
struct cull_pool_row {
    const cull_cuda_rows &rows;
    size_t                row;
    __device__ double     operator()(size_t i) const { return cull_rows_at(rows, row, i); }
};

struct cull_pool_array {
    const double     *data;
    __device__ double operator()(size_t i) const { return data[i]; }
};

/* Whole rows times x, which the whole block brings to `piece` (shared, CULL_POOL_PIECE); a warp
 * that is not `live` only helps. */
template <typename From>
static __device__ double cull_pool_apply(const cull_cuda_rows &rows, uint32_t row, bool live,
                                         const From &x, double *piece)
{
    double sum = 0;

    for (unsigned first = 0; first < rows.width; first += CULL_POOL_PIECE) {
        unsigned left = rows.width - first, count = left < CULL_POOL_PIECE ? left : CULL_POOL_PIECE;

        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x) piece[i] = x(first + i);
        __syncthreads();
        if (live) sum += cull_pool_dots_any<0>(rows, row, first, count, piece);
    }
    return sum;
}

/* Whole rows times themselves. */
static __device__ double cull_pool_square(const cull_cuda_rows &rows, uint32_t row)
{
    double sum = 0;

    for (unsigned first = 0; first < rows.width; first += CULL_POOL_PIECE) {
        unsigned left = rows.width - first, count = left < CULL_POOL_PIECE ? left : CULL_POOL_PIECE;

        sum += cull_pool_dots_any<CULL_POOL_SELF>(rows, row, first, count, nullptr);
    }
    return sum;
}

#endif
