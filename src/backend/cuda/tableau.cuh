/*
 * backend/cuda/tableau.cuh - a symmetric matrix A of few rows, in the registers of a block, that is
 * swept: solved for one row after the other, in place.
 *
 *     forward, D = A_pp    A_ij -= A_ip A_pj / D,  A_ip /=  D,  A_pj /=  D,  A_pp = -1 / D
 *     back                 A_ij -= A_ip A_pj / D,  A_ip /= -D,  A_pj /= -D,  A_pp = -1 / D
 *
 * After sweeps of the rows F, A_FF = -(K_FF)^-1, A_FR = (K_FF)^-1 K_FR, and A_RR is what is left of
 * K_RR. Each warp has eight rows. What they share is a line of shared memory, on which a row is
 * shown to all, and what the first of them, the leader, tells the others to do.
 *
 * Row i lies with warp i / 8, column j with lane j % CULL_WARP.
 */
#ifndef CULL_BACKEND_CUDA_TABLEAU_CUH
#define CULL_BACKEND_CUDA_TABLEAU_CUH

#include "backend/cuda/crew.cuh"
#include "backend/cuda/tableau.h"

enum {
    CULL_TABLEAU_WARPS = CULL_TABLEAU_THREADS / CULL_WARP,
    CULL_TABLEAU_ROWS = CULL_TABLEAU_SIDE / CULL_TABLEAU_WARPS,
    CULL_TABLEAU_COLUMNS = CULL_TABLEAU_SIDE / CULL_WARP
};

/* What the leader says. */
enum {
    CULL_TELL_SHOW,  /* row `at` to the line                                           */
    CULL_TELL_TRY,   /* the same, and a sweep by it if its pivot is not below `least`  */
    CULL_TELL_SWEEP, /* by `at`, whose row is on the line                              */
    CULL_TELL_END
};

struct cull_told {
    double   least;
    unsigned what, at;
};

/* A warp's part: entries of its rows. */
typedef double cull_entries[CULL_TABLEAU_ROWS][CULL_TABLEAU_COLUMNS];
/* Numbers of the columns of a lane. */
typedef double cull_columns[CULL_TABLEAU_COLUMNS];

static __device__ __forceinline__ bool cull_tableau_leads()
{
    return cull_warp() == 0;
}

static __device__ __forceinline__ unsigned cull_tableau_row(int r)
{
    return cull_warp() * CULL_TABLEAU_ROWS + static_cast<unsigned>(r);
}

static __device__ __forceinline__ unsigned cull_tableau_column(int k)
{
    return cull_lane() + static_cast<unsigned>(k) * CULL_WARP;
}

/* The number of a row among the warp's, of a column among the lane's (times CULL_WARP); others'
 * have larger ones. */
static __device__ __forceinline__ unsigned cull_tableau_own_row(unsigned p)
{
    return p - cull_warp() * CULL_TABLEAU_ROWS;
}

static __device__ __forceinline__ unsigned cull_tableau_own_column(unsigned p)
{
    return p - cull_lane();
}

/* A lane's column, or a warp's row, becomes zero where `mine`. In the machine's words, as compilers
 * make choices between numbers of it, of all of them and each time. */
static __device__ __forceinline__ void cull_tableau_clear_column(cull_entries &a, int k, bool mine)
{
#ifdef CULL_EMU
    for (int r = 0; mine && r < CULL_TABLEAU_ROWS; r++) a[r][k] = 0;
#else
    static_assert(CULL_TABLEAU_ROWS == 8, "as many are named");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %8, 0;\n\t"
                 "@p mov.f64 %0, 0d0000000000000000;\n\t@p mov.f64 %1, 0d0000000000000000;\n\t"
                 "@p mov.f64 %2, 0d0000000000000000;\n\t@p mov.f64 %3, 0d0000000000000000;\n\t"
                 "@p mov.f64 %4, 0d0000000000000000;\n\t@p mov.f64 %5, 0d0000000000000000;\n\t"
                 "@p mov.f64 %6, 0d0000000000000000;\n\t@p mov.f64 %7, 0d0000000000000000;\n\t}"
                 : "+d"(a[0][k]), "+d"(a[1][k]), "+d"(a[2][k]), "+d"(a[3][k]), "+d"(a[4][k]),
                   "+d"(a[5][k]), "+d"(a[6][k]), "+d"(a[7][k])
                 : "r"(mine ? 1u : 0u));
