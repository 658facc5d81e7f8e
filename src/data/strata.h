/* data/strata.h - the places of a set, class by class; where targets are no classes, all as one. */
#ifndef CULL_DATA_STRATA_H
#define CULL_DATA_STRATA_H

#include "data/dataset.h"

typedef struct cull_data_strata {
    size_t    classes;
    size_t   *size;   /* [classes] examples of each class                    */
    size_t   *start;  /* [classes] where its places begin in member          */
    uint32_t *member; /* [count] places, by class and ascending within       */
} cull_data_strata;

/* Zeros before; ended with cull_data_strata_clear(), also after a failure. */
cull_status cull_data_strata_init(cull_data_strata *strata, const cull_dataset *set);
void        cull_data_strata_clear(cull_data_strata *strata);

/* max(1, fraction * count rounded to the nearest), the number that fractions here stand for. */
size_t cull_data_share(double fraction, size_t count);

#endif
