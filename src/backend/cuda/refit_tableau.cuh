/*
 * backend/cuda/refit_tableau.cuh - a refit's atoms above zero, F, kept solved in a tableau A, at
 * first K + R with t as its last column, that each change of side sweeps:
 *
 *     forward, D = A_pp    A_ij -= A_ip A_pj / D,  A_ip /=  D,  A_pj /=  D,  A_pp = -1 / D
 *     back                 A_ij -= A_ip A_pj / D,  A_ip /= -D,  A_pj /= -D,  A_pp = -1 / D
 *
 * so that A_FF = -(K_FF + R_FF)^-1 and the last column is x. All of a sweep is done at once, where
 * a factor is made row after row. x is then put right once against K itself, and the slopes, y = K
 * x - t, are taken from there.
 */
#ifndef CULL_BACKEND_CUDA_REFIT_TABLEAU_CUH
#define CULL_BACKEND_CUDA_REFIT_TABLEAU_CUH

#include "backend/cuda/crew.cuh"
#include "backend/cuda/refit.h"

enum { CULL_SIDE_ZERO, CULL_SIDE_ABOVE, CULL_SIDE_DROPPED, CULL_SIDE_OUT };

template <bool TOGETHER> struct cull_refit {
    cull_crew<TOGETHER>         crew;
    const cull_cuda_refit_call *of;
    const double               *near_k; /* all of k in shared memory, dense; or NULL      */

    unsigned n, first, end; /* the block's: first .. end - 1                              */
    double  *a;             /* (end - first, n + 1) the tableau                           */
    double  *pivot[2];      /* [n + 1] the row that is swept by, and the next             */

    double        *x, *y;           /* [n] weights; the error's slope by them, halved        */
    double        *r, *square, *t;  /* [n] R; K_ii; the right side                           */
    double        *old, *point, *e; /* [n] weights given; on the way to x; scratch           */
    unsigned      *list;            /* [n] atoms to be swept, and behind them how many       */
    unsigned char *side, *in;       /* [n] CULL_SIDE_*; 1: swept forward                     */
};

template <bool TOGETHER>
static __device__ __forceinline__ double cull_refit_k(const cull_refit<TOGETHER> &f, unsigned i,
                                                      unsigned j)
{
    const unsigned *index = f.of->index;
    size_t          at = (index ? index[i] : i) * f.of->ld + (index ? index[j] : j);

    if (f.near_k) return f.near_k[at];
    return f.of->single ? static_cast<double>(static_cast<const float *>(f.of->k)[at])
                        : static_cast<const double *>(f.of->k)[at];
}

/* `of` must stay. */
template <bool TOGETHER>
static __device__ void cull_refit_open(cull_refit<TOGETHER> &f, const cull_cuda_refit_call &of,
                                       unsigned char *shared)
{
    double  *room = of.at_vectors ? reinterpret_cast<double *>(shared + of.at_vectors) : of.vectors;
    double **part[] = {&f.x, &f.y, &f.r, &f.square, &f.t, &f.old, &f.point, &f.e};

    f.of = &of;
    f.n = of.n;
    f.end = cull_share(f.crew, of.n, &f.first);
    f.end += f.first;
    f.a = of.at_tableau ? reinterpret_cast<double *>(shared + of.at_tableau)
                        : of.tableau + static_cast<size_t>(f.first) * (of.n + 1);
    f.pivot[0] = reinterpret_cast<double *>(shared + of.at_pivot);
    f.pivot[1] = f.pivot[0] + of.n + 1;
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++) *part[i] = room + i * of.n;
    f.list = reinterpret_cast<unsigned *>(room + sizeof part / sizeof *part * of.n);
    f.side = reinterpret_cast<unsigned char *>(f.list + of.n + 1);
    f.in = f.side + of.n;
}

/* ---- the tableau ---- */

/* As it is before any sweep. */
template <bool TOGETHER> static __device__ void cull_refit_reset(cull_refit<TOGETHER> &f)
{
    for (unsigned i = f.first + cull_warp(); i < f.end; i += blockDim.x / CULL_WARP) {
        double *row = f.a + static_cast<size_t>(i - f.first) * (f.n + 1);

        for (unsigned j = cull_lane(); j < f.n; j += CULL_WARP)
            row[j] = cull_refit_k(f, i, j) + (i == j ? f.r[i] : 0);
        if (cull_lane() == 0) {
            row[f.n] = f.t[i];
            f.in[i] = 0;
        }
    }
}

/* Atoms that are not on the side on which the tableau has them, in order. */
template <bool TOGETHER> static __device__ unsigned cull_refit_list(cull_refit<TOGETHER> &f)
{
    unsigned count = 0, lane = cull_lane();

    cull_meet(f.crew);
    if (f.crew.block() == 0 && cull_warp() == 0) {
        for (unsigned begin = 0; begin < f.n; begin += CULL_WARP) {
            unsigned i = begin + lane;
            bool     moves = i < f.n && (f.side[i] == CULL_SIDE_ABOVE) != (f.in[i] != 0);
            unsigned all = __ballot_sync(CULL_ALL_LANES, moves);

            if (moves) f.list[count + __popc(all & ((1u << lane) - 1))] = i;
            count += static_cast<unsigned>(__popc(all));
        }
        if (lane == 0) f.list[f.n] = count;
    }
    cull_meet(f.crew);
    return f.list[f.n];
}

