/* train/sweep.h - every example of a set once, in its order, without augmentation; texts may
 * come by length, so that a batch has those of about one. */
#ifndef CULL_TRAIN_SWEEP_H
#define CULL_TRAIN_SWEEP_H

#include "nn/nn.h"
#include "train/batch_rows.h"
#include "train/resident.h"

typedef struct cull_sweep {
    cull_resident *resident;
    cull_data_form form;
    size_t         batch;   /* most at once                                   */
    unsigned       workers; /* threads that load, where memory is the host's  */
    bool           sorted;  /* texts by length; else as all sets, in their order          */
    cull_rows     *rows;    /* elsewhere: kept from one sweep to the next; NULL: they end with it */
} cull_sweep;

/* In which order the examples of a set come, sorted or not: *out is a new array of their places,
 * released with cull_base_free(). */
cull_status cull_sweep_order(const cull_resident *resident, bool sorted, uint32_t **out);

/* `see` gets a batch at a time, on the backend, which is gone with its return. */
cull_status cull_sweep_run(const cull_sweep *sweep,
                           cull_status (*see)(void *context, const cull_batch *batch),
                           void *context);

#endif
