/*
 * data/labels.h - what is to be learned of examples, from labels as people keep them.
 *
 *     a class         (N) or (N, 1) whole numbers of any type, or (N, C) rows with one 1 each
 *     several         (N, W) of 0 and 1; (N) is one
 *     real numbers    (N) or (N, W), finite also as float32
 *
 * A set that learns several classes or real numbers has as many `classes` as a target is wide: what
 * a network is to put out.
 */
#ifndef CULL_DATA_LABELS_H
#define CULL_DATA_LABELS_H

#include "data/dataset.h"

enum { CULL_DATA_FEWEST_CLASSES = 2 };

/* Aim an empty set at what y, dense, of the N examples to come is to say. Shape and type are
 * checked, elements not yet. CULL_BAD_FILE, beginning with `path`, where they cannot be it. */
cull_status cull_data_labels_aim(const char *path, const cull_tensor *y, cull_target_kind kind,
                                 cull_dataset *into);

/* The elements of y as the targets of the y->shape[0] examples behind the last, for which there is
 * room; classes are counted. One-hot rows are remarked on. */
cull_status cull_data_labels_take(const char *path, const cull_tensor *y, cull_dataset *into);

/* The same for examples without labels, which are only predicted: zeros will stand for targets, of
 * the form that was trained on. */
void cull_data_labels_leave(cull_target_kind kind, cull_dataset *into);

/* (N) labels base .. base+most-1 become classes 0 .. most-1 of the examples behind the last;
 * *top, if smaller, becomes the largest. */
cull_status cull_data_labels_copy(const char *path, const cull_tensor *y, int64_t base,
                                  int64_t most, cull_dataset *into, int64_t *top);

/* Where classes were numbered as their names were met: number them in the order of their names. */
cull_status cull_data_labels_sort(cull_dataset *set);

#endif
