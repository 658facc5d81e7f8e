/*
 * backend/backend.h - what a device is to the rest: memory, order, events, recorded steps, and the
 * operations that run there.
 *
 * Memory. What operations read and write is the backend's: made by cull_backend_allocate(), filled
 * by upload, read by download, and otherwise not touched by anybody. On the host backends (`ref`,
 * `cpu`) it is the process's own and may also be read and written directly, where
 * cull_backend_on_host() says so; elsewhere nothing but these calls reaches it.
 *
 * Order. A backend does one thing after the other, in the order it was asked to, and may do it
 * later: only wait and download return when all before them is done, and only they (or any call
 * after them) tell of what failed. So a call's arguments are copied: descriptors that they point
 * at (tensors, problems, options) are read at the call, arrays when it runs. What a solver reports
 * in its problems is there when it was waited for; on a device pursuits and refits wait for it
 * themselves, and so are not recorded, as `match` is.
 *
 * Events. A mark is a moment in that order; the seconds between two are known once both have
 * passed.
 *
 * Recorded steps. What is asked for between record and recorded is not done but kept, to be done by
 * replay as often as wanted, with the same operations and addresses. What changes from one time to
 * the next is data: the moment block, batches, keys' steps. A backend that gains nothing by it has
 * no recording, and its steps are simply run.
 *
 * Operations. Each is prepared once for the largest sizes it will see (create chooses and
 * allocates) and then run many times, allocating nothing. `ref` is plain loops and defines
 * what is right; the others are tested against it over one table of cases (tests/ops).
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
 *
 *     augment   examples as a network reads them, from where they are stored (backend/augment.h);
 *               rows that are made already are copied
 *     resize    images made smaller, or laid out anew
 *     gather    rows of one array, by their numbers, into another; gather_all: of many
 *     kept      what is kept of an example's loss, for the rows that are gone back through
 *     update    new weights from gradients: SGD or AdamW over one block; not while the error word
 *               says something
 *     summary   the sum of losses, how many examples were classified right, and what became of the
 *               decision that chose them
 *     tally     what became of each example, by place
 *
 * Of selection. They read only what lies in the backend's memory and wait for nothing, so that a
 * decision can be recorded; after a signal that `check` found broken they write something in range.
 *
 *     check     every number of an array lies between two bounds, every place within the pool; the
 *               first that does not becomes the error word
 *     score     loss, or loss - less, as doubles; of the unseen a random number above all others
 *     chance    weight_i = percentile_i ^ beta, or what stands for it where trimmed
 *     draw      m rows without replacement by weight: keys, then the m smallest
 *     settle    a subset made whole: rows ascending (by group), with their places
 *     record    losses kept by place, and
 *     recall    what they predict
 *     sample    m rows with replacement in proportion to a score s: the loss, |p|, or
 *               |p| sqrt(1 + |h|^2); weight_i = mean(s) / s_i, or 1. The largest score is made 1,
 *               an unseen loss scores 1, and so do all where the others are 0
 *     match     a weighted subset whose mean gradient is near the rows' (or a target's): gram, omp,
 *               negative weights dropped, their places filled at random, refit
 *     widen     a subset in the types of callers' arrays: rows, places and groups as int64, weights
 * in a type of theirs; narrow: their integers as places cancel    what `gradient` made becomes zero
 * where only rounding is left of it (cancel.c); the first row whose gradient's square is beyond
 * doubles becomes the error word
 */
#ifndef CULL_BACKEND_BACKEND_H
#define CULL_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "backend/augment.h"
#include "backend/values.h"
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
    CULL_OP_AUGMENT,
    CULL_OP_RESIZE,
    CULL_OP_GATHER,
    CULL_OP_GATHER_ALL,
    CULL_OP_KEPT,
    CULL_OP_UPDATE,
    CULL_OP_SUMMARY,
    CULL_OP_TALLY,
    CULL_OP_CHECK,
    CULL_OP_SCORE,
    CULL_OP_CHANCE,
    CULL_OP_DRAW,
    CULL_OP_SETTLE,
    CULL_OP_RECORD,
    CULL_OP_RECALL,
    CULL_OP_SAMPLE,
    CULL_OP_MATCH,
    CULL_OP_CANCEL,
    CULL_OP_WIDEN,
    CULL_OP_NARROW,
    CULL_OP_KINDS
} cull_op_kind;

