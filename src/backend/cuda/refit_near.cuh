/*
 * backend/cuda/refit_near.cuh - the tableau of refit_tableau.cuh for few atoms, in a block's
 * registers (tableau.cuh). Its last column, which is x in the end, is a number of each of the first
 * threads. A row is shown with its own as soon as it has been swept, and so a sweep costs one
 * barrier.
 */
#ifndef CULL_BACKEND_CUDA_REFIT_NEAR_CUH
#define CULL_BACKEND_CUDA_REFIT_NEAR_CUH

#include "backend/cuda/refit_tableau.cuh"
#include "backend/cuda/tableau.cuh"

/* A row and its number of the last column to a line. */
static __device__ __forceinline__ void cull_refit_near_show(const cull_entries &a, double last,
                                                            unsigned p, double *line)
{
    cull_tableau_show(a, p, line);
    if (threadIdx.x == p) line[CULL_TABLEAU_SIDE] = last;
}

/* Sweeps by f.list[count], one after the other, with last[i] of thread i. A pivot below half of
 * what it must be at least is rounding: that atom is out. lines: [2][CULL_REFIT_LINE]. */
static __device__ __forceinline__ void cull_refit_near_sweeps(cull_refit<false> &f,
                                                              cull_entries &a, double *last,
                                                              double *lines, unsigned count)
{
    bool     has = cull_warp() * CULL_TABLEAU_ROWS < f.n;
    unsigned p = f.list[0];

    cull_refit_near_show(a, *last, p, lines);
    __syncthreads();
    for (unsigned c = 0; c < count; c++) {
        double  *line = lines + (c & 1) * CULL_REFIT_LINE;
        unsigned next = c + 1 < count ? f.list[c + 1] : p;
        bool     forward = !f.in[p];
        double   own = line[p], shown = line[CULL_TABLEAU_SIDE];
        bool     out = own == 0 || (forward && !(own >= f.r[p] / 2));
        double   over = 1 / own, turned = forward ? over : -over;

        if (!out && has) cull_tableau_sweep(a, p, line, over, turned);
        if (!out && threadIdx.x < CULL_TABLEAU_SIDE)
            *last = threadIdx.x == p ? shown * turned
                                     : *last - line[threadIdx.x] * over * shown;
        cull_refit_near_show(a, *last, next, lines + (~c & 1) * CULL_REFIT_LINE);
        __syncthreads();
        if (threadIdx.x == 0 && out) f.side[p] = CULL_SIDE_OUT;
        if (threadIdx.x == 0 && !out) f.in[p] = forward;
        p = next;
    }
    __syncthreads();
}

/* What the first method of refit_solve.cuh works with; last: thread i's number of the last column.
 */
struct cull_refit_near {
    cull_entries a;
    double       last;

    /* As it is before any sweep. */
    __device__ __forceinline__ void begin(cull_refit<false> &f)
    {
#pragma unroll
        for (int r = 0; r < CULL_TABLEAU_ROWS; r++)
#pragma unroll
            for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
                unsigned i = cull_tableau_row(r), j = cull_tableau_column(k);

                a[r][k] = i < f.n && j < f.n ? cull_refit_k(f, i, j) + (i == j ? f.r[i] : 0) : 0;
            }
        last = threadIdx.x < f.n ? f.t[threadIdx.x] : 0;
        if (threadIdx.x < f.n) f.in[threadIdx.x] = 0;
        __syncthreads();
    }

    /* As cull_refit_solve(). */
    __device__ __forceinline__ void solve(cull_refit<false> &f)
    {
        unsigned     count = cull_refit_list(f), own = threadIdx.x;
        cull_columns lacks;
        double      *lines = f.pivot[0];

        if (count) cull_refit_near_sweeps(f, a, &last, lines, count);
        if (own < f.n) f.x[own] = f.in[own] ? last : 0;
        __syncthreads();
        cull_refit_apply(f, f.x, f.y);
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
            unsigned j = cull_tableau_column(k);
            lacks[k] = j < f.n && f.in[j] ? f.t[j] - f.r[j] * f.x[j] - f.y[j] : 0;
        }
        cull_tableau_apply(a, lacks, lines);
        __syncthreads();
        if (own < f.n && f.in[own]) f.x[own] -= lines[own];
        __syncthreads();
        cull_refit_apply(f, f.x, f.y);
        if (own < f.n) f.y[own] -= f.t[own];
        __syncthreads();
    }
};

#endif
