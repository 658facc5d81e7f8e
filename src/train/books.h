/*
 * train/books.h - what a run keeps of itself: work and time, and what became of each example.
 */
#ifndef CULL_TRAIN_BOOKS_H
#define CULL_TRAIN_BOOKS_H

#include "train/folder/run_state.h"
#include "train/judged.h"
#include "train/learner.h"
#include "train/tally.h"

typedef struct cull_books {
    cull_meter        meter;
    cull_laps         laps[CULL_KEEP_SUBSET + 1]; /* of steps that are not recorded, by action */
    cull_laps         scores, chooses, learns;    /* of the parts of steps that have such       */
    cull_energy       energy;
    cull_tally        tally;
    double            loss;     /* mean of the latest training batch that is known of */
    bool              proxied;  /* a proxy scores, so that its work is told           */
    cull_loss_kind    of;       /* the loss                                           */
    double            variance; /* of the training set's targets, where it is of those */
    const cull_optim *optim;    /* borrowed: it counts the updates                     */

    cull_records_logs logs;
} cull_books;

void cull_books_open(cull_backend *backend, bool proxied, cull_books *books);
void cull_books_close(cull_books *books);

/* A batch was trained. */
cull_status cull_books_note(cull_books *books, const cull_moment *now, const cull_trained *seen);

/* What the learner's sums say goes into the progress of its epoch. CULL_NOT_FINITE tells of the
 * first step that went wrong, however long ago. */
cull_status cull_books_settle(cull_books *books, cull_learner *learner, cull_progress *progress);

/* ---- folder/record.c: the logs ---- */

/* Open both and cut them to what a checkpoint knows of; and write what they hold to disk. */
cull_status cull_books_open_logs(cull_books *books, const char *folder, const cull_progress *at);
cull_status cull_books_sync_logs(cull_books *books, cull_progress *at);
/* met, kept: examples of the step. */
cull_status cull_books_log_step(cull_books *books, const cull_progress *at, size_t met,
                                size_t kept);
cull_status cull_books_log_epoch(cull_books *books, const cull_progress *at);
/* Of the test set, or of the validation set, so many epochs into the run. */
cull_status cull_books_log_evaluation(cull_books *books, const cull_progress *at, double epochs,
                                      bool test, const cull_evaluation *evaluation, bool best);

#endif
