/* data/csv_rows.h - the rows of a table: as they are where all are numbers, else made when they are
 * asked for, a category being a channel of its own that is 1. */
#ifndef CULL_DATA_CSV_ROWS_H
#define CULL_DATA_CSV_ROWS_H

#include "data/csv_columns.h"

/* `count` rows of `slots` cells, which are taken over (*cells is NULL then), for the columns that
 * are features; their slots ascend with their channels. Orders of categories are taken over too. */
cull_status cull_csv_rows_create(cull_csv_column *columns, size_t number, size_t channels,
                                 cull_csv_cell **cells, size_t slots, size_t count,
                                 cull_data_rows **out);

#endif