/* Of refit: keeps atoms that depend on each other from weights without bound. */
#define CULL_REFIT_SHIFT 1e-6

/* What an operation is prepared for: upper bounds, so that nothing grows while it runs. A zero says
 * nothing: room for it is made when it is first needed. rank, keys, top, chance, draw, settle
 * and sample look only at rows, check, score, record and recall at nothing. */
typedef struct cull_op_desc {
    cull_op_kind kind;
    size_t       rows;           /* most rows or atoms of one problem   */
    size_t       width, classes; /* of H and of P                       */
    size_t       picks;          /* most that are picked of one problem */
} cull_op_desc;

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
        struct {
            cull_augment_desc  desc;
            cull_augment_call  call;
            const cull_moment *now;   /* its epoch in place of the call's; NULL: none            */
            const void        *held;  /* rows that are made already; NULL: none                  */
            const uint32_t    *index; /* [count] which of those; CULL_NO_ROW: it is to be made  */
        } augment;
        struct {
            cull_resize  how;
            const float *from; /* [count] dense, as `to`, which is not from */
            float       *to;
            size_t       count;
        } resize;
        struct {
            const void     *from; /* [held] rows of `bytes` each                      */
            void           *to;   /* [rows]                                           */
            const uint32_t *index;
            size_t          rows, held, bytes;
        } gather;
        struct {
            const cull_gathered *list; /* [count] read at the call                           */
            size_t               count;
            const uint32_t      *index;
            size_t               rows, held; /* of each of the list                          */
        } gather_all;
        struct {
            size_t          rows, classes;
            cull_dtype      dtype;  /* of p and gradient                                  */
            const uint32_t *index;  /* [rows] which of those that were scored             */
            const double   *chosen; /* [rows] their weights                               */
            bool            constants;
            const void     *from_p; /* of all that were scored                            */
            const double   *from_loss;
            const void     *from_target; /* rows of `target_bytes`                        */
            const uint32_t *from_place;
            void           *p;
            void           *gradient;     /* of the logits: w_i p_i / rows                    */
            double         *loss, *share; /* share: weights in BatchNorm's backward, 0: none */
            void           *target;
            size_t          target_bytes;
            uint32_t       *place;
        } kept;
        struct {
            cull_optim_options      rule;
            cull_dtype              dtype;
            size_t                  count;
            size_t                  from; /* the first that is changed; with clip 0         */
            void                   *value, *gradient;
            void                   *narrow; /* [count] the new values in bfloat16 too; NULL: no */
            void                   *buffer[CULL_OPTIM_BUFFERS]; /* [count]; NULL: none  */
            const cull_optim_range *range;                      /* the first at 0       */
            size_t                  ranges;
            double                 *partial; /* clip: [chunks]                           */
            double                 *norm;    /* clip: of the gradient as it came         */
            const cull_moment      *now;     /* rate, updates                            */
            cull_trouble           *trouble; /* NULL: an infinite norm fails the call    */
        } update;
        struct {
            size_t              rows, classes;
            const double       *loss;
            const void         *p; /* of dtype; NULL: nothing is counted             */
            cull_dtype          dtype;
            const void         *target;
            const uint32_t     *place;
            cull_loss           of;  /* what p and target are of                      */
            bool                add; /* to what is there                             */
            cull_seen          *out;
            const cull_moment  *now;      /* out + slot is written then; or NULL         */
            cull_trouble       *trouble;  /* or NULL                                     */
            const cull_outcome *became;   /* of the decision for these; NULL: none       */
            cull_outcome       *outcomes; /* where it is kept, as out                    */
        } summary;
        struct {
            size_t             rows;
            const uint32_t    *place;
            const double      *loss, *weight; /* weight NULL: 1                           */
            const cull_moment *now;           /* epoch                                    */
            int32_t           *count, *first; /* by place, as the two below               */
            double            *weights;
            float             *latest;
        } tally;

        /* Of selection. `step` (or `epoch`) is what is counted by, unless it is read from `now`. */
        struct {
            size_t             rows;
            const uint32_t    *place;     /* [rows]; NULL: 0 .. rows-1                         */
            size_t             pool;      /* places lie below; 0: they are not looked at       */
            cull_tensor        x;         /* (rows) or (rows, columns); absent: places alone   */
            const uint8_t     *unseen;    /* [rows] 1: x is not looked at; or NULL             */
            double             low, high; /* of every x, both inclusive                        */
            uint64_t           which;     /* goes into the error word, as does the moment      */
            const cull_moment *now;       /* NULL: none                                        */
            cull_trouble      *trouble;
        } check;
        struct {
            size_t          rows;
            cull_tensor     loss, less; /* (rows); less absent: nothing is taken off        */
            const uint8_t  *unseen;     /* [rows]; or NULL                                  */
            const uint32_t *place;      /* [rows]; NULL: 0 .. rows-1                        */
            cull_key        key;
            uint64_t        step;
            const uint64_t *now;
            double         *out; /* [rows] no NaN */
        } score;
        struct {
            size_t          rows;
            const uint32_t *place;      /* [rows]; NULL: 0 .. rows-1                        */
            const double   *percentile; /* [rows] among themselves; NULL: as they stand     */
            const double   *standing;   /* [pool] percentiles by place                      */
            const uint8_t  *fresh;      /* [pool] 1: of no known loss, and never trimmed    */
            size_t          pool;
            double          beta;
            double          trim, trimmed; /* above 1 - trim the weight is `trimmed`; 0: none */
            double         *weight;        /* [rows] above 0                                  */
        } chance;
        struct {
            size_t          rows, m; /* 1 <= m <= rows                                      */
            const uint32_t *place;   /* [rows] tells rows apart; NULL: 0 .. rows-1          */
            const double   *weight;  /* [rows] >= 0; NULL: all 1. Too few above 0: the lowest
                                        rows of weight 0 too */
            cull_key        key;
            uint64_t        step;
            const uint64_t *now;
            uint32_t       *index; /* [m] ascending */
        } draw;
        struct {
            size_t          count, rows;
            bool            all;  /* begin with every row, weights 1                        */
            const uint32_t *from; /* [rows] their places; NULL: 0 .. rows-1                 */
            uint32_t       *index, *place, *group; /* [count]; the place of CULL_NO_ROW stays */
            double         *weight;
        } settle;
        struct {
            size_t              rows;
            const uint32_t     *place; /* [rows]; NULL: 0 .. rows-1                         */
            cull_tensor         loss;  /* (rows)                                            */
            const uint8_t      *unseen;
            cull_ledger         ledger;
            uint64_t            epoch;
            const uint64_t     *now;
            const cull_trouble *trouble; /* where it says something, nothing is recorded    */
        } record;
        struct {
            size_t          rows;
            const uint32_t *place;
            cull_ledger     ledger;
            uint64_t        epoch;
            const uint64_t *now;
            double         *loss;   /* [rows]                 */
            uint8_t        *unseen; /* [rows] 1: none is known */
        } recall;
        struct {
            size_t             rows, m; /* m 0: nothing is drawn, tau alone is fed       */
            cull_tensor        loss;    /* (rows); absent: p, and h where it is there    */
            cull_tensor        h, p;    /* (rows, D), (rows, C)                          */
            const uint8_t     *unseen;  /* [rows] of losses; or NULL                     */
            const uint32_t    *place;   /* [rows] for the error word; NULL: 0 .. rows-1  */
            bool               unit;    /* weights 1                                     */
            cull_key           key;
            uint64_t           step;
            const uint64_t    *now;
            uint32_t          *index;  /* [m] in no order, rows may repeat              */
            double            *weight; /* [m]                                           */
            cull_sampled      *sampled;
            const cull_moment *moment; /* for the error word; NULL: none                */
            cull_trouble *trouble; /* a negative loss; where it says something, nothing is done */
        } sample;
        struct {
            size_t             rows, budget;       /* budget < rows                         */
            cull_tensor        h, p;               /* (rows, D), (rows, C)                  */
            cull_tensor        target_h, target_p; /* (targets, D), (targets, C)            */
            size_t             targets;            /* 0: the mean of the rows themselves    */
            const uint32_t    *place;              /* [rows]; NULL: 0 .. rows-1             */
            cull_omp_options   options;
            cull_match_weights weights;
            bool               fill; /* else a short subset is accepted                     */
            cull_key           key;  /* of what fills                                       */
            uint64_t           step;
            const cull_moment *now;
            uint32_t          *index;  /* [budget] in no order */
            double            *weight; /* [budget]             */
            cull_outcome      *outcome;
            cull_trouble      *trouble; /* where it says something, nothing is matched       */
        } match;
        struct {
            const cull_tensor *h, *p; /* as of gradient, with its b                         */
            const uint32_t    *row;
            size_t             rows;
            double            *b;
            uint64_t           which; /* goes into the error word: CULL_TROUBLE_TARGET or 0  */
            cull_trouble      *trouble;
        } cancel;
        struct {
            size_t          count;
            const uint32_t *index[3];  /* [count] any of them NULL, with its `to` */
            int64_t        *to[3];     /* CULL_NO_ROW becomes -1                  */
            const double   *weight;    /* [count]; or NULL                        */
            void           *to_weight; /* of dtype; `weight` itself, if CULL_F64  */
            cull_dtype      dtype;     /* CULL_F32 or CULL_F64                    */
            double          scale;     /* of the weights                          */
        } widen;
        struct {
            cull_tensor from; /* (count) integers, of any stride                  */
            uint32_t   *to;   /* what is no place becomes CULL_NO_ROW             */
        } narrow;
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

