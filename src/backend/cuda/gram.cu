/*
 * backend/cuda/gram.cu - Gram matrices of last-layer gradients, in double.
 *
 *     K = P P^T o (H H^T + 1)     t = row means of K     b2 = mean of t
 *
 * K is cut into square tiles; a block makes one of the lower triangle and writes it twice. Its rows
 * of H and P pass through shared memory as doubles, a panel of columns at a time, fetched while the
 * one before it is multiplied. Small matrices take small tiles, with four threads to a number, so
 * that many multiprocessors have a part.
 *
 * Equal rows must have equal numbers, to the bit: so each number is summed in the same order
 * wherever it lies, and so is a row of a tile whether it is read as a row or, mirrored, as a
 * column. The block that ends last adds up the tiles' rows, in order.
 */
#include "backend/cuda/gram.h"

#include "backend/cuda/crew.cuh"
#include "backend/cuda/rows.cuh"

namespace {

enum { BLOCK = 256, FEW = 256, SOME = 768 }; /* rows up to which tiles are small, or less so */

/* A tile: SIDE by SIDE threads with EACH by EACH numbers, SPLIT threads sharing each. */
template <int EACH_, int SPLIT_, int DEPTH_> struct shape {
    enum {
        EACH = EACH_,
        SPLIT = SPLIT_,
        DEPTH = DEPTH_, /* columns of a panel */
        SIDE = SPLIT_ == 1 ? 16 : 8,
        TILE = SIDE * EACH_,
        LINE = TILE + 1, /* of shared memory: columns of it are in as many banks as rows */
        LINES = 2 * DEPTH > TILE ? 2 * DEPTH : TILE
    };
};
typedef shape<1, 4, 256> small_tile;
typedef shape<2, 1, 32>  middle_tile;
typedef shape<4, 1, 16>  large_tile;

/* Some columns of H or of P, of the tile's rows and of its columns' rows. */
template <typename S> struct panel {
    enum { PART = S::TILE * S::DEPTH / BLOCK }; /* numbers of a thread */

    double left[PART], right[PART];
};

template <typename S, typename Type>
__device__ __forceinline__ void fetch_as(const Type *x, size_t ld, unsigned first, unsigned n,
                                         unsigned at, unsigned width, double to[panel<S>::PART])
{
#pragma unroll
    for (unsigned i = 0; i < panel<S>::PART; i++) {
        unsigned row = (i * BLOCK + threadIdx.x) / S::DEPTH;
        unsigned l = at + (i * BLOCK + threadIdx.x) % S::DEPTH;

        to[i] = first + row < n && l < width ? cull_load(x, (first + row) * ld + l) : 0;
    }
}

template <typename S>
__device__ __forceinline__ void fetch(const cull_cuda_rows &x, unsigned first, unsigned n,
                                      unsigned at, double to[panel<S>::PART])
{
    if (x.dtype == CULL_F32)
        fetch_as<S>(static_cast<const float *>(x.data), x.ld, first, n, at, x.width, to);
    else if (x.dtype == CULL_F64)
        fetch_as<S>(static_cast<const double *>(x.data), x.ld, first, n, at, x.width, to);
    else
        fetch_as<S>(static_cast<const cull_bf16 *>(x.data), x.ld, first, n, at, x.width, to);
}

/* One column of shared memory for each column of the panel. */
template <typename S>
__device__ __forceinline__ void lay_down(const double from[panel<S>::PART], double *to)
{
#pragma unroll
    for (unsigned i = 0; i < panel<S>::PART; i++) {
        unsigned place = i * BLOCK + threadIdx.x;

        to[place % S::DEPTH * S::LINE + place / S::DEPTH] = from[i];
    }
}

/* Where a tile is, and what it is made of: panels of H, then of P. */
template <typename S> struct tile_work {
    const cull_cuda_gram_call &g;
    unsigned                   row, column, of_h, panels;
    double                    *left, *right; /* shared; the same on the diagonal */

    __device__ tile_work(const cull_cuda_gram_call &call, unsigned r, unsigned c, double *room)
        : g(call), row(r), column(c), left(room), right(r == c ? room : room + S::DEPTH * S::LINE)
    {
        of_h = (g.h.width + S::DEPTH - 1) / S::DEPTH;
        panels = of_h + (g.p.width + S::DEPTH - 1) / S::DEPTH;
    }

    __device__ __forceinline__ void bring_of(const cull_cuda_rows &x, unsigned at,
                                             panel<S> &to) const
    {
        fetch<S>(x, row, g.n, at, to.left);
        if (row != column) fetch<S>(x, column, g.n, at, to.right);
    }

    __device__ __forceinline__ void bring(unsigned number, panel<S> &to) const
    {
        if (number < of_h)
            bring_of(g.h, number * S::DEPTH, to);
        else
            bring_of(g.p, (number - of_h) * S::DEPTH, to);
    }

    /* How many columns of a panel there are. */
    __device__ __forceinline__ unsigned depth(unsigned number) const
    {
        unsigned left = number < of_h ? g.h.width - number * S::DEPTH
                                      : g.p.width - (number - of_h) * S::DEPTH;

        return left < S::DEPTH ? left : S::DEPTH;
    }
};

/* sum += X X^T over a panel. */
template <typename S>
__device__ __forceinline__ void add_products(const tile_work<S> &w, unsigned until,
                                             double sum[S::EACH][S::EACH])
{
    unsigned part = threadIdx.x % S::SPLIT, place = threadIdx.x / S::SPLIT;
    unsigned tx = place % S::SIDE, ty = place / S::SIDE;

#pragma unroll 8
    for (unsigned l = part; l < until; l += S::SPLIT)
        for (int u = 0; u < S::EACH; u++)
            for (int v = 0; v < S::EACH; v++)
                sum[u][v] += w.left[l * S::LINE + ty + u * S::SIDE] *
                             w.right[l * S::LINE + tx + v * S::SIDE];
}

/* H H^T and P P^T over one tile. While a panel is multiplied, the next is on its way. */
template <typename S>
__device__ __forceinline__ void make_products(const tile_work<S> &w, double h[S::EACH][S::EACH],
                                              double p[S::EACH][S::EACH])
{
    panel<S> next;

    w.bring(0, next);
    for (unsigned number = 0; number < w.panels; number++) {
        __syncthreads();
        lay_down<S>(next.left, w.left);
        if (w.row != w.column) lay_down<S>(next.right, w.right);
        __syncthreads();
        if (number + 1 < w.panels) w.bring(number + 1, next);
        if (number < w.of_h)
            add_products<S>(w, w.depth(number), h);
        else
            add_products<S>(w, w.depth(number), p);
    }
    for (int u = 0; u < S::EACH; u++)
        for (int v = 0; v < S::EACH; v++) {
            h[u][v] = cull_sum_lanes(h[u][v], S::SPLIT);
            p[u][v] = cull_sum_lanes(p[u][v], S::SPLIT);
        }
}

/* The tile in shared memory to K, and mirrored. */
template <typename S>
__device__ void write_tile(const cull_cuda_gram_call &g, unsigned row, unsigned column,
                           const double *tile)
{
    for (unsigned i = threadIdx.x; i < S::TILE * S::TILE; i += BLOCK) {
        unsigned a = i / S::TILE, b = i % S::TILE;

        if (row + a < g.n && column + b < g.n)
            g.k[static_cast<size_t>(row + a) * g.n + column + b] = tile[a * S::LINE + b];
        if (row != column && column + a < g.n && row + b < g.n)
            g.k[static_cast<size_t>(column + a) * g.n + row + b] = tile[b * S::LINE + a];
    }
}

/* The sums of its rows, and of its columns as rows of the mirrored one. */
template <typename S>
__device__ void sum_tile(const cull_cuda_gram_call &g, unsigned row, unsigned column,
                         const double *tile)
{
    unsigned line = threadIdx.x % S::TILE;
    bool     mirrored = threadIdx.x >= S::TILE;
    double   sum = 0;

    if (threadIdx.x >= 2 * S::TILE || (mirrored && row == column)) return;
    for (int i = 0; i < S::TILE; i++)
        sum += mirrored ? tile[i * S::LINE + line] : tile[line * S::LINE + i];
    if (mirrored && column + line < g.n)
        g.partial[static_cast<size_t>(row / S::TILE) * g.n + column + line] = sum;
    if (!mirrored && row + line < g.n)
        g.partial[static_cast<size_t>(column / S::TILE) * g.n + row + line] = sum;
}

/* Has every block but this one ended? For all its threads. */
__device__ bool is_last(uint32_t *ticket)
{
    bool last = false;

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        if (last) *ticket = 0;
    }
    last = __syncthreads_or(last);
    __threadfence();
    return last;
}

