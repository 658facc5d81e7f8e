/* backend/ref/omp.h - what the files of brute-force matching pursuit share. */
#ifndef CULL_BACKEND_REF_OMP_H
#define CULL_BACKEND_REF_OMP_H

#include "backend/backend.h"

enum { REF_FREE, REF_PICKED, REF_DEPENDENT };

struct ref_pursuit {
    cull_omp_problem *problem; /* problem->index holds the picked */
    size_t            n, picked, drawn;
    bool              absolute;
    double            ridge, b2, explained;
    double            noise;         /* 32 roundings of K's entries   */
    double           *k;             /* (n, n)                        */
    double           *t;             /* [n]                           */
    double           *alpha;         /* [n]                           */
    double           *weight;        /* [n] of the picked             */
    double           *w, *e, *right; /* [n] scratch */
    double           *l;             /* (n, n) a factor, made and used at once */
    uint8_t          *out;           /* [n] REF_*                     */
};

cull_status cull_ref_omp_alloc(struct ref_pursuit *x, size_t memory, size_t number);
void        cull_ref_omp_free(struct ref_pursuit *x);

/* k, t and b2 of the problem. */
void cull_ref_omp_make(struct ref_pursuit *x);
/* One problem, solved. */
cull_status cull_ref_omp_pursue(cull_omp_problem *problem, const cull_omp_options *options,
                                size_t number);

double cull_ref_omp_s(const struct ref_pursuit *x, size_t i); /* sqrt(K_ii + ridge) */

/* v <- (K_II + ridge I)^-1 v by a fresh Cholesky factor, refined until it stands. Returns
 * the inner product of the two, which for v = t is what the weights explain of |b|^2: new .
 * (old + e), e what the equations still lack, is right up to second order in new's error. */
double cull_ref_omp_solve(struct ref_pursuit *x, double *v);

/* weight of the picked, from the original t. */
void cull_ref_omp_refit(struct ref_pursuit *x);

/* The same with weights >= 0; the atom picked last starts at zero. Atoms that end there
 * are dropped. False: atoms were dropped, and the error is no lower for it. */
bool cull_ref_omp_refit_nonnegative(struct ref_pursuit *x);

#endif
