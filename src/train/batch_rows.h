/* train/batch_rows.h - the arrays of a batch, in a backend's memory. */
#ifndef CULL_TRAIN_BATCH_ROWS_H
#define CULL_TRAIN_BATCH_ROWS_H

#include "backend/backend.h"

typedef struct cull_rows {
    size_t    room;
    void     *inputs;
    void     *target;
    uint32_t *place;
    double   *weight;
} cull_rows;

/* Room for so many examples whose inputs take `row` bytes each, their targets `target`; where it
 * grows, what was in it is gone, by failing too. Ends with clear. */
cull_status cull_rows_make(cull_backend *backend, size_t count, size_t row, size_t target,
                           cull_rows *out);
void        cull_rows_clear(cull_backend *backend, cull_rows *rows);

#endif
