/* data/split.h - a validation set taken out of a training set, class by class. */
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

#endif