/* A row of the tableau on its way to all blocks, and from there to pivot[turn]. */
template <bool TOGETHER>
static __device__ __forceinline__ double *cull_refit_sent(cull_refit<TOGETHER> &f, unsigned turn)
{
    return TOGETHER ? f.of->apart + static_cast<size_t>(turn) * (f.n + 1) : f.pivot[turn];
}

template <bool TOGETHER>
static __device__ __forceinline__ void cull_refit_receive(cull_refit<TOGETHER> &f, unsigned turn)
{
    cull_meet(f.crew);
    if (TOGETHER) {
        for (unsigned j = threadIdx.x; j <= f.n; j += blockDim.x)
            f.pivot[turn][j] = cull_refit_sent(f, turn)[j];
        __syncthreads();
    }
}

/* One entry after a sweep by row p, of which `over` is 1 / D and turned that with D's sign. */
static __device__ __forceinline__ double cull_refit_swept(double own, unsigned i, unsigned j,
                                                          unsigned p, const double *pivot,
                                                          double over, double turned)
{
    if (i == p) return j == p ? -over : pivot[j] * turned;
    return j == p ? pivot[i] * turned : own - pivot[i] * pivot[j] * over;
}

/* Sweeps by list[count], one after the other. A pivot below half of what it must be at least is
 * rounding: that atom is out. */
template <bool TOGETHER>
static __device__ void cull_refit_sweep(cull_refit<TOGETHER> &f, unsigned count)
{
    const unsigned *list = f.list;
    const double   *r = f.r;
    unsigned char  *in = f.in;
    double         *a = f.a;
    unsigned        n = f.n, first = f.first, end = f.end, warps = blockDim.x / CULL_WARP;
    unsigned        p = list[0], turn = 0;

    for (unsigned j = threadIdx.x; p >= first && p < end && j <= n; j += blockDim.x)
        cull_refit_sent(f, 0)[j] = a[static_cast<size_t>(p - first) * (n + 1) + j];
    cull_refit_receive(f, 0);
    for (unsigned c = 0; c < count; c++, turn ^= 1) {
        const double *pivot = f.pivot[turn];
        double       *sent = cull_refit_sent(f, turn ^ 1);
        unsigned      next = c + 1 < count ? list[c + 1] : n;

        p = list[c];
        bool   forward = !in[p];
        double own = pivot[p];
        bool   out = own == 0 || (forward && !(own >= r[p] / 2));
        double over = out ? 0 : 1 / own, turned = forward ? over : -over;

        for (unsigned i = first + cull_warp(); i < end; i += warps) {
            double *row = a + static_cast<size_t>(i - first) * (n + 1);

            if (out && i != next) continue;
#pragma unroll 2
            for (unsigned j = cull_lane(); j <= n; j += CULL_WARP) {
                double entry = row[j];

                if (!out) row[j] = entry = cull_refit_swept(entry, i, j, p, pivot, over, turned);
                if (i == next) sent[j] = entry;
            }
        }
        cull_refit_receive(f, turn ^ 1);
        if (!f.crew.first()) continue;
        if (out)
            f.side[p] = CULL_SIDE_OUT;
        else
            in[p] = forward;
    }
}

/* ---- weights and slopes ---- */

/* out_i = sum over j of K_ij x_j, of the block's rows; x is seen by all. */
template <bool TOGETHER>
static __device__ void cull_refit_apply(cull_refit<TOGETHER> &f, const double *x, double *out)
{
    for (unsigned i = f.first + cull_warp(); i < f.end; i += blockDim.x / CULL_WARP) {
        double sum = 0;

        for (unsigned j = cull_lane(); j < f.n; j += CULL_WARP) sum += cull_refit_k(f, i, j) * x[j];
        sum = cull_sum_lanes(sum, CULL_WARP);
        if (cull_lane() == 0) out[i] = sum;
    }
    cull_meet(f.crew);
}

/* x += (K_FF + R_FF)^-1 (t - (K + R) x)_F; y is K x and becomes scratch. */
template <bool TOGETHER> static __device__ void cull_refit_mend(cull_refit<TOGETHER> &f)
{
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        f.e[i] = f.in[i] ? f.t[i] - f.r[i] * f.x[i] - f.y[i] : 0;
    cull_meet(f.crew);
    for (unsigned i = f.first + cull_warp(); i < f.end; i += blockDim.x / CULL_WARP) {
        const double *row = f.a + static_cast<size_t>(i - f.first) * (f.n + 1);
        double        sum = 0;

        if (!f.in[i]) continue;
        for (unsigned j = cull_lane(); j < f.n; j += CULL_WARP) sum -= row[j] * f.e[j];
        sum = cull_sum_lanes(sum, CULL_WARP);
        if (cull_lane() == 0) f.x[i] += sum;
    }
    cull_meet(f.crew);
}

/* x and y for the atoms that are above zero. */
template <bool TOGETHER> static __device__ void cull_refit_solve(cull_refit<TOGETHER> &f)
{
    unsigned count = cull_refit_list(f);

    if (count) cull_refit_sweep(f, count);
    cull_meet(f.crew);
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        f.x[i] = f.in[i] ? f.a[static_cast<size_t>(i - f.first) * (f.n + 1) + f.n] : 0;
    cull_meet(f.crew);
    cull_refit_apply(f, f.x, f.y);
    cull_refit_mend(f);
    cull_refit_apply(f, f.x, f.y);
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) f.y[i] -= f.t[i];
    cull_meet(f.crew);
}

#endif
