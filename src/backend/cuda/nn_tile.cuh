/*
 * backend/cuda/nn_tile.cuh - products of small matrices that a block has in shared memory, by warps
 * that have 16 rows each.
 *
 *     across   c[i, j] += sum over k of a[i, k] b[j, k]     16 columns j are rows of b, k < D
 *     along    c[i, j] += sum over k of p[i, k] b[k, j]     j < D; p: the 16 x 16 sums of an `across`
 *
 * Of 16 rows and 8 columns a lane has four sums, as the matrix units lay them out: rows lane / 4 and
 * 8 more, in each of them columns 2 (lane % 4) and the next. So what `across` leaves is what `along`
 * takes, in registers where values are bfloat16; others go through shared memory, and their products
 * are fused multiply-adds. Rows in shared memory are PITCH apart, so that neither way of reading
 * them has two lanes wait for one bank.
 */
#ifndef CULL_BACKEND_CUDA_NN_TILE_CUH
#define CULL_BACKEND_CUDA_NN_TILE_CUH

#include "backend/cuda/nn_vector.cuh"

enum { TILE_ROWS = 16, TILE_HALF = 8, TILE_PITCH = TILE_ROWS + 1, TILE_BYTES = 16 };

static __device__ __forceinline__ int tile_lane()
{
    return static_cast<int>(threadIdx.x) % CULL_WARP;
}

/* The first of a lane's rows, and of its columns. */
static __device__ __forceinline__ int tile_row() { return tile_lane() / 4; }
static __device__ __forceinline__ int tile_column() { return tile_lane() % 4 * 2; }

template <typename T, int D> struct tile {
    typedef cull_real<T> R;
    enum {
        WIDE = TILE_BYTES / static_cast<int>(sizeof(T)), /* values moved at once */
        PITCH = D + WIDE,
        PARTS = D / TILE_HALF, /* of `along`'s columns, four sums each         */
        ROOM = TILE_ROWS * TILE_PITCH * static_cast<int>(sizeof(R)) /* bytes of a warp */
    };

    /* The warp's rows: where they lie. */
    const T *left;

    __device__ __forceinline__ void take(const T *rows) { left = rows; }

    __device__ __forceinline__ void across(const T *b, R c[2][4]) const
    {
        const T *upper = left + tile_row() * PITCH, *lower = upper + TILE_HALF * PITCH;

        b += tile_column() * PITCH;
#pragma unroll 4
        for (int k = 0; k < D; k++) {
            R u = upper[k], l = lower[k];

            for (int j = 0; j < 2; j++) {
                R x = b[j * TILE_HALF * PITCH + k], y = b[(j * TILE_HALF + 1) * PITCH + k];

                c[j][0] = cull_fma(u, x, c[j][0]);
                c[j][1] = cull_fma(u, y, c[j][1]);
                c[j][2] = cull_fma(l, x, c[j][2]);
                c[j][3] = cull_fma(l, y, c[j][3]);
            }
        }
    }

    static __device__ __forceinline__ void along(const R p[2][4], const T *b, void *room,
                                                 R sum[PARTS][4])
    {
        R       *turned = static_cast<R *>(room);
        const R *upper = turned + tile_row() * TILE_PITCH;
        const R *lower = upper + TILE_HALF * TILE_PITCH;

        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 4; i++)
                turned[(tile_row() + i / 2 * TILE_HALF) * TILE_PITCH + j * TILE_HALF +
                       tile_column() + i % 2] = p[j][i];
        __syncwarp();
#pragma unroll 2
        for (int k = 0; k < TILE_ROWS; k++) {
            R u = upper[k], l = lower[k];

#pragma unroll
            for (int t = 0; t < PARTS; t++) {
                const T *at = b + k * PITCH + t * TILE_HALF + tile_column();

                sum[t][0] = cull_fma(u, at[0], sum[t][0]);
                sum[t][1] = cull_fma(u, at[1], sum[t][1]);
                sum[t][2] = cull_fma(l, at[0], sum[t][2]);
                sum[t][3] = cull_fma(l, at[1], sum[t][3]);
            }
        }
        __syncwarp();
    }
};

/* ---- bfloat16, in the matrix units ---- */

/* Two values side by side as one word, the first below. */
static __device__ __forceinline__ uint32_t tile_word(const cull_bf16 *at)
{
    return *reinterpret_cast<const uint32_t *>(at);
}

#ifdef CULL_EMU
static inline uint32_t tile_pack(float first, float second)
{
    return cull_narrow(first).bits | static_cast<uint32_t>(cull_narrow(second).bits) << 16;
}

