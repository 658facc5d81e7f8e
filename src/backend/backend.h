/*
 * backend/backend.h - the operations every device implements, and how to run them.
 *
 * An operation is prepared once for the largest sizes it will see (op_create chooses and
 * allocates) and then run many times, allocating nothing. `ref` is plain loops and defines
 * what is right; `cpu` is tested against it over one table of cases (tests/ops).
 *
 *     rank      percentile_i = (#smaller + 1/2 #equal) / n, itself among the equal
 *     keys      key_i = -log(u_i) / weight_i, u_i uniform from (key, step, place_i);
 *               the m smallest keys are a draw without replacement by weight. A weight of
 *               zero gives +infinity. weight NULL: all 1
 *     top       the m largest (or smallest) of x, ties to the lower index, ascending by index
 *     gram      K = P P^T o (H H^T + 1), t = row means (or against a target), b2
 *     omp       orthogonal matching pursuit, many problems at once   (cull_omp_problem)
 *     refit     weights >= 0 for atoms that are given, many problems at once: index[budget] and
 *               the weights, none negative, of the first `picked` come in; weight[budget] goes
 *               out, the solution over all of them of
 *                   min 1/2 x^T (K_II + ridge I + SHIFT diag K_II) x - t_I^T x,  x >= 0
 *               with the ridge that the pursuit left in the problem; or, where x^T K_II x -
 *               2 t_I^T x is no lower for it, what came in, and zero for the rest. A problem whose
 *               budget is picked already is left as it is
 *     facility  facility location, many problems at once             (cull_facility_problem)
 *     gradient  B = sum over rows of p_i (x) [h_i; 1], bias last
 *     gain      p_i^T B [h_i; 1] of each row, or without P all of B [h_i; 1]
 */
#ifndef CULL_BACKEND_BACKEND_H
#define CULL_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "base/status.h"
#include "base/threads.h"

typedef struct cull_op cull_op;

typedef enum cull_op_kind {
    CULL_OP_RANK,
    CULL_OP_KEYS,
    CULL_OP_TOP,
    CULL_OP_GRAM,
    CULL_OP_OMP,
    CULL_OP_FACILITY,
    CULL_OP_GRADIENT,
    CULL_OP_GAIN,
    CULL_OP_REFIT,
    CULL_OP_KINDS
} cull_op_kind;

/* Of refit: keeps atoms that depend on each other from weights without bound. */
#define CULL_REFIT_SHIFT 1e-6

/* What an operation is prepared for: upper bounds. rank, keys and top look only at rows. */
typedef struct cull_op_desc {
    cull_op_kind kind;
    size_t       rows; /* most rows or atoms of one problem */
} cull_op_desc;

/* Facility location: gradients are told apart by squares, which must stay numbers. */
#define CULL_FACILITY_MOST 0x1p400

typedef struct cull_op_args {
    union {
        struct {
            size_t        rows;
            const double *x;          /* [rows] finite */
            double       *percentile; /* [rows]        */
        } rank;
        struct {
            size_t          rows;
            cull_key        key;
            uint64_t        step;
            const uint32_t *place;  /* [rows]; NULL: 0 .. rows-1 */
            const double   *weight; /* [rows] >= 0, or NULL      */
            double         *out;    /* [rows]                    */
        } keys;
        struct {
            size_t        rows, m; /* 1 <= m <= rows */
            const double *x;       /* [rows] no NaN  */
            bool          largest;
            uint32_t     *index; /* [m]            */
        } top;
        struct {
            const cull_tensor *h, *p;  /* (n, D), (n, C), same dtype or not        */
            const cull_target *target; /* NULL: the mean over the n themselves     */
            double            *k;      /* (n, n), whatever h and p are             */
            double            *t;      /* [n], or NULL                             */
            double            *b2;     /* or NULL                                  */
        } gram;
        struct {
            cull_omp_problem       *problems;
            size_t                  count;
            const cull_omp_options *options;
        } omp; /* and of refit, which looks at the options for their memory alone */
        struct {
            cull_facility_problem       *problems; /* h below CULL_FACILITY_MOST */
            size_t                       count;
            const cull_facility_options *options;
        } facility;
        struct {
            const cull_tensor *h, *p; /* (N, D), (N, C)                       */
            const uint32_t    *row;   /* [rows] of h and p; NULL: 0 .. rows-1 */
            size_t             rows;
            double            *b; /* (C, D+1) */
        } gradient;
        struct {
            const cull_tensor *h, *p;         /* (N, D), (N, C); p may be NULL         */
            const uint32_t    *row;           /* [rows] of h and p; NULL: 0 .. rows-1  */
            size_t             rows, classes; /* classes: C, the rows of B             */
            const double      *b;             /* (C, D+1)                              */
            double            *out;           /* [rows], or without p (rows, C)        */
        } gain;
    };
} cull_op_args;

/* One operation of one backend. An op begins with a `struct cull_op`. */
typedef struct cull_op_class {
    cull_status (*create)(cull_backend *backend, const cull_op_desc *desc, cull_op **out);
    cull_status (*run)(cull_op *op, const cull_op_args *args);
    void (*destroy)(cull_op *op);
} cull_op_class;

struct cull_op {
    const cull_op_class *class;
    cull_backend *backend;
    cull_op_desc  desc;
};

typedef struct cull_backend_class {
    const char          *name;
    const cull_op_class *op[CULL_OP_KINDS];
    cull_status (*open)(cull_backend *backend); /* optional */
    void (*close)(cull_backend *backend);       /* optional */
} cull_backend_class;

/* Several threads may use a backend at once: after open only team and kept change, and both
 * know how. */
struct cull_backend {
    const cull_backend_class *class;
    cull_team         *team;
    void              *device;              /* the class's own */
    char               bus[16];             /* the device's PCI address; "": the processor itself */
    _Atomic(cull_op *) kept[CULL_OP_KINDS]; /* of public solver calls, ready for the next */
    char               description[64];
};

extern const cull_backend_class cull_backend_ref;
extern const cull_backend_class cull_backend_cpu;

/*
 * Make *op ready for desc: creates it, or replaces it when it was prepared for less.
 * *op starts as NULL and ends with cull_op_destroy().
 */
cull_status cull_op_ready(cull_backend *backend, const cull_op_desc *desc, cull_op **op);
void        cull_op_destroy(cull_op *op); /* NULL is fine */

/* The operation of a kind that the backend keeps, or NULL: there is none, or another thread has
 * it. Whoever took one, or made one in its place, gives it back; a second one is destroyed. */
cull_op *cull_op_take(cull_backend *backend, cull_op_kind kind);
void     cull_op_give(cull_backend *backend, cull_op *op); /* NULL is fine */

static inline cull_status cull_op_run(cull_op *op, const cull_op_args *args)
{
    return op->class->run(op, args);
}

#endif