typedef struct cull_mark      cull_mark;      /* a moment in a backend's order */
typedef struct cull_recording cull_recording; /* a step to be done again       */

/* Memory, order, events and recorded steps of one kind of device. */
typedef struct cull_queue_class {
    /* Zeroed, from a 64-byte border on, in order with the work. */
    cull_status (*allocate)(cull_backend *backend, size_t bytes, void **out);
    void (*release)(cull_backend *backend, void *data); /* waits for work that may use it */
    /* Between the host and the backend. `from` may be written to when upload returns. */
    cull_status (*upload)(cull_backend *backend, void *to, const void *from, size_t bytes);
    cull_status (*download)(cull_backend *backend, void *to, const void *from, size_t bytes);
    /* On the backend: bytes that do not overlap; and every byte the same. */
    cull_status (*copy)(cull_backend *backend, void *to, const void *from, size_t bytes);
    cull_status (*fill)(cull_backend *backend, void *to, int byte, size_t bytes);
    cull_status (*wait)(cull_backend *backend);

    cull_status (*mark)(cull_backend *backend, cull_mark **mark); /* *mark NULL: a new one */
    cull_status (*elapsed)(cull_backend *backend, const cull_mark *from, const cull_mark *to,
                           double *seconds); /* waits for both */
    void (*unmark)(cull_backend *backend, cull_mark *mark);

    /* NULL, all four: steps are run as they come. */
    cull_status (*record)(cull_backend *backend);
    cull_status (*recorded)(cull_backend *backend, cull_recording **out);
    cull_status (*replay)(cull_backend *backend, const cull_recording *recording);
    void (*forget)(cull_backend *backend, cull_recording *recording);

    /* NULL, both: there are no streams. Between the two, work goes to a stream of somebody else's,
     * behind all that both were asked for; then to its own again, behind that. */
    cull_status (*follow)(cull_backend *backend, void *stream);
    cull_status (*leave)(cull_backend *backend);
} cull_queue_class;

