/* train/signal_room.h - signals of many examples, put together batch by batch, on their backend. */
#ifndef CULL_TRAIN_SIGNAL_ROOM_H
#define CULL_TRAIN_SIGNAL_ROOM_H

#include "nn/nn.h"

enum { CULL_ROOM_LOSS, CULL_ROOM_LABEL, CULL_ROOM_H, CULL_ROOM_P, CULL_ROOM_LOGITS, CULL_ROOMS };

typedef struct cull_signal_room {
    cull_kit   kit; /* of the arrays */
    unsigned   wanted;
    size_t     count, at, width, classes; /* examples, those there, D, C          */
    cull_dtype h;                         /* H's type; P's is float32             */
    size_t     row[CULL_ROOMS];           /* bytes of an example; 0: not wanted   */
    void      *array[CULL_ROOMS];
} cull_signal_room;

/* Room for signals of `count` examples, with their labels where their targets are any, H of type
 * `h`; kept where it fits already. Ends with clear. */
cull_status cull_signal_room_make(cull_backend *backend, const cull_model *model, bool labels,
                                  cull_dtype h, unsigned wanted, size_t count,
                                  cull_signal_room *signals);
void        cull_signal_room_clear(cull_signal_room *signals);

/* The signals of a batch behind those that are there. */
cull_status cull_signal_room_put(cull_signal_room *signals, const cull_plan *plan,
                                 const cull_signals *seen);
/* They came in another order: what is `from`th, on the host, is to be the first of all, and so on.
 */
cull_status cull_signal_room_sort(cull_signal_room *signals, const uint32_t *from);
/* All of them as a selector reads them, or as its target. */
void cull_signal_room_view(const cull_signal_room *signals, cull_signals *out);
void cull_signal_room_target(const cull_signal_room *signals, cull_target *out);

cull_status cull_signal_room_save(const cull_signal_room *signals, cull_writer *out);
cull_status cull_signal_room_restore(cull_signal_room *signals, cull_reader *in);

#endif
