/*
 * backend/cuda/nn_attention.cu - attention without its weights in memory: a block has 64 queries of
 * one head, or on the way back 64 keys, and goes through the keys, or the queries, tile by tile.
 *
 *     s_qk = q k scale     L_q = log sum_k exp s_qk     p_qk = exp(s_qk - L_q)     to base two
 *     y_q  = sum_k m_qk p_qk v_k             the largest s so far is taken out of sums as they grow
 *
 *     g_qk = dy_q v_k     D_q = dy_q y_q     ds_qk = p_qk (m_qk g_qk - D_q) scale
 *     dq_q = sum_k ds_qk k_k                 queries as rows, keys as columns
 *     dk_k = sum_q ds_qk q_q    dv_k = sum_q m_qk p_qk dy_q           and the other way about
 *
 * Weights are made anew on the way back, in both orders: nothing is added up by several blocks, so
 * that all sums have one order. Sums are float32 (float64 for float64); bfloat16 weights and slopes
 * are rounded to it before they are multiplied. Tiles of padding alone are passed over.
 */
#include "backend/cuda/nn_attention.h"

#include <math.h>

#include "backend/cuda/nn_tile.cuh"
#include "base/philox.h"

enum { WARPS = 4, THREADS = WARPS * CULL_WARP, ROWS = WARPS * TILE_ROWS };

/* What a block of T with room for D features takes: columns at a time, and shared memory. */
template <typename T, int D> struct shape {
    typedef tile<T, D> Tile;
    enum {
        COLUMNS = ROWS * 2 / static_cast<int>(sizeof(T)),
        CHUNKS = COLUMNS / TILE_ROWS,
        ROW = Tile::PITCH * static_cast<int>(sizeof(T)),
        FORWARD = (ROWS + 2 * COLUMNS) * ROW + WARPS * Tile::ROOM,
        BACK = 2 * (ROWS + COLUMNS) * ROW + WARPS * Tile::ROOM
    };
};

static __device__ __forceinline__ float  power(float x) { return exp2f(x); }
static __device__ __forceinline__ double power(double x) { return exp2(x); }
static __device__ __forceinline__ float  logarithm(float x) { return log2f(x); }
static __device__ __forceinline__ double logarithm(double x) { return log2(x); }

/* One head of one example, and this block's first row. */
template <typename T> struct head {
    const cull_attention_call &a;
    int                        n, h, first, own, all; /* elements between rows of y and of x */
    size_t                     y, x, row;             /* of position 0: in y, in x, in state */
    const int32_t             *token;

    __device__ __forceinline__ head(const cull_attention_call &call)
        : a(call), n(static_cast<int>(blockIdx.x) / call.heads),
          h(static_cast<int>(blockIdx.x) % call.heads), first(static_cast<int>(blockIdx.y) * ROWS),
          own(call.heads * call.width), all(3 * call.heads * call.width)
    {
        size_t before = static_cast<size_t>(n) * static_cast<size_t>(a.length);
        size_t at = static_cast<size_t>(h * a.width);

        y = before * static_cast<size_t>(own) + at;
        x = before * static_cast<size_t>(all) + at;
        row = static_cast<size_t>(blockIdx.x) * static_cast<size_t>(a.length);
        token = a.token + before;
    }

    /* Queries, keys and values (0, 1, 2) of all positions. */
    __device__ __forceinline__ const T *part(int which) const
    {
        return static_cast<const T *>(a.x) + x + which * own;
    }
    __device__ __forceinline__ const T *dy() const { return static_cast<const T *>(a.dy) + y; }

    __device__ __forceinline__ bool is_there(int position) const
    {
        return position < a.length && token[position] >= 0;
    }
};

/* Are there tokens in a tile? All threads ask, behind whatever they did with the last one. */
template <typename T>
static __device__ __forceinline__ bool any_there(const head<T> &w, int from, int count)
{
    int t = static_cast<int>(threadIdx.x);

    return __syncthreads_or(t < count && w.is_there(from + t)) != 0;
}

