/*
 * data/adopt_names.h - what two sets call alike is the same: their classes and their inputs.
 *
 * Where both have names, names tell. Where one has numbers alone, a name that is a number means
 * that number: folders 0, 1, 10, 11, 2 are classes in this order, and label 2 of an array is the
 * last of them, not the third. Other names are taken in their order, which is remarked.
 */
#ifndef CULL_DATA_ADOPT_NAMES_H
#define CULL_DATA_ADOPT_NAMES_H

#include "data/dataset.h"

/* Number the classes of a set as `train` numbers them, and call them as there. CULL_BAD_ARGUMENT
 * when one is none of train's; a number beyond train's classes is left as it is. */
cull_status cull_data_match_classes(cull_dataset *set, const cull_dataset *train);

/* Are inputs called as those trained on? CULL_BAD_ARGUMENT when they are not; where only one side
 * has names, that is remarked. */
cull_status cull_data_match_features(cull_dataset *set, const cull_texts *trained);

#endif
