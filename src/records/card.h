/*
 * records/card.h - what a file of weights says of its inputs and outputs, so that it can be used
 * where the data it was trained on is not.
 *
 * It is texts among the file's metadata, under keys that begin with "cull."; docs/formats.md has
 * them.
 */
#ifndef CULL_RECORDS_CARD_H
#define CULL_RECORDS_CARD_H

#include "base/texts.h"
#include "records/fields.h"

enum { CULL_CARD_MOST = 65536 }; /* channels whose constants are written */

typedef struct cull_card {
    size_t           channels, height, width; /* of an input; channels 0: nothing is said    */
    cull_dtype       dtype;      /* CULL_U8: images; CULL_F32: features; CULL_I32: tokens    */
    size_t           vocabulary; /* every token is below; 0: inputs are no tokens            */
    cull_target_kind target;
    size_t           outputs;               /* classes, or numbers that are told           */
    double          *mean, *deviation;      /* [channels], as a data set has them          */
    double *target_mean, *target_deviation; /* [outputs] of real targets, which are learned less
                                               the one, over the other; NULL: as they are      */
    cull_texts class_names;                 /* of all outputs, or none                     */
    cull_texts feature_names;               /* of all channels, where they are a table's   */
    cull_texts label_names;                 /* of the table's columns that are learned     */
} cull_card;

/* Members of a JSON object that is open. Nothing where there are more than CULL_CARD_MOST. */
void cull_card_put(cull_json *json, const cull_card *card);

/* `metadata` NULL, or without a word of ours: a card of zeros. CULL_BAD_FILE, beginning with path,
 * when it does not hold together. */
cull_status cull_card_take(const char *path, const json_t *metadata, cull_card *out);
cull_status cull_card_copy(const cull_card *card, cull_card *out); /* into zeros */
void        cull_card_clear(cull_card *card);

/* Does what `weights` were trained on fit examples of `set`, whose card is `is`? CULL_BAD_ARGUMENT
 * tells the first that does not: names of classes, features or labels, or constants that are off by
 * more than a hundredth of a deviation. What either card says nothing of fits. */
cull_status cull_card_fit(const char *weights, const cull_card *was, const char *set,
                          const cull_card *is);

#endif
