/*
 * data/targets.h - targets that are no single class: their scale, and how much there is to learn.
 *
 * Real targets are learned as inputs are read: less their mean, over their deviation, both of the
 * training set as it was opened. A deviation of 0, of a number that never changes, counts as 1.
 */
#ifndef CULL_DATA_TARGETS_H
#define CULL_DATA_TARGETS_H

#include "data/dataset.h"

/* "one class", "several classes" or "real numbers": what an example's target is. */
const char *cull_data_target_name(cull_target_kind kind);

/* Of real targets; zeros: of others, which have none. */
typedef struct cull_target_scale {
    size_t  width;
    double *mean, *deviation; /* [width] */
} cull_target_scale;

/* The scale of a set's targets, into a zeroed struct that clear ends, also after a failure. Summed
 * in double in order, so the same targets give the same bits. */
cull_status cull_target_scale_measure(const cull_dataset *set, cull_target_scale *out);
void        cull_target_scale_clear(cull_target_scale *scale);
/* The targets of a set of as many numbers become (t - mean) / deviation; once. */
void cull_target_scale_apply(const cull_target_scale *scale, cull_dataset *set);

/* Real targets: the mean over their numbers of the variance over the examples; what guessing the
 * means would cost. 0: they never change. */
double cull_data_target_variance(const cull_dataset *set);

/* Several classes: how many of all (count * width) hold. */
uint64_t cull_data_target_holds(const cull_dataset *set);

#endif