/* `count` rows from a position on into shared memory, zero where nothing is. */
template <typename T, int D>
static __device__ __forceinline__ void bring(const head<T> &w, const T *from, int apart, int first,
                                             int count, T *to)
{
    enum { WIDE = tile<T, D>::WIDE, EACH = D / WIDE, PITCH = tile<T, D>::PITCH };
    const cull_real<T> nothing = 0;

    for (int i = static_cast<int>(threadIdx.x); i < count * EACH; i += THREADS) {
        int      row = i / EACH, at = i % EACH * WIDE, left = w.a.width - at;
        const T *source = from + static_cast<size_t>(first + row) * static_cast<size_t>(apart) + at;
        T       *cell = to + row * PITCH + at;

        if (first + row >= w.a.length) left = 0;
        if (w.a.whole && left >= WIDE) {
            cull_put<T, WIDE>(cell, cull_fetch<T, WIDE>(source));
            continue;
        }
        for (int v = 0; v < WIDE; v++)
            cull_store(cell, static_cast<size_t>(v),
                       v < left ? cull_load(source, static_cast<size_t>(v)) : nothing);
    }
}

/* ---- what is dropped ---- */

static __device__ __forceinline__ uint32_t pick(const uint32_t w[4], int i)
{
    return i & 2 ? (i & 1 ? w[3] : w[2]) : (i & 1 ? w[1] : w[0]);
}

/* The words of keys 4 g to 4 g + 3 for a query. */
template <typename T>
static __device__ __forceinline__ void draw(const head<T> &w, int query, int group, uint32_t out[4])
{
    const cull_attention_call &a = w.a;
    uint64_t                   step = a.now ? a.now->step : a.step;
    uint32_t                   line = static_cast<uint32_t>(w.h * a.most + query);
    const uint32_t counter[4] = {line * static_cast<uint32_t>(a.most / 4) + static_cast<uint32_t>(group),
                                 a.place ? a.place[w.n] : static_cast<uint32_t>(w.n),
                                 static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)};

    cull_philox(a.key, counter, out);
}

/* Queries are rows: of two lanes beside each other, which have four keys of two queries, each draws
 * for one query, and gives the other its half. */
template <typename T>
static __device__ __forceinline__ void draw_rows(const head<T> &w, int query, int key,
                                                 uint32_t out[4])
{
    int      odd = tile_lane() & 1;
    uint32_t word[4], other[2];

    draw(w, query + odd * TILE_HALF, key / 4, word);
    for (int i = 0; i < 2; i++)
        other[i] = __shfl_xor_sync(CULL_ALL_LANES, odd ? word[i] : word[2 + i], 1);
    for (int i = 0; i < 2; i++) {
        out[i] = odd ? other[i] : word[i];
        out[2 + i] = odd ? word[2 + i] : other[i];
    }
}

/* Keys are rows: four lanes have the four keys of a draw, for two queries and again 8 keys on, and
 * each draws one of the four. */
template <typename T>
static __device__ __forceinline__ void draw_columns(const head<T> &w, int key, int query,
                                                    uint32_t out[4])
{
    int      mine = tile_row() % 4;
    uint32_t word[4], got[4];

    draw(w, query + mine % 2, (key + mine / 2 * TILE_HALF) / 4, word);
#pragma unroll
    for (int s = 0; s < 4; s++)
        got[s] = __shfl_xor_sync(CULL_ALL_LANES, pick(word, mine ^ s), 4 * s);
    for (int i = 0; i < 4; i++) out[i] = pick(got, mine ^ i);
}

/* What the four sums of a lane from (row, column) on are multiplied by. */
template <bool TURNED, typename T>
static __device__ __forceinline__ void mask(const head<T> &w, int row, int column,
                                            cull_real<T> out[4])
{
    uint32_t word[4];

    if (w.a.threshold == 0) {
        for (int i = 0; i < 4; i++) out[i] = 1;
        return;
    }
    if (TURNED)
        draw_columns(w, row, column, word);
    else
        draw_rows(w, row, column, word);
    for (int i = 0; i < 4; i++)
        out[i] = word[i] >= w.a.threshold ? static_cast<cull_real<T>>(w.a.kept) : 0;
}

/* ---- rows of a lane ---- */

