/*
 * train/folder/run_state.h - where a run is: everything but the weights that a resumed run needs.
 *
 * Orders, augmentation, dropout and selection draw from counters, so a step and an epoch are all
 * the randomness there is to save. docs/formats.md has the layout of the file.
 */
#ifndef CULL_TRAIN_RUN_STATE_H
#define CULL_TRAIN_RUN_STATE_H

#include "base/bytes.h"
#include "train/meter/meter.h"

enum { CULL_STATE_NAME = 64, CULL_STATE_VERSION = 5 };

typedef struct cull_progress {
    uint64_t step;              /* steps done                                           */
    uint64_t epoch, batch;      /* the current epoch, steps of it done                  */
    uint64_t at;                /* examples of it met                                   */
    uint64_t moments;           /* evaluations done that were asked for by their moment */
    double   rate;              /* of the latest training batch                         */
    uint64_t end;               /* cull_run_end; 0: still running                       */
    uint64_t metrics, events;   /* bytes of the two logs at this moment                 */
    uint64_t seen, correct;     /* of this epoch's trained examples                     */
    double   loss;              /* sum over them                                        */
    uint64_t best_epoch;        /* epochs done when the best was reached; 0: none       */
    double   best;              /* its accuracy on the watched set                      */
    double   accuracy, watched; /* latest accuracy and loss on the watched set          */
    double   test, test_loss;   /* latest on the test set; NaN: not evaluated           */
    uint64_t init_hash;         /* of the file of weights it began with; 0: none        */
    uint64_t weights_hash, best_hash;
    char     weights[CULL_STATE_NAME], best_weights[CULL_STATE_NAME]; /* file names; "": none */
} cull_progress;

/* Go to the beginning of an epoch. */
static inline void cull_progress_turn(cull_progress *progress, uint64_t epoch)
{
    progress->epoch = epoch;
    progress->at = progress->batch = progress->seen = progress->correct = 0;
    progress->loss = 0;
}

/* A step that met so many is done. */
static inline void cull_progress_pass(cull_progress *progress, size_t met)
{
    progress->step++;
    progress->batch++;
    progress->at += met;
}

typedef struct cull_run_state {
    cull_progress progress;
    cull_meter    meter;
    /* their own saved bytes, borrowed: subset of the pool, counts of examples, what scoring keeps,
     * and which ways a device computes by; each may be empty */
    cull_reader optim, selector, subset, tally, scorer, ways;
} cull_run_state;

/* A whole file as bytes. */
cull_status cull_run_state_encode(const cull_run_state *state, cull_writer *out);

/* CULL_BAD_STATE, beginning with `path`: damaged, or of another version. The parts borrow
 * `data`. */
cull_status cull_run_state_decode(const char *path, const void *data, size_t bytes,
                                  cull_run_state *out);

#endif