/* Host memory, where everything is done at once (memory.c). */
extern const cull_queue_class cull_queue_host;

typedef struct cull_layer_table cull_layer_table;

typedef struct cull_backend_class {
    const char *name;
    int32_t     device; /* its kind, in DLPack's numbering; 0: the host        */
    const char *host;   /* the backend to work with what must lie on the host;
                           NULL: this one does                                 */
    const cull_queue_class *queue;
    const cull_op_class    *op[CULL_OP_KINDS];
    cull_status (*open)(cull_backend *backend);                          /* optional */
    void (*close)(cull_backend *backend);                                /* optional */
    cull_status (*look)(cull_backend *backend, cull_backend_facts *out); /* optional; *out zeros */
} cull_backend_class;

/* Several threads may use a backend on the host at once: after open only team and kept change, and
 * both know how. One elsewhere has one order, and so one user at a time. */
struct cull_backend {
    const cull_backend_class *class;
    const cull_layer_table *layers; /* NULL: no networks                                    */
    cull_backend           *host;   /* for what must lie there; NULL: itself                */
    cull_team              *team;
    void                   *device;  /* the class's own */
    int32_t                 ordinal; /* which of several devices of its kind */
    char                    bus[16]; /* the device's PCI address; "": the processor itself */
    _Atomic(cull_op *)      kept[CULL_OP_KINDS]; /* of public solver calls, ready for the next */
    atomic_uint_fast64_t    ended; /* arrays and operations so far: a recording may mean one */
    char                    description[64];
};