#endif
}

static __device__ __forceinline__ void cull_tableau_clear_row(cull_entries &a, int r, bool mine)
{
#ifdef CULL_EMU
    for (int k = 0; mine && k < CULL_TABLEAU_COLUMNS; k++) a[r][k] = 0;
#else
    static_assert(CULL_TABLEAU_COLUMNS == 4, "as many are named");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\t"
                 "@p mov.f64 %0, 0d0000000000000000;\n\t@p mov.f64 %1, 0d0000000000000000;\n\t"
                 "@p mov.f64 %2, 0d0000000000000000;\n\t@p mov.f64 %3, 0d0000000000000000;\n\t}"
                 : "+d"(a[r][0]), "+d"(a[r][1]), "+d"(a[r][2]), "+d"(a[r][3])
                 : "r"(mine ? 1u : 0u));
#endif
}

static __device__ __forceinline__ void cull_tableau_show(const cull_entries &a, unsigned p,
                                                         double *line)
{
    unsigned own = cull_tableau_own_row(p);

    if (own >= CULL_TABLEAU_ROWS) return;
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++) {
        if (own != static_cast<unsigned>(r)) continue;
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) line[cull_tableau_column(k)] = a[r][k];
    }
}

/* Entries less times_i column_j; row `own`, of the warp that has it, less `by` column_j, from zero
 * on. */
template <bool OWNS>
static __device__ __forceinline__ void cull_tableau_take(cull_entries &a, const double *line,
                                                         double over, const cull_columns &column,
                                                         unsigned own, double by)
{
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++) {
        bool   owns = OWNS && own == static_cast<unsigned>(r);
        double times = line[cull_tableau_row(r)] * over;

        if (OWNS) cull_tableau_clear_row(a, r, owns);
        if (owns) times = by;
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) a[r][k] -= times * column[k];
    }
}

/*
 * A sweep by row p, which is on the line; `turned` is 1 / D with the direction's sign. Row and
 * column p are made zero first, and what is taken from them is such that they become what they
 * must: so all entries go the same way.
 */
static __device__ __forceinline__ void
cull_tableau_sweep(cull_entries &a, unsigned p, const double *line, double over, double turned)
{
    unsigned     row = cull_tableau_own_row(p), place = cull_tableau_own_column(p);
    cull_columns column;

#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        bool mine = place == static_cast<unsigned>(k) * CULL_WARP;

        column[k] = line[cull_tableau_column(k)];
        if (mine) column[k] = turned == over ? -1 : 1;
        cull_tableau_clear_column(a, k, mine);
    }
    if (row < CULL_TABLEAU_ROWS)
        cull_tableau_take<true>(a, line, over, column, row, -turned);
    else
        cull_tableau_take<false>(a, line, over, column, row, 0);
}

/* to[i] = sum over the columns of A_ij x_j, of the warp's rows. */
static __device__ __forceinline__ void cull_tableau_apply(const cull_entries &a,
                                                          const cull_columns &x, double *to)
{
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++) {
        double sum = 0;

#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) sum += a[r][k] * x[k];
        sum = cull_sum_lanes(sum, CULL_WARP);
        if (cull_lane() == 0) to[cull_tableau_row(r)] = sum;
    }
}

/* For the leader: it is told to all who follow, and heard after the next barrier. */
static __device__ __forceinline__ void cull_tableau_tell(cull_told *told, unsigned what,
                                                         unsigned at, double least)
{
    if (cull_lane() == 0) *told = {least, what, at};
    __syncthreads();
}

/* For the other warps: what they are told, until it is the end. Of rows `n` count, and all sweeps
 * are forward. */
static __device__ __forceinline__ void cull_tableau_follow(cull_entries &a, unsigned n,
                                                           const cull_told *told, double *line)
{
    bool has = cull_warp() * CULL_TABLEAU_ROWS < n;

    for (;;) {
        __syncthreads(); /* it is told */
        unsigned what = told->what, at = told->at;
        double   least = told->least;

        if (what == CULL_TELL_END) break;
        if (what != CULL_TELL_SWEEP) cull_tableau_show(a, at, line);
        __syncthreads(); /* it is heard, and shown */
        double own = line[at], over = 1 / own;
        if (what == CULL_TELL_SHOW || (what == CULL_TELL_TRY && !(own >= least)) || !has) continue;
        cull_tableau_sweep(a, at, line, over, over);
    }
}

#endif
