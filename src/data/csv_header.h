/* data/csv_header.h - the first line of a table: which columns there are, and what each is for. */
#ifndef CULL_DATA_CSV_HEADER_H
#define CULL_DATA_CSV_HEADER_H

#include "data/csv_columns.h"

typedef struct cull_csv_header {
    cull_texts       names;
    cull_csv_column *column; /* [columns] */
    size_t           columns;
    size_t          *label; /* [labels] columns that are to be learned, as they were asked for */
    size_t           labels;
    size_t           slots; /* features that have a cell of a row */
} cull_csv_header;

/* Read it, as the first record. CULL_BAD_FILE when there is no such line, or names are missing or
 * not told apart. */
cull_status cull_csv_header_read(cull_csv *csv, cull_csv_header *header);
void        cull_csv_header_clear(cull_csv_header *header);

/* Which columns are labels: those asked for, those trained on, or else one that is called so or is
 * the last. CULL_BAD_OPTION, about data.label, for what is not there or too many. */
cull_status cull_csv_header_find_labels(const cull_csv *csv, const cull_data_request *request,
                                        cull_csv_header *h, cull_dataset *into);

/* What the others are: features, or, with a training set whose features have names, those of them
 * that it has. */
cull_status cull_csv_header_find_features(const cull_csv *csv, cull_csv_header *h,
                                          cull_dataset *into);

#endif
