/* data/write_rows.h - the examples of a set, one behind the other, into a file or memory: a few at
 * a time. */
#ifndef CULL_DATA_WRITE_ROWS_H
#define CULL_DATA_WRITE_ROWS_H

#include "data/dataset.h"
#include "data/sink.h"

/* What is to be done with the inputs on their way. */
typedef struct cull_data_way {
    cull_data_sink *sink;    /* NULL: they are not written                               */
    char           *memory;  /* NULL, or where they go, one behind the other             */
    uint32_t       *crc;     /* NULL, or continued by what is written                    */
    uint64_t       *sums;    /* NULL, or of images sum and square, [2][channels]         */
    unsigned        threads; /* that read rows which are made when they are asked for; 0: cores */
    bool (*tell)(void *context, uint64_t done); /* false: stop. NULL: nobody is told  */
    void *context;
} cull_data_way;

/* All inputs in the order of places. CULL_STOPPED; CULL_BAD_FILE also where one is not finite. */
cull_status cull_data_write_inputs(const cull_dataset *set, const cull_data_way *way);

/* How inputs and targets lie in a .npy file, without their data. */
cull_tensor cull_data_inputs_view(const cull_dataset *set);
cull_tensor cull_data_targets_view(const cull_dataset *set);

#endif
