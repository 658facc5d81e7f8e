/*
 * data/inspect.h - what is told of sets that were opened: which they are, and what is probably
 * wrong with them, one by one and as a pair.
 *
 * All of it is seen in the targets and in a sample of the examples, so that a set larger than
 * memory, or one of pictures that are decoded when they are read, is looked at as quickly as any.
 */
#ifndef CULL_DATA_INSPECT_H
#define CULL_DATA_INSPECT_H

#include "data/dataset.h"

enum { CULL_DATA_LOOKS = 1000, CULL_DATA_GAUGES = 256, CULL_DATA_PRINT = 128 };

/*
 * Examples drawn by fixed keys: the same ones of every set with as many. Inputs are as they are
 * stored, bytes from 0 to 255.
 *
 * Where a channel is and how wide it spreads is told by medians, which a few wild values do not
 * move: of features, the median and the middle half (over 1.349, which is the deviation of a normal
 * one); of pictures, the medians of their means and of their deviations.
 */
struct cull_data_sample {
    size_t    count;           /* at most CULL_DATA_LOOKS, all of them 256 MiB, but at least one */
    uint32_t *place;           /* [count] ascending                                 */
    uint64_t *hash;            /* [count] of the example's inputs                   */
    double   *low, *high;      /* [channels] the smallest and the largest           */
    size_t    gauges;          /* channels that are gauged: all, or so many, evenly */
    double   *centre, *spread; /* [gauges]                                          */
    double    mean, deviation; /* of all inputs together                            */
};

/* The channel that gauge i is about. */
static inline size_t cull_data_gauged(const cull_dataset *set, const cull_data_sample *sample,
                                      size_t i)
{
    return i * set->channels / sample->gauges;
}

/* ---- sample.c ---- */

/* Read the sample of a set that has none yet. */
cull_status cull_data_look(cull_dataset *set);
void        cull_data_sample_close(cull_data_sample *sample);

/*
 * Which set this is, for one that was looked at: four words, one blank apart.
 *
 *     60000 uint8:1x28x28 class:10:0123456789abcdef 0123456789abcdef
 *
 * examples; type and shape of their inputs; kind and number of what is learned, and a hash of all
 * targets and names of classes; a hash of the sample.
 */
void cull_data_print(const cull_dataset *set, char out[CULL_DATA_PRINT]);

/* What differs between two of them, "other labels" and the like; NULL: nothing. */
const char *cull_data_print_difference(const char *a, const char *b);

/* ---- inspect.c ---- */

/* Look at a set and remark on what a person should know: labels that begin with 1, classes without
 * examples, one class alone or nearly so, inputs that never change. */
cull_status cull_data_inspect(cull_dataset *set);

/* ---- pair.c ---- */

/*
 * Hold a test set against the training set; both were looked at, and neither cut.
 *
 * own  it is a program's arrays, which may be those it trains on: remarked.
 *
 * CULL_BAD_OPTION, about data.test, when it is the training set once more, or its inputs are
 * normalised otherwise; docs/formats.md says where the border is. What lies before that border is
 * remarked in the test set.
 */
cull_status cull_data_check_pair(cull_dataset *test, const cull_dataset *train, bool own);

/* ---- overlap.c ---- */

/* Remark in the test set how many of its examples are in the training set too, input for input.
 * Training sets above 1 GiB, and those that are decoded, are not searched. */
cull_status cull_data_check_overlap(cull_dataset *test, const cull_dataset *train);

#endif
