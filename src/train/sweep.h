/* train/sweep.h - every example of a set once, in its order, without augmentation. */
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
    cull_rows     *rows;    /* elsewhere: kept from one sweep to the next; NULL: they end with it */
} cull_sweep;

/* `see` gets a batch at a time, on the backend, which is gone with its return. */
cull_status cull_sweep_run(const cull_sweep *sweep,
                           cull_status (*see)(void *context, const cull_batch *batch),
                           void *context);

#endif
