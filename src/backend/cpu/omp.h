/*
 * backend/cpu/omp.h - what the files of orthogonal matching pursuit share.
 *
 *     omp.c              the operation: memory, problems shared among threads
 *     omp_solve.c        one problem: its method, its start, its result
 *     omp_atoms.c        the atoms: rows of an explicit K, or columns made from H and P
 *     omp_choose.c       which atom is next, and when to stop
 *     omp_factor.c       small triangular algebra on the picked atoms
 *     omp_dual.c         partial Cholesky of K over all atoms
 *     omp_primal.c       the inverse of a (D+1, D+1) matrix; one class's row, with ridge
 *     omp_nonnegative.c  weights >= 0, an active set on a small factor
 *
 * A job is one problem in the memory of one worker. Every array it uses lies in one block
 * whose layout is walked twice: once without memory, to learn how much is needed, and once
 * to hand the pieces out.
 *
 * What counts as nothing (the same in backend/ref/omp.c, which looks at it every time). Let
 * noise be 32 roundings, of a double or, where the problem says so, of K's entries. With s_i =
 * sqrt(K_ii + ridge) and G = sum of |weight_i| s_i over the picked, alpha_i cannot be told from
 * zero when |alpha_i| <= noise (|t_i| + s_i G), the rounding of the sum it is. With w the
 * weights that bring the picked nearest to atom p, its pivot d cannot be told from zero when
 * d <= noise (s_p + sum of |w_i| s_i)^2. Here both are looked at only where they can matter:
 * once a pivot has been below plain_pivot or alpha is below plain_alpha, of their scales.
 */
#ifndef CULL_BACKEND_CPU_OMP_H
#define CULL_BACKEND_CPU_OMP_H

#include "backend/cpu/cpu.h"
#include "backend/cpu/kernels_pursuit.h"

#define CULL_OMP_NO_ATOM UINT32_MAX

/* Pivots above it cost the weights five of sixteen digits; below, they are refined. */
#define CULL_OMP_REFINE_BELOW 1e-5

/* A block being laid out; without a base it only counts. */
typedef struct cull_cpu_arena {
    unsigned char *base;
    size_t         used;
} cull_cpu_arena;

void *cull_cpu_arena_take(cull_cpu_arena *arena, size_t count, size_t size);

/* Dense rows of float32 or float64. */
typedef struct cull_cpu_rows {
    const void *data;
    size_t      ld;
    bool        single;
} cull_cpu_rows;

/* Explicit: k. From the last layer: k.data is NULL, and h and p hold the n rows, gathered
 * where the problem's own are scattered. */
typedef struct cull_cpu_atoms {
    cull_cpu_rows k, h, p;
    size_t        width, classes;          /* D, C                                           */
    void         *gathered_h, *gathered_p; /* NULL: in place                                */
    double       *pc;          /* [padded] with a column: its entries of P; else NULL     */
    double       *h_at, *p_at; /* [D], [C] the atom whose column is made, as doubles      */
    double       *inner;       /* [padded] P p_p while a column is made                   */
    double       *tail[2];     /* [rows] the end of an explicit row, filled up            */
} cull_cpu_atoms;

typedef enum cull_omp_method {
    CULL_OMP_DUAL,
    CULL_OMP_PRIMAL,
    CULL_OMP_NONNEGATIVE
} cull_omp_method;

enum { CULL_ATOM_FREE, CULL_ATOM_PICKED, CULL_ATOM_DEPENDENT };

/* A column begun ahead of its pick: K_{:,atom} less the first `done` columns of L. */
typedef struct cull_omp_ahead {
    uint32_t atom;
    size_t   done;
    double  *column; /* [padded] */
} cull_omp_ahead;

enum { CULL_OMP_AHEAD = 8 };

/* omp_dual.c */
typedef struct cull_omp_dual {
    double           *l;      /* panels of (most, rows)           */
    double           *d;      /* [padded] pivots                  */
    double           *c;      /* [most] coefficients              */
    double           *column; /* [padded] K_{:,p} from H and P    */
    cull_pursuit_pick pick;
    size_t            p;
    cull_omp_ahead    ahead[CULL_OMP_AHEAD];
    size_t            oldest; /* of ahead, the next to be replaced */
    cull_omp_ahead   *begun;  /* where p's column was begun        */
    cull_omp_ahead   *begin;  /* the column to begin beside p's    */
    double           *y;      /* [most] L at its atom              */
} cull_omp_dual;

/* omp_primal.c; D+1 numbers each, in rows of `stride` */
typedef struct cull_omp_primal {
    size_t  size, stride;
    double *s; /* S^-1, less the pending updates */
    double *u; /* the pending updates            */
    size_t  pending;
    double *g, *h, *r, *v, *e;
} cull_omp_primal;

/* omp_nonnegative.c */
typedef struct cull_omp_nonnegative {
    const void **column; /* [most] of each picked atom             */
    double     **spare;  /* [most] columns to fill, from H and P   */
    size_t       spares;
    double      *wish;            /* [most] weights without the bound       */
    double      *turn_c, *turn_s; /* [most] rotations of a removal          */
    double       explained;       /* of |b|^2, by the weights */
    double      *filling;         /* the column being made                  */
} cull_omp_nonnegative;

