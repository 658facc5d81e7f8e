/*
 * train/resident.h - a data set where a backend reads it.
 *
 * On the host that is the set's own memory; elsewhere its stored rows, targets and constants are
 * copied there once, as they are. A set without a base has its rows read when they are asked for,
 * and brought packed.
 */
#ifndef CULL_TRAIN_RESIDENT_H
#define CULL_TRAIN_RESIDENT_H

#include "backend/backend.h"
#include "data/buckets.h"
#include "data/transform.h"

typedef struct cull_resident {
    const cull_dataset *set; /* borrowed, as the backend */
    cull_backend       *backend;
    cull_augment_desc   desc;
    const void         *raw; /* NULL: rows are brought packed              */
    const uint32_t     *row;
    const void         *target;
    cull_kit            kit; /* of what was copied there, augment and gather       */
    void               *packed, *packed_there; /* [room] rows, here and there      */
    size_t              room, room_there;
    size_t              bytes; /* copied there */

    /* of texts, on the host; else NULL and 0 */
    uint8_t *bucket;  /* [count] by place, as data/buckets.h has them */
    size_t   longest; /* what the length of all of them would be      */
} cull_resident;

/* Into a zeroed struct, which close ends, also after a failure. */
cull_status cull_resident_open(const cull_dataset *set, const cull_data_augment *augment,
                               cull_data_form form, cull_backend *backend, cull_resident *out);
void        cull_resident_close(cull_resident *resident);

/* Tokens that examples at these places, on the host, have in a batch of theirs: as the longest has,
 * rounded up; 0: they are no texts. */
size_t cull_resident_length(const cull_resident *resident, const uint32_t *place, size_t count);

/* Bytes of an example's inputs as the network that is trained reads them; of texts, at this length
 * (0: all). */
static inline size_t cull_resident_row_at(const cull_resident *resident, size_t length)
{
    return cull_augment_numbers(&resident->desc, length) * cull_dtype_size(resident->desc.to);
}
static inline size_t cull_resident_row(const cull_resident *resident)
{
    return cull_resident_row_at(resident, 0);
}

/* Bytes of its target. */
static inline size_t cull_resident_target(const cull_resident *resident)
{
    return cull_data_target_bytes(resident->set);
}

/* Which examples are to be made; every array lies on the backend. */
typedef struct cull_wanted {
    const uint32_t    *place; /* [count] */
    size_t             count;
    const cull_moment *now;       /* epoch                                             */
    bool               augmented; /* else only normalised                              */
    cull_dtype         to;        /* what they become; 0: as the set is described      */
    size_t             length;    /* tokens of each; 0: all                            */
    const void        *held;      /* rows that are there already; NULL: none           */
    const uint32_t    *index;     /* [count] which of those; CULL_NO_ROW: none of them */
} cull_wanted;

/* Their inputs, one behind the other; and their targets. */
cull_status cull_resident_make(cull_resident *resident, const cull_wanted *wanted, void *inputs);
cull_status cull_resident_targets(cull_resident *resident, const uint32_t *place, size_t count,
                                  void *target);
/* Rows of several arrays that hold `held` examples each. */
cull_status cull_resident_take(cull_resident *resident, const cull_gathered *list, size_t arrays,
                               const uint32_t *index, size_t count, size_t held);

#endif