static inline float tile_half(uint64_t words, int i)
{
    return cull_widen({static_cast<uint16_t>(words >> 16 * i)});
}

static inline uint64_t tile_both(uint32_t first, uint32_t second)
{
    return first | static_cast<uint64_t>(second) << 32;
}

/* What mma.m16n8k16 is said to do: of a's words the first two are columns 2 (lane % 4) and the next
 * of rows lane / 4 and 8 more, the last two 8 columns on; b's are rows 2 (lane % 4) and the next, and
 * 8 rows on, of column lane / 4. */
static inline void tile_multiply(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    uint64_t near = tile_both(a[0], a[1]), far = tile_both(a[2], a[3]), down = tile_both(b0, b1);

    for (int k = 0; k < 4; k++) {
        uint64_t rows[2], columns[2];

        rows[0] = __shfl_sync(CULL_ALL_LANES, near, tile_row() * 4 + k);
        rows[1] = __shfl_sync(CULL_ALL_LANES, far, tile_row() * 4 + k);
        for (int j = 0; j < 2; j++)
            columns[j] = __shfl_sync(CULL_ALL_LANES, down, (tile_column() + j) * 4 + k);
        for (int i = 0; i < 4; i++)
            for (int part = 0; part < 2; part++)
                for (int half = 0; half < 2; half++)
                    c[i] += tile_half(rows[part], i / 2 * 2 + half) *
                            tile_half(columns[i % 2], part * 2 + half);
    }
}

/* What ldmatrix.x4.trans is said to do: lanes 8 m to 8 m + 7 name the rows of matrix m, of which
 * each lane gets rows 2 (lane % 4) and the next of column lane / 4. */
static inline void tile_turned(const cull_bf16 *row, uint32_t out[4])
{
    for (int m = 0; m < 4; m++) {
        uint32_t word = 0;

        for (int i = 0; i < 2; i++) {
            const cull_bf16 *from = __shfl_sync(CULL_ALL_LANES, row, 8 * m + tile_column() + i);

            word |= static_cast<uint32_t>(from[tile_row()].bits) << 16 * i;
        }
        out[m] = word;
    }
}
#else
static __device__ __forceinline__ uint32_t tile_pack(float first, float second)
{
    uint32_t word;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}

static __device__ __forceinline__ void tile_multiply(float c[4], const uint32_t a[4], uint32_t b0,
                                                     uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void tile_turned(const cull_bf16 *row, uint32_t out[4])
{
    uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(row));

    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(at)
                 : "memory");
}
#endif

template <int D> struct tile<cull_bf16, D> {
    typedef float R;
    enum {
        WIDE = TILE_BYTES / static_cast<int>(sizeof(cull_bf16)),
        PITCH = D + WIDE,
        PARTS = D / TILE_HALF,
        STEPS = D / TILE_ROWS,
        ROOM = 0
    };

    uint32_t left[STEPS][4];

    __device__ __forceinline__ void take(const cull_bf16 *rows)
    {
        const cull_bf16 *at = rows + tile_row() * PITCH + tile_column();

#pragma unroll
        for (int s = 0; s < STEPS; s++)
            for (int i = 0; i < 4; i++)
                left[s][i] = tile_word(at + i % 2 * TILE_HALF * PITCH + s * TILE_ROWS +
                                       i / 2 * TILE_HALF);
    }

    __device__ __forceinline__ void across(const cull_bf16 *b, float c[2][4]) const
    {
        const cull_bf16 *at = b + tile_row() * PITCH + tile_column();

#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const cull_bf16 *k = at + j * TILE_HALF * PITCH + s * TILE_ROWS;

                tile_multiply(c[j], left[s], tile_word(k), tile_word(k + TILE_HALF));
            }
    }

    static __device__ __forceinline__ void along(const float p[2][4], const cull_bf16 *b, void *,
                                                 float sum[PARTS][4])
    {
        uint32_t         a[4], turned[4];
        int              lane = tile_lane();
        const cull_bf16 *at = b + lane % TILE_ROWS * PITCH + lane / TILE_ROWS * TILE_HALF;

        for (int i = 0; i < 4; i++) a[i] = tile_pack(p[i / 2][i % 2 * 2], p[i / 2][i % 2 * 2 + 1]);
#pragma unroll
        for (int t = 0; t < PARTS; t += 2) {
            tile_turned(at + t * TILE_HALF, turned);
            tile_multiply(sum[t], a, turned[0], turned[1]);
            tile_multiply(sum[t + 1], a, turned[2], turned[3]);
        }
    }
};

#endif
