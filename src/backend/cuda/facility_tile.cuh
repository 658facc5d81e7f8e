/*
 * backend/cuda/facility_tile.cuh - a tile of S, by a block: 64 atoms against 64 others.
 *
 *     K_ij = (p_i . p_j)(h_i . h_j + 1)      S_ij = -(float)sqrt(max(0, K_ii + K_jj - 2 K_ij))
 *
 * Products are in double, each summed along its rows in order wherever the pair lies, so that S is
 * symmetric, duplicates are at distance zero, and a row made again is the same row.
 */
#ifndef CULL_BACKEND_CUDA_FACILITY_TILE_CUH
#define CULL_BACKEND_CUDA_FACILITY_TILE_CUH

#include "backend/cuda/facility.h"
#include "backend/cuda/rows.cuh"

enum {
    CULL_TILE_BLOCK = 256, /* threads, each of 4 by 4 pairs      */
    CULL_TILE_SIDE = 16,
    CULL_TILE_EACH = 4,
    CULL_TILE_DEPTH = 16 /* numbers of a row that are at hand  */
};

typedef double cull_tile_side[CULL_TILE_DEPTH][CULL_FACILITY_TILE];

/* Atoms of one side: first .. , or those that a list has there. */
struct cull_tile_atoms {
    const uint32_t     *list; /* NULL: none */
    uint32_t            first, end;
    __device__ bool     has(uint32_t i) const { return first + i < end; }
    __device__ uint32_t at(uint32_t i) const { return list ? list[first + i] : first + i; }
};

static __device__ __forceinline__ size_t cull_facility_row_of(const cull_facility_task &x,
                                                              uint32_t i)
{
    return x.row ? x.row[i] : i;
}

/* sum[i][j] = the inner product of atoms ty + 16 i of one side and tx + 16 j of the other. */
static __device__ void cull_tile_multiply(const cull_facility_task &x, const cull_cuda_rows &rows,
                                          double scale, const cull_tile_atoms &one,
                                          const cull_tile_atoms &two, cull_tile_side a,
                                          cull_tile_side b,
                                          double sum[CULL_TILE_EACH][CULL_TILE_EACH])
{
    unsigned tx = threadIdx.x % CULL_TILE_SIDE, ty = threadIdx.x / CULL_TILE_SIDE;

    for (int i = 0; i < CULL_TILE_EACH; i++)
        for (int j = 0; j < CULL_TILE_EACH; j++) sum[i][j] = 0;
    for (uint32_t begin = 0; begin < rows.width; begin += CULL_TILE_DEPTH) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < CULL_FACILITY_TILE * CULL_TILE_DEPTH;
             i += CULL_TILE_BLOCK) {
            unsigned line = i / CULL_TILE_DEPTH, l = i % CULL_TILE_DEPTH;
            bool     inside = begin + l < rows.width;
            size_t   r = inside && one.has(line) ? cull_facility_row_of(x, one.at(line)) : 0;
            size_t   s = inside && two.has(line) ? cull_facility_row_of(x, two.at(line)) : 0;

            a[l][line] = inside && one.has(line) ? scale * cull_rows_at(rows, r, begin + l) : 0;
            b[l][line] = inside && two.has(line) ? scale * cull_rows_at(rows, s, begin + l) : 0;
        }
        __syncthreads();
        for (int l = 0; l < CULL_TILE_DEPTH; l++)
            for (int i = 0; i < CULL_TILE_EACH; i++)
                for (int j = 0; j < CULL_TILE_EACH; j++)
                    sum[i][j] +=
                        a[l][ty + CULL_TILE_SIDE * i] * b[l][tx + CULL_TILE_SIDE * j];
    }
}

/* K over a tile. */
static __device__ void cull_tile_make(const cull_facility_task &x, const cull_tile_atoms &one,
                                      const cull_tile_atoms &two, cull_tile_side a,
                                      cull_tile_side b, double k[CULL_TILE_EACH][CULL_TILE_EACH])
{
    double hh[CULL_TILE_EACH][CULL_TILE_EACH];

    cull_tile_multiply(x, x.h, 1, one, two, a, b, hh);
    cull_tile_multiply(x, x.p, ldexp(1.0, -x.state->exponent), one, two, a, b, k);
    for (int i = 0; i < CULL_TILE_EACH; i++)
        for (int j = 0; j < CULL_TILE_EACH; j++) k[i][j] *= hh[i][j] + 1;
}

/* The distance of atoms i and j, K between them being k. */
static __device__ __forceinline__ float cull_tile_distance(const cull_facility_task &x, uint32_t i,
                                                           uint32_t j, double k)
{
    double square = x.norm[i] + x.norm[j] - 2 * k;

    return static_cast<float>(sqrt(square > 0 ? square : 0));
}

/* S as given. */
static __device__ __forceinline__ float cull_tile_given(const cull_facility_task &x, uint32_t i,
                                                        uint32_t j)
{
    return static_cast<float>(ldexp(1.0, -x.state->exponent) * cull_rows_at(x.given, i, j));
}

#endif
