/* data/split.h - a validation or test set taken out of a training set, class by class. */
#ifndef CULL_DATA_SPLIT_H
#define CULL_DATA_SPLIT_H

#include "data/dataset.h"

/*
 * Move a stratified sample out of `train` into a new set.
 *
 * fraction  of the examples, 0 < fraction < 1: round(fraction * count) of them, at least
 *           one, shared among the classes in proportion (largest remainder).
 *
 * Both sets keep the order of the files and normalise alike. The same seed gives the same
 * split. CULL_BAD_ARGUMENT when nothing would be left to train on.
 */
cull_status cull_data_split(cull_dataset *train, double fraction, uint64_t seed,
                            cull_dataset **validation);

/* The same for a set that brings no test set. It is the same one for every seed, so that runs are
 * comparable, and none of its examples is ever trained on. */
cull_status cull_data_split_test(cull_dataset *train, double fraction, cull_dataset **test);

#endif
