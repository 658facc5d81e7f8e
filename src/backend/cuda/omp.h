/*
 * backend/cuda/omp.h - matching pursuit over explicit Gram matrices, between omp.c and its kernels.
 *
 *     omp.c            the operation: problems, how each is shared out, what is reported
 *     omp.cu           its kernels
 *     crew.cuh         threads that find something out together
 *     omp_rows.cuh     a problem: its rows, the pass over them that a pick is
 *     omp_choose.cuh   which atom is next, and when to stop
 *     omp_refine.cuh   weights put right against their equations
 *     omp_pursue.cuh   the whole of a pursuit
 *     omp_bound.cuh    the same with weights >= 0
 *     omp_near.cuh     few atoms, by a block that has all of K in its registers
 *
 * What a pursuit keeps. Q are directions, orthogonal and of unit length in K + ridge I, that span
 * the picked atoms, one to each pick. Row i of L is <g_i, Q> of an atom that is not picked; of one
 * that is, it is X_i: what g_i contributes to each direction, Q = sum of X_i g_i. A pick adds a
 * direction, and that is one and the same step for all rows (L_p: the row of the pick p before it):
 *
 *     v_i = (K_ip - L_i L_p) / sqrt(d_p)   not picked         v_i = -(X_i L_p) / sqrt(d_p)   picked
 *     v_p = 1 / sqrt(d_p)                  c = alpha_p / sqrt(d_p)
 *     alpha_i -= c v_i,  d_i -= v_i^2      not picked         weight_i += c v_i              picked
 *
 * So the weights are known at every pick, as X X^T = (K_II + ridge I)^-1; and -X L_p are the
 * weights that bring the picked nearest to p. What counts as nothing is said in backend/cpu/omp.h.
 *
 * One block has a problem by itself, K and L in its shared memory as far as they fit there; or all
 * blocks of a cooperative kernel share its rows and meet once a pick.
 */
#ifndef CULL_BACKEND_CUDA_OMP_H
#define CULL_BACKEND_CUDA_OMP_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "backend/cuda/crew.h"
#include "backend/cuda/tableau.h"
#include "cull.h"

enum { CULL_OMP_THREADS = 512 };

/* Pivots above it cost the weights five of sixteen digits; below, they are refined. */
#define CULL_OMP_REFINE_BELOW 1e-5

/* Of shared memory, for a pursuit in registers. */
#define CULL_OMP_NEAR_BYTES (13 * CULL_TABLEAU_SIDE * sizeof(double) + 64)

/* Options of a call, and where they hold. */
typedef struct cull_cuda_omp_rules {
    double   ridge, tolerance;
    double   plain_pivot, plain_alpha, noise; /* backend/cpu/omp.h            */
    bool     absolute, sample, nonnegative;
    bool     reason; /* why no atom is left is asked for */
    cull_key key;
    uint64_t step;
} cull_cuda_omp_rules;

/* What became of a problem. */
typedef struct cull_cuda_pursued {
    double   ridge, residual;
    uint32_t picked, stop; /* cull_omp_stop                                     */
    uint32_t broken;       /* the first atom whose numbers are not finite; else the count */
} cull_cuda_pursued;

/* A problem, its arrays on the device. */
typedef struct cull_cuda_pursuit {
    uint32_t            n, budget;
    const void         *k; /* (n, n) in rows of ld, float32 where single  */
    size_t              ld;
    bool                single;
    const double       *t;   /* [n]                                            */
    double              b2;  /* not above 0: unknown                           */
    const double       *at2; /* where b2 lies instead; or NULL               */
    uint32_t           *index;
    double             *weight; /* [budget] both                                  */
    cull_cuda_pursued  *report;
    double             *l;       /* (n, width) beside shared memory; or NULL       */
    double             *scratch; /* [2 budget] right sides of equations            */
    cull_cuda_omp_rules rules;

    /* How it is shared out, and where things lie in shared memory: cull_cuda_omp_lay(). */
    uint32_t width;      /* of L's rows                                    */
    uint32_t rows;       /* most that a block has                          */
    uint32_t lanes;      /* threads to a row: 1, 2, .. CULL_WARP              */
    bool     brings_k;   /* into shared memory                             */
    bool     stages;     /* L_p is copied there before it is used          */
    bool     near;       /* by one block, in registers (omp_near.cuh)      */
    uint32_t at_k, at_l; /* bytes from the beginning; near: at_l its room  */
    uint32_t at_pick, at_rows;
    uint32_t bytes;
} cull_cuda_pursuit;

/* Can a block have n atoms in its registers? */
bool cull_cuda_omp_can_be_near(const cull_cuda_omp_rules *rules, size_t n);

/* How n and budget are shared among so many blocks of so many threads: widths and places. Shared
 * memory holds L where `most` bytes allow, and K too where there is one block and `bring`. Returns
 * how many doubles are needed beside it, for cull_cuda_omp_room(). */
size_t cull_cuda_omp_lay(cull_cuda_pursuit *x, uint32_t blocks, uint32_t threads, size_t most,
                         bool bring);
void   cull_cuda_omp_room(cull_cuda_pursuit *x, double *room);

/* The clocks that a pursuit takes so many blocks, of so much shared memory; and how many that meet,
 * two or more, are done soonest. */
double   cull_cuda_omp_cost(size_t n, size_t budget, uint32_t blocks, size_t most);
uint32_t cull_cuda_omp_blocks(size_t n, size_t budget, int processors, size_t most);
/* Threads of a block that has so many rows. */
uint32_t cull_cuda_omp_threads(size_t rows);

#ifdef __cplusplus
extern "C" {
#endif

/* Shared memory that kernels may ask for; once for a device. */
cudaError_t cull_cuda_omp_prepare(size_t most);
/* problem[count] on the device, a block each; near: all are. */
cudaError_t cull_cuda_omp_each(cudaStream_t stream, const cull_cuda_pursuit *problem,
                               uint32_t count, size_t bytes, bool near);
/* One problem, by blocks that meet; said: room for 2 cull_said each. */
cudaError_t cull_cuda_omp_together(cudaStream_t stream, cull_cuda_pursuit problem, uint32_t blocks,
                                   uint32_t threads, void *said);

#ifdef __cplusplus
}
#endif

#endif