/* Both sums of a row go to where they lie. `there`: else they are zero. */
template <typename T, int PARTS, typename R>
static __device__ __forceinline__ void leave(const R sum[PARTS][4], int half, R times, bool there,
                                             bool adds, int width, T *to)
{
#pragma unroll
    for (int t = 0; t < PARTS; t++)
        for (int i = 0; i < 2; i++) {
            int c = t * TILE_HALF + tile_column() + i;
            R   value = there ? sum[t][2 * half + i] * times : 0;

            if (c >= width) continue;
            if (adds) value += cull_load(to, static_cast<size_t>(c));
            cull_store(to, static_cast<size_t>(c), value);
        }
}

/* Over the four lanes that have a row. */
template <typename R> static __device__ __forceinline__ R largest_of(R x)
{
    for (int s = 1; s < 4; s *= 2) {
        R other = __shfl_xor_sync(CULL_ALL_LANES, x, s);

        if (other > x) x = other;
    }
    return x;
}

template <typename R> static __device__ __forceinline__ R sum_of(R x)
{
    for (int s = 1; s < 4; s *= 2) x += __shfl_xor_sync(CULL_ALL_LANES, x, s);
    return x;
}

/* ---- forward ---- */

template <typename T, int D> struct forward_rows {
    typedef cull_real<T>   R;
    typedef shape<T, D>    Shape;
    typedef tile<T, D>     Tile;
    enum { CHUNKS = Shape::CHUNKS };

    R most[2], sum[2], y[Tile::PARTS][4];

    __device__ __forceinline__ void clear()
    {
        for (int i = 0; i < 2; i++) most[i] = -static_cast<R>(INFINITY), sum[i] = 0;
#pragma unroll
        for (int t = 0; t < Tile::PARTS; t++)
            for (int i = 0; i < 4; i++) y[t][i] = 0;
    }

    /* Scores become weights against the largest so far, which all sums follow. */
    __device__ __forceinline__ void weigh(R s[CHUNKS][2][4])
    {
        for (int half = 0; half < 2; half++) {
            R now = most[half], base = 0, factor = 0;

#pragma unroll
            for (int k = 0; k < CHUNKS * 4; k++) {
                R x = s[k / 4][k / 2 % 2][2 * half + k % 2];

                if (x > now) now = x;
            }
            now = largest_of(now);
            base = now == -static_cast<R>(INFINITY) ? 0 : now;
            factor = power(most[half] - base);
            most[half] = now;
            sum[half] *= factor;
#pragma unroll
            for (int k = 0; k < CHUNKS * 4; k++) {
                R &x = s[k / 4][k / 2 % 2][2 * half + k % 2];

                x = power(x - base);
                sum[half] += x;
            }
#pragma unroll
            for (int t = 0; t < Tile::PARTS; t++)
                for (int i = 0; i < 2; i++) y[t][2 * half + i] *= factor;
        }
    }
};

template <typename T, int D>
static __global__ void __launch_bounds__(THREADS)
    attention_kernel(const __grid_constant__ cull_attention_call a)
{
    typedef cull_real<T> R;
    typedef shape<T, D>  Shape;
    typedef tile<T, D>   Tile;
    enum { COLUMNS = Shape::COLUMNS, CHUNKS = Shape::CHUNKS, PITCH = Tile::PITCH };

    CULL_SHARED(T, shared);
    T                 *q = shared, *k = q + ROWS * PITCH, *v = k + COLUMNS * PITCH;
    int                warp = static_cast<int>(threadIdx.x) / CULL_WARP;
    char              *room = reinterpret_cast<char *>(v + COLUMNS * PITCH) + warp * Tile::ROOM;
    head<T>            w(a);
    int                row = w.first + warp * TILE_ROWS + tile_row();
    R                  scale = static_cast<R>(a.scale * M_LOG2E);
    Tile               queries;
    forward_rows<T, D> rows;

    bring<T, D>(w, w.part(0), w.all, w.first, ROWS, q);
    __syncthreads();
    queries.take(q + warp * TILE_ROWS * PITCH);
    rows.clear();
    for (int from = 0; from < a.length; from += COLUMNS) {
        R s[CHUNKS][2][4];

        if (!any_there(w, from, COLUMNS)) continue;
        bring<T, D>(w, w.part(1), w.all, from, COLUMNS, k);
        bring<T, D>(w, w.part(2), w.all, from, COLUMNS, v);
        __syncthreads();
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 4; i++) s[c][j][i] = 0;
            queries.across(k + c * TILE_ROWS * PITCH, s[c]);
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 4; i++) {
                    int key = from + c * TILE_ROWS + j * TILE_HALF + tile_column() + i % 2;

                    s[c][j][i] = w.is_there(key) ? s[c][j][i] * scale : -static_cast<R>(INFINITY);
                }
        }
        rows.weigh(s);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            for (int j = 0; j < 2; j++) {
                R m[4];

                mask<false>(w, row, from + c * TILE_ROWS + j * TILE_HALF + tile_column(), m);
                for (int i = 0; i < 4; i++) s[c][j][i] *= m[i];
            }
            Tile::along(s[c], v + c * TILE_ROWS * PITCH, room, rows.y);
        }
    }

    for (int half = 0; half < 2; half++) {
        int  position = row + half * TILE_HALF;
        bool there = w.is_there(position);
        R    sum = sum_of(rows.sum[half]);

        if (position >= a.length) continue;
        leave<T, Tile::PARTS>(rows.y, half, 1 / sum, there, false, a.width,
                              static_cast<T *>(a.y) + w.y +
                                  static_cast<size_t>(position) * static_cast<size_t>(w.own));
        if (a.state && tile_column() == 0)
            static_cast<R *>(a.state)[w.row + static_cast<size_t>(position)] =
                there ? rows.most[half] + logarithm(sum) : 0;
    }
}

