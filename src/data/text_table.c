/* data/text_table.c - tables of texts: a column that is cut into pieces, and what is learned. */
#include "data/text_table.h"

#include <string.h>

#include "data/csv_header.h"

enum { FIRST_ROWS = 1024 };

cull_status cull_text_table_room(cull_text_table *t)
{
    size_t room = t->labels.room ? t->labels.room + t->labels.room / 2 : FIRST_ROWS;

    if (!t->labels.width || t->rows < t->labels.room) return CULL_OK;
    return cull_csv_labels_grow(&t->labels, room);
}

cull_status cull_text_table_finish(const cull_csv *csv, cull_text_table *t, cull_dataset *into)
{
    cull_status status = CULL_OK;

    TRY(cull_data_texts_end(&t->maker, NULL, into));
    into->count = t->rows;
    TRY(cull_csv_labels_finish(csv, &t->labels, t->rows, into));
    TRY(cull_data_measure(into));
done:
    return status;
}

void cull_text_table_clear(cull_text_table *t)
{
    cull_csv_labels_clear(&t->labels);
    cull_data_texts_clear(&t->maker);
}

/* ---- .csv ---- */

static cull_status find_text(const cull_csv *csv, const cull_data_request *request,
                             cull_csv_header *h, size_t *out)
{
    cull_status status = CULL_OK;
    const char *name = request->text ? request->text : CULL_TEXT_FIELD;
    char        shown[CULL_TEXT_SHOWN];

    *out = cull_texts_find(&h->names, name);
    if (*out == h->columns)
        FAIL_OPTION("data.text", "%s has no column '%s'; name the one that holds the texts",
                    csv->name, cull_text_show(name, strlen(name), shown));
    if (h->column[*out].role == CULL_CSV_LABEL)
        FAIL_OPTION("data.label", "column '%s' of %s holds the texts; name the one to be learned",
                    cull_text_show(name, strlen(name), shown), csv->name);
done:
    return status;
}

static cull_status tell_of_others(const cull_csv *csv, const cull_csv_header *h, size_t text,
                                  cull_dataset *into)
{
    cull_status status = CULL_OK;
    char        shown[CULL_TEXT_SHOWN];

    for (size_t i = 0; i < h->columns; i++)
        if (i != text && h->column[i].role != CULL_CSV_LABEL && h->names.text[i][0])
            TRY(cull_data_remark(
                into, "%s: column '%s' is neither text nor label and is left out", csv->name,
                cull_text_show(h->names.text[i], strlen(h->names.text[i]), shown)));
done:
    return status;
}

static cull_status take_row(const cull_csv *csv, const cull_csv_header *h, size_t text,
                            cull_text_table *t)
{
    cull_status status = CULL_OK;

    if (csv->fields != h->columns)
        FAIL(CULL_BAD_FILE,
             "%s: line %llu has %zu fields, where the first line names %zu columns; a text with "
             "separators in it stands in quotes",
             csv->name, (unsigned long long)csv->line, csv->fields, h->columns);
    TRY(cull_text_table_room(t));
    for (size_t i = 0; t->labels.width && i < h->columns; i++)
        if (h->column[i].role == CULL_CSV_LABEL)
            TRY(cull_csv_labels_take(csv, &t->labels, h->column[i].name, &csv->field[i], t->rows,
                                     h->column[i].slot));
    TRY(cull_data_texts_add(&t->maker, csv->field[text].text, csv->field[text].length));
    t->rows++;
done:
    return status;
}

cull_status cull_data_csv_texts_parse(const cull_data_source  *file,
                                      const cull_data_request *request, cull_dataset *into)
{
    cull_status       status = CULL_OK;
    cull_text_table   t = {0};
    cull_csv          csv = {0};
    cull_csv_header   head = {0};
    cull_data_request named = *request;
    size_t            text = 0;
    bool              more = true;

    named.name = file->name;
    TRY(cull_csv_open(file, &csv));
    csv.most = CULL_CSV_RECORD;
    TRY(cull_csv_header_read(&csv, &head));
    TRY(cull_csv_header_find_labels(&csv, request, &head, into));
    TRY(find_text(&csv, request, &head, &text));
    TRY(cull_data_texts_begin(&named, &t.maker));
    TRY(tell_of_others(&csv, &head, text, into));
    TRY(cull_csv_labels_begin(&csv, request, head.labels, into, &t.labels));
    for (;;) {
        TRY(cull_csv_next(&csv, &more));
        if (!more) break;
        TRY(take_row(&csv, &head, text, &t));
    }
    if (t.rows == 0) FAIL(CULL_BAD_FILE, "%s: names columns, but has no rows", csv.name);
    TRY(cull_text_table_finish(&csv, &t, into));
done:
    cull_text_table_clear(&t);
    cull_csv_header_clear(&head);
    cull_csv_close(&csv);
    return status;
}