__device__ void make_means(const cull_cuda_gram_call &g, unsigned tiles, cull_said *near)
{
    cull_crew<false> crew = {near, NULL, 0};
    double           own = 0;

    for (unsigned i = threadIdx.x; i < g.n; i += BLOCK) {
        double sum = 0;

#pragma unroll 8
        for (unsigned j = 0; j < tiles; j++) sum += g.partial[static_cast<size_t>(j) * g.n + i];
        if (g.t) g.t[i] = sum / g.n;
        own += sum / g.n;
    }
    own = cull_sum_of(crew, own);
    if (g.b2 && threadIdx.x == 0) *g.b2 = own / g.n;
}

template <typename S> __global__ void __launch_bounds__(BLOCK) make_tile(cull_cuda_gram_call g)
{
    __shared__ double    room[S::LINES * S::LINE];
    __shared__ cull_said near[2 * CULL_WARP];
    unsigned             number = blockIdx.x, tiles = (g.n + S::TILE - 1) / S::TILE;
    unsigned             down = static_cast<unsigned>((sqrt(8.0 * number + 1) - 1) / 2);
    unsigned             place = threadIdx.x / S::SPLIT, tx = place % S::SIDE, ty = place / S::SIDE;
    double               h[S::EACH][S::EACH] = {}, p[S::EACH][S::EACH] = {};

    while (down * (down + 1) / 2 > number) down--;
    while ((down + 1) * (down + 2) / 2 <= number) down++;
    unsigned row = down * S::TILE, column = (number - down * (down + 1) / 2) * S::TILE;

    make_products<S>(tile_work<S>(g, row, column, room), h, p);
    __syncthreads();
    for (int u = 0; u < S::EACH; u++)
        for (int v = 0; v < S::EACH; v++)
            if (threadIdx.x % S::SPLIT == 0)
                room[(ty + u * S::SIDE) * S::LINE + tx + v * S::SIDE] = p[u][v] * (h[u][v] + 1);
    __syncthreads();
    write_tile<S>(g, row, column, room);
    if (!g.partial) return;
    sum_tile<S>(g, row, column, room);
    if (is_last(g.ticket)) make_means(g, tiles, near);
}

