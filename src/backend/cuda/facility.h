/*
 * backend/cuda/facility.h - facility location on a device, as backend/facility.h defines it.
 *
 *     facility.c          the problems: sizes, memory, lots
 *     facility_near.cu    S, all of it, or only the largest distance
 *     facility_greedy.cu  picks, weights, value
 *     facility_rows.cu    picks where S is not held
 *
 * The problems of a lot advance together, pick by pick. A gain is a bound from above later on, as
 * gains never grow: for a pick the atom of the largest bound is looked at again, and then all whose
 * bound is not below what was found there. So the picks are those of looking at all.
 */
#ifndef CULL_BACKEND_CUDA_FACILITY_H
#define CULL_BACKEND_CUDA_FACILITY_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "backend/cuda/rows.h"

enum { CULL_FACILITY_TILE = 64 }; /* atoms of a block */

/* What becomes of a problem. */
typedef struct cull_facility_state {
    unsigned long long largest[2]; /* of P (or S as given) and of H: a double's bits       */
    unsigned long long farthest;   /* distance, the same                                   */
    int32_t            exponent;   /* P, or S as given, is divided by 2^exponent           */
    uint32_t           picked;
    uint32_t           left;      /* stochastic: candidates                                */
    uint32_t           listed;    /* atoms of the list                                     */
    double             floor;     /* where every best begins                               */
    double             threshold; /* bounds below it need not be looked at                 */
    double             value;     /* divided by 2^exponent                                 */
} cull_facility_state;

/* One problem; h, p, given, row, index and weight are the caller's. */
typedef struct cull_facility_task {
    cull_cuda_rows       h, p, given; /* given: the similarity, or no matrix              */
    const uint32_t      *row;
    uint32_t             n, budget;
    uint32_t             sample;                  /* candidates of a pick; 0: all          */
    uint32_t             first_strip, first_tile; /* of the launches over strips, and over tiles */
    uint32_t            *index;
    double              *weight;
    cull_facility_state *state;
    float               *near; /* (n, ld) S                                             */
    size_t               ld;
    double              *norm;  /* [n] K_ii                                              */
    double              *best;  /* [n]                                                   */
    double              *gain;  /* [n] a bound; -infinity: picked                        */
    uint32_t            *owner; /* [n] number of the pick                                */
    uint32_t            *fresh; /* [n] 1 + the pick that gain was computed for           */
    uint32_t            *candidate, *asked; /* [n] stochastic: the first `left` are not picked; 1 +
                                               the pick that it is looked at for         */
    uint32_t  slots; /* rows of S that are held; 0: all                         */
    uint32_t *list;  /* [n] of atoms whose rows are made; where S is not held   */
} cull_facility_task;

typedef struct cull_facility_lot {
    const cull_facility_task *task;               /* [count]                           */
    const uint32_t           *strip_of, *tile_of; /* whose strip of atoms, tile of S it is */
    uint32_t                  count, strips, tiles;
    cull_key                  key;
    uint64_t                  step;
} cull_facility_lot;

/* Strips and tiles of a problem. */
static inline uint32_t cull_facility_strips(uint32_t n)
{
    return (n + CULL_FACILITY_TILE - 1) / CULL_FACILITY_TILE;
}

static inline uint32_t cull_facility_tiles(uint32_t n)
{
    uint32_t strips = cull_facility_strips(n);

    return strips * (strips + 1) / 2;
}

#ifdef __cplusplus
extern "C" {
#endif

/* S and the floor. */
cudaError_t cull_facility_measure(cudaStream_t stream, const cull_facility_lot *lot);
/* Before the first pick; the gains a pick needs, and the pick; behind the last. Where S is not
 * held, of a lot that is one problem, `here` on the host, after _begin there is a list too. */
cudaError_t cull_facility_begin(cudaStream_t stream, const cull_facility_lot *lot);
cudaError_t cull_facility_pick(cudaStream_t stream, const cull_facility_lot *lot);
cudaError_t cull_facility_list(cudaStream_t stream, const cull_facility_lot *lot);
cudaError_t cull_facility_pick_by_rows(cudaStream_t stream, const cull_facility_lot *lot,
                                       const cull_facility_task *here);
cudaError_t cull_facility_end(cudaStream_t stream, const cull_facility_lot *lot);

#ifdef __cplusplus
}
#endif

#endif
