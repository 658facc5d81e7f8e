/*
 * data/corrupt.h - harm done to a training set on purpose, and the record of it.
 *
 * Applied in this order, whatever the order they are asked for in:
 *
 *     1. imbalance    some classes lose all but a tenth of their examples
 *     2. label noise  some of what is left gets a wrong label
 *     3. duplicates   every example, wrong labels included, is there d times
 *
 * A validation set is split off before (data/split.h) and so stays clean. Everything is
 * a function of the seed.
 */
#ifndef CULL_DATA_CORRUPT_H
#define CULL_DATA_CORRUPT_H

#include "data/dataset.h"

typedef enum cull_data_noise {
    CULL_DATA_FLIP,  /* to one of the other classes, each as likely            */
    CULL_DATA_REDRAW /* to any class, so that 1 in `classes` stays what it was */
} cull_data_noise;

typedef struct cull_data_corruption {
    double          imbalance;      /* fraction of the classes that are cut, 0 .. 1; 0: none */
    double          imbalance_keep; /* of a cut class, 0 < keep <= 1; 0: .1                  */
    double          label_noise;    /* fraction of the examples, 0 .. 1; 0: none             */
    cull_data_noise noise;
    size_t          duplicates; /* each example is there so many times; 0 or 1: once     */
    uint64_t        seed;
} cull_data_corruption;

typedef struct cull_data_relabelled {
    uint32_t origin;
    int32_t  before, after; /* equal only where a redraw hit the same class */
} cull_data_relabelled;

typedef struct cull_data_cut_class {
    int32_t label;
    size_t  before, after; /* examples */
} cull_data_cut_class;

/* What was done. Examples are named by origin, the one number that stays; a report finds
 * the places in the set through its origin[] and marks[]. */
typedef struct cull_data_record {
    cull_data_corruption  asked;       /* with defaults filled in                     */
    size_t                count;       /* examples before                             */
    cull_data_cut_class  *cut;         /* [cuts] ascending by label                   */
    size_t                cuts;        /*                                             */
    uint32_t             *dropped;     /* [drops] origins, ascending                  */
    size_t                drops;       /*                                             */
    cull_data_relabelled *relabelled;  /* [relabels] ascending by origin              */
    size_t                relabels;    /*                                             */
    size_t                wrong;       /* of them, those whose label did change       */
    size_t                copies;      /* added; they stand behind all the originals  */
    size_t                count_after; /* examples after                              */
} cull_data_record;

/*
 * Corrupt a training set.
 *
 * asked     checked whole before anything is done; CULL_BAD_ARGUMENT names the field.
 * record    zeros, or NULL; ended with cull_data_record_clear().
 *
 * round(fraction * number) of things are chosen, at least one where the fraction is above
 * 0. *set may be replaced (by duplicates); on failure it is unchanged and still the caller's.
 */
cull_status cull_data_corrupt(cull_dataset **set, const cull_data_corruption *asked,
                              cull_data_record *record);
void        cull_data_record_clear(cull_data_record *record);

#endif