/* ---- backward ---- */

/* D_q, of all heads: a thread has one. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    slope_kernel(const __grid_constant__ cull_attention_call a)
{
    typedef cull_real<T> R;
    size_t heads = static_cast<size_t>(a.heads), length = static_cast<size_t>(a.length);
    size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
    size_t row = i / heads, width = static_cast<size_t>(a.width);
    R      sum = 0;

    if (i >= static_cast<size_t>(a.n) * length * heads) return;
    const T *dy = static_cast<const T *>(a.dy) + i * width;
    const T *y = static_cast<const T *>(a.y) + i * width;

    for (size_t c = 0; c < width; c++) sum = cull_fma(cull_load(dy, c), cull_load(y, c), sum);
    static_cast<R *>(a.slope)[(row / length * heads + i % heads) * length + row % length] = sum;
}

/* What is known of a query. */
template <typename R> struct query_facts {
    R    level, slope;
    bool there;
};

template <typename T>
static __device__ __forceinline__ query_facts<cull_real<T>> facts_of(const head<T> &w, int query)
{
    typedef cull_real<T>  R;
    query_facts<R>        f = {0, 0, w.is_there(query)};

    if (f.there) {
        f.level = static_cast<const R *>(w.a.state)[w.row + static_cast<size_t>(query)];
        f.slope = static_cast<const R *>(w.a.slope)[w.row + static_cast<size_t>(query)];
    }
    return f;
}

/* s and g of a query and a key become m p and ds. */
template <typename R>
static __device__ __forceinline__ void turn(const query_facts<R> &query, bool key, R scale,
                                            double plain, R m, R &s, R &g)
{
    R p = query.there && key ? power(s * scale - query.level) : 0;

    s = m * p;
    g = p * (m * g - query.slope) * static_cast<R>(plain);
}

