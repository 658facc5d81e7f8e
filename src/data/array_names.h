/*
 * data/array_names.h - which arrays of a file are inputs and labels, by the names that people give.
 *
 *     inputs    x, images, data, inputs, features, samples        and labels    y, labels, target
 *
 * also in the singular or plural; with train, training, test, val, valid or validation before or
 * behind it. Capitals and what joins the words ("_", "-", ".", "/" or nothing) do not matter.
 */
#ifndef CULL_DATA_ARRAY_NAMES_H
#define CULL_DATA_ARRAY_NAMES_H

#include "base/status.h"

/* What is looked for in a file. */
typedef enum cull_data_wanted {
    CULL_DATA_WANTED_TRAIN,   /* a training set, or what says neither                     */
    CULL_DATA_WANTED_TEST,    /* a test set, or else a validation set, beside the former  */
    CULL_DATA_WANTED_ALONE,   /* the same in a file of its own, where it may say neither  */
    CULL_DATA_WANTED_ANY,     /* inputs, labelled or not: of a training set, or else any  */
    CULL_DATA_WANTED_ANY_TEST /* the same, of a test or validation set before others    */
} cull_data_wanted;

typedef struct cull_data_pair {
    const char *x, *y;      /* borrowed from the arrays; y NULL: there are no labels    */
    bool        validation; /* a validation set in place of a test set                  */
    const char *unread;     /* inputs of a validation set that lies beside both, or NULL */
} cull_data_pair;

/* CULL_BAD_FILE, with what the file holds, when none of its arrays is wanted; CULL_BAD_OPTION,
 * about data.test, for a training set that is wanted as a test set. `path` begins the sentence. */
cull_status cull_data_names_find(const cull_arrays *arrays, const char *path,
                                 cull_data_wanted wanted, cull_data_pair *out);

#endif
