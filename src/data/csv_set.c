/*
 * data/csv_set.c - a table as a data set, as docs/formats.md says.
 *
 * Cells are read once, row by row, four bytes each; once more where a column of numbers turns out
 * to hold texts. What a category is in numbers is made of them when a row is asked for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/csv_header.h"
#include "data/csv_labels.h"
#include "data/csv_rows.h"
#include "data/format.h"
#include "data/text_table.h"

enum { FIRST_ROWS = 1024, MOST_FEATURES = 1 << 20 };

struct table {
    const cull_data_request *request;
    cull_dataset            *into;
    cull_csv                 csv;
    cull_csv_header          head;
    cull_csv_labels          labels;
    cull_csv_cell           *cells; /* (rows, head.slots) */
    size_t                   rows, room;
    bool                     again; /* a column is not what it seemed */
};

static cull_status make_room(struct table *t)
{
    cull_status status = CULL_OK;
    size_t      room = t->room ? t->room + t->room / 2 : FIRST_ROWS;

    if (t->rows < t->room) goto done;
    if (t->rows >= UINT32_MAX - 1) FAIL(CULL_BAD_FILE, "%s: more than 2^32-2 rows", t->csv.name);
    TRY(cull_base_grow(room, t->head.slots * sizeof *t->cells, "the inputs of a data set",
                       &t->cells));
    if (t->labels.width) TRY(cull_csv_labels_grow(&t->labels, room));
    t->room = room;
done:
    return status;
}

static cull_status take_row(struct table *t)
{
    cull_status    status = CULL_OK;
    cull_csv_cell *row = NULL;

    if (t->csv.fields != t->head.columns)
        FAIL(CULL_BAD_FILE, "%s: line %llu has %zu fields, where the first line names %zu columns",
             t->csv.name, (unsigned long long)t->csv.line, t->csv.fields, t->head.columns);
    TRY(make_room(t));
    row = t->cells + t->rows * t->head.slots;
    for (size_t i = 0; i < t->head.columns; i++) {
        cull_csv_column *c = &t->head.column[i];

        if (c->role == CULL_CSV_FEATURE)
            TRY(cull_csv_take_cell(&t->csv, c, &t->csv.field[i], &row[c->slot], &t->again));
        else if (c->role == CULL_CSV_LABEL && t->labels.width)
            TRY(cull_csv_labels_take(&t->csv, &t->labels, c->name, &t->csv.field[i], t->rows,
                                     c->slot));
    }
    t->rows++;
done:
    return status;
}

static cull_status take_rows(struct table *t)
{
    cull_status status = CULL_OK;
    bool        more = true;

    for (;;) {
        TRY(cull_csv_next(&t->csv, &more));
        if (!more) break;
        TRY(take_row(t));
    }
    if (t->rows == 0) FAIL(CULL_BAD_FILE, "%s: names columns, but has no rows", t->csv.name);
done:
    return status;
}

/* From the first row on. */
static cull_status begin_again(struct table *t, const cull_data_source *file)
{
    cull_status status = CULL_OK;
    bool        more = false;

    cull_csv_close(&t->csv);
    TRY(cull_csv_open(file, &t->csv));
    TRY(cull_csv_next(&t->csv, &more));
    for (size_t i = 0; i < t->head.columns; i++) cull_csv_column_again(&t->head.column[i]);
    t->rows = 0;
    t->again = false;
done:
    return status;
}

/* What may be missing, or else how much is, and where. */
static cull_status check_missing(const struct table *t)
{
    cull_status            status = CULL_OK;
    const cull_csv_column *first = NULL;
    uint64_t               missing = 0;
    char                   shown[CULL_TEXT_SHOWN];

    for (size_t i = 0; i < t->head.columns; i++) {
        const cull_csv_column *c = &t->head.column[i];
        if (c->role != CULL_CSV_FEATURE || c->missing == 0) continue;
        missing += c->missing;
        if (!first || c->missing_line < first->missing_line) first = c;
    }
    if (!first) goto done;
    if (t->request->missing == CULL_MISSING_REFUSED)
        FAIL(CULL_BAD_FILE,
             "%s: %llu value%s missing, the first in line %llu, column '%s'; fill in what is "
             "missing, "
             "leave rows or columns out, or set data.missing=mean",
             t->csv.name, (unsigned long long)missing, missing == 1 ? " is" : "s are",
             (unsigned long long)first->missing_line,
             cull_text_show(first->name, strlen(first->name), shown));
    TRY(cull_data_remark(t->into, "%s: %llu value%s missing and made the mean of the column's",
                         t->csv.name, (unsigned long long)missing,
                         missing == 1 ? " was" : "s were"));
done:
    return status;
}

static void fill_missing(struct table *t, const cull_csv_column *c)
{
    double sum = 0, mean = 0;

    for (size_t i = 0; i < t->rows; i++) {
        float x = t->cells[i * t->head.slots + c->slot].number;
        if (!isnan(x)) sum += (double)x;
    }
    mean = c->trained ? t->into->like->mean[c->channel] : sum / (double)c->values;
    for (size_t i = 0; i < t->rows; i++) {
        float *x = &t->cells[i * t->head.slots + c->slot].number;
        if (isnan(*x)) *x = (float)mean;
    }
}

static cull_status name_feature(cull_dataset *into, const char *column, const char *category)
{
    cull_status status = CULL_OK;
    size_t      room = strlen(column) + (category ? strlen(category) : 0) + sizeof "=";
    char       *name = NULL;

    TRY(cull_base_alloc(room, 1, "a name", &name));
    (void)snprintf(name, room, "%s%s%s", column, category ? "=" : "", category ? category : "");
    TRY(cull_texts_add(&into->feature_names, name, strlen(name)));
done:
    cull_base_free(name);
    return status;
}

