/*
 * backend/cpu/refit.h - what the two files of refitting share.
 *
 *     refit.c        the operation: memory, problems shared among threads, the atoms' numbers
 *     refit_solve.c  one problem solved, and whether the solution is an improvement
 */
#ifndef CULL_BACKEND_CPU_REFIT_H
#define CULL_BACKEND_CPU_REFIT_H

#include "backend/cpu/omp.h"

/* One problem in the memory of one worker. */
typedef struct cull_refit_job {
    cull_omp_problem   *problem;
    const cull_kernels *kernels;
    size_t              n;              /* atoms: the problem's budget                   */
    size_t              width, classes; /* D, C; of one column: C = 1; explicit: 0        */
    size_t              size;           /* C (D+1)                                       */
    bool                primal;
    double             *h, *p;  /* (n, D), (n, C) from the last layer             */
    double             *k;      /* (n, n) dual: K over the atoms                  */
    double             *g;      /* (n, size) primal: the gradients                */
    double             *factor; /* upper triangle, packed by rows: dual (n), primal (size) */
    double             *t;      /* [n] <g_i, b>                                   */
    double             *square; /* [n] K_ii                                       */
    double             *r;      /* [n] ridge + SHIFT K_ii                         */
    double             *x, *y;  /* [n] weights; the error's slope by them, halved */
    double             *old;    /* [n] the weights given                          */
    double             *row;    /* [n] scratch                                    */
    double             *point;  /* [n] weights >= 0, on the way to x              */
    double             *z;      /* primal: [size] what x leaves of b; dual: [n] scratch */
    uint32_t           *above;  /* [n] atoms above zero                           */
    size_t              aboves;
    uint8_t            *side; /* [n]                                            */
} cull_refit_job;

/* k or g, t, square and r are there: old, and then the problem's weights. */
void cull_cpu_refit_solve(cull_refit_job *job);

#endif