template <typename T, int D>
static __global__ void __launch_bounds__(THREADS)
    queries_back_kernel(const __grid_constant__ cull_attention_call a)
{
    typedef cull_real<T> R;
    typedef shape<T, D>  Shape;
    typedef tile<T, D>   Tile;
    enum { COLUMNS = Shape::COLUMNS, CHUNKS = Shape::CHUNKS, PITCH = Tile::PITCH };

    CULL_SHARED(T, shared);
    T             *q = shared, *dy = q + ROWS * PITCH, *k = dy + ROWS * PITCH;
    T             *v = k + COLUMNS * PITCH;
    int            warp = static_cast<int>(threadIdx.x) / CULL_WARP;
    char          *room = reinterpret_cast<char *>(v + COLUMNS * PITCH) + warp * Tile::ROOM;
    head<T>        w(a);
    int            row = w.first + warp * TILE_ROWS + tile_row();
    R              scale = static_cast<R>(a.scale * M_LOG2E), dq[Tile::PARTS][4];
    Tile           queries, slopes;
    query_facts<R> facts[2] = {facts_of(w, row), facts_of(w, row + TILE_HALF)};

    bring<T, D>(w, w.part(0), w.all, w.first, ROWS, q);
    bring<T, D>(w, w.dy(), w.own, w.first, ROWS, dy);
    __syncthreads();
    queries.take(q + warp * TILE_ROWS * PITCH);
    slopes.take(dy + warp * TILE_ROWS * PITCH);
#pragma unroll
    for (int t = 0; t < Tile::PARTS; t++)
        for (int i = 0; i < 4; i++) dq[t][i] = 0;
    for (int from = 0; from < a.length; from += COLUMNS) {
        if (!any_there(w, from, COLUMNS)) continue;
        bring<T, D>(w, w.part(1), w.all, from, COLUMNS, k);
        bring<T, D>(w, w.part(2), w.all, from, COLUMNS, v);
        __syncthreads();
        for (int c = 0; c < CHUNKS; c++) {
            const T *keys = k + c * TILE_ROWS * PITCH;
            R        s[2][4] = {}, g[2][4] = {}, m[4];

            queries.across(keys, s);
            slopes.across(v + c * TILE_ROWS * PITCH, g);
            for (int j = 0; j < 2; j++) {
                int key = from + c * TILE_ROWS + j * TILE_HALF + tile_column();

                mask<false>(w, row, key, m);
                for (int i = 0; i < 4; i++)
                    turn(facts[i / 2], w.is_there(key + i % 2), scale, a.scale, m[i], s[j][i],
                         g[j][i]);
            }
            Tile::along(g, keys, room, dq);
        }
    }
    for (int half = 0; half < 2; half++) {
        int position = row + half * TILE_HALF;

        if (position < a.length)
            leave<T, Tile::PARTS>(dq, half, static_cast<R>(1), facts[half].there, a.accumulate,
                                  a.width,
                                  static_cast<T *>(a.dx) + w.x +
                                      static_cast<size_t>(position) * static_cast<size_t>(w.all));
    }
}

template <typename T, int D>
static __global__ void __launch_bounds__(THREADS)
    keys_back_kernel(const __grid_constant__ cull_attention_call a)
{
    typedef cull_real<T> R;
    typedef shape<T, D>  Shape;
    typedef tile<T, D>   Tile;
    enum { COLUMNS = Shape::COLUMNS, CHUNKS = Shape::CHUNKS, PITCH = Tile::PITCH };

    CULL_SHARED(T, shared);
    T      *k = shared, *v = k + ROWS * PITCH, *q = v + ROWS * PITCH, *dy = q + COLUMNS * PITCH;
    int     warp = static_cast<int>(threadIdx.x) / CULL_WARP;
    char   *room = reinterpret_cast<char *>(dy + COLUMNS * PITCH) + warp * Tile::ROOM;
    head<T> w(a);
    int     row = w.first + warp * TILE_ROWS + tile_row();
    R       scale = static_cast<R>(a.scale * M_LOG2E), dk[Tile::PARTS][4], dv[Tile::PARTS][4];
    Tile    keys, values;
    bool    there[2] = {w.is_there(row), w.is_there(row + TILE_HALF)};

    bring<T, D>(w, w.part(1), w.all, w.first, ROWS, k);
    bring<T, D>(w, w.part(2), w.all, w.first, ROWS, v);
    __syncthreads();
    keys.take(k + warp * TILE_ROWS * PITCH);
    values.take(v + warp * TILE_ROWS * PITCH);
#pragma unroll
    for (int t = 0; t < Tile::PARTS; t++)
        for (int i = 0; i < 4; i++) dk[t][i] = dv[t][i] = 0;
    for (int from = 0; from < a.length; from += COLUMNS) {
        if (!any_there(w, from, COLUMNS)) continue;
        bring<T, D>(w, w.part(0), w.all, from, COLUMNS, q);
        bring<T, D>(w, w.dy(), w.own, from, COLUMNS, dy);
        __syncthreads();
        for (int c = 0; c < CHUNKS; c++) {
            const T *queries = q + c * TILE_ROWS * PITCH, *slopes = dy + c * TILE_ROWS * PITCH;
            R        s[2][4] = {}, g[2][4] = {}, m[4];

            keys.across(queries, s);
            values.across(slopes, g);
            for (int j = 0; j < 2; j++) {
                int            query = from + c * TILE_ROWS + j * TILE_HALF + tile_column();
                query_facts<R> facts[2] = {facts_of(w, query), facts_of(w, query + 1)};

                mask<true>(w, row, query, m);
                for (int i = 0; i < 4; i++)
                    turn(facts[i % 2], there[i / 2], scale, a.scale, m[i], s[j][i], g[j][i]);
            }
            Tile::along(s, slopes, room, dv);
            Tile::along(g, queries, room, dk);
        }
    }
    for (int half = 0; half < 2; half++) {
        int position = row + half * TILE_HALF;
        T  *to = static_cast<T *>(a.dx) + w.x +
                static_cast<size_t>(position) * static_cast<size_t>(w.all) + w.own;

        if (position >= a.length) continue;
        leave<T, Tile::PARTS>(dk, half, static_cast<R>(1), there[half], a.accumulate, a.width, to);
        leave<T, Tile::PARTS>(dv, half, static_cast<R>(1), there[half], a.accumulate, a.width,
                              to + w.own);
    }
}

