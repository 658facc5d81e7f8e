/*
 * data/csv_labels.h - the columns of a table that are to be learned.
 *
 * A class is a whole number, 0 to 65,535, where all labels are such; else all are names. With a
 * training set, labels are read as they were there.
 */
#ifndef CULL_DATA_CSV_LABELS_H
#define CULL_DATA_CSV_LABELS_H

#include "data/csv_columns.h"

typedef struct cull_csv_labels {
    cull_target_kind    kind;
    size_t              width;         /* columns; 0: none is read                        */
    const cull_dataset *like;          /* borrowed; NULL: this is the training set        */
    cull_categories     texts;         /* of classes, as they were met                    */
    double             *value;         /* [texts] as a number; NaN: it is none            */
    uint64_t            fraction_line; /* of the first number that is not whole     */
    size_t              fraction;      /* and its text                              */
    const char         *column;        /* a class's; borrowed                       */
    void               *data;          /* (rows, width) of the target's type        */
    size_t              room;          /* rows                                      */
} cull_csv_labels;

/* What an empty set, which is then aimed, is to learn from so many columns. Where it is only to be
 * predicted, none of them is read, and the width is 0. */
cull_status cull_csv_labels_begin(const cull_csv *csv, const cull_data_request *request,
                                  size_t columns, cull_dataset *into, cull_csv_labels *out);
void        cull_csv_labels_clear(cull_csv_labels *l);

/* Room for so many rows. */
cull_status cull_csv_labels_grow(cull_csv_labels *l, size_t rows);

/* A cell of label column `which`, of the record read last. */
cull_status cull_csv_labels_take(const cull_csv *csv, cull_csv_labels *l, const char *column,
                                 const cull_csv_field *field, size_t row, size_t which);

/* To a set that has room for `rows` examples, with classes and their names. */
cull_status cull_csv_labels_finish(const cull_csv *csv, cull_csv_labels *l, size_t rows,
                                   cull_dataset *into);

#endif
