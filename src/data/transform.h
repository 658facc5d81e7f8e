/*
 * data/transform.h - a set's examples as a network reads them: what a recipe asks for, checked
 * and turned into the description that backends act on (backend/augment.h).
 */
#ifndef CULL_DATA_TRANSFORM_H
#define CULL_DATA_TRANSFORM_H

#include "data/dataset.h"

typedef struct cull_data_augment {
    size_t   pad;     /* 0: no crop; with reflect, below height and width */
    bool     reflect; /* pad by reflection instead of 0                   */
    bool     flip;
    size_t   cutout; /* side of the square; 0: none                      */
    uint64_t seed;
} cull_data_augment;

/* How examples are handed over: float32 or float64; (N, C, H, W) or (N, H, W, C). */
typedef struct cull_data_form {
    cull_dtype dtype; /* CULL_F32, CULL_F64 or CULL_BF16; of tokens CULL_I32 */
    bool       channels_last;
} cull_data_form;

/* CULL_BAD_ARGUMENT when the set cannot be augmented so (reflection wider than the image,
 * flipped features) or no such form exists; the sentence names the setting. */
cull_status cull_data_augment_check(const cull_data_augment *augment, cull_data_form form,
                                    const cull_dataset *set);

/* What a backend is to do to the set's examples; borrows the set's mean and deviation.
 * augment NULL: calls may not ask for more than normalising. Was checked. */
cull_augment_desc cull_data_describe(const cull_dataset *set, const cull_data_augment *augment,
                                     cull_data_form form);

/* Make the examples at `places`, each below set->count, one behind the other in out, of tokens the
 * first `length` of each (0: all); buffer has
 * room for one stored example, or is NULL where the set has a base. Allocates nothing, and fails
 * only where a row cannot be read. */
cull_status cull_data_make(const cull_dataset *set, const cull_augment_desc *desc,
                           const uint32_t *places, size_t count, uint64_t epoch, bool augmented,
                           size_t length, void *buffer, void *out);

/*
 * Write the examples at `places`, one behind the other, to out, which has room for `count`
 * times cull_data_row() numbers of form.dtype.
 *
 * augment   NULL: only normalise, as for evaluation. Was checked.
 *
 * Where the set has a base, it cannot fail and allocates nothing; else each row is read.
 */
cull_status cull_data_transform(const cull_dataset *set, const cull_data_augment *augment,
                                cull_data_form form, uint64_t epoch, const uint32_t *places,
                                size_t count, void *out);

#endif
