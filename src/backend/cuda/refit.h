/*
 * backend/cuda/refit.h - weights >= 0 for atoms that are given, between refit.c and its kernels.
 *
 * What is solved is in backend/backend.h, and how in refit_solve.cuh, refit_tableau.cuh and
 * refit_near.cuh.
 */
#ifndef CULL_BACKEND_CUDA_REFIT_H
#define CULL_BACKEND_CUDA_REFIT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "backend/cuda/tableau.h"
#include "cull.h"

enum {
    CULL_REFIT_THREADS = CULL_TABLEAU_THREADS,
    CULL_REFIT_LINE = CULL_TABLEAU_SIDE + 1 /* a row in registers, and its last number */
};

/* A problem, its arrays on the device. */
typedef struct cull_cuda_refit_call {
    uint32_t        n;     /* atoms                                                  */
    const uint32_t *index; /* [n] their rows in k and t; NULL: 0 .. n-1               */
    const void     *k;     /* rows of ld, float32 where single                       */
    size_t          ld;
    bool            single;
    const double   *t;
    double          ridge, shift;
    uint32_t        picked; /* so many have a weight                                  */
    double         *weight; /* [n]                                                    */
    double         *tableau, *vectors, *apart; /* beside shared memory: cull_cuda_refit_lay() */

    /* Places in shared memory, in bytes; 0: not there. */
    uint32_t at_said, at_pivot, at_vectors, at_tableau, bytes;
    bool     near; /* by one block, in registers (refit_near.cuh) */
} cull_cuda_refit_call;

/* Where things lie in shared memory, from byte `from` on, of `most`, for atoms shared by so many
 * blocks; and how many doubles are needed beside it. */
size_t cull_cuda_refit_lay(cull_cuda_refit_call *x, uint32_t blocks, uint32_t from, size_t most);
/* Clocks that so many blocks take, about. */
double cull_cuda_refit_cost(size_t n, uint32_t blocks);
/* Those are handed out. */
void cull_cuda_refit_room(cull_cuda_refit_call *x, uint32_t blocks, double *room);

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cull_cuda_refit_prepare(size_t most);
/* refit[count] on the device, a block each. */
cudaError_t cull_cuda_refit_each(cudaStream_t stream, const cull_cuda_refit_call *refit,
                                 uint32_t count, size_t bytes);
/* One, by blocks that meet; said: room for 2 cull_said each. */
cudaError_t cull_cuda_refit_together(cudaStream_t stream, cull_cuda_refit_call refit,
                                     uint32_t blocks, void *said);

#ifdef __cplusplus
}
#else
#include "backend/backend.h"

/* What solves refits: operations that do have one each, which begins as zeros but for the kit's
 * backend, and ends with cull_kit_clear(&refits->kit). */
typedef struct cull_cuda_refits {
    cull_kit              kit;
    double               *room;
    void                 *said;
    cull_cuda_refit_call *there;
    size_t                rooms, saids, theres;
} cull_cuda_refits;

/* refit[count] with n, index, k, ld, single, t, ridge, picked and weight; memory: bytes that each
 * may take. Enqueued, and memory grows as it must. */
cull_status cull_cuda_refits_run(cull_cuda_refits *refits, cull_cuda_refit_call *refit,
                                 size_t count, size_t memory);
#endif

#endif
