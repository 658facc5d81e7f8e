/*
 * data/rows.h - where the raw rows of examples lie: memory, a mapped file, or a decoder that makes
 * one when it is asked for.
 *
 * Sets that were cut out of one set share its rows and count as their holders; each has its own
 * list of which rows are its examples. Once a set is open nothing writes to rows.
 */
#ifndef CULL_DATA_ROWS_H
#define CULL_DATA_ROWS_H

#include <stdatomic.h>

#include "base/status.h"

typedef struct cull_data_rows cull_data_rows;

typedef struct cull_data_rows_class {
    /* Make row `row` in out, which has room for one. Called by several threads at once. NULL
     * where all rows lie at `base`. */
    cull_status (*read)(const cull_data_rows *rows, uint32_t row, void *out);
    void (*close)(void *self); /* the last holder is gone */

    /* What a row is called in its source (a picture's path), borrowed. NULL: rows have numbers. */
    const char *(*name)(const cull_data_rows *rows, uint32_t row);

    /* A row is wanted soon: begin to bring it. NULL: nothing is gained by knowing. */
    void (*ahead)(const cull_data_rows *rows, uint32_t row);

    bool ready; /* read makes a row out of numbers that lie in memory: nothing is decoded */
} cull_data_rows_class;

struct cull_data_rows {
    const cull_data_rows_class *class;
    void         *self;    /* what the class works with                       */
    void         *base;    /* all rows, dense; NULL: they are only to be read */
    size_t        count;   /* of rows                                         */
    atomic_size_t holders; /* sets that share them                            */
};

/* With one holder. `self` is taken over; on failure it is still the caller's. */
cull_status cull_data_rows_create(const cull_data_rows_class *class, void *self, void *base,
                                  size_t count, cull_data_rows **out);

/* Rows in memory: room for `count` of `bytes` each, the first ones kept. *rows NULL: new ones. */
cull_status cull_data_rows_grow(cull_data_rows **rows, size_t count, size_t bytes);

/* One holder more, or fewer; both take NULL. */
cull_data_rows *cull_data_rows_share(cull_data_rows *rows);
void            cull_data_rows_release(cull_data_rows *rows);

#endif
