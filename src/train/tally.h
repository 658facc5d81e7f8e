/*
 * train/tally.h - what became of each example: how often it was trained, at which weights, when
 * first, and the loss it had last. Part of the checkpoint; selection.npz at the end.
 */
#ifndef CULL_TRAIN_TALLY_H
#define CULL_TRAIN_TALLY_H

#include "backend/backend.h"
#include "base/bytes.h"
#include "data/dataset.h"

/* Arrays of a backend's memory. */
typedef struct cull_tally {
    cull_kit kit;
    size_t   pool;
    int32_t *count;  /* [pool] times trained                                */
    double  *weight; /* [pool] sum of the weights it was trained at         */
    float   *loss;   /* [pool] latest, unweighted, of training; NaN: never  */
    int32_t *first;  /* [pool] epoch it was first trained in, from 0; -1: never */
} cull_tally;

cull_status cull_tally_create(cull_backend *backend, size_t pool, cull_tally *out);
void        cull_tally_clear(cull_tally *tally);

/* now: the moment block. weight NULL: 1. */
cull_status cull_tally_add(cull_tally *tally, const cull_moment *now, const cull_signals *trained,
                           const double *weight);

cull_status cull_tally_save(const cull_tally *tally, cull_writer *out);
cull_status cull_tally_restore(cull_tally *tally, cull_reader *in);

/* A subset as part of a checkpoint; restore checks it against the pool. */
cull_status cull_tally_save_subset(const cull_subset *subset, uint64_t epoch, cull_writer *out);
cull_status cull_tally_restore_subset(cull_reader *in, size_t pool, cull_subset *subset,
                                      uint64_t *epoch);

/* selection.npz and subset.npz. */
cull_status cull_tally_write(const cull_tally *tally, const cull_dataset *set, const char *path);
cull_status cull_tally_write_subset(const cull_subset *subset, uint64_t epoch, const char *path);

#endif