/* ---- launches ---- */

template <typename T, int D> struct kernels {
    typedef shape<T, D> Shape;

    static cudaError_t allow(void (*kernel)(cull_attention_call), int bytes)
    {
        return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }

    static cudaError_t prepare()
    {
        cudaError_t error = allow(attention_kernel<T, D>, Shape::FORWARD);

        if (error == cudaSuccess) error = allow(queries_back_kernel<T, D>, Shape::BACK);
        if (error == cudaSuccess) error = allow(keys_back_kernel<T, D>, Shape::BACK);
        return error;
    }

    static size_t room() { return Shape::BACK; }

    static dim3 blocks(const cull_attention_call &a)
    {
        return dim3(static_cast<unsigned>(a.n) * static_cast<unsigned>(a.heads),
                    cull_cuda_blocks(static_cast<size_t>(a.length), ROWS));
    }

    static cudaError_t forward(cudaStream_t stream, const cull_attention_call &a)
    {
        return CULL_LAUNCH((attention_kernel<T, D>), blocks(a), THREADS, Shape::FORWARD, stream, a);
    }

    static cudaError_t back(cudaStream_t stream, const cull_attention_call &a)
    {
        size_t rows = static_cast<size_t>(a.n) * static_cast<size_t>(a.heads) *
                      static_cast<size_t>(a.length);
        cudaError_t error = CULL_LAUNCH(slope_kernel<T>, cull_cuda_blocks(rows, THREADS), THREADS,
                                        0, stream, a);

        if (error == cudaSuccess)
            error = CULL_LAUNCH((queries_back_kernel<T, D>), blocks(a), THREADS, Shape::BACK,
                                stream, a);
        if (error == cudaSuccess)
            error =
                CULL_LAUNCH((keys_back_kernel<T, D>), blocks(a), THREADS, Shape::BACK, stream, a);
        return error;
    }
};

/* `what` of the kernels for values of a type and heads of a width. */
#define BY_WIDTH(T, width, what)                                                                   \
    ((width) <= 32   ? kernels<T, 32>::what                                                        \
     : (width) <= 64 ? kernels<T, 64>::what                                                        \
                     : kernels<T, CULL_ATTENTION_WIDTH>::what)
#define BY_TYPE(dtype, width, what)                                                                \
    ((dtype) == CULL_BF16  ? BY_WIDTH(cull_bf16, width, what)                                      \
     : (dtype) == CULL_F32 ? BY_WIDTH(float, width, what)                                          \
                           : BY_WIDTH(double, width, what))

size_t cull_cuda_attention_room(cull_dtype dtype, int width)
{
    return BY_TYPE(dtype, width, room());
}

cudaError_t cull_cuda_attention_prepare(cull_dtype dtype, int width)
{
    return BY_TYPE(dtype, width, prepare());
}

cudaError_t cull_cuda_attention(cudaStream_t stream, const cull_attention_call *call)
{
    if (call->n == 0 || call->length == 0) return cudaSuccess;
    return BY_TYPE(call->dtype, call->width, forward(stream, *call));
}

cudaError_t cull_cuda_attention_back(cudaStream_t stream, const cull_attention_call *call)
{
    if (call->n == 0 || call->length == 0) return cudaSuccess;
    return BY_TYPE(call->dtype, call->width, back(stream, *call));
}