/* Operations that all backends on the host share (augment.c, resize.c, kept.c, update.c,
 * sums.c).
 */
extern const cull_op_class cull_host_augment, cull_host_resize, cull_host_gather,
    cull_host_gather_all, cull_host_kept, cull_host_update, cull_host_summary, cull_host_tally;
#define CULL_HOST_OPS                                                                              \
    [CULL_OP_AUGMENT] = &cull_host_augment, [CULL_OP_RESIZE] = &cull_host_resize,                  \
    [CULL_OP_GATHER] = &cull_host_gather, [CULL_OP_GATHER_ALL] = &cull_host_gather_all,            \
    [CULL_OP_KEPT] = &cull_host_kept, [CULL_OP_UPDATE] = &cull_host_update,                        \
    [CULL_OP_SUMMARY] = &cull_host_summary, [CULL_OP_TALLY] = &cull_host_tally, CULL_HOST_CHOICES

/* Those of selection (check.c, draw.c, settle.c, ledger.c, sampling.c, match.c, cancel.c, types.c).
 */
extern const cull_op_class cull_host_check, cull_host_score, cull_host_draw, cull_host_settle,
    cull_host_record, cull_host_recall, cull_host_sample, cull_host_match, cull_host_cancel,
    cull_host_widen, cull_host_narrow;
#define CULL_HOST_CHOICES                                                                          \
    [CULL_OP_CHECK] = &cull_host_check, [CULL_OP_SCORE] = &cull_host_score,                        \
    [CULL_OP_DRAW] = &cull_host_draw, [CULL_OP_SETTLE] = &cull_host_settle,                        \
    [CULL_OP_RECORD] = &cull_host_record, [CULL_OP_RECALL] = &cull_host_recall,                    \
    [CULL_OP_SAMPLE] = &cull_host_sample, [CULL_OP_MATCH] = &cull_host_match,                      \
    [CULL_OP_CANCEL] = &cull_host_cancel, [CULL_OP_WIDEN] = &cull_host_widen,                      \
    [CULL_OP_NARROW] = &cull_host_narrow

/* For operations that keep nothing but the common head. */
cull_status cull_host_create(cull_backend *backend, const cull_op_desc *desc, cull_op **out);
void        cull_host_destroy(cull_op *op);

/* The names of all backends, i = 0, 1, ... until NULL; and as an option's words, `auto` first,
 * which is for others to choose. */
const char       *cull_backend_name_at(size_t i);
extern const char cull_backend_names[];

/* ---- memory, order, events, recorded steps ---- */

