/*
 * train/network/tray.h - a batch that is made on the host and read where a backend's memory is.
 *
 * Rows are put into `here`; sending brings them to `there`. On a backend of the host both are the
 * same arrays, and nothing is copied.
 */
#ifndef CULL_TRAIN_TRAY_H
#define CULL_TRAIN_TRAY_H

#include "data/dataset.h"
#include "nn/nn.h"
#include "train/batch_rows.h"

typedef struct cull_tray {
    cull_backend  *backend;
    size_t         row;     /* bytes of an example's inputs */
    cull_loss_kind loss;    /* that targets are of          */
    size_t         outputs; /* of the network               */
    cull_dtype     dtype;   /* that it computes in          */
    cull_rows      here, there;
} cull_tray;

/* Room for `count` examples; where it grows, what was in it is gone. */
cull_status cull_tray_room(cull_tray *tray, size_t count);
/* Number `k` of row i's target is this one. */
void cull_tray_aim(const cull_tray *tray, size_t i, size_t k, double number);
/* Row i's target is that of an example. */
void cull_tray_aim_at(const cull_tray *tray, size_t i, const cull_dataset *set, size_t place);
/* The first `count` rows of `here`, as a plan reads them; no other field of the batch is set. */
cull_status cull_tray_send(const cull_tray *tray, size_t count, cull_batch *batch);
void        cull_tray_clear(cull_tray *tray);

#endif