/* The names of a column's channels, in their order. */
static cull_status name_channels(const cull_csv_column *c, cull_dataset *into)
{
    cull_status       status = CULL_OK;
    const cull_texts *met = &c->categories.texts;
    const char      **sorted = NULL;

    if (c->kind != CULL_CSV_CATEGORY) {
        TRY(name_feature(into, c->name, NULL));
        goto done;
    }
    TRY(cull_base_alloc(met->count, sizeof *sorted, "names", &sorted));
    for (size_t i = 0; i < met->count; i++) sorted[c->order[i]] = met->text[i];
    for (size_t i = 0; i < met->count; i++) TRY(name_feature(into, c->name, sorted[i]));
done:
    cull_base_free(sorted);
    return status;
}

/* Channels one behind the other, and their names; those trained on have both. */
static cull_status lay_out(struct table *t, size_t *channels)
{
    cull_status status = CULL_OK;

    *channels = 0;
    for (size_t i = 0; i < t->head.columns; i++) {
        cull_csv_column *c = &t->head.column[i];
        if (c->role != CULL_CSV_FEATURE) continue;
        if (!c->trained) c->channel = *channels;
        *channels += c->kind == CULL_CSV_CATEGORY ? c->categories.texts.count : 1;
        if (*channels > MOST_FEATURES)
            FAIL(CULL_BAD_FILE, "%s: more than %d features, categories counted", t->csv.name,
                 MOST_FEATURES);
        if (!c->trained) TRY(name_channels(c, t->into));
    }
    if (*channels == 0) FAIL(CULL_BAD_FILE, "%s: no column is left to learn from", t->csv.name);
    if (t->into->like && t->into->like->feature_names.count)
        TRY(cull_texts_copy(&t->into->feature_names, &t->into->like->feature_names));
done:
    return status;
}

static cull_status make_set(struct table *t)
{
    cull_status     status = CULL_OK;
    cull_data_rows *rows = NULL;
    size_t          channels = 0;

    for (size_t i = 0; i < t->head.columns; i++)
        TRY(cull_csv_judge(&t->csv, &t->head.column[i], t->into));
    TRY(check_missing(t));
    for (size_t i = 0; i < t->head.columns; i++) {
        const cull_csv_column *c = &t->head.column[i];
        if (c->role == CULL_CSV_FEATURE && c->kind == CULL_CSV_NUMBER && c->missing)
            fill_missing(t, c);
    }
    TRY(lay_out(t, &channels));
    TRY(cull_data_shape(t->into, t->csv.name, CULL_F32, channels, 1, 1));
    TRY(cull_csv_rows_create(t->head.column, t->head.columns, channels, &t->cells, t->head.slots,
                             t->rows, &rows));
    TRY(cull_data_hold(t->into, t->csv.name, rows));
    t->into->count = t->rows;
    TRY(cull_csv_labels_finish(&t->csv, &t->labels, t->rows, t->into));
done:
    cull_data_rows_release(rows);
    return status;
}

cull_status cull_data_csv_parse(const cull_data_source *file, const cull_data_request *request,
                                cull_dataset *into)
{
    cull_status  status = CULL_OK;
    struct table t = {.request = request, .into = into};

    TRY(cull_csv_open(file, &t.csv));
    TRY(cull_csv_header_read(&t.csv, &t.head));
    TRY(cull_csv_header_find_labels(&t.csv, request, &t.head, into));
    TRY(cull_csv_header_find_features(&t.csv, &t.head, into));
    TRY(cull_csv_labels_begin(&t.csv, request, t.head.labels, into, &t.labels));
    TRY(take_rows(&t));
    if (t.again) {
        TRY(begin_again(&t, file));
        TRY(take_rows(&t));
    }
    TRY(make_set(&t));
done:
    cull_csv_labels_clear(&t.labels);
    cull_csv_header_clear(&t.head);
    cull_csv_close(&t.csv);
    cull_base_free(t.cells);
    return status;
}

static bool is_csv(const char *path)
{
    return cull_data_ends_with(path, ".csv") || cull_data_ends_with(path, ".csv.gz") ||
           cull_data_ends_with(path, ".tsv") || cull_data_ends_with(path, ".tsv.gz");
}

static cull_status read_csv(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    cull_data_source file = {.fd = -1};

    if (request->role == CULL_DATA_TEST) TRY(cull_data_say_no_test(request->name, ""));
    *measured = request->tokenizer || request->text;
    if (*measured && request->missing != CULL_MISSING_REFUSED)
        FAIL_OPTION("data.missing", "%s is read as texts, of which none is made up", request->name);
    if (request->length && !*measured)
        FAIL_OPTION("data.length", "%s is cut into pieces with data.tokenizer alone",
                    request->name);
    TRY(cull_data_source_open(request->name, &file));
    TRY((*measured ? cull_data_csv_texts_parse : cull_data_csv_parse)(&file, request, into));
done:
    cull_data_source_close(&file);
    return status;
}

const cull_data_format cull_data_csv_format = {
    .doc = "paths ending in .csv or .tsv, also with .gz",
    .takes = CULL_DATA_TAKES_LABEL | CULL_DATA_TAKES_TARGET | CULL_DATA_TAKES_MISSING |
             CULL_DATA_TAKES_TEXT | CULL_DATA_TAKES_PIECES,
    .fits = is_csv,
    .read = read_csv};
