/* data/text_table.h - a column of texts and one or more of labels, out of tables and JSON lines. */
#ifndef CULL_DATA_TEXT_TABLE_H
#define CULL_DATA_TEXT_TABLE_H

#include "data/csv_labels.h"
#include "data/text_rows.h"

/* What data.text names where nothing is said. */
#define CULL_TEXT_FIELD "text"

typedef struct cull_text_table {
    cull_text_maker maker;
    cull_csv_labels labels;
    size_t          rows;
} cull_text_table;

/* Room for the labels of one more row. */
cull_status cull_text_table_room(cull_text_table *t);

/* All rows are there: into the set. csv: whose name begins sentences. */
cull_status cull_text_table_finish(const cull_csv *csv, cull_text_table *t, cull_dataset *into);
void        cull_text_table_clear(cull_text_table *t);

/* A table whose column data.text is text; request->name aside. */
cull_status cull_data_csv_texts_parse(const cull_data_source  *file,
                                      const cull_data_request *request, cull_dataset *into);

/* A file of JSON objects, one a line. */
cull_status cull_data_json_lines_parse(const cull_data_source  *file,
                                       const cull_data_request *request, cull_dataset *into);

#endif
