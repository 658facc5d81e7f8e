/*
 * backend/cuda/nn_state.h - what networks on one device share: the libraries, scratch memory, and
 * which way to compute each problem was found fastest.
 *
 * Ways are found in a contest, when an operation is made: each is recorded, replayed and timed on
 * the backend's own stream, so what cannot be recorded is out. Where results must be repeatable
 * nothing is timed: the first way that works, in an order that only depends on the problem, the
 * device and the libraries' versions, is taken every time. A library's way enters only if it comes
 * to what our own kernel does, on the same arrays.
 *
 * What a contest found is kept in a file of one line a problem, and read by the next process:
 *
 *     CULL_CUDA_CACHE, or $XDG_CACHE_HOME/cull/cuda, or ~/.cache/cull/cuda     "" : none is kept
 *
 * A line is a problem, with the device's name and the libraries' versions, a tab and a way. Lines
 * that are not understood, or say what no longer can be done, are passed over. Two more variables
 * are for benchmarks: CULL_CUDA_SAY=1 prints every contest to standard error, and
 * CULL_CUDA_COMPILED=1 lets in engines whose kernels have to be compiled first.
 */
#ifndef CULL_BACKEND_CUDA_NN_STATE_H
#define CULL_BACKEND_CUDA_NN_STATE_H

#include "backend/cuda/cuda.h"
#include "backend/cuda/nn_library.h"

enum { CULL_NN_KEY = 320, CULL_NN_ENTRIES = 12 };

/* Scratch of what runs one after the other, and of weights' gradients, which may run beside it. */
typedef enum cull_nn_side { CULL_SIDE_MAIN, CULL_SIDE_WEIGHTS, CULL_SIDES } cull_nn_side;

/* A way to compute something: a kernel of our own, or a library's plan. */
typedef enum cull_nn_kind { CULL_WAY_OWN, CULL_WAY_LIBRARY } cull_nn_kind;

typedef struct cull_nn_way {
    cull_nn_kind kind;
    int          number;  /* of ways of its kind: which kernel, or how a plan is used */
    cull_choice  choice;  /* library                                                  */
    cull_plan   *plan;    /* owned by the state                                       */
    cull_plan   *adding;  /* the same, adding to what is there; or NULL               */
    double       seconds; /* 0: was not timed                                         */
} cull_nn_way;

typedef struct cull_nn cull_nn;

/* Of a backend; made when first asked for, ended with it. */
cull_status cull_nn_state(cull_backend *backend, cull_nn **out);

cull_library *cull_nn_library(const cull_nn *nn);  /* NULL: there is none */
bool          cull_nn_compiled(const cull_nn *nn); /* are all engines wanted? */

/* Scratch of at least so many bytes from now on. When it grows it moves, which outdates recordings
 * (cull_backend_ended), so ask for it where operations are made and for its address where they
 * run. */
cull_status cull_nn_reserve(cull_nn *nn, cull_nn_side side, size_t bytes);
void       *cull_nn_room(const cull_nn *nn, cull_nn_side side);

/* The plan is the state's from now on, also where this fails. NULL is fine. */
cull_status cull_nn_keep_plan(cull_nn *nn, cull_plan *plan);

/* The way that is known for a problem, or NULL; and a way becomes known: in this process, and where
 * it was timed in the file. */
const cull_nn_way *cull_nn_known(const cull_nn *nn, const char *problem);
cull_status        cull_nn_learn_way(cull_nn *nn, const char *problem, const cull_nn_way *way);

/* What was recalled of a problem, or else what the file says, which only where `timed` is: kind,
 * number and choice. false: nothing. */
bool cull_nn_read(const cull_nn *nn, const char *problem, bool timed, cull_nn_way *out);

/* cull_layer_ways() and cull_layer_recall(): the file's lines, of contests held or answered by this
 * process. What is recalled comes before what is known. */
cull_status cull_nn_ways(cull_backend *backend, const char **text, size_t *bytes);
cull_status cull_nn_recall(cull_backend *backend, const char *text, size_t bytes);

/*
 * A contest. Entries are in the order they are taken in where nothing may be timed; those of a
 * library have no plans yet. They are run on arrays that the contest's `open` makes in a kit.
 */
typedef struct cull_nn_result {
    void      *data;
    cull_dtype dtype;
    size_t     count;
} cull_nn_result;

typedef struct cull_nn_contest {
    cull_nn      *nn;
    cull_backend *backend;
    char          problem[CULL_NN_KEY]; /* tells it from all others */
    bool          repeatable;
    cull_nn_way   trusted; /* our own kernel, that a library's results are held against */
    double        apart;   /* how far they may be, as a share of the norm               */
    char         *want;    /* what the trusted gave, once it was asked                  */
    cull_nn_way   entry[CULL_NN_ENTRIES];
    size_t        entries;
    bool          resort; /* the last is tried only where no other can be run */
    void         *context;
    cull_status (*open)(void *context, cull_kit *kit);
    cull_status (*prepare)(void *context, cull_nn_way *way); /* the plans of a library's */
    size_t (*room)(const void *context, const cull_nn_way *way);
    cull_status (*run)(void *context, const cull_nn_way *way, void *room);
    cull_status (*finish)(void *context, cull_nn_way *way); /* optional: what a winner needs more */
    void (*result)(const void *context, cull_nn_result *out); /* what is computed, and where */
} cull_nn_contest;

/* nn_check.c: how far a library's way is from the trusted, as a share of its norm, or NaN; and how
 * far it may be. */
cull_status cull_nn_check(cull_nn_contest *contest, const cull_nn_way *way, void *room,
                          double *apart);
double      cull_nn_apart(cull_dtype values, bool tf32);

/* *out: the way that is known, or read, or the winner; its plans are the state's.
 * CULL_UNSUPPORTED: no entry can be run. */
cull_status cull_nn_choose(cull_nn_contest *contest, cull_nn_way *out);

/* Seconds of one run of what `run` enqueues, the median of several replays; INFINITY when it
 * cannot be recorded. CULL_NO_MEMORY and lost devices alone are failures. */
cull_status cull_nn_time(cull_backend *backend, cull_status (*run)(void *context), void *context,
                         double *seconds);

CULL_PRINTF(2, 3) void cull_nn_say(const cull_nn *nn, const char *format, ...);

#endif
