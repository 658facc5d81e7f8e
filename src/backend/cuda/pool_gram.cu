/* backend/cuda/pool_gram.cu - K and t over some atoms of a problem, whole. */
#include "backend/cuda/gradient.h"
#include "backend/cuda/pool.h"
#include "backend/cuda/pool_rows.cuh"

namespace {

enum { BLOCK = CULL_POOL_WARPS * CULL_WARP };

__global__ void list_rows(cull_pool_atoms x)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

    uint32_t atom = i;

    if (i >= x.n) return;
    if (x.index) atom = x.index[i];
    x.at[i] = x.row ? x.row[atom] : atom;
}

/* A block has a column, blockIdx.x (of the other there are few), at the atoms of four panels. */
__global__ void __launch_bounds__(BLOCK) make_columns(cull_pool_atoms x)
{
    __shared__ double piece[CULL_POOL_PIECE];
    uint32_t          i = blockIdx.y * BLOCK + threadIdx.x;
    bool              live = i / CULL_WARP * CULL_WARP < x.n;
    uint32_t          row = x.at[i < x.n ? i : x.n - 1], other = x.at[blockIdx.x];
    double            inner = 0, hh = 0;

    hh = cull_pool_apply(x.h, row, live, cull_pool_row{x.h, other}, piece);
    if (x.column >= 0)
        inner = cull_rows_at(x.p, row, x.column) * cull_rows_at(x.p, other, x.column);
    else
        inner = cull_pool_apply(x.p, row, live, cull_pool_row{x.p, other}, piece);
    if (i < x.n) x.k[static_cast<size_t>(blockIdx.x) * x.n + i] = inner * (hh + 1);
}

} // namespace

cudaError_t cull_pool_gram(cudaStream_t stream, const cull_pool_atoms *atoms)
{
    cull_cuda_rows p = atoms->p;
    unsigned       blocks = cull_cuda_blocks(atoms->n, BLOCK);
    cudaError_t    error = CULL_LAUNCH(list_rows, dim3(blocks), dim3(BLOCK), 0, stream, *atoms);

    if (error == cudaSuccess)
        error = CULL_LAUNCH(make_columns, dim3(atoms->n, blocks), dim3(BLOCK), 0, stream, *atoms);
    if (error != cudaSuccess) return error;
    if (atoms->column >= 0) {
        size_t size = p.dtype == CULL_F64 ? 8 : p.dtype == CULL_F32 ? 4 : 2;

        p.data = static_cast<const char *>(p.data) + static_cast<size_t>(atoms->column) * size;
        p.width = 1;
    }
    return cull_cuda_gain_run(stream, atoms->h, p, atoms->at, atoms->n, p.width, atoms->b,
                              atoms->t);
}
