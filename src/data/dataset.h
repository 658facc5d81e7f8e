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
#include "base/texts.h"
#include "data/rows.h"

enum {
    CULL_DATA_MOST_CLASSES = 65536, /* limits that hold for every format       */
    CULL_DATA_MOST_SIDE = CULL_AUGMENT_MOST_SIDE,
    CULL_DATA_MOST_ROW = 0x7fffffff, /* numbers in one example                  */
    CULL_DATA_MARK_LABEL = 1,        /* marks: the label was made a wrong one   */
    CULL_DATA_MARK_COPY = 2          /* an added copy, not its original         */
};

typedef struct cull_data_target {
    cull_target_kind kind;
    cull_dtype       dtype;
    size_t           width;
    void            *data; /* (count, width) */
} cull_data_target;

typedef struct cull_data_sample cull_data_sample; /* inspect.h */

/* A set that is gone through once, as a conversion does it: nobody is warned of what it would cost
 * to read it again. */
typedef struct cull_data_once {
    bool (*tell)(void *context, uint64_t done, uint64_t count); /* of examples that are decoded as
                                                                   the set is opened; false: stop.
                                                                   NULL: nobody is told */
    void *context;
} cull_data_once;

/*
 * Examples are numbered by their place, 0 .. count-1; selectors, orders and loaders speak of
 * places. Splits, cuts and copies make new places; `origin` says which row of the source an
 * example is and never changes. Rows themselves are never copied: sets share them.
 */
typedef struct cull_dataset {
    char             name[CULL_DATA_NAME];
    size_t           count;
    size_t           classes;
    size_t           channels, height, width; /* features: (D, 1, 1); tokens: (1, L, 1)         */
    cull_dtype       dtype;      /* CULL_U8: images; CULL_F32: features; CULL_I32: tokens       */
    size_t           vocabulary; /* every token is below; -1 is none. 0: inputs are no tokens   */
    cull_data_rows  *rows;       /* of (channels, height, width), dense; NULL: no examples yet    */
    cull_data_target target;
    uint32_t        *origin; /* [count] which of rows, in the order of the source's files     */
    uint8_t         *marks;  /* [count] CULL_DATA_MARK_*                                      */

    /* What inputs are normalised with: (x/255 - mean) / deviation for images, (x - mean) /
     * deviation for features. Published constants where the set has them, else those of
     * all its inputs as opened; splits and corruptions leave them as they are. */
    double *mean;      /* [channels] */
    double *deviation; /* [channels] > 0; 1 for a channel that never changes */
    bool    published; /* the constants are the known ones, not measured here */
    bool    stored;    /* they came with the files, measured when those were made */

    cull_texts class_names; /* of every class, where the files name them; else none          */
    cull_texts remarks;     /* what a person should know of the files, a sentence each       */

    /* Where the files name them; else none. A category's channel is called "column=category". */
    cull_texts feature_names; /* of every channel                                            */
    cull_texts label_names;   /* of the columns that are learned                             */

    bool unlabelled; /* no labels were there: targets are zeros, and only to be predicted    */

    const struct cull_dataset *like; /* while a test set is read: what was trained on        */
    const cull_data_once      *once; /* while a set is read; NULL: it is to be used          */
    cull_data_sample *sample; /* what was looked at as it was opened; NULL: cut out of another */
} cull_dataset;

/*
 * Read a data set: one that is known by name (sets.c), or files in one of the formats (formats.c).
 * *out is a new set, ended with cull_data_close().
 *
 * Returns CULL_UNKNOWN_SET for an unknown name; CULL_NOT_FOUND when a known one's files are nowhere
 * (the sentence says which were looked for, where, and what to do); CULL_IO when a file cannot be
 * read; CULL_BAD_FILE when one does not follow its format (docs/formats.md); CULL_BAD_OPTION when
 * the request asks for what these files cannot give; CULL_NO_MEMORY.
 */
cull_status cull_data_open(const cull_data_request *request, cull_dataset **out);
void        cull_data_close(cull_dataset *set);

/*
 * Read files that are named as a test set of their own. What of them is a test set is taken, else
 * what could be either; an array that says it is for training is refused. A table is written in
 * numbers as `train` is: its columns by name, its categories and classes in train's order. The set
 * is still to adopt().
 */
cull_status cull_data_open_test(const cull_data_request *request, const cull_dataset *train,
                                cull_dataset **out);

/* Is this the name of one of these sets? A path is none. */
bool cull_data_is_known(const char *name);

/* Either (train NULL: the first), but nothing is remarked on its labels and inputs yet, and those
 * that would have to be measured are not: *measured tells. once: NULL where the set is to be used.
 */
cull_status cull_data_open_plain(const cull_data_request *request, const cull_dataset *train,
                                 const cull_data_once *once, bool *measured, cull_dataset **out);

/* A new set from a copy of a program's own arrays, dense: x as in a .npz file of a set, y its
 * labels; `how` has a name for them, layout and target. CULL_BAD_ARGUMENT, beginning with the name,
 * when they are not; CULL_BAD_OPTION, about data.layout, when that must be said. */
cull_status cull_data_take(const cull_data_request *how, const cull_tensor *x, const cull_tensor *y,
                           cull_dataset **out);

/* Normalise `set` as `train` is, and number and count classes as there (adopt_names.h): for test
 * and validation sets. CULL_BAD_ARGUMENT when shapes, types, kinds or names of targets or the
 * features' names differ, or a class is none of train's. */
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

/* Add a sentence to the remarks, which names the file or set it is about. One that is there
 * already, and those behind the 32nd, are dropped. */
cull_status cull_data_remark(cull_dataset *set, const char *format, ...) CULL_PRINTF(2, 3);

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

/* What the source calls the example at `place` (a picture's path), borrowed; NULL: it has a number
 * alone, its origin. */
const char *cull_data_name_at(const cull_dataset *set, size_t place);

/* Where all rows of the set's source lie, one behind the other; NULL: each is to be read. */
void *cull_data_base(const cull_dataset *set);

/* The stored example at `place`: where it lies, or read into buffer, which has room for one (may
 * be NULL where there is a base, and only reading can fail). */
cull_status cull_data_row_at(const cull_dataset *set, size_t place, void *buffer, const void **out);

#endif
