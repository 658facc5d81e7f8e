/*
 * backend/cuda/nn_embed.cu - rows of a table: those of tokens, and those of positions.
 *
 *     embed      y[t] = w[x[t]], zero at padding      dw[v] = sum over x[t] = v of dy[t]
 *     positions  y[t] = x[t] + w[t % length], or w[0]
 *     first      y[n] = x[n, 0]                       dx[n, 0] = dy[n], zero elsewhere
 *
 * The sums of dw are in the order of the places: tokens are sorted together with them. A block then
 * has a chunk of that order and adds up what is of one token; a token that neighbours have too
 * leaves parts, which the block that it begins in adds up in a second launch.
 */
#include "backend/cuda/nn_embed.h"

#include "backend/cuda/nn_vector.cuh"
#include "backend/cuda/sort.cuh"

enum { THREADS = 256, CHUNK = CULL_EMBED_CHUNK, AHEAD = 8, HEAD = 0, TAIL = 1 };

#define NO_TOKEN 0xffffffffu

/* ---- forward ---- */

/* Which vector of which row a thread has. */
struct vector_place {
    size_t   row, at; /* at: of the row's first element, in all rows */
    uint32_t column;
};

static __device__ __forceinline__ bool find_vector(size_t count, uint32_t features, uint32_t width,
                                                   vector_place *out)
{
    uint32_t each = features / width;
    size_t   i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;

    out->row = i / each;
    out->column = static_cast<uint32_t>(i - out->row * each) * width;
    out->at = out->row * features;
    return out->row < count;
}

/* A token's row, or NO_TOKEN. */
static __device__ __forceinline__ uint32_t row_of(int32_t token, uint32_t rows)
{
    uint32_t row = static_cast<uint32_t>(token);

    return token >= 0 && row < rows ? row : NO_TOKEN;
}

template <typename T, typename P, int W>
static __global__ void __launch_bounds__(THREADS) embed_kernel(cull_embed_call a)
{
    vector_place p;
    cull_real<T> v[W];

    if (!find_vector(a.count, a.features, W, &p)) return;
    uint32_t row = row_of(a.token[p.row], a.rows);
    const P *from = static_cast<const P *>(a.w) + static_cast<size_t>(row) * a.features + p.column;

    for (int i = 0; i < W; i++) v[i] = 0;
    if (row != NO_TOKEN) cull_read_wide<P, W>(from, v);
    cull_write<T, W>(static_cast<T *>(a.y) + p.at + p.column, v);
}

template <typename T, int W>
static __global__ void __launch_bounds__(THREADS) positions_kernel(cull_embed_call a)
{
    typedef cull_real<T> R;
    vector_place         p;
    R                    v[W], more[W];

    if (!find_vector(a.count, a.features, W, &p)) return;
    size_t   row = a.same ? 0 : p.row % a.length;
    const R *w = static_cast<const R *>(a.w) + row * a.features + p.column;

    cull_read<T, W>(static_cast<const T *>(a.x) + p.at + p.column, v);
    cull_read_wide<R, W>(w, more);
    for (int i = 0; i < W; i++) v[i] += more[i];
    cull_write<T, W>(static_cast<T *>(a.y) + p.at + p.column, v);
}

/* ---- the first position ---- */

template <typename T, int W>
static __global__ void __launch_bounds__(THREADS) first_kernel(cull_embed_call a)
{
    vector_place p;

    if (!find_vector(a.count, a.features, W, &p)) return;
    const T *from = static_cast<const T *>(a.x) + p.at * a.length + p.column;

    cull_put<T, W>(static_cast<T *>(a.y) + p.at + p.column, cull_fetch<T, W>(from));
}

/* All positions where the rest is to be zero, else the first alone. */
template <typename T, int W>
static __global__ void __launch_bounds__(THREADS) first_back_kernel(cull_embed_call a)
{
    size_t       each = a.accumulate ? 1 : a.length;
    vector_place p;
    cull_real<T> v[W], old[W];

    if (!find_vector(a.count * each, a.features, W, &p)) return;
    size_t n = p.row / each;
    T     *to = static_cast<T *>(a.dx) + (n * a.length + p.row % each) * a.features + p.column;

    for (int i = 0; i < W; i++) v[i] = 0;
    if (p.row % each == 0)
        cull_read<T, W>(static_cast<const T *>(a.dy) + n * a.features + p.column, v);
    if (a.accumulate) {
        cull_read<T, W>(to, old);
        for (int i = 0; i < W; i++) v[i] += old[i];
    }
    cull_write<T, W>(to, v);
}

/* ---- backward of embed ---- */

