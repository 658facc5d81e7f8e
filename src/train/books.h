/*
 * train/books.h - what a run keeps of itself: work and time, and what became of each example.
 */
#ifndef CULL_TRAIN_BOOKS_H
#define CULL_TRAIN_BOOKS_H

#include "train/folder/run_state.h"
#include "train/learner.h"
#include "train/tally.h"

typedef struct cull_books {
    cull_meter  meter;
    cull_energy energy;
    cull_tally  tally;
    double      loss; /* mean of the latest training batch that is known of */
} cull_books;

void cull_books_open(cull_backend *backend, cull_books *books);
void cull_books_close(cull_books *books);

/* A batch was trained. */
cull_status cull_books_note(cull_books *books, const cull_moment *now, const cull_trained *seen);

/* What the learner's sums say goes into the progress of its epoch. CULL_NOT_FINITE tells of the
 * first step that went wrong, however long ago. */
cull_status cull_books_settle(cull_books *books, cull_learner *learner, cull_progress *progress);

#endif
