/*
 * data/csv_columns.h - what a table's columns hold, and their cells.
 *
 * A column is numbers, or categories where any of its cells is a text: that is known when all are
 * read, or before, by the training set whose table this one is like.
 */
#ifndef CULL_DATA_CSV_COLUMNS_H
#define CULL_DATA_CSV_COLUMNS_H

#include "data/categories.h"
#include "data/csv.h"
#include "data/dataset.h"

enum {
    CULL_CSV_CATEGORIES = 1024, /* the most of one column                                       */
    CULL_CSV_MIXED = 32,        /* the same where some of them are numbers                      */
    CULL_CSV_ALONE = 32         /* rows from which on a text of its own in each says nothing    */
};

typedef enum cull_csv_kind {
    CULL_CSV_EMPTY, /* no cell with anything in it yet */
    CULL_CSV_NUMBER,
    CULL_CSV_CATEGORY
} cull_csv_kind;

typedef enum cull_csv_role { CULL_CSV_FEATURE, CULL_CSV_LABEL, CULL_CSV_LEFT_OUT } cull_csv_role;

typedef struct cull_csv_column {
    const char     *name;   /* borrowed                                        */
    size_t          number; /* of the column in the table, from 1              */
    cull_csv_role   role;
    cull_csv_kind   kind;
    bool            trained;        /* kind and categories are those trained on        */
    cull_categories categories;     /* as they were met, or as they were trained on    */
    uint32_t       *order;          /* [categories] the channel of each, behind the first; NULL: as
                                       they are */
    size_t   slot;                  /* its cell in a row                               */
    size_t   channel;               /* its first                                       */
    uint64_t values;                /* cells that have one                             */
    uint64_t missing, missing_line; /* cells that have none, and the first of them */
    uint64_t text_line;             /* of the first text; 0: none                  */
    double   last;                  /* number ...                                  */
    bool     counts;                /* ... and each is one more than that before   */
    bool     repeats;               /* a category came twice                       */
} cull_csv_column;

typedef union cull_csv_cell {
    float    number;   /* NaN: missing           */
    uint32_t category; /* CULL_CSV_NONE: missing */
} cull_csv_cell;

/* As a float's bits it is NaN, so that a cell is missing before it is known what its column is. */
#define CULL_CSV_NONE UINT32_MAX

/* Is this how people write that there is no value? */
bool cull_csv_is_missing(const cull_csv_field *field);

/* "FILE: line 3, column 'a': 'x' is no number": a failure of the record that was read last. */
cull_status cull_csv_fail(const cull_csv *csv, const char *column, const cull_csv_field *field,
                          const char *what);

/* A cell of a feature. *again: the column was taken for numbers and holds texts, so that the table
 * is to be read once more. A column of too many texts that are all different is left out. */
cull_status cull_csv_take_cell(const cull_csv *csv, cull_csv_column *c, const cull_csv_field *field,
                               cull_csv_cell *out, bool *again);

/* When all rows are read: is what the column holds an input? It may be left out, with a remark. */
cull_status cull_csv_judge(const cull_csv *csv, cull_csv_column *c, cull_dataset *into);

/* Begin anew, with what kind of column it is by now. */
void cull_csv_column_again(cull_csv_column *c);
void cull_csv_column_clear(cull_csv_column *c);

#endif