/* Is this backend's memory the process's own? */
static inline bool cull_backend_on_host(const cull_backend *backend)
{
    return backend->class->device == 0;
}

/* Where its memory lies. */
static inline cull_device cull_backend_device(const cull_backend *backend)
{
    return (cull_device){.kind = backend->class->device, .number = backend->ordinal};
}

/* Who works with arrays on the host: the backend itself, where it does. */
static inline cull_backend *cull_backend_host(cull_backend *backend)
{
    return backend->host ? backend->host : backend;
}

/* Room for count elements of `size` bytes; `what` completes "no memory for ...". *out is NULL on
 * failure, and ends with cull_backend_release(). */
cull_status cull_backend_allocate(cull_backend *backend, size_t count, size_t size,
                                  const char *what, void *out);
void        cull_backend_release(cull_backend *backend, void *data); /* NULL is fine */

static inline cull_status cull_backend_upload(cull_backend *backend, void *to, const void *from,
                                              size_t bytes)
{
    return backend->class->queue->upload(backend, to, from, bytes);
}

static inline cull_status cull_backend_download(cull_backend *backend, void *to, const void *from,
                                                size_t bytes)
{
    return backend->class->queue->download(backend, to, from, bytes);
}

static inline cull_status cull_backend_copy(cull_backend *backend, void *to, const void *from,
                                            size_t bytes)
{
    return backend->class->queue->copy(backend, to, from, bytes);
}

static inline cull_status cull_backend_fill(cull_backend *backend, void *to, int byte, size_t bytes)
{
    return backend->class->queue->fill(backend, to, byte, bytes);
}

static inline cull_status cull_backend_wait(cull_backend *backend)
{
    return backend->class->queue->wait(backend);
}

static inline cull_status cull_backend_mark(cull_backend *backend, cull_mark **mark)
{
    return backend->class->queue->mark(backend, mark);
}

static inline cull_status cull_backend_elapsed(cull_backend *backend, const cull_mark *from,
                                               const cull_mark *to, double *seconds)
{
    return backend->class->queue->elapsed(backend, from, to, seconds);
}

/* A part of the backend's memory as bytes of a saved state, and back. */
cull_status cull_backend_save(cull_backend *backend, const void *data, size_t bytes,
                              cull_writer *writer);
cull_status cull_backend_restore(cull_backend *backend, void *data, size_t bytes,
                                 cull_reader *reader);

/* Are steps worth recording? */
static inline bool cull_backend_records(const cull_backend *backend)
{
    return backend->class->queue->record != NULL;
}

/* What a recording means is there as long as this number stays what it was: arrays and operations
 * that have ended. */
static inline uint64_t cull_backend_ended(const cull_backend *backend)
{
    return atomic_load(&backend->ended);
}

/* ---- operations ---- */

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

/* ---- what goes together (kit.c) ---- */

/*
 * Arrays and operations of one backend that end together: zeros but for the backend, until
 * cull_kit_clear(). There is one operation of each kind.
 */
typedef struct cull_kit {
    cull_backend *backend;
    void        **array; /* [arrays] */
    size_t        arrays, room;
    cull_op      *op[CULL_OP_KINDS];
} cull_kit;

/* As cull_backend_allocate(). */
cull_status cull_kit_allocate(cull_kit *kit, size_t count, size_t size, const char *what,
                              void *out);
/* An array of at least `count` elements, of which it now has *room; what was in it is not kept
 * where it grows. Both start as zeros. */
cull_status cull_kit_grow(cull_kit *kit, size_t count, size_t size, const char *what, size_t *room,
                          void *array);
/* An operation is made ready for rows, or for all that desc says; and run. */
cull_status cull_kit_ready(cull_kit *kit, cull_op_kind kind, size_t rows);
cull_status cull_kit_run(cull_kit *kit, cull_op_kind kind, size_t rows, const cull_op_args *args);
cull_status cull_kit_run_for(cull_kit *kit, const cull_op_desc *desc, const cull_op_args *args);
void        cull_kit_clear(cull_kit *kit);

#endif
