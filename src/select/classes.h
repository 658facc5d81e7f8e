/* select/classes.h - the pool cut into parts: by class, or into minibatches. */
#ifndef CULL_SELECT_CLASSES_H
#define CULL_SELECT_CLASSES_H

#include "select/select.h"

/* Rows of each class, ascending: those of class c are row[start[c]] .. row[start[c + 1] - 1]. */
typedef struct cull_sel_classes {
    size_t    count; /* classes, empty ones included */
    size_t   *size;  /* [count] rows of each         */
    size_t   *start; /* [count + 1]                  */
    uint32_t *row;   /* [rows]                       */
} cull_sel_classes;

/* Every label must be below `classes`. The arrays are the kit's, which works on the host. */
cull_status cull_sel_classes_make(cull_kit *kit, const cull_tensor *label, size_t rows,
                                  size_t classes, cull_sel_classes *out);

/* Minibatches of the pool, each one's rows ascending; the last one may be shorter. */
typedef struct cull_sel_minibatches {
    size_t    count; /* ceil(rows / batch)                                    */
    size_t    batch; /* rows of each but the last                             */
    size_t   *start; /* [count + 1]                                           */
    uint32_t *row;   /* [rows]: those of b are row[start[b]] .. start[b+1]-1  */
} cull_sel_minibatches;

/*
 * Cut the rows of signals into minibatches of `batch` by a shuffle from (seed, epoch). Who
 * shares a minibatch follows from the places, whatever the order of the rows. The arrays are the
 * kit's, which works on the host.
 */
cull_status cull_sel_minibatches_make(cull_kit *kit, const cull_signals *signals, size_t batch,
                                      uint64_t seed, cull_sel_minibatches *out);

/* How many minibatches come nearest to a budget of rows, at least one; halves round up. */
size_t cull_sel_minibatches_nearest(const cull_sel_minibatches *minibatches, size_t budget);

/* For strategies whose scope may be minibatches: there must be more than one to choose from,
 * and needs tell how many rows come out. */
cull_status cull_sel_minibatches_check(const char *owner, const cull_self *self);
void        cull_sel_minibatches_needs(const cull_self *self, cull_needs *needs);

/* All of them, as groups, at weight 1. */
cull_status cull_sel_minibatches_all(const cull_sel_minibatches *minibatches, cull_subset *out);

/*
 * The picked minibatches, whole, as groups of a subset, in ascending order of their numbers.
 *
 * index   [picked] numbers of minibatches, all different, in any order
 * weight  [picked] of every row of that minibatch, not all zero; scaled so that the rows'
 *         mean is 1
 */
cull_status cull_sel_minibatches_take(const cull_sel_minibatches *minibatches,
                                      const uint32_t *index, const double *weight, size_t picked,
                                      cull_subset *out);

#endif