template <typename S> cudaError_t launch(cudaStream_t stream, const cull_cuda_gram_call &g)
{
    unsigned tiles = cull_cuda_blocks(g.n, S::TILE);

    return CULL_LAUNCH(make_tile<S>, dim3(tiles * (tiles + 1) / 2), dim3(BLOCK), 0, stream, g);
}

__global__ void __launch_bounds__(1024)
    divide(double *b, size_t size, double targets, double *t, uint32_t n, double *b2)
{
    __shared__ cull_said near[2 * CULL_WARP];
    cull_crew<false>     crew = {near, NULL, 0};
    double               square = 0;

    for (size_t i = threadIdx.x; i < size; i += blockDim.x) {
        b[i] /= targets;
        square += b[i] * b[i];
    }
    for (unsigned i = threadIdx.x; t && i < n; i += blockDim.x) t[i] /= targets;
    square = cull_sum_of(crew, square);
    if (b2 && threadIdx.x == 0) *b2 = square;
}

__device__ double square_of(const cull_cuda_rows &x, size_t row)
{
    double sum = 0;

    for (unsigned l = cull_lane(); l < x.width; l += CULL_WARP) {
        double own = cull_rows_at(x, row, l);
        sum += own * own;
    }
    return cull_sum_lanes(sum, CULL_WARP);
}

__global__ void measure(cull_cuda_rows h, cull_cuda_rows p, uint32_t n, double *length)
{
    unsigned row = blockIdx.x * (BLOCK / CULL_WARP) + cull_warp();

    if (row >= n) return;
    double own = sqrt(square_of(p, row)) * sqrt(square_of(h, row) + 1);
    if (cull_lane() == 0) length[row] = own;
}

} // namespace

size_t cull_cuda_gram_partial(size_t rows)
{
    size_t few = rows < FEW ? rows : static_cast<size_t>(FEW), small = (few + 7) / 8 * few;
    size_t large = (rows + 31) / 32 * rows;

    return small > large ? small : large;
}

cudaError_t cull_cuda_gram_run(cudaStream_t stream, cull_cuda_gram_call call)
{
    if (call.n <= FEW) return launch<small_tile>(stream, call);
    if (call.n <= SOME) return launch<middle_tile>(stream, call);
    return launch<large_tile>(stream, call);
}

cudaError_t cull_cuda_gram_means(cudaStream_t stream, double *b, size_t size, uint32_t targets,
                                 double *t, uint32_t n, double *b2)
{
    return CULL_LAUNCH(divide, dim3(1), dim3(1024), 0, stream, b, size,
                       static_cast<double>(targets), t, n, b2);
}

cudaError_t cull_cuda_gram_lengths(cudaStream_t stream, cull_cuda_rows h, cull_cuda_rows p,
                                   uint32_t n, double *length)
{
    return CULL_LAUNCH(measure, dim3(cull_cuda_blocks(n, BLOCK / CULL_WARP)), dim3(BLOCK), 0,
                       stream, h, p, n, length);
}