static __global__ void __launch_bounds__(THREADS) order_kernel(cull_embed_call a)
{
    size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;

    if (i < a.count) a.order[i] = static_cast<uint64_t>(row_of(a.token[i], a.rows)) << 32 | i;
}

struct token_order {
    uint64_t *key;
    enum { BYTES = sizeof(uint64_t) };

    __device__ bool        wanted() const { return true; }
    __device__ token_order within(char *room, unsigned) const
    {
        return {reinterpret_cast<uint64_t *>(room)};
    }
    static __device__ void copy(const token_order &from, size_t i, token_order &to, size_t j)
    {
        to.key[j] = from.key[i];
    }
    __device__ bool before(size_t i, size_t j) const { return key[i] < key[j]; }
    __device__ void swap(size_t i, size_t j)
    {
        uint64_t held = key[i];

        key[i] = key[j];
        key[j] = held;
    }
};

static __device__ __forceinline__ uint32_t token_at(const cull_embed_call &a, size_t i)
{
    return static_cast<uint32_t>(a.order[i] >> 32);
}

/* One chunk: its tokens, and whether the first and last of them are its neighbours' too. */
struct chunk_of {
    uint32_t count;
    bool     goes_on, comes_on; /* from the one before; to the one behind */
};

static __device__ __forceinline__ chunk_of find_chunk(const cull_embed_call &a, uint64_t *near)
{
    size_t   first = static_cast<size_t>(blockIdx.x) * CHUNK;
    chunk_of c;

    c.count = static_cast<uint32_t>(a.count - first < CHUNK ? a.count - first : CHUNK);
    if (threadIdx.x < c.count) near[threadIdx.x] = a.order[first + threadIdx.x];
    __syncthreads();
    c.goes_on = first > 0 && token_at(a, first - 1) == near[0] >> 32;
    c.comes_on =
        first + c.count < a.count && token_at(a, first + c.count) == near[c.count - 1] >> 32;
    return c;
}

/* Where the sum of entries first .. end-1, which are one token's, goes. */
template <typename R>
static __device__ __forceinline__ R *place_of(const cull_embed_call &a, const chunk_of &c,
                                              uint32_t first, uint32_t end, uint32_t token)
{
    size_t chunk = blockIdx.x;

    if (first == 0 && c.goes_on)
        return static_cast<R *>(a.partial) + (2 * chunk + HEAD) * a.features;
    if (end == c.count && c.comes_on)
        return static_cast<R *>(a.partial) + (2 * chunk + TAIL) * a.features;
    return static_cast<R *>(a.dw) + static_cast<size_t>(token) * a.features;
}

/* AHEAD rows are on their way at once. */
template <typename T, int W>
static __global__ void __launch_bounds__(THREADS) add_chunks(cull_embed_call a)
{
    typedef cull_real<T> R;
    __shared__ uint64_t  near[CHUNK];
    chunk_of             c = find_chunk(a, near);
    cull_pack<T, W>      row[AHEAD];
    R                    sum[W], v[W];

    for (uint32_t column = threadIdx.x * W; column < a.features; column += blockDim.x * W) {
        uint32_t began = 0;

        for (int k = 0; k < W; k++) sum[k] = 0;
        for (uint32_t i = 0; i < c.count; i += AHEAD) {
            CULL_UNROLL
            for (int j = 0; j < AHEAD; j++) {
                uint32_t at = i + j < c.count ? i + j : c.count - 1;
                size_t   place = near[at] & 0xffffffffu;

                row[j] = cull_fetch<T, W>(static_cast<const T *>(a.dy) + place * a.features +
                                          column);
            }
            CULL_UNROLL
            for (int j = 0; j < AHEAD; j++) {
                if (i + j >= c.count) break;
                uint32_t end = i + j + 1, token = static_cast<uint32_t>(near[i + j] >> 32);

                cull_open<T, W>(row[j], v);
                for (int k = 0; k < W; k++) sum[k] += v[k];
                if (end < c.count && near[end] >> 32 == token) continue;
                if (token != NO_TOKEN)
                    cull_write_wide<R, W>(place_of<R>(a, c, began, end, token) + column, sum);
                began = end;
                for (int k = 0; k < W; k++) sum[k] = 0;
            }
        }
    }
}

