/*
 * backend/cuda/pool.h - matching pursuit over pools: problems whose K is made from H and P.
 *
 *     pool.c          the problems: sizes, memory, lots, what is reported
 *     pool_made.c     problems for the operations that take a K, made here
 *     pool_rows.cuh   columns of K: inner products of rows, a warp to 32 atoms
 *     pool_start.cu   t, diag K, |b|^2, the ridge
 *     pool_pass.cu    a pick's column of L, and what it does to all atoms
 *     pool_choose.cu  which atom is next, and when to stop
 *     pool_end.cu     the weights
 *     pool_gram.cu    K over some atoms, whole
 *
 * All problems of a lot advance together, pick by pick: one kernel chooses an atom of each, the
 * next takes it off all correlations. It is the dual form of backend/cpu/omp_dual.c, by the rules
 * of backend/cpu/omp.h on what counts as nothing, summed in double. L lies in panels of 32 atoms,
 * (picks, 32) each, so that a warp reads a pick's column in order.
 */
#ifndef CULL_BACKEND_CUDA_POOL_H
#define CULL_BACKEND_CUDA_POOL_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "backend/cuda/rows.h"

enum {
    CULL_POOL_PANEL = 32, /* atoms that a warp has                   */
    CULL_POOL_WARPS = 4   /* panels that a block has, of one problem */
};
#define CULL_POOL_NONE 0xffffffffu

/* Of all problems of a lot. */
typedef struct cull_pool_rules {
    double ridge, tolerance;
    bool   absolute;                 /* picks by |alpha|                                      */
    bool   as_it_is;                 /* the ridge; else it is relative to the mean of diag K  */
    double plain_pivot, plain_alpha; /* backend/cpu/omp.h: where noise cannot matter */
    double noise;
    double refine_below; /* a pivot of which the weights are refined              */
} cull_pool_rules;

/* What becomes of a problem. */
typedef struct cull_pool_state {
    double   ridge, b2, scale2, r2, lowest;
    double   scale, c; /* of the pick: 1 / sqrt(pivot), alpha times that                    */
    uint32_t picked;   /* so many, the pick at hand included                                */
    uint32_t pick;     /* the atom whose column is made, or CULL_POOL_NONE                  */
    uint32_t broken;   /* first atom whose numbers are not finite, or CULL_POOL_NONE        */
    uint32_t stop;     /* cull_omp_stop                                                     */
    uint32_t ended;    /* no more picks                                                     */
    double   residual;
} cull_pool_state;

/* One problem, its arrays on the device; the caller's are h, p, row, b, index and weight. */
typedef struct cull_pool_problem {
    cull_cuda_rows   h, p;
    const uint32_t  *row;
    const double    *b;
    int32_t          column; /* -1: all classes                                            */
    uint32_t         n, panels, budget, most; /* most: picks there is room for             */
    uint32_t         first_block;             /* of the launches over all atoms            */
    uint32_t        *index;
    double          *weight;
    cull_pool_state *state;
    double          *pc; /* [n] with a column: its entries of P                   */
    double          *t, *diag, *alpha, *d; /* [n]                                          */
    double          *l;         /* panels of (most, 32)                                  */
    double          *x;         /* [most] L at the pick                                  */
    double          *c, *w, *e; /* [most] coefficients; solutions of small systems       */
    double          *factor;    /* packed lower triangle: L over the picked              */
    double          *gram;      /* and K over them, while weights are refined            */
    double          *best;      /* [panels] largest score of each                        */
    uint32_t        *best_at;   /* [panels] the first atom with it                       */
    uint8_t         *state_of;  /* [n] CULL_POOL_FREE ..                                 */
} cull_pool_problem;

enum { CULL_POOL_FREE, CULL_POOL_PICKED, CULL_POOL_DEPENDENT };

/* A lot on the device, for its kernels. */
typedef struct cull_pool_lot {
    const cull_pool_problem *problem; /* [count]                                           */
    const uint32_t          *of;      /* [blocks] whose atoms a block has                  */
    uint32_t                *ended;   /* so many have no more picks                        */
    uint32_t                 count, blocks;
    cull_pool_rules          rules;
} cull_pool_lot;

/* Some atoms of a problem; index NULL: the first n. */
typedef struct cull_pool_atoms {
    cull_cuda_rows  h, p;
    const uint32_t *row, *index;
    const double   *b;
    int32_t         column;
    uint32_t        n;
    uint32_t       *at;
    double         *k, *t;
} cull_pool_atoms;

#ifdef __cplusplus
extern "C" {
#endif

/* pc, t (with a column), diag; then what follows from them. t of whole gradients is the gain of
 * gradient.h, which comes before. */
cudaError_t cull_pool_start(cudaStream_t stream, const cull_pool_lot *lot);
cudaError_t cull_pool_choose(cudaStream_t stream, const cull_pool_lot *lot);
cudaError_t cull_pool_pass(cudaStream_t stream, const cull_pool_lot *lot);
cudaError_t cull_pool_end(cudaStream_t stream, const cull_pool_lot *lot);

/* K (n, n) over them, t[n], and as a list their rows at[n]. */
cudaError_t cull_pool_gram(cudaStream_t stream, const cull_pool_atoms *atoms);

#ifdef __cplusplus
}
#else
#include "backend/backend.h"

/*
 * For the operations of pursuit and refit: problems without an explicit K. They wait for the
 * stream, so they are not for recorded steps; what is reported is in the problems then. Weights
 * held above zero at every pick, drawn picks and refits are made problems with a K, for the very
 * operation that asks.
 */
cull_status cull_cuda_pool_pursue(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                  size_t count, const cull_omp_options *options);
cull_status cull_cuda_pool_refit(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                 size_t count, const cull_omp_options *options);

/* The first of the two, over a K that is made. */
cull_status cull_pool_pursue_made(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                  size_t count, const cull_omp_options *options);
#endif

#endif
