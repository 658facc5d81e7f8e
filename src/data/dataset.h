/*
 * data/dataset.h - a data set: the one form that every format is read into.
 *
 *     open -> split -> corrupt -> adopt (test, validation)        once, before training
 *     order -> loader (gather, augment) -> batches                every step
 *
 * After that preparation nothing writes to a data set, so that any number of loaders and
 * threads may read it at once.
 */
#ifndef CULL_DATA_DATASET_H
#define CULL_DATA_DATASET_H

#include "backend/augment.h"
#include "data/rows.h"

enum {
    CULL_DATA_MOST_CLASSES = 65536, /* limits that hold for every format       */
    CULL_DATA_MOST_SIDE = CULL_AUGMENT_MOST_SIDE,
    CULL_DATA_MOST_ROW = 0x7fffffff, /* numbers in one example                  */
    CULL_DATA_MARK_LABEL = 1,        /* marks: the label was made a wrong one   */
    CULL_DATA_MARK_COPY = 2          /* an added copy, not its original         */
};

/* What is to be learned of an example. Today's files, splits and losses know classes alone. */
typedef enum cull_target_kind {
    CULL_TARGET_CLASS,   /* int32, width 1: 0 .. classes-1           */
    CULL_TARGET_CLASSES, /* uint8, 1 for each of `width` that it has */
    CULL_TARGET_REAL     /* float32, `width` of them                 */
} cull_target_kind;

typedef struct cull_data_target {
    cull_target_kind kind;
    cull_dtype       dtype;
    size_t           width;
    void            *data; /* (count, width) */
} cull_data_target;

/*
 * Examples are numbered by their place, 0 .. count-1; selectors, orders and loaders speak of
 * places. Splits, cuts and copies make new places; `origin` says which row of the source an
 * example is and never changes. Rows themselves are never copied: sets share them.
 */
typedef struct cull_dataset {
    char             name[CULL_DATA_NAME];
    size_t           count;
    size_t           classes;
    size_t           channels, height, width; /* features: (D, 1, 1)                            */
    cull_dtype       dtype;                   /* CULL_U8: images; CULL_F32: features            */
    cull_data_rows  *rows; /* of (channels, height, width), dense; NULL: no examples yet    */
    cull_data_target target;
    uint32_t        *origin; /* [count] which of rows, in the order of the source's files     */
    uint8_t         *marks;  /* [count] CULL_DATA_MARK_*                                      */

    /* What inputs are normalised with: (x/255 - mean) / deviation for images, (x - mean) /
     * deviation for features. Published constants where the set has them, else those of
     * all its inputs as opened; splits and corruptions leave them as they are. */
    double *mean;      /* [channels] */
    double *deviation; /* [channels] > 0; 1 for a channel that never changes */
    bool    published; /* the constants are the known ones, not measured here */
} cull_dataset;

/*
 * Read a data set.
 *
 * name      "mnist", "fashion-mnist", "cifar10", "cifar100", "svhn", "svhn-extra" (its
 *           training set with the extra one behind it), "imagenet32"; or a path that ends
 *           in .npz or .npy.
 * role      which of its two sets.
 * root      the folder that holds the sets' folders; NULL: $CULL_DATA. Not used for a path.
 * out       a new set, ended with cull_data_close().
 *
 * Returns CULL_BAD_ARGUMENT for an unknown name; CULL_IO when a file is not there (the
 * sentence says which was looked for, where, and what to do) or cannot be read;
 * CULL_BAD_FILE when one does not follow its format (docs/formats.md); CULL_NO_MEMORY.
 */
cull_status cull_data_open(const char *name, cull_data_role role, const char *root,
                           cull_dataset **out);
void        cull_data_close(cull_dataset *set);

/* Is this the name of one of these sets? A path is none. */
bool cull_data_is_known(const char *name);

/* A new set from a copy of a program's own arrays, dense: x as in a .npz file of a set, y its
 * labels. CULL_BAD_ARGUMENT, beginning with `name`, when they are not. */
cull_status cull_data_take(const char *name, const cull_tensor *x, const cull_tensor *y,
                           cull_dataset **out);

/* Normalise `set` as `train` is, and count classes as there: for test and validation sets.
 * CULL_BAD_ARGUMENT when shapes or types differ, or a label is beyond train's classes. */
cull_status cull_data_adopt(cull_dataset *set, const cull_dataset *train);

/* Measure mean and deviation over all inputs. Images are counted exactly, features summed
 * in double in order, so the same inputs give the same bits. */
cull_status cull_data_measure(cull_dataset *set);

/* A new set of the examples at `places` (each below set->count, any order, repeats allowed),
 * which shares their rows. */
cull_status cull_data_gather(const cull_dataset *set, const uint32_t *places, size_t count,
                             cull_dataset **out);

/* Keep only the examples at `places`, which ascend strictly. Allocates nothing. */
void cull_data_keep(cull_dataset *set, const uint32_t *places, size_t count);

/* Write x and y to a .npz file that cull_data_open() reads. */
cull_status cull_data_write(const cull_dataset *set, const char *path);

/* Numbers in one example, and the bytes they take. */
size_t cull_data_row(const cull_dataset *set);
size_t cull_data_row_bytes(const cull_dataset *set);

/* The target of an example, and the bytes it takes. */
const void *cull_data_target_at(const cull_dataset *set, size_t place);
size_t      cull_data_target_bytes(const cull_dataset *set);

/* [count] classes, or NULL where targets are something else. */
int32_t *cull_data_labels(const cull_dataset *set);

/* For what knows classes alone: CULL_UNSUPPORTED, saying what there is instead. */
cull_status cull_data_check_labels(const cull_dataset *set);

/* Where all rows of the set's source lie, one behind the other; NULL: each is to be read. */
void *cull_data_base(const cull_dataset *set);

/* The stored example at `place`: where it lies, or read into buffer, which has room for one (may
 * be NULL where there is a base, and only reading can fail). */
cull_status cull_data_row_at(const cull_dataset *set, size_t place, void *buffer, const void **out);

#endif
