/* train/room.h - the memory that a run takes of a device: planned, said, and refused where it does
 * not fit. */
#ifndef CULL_TRAIN_ROOM_H
#define CULL_TRAIN_ROOM_H

#include "base/status.h"

typedef struct cull_trainer cull_trainer;

/* Bytes; all zeros where memory is the host's. */
typedef struct cull_train_room {
    size_t data;       /* the sets, as they are stored                                  */
    size_t parameters; /* with gradients, averages and what the optimizer remembers     */
    size_t plans;      /* activations and gradients of every size of batch              */
    size_t free, total;
} cull_train_room;

/* What is there by now. Fails as the device does. */
cull_status cull_train_measure(const cull_trainer *trainer, cull_train_room *out);

/* Do the sets fit there? CULL_NO_MEMORY, about data.name, says with which numbers they do not. */
cull_status cull_train_check_room(const cull_trainer *trainer);

/* Of a failure while a run is made: where memory is short, with what was to be in it. */
cull_status cull_train_blame_room(const cull_trainer *trainer, cull_status status);

#endif