/* A token that begins in this chunk and goes on behind it: its parts, in order. */
template <typename R>
static __global__ void __launch_bounds__(THREADS) join_chunks(cull_embed_call a, size_t chunks)
{
    size_t   chunk = blockIdx.x, last = (chunk + 1) * CHUNK - 1, parts = 0;
    uint32_t token = 0;

    if (last + 1 >= a.count) return;
    token = token_at(a, last);
    if (token == NO_TOKEN || token_at(a, last + 1) != token) return;
    if (chunk > 0 && token_at(a, chunk * CHUNK - 1) == token) return; /* it began before */
    while (chunk + 1 + parts < chunks && token_at(a, (chunk + 1 + parts) * CHUNK) == token) parts++;
    for (uint32_t column = threadIdx.x; column < a.features; column += blockDim.x) {
        const R *part = static_cast<const R *>(a.partial) + 2 * chunk * a.features + column;
        R        sum = part[TAIL * a.features];

        for (size_t k = 1; k <= parts; k++) sum += part[2 * k * a.features];
        static_cast<R *>(a.dw)[static_cast<size_t>(token) * a.features + column] = sum;
    }
}

/* ---- launches ---- */

template <typename T, int W> static unsigned blocks_of(size_t rows, const cull_embed_call &a)
{
    return cull_cuda_blocks(rows * (a.features / W), THREADS);
}

template <typename T, int W>
static cudaError_t embed(cudaStream_t stream, const cull_embed_call &a)
{
    unsigned blocks = blocks_of<T, W>(a.count, a);

    if (a.dtype == a.table)
        return CULL_LAUNCH((embed_kernel<T, T, W>), blocks, THREADS, 0, stream, a);
    return CULL_LAUNCH((embed_kernel<T, cull_real<T>, W>), blocks, THREADS, 0, stream, a);
}

template <typename T, int W>
static cudaError_t positions(cudaStream_t stream, const cull_embed_call &a)
{
    return CULL_LAUNCH((positions_kernel<T, W>), (blocks_of<T, W>(a.count, a)), THREADS, 0, stream,
                       a);
}

template <typename T, int W>
static cudaError_t first(cudaStream_t stream, const cull_embed_call &a)
{
    return CULL_LAUNCH((first_kernel<T, W>), (blocks_of<T, W>(a.count, a)), THREADS, 0, stream, a);
}

template <typename T, int W>
static cudaError_t first_back(cudaStream_t stream, const cull_embed_call &a)
{
    size_t rows = a.count * (a.accumulate ? 1 : a.length);

    return CULL_LAUNCH((first_back_kernel<T, W>), (blocks_of<T, W>(rows, a)), THREADS, 0, stream,
                       a);
}

template <typename T, int W>
static cudaError_t embed_back(cudaStream_t stream, const cull_embed_call &a)
{
    typedef cull_real<T> R;
    void (*add)(cull_embed_call) = add_chunks<T, W>;
    void (*join)(cull_embed_call, size_t) = join_chunks<R>;
    unsigned    chunks = cull_cuda_blocks(a.count, CHUNK);
    unsigned    across = (a.features / W + CULL_WARP - 1) / CULL_WARP * CULL_WARP;
    cudaError_t error = cudaMemsetAsync(
        a.dw, 0, static_cast<size_t>(a.rows) * a.features * sizeof(R), stream);

    if (error == cudaSuccess)
        error = CULL_LAUNCH(order_kernel, cull_cuda_blocks(a.count, THREADS), THREADS, 0, stream,
                            a);
    if (error == cudaSuccess) error = cull_sort(stream, token_order{a.order}, a.count);
    if (error == cudaSuccess)
        error = CULL_LAUNCH(add, chunks, across < THREADS ? across : THREADS, 0, stream, a);
    if (error != cudaSuccess || chunks == 1) return error;
    return CULL_LAUNCH(join, chunks, THREADS, 0, stream, a, size_t{chunks});
}

#define BY_TYPE(name)                                                                              \
    if (call->count == 0) return cudaSuccess;                                                      \
    return CULL_BY_TYPE(call->dtype, call->width, CALL_##name)

cudaError_t cull_cuda_embed(cudaStream_t stream, const cull_embed_call *call)
{
#define CALL_EMBED(T, W) embed<T, W>(stream, *call)
    BY_TYPE(EMBED);
}

cudaError_t cull_cuda_embed_back(cudaStream_t stream, const cull_embed_call *call)
{
#define CALL_EMBED_BACK(T, W) embed_back<T, W>(stream, *call)
    BY_TYPE(EMBED_BACK);
}

cudaError_t cull_cuda_positions(cudaStream_t stream, const cull_embed_call *call)
{
#define CALL_POSITIONS(T, W) positions<T, W>(stream, *call)
    BY_TYPE(POSITIONS);
}

cudaError_t cull_cuda_first(cudaStream_t stream, const cull_embed_call *call)
{
#define CALL_FIRST(T, W) first<T, W>(stream, *call)
    BY_TYPE(FIRST);
}

cudaError_t cull_cuda_first_back(cudaStream_t stream, const cull_embed_call *call)
{
#define CALL_FIRST_BACK(T, W) first_back<T, W>(stream, *call)
    BY_TYPE(FIRST_BACK);
}