typedef struct cull_omp_job cull_omp_job;
struct cull_omp_job {
    cull_omp_problem       *problem;
    const cull_omp_options *options;
    const cull_kernels     *kernels;
    cull_team              *team; /* NULL: the threads are busy with other problems */
    cull_omp_method         method;
    cull_cpu_atoms          atoms;
    cull_omp_dual           dual;
    cull_omp_primal         primal;
    cull_omp_nonnegative    nonnegative;

    size_t n, padded;                /* atoms, and rounded up to whole panels                */
    size_t most;                     /* picks there is room for: the budget, or the rank     */
    size_t picked;                   /* atoms in problem->index                              */
    size_t drawn;                    /* picks so far, those dropped again included           */
    double ridge;                    /* lambda times the mean of diag K                      */
    double b2;                       /* |b|^2; not above 0: unknown                          */
    double scale2;                   /* |b|^2, or what the correlations say it is at least   */
    double r2;                       /* b2 less what the picks explain                       */
    double noise;                    /* NOISE above: 32 roundings of K's entries               */
    double plain_pivot, plain_alpha; /* and where it cannot matter yet          */
    double lowest;                   /* the smallest pivot so far, of its K_pp + ridge       */
    bool   absolute;

    const double *t;      /* [n]                                              */
    double       *own_t;  /* [padded] where t is made from H and P            */
    double       *diag;   /* [padded] K_ii                                    */
    double       *alpha;  /* [padded] NaN: masked                             */
    double       *held;   /* [padded] alpha while some atoms are set aside    */
    double       *best;   /* [panels] the largest score of each               */
    uint8_t      *state;  /* [n] CULL_ATOM_*                                  */
    double       *weight; /* [most] of the picked                             */
    double       *solve;  /* [most] scratch of small solves                   */
    double       *factor; /* packed lower triangle L over the picked          */
    double       *gram;   /* packed lower triangle of K over the picked       */
    size_t        broken; /* first atom whose numbers are not finite; n: none */
};

/* ---- omp_atoms.c */

void cull_cpu_atoms_layout(cull_omp_job *job, cull_cpu_arena *arena);
void cull_cpu_atoms_prepare(cull_omp_job *job); /* gathers; diag, t, b2 */

/* Begin column p from H and P, then make rows [first, last) of it, out[first] on. */
void cull_cpu_atoms_point(cull_omp_job *job, size_t p);
void cull_cpu_atoms_fill(cull_omp_job *job, size_t first, size_t last, double *out);

/* out[first .. last) = rows of H (or P) times x, in double. */
void cull_cpu_rows_apply(const cull_omp_job *job, const cull_cpu_rows *rows, size_t columns,
                         size_t first, size_t last, const double *x, double *out);
/* Row i as doubles. */
void cull_cpu_rows_get(const cull_cpu_rows *rows, size_t columns, size_t i, double *out);

/* ---- omp_choose.c */

/* How a method answers what choosing must know. */
typedef struct cull_omp_view {
    double (*weight_norm)(cull_omp_job *job);          /* G above              */
    bool (*dependent)(cull_omp_job *job, size_t atom); /* its pivot is nothing */
} cull_omp_view;

/* Budget reached or target met? Then problem->stop is set. */
bool cull_cpu_omp_done(cull_omp_job *job);
/* The next atom, or CULL_OMP_NO_ATOM with problem->stop set. best[] must be current. */
uint32_t cull_cpu_omp_choose(cull_omp_job *job, const cull_omp_view *view);
/* best[] of panels [first, last) from alpha. */
void cull_cpu_omp_score(cull_omp_job *job, size_t first, size_t last);

/* ---- omp_factor.c: packed lower triangles, row i at i (i + 1) / 2 */

static inline double *cull_cpu_packed(double *triangle, size_t i)
{
    return triangle + i * (i + 1) / 2;
}

void cull_cpu_solve_lower(double *factor, size_t n, double *x);     /* x <- L^-1 x  */
void cull_cpu_solve_transpose(double *factor, size_t n, double *x); /* x <- L^-T x  */
/* Improve x as the solution of (K_II + ridge I) x = t_I. */
void cull_cpu_omp_refine(cull_omp_job *job, double *x);
/* sum of |x_i| s_i over the picked */
double cull_cpu_omp_norm(const cull_omp_job *job, const double *x);

/* ---- the three methods */

void cull_cpu_dual_layout(cull_omp_job *job, cull_cpu_arena *arena);
void cull_cpu_dual_solve(cull_omp_job *job);
void cull_cpu_primal_layout(cull_omp_job *job, cull_cpu_arena *arena);
void cull_cpu_primal_solve(cull_omp_job *job);
void cull_cpu_nonnegative_layout(cull_omp_job *job, cull_cpu_arena *arena);
void cull_cpu_nonnegative_solve(cull_omp_job *job);

/* ---- omp_solve.c */

/* What a problem is, its sizes; not yet how it is solved. */
void cull_cpu_omp_describe(cull_omp_job *job, const cull_kernels *kernels,
                           cull_omp_problem *problem, const cull_omp_options *options);
/* Chooses the method and returns the bytes it needs. */
size_t cull_cpu_omp_plan(cull_omp_job *job, size_t memory);
/* Solves it in a block of that many bytes; job->broken < n: numbers were not finite. */
void cull_cpu_omp_solve(cull_omp_job *job, unsigned char *block);

/* Run over all panels, shared among the team when `work` multiply-adds a row pay for it. */
typedef void (*cull_omp_range)(cull_omp_job *job, size_t first, size_t last);
void cull_cpu_omp_panels(cull_omp_job *job, size_t work, cull_omp_range run);

#endif
